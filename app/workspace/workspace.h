#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/content/content.h"
#include "app/content/load_published.h"
#include "app/scenario/own_entries.h"
#include "app/workspace/catalog_reading.h"
#include "app/workspace/documents.h"
#include "app/workspace/file_opening.h"
#include "app/workspace/jobs.h"
#include "app/workspace/lab_tables.h"
#include "app/workspace/learner.h"
#include "app/workspace/message.h"
#include "app/workspace/place.h"
#include "app/workspace/services.h"
#include "app/workspace/session.h"
#include "app/workspace/shared_choices.h"
#include "app/workspace/tried_scenario.h"
#include "chapters/mechanism/catalog.h"

namespace app {

/// Everything that is open and known, without a picture: the labs in use, what the learner shares between them,
/// content, progress. The shell draws it; the command line and tests drive it directly.
class Workspace {
  Documents documents_;
  Messages messages_;

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
  Learner learner{content, documents_, messages_};  ///< what the learner has done
  store::Settings& settings = documents_.settings.value;
  store::Progress& progress = documents_.progress.value;
  store::Notes& notes = documents_.notes.value;
  store::Kept& kept = documents_.kept.value;  ///< what labs keep of the learner
  store::Recent& recent = documents_.recent.value;
  store::Resume& resume = documents_.resume.value;
  store::Files& files = documents_.files.value;

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
  /// Puts the file that `trial`, which is computed, holds in this input into the same input of that lab, with what it
  /// needs to count, and opens the lab where it is not open. The files of a set are in the rows of `table`, too, or in
  /// them alone where there is no key.
  void take_file(std::string_view lab, std::string_view key, chapters::Lab&& trial, std::string_view table = {});
  /// Every lab with its default inputs, in teaching order.
  const std::vector<FileTaker>& labs() const { return prototypes_; }
  /// The open lab as it is set.
  FileTaker open_taker() const;
  /// Makes models, chips and networks that were opened or sent choices of every lab, and keeps what is new in the
  /// learner's folders, one of chips as `file` where that is given. What cannot be kept is there until the program
  /// ends, and a message says so. Gives what they are called here, in the order of the set.
  std::vector<TakenEntry> take_own(OwnSet set, const std::string& file = {});
  /// Makes an entry of the catalog the choice of all labs; `from` is where it comes from, for the message that says so.
  /// False where the open lab has no such choice.
  bool use_own(const TakenEntry& entry, const std::string& from);
  /// Takes what `who`, "the scenario" or "the link", carries (Scenario::own_text), and says so. Gives what it is called
  /// here. Fails, with nothing taken, on what is no such list.
  models::Result<std::vector<TakenEntry>> bring_own(std::string_view own, const std::string& who);
  /// Says it, with a button that takes away those of them that were kept.
  void say_kept(std::string sentence, std::vector<TakenEntry> taken);
  /// Keeps what was named on the command line of this start.
  void keep_given();
  /// Counts the catalogs that were put in force.
  std::uint64_t catalogs() const { return catalogs_; }

  /// Back (-1) to the lab that was open before, or forward (1) again, as it was left. Does nothing at the ends.
  void go(int by);
  bool can_go(int by) const;

  /// True until this person has opened a lab, in this start of the program or one before.
  bool first_start() const { return settings.last_lab.empty(); }
  /// Counts how often a lab was opened, the same one again included.
  std::uint64_t openings() const { return openings_; }
  const std::string& title_of(std::string_view lab) const;

  /// The choices that mean the same in every lab, in groups for the chips of the top bar.
  const SharedChoices& shared() const { return shared_; }
  void share(const std::string& name, const Json& value);

  /// The open lab's inputs back to their defaults.
  void reset();

  /// One step of the open lab back. Where that takes back what opened a scenario, a link or a preset in another lab,
  /// the lab that was open before is open again; redo opens that scenario again.
  void undo();
  void redo();
  bool can_undo() const { return current_->can_undo(); }
  bool can_redo() const;

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

  /// Messages for the learner, oldest first. An action becomes a button on the message.
  void say(std::string sentence, Action action = {}) { messages_.say(std::move(sentence), std::move(action)); }
  /// Says why something failed, if it did.
  void say_failure(const models::Status& status) { messages_.say_failure(status); }
  void say_failure(std::string sentence, Action action = {}) {
    messages_.say_failure(std::move(sentence), std::move(action));
  }
  std::vector<Message>& messages() { return messages_.all(); }

  /// Keeps a lesson of the learner's own under the data folder, beside those that were there.
  models::Status keep_lesson(Lesson lesson);
  std::string export_folder() const;

  /// Saves all that changed, and what could not be saved before.
  void save() { place_.save(lab()); }
  /// Keeps what the person did and where they are (place.h). Call it about once a second with a clock in seconds.
  void keep_place(double now_s) { place_.keep(now_s, *current_, openings_); }

 private:
  Session& session(std::string_view lab);
  void take_catalog();
  /// Puts a catalog that is indexed in force, and describes every lab anew.
  void install(std::shared_ptr<const chapters::Catalog> catalog);
  /// Writes what is new into the learner's folders, until one fails, which a message says.
  void keep_entries(std::vector<TakenEntry>& taken, const std::string& file, chapters::Catalog& in);
  void keep_session_own(chapters::Catalog& in) const;
  bool is_kept(const OwnEntry& entry) const;  ///< in the learner's folders
  bool redoes_arrival() const;                ///< the step that redo would do is the one that `undone_arrival_` names
  /// A config.json in a file input of the open lab becomes a model that every lab can choose, and the choice here.
  void name_config();
  /// Labs that use what is about to leave the catalog go back to what they open with.
  void stop_using(const TakenEntry& gone);
  /// What has just been set in the open lab was set by no hand (a question, for example): other labs do not get it.
  void settle() { shared_.settle(lab()); }
  /// One finding of a service, into the lab that asked for it. True when it brought a chip.
  bool take_event(chapters::Lab& asked, ServiceEvent event);
  void apply_shared();  ///< to the open lab, where the person wants them carried over
  void describe_labs();
  /// Makes a lab the open one. `set_up` sets its inputs, when it is the open lab already and not yet computed.
  void enter(std::string_view lab, const std::function<void()>& set_up);
  /// The same without counting as a visit: what the window has open before the person chose anything.
  void show(std::string_view lab, const std::function<void()>& set_up);
  const chapters::Fields& inputs_of(std::string_view lab) const;
  void remember();  ///< puts the open lab's scenario on the recent list, unless it is the default one

  std::vector<FileTaker> prototypes_;
  CatalogReading catalog_{jobs};
  SharedChoices shared_;
  std::map<std::string, std::unique_ptr<Session>, std::less<>> sessions_;
  Session* current_ = nullptr;
  Place place_{documents_, jobs, messages_};
  std::uint64_t openings_ = 0;
  std::vector<std::string> trail_;  ///< labs in the order in which they were opened; those gone back over stay
  std::size_t trail_at_ = 0;        ///< where the open lab stands in it
  std::uint64_t catalogs_ = 0;
  std::string refused_config_;  ///< text of a config.json that is none, so that it is not read at every frame
  /// A scenario that was opened from another lab.
  struct Arrival {
    std::string from, lab;
    std::size_t depth = 0;    ///< steps that could be undone in `lab` once it was open
    std::uint64_t edits = 0;  ///< how often `from` had been edited when undo came back to it
  };
  std::vector<Arrival> arrivals_;          ///< in the order in which they were opened
  std::optional<Arrival> undone_arrival_;  ///< the one that undo has taken back last
};

}  // namespace app
