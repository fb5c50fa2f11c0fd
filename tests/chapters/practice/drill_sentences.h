#pragma once
#include <string>
#include <string_view>

/// Rules by which faults in the words of drills are found.
namespace sentences {

/// What is wrong with the English of a text, or "": a word twice, "% %", a unit after a unit, "a" or "an" before the
/// other sound, one of a plural, a prefix where a word belongs.
std::string fault_of(std::string_view text);

/// What the question asks in other words than its unit is, or "".
std::string question_fault(std::string_view text, std::string_view unit);

/// The last number of a text as it is written, without its unit: "1.07" of "= 1.07 GB".
std::string last_figure(std::string_view text);

/// A sign of arithmetic between two operands: "2 × 3", "max(...)", "rounded up".
bool has_arithmetic(std::string_view text);

}  // namespace sentences
