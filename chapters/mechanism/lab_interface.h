#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chapters/mechanism/field.h"
#include "models/base/result.h"
#include "widgets/stage/stage.h"

namespace chapters {

struct PublishedMarks;

/// How far a long compute has come, whether the learner still wants it, and what of it.
struct Progress {
  std::atomic<double> fraction{0};
  std::atomic<bool> cancelled{false};
  /// Nobody will look at the picture: compute may leave out of its Run what costs time. Set before the work starts.
  bool facts_alone = false;
};

/// What compute gives where it works out more than the facts that it states: the Run, from which `arrange` makes the
/// picture (histories, graphs, schedules). It is shared and never copied; null where the Outputs are infeasible.
template <class Outputs, class Run>
struct Computed {
  Outputs facts{};
  std::shared_ptr<const Run> run{};
};

/// What compute gives where it can compute nothing: a Computed with no facts but the reason.
template <class Answer>
Answer infeasible(std::string reason) {
  Answer out;
  out.facts.reason = std::move(reason);
  return out;
}

/// The Run of labs that have none.
struct NoRun {};

/// What holds for some labs.
struct LabTraits {
  bool job = false;     ///< compute may exceed 5 ms and runs on a worker
  bool hidden = false;  ///< reachable by id only (the gallery)
  /// Name of the app's service that does the work which this lab's Requests ask for; empty: the lab asks for none.
  std::string_view service{};
  /// Not empty: Outputs can be written in a format that other programs open, named here ("Chrome trace").
  std::string_view document{};
  /// Keys of inputs, between spaces: a published measurement belongs to what is set when it agrees in them. For labs
  /// whose Picture has a member `PublishedMarks published`.
  std::string_view published_keys{};
};

struct LabInfo : LabTraits {
  LabInfo(std::string_view id_of, std::string_view title_of, std::string_view question_of, const LabTraits& traits = {})
      : LabTraits(traits), id(id_of), title(title_of), question(question_of) {}
  std::string_view id;  ///< "chapter/lab", final
  std::string_view title;
  std::string_view question;  ///< one line under the title: what the learner finds out here
};

/// What a lab asks of the program, and what it is told meanwhile. A View that asks for something has a member
/// `Requests requests`; the app looks at it once a frame. Its `describe` may name these members, so that scenarios and
/// tests reach them.
struct Requests {
  std::string work;       ///< what LabInfo::service is to do, in its own words; "stop" ends it. Empty: nothing.
  std::string open_link;  ///< a link or the id of a lab to go to; empty: none
  /// A question of the picture that no frame has the time for; see aside.h. The app takes it and answers in a job.
  std::function<void(Progress&)> aside;
  bool awake = false;  ///< the picture moves by itself (a clock), so the window must not sleep
  // Of the work, written by the app:
  bool running = false;
  double fraction = 0;  ///< 0 to 1
  std::string status;   ///< one line for the learner
};

/// The Inputs of a lab at one moment, to compare with and to go back to. What is in them only labs of its kind know.
class KeptInputs {
 public:
  KeptInputs() = default;
  KeptInputs(const KeptInputs&) = delete;
  KeptInputs& operator=(const KeptInputs&) = delete;
  virtual ~KeptInputs() = default;
};

/// One running copy of a lab: its Inputs, Outputs, Run and View behind the two descriptions.
/// Not thread-safe; a worker computes on a lab of its own.
class Lab {
 public:
  virtual ~Lab() = default;
  virtual const LabInfo& info() const = 0;
  virtual const Fields& inputs() const = 0;
  virtual const Fields& outputs() const = 0;
  virtual const Fields& view() const = 0;  ///< empty where a lab describes none
  /// Outputs and Run from Inputs. Pure; the same Inputs give the same Outputs.
  virtual void compute(Progress& progress) = 0;
  /// The same for a caller who reads Outputs alone: sweeps, solve, drills, claims. Such a lab is not drawn.
  void compute_facts(Progress& progress) {
    progress.facts_alone = true;
    compute(progress);
  }
  void compute_facts() {
    Progress ignored;
    compute_facts(ignored);
  }
  void compute() {
    Progress ignored;
    compute(ignored);
  }
  /// Makes the Picture of the Outputs unless it is made; `draw` and `answer` do so too. A job calls it where it
  /// computed, so that the window's thread need not.
  virtual void arrange() = 0;
  /// Empty when feasible; otherwise one sentence that says why the Outputs mean nothing.
  virtual const std::string& reason() const = 0;
  /// Paints the panels onto a stage. May change Inputs (drags) and View, never Outputs. The first time after a change
  /// of Outputs it arranges their Picture. While the Outputs are infeasible it paints the last feasible ones, if there
  /// were any.
  virtual void draw(widgets::Stage& stage) = 0;
  /// The answer to the lab's question in one sentence, figures between backticks; the reason where there is none. Empty
  /// for a lab that gives none.
  virtual std::string_view answer() = 0;
  /// Infeasible, and there is an earlier picture that `draw` paints instead.
  virtual bool shows_earlier() const = 0;
  /// What the View asks of the program; null where it asks for nothing.
  virtual Requests* requests() = 0;
  /// A copy of Inputs and Outputs that shares the Run; its View is a fresh one, since nobody looks at a copy.
  virtual std::unique_ptr<Lab> clone() const = 0;
  virtual bool same_inputs(const Lab& other) const = 0;  ///< both of the same lab
  virtual std::unique_ptr<const KeptInputs> keep_inputs() const = 0;
  virtual bool has_inputs(const KeptInputs& kept) const = 0;  ///< `kept` must be inputs of the same lab
  /// A lab of the same kind with these Inputs and nothing computed yet.
  virtual std::unique_ptr<Lab> with_inputs(const KeptInputs& kept) const = 0;
  /// A copy with these Inputs, which the Outputs belong to.
  virtual std::unique_ptr<Lab> clone_with(const KeptInputs& kept) const = 0;
  /// Moves Outputs, Run and, where it is made, Picture out of a worker's lab of the same kind, which is left without.
  virtual void take_outputs(Lab&& other) = 0;
  /// What the lab's model says of its published measurements, a figure for each row of Catalog::published_of in its
  /// order (0: none). Null: not known yet. Only the picture reads it.
  virtual void show_published(std::shared_ptr<const std::vector<double>> figures) = 0;
  virtual bool shows_published() const = 0;  ///< the Picture has a place for them
  /// The Outputs as the file that `info().document` names; empty where the lab has none. May take long: not for the
  /// interface's thread.
  virtual models::Result<std::string> document() const = 0;
  /// Back to the default-constructed Inputs.
  virtual void reset() = 0;
  /// Describes anew, after the Catalog's choices changed.
  virtual void refresh() = 0;
};
using LabPtr = std::unique_ptr<Lab>;

}  // namespace chapters
