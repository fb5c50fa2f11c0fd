#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "chapters/distributed/overlap/lab.h"
#include "chapters/distributed/shared/panel_parts.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::distributed::overlap {
namespace {

using models::parallel::OverlapMethod;

void draw_sizes(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const bool ddp = in.method == OverlapMethod::ddp;
  widgets::Plot plot("step against bucket", view.sizes,
                     {.x = {.kind = widgets::AxisKind::log2,
                            .label = ddp ? "bucket" : "layers a unit",
                            .unit = ddp ? "B" : "",
                            .binary = ddp},
                      .y = {.lo = out.collectives > 0 ? std::numeric_limits<double>::quiet_NaN() : 0,
                            .label = "one step",
                            .unit = "s"},
                      .size = size});
  if (picture.sizes.x.empty()) return;
  plot.curve(picture.sizes);
  plot.horizontal_mark(out.step.compute_s, "compute alone", {.output = "compute_s"});
  if (!picture.best_size.x.empty()) plot.curve(picture.best_size);
  const double x = ddp ? in.bucket_bytes : models::as_double(in.layers_per_unit), y = out.step.makespan_s;
  plot.scatter("yours", std::span(&x, 1), std::span(&y, 1), {.colour = t.accent, .radius = 6, .output = "step_s"});
}

void draw_gpus(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("step against GPUs", view.gpus,
                     {.x = {.kind = widgets::AxisKind::log2, .label = "GPUs"},
                      .y = {.kind = widgets::AxisKind::log10, .label = "one step", .unit = "s"},
                      .size = size});
  if (picture.gpus.empty()) return;
  plot.curves(picture.gpus);
  plot.horizontal_mark(out.step.compute_s, "compute alone", {.output = "compute_s"});
  const double x = models::as_double(in.gpus), y = out.step.makespan_s;
  plot.scatter("yours", std::span(&x, 1), std::span(&y, 1),
               {.colour = t.accent, .radius = 6, .legend = false, .output = "step_s"});
}

void draw_tokens(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("exposed against tokens", view.tokens,
                     {.x = {.kind = widgets::AxisKind::log2, .label = "tokens per GPU"},
                      .y = {.lo = 0, .label = "exposed, of the step", .unit = "%"},
                      .size = size});
  const widgets::Curve& exposed = picture.tokens;
  if (exposed.x.empty()) return;
  plot.curve(exposed);
  if (out.critical_tokens > 0) plot.vertical_mark(out.critical_tokens, "critical", {.output = "critical_tokens"});
  if (out.balance_tokens > 2 * out.critical_tokens)
    plot.vertical_mark(out.balance_tokens, "with latency", {.output = "balance_tokens"});
  plot.scatter("yours", std::span(&out.work.tokens, 1), std::span(&out.exposed_share, 1),
               {.colour = t.accent, .radius = 6, .legend = false, .output = "exposed_share"});
}

void draw_rows(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 7> columns{{{.key = "what"},
                                                           {.key = "tensors", .priority = 2},
                                                           {.key = "bytes", .bar = true},
                                                           {.key = "ready_s", .priority = 1},
                                                           {.key = "start_s"},
                                                           {.key = "end_s"},
                                                           {.key = "waits_s", .bar = true}}};
  view.rows.draw("collectives", out.rows, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel(
      "lanes",
      {.title = "One GPU, two lanes", .least = {560, 260}, .answers = true, .marks = "compute, network, waiting"},
      [&](ImVec2 size) { draw_lanes(in, out, picture, view, size); });
  stage.panel("sizes", {.title = "Against bucket, GPUs, batch", .least = {860, 170}}, [&](ImVec2 all) {
    draw_parts(
        all, 260, [&](ImVec2 size) { draw_sizes(in, out, picture, view, size); },
        [&](ImVec2 size) { draw_gpus(in, out, picture, view, size); },
        [&](ImVec2 size) { draw_tokens(out, picture, view, size); });
  });
  stage.panel("rows", {.title = "Collectives", .least = {420, 150}, .scrolls = true},
              [&](ImVec2 size) { draw_rows(out, view, size); });
  published_panel(stage, "Published", picture.published);
}

}  // namespace chapters::distributed::overlap
