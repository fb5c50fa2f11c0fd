#include <array>
#include <cmath>

#include "chapters/kernels/coalescing/lab.h"
#include "widgets/table/row_table.h"

namespace chapters::kernels::coalescing {
namespace {

void draw_others(const Picture& picture, View& view, ImVec2 size) {
  if (!picture.run) return;
  static constexpr std::array<widgets::TableColumn, 7> columns{{{.title = "access", .number = false},
                                                                {.title = "index", .number = false},
                                                                {.title = "sectors", .bar = true},
                                                                {.title = "lines"},
                                                                {.title = "wanted, %"},
                                                                {.title = "256 threads"},
                                                                {.title = "at best"}}};
  const widgets::TableSource source =
      widgets::table_of(picture.run->others, [](const OtherRow& r, const widgets::RowCells& cells) {
        using widgets::CellFigure;
        cells(r.name, r.expression, CellFigure{r.sectors}, CellFigure{r.lines}, CellFigure{r.efficiency_percent},
              CellFigure{r.block_sectors}, CellFigure{r.block_ideal});
      });
  widgets::draw_table("others", columns, source, view.others, size);
}

void draw_lane_table(const Picture& picture, View& view, ImVec2 size) {
  if (!picture.run) return;
  static constexpr std::array<widgets::TableColumn, 5> columns{
      {{.title = "lane"}, {.title = "index"}, {.title = "byte"}, {.title = "sector"}, {.title = "line"}}};
  const widgets::TableSource source =
      widgets::table_of(picture.run->lanes, [](const LaneRow& r, const widgets::RowCells& cells) {
        const std::array<double, 5> values{r.lane, r.index, r.byte, r.sector, r.line};
        widgets::put_number(cells.cell, values[cells.column], {}, 15);  // whole numbers, every digit
      });
  widgets::draw_table("lanes", columns, source, view.lanes, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("fan", {.title = "Lanes and sectors", .least = {560, 430}, .answers = true, .marks = "fan"},
              [&](ImVec2 size) {
                draw_over_doors(picture.doors, size, view.requests,
                                [&](ImVec2 rest) { draw_fan(in, out, picture, view, rest); });
              });
  stage.panel("block", {.title = "The block", .least = {360, 170}},
              [&](ImVec2 size) { draw_block(in, picture, size); });
  stage.panel("others", {.title = "Other accesses, and each lane", .least = {520, 170}, .scrolls = true},
              [&](ImVec2 size) {
                const auto& t = widgets::theme();
                const ImVec2 at = ImGui::GetCursorScreenPos();
                const float gap = t.px(16), lanes = size.x > t.px(900) ? std::floor(0.36f * size.x) : 0;
                draw_others(picture, view, {size.x - lanes - (lanes > 0 ? gap : 0), size.y});
                if (lanes <= 0) return;
                ImGui::SetCursorScreenPos({at.x + size.x - lanes, at.y});
                draw_lane_table(picture, view, {lanes, size.y});
              });
  published_panel(stage, "Counted by a profiler", picture.published);
}

}  // namespace chapters::kernels::coalescing
