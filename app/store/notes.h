#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "app/store/json_file.h"

namespace app::store {

/// The learner's own Markdown, one text per lab. Instances that write about different labs do not disturb each other;
/// about the same lab, the last to save wins.
class Notes {
 public:
  /// The text for a lab, empty if there is none.
  const std::string& of(std::string_view lab) const;
  /// Empty removes it.
  void set(std::string_view lab, std::string markdown);
  /// Something was set since the last save.
  bool changed() const { return !changed_.empty(); }
  /// Counts what was set.
  std::uint64_t edits() const { return edits_; }
  const std::map<std::string, std::string, std::less<>>& all() const { return texts_; }

  /// Texts of the file, except for labs written about since.
  LoadReport load(const std::filesystem::path& path);
  /// Takes other labs' texts from the file as it is now, then saves.
  SaveReport save(const std::filesystem::path& path);

 private:
  std::map<std::string, std::string, std::less<>> texts_;
  std::set<std::string, std::less<>> changed_;
  std::string none_;
  std::uint64_t edits_ = 0;
};

}  // namespace app::store
