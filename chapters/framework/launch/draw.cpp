#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/framework/launch/lab.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::framework::launch {
namespace {

/// The batches of the plot reach the one that is set.
double widest(const Inputs& in) { return std::max(512.0, static_cast<double>(in.batch)); }

void draw_batches(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("against batch", view.plot,
                     {.x = {.kind = widgets::AxisKind::log2, .lo = 1, .hi = widest(in), .label = "batch"},
                      .y = {.kind = widgets::AxisKind::log10, .label = "one step", .unit = "s"},
                      .size = size});
  if (picture.over_batch.empty()) return;
  plot.curves(picture.over_batch);
  if (out.free_batch >= 1 && out.free_batch <= widest(in))
    plot.vertical_mark(out.free_batch, "launches covered from here", {.dashed = true});
  const auto x = static_cast<double>(in.batch), y = out.now.step_s;
  plot.scatter("yours", std::span(&x, 1), std::span(&y, 1), {.colour = t.accent, .radius = 6, .legend = false});
}

/// The operations of a step, and under them what recordings measured of launches.
void draw_operations(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 6> operations{{{.key = "name", .title = "operation"},
                                                              {.key = "kernels", .title = "kernels"},
                                                              {.key = "count", .title = "times", .priority = 1},
                                                              {.key = "kernel_s", .title = "per kernel"},
                                                              {.key = "launches_s", .title = "to launch", .bar = true},
                                                              {.key = "kernels_s", .title = "to run", .bar = true}}};
  static constexpr std::array<DescribedColumn, 6> recorded{{{.key = "name", .title = "recording, medians"},
                                                            {.key = "call_s", .title = "per call"},
                                                            {.key = "interval_s", .title = "to the next"},
                                                            {.key = "latency_s", .title = "on its way"},
                                                            {.key = "between_s", .title = "between", .priority = 1},
                                                            {.key = "lead", .title = "ahead"}}};
  const auto& t = widgets::theme();
  const bool both = size.y >= t.px(300);
  const float gap = t.px(12), upper = both ? std::floor(size.y * 0.64f) : size.y;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  view.operations.draw("operations", out.operations, operations, {size.x, upper});
  if (!both) return;
  ImGui::SetCursorScreenPos({at.x, at.y + upper + gap});
  view.recorded.draw("recorded", out.recorded, recorded, {size.x, size.y - upper - gap});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("conveyors",
              {.title = "The first layer",
               .least = {780, 450},
               .ideal = {0, 560},
               .answers = true,
               .marks = "launches, pool, device, faster device, other device"},
              [&](ImVec2 size) {
                // A measurement of another model, chip or mode says nothing about what is set.
                const bool same = !picture.published.marks.empty() && !picture.published.marks.front().faint;
                const float above =
                    same ? published_line("measured: ", picture.published, size, widgets::theme().px(430)) : 0.0f;
                draw_conveyors(picture, view, {size.x, size.y - above});
              });
  stage.panel("batch", {.title = "Against the batch", .least = {380, 210}},
              [&](ImVec2 size) { draw_batches(in, out, picture, view, size); });
  stage.panel("operations",
              {.title = "Operations and recorded launches", .least = {430, 150}, .ideal = {0, 420}, .scrolls = true},
              [&](ImVec2 size) { draw_operations(out, view, size); });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::framework::launch
