#include <algorithm>
#include <cmath>

#include "chapters/inference/phases/lab.h"
#include "widgets/plot/plot.h"

namespace chapters::inference::phases {
namespace {

using widgets::AxisKind;

void draw_walk(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  widgets::Plot plot("walk", view.walk,
                     {.x = {.kind = AxisKind::log10, .label = "intensity", .unit = "FLOP/B"},
                      .y = {.kind = AxisKind::log10, .label = "a chip computes", .unit = "FLOP/s"},
                      .size = size});
  plot.curves(picture.walk);
  plot.vertical_mark(out.ridge, "ridge", {.output = "ridge"});
  // Up the slope is batch: a step with more requests does more with each byte of the weights.
  double x = out.intensity_decode, y = picture.now_flops_per_s;
  if (plot.drag_point("drag batch", x, y, {.lo = 0.25, .hi = 1e6, .y_lo = y, .y_hi = y})) {
    const double a_request = out.decode_work.flops() / static_cast<double>(in.batch),
                 cache = out.decode_work.cache_bytes / static_cast<double>(in.batch);
    const double left = a_request - x * cache;
    const double batch = left > 0 ? x * out.decode_work.weight_bytes / left : 65536;
    in.batch = static_cast<std::int64_t>(std::clamp(std::round(batch), 1.0, 65536.0));
  }
}

void draw_batch(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  widgets::Plot plot("batch", view.batch,
                     {.x = {.kind = AxisKind::log2, .lo = 1, .label = "batch"},
                      .y = {.kind = AxisKind::log10, .label = "all requests", .unit = "tokens/s"},
                      .size = size});
  plot.curves(picture.batch);
  if (std::isfinite(out.critical_batch) && out.critical_batch <= 65536)
    plot.vertical_mark(out.critical_batch, "critical batch", {.output = "critical_batch"});
  double batch = static_cast<double>(in.batch);
  if (plot.drag_x("drag the batch", batch, {.lo = 1, .hi = 65536}))
    in.batch = std::max<std::int64_t>(1, std::llround(batch));
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("areas", {.title = "One request", .least = {560, 330}, .answers = true, .marks = "areas, roofs"},
              [&](ImVec2 size) { draw_areas(in, out, picture, view, size); });
  stage.panel("walk", {.title = "Roofline walk", .least = {400, 300}},
              [&](ImVec2 size) { draw_walk(in, out, picture, view, size); });
  stage.panel("batch", {.title = "Batch", .least = {400, 300}},
              [&](ImVec2 size) { draw_batch(in, out, picture, view, size); });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::inference::phases
