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
#include "app/content/load_published.h"
#include "app/platform/paths.h"
#include "app/store/files.h"
#include "app/store/kept.h"
#include "app/store/notes.h"
#include "app/store/progress.h"
#include "app/store/recent.h"
#include "app/store/resume.h"
#include "app/store/settings.h"
#include "app/workspace/jobs.h"
#include "app/workspace/services.h"
#include "app/workspace/session.h"
#include "app/workspace/stored.h"
#include "chapters/practice/drawn_curve.h"
#include "chapters/practice/prediction_history.h"

namespace app {

/// What a person can do about a message: a button with a word or two, and what it does.
struct Action {
  std::string label;  ///< empty: there is nothing to do
  std::function<void()> run;
};

/// One sentence for the person.
struct Message {
  std::string text;
  bool failure = false;  ///< something did not work: it looks like it and stays longer
  Action action{};
};

/// A document of somebody else that names files: they are not touched before the person agrees.
struct AskedFiles {
  std::string origin;              ///< what names them: a file's name, or "The link"
  std::vector<std::string> files;  ///< whole paths
  std::function<models::Status(bool with_files)> open;
};

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
  /// The one way in for files, chosen or dropped: a scenario or a lesson, a chip for the catalog, a file for the open
  /// lab when it takes it, or one for the first lab that reads such files. Fails with what labs say of it, and the
  /// state is unchanged; `remedy` then gets what could be done instead.
  models::Status open_file(const std::string& path, Action* remedy = nullptr);
  /// Opens it, and says why not.
  void show_file(const std::string& path);
  /// A scenario from somebody's file, whose relative paths count from the folder of `path`. One that names files waits
  /// in `asked_files`.
  models::Status open_scenario_file(const std::string& path, std::string_view text);
  std::optional<AskedFiles> asked_files;
  /// Answers the question that waits: with the files, without them, or not at all.
  enum class FilesAnswer : unsigned char { open, leave_out, cancel };
  void answer_files(FilesAnswer answer);
  /// The suffixes of files that labs read, ".json" and so on, scenarios among them.
  std::vector<std::string> readable_suffixes() const;
  /// Titles of the labs that read files of this name's suffix: "Trace viewer"; empty when none does.
  std::string readers_of(std::string_view path) const;

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

  /// The open lab's claims, each recomputed once.
  using CheckedClaims = std::vector<std::pair<const Claim*, models::Result<CheckedClaim>>>;
  const CheckedClaims& checked_claims();
  std::size_t claim_count(std::string_view lab) const;

  /// The open lab's published measurements, each beside the lab's own figure. A job works them out once for all labs
  /// and workspaces: null until it has, or when it was asked just now.
  const chapters::PublishedTable* published_figures();
  /// How far that job is, 0 to 1.
  double published_fraction() const { return figures_.job.fraction(); }
  std::size_t figure_count(std::string_view lab) const;

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
  /// Reads chips, models and drills anew, the learner's own among them, and describes every open lab again.
  void reload_catalog();

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
  models::Status open_lesson_file(const std::string& path, std::string_view text);
  models::Status keep_chip_file(const std::string& path, const std::string& text);
  /// One file input that was tried, and why its lab refuses the file.
  struct Refusal {
    std::string lab{}, title{}, reason{};
    bool by_bytes = false, open_lab_reads_such = false;
  };
  /// Gives the file to the first input of the open lab that takes it; false when none does.
  bool open_in_lab(const std::string& path, const std::string* text, std::vector<Refusal>& refusals);
  /// Opens the first other lab that reads such a file; false when none does. Fails when the file cannot be read.
  models::Result<bool> open_in_another(const std::string& path, bool readable, std::vector<Refusal>& refusals);
  /// Opens at once what names no files; else asks.
  models::Status ask_about_files(AskedFiles asked);
  const chapters::Fields& inputs_of(std::string_view lab) const;
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
  std::map<std::string, CheckedClaims, std::less<>> claims_;
  /// The job that works out the published figures of one lab.
  struct Figures {
    std::string lab;
    std::shared_ptr<const chapters::PublishedTable> table;  ///< of `lab`, once it is known
    Job job;
  } figures_;
};

}  // namespace app
