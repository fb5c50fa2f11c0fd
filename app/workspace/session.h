#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/scenario/scenario.h"
#include "app/workspace/jobs.h"
#include "chapters/mechanism/lab.h"

namespace app {

/// One open lab: its running copy, its history of edits, and the recomputing that keeps Outputs in step with Inputs.
class Session {
 public:
  Session(chapters::LabPtr lab, Jobs& jobs);

  chapters::Lab& lab() { return *lab_; }
  const chapters::Lab& lab() const { return *lab_; }

  /// Once a frame: recomputes when Inputs differ from those computed last (at once, or as a job), takes a finished
  /// job's Outputs, and, when no control is held, records an undo step. Allocates nothing while nothing changes. True
  /// when Outputs changed.
  bool update(bool control_held);
  /// Takes the Outputs of a lab that computed them elsewhere, where its Inputs are those of the lab now; `computed` is
  /// left without.
  void adopt(chapters::Lab&& computed);
  /// What Outputs depend on has changed (the catalog): the next update computes anew.
  void invalidate() {
    if (fresh_) before_ = std::move(computed_);
    fresh_ = false;
    computed_.reset();
  }
  /// Computes here and now, jobs too: for headless pictures and tests.
  void finish();

  /// Counts the steps of editing; undo and redo are steps too.
  std::uint64_t edits() const { return edits_; }
  bool can_undo() const { return !undo_.empty(); }
  /// How many steps it is from the beginning, those that are too old to be undone included.
  std::size_t undo_depth() const { return forgotten_ + undo_.size(); }
  bool can_redo() const { return !redo_.empty(); }
  void undo();
  void redo();
  void reset();

  /// A copy of what is on the screen: Outputs with the Inputs that they belong to, while a job works on others too.
  /// Null before the first Outputs.
  chapters::LabPtr shown() const;

  bool computing() const { return job_lab_ != nullptr; }
  double fraction() const { return job_ ? job_.fraction() : 1; }
  void cancel();

  /// Counts up whenever Outputs change; prose and caches compare it.
  std::uint64_t version() const { return version_; }
  const std::string& job_error() const { return job_error_; }

 private:
  bool compute_here();
  void commit();  ///< records an undo step when Inputs differ from the last one's
  void step(std::vector<Json>& from, std::vector<Json>& to);

  using Kept = std::unique_ptr<const chapters::KeptInputs>;
  chapters::LabPtr lab_;
  Kept computed_;       ///< the Inputs that the Outputs belong to, or that the job works on
  Kept before_;         ///< while `computed_` waits for its Outputs: the Inputs of those on the screen
  bool fresh_ = false;  ///< the Outputs belong to `computed_`
  Kept committed_;      ///< the Inputs of the last undo step
  std::vector<Json> undo_, redo_;
  std::size_t forgotten_ = 0;  ///< steps that `undo_` had no more room for
  Jobs& jobs_;
  Job job_;
  std::shared_ptr<chapters::Lab> job_lab_;  ///< what the running job computes on
  std::string job_error_;
  std::uint64_t version_ = 1, edits_ = 0;
};

}  // namespace app
