#pragma once
#include <string>
#include <string_view>

#include "chapters/mechanism/lab.h"

namespace chapters {

/// What a drill's words may name: "{key}" an input or output, "{answer}", "{previous}" (of the template it follows),
/// "{chip.peak}",
/// "{chip.bandwidth}", "{chip.memory}" of the chosen chip and format, "{model.layers}" and other counts of the chosen
/// model.
struct DrillNames {
  const Lab& lab;
  double answer;
  std::string_view unit;
  double previous;
  std::string_view previous_unit;
};

/// The words with their values filled in, units included. A name that nothing has stays as it is, in its braces.
std::string fill_drill_text(std::string_view words, const DrillNames& names);

}  // namespace chapters
