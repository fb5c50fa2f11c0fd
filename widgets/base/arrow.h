#pragma once
#include <array>
#include <span>

#include "widgets/base/painter.h"

/// The one arrow of all pictures: its head is wider than its stroke, whatever the stroke.
namespace widgets {

struct ArrowShape {
  std::array<ImVec2, 3> head{};  ///< tip first, then the two corners of its base
  std::size_t kept = 0;          ///< points of the path in front of the neck; 0: the path has no length
  ImVec2 neck{};                 ///< where the stroke ends, inside the head, so that no gap is seen
  float stroke = 0;              ///< pixels; thinner than asked for only where the path is shorter than the head
};
/// Head and trimmed stroke for a path in pixels that ends at the tip. The base of the head is at least 2.4 strokes
/// wide.
ArrowShape shape_arrow(std::span<const ImVec2> path, float stroke_px, float scale);

/// Draws `path` (pixels, at least two points) as an arrow with a stroke of `stroke_px` and its tip at the last point. A
/// path without length draws nothing.
void draw_arrow(const Painter& painter, std::span<const ImVec2> path, ImU32 colour, float stroke_px,
                bool dashed = false);

}  // namespace widgets
