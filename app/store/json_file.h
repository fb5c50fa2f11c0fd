#pragma once
#include <cstddef>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "models/base/result.h"

/// JSON files that hold what a person did: never half written, never thrown away.
/// All stores go through these functions. They take milliseconds (the disk is waited for): not for every frame.
/// Several instances may run: one at a time has a file's lock (NAME.lock) while it reads or writes. Where a lock is not
/// to be had within two seconds (its holder is stopped) the work goes on without: files stay whole, only a merge may
/// then miss what the other instance added.
namespace app::store {

/// A file larger than this is not loaded, and not written either.
inline constexpr std::size_t max_file_bytes = 64u << 20;
/// Deepest nesting that is loaded.
inline constexpr int max_depth = 64;

enum class Found : unsigned char {
  nothing,  ///< there is no such file
  loaded,
  set_aside,  ///< the file was bad and now has another name; `notice` says which
  unreadable  ///< the file is there and could not be read or moved; do not save over it
};

struct LoadReport {
  Found found = Found::nothing;
  std::string notice;  ///< one sentence for the person; empty when nothing is wrong
  bool may_save() const { return found != Found::unreadable; }
};

/// Takes the content of a file. Fails with what is wrong with it, as a clause ("labs is not an object").
using Take = std::function<models::Status(const nlohmann::json& content)>;

/// Reads {"version": `version`, ...} and hands it to `take`, which keeps what is good and says if anything was bad. A
/// file that is truncated, not JSON, not UTF-8, too large, too deep, of another version or that `take` finds fault with
/// is renamed `NAME.corrupt-N`, with N the first that is free.
LoadReport load_json(const std::filesystem::path& path, int version, const Take& take);

/// Writes `content` (an object) with its version: to a temporary file beside it, synced, renamed over `path`, the
/// folder synced; creates the folder. At every moment the file is the old one or the new one.
models::Status save_json(const std::filesystem::path& path, int version, const nlohmann::json& content);

struct SaveReport {
  bool saved = false;
  /// One sentence for the person: why it was not saved, or that a bad file was set aside. Mostly empty.
  std::string notice;
};

/// For what several instances add to: reads what is there now into `merge`, then saves what `write` fills in. Saves
/// nothing where the present file is unreadable; a bad one is set aside first.
SaveReport save_merged(const std::filesystem::path& path, int version, const Take& merge,
                       const std::function<void(nlohmann::json& content)>& write);

/// For what the last instance decides: saves what `write` fills in. What is there now is read by `take` and forgotten:
/// nothing is saved where it is unreadable, and a bad one is set aside first.
template <class Document>
SaveReport save_instead(const std::filesystem::path& path, int version,
                        models::Status (*take)(const nlohmann::json&, Document&),
                        const std::function<void(nlohmann::json& content)>& write) {
  Document theirs;
  return save_merged(
      path, version, [&](const nlohmann::json& content) { return take(content, theirs); }, write);
}

}  // namespace app::store
