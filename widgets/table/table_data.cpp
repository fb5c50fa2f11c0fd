#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "widgets/table/table_layout.h"

namespace widgets {
namespace {

void append_clean(std::string& out, std::string_view s) {
  for (const char c : s) out += c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
}

/// A view that has not been drawn since the rows changed is in the source's order.
std::size_t ordered_row(const TableSource& source, const TableView& view, std::size_t position) {
  return view.rows_in_order.size() == source.rows ? view.rows_in_order[position] : position;
}

}  // namespace

void sort_rows(std::span<const TableColumn> columns, const TableSource& source, int column, SortOrder order,
               std::vector<std::uint32_t>& rows_in_order) {
  rows_in_order.clear();
  if (order == SortOrder::none || column < 0 || static_cast<std::size_t>(column) >= columns.size()) return;
  const auto c = static_cast<std::size_t>(column);
  rows_in_order.resize(source.rows);
  std::iota(rows_in_order.begin(), rows_in_order.end(), 0u);
  const bool up = order == SortOrder::ascending;
  if (columns[c].number) {
    std::vector<double> keys(source.rows);
    for (std::size_t row = 0; row < source.rows; ++row) {
      if (source.key) {
        keys[row] = source.key(source.context, row, c);
      } else {
        TableCell cell;
        source.cell(source.context, row, c, cell);
        keys[row] = cell.value;
      }
    }
    std::stable_sort(rows_in_order.begin(), rows_in_order.end(), [&](std::uint32_t a, std::uint32_t b) {
      if (std::isnan(keys[a]) || std::isnan(keys[b])) return !std::isnan(keys[a]) && std::isnan(keys[b]);
      return up ? keys[a] < keys[b] : keys[b] < keys[a];
    });
    return;
  }
  std::vector<std::string> keys(source.rows);
  for (std::size_t row = 0; row < source.rows; ++row) {
    TableCell cell;
    source.cell(source.context, row, c, cell);
    keys[row].assign(cell.shown());
  }
  std::stable_sort(rows_in_order.begin(), rows_in_order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (keys[a].empty() || keys[b].empty()) return !keys[a].empty() && keys[b].empty();
    return up ? keys[a] < keys[b] : keys[b] < keys[a];
  });
}

std::string table_as_tsv(std::span<const TableColumn> columns, const TableSource& source, const TableView& view) {
  std::string out;
  TableLayout scales;
  scales.columns.resize(columns.size());
  scale_columns(columns, source, scales);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i) out += '\t';
    append_clean(out, columns[i].title);
    const std::string_view unit = head_unit(columns[i], scales.columns[i]);
    if (!unit.empty()) (out += " (").append(unit) += ")";
  }
  out += '\n';
  for (std::size_t k = 0; k < source.rows; ++k) {
    const std::size_t row = ordered_row(source, view, k);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      TableCell cell;
      read_cell(columns[i], scales.columns[i], source, row, i, cell);
      if (i) out += '\t';
      append_clean(out, cell.shown());
    }
    out += '\n';
  }
  return out;
}

DataTable table_data(std::string_view name, std::span<const TableColumn> columns, const TableSource& source,
                     const TableView& view) {
  DataTable table{.name = std::string(name), .columns = {}, .rows = {}};
  for (const TableColumn& c : columns) {
    const std::string_view unit = c.value_unit.empty() ? c.unit : c.value_unit;
    table.columns.push_back(std::string(c.title) + (unit.empty() ? std::string() : " (" + std::string(unit) + ")"));
  }
  for (std::size_t k = 0; k < source.rows; ++k) {
    std::vector<std::string>& row = table.rows.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      TableCell cell;
      source.cell(source.context, ordered_row(source, view, k), i, cell);
      char digits[32];
      const auto written = std::to_chars(digits, digits + sizeof digits, cell.value);
      if (columns[i].number && std::isfinite(cell.value))
        row.emplace_back(digits, written.ptr);
      else
        row.emplace_back(cell.shown());
    }
  }
  return table;
}

}  // namespace widgets
