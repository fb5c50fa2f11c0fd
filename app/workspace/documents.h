#pragma once
#include <string_view>

#include "app/platform/paths.h"
#include "app/store/files.h"
#include "app/store/kept.h"
#include "app/store/notes.h"
#include "app/store/progress.h"
#include "app/store/recent.h"
#include "app/store/resume.h"
#include "app/store/settings.h"
#include "app/workspace/message.h"
#include "app/workspace/stored.h"

namespace app {

/// What the learner leaves on this machine: seven documents in memory, and their files. Where the user's folders
/// failed, `folders` says why and nothing is kept.
class Documents {
 public:
  explicit Documents(models::Result<UserPaths> user) : folders(std::move(user)) {}

  const models::Result<UserPaths> folders;
  Stored<store::Settings> settings;
  Stored<store::Progress> progress;
  Stored<store::Notes> notes;
  Stored<store::Kept> kept;
  Stored<store::Recent> recent;
  Stored<store::Resume> resume;
  Stored<store::Files> files;

  /// Reads all of them, once, and says what could not be read.
  void load(Messages& messages);
  // Each writes what has changed, or could not be written before, and says why where that fails.
  void save_settings(Messages& messages);
  void save_progress(Messages& messages);
  void save_notes(Messages& messages);
  void save_kept(Messages& messages);
  void save_resume(Messages& messages);
  void save_all_but_resume(Messages& messages);
  bool anything_unsaved() const;  ///< the last save of one of them failed

 private:
  template <class T>
  void save(Stored<T>& document, const std::filesystem::path UserPaths::*folder, std::string_view name,
            Messages& messages);
};

}  // namespace app
