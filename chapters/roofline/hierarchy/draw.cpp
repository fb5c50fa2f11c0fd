#include <array>

#include "chapters/roofline/hierarchy/draw_facts.h"
#include "chapters/roofline/hierarchy/draw_ladder.h"
#include "chapters/roofline/hierarchy/draw_shaft.h"
#include "widgets/plot/plot.h"

namespace chapters::roofline::hierarchy {
namespace {

using widgets::theme;

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
          .ghost = false,  // the last state of all levels would be a second fan of curves
      });
  plot.curves(pic.curves);
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

/// Where the figures of the chosen level come from; next to it, or under it, the watts of a cluster.
void draw_sources(const Outputs& out, const Picture& pic, ImVec2 size) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(20), watts = t.px(150);
  const bool across = size.x >= t.px(760);
  const float facts = across ? 0.5f * (size.x - gap) : size.x;
  draw_facts(out, pic, {facts, size.y});
  const float under = ImGui::GetCursorScreenPos().y + gap;
  ImGui::SetCursorScreenPos(across ? ImVec2{at.x + facts + gap, at.y} : ImVec2{at.x, under});
  draw_power(out, pic, {across ? size.x - facts - gap : size.x - t.px(14), watts});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& pic, View& view) {
  const float rows = static_cast<float>(out.levels.size());
  stage.panel("shaft", {.title = "The shaft", .least = {640, 250}, .answers = true, .marks = "roads, stations, fetch"},
              [&](ImVec2 size) { draw_shaft(in, out, pic, size); });
  stage.panel("ladder", {.title = "Level by level", .least = {700, 62 + 22 * rows}, .ideal = {0, 62 + 46 * rows}},
              [&](ImVec2 size) { draw_ladder(in, out, pic, size); });
  stage.panel("curves", {.title = "Time against bytes", .least = {520, 220}},
              [&](ImVec2 size) { draw_curves(in, out, pic, view, size); });
  stage.panel("facts", {.title = "Sources and watts", .least = {320, 330}, .ideal = {900, 330}, .scrolls = true},
              [&](ImVec2 size) { draw_sources(out, pic, size); });
}

}  // namespace chapters::roofline::hierarchy
