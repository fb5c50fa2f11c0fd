#pragma once
#include <filesystem>
#include <string>
#include <utility>

// The documents, each with its load and save.
#include "app/store/files.h"
#include "app/store/kept.h"
#include "app/store/notes.h"
#include "app/store/progress.h"
#include "app/store/recent.h"
#include "app/store/settings.h"

namespace app {

/// Reads and writes one of the documents: some of them do it themselves.
template <class T>
store::LoadReport load_document(const std::filesystem::path& path, T& into) {
  if constexpr (requires { into.load(path); })
    return into.load(path);
  else
    return store::load(path, into);
}
template <class T>
store::SaveReport save_document(const std::filesystem::path& path, T& from) {
  if constexpr (requires { from.save(path); })
    return from.save(path);
  else
    return store::save(path, from);
}

/// One of the learner's documents in memory, and what is known of its file. T is one of the documents of store/.
template <class T>
struct Stored {
  T value{};
  T saved{};              ///< `value` as it was when it was last read or written
  bool may_save = false;  ///< false before `load`, and where a file is that could not be read: it is not overwritten
  bool unsaved = false;   ///< the last save failed: what it was to keep is in memory alone
  std::string said{};     ///< why; not said again before a save has succeeded

  /// Reads the file. Returns one sentence for the person, "" when there is nothing to say.
  std::string load(const std::filesystem::path& path) {
    store::LoadReport report = load_document(path, value);
    may_save = report.may_save();
    saved = value;
    return std::move(report.notice);
  }

  /// Writes the file when the value has changed, or was not written when it should have been. Returns one sentence for
  /// the person, "" when there is nothing to say.
  std::string save(const std::filesystem::path& path) {
    if (!may_save || !(unsaved || changed())) return {};
    store::SaveReport report = save_document(path, value);
    if (report.saved) {
      unsaved = true;  // until the copy is made: there may be no memory for it, and then it is written again
      saved = value;
    }
    return take(std::move(report));
  }

  /// Notes how a save went. Returns what is to be said about it.
  std::string take(store::SaveReport report) {
    unsaved = !report.saved;
    if (report.saved)
      said.clear();
    else if (report.notice == said)
      return {};
    else
      said = report.notice;
    return std::move(report.notice);
  }

 private:
  bool changed() const {
    // Notes know themselves what was written since they were saved, and keep it when saving fails.
    if constexpr (requires { value.changed(); })
      return value.changed();
    else
      return !(value == saved);
  }
};

}  // namespace app
