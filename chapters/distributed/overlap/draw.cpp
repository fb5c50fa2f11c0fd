#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "chapters/distributed/overlap/lab.h"
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
  if (picture.sizes.empty()) return;
  plot.line("one step", picture.sizes, picture.size_step_s,
            {.colour = t.accent,
             .label = false,
             .legend = false,
             .info = "the step on two streams",
             .version = picture.version,
             .output = "step_s"});
  plot.horizontal_mark(out.run.compute_s, "compute alone", {.output = "compute_s"});
  if (out.collectives > 0 && std::isfinite(picture.least_size) && picture.least_size > 0)
    plot.scatter(
        "best", std::span(&picture.least_size, 1), std::span(&picture.least_size_s, 1),
        {.colour = t.good, .marker = widgets::Marker::diamond, .radius = 6, .output = ddp ? "best_step_s" : ""});
  const double x = ddp ? in.bucket_bytes : models::as_double(in.layers_per_unit), y = out.run.makespan_s;
  plot.scatter("yours", std::span(&x, 1), std::span(&y, 1), {.colour = t.accent, .radius = 6, .output = "step_s"});
}

void draw_gpus(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("step against GPUs", view.gpus,
                     {.x = {.kind = widgets::AxisKind::log2, .label = "GPUs"},
                      .y = {.kind = widgets::AxisKind::log10, .label = "one step", .unit = "s"},
                      .size = size});
  if (picture.gpus.empty()) return;
  constexpr std::array<std::string_view, 2> names{"DDP", "FSDP"};
  for (std::size_t m = 0; m < names.size(); ++m) {
    const bool yours = m == static_cast<std::size_t>(in.method);
    const std::vector<double>& step_s = picture.gpu_step_s[m];
    if (std::none_of(step_s.begin(), step_s.end(), [](double s) { return std::isfinite(s); })) continue;
    plot.line(names[m], picture.gpus, step_s,
              {.colour = yours ? t.accent : t.series_at(1),
               .dashed = !yours,
               .info = "the same batch on each GPU; none where the states do not fit",
               .version = picture.version});
  }
  plot.horizontal_mark(out.run.compute_s, "compute alone", {.output = "compute_s"});
  const double x = models::as_double(in.gpus), y = out.run.makespan_s;
  plot.scatter("yours", std::span(&x, 1), std::span(&y, 1),
               {.colour = t.accent, .radius = 6, .legend = false, .output = "step_s"});
}

void draw_tokens(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("exposed against tokens", view.tokens,
                     {.x = {.kind = widgets::AxisKind::log2, .label = "tokens a GPU"},
                      .y = {.lo = 0, .label = "exposed, of the step", .unit = "%"},
                      .size = size});
  if (picture.tokens.empty()) return;
  plot.line("exposed", picture.tokens, picture.tokens_exposed,
            {.colour = t.bad, .label = false, .legend = false, .version = picture.version, .output = "exposed_share"});
  if (out.critical_tokens > 0) plot.vertical_mark(out.critical_tokens, "critical", {.output = "critical_tokens"});
  if (out.balance_tokens > 2 * out.critical_tokens)
    plot.vertical_mark(out.balance_tokens, "with latency", {.output = "balance_tokens"});
  plot.scatter("yours", std::span(&out.work.tokens, 1), std::span(&out.exposed_share, 1),
               {.colour = t.accent, .radius = 6, .legend = false, .output = "exposed_share"});
}

void draw_rows(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 7> columns{{{.title = "collective"},
                                                                {.title = "tensors", .priority = 2},
                                                                {.title = "bytes", .value_unit = "B", .bar = true},
                                                                {.title = "ready", .value_unit = "s", .priority = 1},
                                                                {.title = "starts", .value_unit = "s"},
                                                                {.title = "ends", .value_unit = "s"},
                                                                {.title = "waits", .value_unit = "s", .bar = true}}};
  widgets::TableSource source{.context = &out, .rows = out.rows.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const CollectiveRow& r = static_cast<const Outputs*>(context)->rows[row];
    if (column == 0) {
      cell.text = r.what;
      return;
    }
    const std::array<double, 7> values{0,        models::as_double(r.tensors), r.bytes, r.ready_s, r.start_s, r.end_s,
                                       r.waits_s};
    cell.value = values[column];
    cell.number = widgets::format(values[column], column == 2 ? "B" : column >= 3 ? "s" : "");
  };
  widgets::draw_table("collectives", columns, source, view.rows, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  const bool ddp = in.method == OverlapMethod::ddp;
  stage.panel("lanes", {.title = "One GPU, two lanes", .least = {560, 260}, .answers = true},
              [&](ImVec2 size) { draw_lanes(in, picture, view, size); });
  stage.panel("sizes", {.title = ddp ? "Against the bucket" : "Against the unit", .least = {300, 170}},
              [&](ImVec2 size) { draw_sizes(in, out, picture, view, size); });
  stage.panel("gpus", {.title = "Against GPUs", .least = {300, 170}},
              [&](ImVec2 size) { draw_gpus(in, out, picture, view, size); });
  stage.panel("tokens", {.title = "Against the batch", .least = {300, 170}},
              [&](ImVec2 size) { draw_tokens(out, picture, view, size); });
  stage.panel("rows", {.title = "Collectives", .least = {420, 150}, .scrolls = true},
              [&](ImVec2 size) { draw_rows(out, picture, view, size); });
  published_panel(stage, "Published", picture.published);
}

}  // namespace chapters::distributed::overlap
