#include <algorithm>
#include <cmath>

#include "widgets/prose/formula.h"
#include "widgets/table/table_layout.h"

namespace widgets {
namespace {

constexpr std::size_t max_rows = 512;

}  // namespace

const PlotReference::Rows* reference_rows(const char* id) {
  const PlotReference* const shown = reference_in_sight();
  if (!shown) return nullptr;
  const auto at = shown->tables.find(reference_key(id));
  return at == shown->tables.end() ? nullptr : &at->second;
}

void leave_rows(const char* id, std::span<const TableColumn> columns, const TableLayout& layout,
                const TableSource& source) {
  PlotReference* const into = reference_gathered();
  if (!into || source.rows > max_rows || columns.empty()) return;
  PlotReference::Rows rows;
  for (std::size_t row = 0; row < source.rows; ++row) {
    std::vector<PlotReference::Cell> cells;
    std::uint64_t name = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      TableCell cell;
      read_cell(columns[i], layout.columns[i], source, row, i, cell);
      if (i == 0) name = reference_key(cell.shown());
      cells.push_back({std::string(cell.shown()), cell.value});
    }
    // Two rows of one name cannot be told apart: neither is compared.
    const auto [at, fresh] = rows.emplace(name, std::move(cells));
    if (!fresh) at->second.clear();
  }
  if (!into->tables.emplace(reference_key(id), std::move(rows)).second) ++into->clashes;
}

Line reference_words(const TableColumn& column, const ColumnLayout& layout, const PlotReference::Rows& rows,
                     std::string_view first_cell, std::size_t index, const TableCell& cell) {
  Line words;
  if (index == 0) return words;
  const auto row = rows.find(reference_key(first_cell));
  if (row == rows.end() || index >= row->second.size()) return words;
  const PlotReference::Cell& theirs = row->second[index];
  if (column.scaled() && std::isfinite(theirs.value)) {
    const NumberText there = number_in_column(layout, theirs.value);
    if (there.view() != cell.shown()) words.add("A ").add(there);
  } else if (theirs.text != cell.shown()) {
    words.add("A ").add(theirs.text.empty() ? std::string_view("\xE2\x80\x94") : std::string_view(theirs.text));
  }
  return words;
}

void measure_reference(std::span<const TableColumn> columns, const TableSource& source, const PlotReference::Rows& rows,
                       TableLayout& layout) {
  for (std::size_t row = 0; row < std::min(source.rows, max_rows); ++row) {
    TableCell first;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      TableCell cell;
      read_cell(columns[i], layout.columns[i], source, row, i, i == 0 ? first : cell);
      if (i == 0) continue;
      const Line words = reference_words(columns[i], layout.columns[i], rows, first.shown(), i, cell);
      if (words.length > 0)
        layout.columns[i].other = std::max(layout.columns[i].other, width_of(words.view(), Type::small));
    }
  }
}

bool paint_reference(const Painter& painter, const TableColumn& column, const ColumnLayout& layout,
                     const TableCell& cell, float table_x, float y, std::string_view words) {
  const Theme& t = theme();
  const float width = width_of(words, Type::small), gap = 0.4f * t.type(Type::body), left = table_x + layout.left;
  float x = left;  // numbers stand at the right of their column, texts at its left
  if (from_left(column, layout)) {
    x = left + width_of(cell.shown(), Type::body, column.number ? Font::sans : cell_font(column)) + gap;
    if (x + width > left + layout.width + 0.5f) return false;
  } else {
    const CellParts parts = split_cell(cell.shown());
    const float begin = parts.number ? table_x + layout.point - width_of(parts.whole, Type::body, cell_font(column))
                                     : left + layout.width - width_of(parts.whole);
    x = begin - gap - width;
    if (x < left - 0.5f) return false;
  }
  const float drop = baseline_of(Type::body, Font::sans) - baseline_of(Type::small, Font::sans);
  painter.text({x, y + drop}, words, t.accent, Type::small);
  return true;
}

}  // namespace widgets
