#include <algorithm>

#include "chapters/framework/fusion/lab.h"
#include "widgets/number/number.h"
#include "widgets/table/row_table.h"

namespace chapters::framework::fusion {
namespace {

using widgets::AxisKind;
using widgets::Meaning;

/// The chain's time as the lasso's last box moves on.
void draw_ends(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  if (picture.ends.empty()) return;
  double most = out.unfused_s;
  for (const double s : picture.end_s) most = std::max(most, s);
  widgets::Plot plot("ends", view.ends,
                     {.x = {.lo = 0.5, .hi = static_cast<double>(picture.names.size()) + 0.5, .label = "last box"},
                      .y = {.lo = 0, .hi = 1.08 * most, .label = "the chain", .unit = "s"},
                      .size = size});
  plot.line("the chain", picture.ends, picture.end_s,
            {.colour = t.accent,
             .label = false,
             .info = "one kernel from the first box to this",
             .version = picture.version});
  plot.line("its bytes alone", picture.ends, picture.end_memory_s,
            {.colour = t.of(Meaning::memory_bound),
             .dashed = true,
             .label = false,
             .info = "traffic over the bandwidth reached",
             .version = picture.version});
  plot.horizontal_mark(out.unfused_s, "none fused");
  double at = picture.last + 1;
  if (plot.drag_x("drag end", at,
                  {.label = "", .lo = picture.first + 1.0, .hi = static_cast<double>(picture.names.size())}))
    in.last = std::llround(at);
}

/// What attention moves, fused and not.
void draw_attention(const Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("attention", view.attention,
                     {.x = {.kind = AxisKind::log2, .lo = 256, .hi = 131072, .label = "tokens"},
                      .y = {.kind = AxisKind::log10, .label = "traffic of all heads", .unit = "B"},
                      .size = size});
  if (picture.lengths.empty()) return;
  plot.line("three kernels", picture.lengths, picture.unfused,
            {.colour = t.of(Meaning::memory_bound),
             .label = false,
             .info = "(4 S^2 + 4 S d) x 2 B a head",
             .version = picture.version});
  plot.line("one kernel", picture.lengths, picture.fused,
            {.colour = t.accent, .label = false, .info = "4 S d x 2 B a head", .version = picture.version});
  if (in.chain == models::gpu::ChainKind::attention && in.tokens >= 256)
    plot.vertical_mark(static_cast<double>(in.tokens), "yours");
  else
    plot.vertical_mark(marked_length, picture.ratio_words);
}

/// Kernels under the roof: of none fused, and of the plan.
void draw_roofline(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("roofline", view.roofline,
                     {.x = {.kind = AxisKind::log10, .lo = 0.1, .hi = 1e4, .label = "intensity", .unit = "FLOP/B"},
                      .y = {.kind = AxisKind::log10, .label = "reached", .unit = "FLOP/s"},
                      .size = size});
  if (!(picture.peak > 0)) return;
  const double x[] = {0.1, picture.ridge, 1e4}, y[] = {0.1 * picture.bandwidth, picture.peak, picture.peak};
  plot.line(
      "roof reached", x, y,
      {.colour = t.muted, .label = false, .info = "shares of peak and bandwidth as set", .version = picture.version});
  plot.scatter("none fused", picture.dot_intensity[0], picture.dot_flops[0],
               {.colour = t.muted,
                .marker = widgets::Marker::diamond,
                .info = "instructions of vector units count as one each"});
  plot.scatter("yours", picture.dot_intensity[1], picture.dot_flops[1],
               {.colour = t.accent, .info = "instructions of vector units count as one each"});
}

void draw_kernels(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 12> columns{
      {{.title = "kernel", .number = false},
       {.title = "tile", .number = false, .priority = 4},
       {.title = "registers"},
       {.title = "spilled", .priority = 1},
       {.title = "shared memory", .value_unit = "B", .prefix = widgets::Prefix::binary, .priority = 3},
       {.title = "blocks an SM", .priority = 2},
       {.title = "occupancy", .unit = "%"},
       {.title = "traffic", .value_unit = "B"},
       {.title = "from L2", .value_unit = "B", .priority = 1},
       {.title = "time", .value_unit = "s", .bar = true},
       {.title = "waits for", .number = false},
       {.title = "kind", .number = false, .priority = 2}}};
  const widgets::TableSource source =
      widgets::table_of(out.kernel_rows, picture.version, [](const KernelRow& r, const widgets::RowCells& cells) {
        const auto count = [](auto n) { return widgets::CellFigure{static_cast<double>(n)}; };
        cells(r.name, r.tile, count(r.registers), count(r.spilled), r.shared_bytes, count(r.resident),
              count(r.occupancy), r.bytes, r.l2_bytes, r.time_s, r.waits, r.kind);
      });
  widgets::draw_table("kernels", columns, source, view.kernels, size);
}

void draw_stages(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 5> columns{{{.title = "stage", .number = false},
                                                                {.title = "how many"},
                                                                {.title = "of what", .number = false},
                                                                {.title = "bytes", .value_unit = "B"},
                                                                {.title = "the chain", .value_unit = "s"}}};
  const widgets::TableSource source =
      widgets::table_of(out.stages, picture.version, [](const StageRow& r, const widgets::RowCells& cells) {
        cells(r.stage, widgets::CellFigure{static_cast<double>(r.count)}, r.makes, r.bytes, r.time_s);
      });
  widgets::draw_table("stages", columns, source, view.stages, size);
}

void draw_assumed(const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 3> columns{
      {{.title = "assumed", .number = false}, {.title = "here", .number = false}, {.title = "from", .number = false}}};
  const widgets::TableSource source =
      widgets::table_of(picture.assumed, picture.version,
                        [](const AssumedRow& r, const widgets::RowCells& cells) { cells(r.what, r.value, r.from); });
  widgets::draw_table("assumed", columns, source, view.assumed, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("boxes", {.title = "Boxes", .least = {600, 330}, .ideal = {0, 560}, .answers = true},
              [&](ImVec2 size) { draw_boxes(in, out, picture, view, size); });
  stage.panel("stages", {.title = "Compiler's stages", .least = {480, 170}, .scrolls = true},
              [&](ImVec2 size) { draw_stages(out, picture, view, size); });
  stage.panel("kernels", {.title = "Kernels", .least = {520, 170}, .scrolls = true},
              [&](ImVec2 size) { draw_kernels(out, picture, view, size); });
  stage.panel("ends", {.title = "One box more", .least = {420, 230}},
              [&](ImVec2 size) { draw_ends(in, out, picture, view, size); });
  stage.panel("attention", {.title = "Attention", .least = {420, 230}},
              [&](ImVec2 size) { draw_attention(in, picture, view, size); });
  stage.panel("roofline", {.title = "Roofline", .least = {420, 230}},
              [&](ImVec2 size) { draw_roofline(picture, view, size); });
  stage.panel("assumed", {.title = "What is assumed", .least = {520, 200}, .scrolls = true},
              [&](ImVec2 size) { draw_assumed(picture, view, size); });
  published_panel(stage, "Measured on an H100", picture.published);
}

}  // namespace chapters::framework::fusion
