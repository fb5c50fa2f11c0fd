#include "app/workspace/session.h"

#include <new>
#include <nlohmann/json.hpp>

namespace app {
namespace {

constexpr std::size_t max_undo_steps = 200;

}  // namespace

Session::Session(chapters::LabPtr lab, Jobs& jobs)
    : lab_(std::move(lab)), committed_(lab_->keep_inputs()), jobs_(jobs) {}

bool Session::update(bool control_held) {
  bool changed = false;
  if (!computed_ || !lab_->has_inputs(*computed_)) {
    if (fresh_) before_ = std::move(computed_);
    fresh_ = false;
    computed_ = lab_->keep_inputs();
    if (!lab_->info().job) {
      fresh_ = compute_here();
      changed = true;
    } else {
      job_lab_ = lab_->with_inputs(*computed_);
      job_ = jobs_.submit(lab_->info().id, [work = job_lab_](chapters::Progress& progress) {
        work->compute(progress);
        if (!progress.cancelled) work->arrange();
      });
    }
  }
  if (job_lab_ && job_.ended()) {
    job_error_ = job_.error();
    if (job_.done()) {
      lab_->take_outputs(std::move(*job_lab_));
      fresh_ = changed = true;
    }
    job_lab_.reset();
  }
  if (!control_held) commit();
  if (changed) ++version_;
  return changed;
}

void Session::adopt(chapters::Lab&& computed) {
  if (!lab_->same_inputs(computed)) return;
  cancel();
  job_ = {};
  computed_ = lab_->keep_inputs();
  lab_->take_outputs(std::move(computed));
  fresh_ = true;
  job_error_.clear();
  ++version_;
}

/// An answer that there was no memory for is not computed again before the inputs change.
bool Session::compute_here() {
  job_error_.clear();
  try {
    lab_->compute();
    return true;
  } catch (const std::bad_alloc&) {
    job_error_ = "The computation needs more memory than there is: choose smaller inputs.";
    return false;
  }
}

void Session::commit() {
  if (lab_->has_inputs(*committed_)) return;
  // What the learner did or measured is not taken back: an answer alone is no step.
  Json before = set_by_hand(*lab_->with_inputs(*committed_));
  const bool others = before.size() < lab_->inputs().size();
  if (!others || before != set_by_hand(*lab_)) {
    undo_.push_back(std::move(before));
    if (undo_.size() > max_undo_steps) {
      undo_.erase(undo_.begin());
      ++forgotten_;
    }
    redo_.clear();
  }
  committed_ = lab_->keep_inputs();
  ++edits_;
}

void Session::finish() {
  job_.cancel();
  job_lab_.reset();
  lab_->compute();
  computed_ = lab_->keep_inputs();
  fresh_ = true;
  ++version_;
}

chapters::LabPtr Session::shown() const {
  const chapters::KeptInputs* const theirs = fresh_ ? computed_.get() : before_.get();
  return theirs ? lab_->clone_with(*theirs) : nullptr;
}

void Session::step(std::vector<Json>& from, std::vector<Json>& to) {
  if (from.empty()) return;
  const Json target = std::move(from.back());
  from.pop_back();
  to.push_back(set_by_hand(*lab_));
  const FileReader read = reader_keeping(*lab_);
  reset_scenario(*lab_);
  // What this session wrote is valid, unless a file it names has gone: then the rest of the step still applies.
  for (const auto& [key, value] : target.items())
    if (const auto* f = lab_->inputs().find(key)) (void)field_from_json(*f, value, read);
  committed_ = lab_->keep_inputs();
  ++edits_;
}

void Session::undo() {
  commit();  // a drag that still goes on is the step to take back
  step(undo_, redo_);
}
void Session::redo() {
  commit();
  step(redo_, undo_);
}
void Session::reset() { reset_scenario(*lab_); }

void Session::cancel() {
  job_.cancel();
  job_lab_.reset();
}

}  // namespace app
