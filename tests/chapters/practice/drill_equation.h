#pragma once
#include <string>
#include <string_view>
#include <vector>

/// Reads the arithmetic that a worked solution shows.
namespace sentences {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Every number of a text, and in SI units where a prefix or a time follows it.
std::vector<double> figures_of(std::string_view text);

/// The first "a × b / c = d" of the text, of quantities alone, whose sides differ by more than `tolerance`; "" when all
/// that can be read hold.
std::string wrong_equation(std::string_view text, double tolerance);

}  // namespace sentences
