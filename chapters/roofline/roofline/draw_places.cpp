#include <algorithm>
#include <cmath>

#include "chapters/roofline/roofline/draw_notes.h"
#include "widgets/base/painter.h"
#include "widgets/plot/callout.h"

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

widgets::Box place_callout(const widgets::PlotScratch& s, const widgets::Box& inner, ImVec2 size, ImVec2 own) {
  using widgets::Box;
  constexpr int columns = 24, rows = 14;
  Box best{inner.min, {inner.min.x + size.x, inner.min.y + size.y}};
  float least = HUGE_VALF;
  for (int r = 0; r <= rows; ++r)
    for (int c = 0; c <= columns; ++c) {
      const ImVec2 min{std::floor(inner.min.x + (inner.width() - size.x) * static_cast<float>(c) / columns),
                       std::floor(inner.min.y + (inner.height() - size.y) * static_cast<float>(r) / rows)};
      const Box box{min, {min.x + size.x, min.y + size.y}};
      const ImVec2 end{std::clamp(own.x, box.min.x, box.max.x), std::clamp(own.y, box.min.y, box.max.y)};
      const float away = std::hypot(end.x - own.x, end.y - own.y) / theme().scale;
      float cost = away * 0.15f + (away < 26 ? 1000.0f : 0.0f);
      if (cost >= least) continue;
      const bool crosses = std::any_of(s.placed.begin(), s.placed.end(), [&](const Box& text) {
        double ax = static_cast<double>(own.x), ay = static_cast<double>(own.y), bx = static_cast<double>(end.x),
               by = static_cast<double>(end.y);
        return text.overlaps(box) || widgets::clip_segment(ax, ay, bx, by, text);
      });
      cost += (crosses ? 200.0f : 0.0f) + static_cast<float>(s.room.taken_in(box));
      if (cost >= least) continue;
      least = cost;
      best = box;
    }
  return best;
}

}  // namespace chapters::roofline::roofline
