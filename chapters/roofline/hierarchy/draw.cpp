#include <array>

#include "chapters/roofline/hierarchy/draw_facts.h"
#include "chapters/roofline/hierarchy/draw_ladder.h"
#include "widgets/plot/plot.h"

namespace chapters::roofline::hierarchy {
namespace {

using widgets::theme;

void draw_curve(widgets::Plot& plot, const Outputs& out, const Picture& pic, std::size_t index) {
  const auto& t = theme();
  const LevelRow& row = out.levels[index];
  const LevelCurve& points = pic.curves[index];
  if (points.time_s.empty()) return;
  const bool chosen = index == pic.selected;
  const ImU32 colour = chosen ? t.accent : t.muted;
  const std::span<const double> xs(pic.curve_bytes), ys(points.time_s);
  const std::size_t n = points.within, from = n > 0 ? n - 1 : 0;
  const bool beyond = n < ys.size();  // the name stands where the curve ends
  if (n > 0)
    plot.line(row.facts.label, xs.first(n), ys.first(n),
              {
                  .colour = colour,
                  .width = chosen ? 3.5f : 1.5f,
                  .label = !beyond,
                  .legend = false,
                  .info = "latency + bytes / bandwidth",
              });
  if (beyond)
    plot.line(row.facts.label, xs.subspan(from), ys.subspan(from),
              {
                  .colour = colour,
                  .width = chosen ? 2.5f : 1.2f,
                  .dashed = true,
                  .legend = false,
                  .info = "more bytes than the level holds: they pass through in pieces",
              });
}

void draw_curves(Inputs& in, const Outputs& out, const Picture& pic, View& view, ImVec2 size) {
  const auto& t = theme();
  widgets::Plot plot(
      "time against bytes", view.plot,
      {
          .x = {.kind = widgets::AxisKind::log10, .lo = 1, .hi = 1e12, .label = "bytes moved", .unit = "B"},
          .y = {.kind = widgets::AxisKind::log10, .label = "time", .unit = "s"},
          .size = size,
          .legend = false,
          .end_labels = true,
      });
  for (std::size_t i = 0; i < out.levels.size(); ++i) draw_curve(plot, out, pic, i);
  plot.vertical_mark(in.bytes, {}, {.colour = t.accent});
  for (std::size_t i = 0; i < out.levels.size(); ++i) {
    const LevelRow& row = out.levels[i];
    const std::array<double, 1> x{in.bytes}, y{row.time_s};
    if (i != pic.selected && row.time_s > 0)
      plot.scatter(row.facts.label, x, y, {.colour = t.muted, .radius = 3.5f, .legend = false, .info = row.human_time});
  }
  if (in.pattern == models::AccessPattern::stream && out.needed_in_flight_bytes > 0)
    plot.vertical_mark(out.needed_in_flight_bytes, pic.fill_label,
                       {.colour = t.muted, .output = "needed_in_flight_bytes"});
  double bytes = in.bytes, time_s = out.chosen.time_s;
  if (time_s > 0) {
    if (plot.drag_point(
            "bytes moved", bytes, time_s,
            {.label = pic.own_label, .lo = 1, .hi = 1e12, .y_lo = time_s, .y_hi = time_s, .output = "time_s"}))
      in.bytes = bytes;
  }
  plot.tag_x(in.bytes);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& pic, View& view) {
  const float rows = static_cast<float>(out.levels.size());
  stage.panel(
      "ladder",
      {.title = "Level by level", .least = {700, 62 + 22 * rows}, .ideal = {0, 62 + 46 * rows}, .answers = true},
      [&](ImVec2 size) { draw_ladder(in, out, pic, size); });
  stage.panel("curves", {.title = "Time against bytes", .least = {520, 220}},
              [&](ImVec2 size) { draw_curves(in, out, pic, view, size); });
  stage.panel("facts", {.title = "The chosen level", .least = {320, 200}, .ideal = {520, 330}, .scrolls = true},
              [&](ImVec2 size) { draw_facts(out, pic, size); });
  stage.panel("power", {.title = "Watts of memory traffic", .least = {320, 128}, .ideal = {900, 150}},
              [&](ImVec2 size) { draw_power(out, pic, size); });
}

}  // namespace chapters::roofline::hierarchy
