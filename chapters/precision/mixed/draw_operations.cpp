#include <array>

#include "chapters/precision/mixed/lab.h"
#include "widgets/base/painter.h"
#include "widgets/base/theme.h"
#include "widgets/table/row_table.h"

namespace chapters::precision::mixed {
namespace {

using models::NumberFormat;

/// One colour and shape for each format: squares 32 bits, circles 16, triangles 8.
constexpr std::array<std::size_t, 6> format_series{3, 5, 0, 2, 1, 4};
constexpr std::array format_shapes{widgets::Marker::square, widgets::Marker::square,   widgets::Marker::circle,
                                   widgets::Marker::circle, widgets::Marker::triangle, widgets::Marker::diamond};

static_assert(format_series.size() == static_cast<std::size_t>(NumberFormat::e5m2) + 1);
static_assert(format_shapes.size() == format_series.size());

/// A row of the table's source.
const OperationRow& row_of(const void* rows, std::size_t row) {
  return (*static_cast<const std::vector<OperationRow>*>(rows))[row];
}

}  // namespace

widgets::RowMark mark_of(NumberFormat format) {
  const auto i = static_cast<std::size_t>(format);
  return {format_shapes[i], widgets::theme().series_at(format_series[i])};
}

void draw_operations(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 6> columns{{{.title = "operation", .number = false},
                                                                {.title = "times"},
                                                                {.title = "forward", .number = false},
                                                                {.title = "backward", .number = false},
                                                                {.title = "time of all", .value_unit = "s"},
                                                                {.title = "share", .value_unit = "%", .bar = true}}};
  widgets::TableSource source =
      widgets::table_of(out.operations, [](const OperationRow& r, const widgets::RowCells& cells) {
        using Figure = widgets::CellFigure;
        const std::string_view back = r.backward.empty() ? std::string_view("none") : std::string_view(r.backward);
        cells(r.figures.name, Figure{static_cast<double>(r.figures.count)}, r.forward, back, r.all_s, r.share);
      });
  source.mark = [](const void* rows, std::size_t row) { return mark_of(row_of(rows, row).figures.forward); };
  source.hover = [](const void* rows, std::size_t row, std::size_t) { return std::string_view(row_of(rows, row).why); };
  widgets::draw_table("operations", columns, source, view.operations, size);
}

}  // namespace chapters::precision::mixed
