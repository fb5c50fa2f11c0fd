#pragma once
#include <string_view>

#include "widgets/base/painter.h"

/// Plain words in lines, for cards and notes that widgets/prose would be too much for.
namespace widgets {

struct WrapOptions {
  Type type = Type::small;
  Font font = Font::sans;
  float line_px = 0;  ///< pixels from line to line; 0: 1.4 times the type's size
  int max_lines = 0;  ///< the last one is shortened with an ellipsis where words are left over; 0: as many as it takes
  bool paint = true;  ///< false: only measures
};

/// Paints `text` in lines no wider than `width` px, the first with its top at `at`, and returns their height in px.
/// Lines break at spaces and line ends, so a number is never cut in two; a word that is wider than a line is.
float wrapped_text(const Painter& painter, ImVec2 at, std::string_view text, float width, ImU32 colour,
                   const WrapOptions& options = {});

}  // namespace widgets
