#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "app/store/json_file.h"

namespace app::store {

/// The files that this person opened last, and where they put what they exported.
struct Files {
  static constexpr std::size_t most = 12;
  std::vector<std::string> opened;            ///< whole paths, the last one first, each once
  std::map<std::string, std::string> folder;  ///< by kind of export ("png", "scenario"): where the last one went

  /// Puts it first; the oldest beyond `most` goes away.
  void add_opened(const std::string& path);
  /// Folders of the files opened last and of exports, each once.
  std::vector<std::string> folders() const;
  bool operator==(const Files&) const = default;
};

LoadReport load(const std::filesystem::path& path, Files& files);
/// The last instance to save wins.
SaveReport save(const std::filesystem::path& path, const Files& files);

}  // namespace app::store
