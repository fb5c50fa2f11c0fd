#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/debugging/stragglers/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/plot/plot.h"

namespace chapters::debugging::stragglers {
namespace {

/// A mark at the right of the map for each GPU that the rule accuses; in red where it is healthy.
void paint_accused(const Picture& picture, const widgets::HeatMapLayout& map, ImVec2 at, float width) {
  const auto& t = widgets::theme();
  const auto p = widgets::Painter::window();
  if (picture.accused.empty() || map.rows == 0 || map.cols == 0) return;
  const float side = t.px(5), x = map.grid.max.x + t.px(3);
  const bool many = picture.accused.size() > 30;  // triangles would lie on each other
  for (const Accused& a : picture.accused) {
    const widgets::Rect cell = map.cell(map.shown_row(a.row, picture.heat_rows), map.cols - 1);
    const float y = (cell.min.y + cell.max.y) / 2;
    if (many) {
      p.rect({x, cell.min.y}, {x + side, std::max(cell.max.y - 1, cell.min.y + 1)}, a.healthy ? t.bad : t.text);
      continue;
    }
    const std::array<ImVec2, 3> mark{ImVec2{x, y}, ImVec2{x + 2 * side, y - side}, ImVec2{x + 2 * side, y + side}};
    p.polygon(mark, a.healthy ? t.bad : t.text);
  }
  // Between the titles of the rows and of the colours.
  const float used = widgets::text_size("rank", widgets::Type::small).x + t.px(16);
  const float room = width - used - widgets::text_size(picture.heat_note, widgets::Type::small).x - t.px(60);
  if (widgets::text_size(picture.accused_words, widgets::Type::small).x <= room)
    p.text({at.x + used, at.y}, picture.accused_words, t.muted, widgets::Type::small);
}

}  // namespace

void draw_heat(const Picture& picture, View& view, ImVec2 size) {
  const bool fleet = picture.shown == Shown::fleet;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  widgets::draw_heat_map(
      "cells",
      {.values = picture.heat, .rows = picture.heat_rows, .cols = picture.heat_cols, .revision = picture.version},
      view.heat,
      {.row_title = fleet ? "rank" : "stage",
       .col_title = fleet ? "step" : "replica",
       .value_title = picture.heat_note,
       .unit = "%",
       .size = size,
       .numbers = !fleet,
       .lo = picture.heat_lo,
       .hi = picture.heat_hi});
  if (fleet && !widgets::veiled()) paint_accused(picture, view.heat.layout, at, size.x);
  widgets::drew("cells");
}

void draw_detector(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(6), upper = std::floor((size.y - gap) * 0.56f);
  const auto drag = [&](widgets::Plot& plot, const char* id) {
    double to = std::clamp(in.threshold, picture.threshold_lo, picture.threshold_hi);
    if (plot.drag_x(id, to, {.label = "", .lo = picture.threshold_lo, .hi = picture.threshold_hi}))
      in.threshold = std::round(to * 20) / 20;
  };
  {
    widgets::Plot plot("false alarms", view.alarms,
                       {.x = {.lo = picture.threshold_lo, .hi = picture.threshold_hi, .label = picture.threshold_label},
                        .y = {.kind = widgets::AxisKind::log10,
                              .lo = picture.alarms_lo,
                              .hi = picture.alarms_hi,
                              .label = "false alarms per day"},
                        .size = {size.x, upper},
                        .legend = false,
                        .link = &view.link,
                        .x_axis = false});
    plot.curve(picture.false_alarms);
    if (1 > picture.alarms_lo && 1 < picture.alarms_hi) plot.horizontal_mark(1, "one per day");
    drag(plot, "drag the threshold");
  }
  ImGui::SetCursorScreenPos({at.x, at.y + upper + gap});
  widgets::Plot plot("found", view.found,
                     {.x = {.lo = picture.threshold_lo, .hi = picture.threshold_hi, .label = picture.threshold_label},
                      .y = {.lo = 0, .hi = 105, .label = "slow GPUs found", .unit = "%"},
                      .size = {size.x, size.y - upper - gap},
                      .legend = false,
                      .link = &view.link});
  plot.curve(picture.found);
  drag(plot, "drag the threshold of those found");
}

}  // namespace chapters::debugging::stragglers
