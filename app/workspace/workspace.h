#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/content/content.h"
#include "app/content/load_catalog.h"
#include "app/content/load_published.h"
#include "app/platform/paths.h"
#include "app/store/files.h"
#include "app/store/kept.h"
#include "app/store/notes.h"
#include "app/store/progress.h"
#include "app/store/recent.h"
#include "app/store/resume.h"
#include "app/store/settings.h"
#include "app/workspace/file_opening.h"
#include "app/workspace/jobs.h"
#include "app/workspace/lab_tables.h"
#include "app/workspace/message.h"
#include "app/workspace/services.h"
#include "app/workspace/session.h"
#include "app/workspace/stored.h"
#include "app/workspace/tried_scenario.h"
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
  Stored<store::Resume> resume_;
  Stored<store::Files> files_;

 public:
  /// Where `user` failed nothing is kept, and its sentence is the first message.
  Workspace(Content content, models::Result<UserPaths> user, std::function<void()> wake = {});
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  Content content;
  Jobs jobs;
  Services services{jobs};
  FileOpening opening{*this};  ///< files that were chosen or dropped
  ClaimTables claims{content, jobs};
  FigureTables figures{jobs};
  store::Settings& settings = settings_.value;
  store::Progress& progress = progress_.value;
  store::Notes& notes = notes_.value;
  store::Kept& kept = kept_.value;  ///< what labs keep of the learner
  store::Recent& recent = recent_.value;
  store::Resume& resume = resume_.value;
  store::Files& files = files_.value;

  /// Opens a lab by id (made on first use) and applies the shared choices. False when there is none.
  bool open(std::string_view lab);
  Session& current() { return *current_; }
  chapters::Lab& lab() { return current_->lab(); }

  /// Opens a lab with some inputs set and the others at their defaults. The state is unchanged when it fails.
  models::Status open_with(std::string_view lab, const Json& inputs, const Json& view);
  models::Status open_scenario(std::string_view text);
  models::Status open_link(std::string_view link);
  models::Status apply_preset(const Preset& preset);
  /// The same with what was tried before: reads no file.
  models::Status open_tried(const TriedScenario& tried);
  /// Puts the file that `trial` holds in this input into the same input of that lab, and opens the lab where it is not
  /// open. Where the trial has `computed`, its Outputs come with it.
  void take_file(std::string_view lab, std::string_view key, chapters::Lab&& trial, bool computed);
  /// Every lab with its default inputs, in teaching order.
  const std::vector<FileTaker>& labs() const { return prototypes_; }
  /// The open lab as it is set.
  FileTaker open_taker() const;
  /// Keeps chips of the learner's own, in a file of this name or the next that is free, and loads them. Returns where.
  models::Result<std::filesystem::path> keep_chips(const std::string& name, std::string_view text);

  /// How far a lab is.
  store::Quarters quarters(std::string_view lab) const;
  double lab_fraction(std::string_view lab) const { return quarters(lab).fraction(); }
  /// How many of the lab's questions were answered.
  std::size_t answered_questions(std::string_view lab) const;
  /// Are there drills on this lab?
  bool has_drills(std::string_view lab) const { return drills_on_.contains(lab); }
  /// True until this person has opened a lab, in this start of the program or one before.
  bool first_start() const { return settings.last_lab.empty(); }
  /// Counts how often a lab was opened, the same one again included.
  std::uint64_t openings() const { return openings_; }
  const std::string& title_of(std::string_view lab) const;

  /// The open lab's shared choices, those that belong together in one group ("workload" of "workload.batch" and
  /// "workload.context"), for the chips of the top bar.
  struct SharedGroup {
    std::string name, popup;
    std::vector<const chapters::Field*> fields;  ///< of the open lab, which they belong to
  };
  const std::vector<SharedGroup>& shared_groups() const { return groups_; }

  /// Once a frame after the controls: recompute, undo steps, shared choices, published figures. True when Outputs
  /// changed.
  bool update(bool control_held);
  /// Computes the open lab here and now, its published figures too: for pictures without a window, and tests.
  void finish();

  /// Once a frame: hands the open lab's request to its service and brings what services have found into the labs that
  /// asked.
  void serve();
  /// Reads chips, models and drills anew in a job, the learner's own among them; `serve` then describes every open lab
  /// again.
  void reload_catalog();
  /// Waits until what is being read anew is in force: for callers without a window.
  void finish_catalog();

  /// The learner's shared choices, by shared name ("model", "chip", "workload.batch").
  const std::map<std::string, Json, std::less<>>& shared() const { return shared_; }
  void share(const std::string& name, const Json& value);

  /// Keeps a committed prediction, to disk at once.
  void keep_prediction(chapters::PredictionRecord record);
  /// Keeps a drawn curve beside its prediction, to disk at once.
  void keep_curve(chapters::CurveRecord record);

  /// Messages for the learner, oldest first. An action becomes a button on the message.
  void say(std::string sentence, Action action = {});
  /// Says why something failed, if it did.
  void say_failure(const models::Status& status) { say_failure(status.error); }
  void say_failure(std::string sentence, Action action = {});
  std::vector<Message>& messages() { return messages_; }

  /// Keeps a lesson of the learner's own under the data folder, beside those that were there.
  models::Status keep_lesson(Lesson lesson);
  std::string export_folder() const;

  void save();  ///< all that changed, and what could not be saved before
  /// Keeps what the person did and where they are, so that a crash loses at most the last second: notes once they have
  /// not changed for a second, progress, settings, and `resume` on a worker. What could not be saved is tried again
  /// twice a minute. Call it about once a second with a clock in seconds, whether anything is drawn or not; writes at
  /// most once a second, and nothing while nothing has changed.
  void keep_place(double now_s);

 private:
  Session& session(std::string_view lab);
  void say_if_any(std::string notice);
  void take_catalog();
  void gather_shared();
  void apply_shared();
  void describe_shared();
  void group_shared();
  /// Makes a lab the open one. `set_up` sets its inputs, when it is the open lab already and not yet computed.
  void enter(std::string_view lab, const std::function<void()>& set_up);
  /// The same without counting as a visit: what the window has open before the person chose anything.
  void show(std::string_view lab, const std::function<void()>& set_up);
  void restore(chapters::Lab& lab);  ///< as it was left, as far as that is still possible
  void save_documents();             ///< all but the place
  void keep_notes(double now_s);
  void take_written_place();
  bool anything_unsaved() const;
  void note_place();    ///< puts the open lab's state into `resume`
  void find_drilled();  ///< from what is kept and the catalog
  const chapters::Fields& inputs_of(std::string_view lab) const;
  void fill_personal();  ///< kept tables and the clock into the open lab
  void gather_kept();    ///< what the open lab added to them, to disk at once
  void save_kept();
  void remember();  ///< puts the open lab's scenario on the recent list, unless it is the default one

  models::Result<UserPaths> user_;
  std::vector<FileTaker> prototypes_;
  Job catalog_job_;
  std::shared_ptr<LoadedCatalog> catalog_read_;  ///< what that job writes
  std::vector<SharedGroup> groups_;
  std::map<std::string, std::unique_ptr<Session>, std::less<>> sessions_;
  Session* current_ = nullptr;
  std::map<std::string, Json, std::less<>> shared_;
  std::vector<Message> messages_;
  std::uint64_t openings_ = 0;
  std::set<std::string, std::less<>> drills_on_, drilled_;  ///< labs with drills; those of which one was answered right
  struct Keeping {
    double last_s = -1e9;     ///< when something was written
    std::uint64_t stamp = 0;  ///< of what was noted last
    Job job;                  ///< writes
    store::Resume writing;    ///< what it writes
    std::shared_ptr<store::SaveReport> report;
    std::uint64_t note_edits = 0;  ///< Notes::edits when they were looked at last
    double note_s = 0;             ///< when they had changed last
    double first_note_s = -1;      ///< when they had changed first since they were saved; negative: they have not
    double retry_s = -1e9;         ///< before this nothing that failed is tried again
  } keeping_;
};

}  // namespace app
