#pragma once
#include <string_view>

#include "app/content/questions.h"

/// Wrong answers that many give to a question, and the misconception that leads to each: the reveal names it.
namespace app {

/// Reads "slips", a list of {"times", "says"} or {"value", "says"} of a question for a number, and "because", one
/// sentence a choice in their order, empty for the right one. What is wrong is said through `r`.
void read_slips(Reader& r, const Json& item, Prediction& question);

/// What is wrong with the slips of a question whose computed value is known, and of its reasons, of which there must be
/// one a choice; empty: nothing.
std::string slips_fault(const Prediction& question, double computed, std::size_t choices, std::size_t right);

/// The sentence for what was said: the slip that lies nearest to a number, within a twentieth of it, or the reason
/// of a choice, by its index. Empty where there is none, and for a right answer.
std::string_view slip_of(const Prediction& question, QuestionKind kind, double said, double computed);

}  // namespace app
