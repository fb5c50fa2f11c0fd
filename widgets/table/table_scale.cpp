#include <algorithm>
#include <cmath>
#include <cstdio>

#include "widgets/table/table_layout.h"

namespace widgets {
namespace {

constexpr std::size_t rows_read_whole = 65'536;

/// Decimals of the largest value with three digits that count; a value far smaller has up to three more.
int decimals_of(double magnitude) {
  if (!(magnitude > 0)) return 0;
  return std::clamp(2 - static_cast<int>(std::floor(std::log10(magnitude))), 0, 6);
}

/// Zeros at the end are dropped where nothing is lost, as everywhere: "7 ms" between "6.95" and "7.40".
NumberText fixed(double value, int decimals) {
  while (decimals > 0) {
    const double tenth = value * std::pow(10.0, decimals - 1);
    if (!(std::abs(tenth - std::round(tenth)) <= 1e-9 * std::abs(tenth))) break;
    --decimals;
  }
  NumberText out;
  const int n = std::snprintf(out.chars, sizeof out.chars, "%.*f", decimals, value);
  out.length = static_cast<std::size_t>(std::clamp(n, 0, static_cast<int>(sizeof out.chars) - 1));
  return out;
}

}  // namespace

// In the column's multiple, with as many decimals as its largest value has; a far smaller one has a few more, and one
// under those is said to be under them, never 0.
NumberText number_in_column(const ColumnLayout& column, double value) {
  const double v = value / column.scale.factor, size = std::abs(v);
  if (v == 0) return fixed(0, 0);
  if (!std::isfinite(v) || size >= 1e4) return format_in(column.scale, value);
  const int usual = decimals_of(column.largest / column.scale.factor), most = usual + 3;
  // Three digits where one more decimal gives them, two where it takes more.
  const int needed =
      std::max(std::clamp(decimals_of(size), usual, usual + 1), std::clamp(decimals_of(size) - 1, usual, most));
  if (size < 0.5 * std::pow(10.0, -most)) {
    NumberText out;
    const NumberText least = fixed(std::pow(10.0, -most), most);
    out.chars[0] = '<';
    std::copy_n(least.chars, least.length, out.chars + 1);
    out.length = least.length + 1;
    return out;
  }
  return fixed(v, needed);
}

std::string_view head_unit(const TableColumn& column, const ColumnLayout& layout) {
  return column.scaled() ? layout.scale.unit.view() : column.unit;
}

double bar_share(const TableColumn& column, const ColumnLayout& layout, double value) {
  const double full = column.full > 0 ? column.full : layout.largest;
  return full > 0 && value > 0 ? std::min(1.0, value / full) : 0;
}

void read_cell(const TableColumn& column, const ColumnLayout& layout, const TableSource& source, std::size_t row,
               std::size_t index, TableCell& out) {
  source.cell(source.context, row, index, out);
  if (column.scaled() && out.text.empty() && !std::isnan(out.value)) out.number = number_in_column(layout, out.value);
}

void scale_columns(std::span<const TableColumn> columns, const TableSource& source, TableLayout& layout) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    ColumnLayout& c = layout.columns[i];
    c.largest = 0;
    if (!columns[i].number || (!columns[i].scaled() && !columns[i].bar)) continue;
    const std::size_t stride = source.key ? 1 : std::max<std::size_t>(1, source.rows / rows_read_whole);
    for (std::size_t row = 0; row < source.rows; row += stride) {
      double value = 0;
      if (source.key) {
        value = source.key(source.context, row, i);
      } else {
        TableCell cell;
        source.cell(source.context, row, i, cell);
        value = cell.value;
      }
      if (std::isfinite(value)) c.largest = std::max(c.largest, std::abs(value));
    }
    if (columns[i].scaled()) c.scale = unit_scale(c.largest, columns[i].value_unit, columns[i].prefix);
  }
  // A column of zeros is written in the unit of its neighbours: 0 ms beside 5 ms, not 0 s.
  for (std::size_t i = 0; i < columns.size(); ++i)
    for (std::size_t k = 0; columns[i].scaled() && !(layout.columns[i].largest > 0) && k < columns.size(); ++k)
      if (columns[k].scaled() && columns[k].value_unit == columns[i].value_unit && layout.columns[k].largest > 0) {
        layout.columns[i].scale = layout.columns[k].scale;
        break;
      }
}

}  // namespace widgets
