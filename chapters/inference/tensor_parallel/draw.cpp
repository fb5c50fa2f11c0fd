#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/inference/tensor_parallel/lab.h"
#include "widgets/plot/plot.h"

namespace chapters::inference::tensor_parallel {
namespace {

using widgets::AxisKind;

void draw_batch(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  widgets::Plot plot("batch", view.against_batch,
                     {.x = {.kind = AxisKind::log2, .lo = 1, .hi = 1024, .label = "users"},
                      .y = {.kind = AxisKind::log10, .label = "time per token", .unit = "s"},
                      .size = size});
  if (picture.against_batch.empty()) return;
  plot.curves(picture.against_batch);
  double batch = static_cast<double>(in.batch);
  if (plot.drag_x("drag users", batch, {.lo = 1, .hi = 1024}))
    in.batch = std::max<std::int64_t>(1, std::llround(batch));
}

void draw_table(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 8> columns{{{.key = "chips"},
                                                           {.key = "time_s", .bar = true},
                                                           {.key = "weights_s", .priority = 1},
                                                           {.key = "cache_s", .priority = 2},
                                                           {.key = "talk_latency_s", .priority = 3},
                                                           {.key = "rest_s", .priority = 2},
                                                           {.key = "tokens_per_s_per_chip", .priority = 1},
                                                           {.key = "held_bytes", .priority = 3}}};
  view.slabs.draw("slabs", out.slabs, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("slabs", {.title = "The step", .least = {520, 320}, .answers = true, .marks = "slabs"},
              [&](ImVec2 size) { draw_slabs(in, picture, view, size); });
  stage.panel("batch", {.title = "Against users", .least = {400, 300}},
              [&](ImVec2 size) { draw_batch(in, picture, view, size); });
  stage.panel("table", {.title = "In numbers", .least = {420, 220}, .scrolls = true},
              [&](ImVec2 size) { draw_table(out, view, size); });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::inference::tensor_parallel
