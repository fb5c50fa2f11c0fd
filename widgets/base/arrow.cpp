#include "widgets/base/arrow.h"

#include <algorithm>
#include <cmath>

namespace widgets {
namespace {

float distance(ImVec2 a, ImVec2 b) { return std::hypot(a.x - b.x, a.y - b.y); }

}  // namespace

ArrowShape shape_arrow(std::span<const ImVec2> path, float stroke_px, float scale) {
  ArrowShape out;
  if (path.size() < 2 || !(stroke_px > 0)) return out;
  float length = 0;
  for (std::size_t i = 1; i < path.size(); ++i) length += distance(path[i - 1], path[i]);
  if (!(length > 0)) return out;
  float head = 5 * scale + 1.6f * stroke_px, half = 2.5f * scale + 1.2f * stroke_px;
  out.stroke = stroke_px;
  if (const float most = length * 0.7f; head > most) {
    const float shrink = most / head;
    head *= shrink;
    half *= shrink;
    out.stroke *= shrink;
  }
  const ImVec2 tip = path.back();
  // The point of the path that is one head away from the tip along it gives the direction.
  const auto back_along = [&](float along, std::size_t& before) {
    for (std::size_t i = path.size() - 1; i > 0; --i) {
      const float part = distance(path[i - 1], path[i]);
      if (part >= along && part > 0) {
        before = i;
        const float u = along / part;
        return ImVec2{path[i].x + (path[i - 1].x - path[i].x) * u, path[i].y + (path[i - 1].y - path[i].y) * u};
      }
      along -= part;
    }
    before = 1;
    return path.front();
  };
  const ImVec2 base = back_along(head, out.kept);
  const float chord = distance(tip, base);
  if (!(chord > 0)) {
    out.kept = 0;
    return out;
  }
  const ImVec2 u{(tip.x - base.x) / chord, (tip.y - base.y) / chord};
  const ImVec2 foot{tip.x - u.x * head, tip.y - u.y * head};
  out.head = {tip, ImVec2{foot.x - u.y * half, foot.y + u.x * half}, ImVec2{foot.x + u.y * half, foot.y - u.x * half}};
  out.neck = {foot.x + u.x * std::min(1.0f, head * 0.2f), foot.y + u.y * std::min(1.0f, head * 0.2f)};
  return out;
}

void draw_arrow(const Painter& painter, std::span<const ImVec2> path, ImU32 colour, float stroke_px, bool dashed) {
  const ArrowShape shape = shape_arrow(path, stroke_px, theme().scale);
  if (shape.kept == 0) return;
  // One line up to the neck has no seam where it is translucent; a path with more points than fit is drawn in two.
  std::array<ImVec2, 256> line;
  std::size_t first = shape.kept > line.size() - 1 ? shape.kept - (line.size() - 1) : 0;
  const auto stroke = [&](std::span<const ImVec2> points) {
    if (dashed)
      painter.dashed_polyline(points, colour, shape.stroke);
    else
      painter.polyline(points, colour, shape.stroke);
  };
  if (first > 0) stroke(path.first(first + 1));
  std::copy(path.begin() + static_cast<std::ptrdiff_t>(first), path.begin() + static_cast<std::ptrdiff_t>(shape.kept),
            line.begin());
  line[shape.kept - first] = shape.neck;
  stroke(std::span(line).first(shape.kept - first + 1));
  painter.polygon(shape.head, colour);
}

}  // namespace widgets
