#include "app/store/kept.h"

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "app/platform/json.h"
#include "app/store/read.h"

namespace app::store {
namespace {

using nlohmann::json;
constexpr int kept_version = 1;

/// `first` in its order, then what `second` adds.
std::vector<std::string> merged(const std::vector<std::string>& first, const std::vector<std::string>& second) {
  std::vector<std::string> out = first;
  std::unordered_set<std::string_view> known(first.begin(), first.end());
  for (const auto& row : second)
    if (known.insert(row).second) out.push_back(row);
  if (out.size() > Kept::max_rows) out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(Kept::max_rows));
  return out;
}

models::Status take(const json& content, Kept& kept) {
  std::string fault;
  Reader top(content, "", fault);
  const json& tables = top.object("tables");
  for (const auto& [name, rows] : tables.items()) {
    if (!rows.is_array()) {
      if (fault.empty()) fault = "tables." + name + " is not a list";
      continue;
    }
    std::vector<std::string> theirs;
    for (const json& row : rows) {
      if (row.is_object())
        theirs.push_back(to_text(row));
      else if (fault.empty())
        fault = "tables." + name + " has a row that is no object";
    }
    auto& ours = kept.tables[name];
    ours = merged(theirs, ours);
  }
  return {std::move(fault)};
}

}  // namespace

bool Kept::add(std::string_view table, const std::vector<std::string>& rows) {
  auto at = tables.find(table);
  if (at == tables.end()) at = tables.emplace(std::string(table), std::vector<std::string>()).first;
  auto all = merged(at->second, rows);
  const bool more = all != at->second;
  at->second = std::move(all);
  return more;
}

LoadReport load(const std::filesystem::path& path, Kept& kept) {
  return load_json(path, kept_version, [&](const json& content) { return take(content, kept); });
}

SaveReport save(const std::filesystem::path& path, Kept& kept) {
  return save_merged(
      path, kept_version, [&](const json& content) { return take(content, kept); },
      [&](json& content) {
        json& tables = content["tables"] = json::object();
        for (const auto& [name, rows] : kept.tables) {
          json& list = tables[name] = json::array();
          for (const auto& row : rows)
            if (auto parsed = parse_sorted_json(row); parsed && parsed->is_object()) list.push_back(std::move(*parsed));
        }
      });
}

}  // namespace app::store
