#pragma once
#include <string>
#include <string_view>

#include "chapters/mechanism/lab.h"

namespace chapters {

/// A value as its lab shows it; NaN where there is none.
struct DrillFigure {
  double value = 0;
  std::string_view unit{};
  bool binary = false;  ///< in KiB and MiB rather than in kB and MB
};

/// What a drill's words may name: "{key}" an input or output, "{answer}", "{previous}" (of the template it follows),
/// "{chip.peak}", "{chip.bandwidth}", "{chip.memory}" of the chosen chip and format, "{model.layers}" and other counts
/// of the chosen model.
struct DrillNames {
  const Lab& lab;
  DrillFigure answer, previous;
};

/// The words with their values filled in, units included. "{a:chip}" puts "a" or "an" before the value, "{key|expert|
/// experts}" the noun that agrees with it after it, and "{answer/512}" is how many times 512 goes into it.
/// "{octave:answer}" is the power of two at or below it, "{mantissa:answer}" what that is multiplied by. A name that
/// nothing has stays as it is, in its braces.
std::string fill_drill_text(std::string_view words, const DrillNames& names);

/// Counts as people say them: "70.6 G parameters" is "70.6 billion parameters".
std::string in_words(std::string text);

/// "a" or "an", by the sound with which `word` begins: "an H100", "a B200", "an 8-bit", "a Llama".
std::string_view article_of(std::string_view word);

}  // namespace chapters
