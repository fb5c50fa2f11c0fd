#include <algorithm>
#include <cmath>

#include "chapters/roofline/roofline/draw_notes.h"
#include "widgets/base/painter.h"

namespace chapters::roofline::roofline {

using widgets::Font, widgets::theme, widgets::Type;

ImVec2 pixel_of(const widgets::PlotFrame& frame, double x, double y) {
  const auto near = [](double v) { return static_cast<float>(std::isnan(v) ? -1e5 : std::clamp(v, -1e5, 1e5)); };
  return {near(frame.x.pixel(x)), near(frame.y.pixel(y))};
}

WalkTick tick_of(const widgets::PlotFrame& frame, const Picture::Dot& dot) {
  const ImVec2 at = pixel_of(frame, dot.x, dot.y);
  // Across the slope, on which a factor in intensity is the same factor in rate; to the right and down.
  const auto dx = static_cast<float>(frame.x.pixel(10) - frame.x.pixel(1)),
             dy = static_cast<float>(frame.y.pixel(1) - frame.y.pixel(10));
  const float length = std::max(std::hypot(dx, dy), 1.0f), back = theme().px(6) / length, on = theme().px(11) / length;
  return {{at.x - dy * back, at.y - dx * back}, {at.x + dy * on, at.y + dx * on}};
}

bool ridge_tag_fits(const widgets::PlotView& plot, const Outputs& out, const Picture& pic) {
  const auto& x = plot.scratch.frame.x;
  const double apart = std::abs(x.pixel(out.ridge) - x.pixel(out.placement.intensity));
  const float tags = widgets::text_size(pic.ridge_tag, Type::small, Font::mono).x +
                     (pic.x_tag.empty() ? 0.0f : widgets::text_size(pic.x_tag, Type::small, Font::mono).x);
  return apart > static_cast<double>(tags / 2 + theme().px(16));
}

}  // namespace chapters::roofline::roofline
