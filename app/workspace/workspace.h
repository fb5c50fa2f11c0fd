#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/content/content.h"
#include "app/workspace/jobs.h"
#include "app/platform/paths.h"
#include "app/workspace/services.h"
#include "app/workspace/session.h"
#include "app/store/kept.h"
#include "app/store/notes.h"
#include "app/store/progress.h"
#include "app/store/recent.h"
#include "app/store/settings.h"
#include "chapters/practice/prediction_history.h"

namespace app {

/// Everything that is open and known, without a picture: the labs in use, what the learner shares between them,
/// content, progress. The shell draws it; the command line and tests drive it directly.
class Workspace {
 public:
  /// `user` may be without folders (error set): then nothing is kept and the notice says so.
  Workspace(Content content, UserPaths user, std::function<void()> wake = {});
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  Content content;
  Jobs jobs;
  Services services{jobs};
  store::Settings settings;
  store::Progress progress;
  store::Notes notes;
  store::Kept kept;  ///< what labs keep of the learner
  store::Recent recent;

  /// Opens a lab by id (made on first use) and applies the shared choices. False when there is none.
  bool open(std::string_view lab);
  Session& current() { return *current_; }
  chapters::Lab& lab() { return current_->lab(); }

  /// Opens a lab with some inputs set and the others at their defaults. Returns an error sentence, the state unchanged,
  /// or "".
  std::string open_with(std::string_view lab, const Json& inputs, const Json& view);
  std::string open_scenario(std::string_view text);
  std::string open_link(std::string_view link);
  std::string apply_preset(const Preset& preset);
  /// A file dropped on the window: a scenario, a lesson, a file for the first file input of the open lab that takes it,
  /// or one for the first lab with a file input that accepts its suffix.
  std::string drop_file(const std::string& path);

  /// Half for a visit, whole for a committed prediction.
  double lab_fraction(std::string_view lab) const;
  const std::string& title_of(std::string_view lab) const;

  /// The open lab's claims, each recomputed once.
  using CheckedClaims = std::vector<std::pair<const Claim*, Checked>>;
  const CheckedClaims& checked_claims();
  std::size_t claim_count(std::string_view lab) const;

  /// Shared choices that belong together ("workload" of "workload.batch" and "workload.context"), for the chips of the
  /// top bar.
  struct SharedGroup {
    std::string name, popup;
    std::vector<const chapters::Field*> fields;  ///< of prototype labs, holding the shared values
  };
  const std::vector<SharedGroup>& shared_groups() const { return groups_; }

  /// Once a frame after the controls: recompute, undo steps, shared choices. True when Outputs changed.
  bool update(bool control_held);

  /// Once a frame: hands the open lab's request to its service and brings what services have found into the labs that
  /// asked.
  void serve();
  /// Reads chips, models and drills anew, the learner's own among them, and describes every open lab again.
  void reload_catalog();

  /// The learner's shared choices, by shared name ("model", "chip", "workload.batch").
  const std::map<std::string, Json, std::less<>>& shared() const { return shared_; }
  void share(const std::string& name, const Json& value);

  /// Keeps a committed prediction, to disk at once.
  void keep_prediction(chapters::PredictionRecord record);

  /// One-line messages for the learner, oldest first.
  void say(std::string sentence);
  std::vector<std::string>& messages() { return messages_; }

  /// Keeps a lesson of the learner's own under the data folder, beside those that were there. Returns an error sentence
  /// or "".
  std::string keep_lesson(Lesson lesson);
  std::string export_folder() const;

  void save();  ///< progress, notes, settings, when they changed

 private:
  Session& session(std::string_view lab);
  void gather_shared();
  void show_shared();
  void apply_shared();
  void describe_shared();
  void group_shared();
  /// Opens the first lab that accepts the path's suffix. True when one did, or when its complaint is the answer.
  bool drop_by_suffix(const std::string& path, bool only_if_feasible, std::string& complaint);
  void fill_personal();  ///< kept tables and the clock into the open lab
  void gather_kept();    ///< what the open lab added to them, to disk at once
  void save_kept();
  void remember();  ///< puts the open lab's scenario on the recent list, unless it is the default one

  UserPaths user_;
  store::Settings saved_settings_;
  store::Progress saved_progress_;
  bool may_save_settings_ = true, may_save_progress_ = true, may_save_notes_ = true, may_save_recent_ = true,
       may_save_kept_ = true;
  bool recent_changed_ = false;
  struct Prototype {
    std::string id, title;
    chapters::LabPtr lab;
  };
  std::vector<Prototype> prototypes_;
  std::vector<SharedGroup> groups_;
  std::map<std::string, std::unique_ptr<Session>, std::less<>> sessions_;
  Session* current_ = nullptr;
  std::map<std::string, Json, std::less<>> shared_;
  std::vector<std::string> messages_;
  std::map<std::string, CheckedClaims, std::less<>> claims_;
};

}  // namespace app
