#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/content/content.h"
#include "app/platform/paths.h"
#include "app/store/kept.h"
#include "app/store/notes.h"
#include "app/store/progress.h"
#include "app/store/recent.h"
#include "app/store/settings.h"
#include "app/workspace/jobs.h"
#include "app/workspace/services.h"
#include "app/workspace/session.h"
#include "app/workspace/stored.h"
#include "chapters/practice/drawn_curve.h"
#include "chapters/practice/prediction_history.h"

namespace app {

/// Everything that is open and known, without a picture: the labs in use, what the learner shares between them,
/// content, progress. The shell draws it; the command line and tests drive it directly.
class Workspace {
  Stored<store::Settings> settings_;
  Stored<store::Progress> progress_;
  Stored<store::Notes> notes_;
  Stored<store::Kept> kept_;
  Stored<store::Recent> recent_;

 public:
  /// Where `user` failed nothing is kept, and its sentence is the first message.
  Workspace(Content content, models::Result<UserPaths> user, std::function<void()> wake = {});
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  Content content;
  Jobs jobs;
  Services services{jobs};
  store::Settings& settings = settings_.value;
  store::Progress& progress = progress_.value;
  store::Notes& notes = notes_.value;
  store::Kept& kept = kept_.value;  ///< what labs keep of the learner
  store::Recent& recent = recent_.value;

  /// Opens a lab by id (made on first use) and applies the shared choices. False when there is none.
  bool open(std::string_view lab);
  Session& current() { return *current_; }
  chapters::Lab& lab() { return current_->lab(); }

  /// Opens a lab with some inputs set and the others at their defaults. The state is unchanged when it fails.
  models::Status open_with(std::string_view lab, const Json& inputs, const Json& view);
  models::Status open_scenario(std::string_view text);
  models::Status open_link(std::string_view link);
  models::Status apply_preset(const Preset& preset);
  /// A file dropped on the window: a scenario, a lesson, a file for the first file input of the open lab that takes it,
  /// or one for the first lab with a file input that accepts its suffix.
  models::Status drop_file(const std::string& path);

  /// Half for a visit, whole for a committed prediction.
  double lab_fraction(std::string_view lab) const;
  const std::string& title_of(std::string_view lab) const;

  /// The open lab's claims, each recomputed once.
  using CheckedClaims = std::vector<std::pair<const Claim*, models::Result<CheckedClaim>>>;
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
  /// Keeps a drawn curve beside its prediction, to disk at once.
  void keep_curve(chapters::CurveRecord record);

  /// One-line messages for the learner, oldest first.
  void say(std::string sentence);
  /// Says why something failed, if it did.
  void say_failure(const models::Status& status) { say_if_any(status.error); }
  std::vector<std::string>& messages() { return messages_; }

  /// Keeps a lesson of the learner's own under the data folder, beside those that were there.
  models::Status keep_lesson(Lesson lesson);
  std::string export_folder() const;

  void save();  ///< progress, notes, settings, when they changed

 private:
  Session& session(std::string_view lab);
  void say_if_any(std::string notice);
  void gather_shared();
  void show_shared();
  void apply_shared();
  void describe_shared();
  void group_shared();
  /// Makes a lab the open one. `set_up` sets its inputs, when it is the open lab already and not yet computed.
  void enter(std::string_view lab, const std::function<void()>& set_up);
  models::Status drop_lesson(const std::string& path, std::string_view text);
  /// Gives the text to the first file input of the open lab that it leaves feasible. Fails with the lab's reason; empty
  /// when the lab has no input for texts.
  std::optional<models::Status> drop_on_open_lab(const std::string& path, const std::string& text);
  /// Opens the first lab that accepts the path's suffix; empty when none does.
  std::optional<models::Status> drop_by_suffix(const std::string& path, bool only_if_feasible);
  void fill_personal();  ///< kept tables and the clock into the open lab
  void gather_kept();    ///< what the open lab added to them, to disk at once
  void save_kept();
  void remember();  ///< puts the open lab's scenario on the recent list, unless it is the default one

  models::Result<UserPaths> user_;
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
