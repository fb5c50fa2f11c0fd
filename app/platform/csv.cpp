#include "app/platform/csv.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <vector>

namespace app {
namespace {

/// A number as tables write it: 12, -3.5, +1e-9.
bool is_plain_number(std::string_view cell) {
  if (cell.starts_with('+') || cell.starts_with('-')) cell.remove_prefix(1);
  if (cell == "inf" || cell == "nan") return true;
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  const bool digit = !cell.empty() && (cell.front() == '.' || (cell.front() >= '0' && cell.front() <= '9'));
  return digit && end == cell.data() + cell.size() && error != std::errc::invalid_argument;
}

/// What a spreadsheet shows as text: a cell that it would compute gets an apostrophe in front, control characters go.
std::string inert(std::string_view cell) {
  std::string out;
  if (!cell.empty() && std::string_view("=+-@").find(cell.front()) != std::string_view::npos && !is_plain_number(cell))
    out += '\'';
  for (const char c : cell)
    if ((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) || c == '\n' || c == '\r' || c == '\t') out += c;
  return out;
}

void csv_cell(std::string& out, std::string_view written, bool first) {
  const std::string cell = inert(written);
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

/// "Time (s)" as its name and its unit.
struct NameAndUnit {
  std::string name, unit;
};
NameAndUnit name_and_unit(const std::string& column) {
  const auto open = column.rfind(" (");
  if (open == std::string::npos || !column.ends_with(')')) return {column, {}};
  return {column.substr(0, open), column.substr(open + 2, column.size() - open - 3)};
}

}  // namespace

std::string csv_line(const std::vector<std::string>& cells) {
  std::string out;
  csv_row(out, cells, cells.size());
  return out;
}

std::string to_long_csv(const widgets::Record& record, std::string_view lab, std::string_view scenario) {
  std::string out =
      csv_line({"lab", "scenario", "table", "row", "input", "input_value", "input_unit", "output", "value", "unit"});
  for (const widgets::DataTable& table : record.tables) {
    if (table.columns.empty()) continue;
    const NameAndUnit input = name_and_unit(table.columns[0]);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const auto& cells = table.rows[row];
      for (std::size_t i = 1; i < std::min(cells.size(), table.columns.size()); ++i) {
        const NameAndUnit output = name_and_unit(table.columns[i]);
        out += csv_line({std::string(lab), std::string(scenario), table.name, std::to_string(row + 1), input.name,
                         cells[0], input.unit, output.name, cells[i], output.unit});
      }
    }
  }
  return out;
}

std::string to_csv(const widgets::Record& record) {
  std::string out;
  for (const widgets::DataTable& table : record.tables) {
    if (!out.empty()) out += '\n';
    out += "# ";
    for (const char c : table.name) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    out += '\n';
    csv_row(out, table.columns, table.columns.size());
    for (const auto& row : table.rows) csv_row(out, row, table.columns.size());
  }
  return out;
}

}  // namespace app
