#include "app/workspace/kept_rows.h"

#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"

namespace app {
namespace {

/// Cells in the order of the alphabet, as the store reads them back: a row is known again by its text.
std::string row_text(const chapters::Fields& cells) {
  return nlohmann::json(nlohmann::json::parse(to_text(fields_to_json(cells)), nullptr, false))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string fill_from_kept(const chapters::Field& table, const store::Kept& kept) {
  const auto at = kept.tables.find(table.spec.shared);
  if (at == kept.tables.end()) return {};
  const auto& rows = at->second;
  const std::size_t first = rows.size() > table.spec.max_items ? rows.size() - table.spec.max_items : 0;
  Json all = Json::array();
  for (std::size_t i = first; i < rows.size(); ++i) all.push_back(Json::parse(rows[i], nullptr, false));
  if (field_from_json(table, all).empty()) return {};
  Json good = Json::array();
  for (const Json& row : all)
    if (field_from_json(table, Json::array({row})).empty()) good.push_back(row);
  table.table_resize(0);
  field_from_json(table, good);
  return std::to_string(all.size() - good.size()) +
         " of your kept answers could not be read: they stay in kept.json, the others are here.";
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
