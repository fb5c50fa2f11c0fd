#include <array>

#include "chapters/precision/accumulation/lab.h"
#include "widgets/base/theme.h"

namespace chapters::precision::accumulation {
namespace {

widgets::RowMark mark_of(std::size_t series, std::size_t row) {
  constexpr std::array shapes{widgets::Marker::circle, widgets::Marker::triangle, widgets::Marker::diamond,
                              widgets::Marker::square};
  return {shapes[row % shapes.size()], widgets::theme().series_at(series)};
}

}  // namespace

void draw_sums_table(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 4> columns{{{.title = "accumulator", .number = false},
                                                                {.title = "sum"},
                                                                {.title = "error", .unit = "%"},
                                                                {.title = "last change after"}}};
  widgets::TableSource source{.context = &out, .rows = out.sums.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const SumRow& r = static_cast<const Outputs*>(context)->sums[row];
    if (column == 0) {
      cell.text = r.name;
      return;
    }
    const std::array<double, 4> values{0, r.sum, r.error, static_cast<double>(r.moved_last)};
    cell.value = values[column];
    if (column == 1 && r.overflowed)
      cell.text = "overflow";
    else
      cell.number = widgets::format(cell.value, "", column == 2 ? 3 : 6);
  };
  source.mark = [](const void*, std::size_t row) { return mark_of(sum_series[row], row); };
  widgets::draw_table("sums", columns, source, view.sums, size);
}

void draw_updates_table(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 4> columns{{{.title = "the weight is kept", .number = false},
                                                                {.title = "weight"},
                                                                {.title = "arrived", .unit = "%"},
                                                                {.title = "first moves"}}};
  widgets::TableSource source{.context = &out, .rows = out.updates.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const UpdateRow& r = static_cast<const Outputs*>(context)->updates[row];
    if (column == 0) {
      cell.text = r.name;
      return;
    }
    const std::array<double, 4> values{0, r.weight, r.gained, static_cast<double>(r.first_move)};
    cell.value = values[column];
    if (column == 3 && r.first_move == 0)
      cell.text = "never";
    else
      cell.number = widgets::format(cell.value, "", column == 1 ? 5 : 3);
  };
  source.mark = [](const void*, std::size_t row) { return mark_of(update_series[row], row); };
  widgets::draw_table("weights", columns, source, view.updates, size);
}

}  // namespace chapters::precision::accumulation
