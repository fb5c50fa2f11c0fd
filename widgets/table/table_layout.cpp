#include "widgets/table/table_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widgets {
namespace {

constexpr std::size_t measured_rows = 512;

bool digit(char c) { return c >= '0' && c <= '9'; }

float widest_header(const TableColumn& column, const ColumnLayout& layout) {
  const std::string_view unit = head_unit(column, layout);
  const float unit_px = unit.empty() ? 0 : width_of(unit, Type::small) + width_of(" ", Type::small);
  return width_of(column.title, Type::small) + unit_px + 0.9f * theme().type(Type::small);  // room for the arrow
}

/// "yes", "none", "too small": letters, not a dash that stands for a number.
bool word_like(std::string_view s) {
  return !s.empty() && ((s[0] >= 'a' && s[0] <= 'z') || (s[0] >= 'A' && s[0] <= 'Z'));
}

/// Hides the column of the highest priority, from the right; `any`: also one of priority 0. False: none is left to
/// hide.
bool drop_column(std::span<const TableColumn> columns, TableLayout& layout, bool any) {
  std::size_t worst = columns.size();
  for (std::size_t i = columns.size(); i-- > 1;)
    if (!layout.columns[i].hidden && (any || columns[i].priority > 0) &&
        (worst == columns.size() || columns[i].priority > columns[worst].priority))
      worst = i;
  if (worst == columns.size()) return false;
  layout.columns[worst].hidden = true;
  ++layout.hidden;
  return true;
}

/// Shows all columns, each as wide as its cells and its header ask; the first has room for a mark.
void widen_to_cells(std::span<const TableColumn> columns, TableLayout& layout, float mark) {
  const float body = theme().type(Type::body);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    ColumnLayout& c = layout.columns[i];
    c.hidden = false;
    c.width = from_left(columns[i], c)
                  ? std::max(c.text, c.word)
                  : std::max(c.whole + c.fraction + (c.unit > 0 ? c.unit + 0.4f * body : 0), c.word);
    if (c.other > 0) c.width += c.other + 0.5f * body;
    c.width = std::max(c.width, widest_header(columns[i], c)) + (i == 0 ? mark : 0);
  }
}

}  // namespace

Font cell_font(const TableColumn& column) {
  return (column.number && column.mono) || column.code ? Font::mono : Font::sans;
}

CellParts split_cell(std::string_view s) {
  std::size_t i = 0;
  for (const std::string_view sign : {std::string_view("+"), std::string_view("-"), std::string_view("−")})
    if (s.starts_with(sign)) i = sign.size();
  if (i == 0 && s.starts_with("<")) i = 1;
  if (i >= s.size() || !digit(s[i])) return {s, {}, {}, false};
  while (i < s.size() && (digit(s[i]) || (s[i] == ',' && i + 1 < s.size() && digit(s[i + 1])))) ++i;
  CellParts parts{s.substr(0, i), {}, {}, true};
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
  const float body = theme().type(Type::body), mark = marks ? 1.1f * body : 0;
  const float readable = 11 * body, shortest = 5 * body;  // of a text column: before others go, and at last
  layout.pad = 0.55f * body;
  layout.row_height = std::floor(1.75f * body);
  layout.header_height = std::floor(1.9f * body);
  layout.hidden = 0;
  const auto least_of = [&](std::size_t i, float at_most) {
    const ColumnLayout& c = layout.columns[i];
    if (!from_left(columns[i], c)) return c.width;
    return std::min(c.width, std::max(at_most, widest_header(columns[i], c)) + (i == 0 ? mark : 0));
  };
  const auto sum_of = [&](float text_at_most) {
    float sum = 0;
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (!layout.columns[i].hidden) sum += least_of(i, text_at_most) + 2 * layout.pad;
    return sum;
  };
  widen_to_cells(columns, layout, mark);
  // Too wide: long texts shorten to what reads well, then the padding gives, then columns go by priority, then texts
  // shorten further, and at the very last columns go from the right. A number is never cut.
  const auto drop = [&](bool any) { return drop_column(columns, layout, any); };
  const float count_px = width_of("+9", Type::small) + body;  // the header says how many went
  const auto room = [&] { return width - (layout.hidden > 0 ? count_px : 0); };
  if (sum_of(readable) > room()) layout.pad = 0.3f * body;
  while (sum_of(readable) > room() && drop(false)) {
  }
  while (sum_of(shortest) > room() && drop(true)) {
  }
  float natural = 0, flexible = 0;
  const float at_most = sum_of(readable) > room() ? shortest : readable;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (layout.columns[i].hidden) continue;
    natural += layout.columns[i].width + 2 * layout.pad;
    flexible += layout.columns[i].width - least_of(i, at_most);
  }
  // Room to spare: a little air for each, so that a row stays one line of sight.
  const float over = natural - room(), shown = static_cast<float>(columns.size() - layout.hidden);
  const float cut = over > 0 && flexible > 0 ? std::min(1.0f, over / flexible) : 0;
  const float air = over < 0 && shown > 0 ? std::min(2 * body, -over / shown) : 0;
  float x = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    ColumnLayout& c = layout.columns[i];
    if (c.hidden) {
      c.left = x;
      c.width = 0;
      continue;
    }
    c.width -= cut * (c.width - least_of(i, at_most));
    if (shown == 1) c.width = std::max(0.0f, std::min(c.width, width - 2 * layout.pad));
    c.left = x + layout.pad;
    const float right = c.left + c.width, unit_room = c.unit > 0 ? c.unit + 0.4f * body : 0;
    c.point = right - unit_room - c.fraction;
    c.unit_left = right - c.unit;
    x = right + layout.pad + air;
  }
  layout.width = std::max(0.0f, x - air) + (layout.hidden > 0 ? count_px : 0);
}

TableLayout layout_table(std::span<const TableColumn> columns, const TableSource& source, float width,
                         const PlotReference::Rows* reference) {
  TableLayout layout;
  layout.columns.resize(columns.size());
  scale_columns(columns, source, layout);
  for (std::size_t i = 0; i < columns.size(); ++i) layout.columns[i].words = columns[i].number && source.rows > 0;
  const std::size_t n = std::min(source.rows, measured_rows);
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t row = n < 2 ? 0 : k * (source.rows - 1) / (n - 1);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      TableCell cell;
      ColumnLayout& c = layout.columns[i];
      read_cell(columns[i], c, source, row, i, cell);
      const Font font = cell_font(columns[i]);
      if (!columns[i].number) {
        c.text = std::max(c.text, width_of(cell.shown(), Type::body, font));
        continue;
      }
      const CellParts parts = split_cell(cell.shown());
      if (!parts.number) {
        c.word = std::max(c.word, width_of(parts.whole));
        c.words = c.words && word_like(parts.whole);
        continue;
      }
      c.words = false;
      c.whole = std::max(c.whole, width_of(parts.whole, Type::body, font));
      c.fraction = std::max(c.fraction, width_of(parts.fraction, Type::body, font));
      c.unit = std::max(c.unit, width_of(parts.unit, Type::small));
    }
  }
  if (reference) measure_reference(columns, source, *reference, layout);
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
