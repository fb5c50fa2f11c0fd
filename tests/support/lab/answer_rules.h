#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/lab.h"

/// What the answer of every lab holds to: a verdict line and, after a line break, a line that says why or what would
/// help. Figures stand between backticks.
namespace support {

constexpr std::size_t max_verdict_letters = 140, max_verdict_figures = 4;
constexpr std::size_t max_why_letters = 130, max_why_figures = 3;

/// How many letters a reader sees: code points without the backticks.
std::size_t letters_of(std::string_view text);
/// What stands between backticks, in order.
std::vector<std::string> figures_of(std::string_view text);
/// What of the rules of length, of full stops, of plain words and of grammar the sentence breaks; empty: nothing.
std::vector<std::string> answer_form_faults(std::string_view answer);
/// The figures of the answer that no input and no output of the computed lab reads as, with 2, 3 or 4 digits.
std::vector<std::string> figures_of_nothing(chapters::Lab& lab);

}  // namespace support
