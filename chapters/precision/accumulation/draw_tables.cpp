#include <array>
#include <cmath>

#include "chapters/precision/accumulation/lab.h"
#include "widgets/base/theme.h"
#include "widgets/table/row_table.h"

namespace chapters::precision::accumulation {
namespace {

widgets::RowMark mark_of(std::size_t series, std::size_t row) {
  constexpr std::array shapes{widgets::Marker::circle, widgets::Marker::triangle, widgets::Marker::diamond,
                              widgets::Marker::square};
  return {shapes[row % shapes.size()], widgets::theme().series_at(series)};
}

void draw_sums_table(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 4> columns{{{.title = "accumulator", .number = false},
                                                                {.title = "sum"},
                                                                {.title = "error", .unit = "%"},
                                                                {.title = "last change after"}}};
  widgets::TableSource source = widgets::table_of(out.sums, [](const SumRow& r, const widgets::RowCells& cells) {
    switch (cells.column) {
      case 1:  // as many digits as tell it from the exact one
        widgets::put_number(cells.cell, r.sum, "", 6);
        if (r.overflowed) cells.cell.text = "overflow";
        return;
      case 3:
        widgets::put_number(cells.cell, static_cast<double>(r.moved_last), "", 6);
        return;
      default:
        cells(r.name, "", widgets::CellFigure{r.error});
    }
  });
  source.mark = [](const void*, std::size_t row) { return mark_of(sum_series[row], row); };
  widgets::draw_table("sums", columns, source, view.sums, size);
}

void draw_updates_table(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 4> columns{{{.title = "the weight is kept", .number = false},
                                                                {.title = "weight"},
                                                                {.title = "arrived", .unit = "%"},
                                                                {.title = "first moves"}}};
  widgets::TableSource source = widgets::table_of(out.updates, [](const UpdateRow& r, const widgets::RowCells& cells) {
    if (cells.column == 1) {
      widgets::put_number(cells.cell, r.weight, "", 5);
      return;
    }
    cells(r.name, "", widgets::CellFigure{r.gained}, widgets::CellFigure{static_cast<double>(r.first_move)});
    if (cells.column == 3 && r.first_move == 0) cells.cell.text = "never";
  });
  source.mark = [](const void*, std::size_t row) { return mark_of(update_series[row], row); };
  widgets::draw_table("weights", columns, source, view.updates, size);
}

}  // namespace

void draw_tables(const Outputs& out, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float gap = t.px(12);
  // Each table has room as it has rows, its head counted in.
  const auto rows = static_cast<float>(out.sums.size() + 1), all = rows + static_cast<float>(out.updates.size() + 1);
  const float sums = std::floor((size.y - gap) * rows / all);
  draw_sums_table(out, view, {size.x, sums});
  ImGui::SetCursorScreenPos({corner.x, corner.y + sums + gap});
  draw_updates_table(out, view, {size.x, size.y - sums - gap});
}

}  // namespace chapters::precision::accumulation
