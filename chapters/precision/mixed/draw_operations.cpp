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

widgets::RowMark mark_of(NumberFormat format) {
  const auto i = static_cast<std::size_t>(format);
  return {format_shapes[i], widgets::theme().series_at(format_series[i])};
}

}  // namespace

void draw_legend(const Picture& picture, float width) {
  const auto& t = widgets::theme();
  const auto painter = widgets::Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = t.type(widgets::Type::small) + t.px(8);
  float x = at.x;
  for (const NumberFormat format : picture.formats) {
    widgets::paint_row_mark(painter, mark_of(format), {x + t.px(6), at.y + height / 2}, t.px(5));
    x += t.px(16) +
         painter.text({x + t.px(16), at.y + t.px(3)}, models::number_label(format), t.text, widgets::Type::small) +
         t.px(16);
  }
  widgets::fit_text(painter, {x + t.px(6), at.y + t.px(3)},
                    "what it computes in, forward; sums inside products are FP32", at.x + width - x - t.px(6), t.muted,
                    widgets::Type::small);
  ImGui::Dummy({width, height});
}

void draw_operations(const Outputs& out, const Picture& picture, View& view, float width, float height) {
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
  widgets::draw_table("operations", columns, source, view.operations, {width, height});
}

}  // namespace chapters::precision::mixed
