#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "app/store/json_file.h"

namespace app::store {

/// What labs keep of the learner across sessions: rows of tables, each one JSON object on one line, oldest first. Rows
/// are added and never changed, so two copies merge by union.
struct Kept {
  std::map<std::string, std::vector<std::string>, std::less<>> tables;  ///< by shared name, "drill.history"

  bool operator==(const Kept&) const = default;
  /// Adds the rows that are not there yet; true when there were any. Past `max_rows` the oldest go.
  bool add(std::string_view table, const std::vector<std::string>& rows);
  static constexpr std::size_t max_rows = 20000;
};

/// Adds what the file holds.
LoadReport load(const std::filesystem::path& path, Kept& kept);
/// Merges what other instances saved meanwhile and saves it.
SaveReport save(const std::filesystem::path& path, Kept& kept);

}  // namespace app::store
