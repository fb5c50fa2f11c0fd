#include "app/workspace/kept_rows.h"

#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"

namespace app {
namespace {

using models::Status;

/// Cells in the order of the alphabet, as the store reads them back: a row is known again by its text.
/// A cell whose condition does not hold is left out: what a later version describes does not change the rows before.
std::string row_text(const chapters::Fields& cells) {
  Json row = fields_to_json(cells);
  for (const chapters::Field& f : cells)
    if (!chapters::holds(f.spec.when, cells)) row.erase(std::string(f.key));
  const auto sorted = parse_sorted_json(to_text(row));
  return sorted ? to_text(*sorted) : std::string();
}

}  // namespace

models::Status fill_from_kept(const chapters::Field& table, const store::Kept& kept) {
  const auto at = kept.tables.find(table.spec.shared);
  if (at == kept.tables.end()) return Status::ok();
  const auto& rows = at->second;
  const std::size_t first = rows.size() > table.spec.max_items ? rows.size() - table.spec.max_items : 0;
  Json all = Json::array();
  for (std::size_t i = first; i < rows.size(); ++i) {
    auto row = parse_json(rows[i]);
    all.push_back(row ? std::move(*row) : Json());
  }
  if (field_from_json(table, all)) return Status::ok();
  Json good = Json::array();
  for (const Json& row : all)
    if (field_from_json(table, Json::array({row}))) good.push_back(row);
  table.table_resize(0);
  (void)field_from_json(table, good);  // each of them was taken alone a moment ago
  return Status::fail(std::to_string(all.size() - good.size()) +
                      " of your kept answers could not be read: they stay in kept.json, the others are here.");
}

bool keep_row(const chapters::Fields& cells, std::string_view table, store::Kept& kept) {
  return kept.add(table, {row_text(cells)});
}

bool add_to_kept(const chapters::Field& table, store::Kept& kept) {
  std::vector<std::string> rows;
  chapters::Fields cells;
  for (std::size_t i = 0; i < table.table_size(); ++i) {
    table.table_row(i, cells);
    rows.push_back(row_text(cells));
    cells.clear();
  }
  return !rows.empty() && kept.add(table.spec.shared, rows);
}

}  // namespace app
