#include <algorithm>
#include <cmath>

#include "widgets/plot/draw_curve.h"

namespace widgets {
namespace {

ImVec2 place_of(const PlotFrame& f, double x, double y) {
  return {static_cast<float>(f.x.pixel(x)), static_cast<float>(f.y.pixel(y))};
}

void block_line(Occupancy& room, const PlotFrame& f, std::span<const double> xs, std::span<const double> ys) {
  for (std::size_t i = 1; i < std::min(xs.size(), ys.size()); ++i)
    if (std::isfinite(ys[i - 1]) && std::isfinite(ys[i]))
      room.block_segment(place_of(f, xs[i - 1], ys[i - 1]), place_of(f, xs[i], ys[i]), 5);
}

/// The free place for `size` whose middle is nearest to `wish`; it is taken.
std::optional<Box> nearest_free(Occupancy& room, const Box& area, ImVec2 size, ImVec2 wish, float margin) {
  std::optional<Box> best;
  float best_distance = 0;
  constexpr int steps = 28;
  for (int i = 0; i <= steps; ++i)
    for (int j = 0; j <= steps; ++j) {
      const float sx = static_cast<float>(i) / steps, sy = static_cast<float>(j) / steps;
      const ImVec2 at{area.min.x + margin + sx * (area.width() - size.x - 2 * margin),
                      area.min.y + margin + sy * (area.height() - size.y - 2 * margin)};
      const Box box{at, {at.x + size.x, at.y + size.y}};
      const float dx = at.x + size.x / 2 - wish.x, dy = at.y + size.y / 2 - wish.y;
      const float distance = dx * dx + dy * dy;
      if ((best && distance >= best_distance) || !room.is_free(box)) continue;
      best = box;
      best_distance = distance;
    }
  if (best) room.block(*best);
  return best;
}

}  // namespace

WrappedLines wrap_lines(std::string_view text, float most_px, float (*width_px)(std::string_view)) {
  WrappedLines out;
  while (!text.empty() && out.count < out.lines.size()) {
    std::size_t end = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t next = std::min(text.find(' ', at + 1), text.size());
      if (end > 0 && width_px(text.substr(0, next)) > most_px) break;
      at = end = next;
    }
    const std::string_view line = text.substr(0, end);
    out.lines[out.count++] = line;
    out.width = std::max(out.width, width_px(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::size_t sample_at(const PlotFrame& frame, std::span<const double> xs, float x) {
  std::size_t best = 0;
  double distance = HUGE_VAL;
  for (std::size_t i = 0; i < xs.size(); ++i)
    if (const double d = std::abs(frame.x.pixel(xs[i]) - static_cast<double>(x)); d < distance) {
      best = i;
      distance = d;
    }
  return best;
}

void layout_draw_curve(const Box& outer, const DrawCurveSpec& spec, const DrawnLine& line,
                       float (*width_px)(std::string_view), float line_px, DrawCurveLayout& out) {
  layout_frame(outer, {.least_gutter_px = spec.least_gutter_px, .x_axis = spec.x_axis}, spec.x, spec.y, spec.x_range,
               spec.y_range, width_px, line_px, out.frame);
  const Box& a = out.frame.area;
  out.still_to_draw = out.value_tag = out.place_tag = {};
  // Right of the axis by its own radius, so that it covers no tick's figure.
  out.pen = {std::min(a.min.x + 0.95f * line_px, (a.min.x + a.max.x) / 2), (a.min.y + a.max.y) / 2};
  if (spec.xs.empty()) return;
  if (!line.whole()) {
    const float from = line.reach() == 0 ? a.min.x : static_cast<float>(out.frame.x.pixel(spec.xs[line.reach() - 1]));
    out.still_to_draw = {{from, a.max.y - line_px * 2.2f}, a.max};
  }
  if (line.reach() == 0) return;
  out.pen = place_of(out.frame, spec.xs[line.cursor()], line.values()[line.cursor()]);
  const float value_width = width_px(axis_value(spec.y, line.values()[line.cursor()], 3));
  out.value_tag = {{a.min.x - value_width - line_px, out.pen.y - line_px * 0.8f},
                   {a.min.x - line_px * 0.3f, out.pen.y + line_px * 0.8f}};
  if (out.value_tag.min.x < outer.min.x) {  // a long value stands inside the frame
    const float by = a.min.x + line_px * 0.3f - out.value_tag.min.x;
    out.value_tag.min.x += by;
    out.value_tag.max.x += by;
  }
  const float half = width_px(axis_value(spec.x, spec.xs[line.cursor()], 3)) / 2 + line_px * 0.5f;
  const float middle = std::clamp(out.pen.x, a.min.x + half - line_px, std::max(a.max.x - half + line_px, a.min.x));
  out.place_tag = {{middle - half, a.max.y + line_px * 0.15f}, {middle + half, a.max.y + line_px * 1.65f}};
}

void layout_below(const Box& outer, DrawCurveSpec& spec, const AxisSpec& y, std::span<const double> ys,
                  const DrawnLine& line, float share_below, float caption_px, float (*width_px)(std::string_view),
                  float line_px, DrawCurveLayout& above, PlotFrame& below) {
  RangeFinder found{.positive_only = is_log(y.kind)};
  for (const double v : ys) found.add(v);
  Range range = fit_range(y.kind, found.any() ? Range{found.lo, found.hi} : Range{1, 10}, 0.07);
  if (!is_log(y.kind) && found.any() && found.lo >= 0) range.lo = 0;
  range = sane_range(y.kind, range);
  const float edge = std::floor(outer.max.y - share_below * outer.height());
  const Box upper{outer.min, {outer.max.x, edge}}, lower{{outer.min.x, edge + caption_px}, outer.max};
  spec.x_axis = false;
  float gutter = 0;
  for (int pass = 0; pass < 2; ++pass) {  // the second knows which of the two needs the wider gutter
    spec.least_gutter_px = gutter;
    layout_draw_curve(upper, spec, line, width_px, line_px, above);
    layout_frame(lower, {.least_gutter_px = gutter}, spec.x, y, spec.x_range, range, width_px, line_px, below);
    gutter = std::max(above.frame.area.min.x, below.area.min.x) - outer.min.x;
  }
}

RevealPlaces place_reveal(const DrawCurveLayout& layout, const DrawCurveSpec& spec, std::span<const double> drawn,
                          std::span<const double> computed, std::size_t worst, const RevealSizes& sizes,
                          Occupancy& room) {
  const Box& a = layout.frame.area;
  room.reset(a);
  block_line(room, layout.frame, spec.xs, drawn);
  block_line(room, layout.frame, spec.xs, computed);
  for (const GivenMark& g : spec.given) {
    const float y = static_cast<float>(layout.frame.y.pixel(g.value));
    const float x = static_cast<float>(layout.frame.x.pixel(g.at));
    const float em = sizes.yours.y, name = em * (0.5f * static_cast<float>(g.label.size()) + 2);
    const bool left = x + name > a.max.x;  // its name is beside it, above or below
    if (std::isfinite(g.at))
      room.block({{left ? x - name : x - 2 * em, y - 2 * em}, {left ? x + 2 * em : x + name, y + 2 * em}});
    else
      room.block({{a.min.x, y - 20}, {a.max.x, y - 22 > a.min.y ? y + 3 : y + 24}});  // its name, above or below it
  }
  RevealPlaces out;
  const float margin = std::min(a.width(), a.height()) * 0.02f;
  const auto computed_at = [&](std::size_t i) { return std::isfinite(computed[i]); };
  if (worst < drawn.size() && worst < computed.size() && computed_at(worst) && std::isfinite(drawn[worst])) {
    const ImVec2 from = place_of(layout.frame, spec.xs[worst], drawn[worst]),
                 to = place_of(layout.frame, spec.xs[worst], computed[worst]);
    room.block_segment(from, to, 4);
    if (!spec.x_axis) room.block_segment(to, {to.x, a.max.y}, 4);  // the line down to the plot below
    const float side = from.x < (a.min.x + a.max.x) / 2 ? 1.0f : -1.0f;
    out.explanation = nearest_free(room, a, sizes.explanation,
                                   {from.x + side * (sizes.explanation.x / 2 + 14), (from.y + to.y) / 2}, margin);
  }
  if (!out.explanation)
    out.explanation =
        nearest_free(room, a, sizes.explanation, {(a.min.x + a.max.x) / 2, (a.min.y + a.max.y) / 2}, margin);
  out.card = nearest_free(room, a, sizes.card, {a.min.x, a.min.y}, margin);
  std::size_t last = spec.xs.size();
  while (last > 0 && (last > computed.size() || !computed_at(last - 1))) --last;
  if (last > 0 && drawn.empty()) {
    const ImVec2 end = place_of(layout.frame, spec.xs[last - 1], computed[last - 1]);
    out.computed = nearest_free(room, a, sizes.computed, {end.x, end.y + 18}, 2);
  } else if (last > 0) {
    const std::size_t near_end = (last - 1) * 17 / 20;
    const ImVec2 mine = place_of(layout.frame, spec.xs[near_end], drawn[near_end]);
    const ImVec2 theirs =
        place_of(layout.frame, spec.xs[near_end], computed_at(near_end) ? computed[near_end] : computed[last - 1]);
    const float apart = mine.y <= theirs.y ? -18.0f : 18.0f;
    out.yours = nearest_free(room, a, sizes.yours, {mine.x, mine.y + apart}, 2);
    out.computed = nearest_free(room, a, sizes.computed, {theirs.x, theirs.y - apart}, 2);
  }
  return out;
}

}  // namespace widgets
