#include <array>
#include <cstdio>

#include "chapters/precision/mixed/lab.h"
#include "widgets/base/painter.h"
#include "widgets/base/theme.h"

namespace chapters::precision::mixed {
namespace {

using models::NumberFormat;

/// One colour and shape for each format: squares 32 bits, circles 16, triangles 8.
constexpr std::array<std::size_t, 6> format_series{3, 5, 0, 2, 1, 4};
constexpr std::array format_shapes{widgets::Marker::square, widgets::Marker::square,   widgets::Marker::circle,
                                   widgets::Marker::circle, widgets::Marker::triangle, widgets::Marker::diamond};

static_assert(format_series.size() == static_cast<std::size_t>(NumberFormat::e5m2) + 1);
static_assert(format_shapes.size() == format_series.size());

}  // namespace

widgets::RowMark mark_of(NumberFormat format) {
  const auto i = static_cast<std::size_t>(format);
  return {format_shapes[i], widgets::theme().series_at(format_series[i])};
}

void draw_operations(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 6> columns{{{.title = "operation", .number = false},
                                                                {.title = "times"},
                                                                {.title = "forward", .number = false},
                                                                {.title = "backward", .number = false},
                                                                {.title = "time of all", .value_unit = "s"},
                                                                {.title = "share", .unit = "%", .bar = true}}};
  widgets::TableSource source{.context = &out, .rows = out.operations.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const OperationRow& r = static_cast<const Outputs*>(context)->operations[row];
    switch (column) {
      case 0:
        cell.text = r.figures.name;
        return;
      case 1:
        cell.value = static_cast<double>(r.figures.count);
        break;
      case 2:
        cell.text = r.forward;
        return;
      case 3:
        cell.text = r.backward.empty() ? std::string_view("none") : std::string_view(r.backward);
        return;
      case 4:
        cell.value = r.all_s;
        break;
      default:
        cell.value = r.share;
        break;
    }
    if (column == 5)
      cell.number.length =
          static_cast<std::size_t>(std::snprintf(cell.number.chars, sizeof cell.number.chars, "%.1f", cell.value));
    else
      cell.number = widgets::format(cell.value, column == 4 ? "s" : "");
  };
  source.mark = [](const void* context, std::size_t row) {
    return mark_of(static_cast<const Outputs*>(context)->operations[row].figures.forward);
  };
  source.hover = [](const void* context, std::size_t row, std::size_t) {
    return std::string_view(static_cast<const Outputs*>(context)->operations[row].why);
  };
  widgets::draw_table("operations", columns, source, view.operations, size);
}

}  // namespace chapters::precision::mixed
