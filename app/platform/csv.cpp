#include "app/platform/csv.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace app {
namespace {

void csv_cell(std::string& out, std::string_view cell, bool first) {
  // A first cell that begins like a table's name would be taken for one.
  const bool quoted = cell.find_first_of(",\"\r\n") != std::string_view::npos || (first && cell.starts_with('#')) ||
                      cell.starts_with(' ') || cell.ends_with(' ');
  if (!quoted) {
    out += cell;
    return;
  }
  out += '"';
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void csv_row(std::string& out, const std::vector<std::string>& cells, std::size_t columns) {
  for (std::size_t i = 0; i < std::max(cells.size(), columns); ++i) {
    if (i) out += ',';
    csv_cell(out, i < cells.size() ? std::string_view(cells[i]) : std::string_view(), i == 0);
  }
  out += '\n';
}

}  // namespace

std::string to_csv(const widgets::Record& record) {
  std::string out;
  for (const widgets::DataTable& table : record.tables) {
    if (!out.empty()) out += '\n';
    out += "# ";
    for (const char c : table.name) out += c == '\n' || c == '\r' ? ' ' : c;
    out += '\n';
    csv_row(out, table.columns, table.columns.size());
    for (const auto& row : table.rows) csv_row(out, row, table.columns.size());
  }
  return out;
}

}  // namespace app
