#include "widgets/table/table_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widgets {
namespace {

constexpr std::size_t measured_rows = 512;

bool digit(char c) { return c >= '0' && c <= '9'; }

float widest_header(const TableColumn& column) {
  const float unit = column.unit.empty() ? 0 : width_of(column.unit, Type::small) + width_of(" ", Type::small);
  return width_of(column.title, Type::small) + unit + 0.9f * theme().type(Type::small);  // room for the arrow
}

}  // namespace

Font cell_font(const TableColumn& column) {
  return (column.number && column.mono) || column.code ? Font::mono : Font::sans;
}

CellParts split_cell(std::string_view s) {
  std::size_t i = 0;
  for (const std::string_view sign : {std::string_view("+"), std::string_view("-"), std::string_view("−")})
    if (s.starts_with(sign)) i = sign.size();
  if (i >= s.size() || !digit(s[i])) return {s, {}, {}};
  while (i < s.size() && (digit(s[i]) || (s[i] == ',' && i + 1 < s.size() && digit(s[i + 1])))) ++i;
  CellParts parts{s.substr(0, i), {}, {}};
  std::size_t end = i;
  if (end < s.size() && s[end] == '.')
    for (++end; end < s.size() && digit(s[end]);) ++end;
  if (end < s.size() && s[end] == 'e')  // an exponent belongs to the number
    for (++end; end < s.size() && (digit(s[end]) || s[end] == '+' || s[end] == '-');) ++end;
  parts.fraction = s.substr(i, end - i);
  while (end < s.size() && s[end] == ' ') ++end;
  parts.unit = s.substr(end);
  return parts;
}

void arrange_columns(std::span<const TableColumn> columns, TableLayout& layout, float width, bool marks) {
  const float body = theme().type(Type::body), least = 4 * body, mark = marks ? 1.1f * body : 0;
  layout.pad = 0.55f * body;
  layout.row_height = std::floor(1.75f * body);
  layout.header_height = std::floor(1.9f * body);
  float natural = 0, flexible = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    ColumnLayout& c = layout.columns[i];
    c.width = columns[i].number ? c.whole + c.fraction + (c.unit > 0 ? c.unit + 0.4f * body : 0) : c.text;
    c.width = std::max(c.width, widest_header(columns[i])) + (i == 0 ? mark : 0);
    natural += c.width + 2 * layout.pad;
    if (!columns[i].number) flexible += std::max(0.0f, c.width - least);
  }
  // Too wide: texts are cut first, then all columns alike. Room to spare: a little air for each, so that a row stays
  // one line of sight.
  const float over = natural - width;
  const float cut = over > 0 && flexible > 0 ? std::min(1.0f, over / flexible) : 0;
  const float air = over < 0 && !columns.empty() ? std::min(2 * body, -over / static_cast<float>(columns.size())) : 0;
  float sum = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    ColumnLayout& c = layout.columns[i];
    if (!columns[i].number) c.width -= cut * std::max(0.0f, c.width - least);
    sum += c.width + 2 * layout.pad;
  }
  const float padding = 2 * layout.pad * static_cast<float>(columns.size());
  const float shrink = sum > width ? std::max(0.0f, width - padding) / std::max(1.0f, sum - padding) : 1.0f;
  float x = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    ColumnLayout& c = layout.columns[i];
    c.width *= shrink;
    c.left = x + layout.pad;
    const float right = c.left + c.width, unit_room = c.unit > 0 ? c.unit + 0.4f * body : 0;
    c.point = right - unit_room - c.fraction;
    c.unit_left = right - c.unit;
    x = right + layout.pad + air;
  }
  layout.width = std::max(0.0f, x - air);
}

TableLayout layout_table(std::span<const TableColumn> columns, const TableSource& source, float width) {
  TableLayout layout;
  layout.columns.resize(columns.size());
  const std::size_t n = std::min(source.rows, measured_rows);
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t row = n < 2 ? 0 : k * (source.rows - 1) / (n - 1);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      TableCell cell;
      source.cell(source.context, row, i, cell);
      ColumnLayout& c = layout.columns[i];
      const Font font = cell_font(columns[i]);
      if (!columns[i].number) {
        c.text = std::max(c.text, width_of(cell.shown(), Type::body, font));
        continue;
      }
      const CellParts parts = split_cell(cell.shown());
      c.whole = std::max(c.whole, width_of(parts.whole, Type::body, font));
      c.fraction = std::max(c.fraction, width_of(parts.fraction, Type::body, font));
      c.unit = std::max(c.unit, width_of(parts.unit, Type::small));
    }
  }
  arrange_columns(columns, layout, width, source.mark != nullptr);
  return layout;
}

RowWindow visible_rows(std::size_t rows, float row_height, float body_height, double& scroll_rows) {
  const double fit = static_cast<double>(body_height) / static_cast<double>(row_height);
  const double most = std::max(0.0, static_cast<double>(rows) - fit);
  if (!(scroll_rows > 0)) scroll_rows = 0;
  scroll_rows = std::min(scroll_rows, most);
  RowWindow window;
  window.first = std::min(rows, static_cast<std::size_t>(scroll_rows));
  window.end = std::min(rows, static_cast<std::size_t>(std::ceil(scroll_rows + fit)));
  window.offset =
      -static_cast<float>((scroll_rows - static_cast<double>(window.first)) * static_cast<double>(row_height));
  return window;
}

}  // namespace widgets
