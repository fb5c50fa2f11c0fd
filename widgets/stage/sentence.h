#pragma once
#include <string_view>

#include "widgets/base/painter.h"

/// A sentence with its figures set apart: "Memory stops it: `413` TFLOP/s at most." Between backticks stands a figure.
namespace widgets {

struct SentenceStyle {
  Type type = Type::title;
  Font font = Font::bold;
  ImU32 colour = 0, figure_colour = 0;
};

/// Height in px of the sentence when it is set in `width` px. Words are never cut; a word wider than `width` has a line
/// of its own.
float sentence_height(std::string_view text, float width, const SentenceStyle& style);
/// How many lines it takes.
int sentence_lines(std::string_view text, float width, const SentenceStyle& style);
/// Draws it with its top left at `at` and returns its height in px.
float draw_sentence(const Painter& painter, ImVec2 at, std::string_view text, float width, const SentenceStyle& style);

}  // namespace widgets
