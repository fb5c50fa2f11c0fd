#include <algorithm>
#include <cstdio>

#include "app/shell/explore/explore_parts.h"
#include "widgets/number/number.h"

namespace app {
namespace {

using chapters::Field;
using chapters::Kind;

/// What is found by the job; the panel takes it over when the job has ended.
struct ExploreFound {
  models::Result<SweepResult> sweep;
  models::Result<SensitivityResult> sensitivity;
  models::Result<SolveResult> solve;
  TellingPair pair;
};
using FoundPtr = std::shared_ptr<ExploreFound>;
using LabCopy = std::shared_ptr<chapters::Lab>;

/// The axis over the range as typed, else over the typical one of the input where it has one, on the input's own scale.
models::Result<SweepAxis> axis_of(const ExploreState& e, const chapters::Lab& lab, std::size_t points) {
  const Field* f = lab.inputs().find(e.input);
  std::string range;
  if (!e.lo.empty() || !e.hi.empty()) {
    range = "=" + e.lo + ":" + e.hi;
  } else if (f && f->spec.has_typical()) {
    char text[80];
    std::snprintf(text, sizeof text, "=%.17g:%.17g", f->spec.typical.lo, f->spec.typical.hi);
    range = text;
  }
  if (f && f->spec.range.scale == chapters::Scale::log && !range.empty())
    if (auto log = parse_sweep_axis(lab, e.input + range + ":" + std::to_string(points) + ":log", points)) return log;
  return parse_sweep_axis(lab, e.input + range, points);
}

models::Result<Work> sweep_work(const ExploreState& e, const LabCopy& lab, const FoundPtr& found) {
  auto x = axis_of(e, *lab, e.second_input.empty() ? 128 : 48);
  if (!x) return models::Result<Work>::fail(x.error);
  std::vector<SweepAxis> axes{std::move(*x)};
  if (!e.second_input.empty()) {
    auto y = parse_sweep_axis(*lab, e.second_input, 32);
    if (!y) return models::Result<Work>::fail(y.error);
    axes.push_back(std::move(*y));
  }
  return models::Result<Work>::ok(
      [=, output = e.output](chapters::Progress& p) { found->sweep = sweep(*lab, axes, output, p); });
}

models::Result<Work> solve_work(const ExploreState& e, const LabCopy& lab, const FoundPtr& found) {
  using Made = models::Result<Work>;
  const auto axis = axis_of(e, *lab, 2);
  if (!axis) return Made::fail(axis.error);
  const Field* out = lab->outputs().find(e.output);
  const auto target = widgets::parse_quantity(e.target, out ? out->spec.unit : "");
  if (!target.error.empty()) return Made::fail(target.error);
  if (!axis->labels.empty()) return Made::fail("Solve needs an input that is a number.");
  return Made::ok(
      [=, key = e.input, output = e.output, lo = axis->values.front(), hi = axis->values.back(),
       goal = target.value](chapters::Progress& p) { found->solve = solve(*lab, key, lo, hi, output, goal, p); });
}

models::Result<Work> explore_work(const ExploreState& e, const LabCopy& lab, const FoundPtr& found) {
  if (e.choosing) return models::Result<Work>::ok([=](chapters::Progress& p) { found->pair = telling_pair(*lab, p); });
  switch (e.mode) {
    case ExploreState::Mode::sweep:
      return sweep_work(e, lab, found);
    case ExploreState::Mode::sensitivity:
      return models::Result<Work>::ok(
          [=, output = e.output](chapters::Progress& p) { found->sensitivity = sensitivity(*lab, output, p); });
    case ExploreState::Mode::solve:
      return solve_work(e, lab, found);
    case ExploreState::Mode::compare:
      break;
  }
  return models::Result<Work>::fail("A comparison needs no run.");
}

/// Puts the answer into the panel, or its sentence into `error`.
template <class T>
void take_answer(models::Result<T>& found, T& to, std::string& error) {
  to = found ? std::move(*found) : T{};
  error = std::move(found.error);
}

}  // namespace

void begin_explore(Shell& shell) {
  ExploreState& e = shell.explore;
  const chapters::Lab& lab = shell.workspace.lab();
  e.job.cancel();
  e = ExploreState{};
  e.lab = lab.info().id;
  e.inputs = sweepable_inputs(lab);
  e.outputs = readable_outputs(lab);
  for (const auto& k : e.inputs)
    if (e.input.empty() && lab.inputs().find(k)->spec.range.scale == chapters::Scale::log) e.input = k;
  if (e.input.empty() && !e.inputs.empty()) e.input = e.inputs.front();
  for (const auto& k : e.outputs)
    if (e.output.empty() && lab.outputs().find(k)->spec.headline && lab.outputs().find(k)->kind == Kind::real)
      e.output = k;
  for (const auto& k : e.outputs)
    if (e.output.empty() && lab.outputs().find(k)->kind == Kind::real) e.output = k;
  if (e.output.empty() && !e.outputs.empty()) e.output = e.outputs.front();
  // The first picture is of a pair that says something. A lab that computes for seconds is not asked.
  e.choosing = !lab.info().job && lab.reason().empty() && !e.output.empty();
}

void start_explore(Shell& shell) {
  ExploreState& e = shell.explore;
  auto found = std::make_shared<ExploreFound>();
  auto work = explore_work(e, shell.workspace.lab().clone(), found);
  e.error = std::move(work.error);
  if (!work) return;
  e.result = found;
  e.running = true;
  e.for_version = shell.workspace.current().version();
  e.job = shell.workspace.jobs.submit("explore", std::move(*work));
}

bool take_explored(ExploreState& e) {
  if (!e.running || !e.job.ended()) return false;
  e.running = false;
  if (e.choosing) {
    e.choosing = false;
    e.for_version = 0;  // and then ask for its picture
    const TellingPair& pair = static_cast<ExploreFound*>(e.result.get())->pair;
    if (e.job.done() && !pair.input.empty()) {
      e.input = pair.input;
      e.output = pair.output;
    }
    return false;
  }
  if (!e.job.done()) {
    e.error = e.job.error();
    return false;
  }
  auto& found = *static_cast<ExploreFound*>(e.result.get());
  if (e.mode == ExploreState::Mode::sweep)
    take_answer(found.sweep, e.sweep, e.error);
  else if (e.mode == ExploreState::Mode::sensitivity)
    take_answer(found.sensitivity, e.sensitivity, e.error);
  else
    take_answer(found.solve, e.solve, e.error);
  e.plot = {};
  e.heat = {};
  return true;
}

}  // namespace app
