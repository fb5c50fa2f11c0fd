#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/store/json_file.h"

namespace app::store {

struct RecentScenario {
  std::string lab;       ///< lab id
  std::string title;     ///< what the list shows
  std::string scenario;  ///< the scenario file's JSON text
  std::int64_t time_unix_s = 0;
  bool operator==(const RecentScenario&) const = default;
};

/// The last scenarios, newest first, each once.
class Recent {
 public:
  static constexpr std::size_t most = 30;
  /// Puts it first; the same lab and scenario further down goes away.
  void add(RecentScenario scenario);
  const std::vector<RecentScenario>& all() const { return list_; }
  bool operator==(const Recent&) const = default;

  LoadReport load(const std::filesystem::path& path);
  /// Merges what other instances added, then saves.
  SaveReport save(const std::filesystem::path& path);

 private:
  models::Status take(const nlohmann::json& content);
  std::vector<RecentScenario> list_;
};

}  // namespace app::store
