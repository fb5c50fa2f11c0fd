#pragma once
#include <functional>
#include <string>

#include "tests/house/sources.h"

/// Rules for single lines and for whole files. Each says "" or what is wrong, so that a test can plant a breach.
namespace house {

/// A line has at most 120 characters (a byte that continues a UTF-8 character counts for nothing).
std::string line_length_fault(const std::string& line);

/// taste.md rule 8: colours are written in widgets/base/theme alone.
std::string colour_fault(const std::string& path, const std::string& line);

/// A shared choice is declared once: `.shared =` stands in chapters/mechanism/shared_choices.* alone.
std::string shared_choice_fault(const std::string& path, const std::string& line);

/// widgets::press_area stands between the product and Dear ImGui's invisible button.
std::string bare_press_fault(const std::string& path, const std::string& line);

/// CONTRIBUTING.md, whole sentences: no comment that begins with `///` and no label or help text of a lab begins with
/// "of", which leaves out what the thing is. A line that goes on with the comment above it may, and so may a sentence
/// of `arrange` that is put together from pieces. One fault a line of the answer.
std::string headless_text_faults(const Source& source);

/// taste.md rule 1: a file of more than 400 lines is split.
std::string file_length_fault(const Source& source);

/// All faults of `sources`, one a line: what `fault` says of a path and a line.
std::string faults_of_lines(const std::vector<Source>& sources,
                            const std::function<std::string(const std::string& path, const std::string& line)>& fault);

}  // namespace house
