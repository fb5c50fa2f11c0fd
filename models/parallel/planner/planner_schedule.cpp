#include "models/parallel/planner/planner_schedule.h"

#include <algorithm>
#include <cmath>

#include "models/base/integer_math.h"
#include "models/parallel/pipeline/pipeline_formulas.h"
#include "models/parallel/pipeline/pipeline_memory.h"

namespace models::parallel {
namespace {

using memory::TrainingPlan;

constexpr double steps_a_forward = 16;
constexpr std::int64_t rounds_of_stages = 4;

/// Stages of the schedule that one rank holds: what it computes of a micro-batch is cut into so many.
double stages_a_rank(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::zb_v || schedule == PipelineSchedule::dualpipe_v ? 2 : 1;
}

/// Micro-batches that are enough to see the whole bubble, of the same kind as the plan's.
std::int64_t enough(const PipelineSpec& spec) {
  const std::int64_t most = rounds_of_stages * spec.ranks;
  return spec.micro_batches <= most ? spec.micro_batches : most + (spec.micro_batches - most) % 2;
}

}  // namespace

PipelineSpec schedule_spec(const TrainingPlan& p) {
  PipelineSpec spec;
  spec.schedule = p.virtual_pipeline > 1 ? PipelineSchedule::interleaved : p.schedule;
  spec.ranks = p.pipeline;
  spec.micro_batches = p.micro_batches;
  spec.chunks = p.virtual_pipeline;
  return spec;
}

std::string schedule_problem(const TrainingPlan& p) {
  if (p.schedule == PipelineSchedule::one_f_one_b) return {};
  if (p.pipeline < 2)
    return std::string(schedule_name(p.schedule)) +
           " orders the stages of a pipeline, and there is one stage; take 1F1B.";
  if (never_drains(p.schedule))
    return std::string(schedule_name(p.schedule)) +
           " updates weights while micro-batches are under way, which trains another model than a plain step; take a "
           "schedule that drains.";
  return check(schedule_spec(p)).error;
}

double PlannerSchedules::bubble_s(const TrainingPlan& p, const PassSplit& split) {
  const PipelineSpec spec = schedule_spec(p);
  const double parts = stages_a_rank(spec.schedule);
  PipelineTimes times;
  times.forward_s = split.forward_s / parts;
  times.input_gradient_s = split.input_s / parts;
  times.weight_gradient_s = split.weight_s / parts;
  if (const PipelineFormula known = closed_form(spec, times); !known.formula.empty()) {
    const bool interleaves = spec.schedule == PipelineSchedule::interleaved;
    return known.bubble_s / (interleaves ? as_double(spec.chunks) : 1);
  }
  if (!(split.forward_s > 0)) return 0;
  const auto rounded = [&](double x) {
    return std::max<std::int64_t>(1, std::llround(x / split.forward_s * steps_a_forward));
  };
  PipelineSpec shorter = spec;
  shorter.micro_batches = enough(spec);
  const Key key{spec.schedule, spec.ranks, shorter.micro_batches, rounded(split.input_s), rounded(split.weight_s)};
  const auto found = bubbles_.find(key);
  if (found != bubbles_.end()) return found->second * split.forward_s;
  times.forward_s = 1 / parts;
  times.input_gradient_s = as_double(key.input) / steps_a_forward / parts;
  times.weight_gradient_s = as_double(key.weight) / steps_a_forward / parts;
  const auto plan = pipeline_plan(shorter);
  double bubble = 0;
  if (plan)
    if (const auto run = run_pipeline(*plan, times); run) {
      double busiest = 0;
      for (const PipelineRank& rank : run->ranks) busiest = std::max(busiest, rank.busy_s);
      bubble = run->makespan_s - busiest;
    }
  bubbles_.emplace(key, bubble);
  return bubble * split.forward_s;
}

double PlannerSchedules::in_flight(const TrainingPlan& p, std::int64_t stage) {
  if (p.schedule == PipelineSchedule::one_f_one_b || p.schedule == PipelineSchedule::interleaved || p.pipeline < 2)
    return 0;
  if (p.schedule == PipelineSchedule::gpipe) return as_double(p.micro_batches);
  PipelineSpec spec = schedule_spec(p);
  spec.micro_batches = enough(spec);
  const Key key{spec.schedule, spec.ranks, spec.micro_batches, 0, 0};
  auto found = in_flight_.find(key);
  if (found == in_flight_.end()) {
    std::vector<double> held;
    if (const auto plan = pipeline_plan(spec); plan) held = peak_activations(*plan);
    // DualPipe's rank has a stage of each direction, and its layers are counted in both.
    const double parts = spec.schedule == PipelineSchedule::dualpipe ? 2 : stages_a_rank(spec.schedule);
    for (double& h : held) h /= parts;
    found = in_flight_.emplace(key, std::move(held)).first;
  }
  const auto at = static_cast<std::size_t>(stage);
  return at < found->second.size() ? found->second[at] : 0;
}

double schedule_in_flight(const TrainingPlan& p) {
  constexpr std::size_t most_kept = 32;
  thread_local PlannerSchedules schedules;
  if (schedules.kept() > most_kept) schedules = {};
  return schedules.in_flight(p, p.stage);
}

}  // namespace models::parallel
