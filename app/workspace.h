#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/content.h"
#include "app/jobs.h"
#include "app/session.h"
#include "app/store/notes.h"
#include "app/store/progress.h"
#include "app/store/settings.h"

namespace app {

/// Everything that is open and known, without a picture: the labs in use, what the learner shares between them, content, progress.
/// The shell draws it; the command line and tests drive it directly.
class Workspace {
 public:
  /// `user` may be without folders (error set): then nothing is kept and the notice says so.
  Workspace(Content content, UserPaths user, std::function<void()> wake = {});

  Content content;
  Jobs jobs;
  store::Settings settings;
  store::Progress progress;
  store::Notes notes;

  /// Opens a lab by id (made on first use) and applies the shared choices. False when there is none.
  bool open(std::string_view lab);
  Session& current() { return *current_; }
  chapters::Lab& lab() { return current_->lab(); }

  /// Opens a lab with some inputs set and the others at their defaults. Returns an error sentence, the state unchanged, or "".
  std::string open_with(std::string_view lab, const Json& inputs, const Json& view);
  std::string open_scenario(std::string_view text);
  std::string open_link(std::string_view link);
  std::string apply_preset(const Preset& preset);
  /// A file dropped on the window: a scenario, a lesson, or a file for the first file input of the open lab that takes it.
  std::string drop_file(const std::string& path);

  /// Once a frame after the controls: recompute, undo steps, shared choices. True when Outputs changed.
  bool update(bool control_held);

  /// The learner's shared choices, by shared name ("model", "chip", "workload.batch").
  const std::map<std::string, Json, std::less<>>& shared() const { return shared_; }
  void share(const std::string& name, const Json& value);

  /// One-line messages for the learner, oldest first.
  void say(std::string sentence);
  std::vector<std::string>& messages() { return messages_; }

  void save();  ///< progress, notes, settings, when they changed

 private:
  Session& session(std::string_view lab);
  void gather_shared();
  void apply_shared();

  UserPaths user_;
  std::map<std::string, std::unique_ptr<Session>, std::less<>> sessions_;
  Session* current_ = nullptr;
  std::map<std::string, Json, std::less<>> shared_;
  std::vector<std::string> messages_;
};

}  // namespace app
