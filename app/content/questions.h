#pragma once
#include <string_view>
#include <vector>

#include "app/content/content.h"
#include "app/content/json_reader.h"
#include "app/explore/explore.h"

/// Questions to predict: how they are read, and what a lab answers.
namespace app {

/// How a question is answered.
enum class QuestionKind : unsigned char { number, choice, curve };

/// Reads one question. What is wrong is said through `r`, as for everything that is read from assets.
///
/// A number: {"id", "question", "set", "output", "explain", "tolerance"}. A choice: the same with an output that is a
/// choice or a toggle, or with "options": numbers in the output's unit. Both may have what slips.h reads. A curve:
/// {"id", "ask", "set", "draw": {"over", "lo", "hi", "scale": "linear", "log" or "step", "output", "points"}, "range":
/// [lo, hi], "given": [{"label", "value", "at"}], "why", "explain": {"too high", "too low", "wrong bend"}, "below":
/// {"output", "says"}}; what stands below may be left out, and so may "at", without which what is given is a level.
Prediction parse_question(Reader& r, const Json& item);

QuestionKind kind_of(const Prediction& question, const chapters::Field& output);
/// What can be chosen: the options of the output, "no" and "yes", or the question's own numbers with their unit.
std::vector<std::string> choices_of(const Prediction& question, const chapters::Field& output);
/// Which of them is right for a computed value: the option's index, or the nearest of the numbers.
std::size_t right_choice(const Prediction& question, double computed);

/// A fresh lab with the question's inputs, not computed; null when the question's data is broken (a test of the content
/// keeps it from being so).
chapters::LabPtr asked_lab(const Prediction& question, std::string_view lab);

/// The places at which the curve is asked for. Fails with a sentence when the lab has no such input or range.
models::Result<SweepAxis> curve_axis(const chapters::Lab& lab, const CurveAsk& ask);
/// Is the y axis a logarithm? Where the output's own scale is, and where the range given is positive and spans a factor
/// of a hundred or more.
bool curve_on_log(const CurveAsk& ask, const chapters::Field& output);

/// The question's explanation with every {key} that the computed lab knows replaced by its value.
std::string explained(const Prediction& question, const chapters::Lab& lab);

/// How far a number is off: "36 % too low", "2.5× too high"; empty where that cannot be said of the two.
std::string gap_text(double said, double computed);
/// What is said of an answer, from the two as people read them: "Not quite: you said 20 %, it is 31.3 % (36 % too
/// low)."
std::string verdict_text(bool close, std::string_view said, std::string_view computed, std::string_view gap);

/// Everything that would make a question unfair or broken, as a sentence: keys that the lab does not have, an answer
/// that is no number, a curve that is infeasible over more than a fifth of its samples, leaves the range given, or
/// moves by less than a tenth of it.
models::Status check_question(const Prediction& question, std::string_view lab);

}  // namespace app
