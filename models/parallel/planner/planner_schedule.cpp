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
double stages_a_rank(const PipelineSpec& spec) {
  return laid_as_v(spec.schedule) ? 2 : loops_over_chunks(spec.schedule) ? as_double(spec.chunks) : 1;
}

/// The most micro-batches of a step that is run as a whole. Orders made of building blocks take the longest to make,
/// and repeat themselves soonest.
std::int64_t most_run(const PipelineSpec& spec) {
  const bool blocks = spec.schedule == PipelineSchedule::v_half || spec.schedule == PipelineSchedule::v_min;
  return blocks ? std::max<std::int64_t>(3 * spec.ranks, 32) : rounds_of_stages * spec.ranks;
}

/// Micro-batches that are enough to see how the bubble goes on, of the same kind as the plan's.
std::int64_t enough(const PipelineSpec& spec) {
  const std::int64_t most = most_run(spec);
  if (spec.micro_batches <= most) return spec.micro_batches;
  return loops_over_chunks(spec.schedule) ? most : most + (spec.micro_batches - most) % 2;
}

}  // namespace

PipelineSpec schedule_spec(const TrainingPlan& p) {
  PipelineSpec spec;
  const bool interleaves = p.virtual_pipeline > 1 && !loops_over_chunks(p.schedule);
  spec.schedule = interleaves ? PipelineSchedule::interleaved : p.schedule;
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
  const double parts = stages_a_rank(spec);
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
  const Key key{spec.schedule,          spec.ranks, spec.chunks, shorter.micro_batches, rounded(split.input_s),
                rounded(split.weight_s)};
  auto found = bubbles_.find(key);
  if (found == bubbles_.end()) {
    times.forward_s = 1 / parts;
    times.input_gradient_s = as_double(key.input) / steps_a_forward / parts;
    times.weight_gradient_s = as_double(key.weight) / steps_a_forward / parts;
    Bubble bubble{.passes = run_bubble(shorter, times)};
    if (shorter.micro_batches >= most_run(spec)) {
      // An order made for passes of equal length leaves holes in each micro-batch where they are not: those of a longer
      // step grow as they do over the last two rounds of the one that is run.
      PipelineSpec before = shorter;
      before.micro_batches -= 2 * ((spec.ranks + 1) / 2);
      bubble.more =
          (bubble.passes - run_bubble(before, times)) / as_double(shorter.micro_batches - before.micro_batches);
    }
    found = bubbles_.emplace(key, bubble).first;
  }
  const double longer = as_double(spec.micro_batches - shorter.micro_batches);
  return std::max(0.0, found->second.passes + longer * found->second.more) * split.forward_s;
}

double PlannerSchedules::run_bubble(const PipelineSpec& spec, const PipelineTimes& times) {
  Order& order = order_of(spec);
  if (!order.timer.comes_to_its_end()) return 0;
  const PipelineTimer::Ends ends = order.timer.run(times);
  return ends.makespan_s - ends.busiest_s;
}

PlannerSchedules::Order& PlannerSchedules::order_of(const PipelineSpec& spec) {
  const Key key{spec.schedule, spec.ranks, spec.chunks, spec.micro_batches, 0, 0};
  auto found = orders_.find(key);
  if (found == orders_.end()) {
    constexpr std::size_t max_operations = 1'000'000;  // 24 megabytes
    if (operations_ >= max_operations) {
      orders_.clear();
      operations_ = 0;
    }
    const auto made = pipeline_plan(spec);
    const PipelinePlan none;
    const PipelinePlan& plan = made ? *made : none;
    found = orders_.emplace(key, Order{PipelineTimer(plan), peak_activations(plan)}).first;
    operations_ += found->second.timer.operations();
  }
  return found->second;
}

const std::vector<double>* PlannerSchedules::in_flight_of_stages(const TrainingPlan& p) {
  if (p.schedule == PipelineSchedule::one_f_one_b || p.schedule == PipelineSchedule::interleaved ||
      p.schedule == PipelineSchedule::gpipe || p.schedule == PipelineSchedule::breadth_first || p.pipeline < 2)
    return nullptr;
  PipelineSpec spec = schedule_spec(p);
  spec.micro_batches = enough(spec);
  const Key key{spec.schedule, spec.ranks, spec.chunks, spec.micro_batches, 0, 0};
  auto found = in_flight_.find(key);
  if (found == in_flight_.end()) {
    std::vector<double> held = order_of(spec).peaks;
    // DualPipe's rank has a stage of each direction, and its layers are counted in both.
    const double parts = spec.schedule == PipelineSchedule::dualpipe ? 2 : stages_a_rank(spec);
    for (double& h : held) h /= parts;
    found = in_flight_.emplace(key, std::move(held)).first;
  }
  return &found->second;
}

double PlannerSchedules::in_flight(const TrainingPlan& p, std::int64_t stage) {
  if (const std::vector<double>* held = in_flight_of_stages(p)) {
    const auto at = static_cast<std::size_t>(stage);
    return at < held->size() ? (*held)[at] : 0;
  }
  const bool all = p.schedule == PipelineSchedule::gpipe || p.schedule == PipelineSchedule::breadth_first;
  return all && p.pipeline > 1 ? as_double(p.micro_batches) : 0;
}

double KeptSchedules::in_flight(const TrainingPlan& p) {
  constexpr std::size_t max_kept = 32;
  const std::lock_guard lock(mutex_);
  if (schedules_.kept() > max_kept) schedules_ = {};
  return schedules_.in_flight(p, p.stage);
}

}  // namespace models::parallel
