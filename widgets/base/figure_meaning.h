#pragma once
#include <span>
#include <string>
#include <string_view>

namespace widgets {

/// What a figure of the answer stands for, where it is no output to the digit: "22 %" taken back is "−22 %" in the
/// picture, and "1 in 2,001" is the line of the normal rate.
struct FigureMeaning {
  std::string words;     ///< as the answer writes it
  std::string output{};  ///< lights the marks of this name: an output's key, or a name of the picture's own
  std::string drawn{};   ///< as the picture writes it; empty where it does not
};

/// While the pointer rests on one of these figures in the answer, lights what it means. Called where the picture is
/// drawn. Of figures of the same words the first counts.
void light_meanings(std::span<const FigureMeaning> meanings);

}  // namespace widgets
