#include <algorithm>
#include <array>

#include "chapters/inference/flash_attention/lab.h"
#include "widgets/base/marks.h"
#include "widgets/plot/plot.h"

namespace chapters::inference::flash_attention {
namespace {

void draw_by_rows(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  if (picture.by_rows.empty()) return;
  widgets::Plot plot("rows of the tile", view.by_rows,
                     {.x = {.lo = 0, .hi = 256, .label = "rows of the tile"},
                      .y = {.kind = widgets::AxisKind::log10, .label = "read and written", .unit = "B"},
                      .size = size,
                      .end_labels = size.x >= widgets::theme().px(420)});
  plot.curves(picture.by_rows);
  if (picture.rows_limit < 256) plot.vertical_mark(picture.rows_limit, "no more rows fit", {.dashed = true});
  auto rows = static_cast<double>(in.block_rows);
  if (plot.drag_x("drag rows", rows, {.label = "yours", .lo = 16, .hi = std::max(16.0, picture.rows_limit)}))
    in.block_rows = std::clamp<std::int64_t>(16 * static_cast<std::int64_t>(rows / 16 + 0.5), 16, 256);
}

void draw_schedules(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 7> columns{{{.key = "schedule", .title = "schedule"},
                                                           {.key = "hbm_bytes", .title = "main memory"},
                                                           {.key = "l2_bytes", .title = "through L2"},
                                                           {.key = "fetches", .title = "from memory"},
                                                           {.key = "least_s", .title = "at best"},
                                                           {.key = "exchange_bytes", .title = "exchanged"},
                                                           {.key = "tensor_busy", .title = "tensor cores"}}};
  view.schedules.draw("schedules", out.schedules, columns, size);
}

/// The plot over the table, or beside it where the panel is wide.
void draw_bytes(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const bool beside = size.x >= t.px(1180);
  const float table = beside ? std::min(size.x * 0.48f, t.px(640)) : std::min(size.y * 0.45f, t.px(120));
  const ImVec2 plot = beside ? ImVec2{size.x - table - t.px(18), size.y} : ImVec2{size.x, size.y - table - t.px(10)};
  draw_by_rows(in, picture, view, plot);
  ImGui::SetCursorScreenPos(beside ? ImVec2{corner.x + plot.x + t.px(18), corner.y}
                                   : ImVec2{corner.x, corner.y + plot.y + t.px(10)});
  draw_schedules(out, view, beside ? ImVec2{table, size.y} : ImVec2{size.x, table});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("walk", {.title = "The walk", .least = {620, 380}, .answers = true, .marks = "square, odometers"},
              [&](ImVec2 size) { draw_walk(in, picture, view, size); });
  stage.panel("warps", {.title = "Warps of FA-1, 2, 3", .least = {640, 330}},
              [&](ImVec2 size) { draw_warps(picture, size); });
  stage.panel("bytes", {.title = "Block size and schedules", .least = {640, 330}},
              [&](ImVec2 size) { draw_bytes(in, out, picture, view, size); });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::inference::flash_attention
