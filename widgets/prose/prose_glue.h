#pragma once
#include <string_view>

/// Which words of a text belong on one line. Punctuation after a word does not count.
namespace widgets {

/// "=", "≈", "<", "≤" and the like.
bool prose_relation(std::string_view word);
/// Begins like a number: a digit, or a sign or an opening bracket and then a digit.
bool prose_number(std::string_view word);
bool prose_ends_in_digit(std::string_view word);
/// "ms", "GB/s", "%", "TFLOP/s", "bits", "tokens": what follows a number as its unit.
bool prose_unit(std::string_view word);

}  // namespace widgets
