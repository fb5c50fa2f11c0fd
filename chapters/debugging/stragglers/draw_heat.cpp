#include <algorithm>
#include <cmath>

#include "chapters/debugging/stragglers/lab.h"
#include "widgets/base/marks.h"
#include "widgets/plot/plot.h"

namespace chapters::debugging::stragglers {

void draw_heat(const Picture& picture, View& view, ImVec2 size) {
  const bool fleet = picture.shown == Shown::fleet;
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
