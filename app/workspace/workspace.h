#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/content/content.h"
#include "app/content/load_published.h"
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
  /// needs to count, and opens the lab where it is not open.
  void take_file(std::string_view lab, std::string_view key, chapters::Lab&& trial);
  /// Every lab with its default inputs, in teaching order.
  const std::vector<FileTaker>& labs() const { return prototypes_; }
  /// The open lab as it is set.
  FileTaker open_taker() const;
  /// Keeps chips of the learner's own, in a file of this name or the next that is free, and loads them. Returns where.
  models::Result<std::filesystem::path> keep_chips(const std::string& name, std::string_view text);

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
  /// What has just been set in the open lab was set by no hand (a question, for example): other labs do not get it.
  void settle() { shared_.settle(lab()); }

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
};

}  // namespace app
