#include "models/fleet/scaling_tax.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "models/base/integer_math.h"
#include "models/training/slowest_rank.h"

namespace models::fleet {
namespace {

using memory::TrainingPlan;
using parallel::PlanCause, parallel::PlannerJob, parallel::StepParts;

/// Seconds of a step's computation, of what is run again, and of what the GPUs that share a layer wait for.
struct LayerSeconds {
  double work_s = 0, again_s = 0, tensor_s = 0, context_s = 0, expert_s = 0;
  double cut_s() const { return work_s + again_s + tensor_s; }
  double all_s() const { return cut_s() + context_s + expert_s; }
};

LayerSeconds layer_seconds(const StepParts& parts, double share) {
  return {.work_s = share * (parts[PlanCause::products] + parts[PlanCause::attention] + parts[PlanCause::elements]),
          .again_s = share * parts[PlanCause::recompute],
          .tensor_s = share * parts[PlanCause::tensor],
          .context_s = share * parts[PlanCause::context],
          .expert_s = share * parts[PlanCause::expert]};
}

/// The whole model on the GPUs that share a layer, without a pipeline; `share`: that part of it.
LayerSeconds without_pipeline(const PlannerJob& job, TrainingPlan plan, double share) {
  plan.pipeline = plan.virtual_pipeline = 1;
  plan.ends_take_slots = false;
  const parallel::PlannerStages stages = parallel::planner_stages(job.architecture, plan);
  parallel::PlannerSchedules schedules;
  const auto work = parallel::step_work(job, plan, parallel::micro_batch_times(job, plan), stages, schedules);
  return layer_seconds(work.parts, share);
}

/// What data parallelism costs while it stays inside one node; 0 where a node holds no whole number of copies, or the
/// job has no more.
double near_copies_s(const PlannerJob& job, const TrainingPlan& plan) {
  const std::int64_t node = job.cluster.gpus_per_node;
  if (plan.pipeline > 1 || plan.context > 1 || plan.expert > 1 || node % plan.tensor != 0) return 0;
  const std::int64_t copies = node / plan.tensor;
  if (copies < 2 || plan.data <= copies) return 0;
  PlannerJob near = job;
  near.cluster.gpus = node;
  TrainingPlan there = plan;
  there.data = copies;
  const parallel::PlannerStages stages = parallel::planner_stages(job.architecture, there);
  parallel::PlannerSchedules schedules;
  const auto work = parallel::step_work(near, there, parallel::micro_batch_times(near, there), stages, schedules);
  return parallel::data_parallel_s(near, there, *work.slowest, work.stage);
}

double kernel_share_of(const PlannerJob& job) {
  const parallel::PlannerCluster& c = job.cluster;
  const bool fast = job.format == Format::fp8 || job.format == Format::fp4;
  const double rate = fast ? c.fast_peak_flops_per_s * c.curve.fast_share : c.peak_flops_per_s * c.curve.product_share;
  return std::min(1.0, rate * job.stack.product_factor / std::max(c.peak_flops_per_s, c.fast_peak_flops_per_s));
}

double normal_below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

}  // namespace

namespace {

/// As many copies as the GPUs hold, and a batch of whole micro-batches for them.
RunnablePlan filled(const PlannerJob& job, TrainingPlan plan) {
  RunnablePlan out{.job = job};
  const std::int64_t copy = plan.tensor * plan.pipeline * plan.context;
  plan.data = std::max<std::int64_t>(1, job.cluster.gpus / copy);
  plan.batch = std::clamp<std::int64_t>(plan.batch, 1, std::max<std::int64_t>(1, job.global_batch / plan.data));
  // Chunks are passed on in turns of as many micro-batches as there are stages.
  const std::int64_t turn = plan.virtual_pipeline > 1 ? plan.pipeline : 1, each = plan.data * plan.batch * turn;
  const std::int64_t turns = std::max<std::int64_t>(1, (job.global_batch + each / 2) / each);
  out.job.cluster.gpus = copy * plan.data;
  out.job.global_batch = turns * each;
  plan.sequence_parallel = plan.sequence_parallel && plan.tensor > 1;
  plan.ends_take_slots =
      plan.virtual_pipeline > 1 && job.architecture.layers % (plan.pipeline * plan.virtual_pipeline) != 0;
  out.plan = parallel::planned(out.job, plan);
  return out;
}

/// The largest number up to `most` that divides `whole`.
std::int64_t divisor_up_to(std::int64_t most, std::int64_t whole) {
  std::int64_t n = std::max<std::int64_t>(1, std::min(most, whole));
  while (whole % n != 0) --n;
  return n;
}

}  // namespace

Result<RunnablePlan> runnable_plan(const PlannerJob& job, const TrainingPlan& plan) {
  using Outcome = Result<RunnablePlan>;
  std::string problem = parallel::planner_problem(job, plan);
  if (problem.empty()) return Outcome::ok({job, plan, {}});
  const Architecture& a = job.architecture;
  const std::int64_t gpus = job.cluster.gpus;
  TrainingPlan p = plan;
  p.tensor = divisor_up_to(std::min(plan.tensor, gpus), a.heads);
  p.pipeline = std::clamp<std::int64_t>(plan.pipeline, 1, std::min(a.layers, gpus / p.tensor));
  p.virtual_pipeline = p.pipeline > 1 ? std::clamp<std::int64_t>(plan.virtual_pipeline, 1, a.layers / p.pipeline) : 1;
  p.context = divisor_up_to(std::min(plan.context, gpus / (p.tensor * p.pipeline)), job.sequence);
  p.expert = a.moe.routed > 0 ? divisor_up_to(plan.expert, a.moe.routed) : 1;
  const auto simpler = std::to_array<std::int64_t TrainingPlan::*>(
      {&TrainingPlan::context, &TrainingPlan::expert, &TrainingPlan::virtual_pipeline, &TrainingPlan::pipeline,
       &TrainingPlan::tensor, &TrainingPlan::batch});
  for (std::size_t i = 0;; ++i) {
    RunnablePlan out = filled(job, p);
    if (parallel::planner_problem(out.job, out.plan).empty()) {
      out.problem = std::move(problem);
      return Outcome::ok(std::move(out));
    }
    if (i == simpler.size()) return Outcome::fail(std::move(problem));
    p.*simpler[i] = 1;
  }
}

Result<TaxParts> tax_parts(const PlannerJob& job, const TrainingPlan& plan) {
  using Outcome = Result<TaxParts>;
  auto price = parallel::price_plan(job, plan);
  if (!price) return Outcome::fail(std::move(price.error));
  TaxParts out;
  const StepParts& parts = price->parts;
  const auto put = [&](TaxCause cause, double seconds) { out.found_s[place_of(cause)] = seconds; };
  out.ideal_s = parallel::planner_mfu(job, 1);
  out.kernel_share = kernel_share_of(job);
  const double stages = 1 / as_double(plan.pipeline), cut = stages / as_double(plan.context);

  TrainingPlan alone = plan;
  alone.tensor = alone.context = 1;
  alone.sequence_parallel = false;
  TrainingPlan cut_layers = plan;
  cut_layers.context = 1;
  const LayerSeconds on_one = without_pipeline(job, alone, cut / as_double(plan.tensor));
  const LayerSeconds on_few = without_pipeline(job, cut_layers, cut);
  const LayerSeconds on_layer = without_pipeline(job, plan, stages);
  const LayerSeconds on_slowest = layer_seconds(parts, 1);

  put(TaxCause::kernel, out.ideal_s / out.kernel_share - out.ideal_s);
  put(TaxCause::layers, on_one.work_s - out.ideal_s / out.kernel_share);
  put(TaxCause::recompute, on_one.again_s);
  put(TaxCause::tensor, on_few.cut_s() - on_one.work_s - on_one.again_s);
  const double near_s = near_copies_s(job, plan);
  put(TaxCause::near_copies, near_s);
  put(TaxCause::context, on_layer.cut_s() + on_layer.context_s - on_few.cut_s());
  put(TaxCause::expert, on_layer.expert_s);
  put(TaxCause::pipeline,
      on_slowest.all_s() - on_layer.all_s() + parts[PlanCause::bubble] + parts[PlanCause::pipeline]);
  put(TaxCause::copies, parts[PlanCause::data] + parts[PlanCause::optimizer] + job.stack.step_s - near_s);
  put(TaxCause::lockstep, parts[PlanCause::other] - job.stack.step_s);
  out.work_s = on_slowest.work_s + on_slowest.again_s;
  out.near_gpus = near_s > 0 ? job.cluster.gpus_per_node : plan.tensor;
  out.price = std::move(*price);
  return Outcome::ok(std::move(out));
}

double expected_slowest_with(double spread, std::int64_t ranks, std::int64_t slow, double slower) {
  slow = std::clamp<std::int64_t>(slow, 0, ranks);
  if (slow == 0 || !(slower > 0)) return expected_slowest({SlownessKind::normal, spread}, ranks);
  if (!(spread > 0)) return slower;
  // In standard deviations. From so far on no healthy rank is ever the last.
  const double ahead = slower / spread;
  if (ahead >= 16) return slower + expected_slowest({SlownessKind::normal, spread}, slow);
  constexpr int intervals = 480;
  const double least = -8, width = (ahead + 16) / intervals;
  const double healthy = as_double(ranks - slow), late = as_double(slow);
  // The mean of the largest is its least value and the integral of the chance to lie beyond.
  double sum = 0;
  for (int i = 0; i <= intervals; ++i) {
    const double x = least + width * i;
    const double below = std::pow(normal_below(x), healthy) * std::pow(normal_below(x - ahead), late);
    sum += (1 - below) * (i == 0 || i == intervals ? 1 : i % 2 == 1 ? 4 : 2);
  }
  return spread * (least + sum * width / 3);
}

TaxStairs tax_stairs(const PlannerJob& job, const TaxParts& parts, const TaxSetup& setup) {
  TaxStairs out;
  out.ideal_s = parts.ideal_s;
  out.found_s = parts.found_s;
  const auto found = [&](TaxCause cause) -> double& { return out.found_s[place_of(cause)]; };
  double step_s = parts.ideal_s;
  for (const double s : parts.found_s) step_s += s;
  if (setup.published_mfu > 0) found(TaxCause::unexplained) = parts.ideal_s / setup.published_mfu - step_s;
  if (setup.slower > 0) {
    const double spread = job.stack.spread;
    const std::int64_t gpus = job.cluster.gpus, node = std::min(gpus, job.cluster.gpus_per_node);
    const double late = expected_slowest_with(spread, gpus, node, setup.slower) -
                        expected_slowest({SlownessKind::normal, spread}, gpus);
    found(TaxCause::slow_node) = parts.work_s * std::max(0.0, late);
  }
  double whole_s = parts.ideal_s, left_s = parts.ideal_s;
  // As if all GPUs did the work of those that are used: what comes after the idle ones counts for more GPUs.
  const double more = 1 / setup.used;
  for (std::size_t i = 0; i < tax_cause_count; ++i) {
    const auto cause = static_cast<TaxCause>(i);
    if (cause == TaxCause::left_over)
      out.found_s[i] = whole_s * (more - 1);
    else if (cause == TaxCause::failures)
      out.found_s[i] = whole_s * (1 / setup.goodput - 1);
    else if (cause > TaxCause::left_over)
      out.found_s[i] *= more;
    whole_s += out.found_s[i];
    out.before[i] = parts.ideal_s / left_s;
    out.lost_s[i] = out.found_s[i] * (1 - setup.lifted[i]);
    // Idle GPUs and failures take their share of a shorter step, too.
    if (cause == TaxCause::left_over) out.lost_s[i] = left_s * (more - 1);
    if (cause == TaxCause::failures) out.lost_s[i] = left_s * (1 / setup.goodput - 1) * (1 - setup.lifted[i]);
    // A published run that is faster than the model takes no more than there is left.
    out.lost_s[i] = std::max(out.lost_s[i], parts.ideal_s - left_s);
    left_s += out.lost_s[i];
    out.mfu[i] = parts.ideal_s / left_s;
    out.untouched[i] = parts.ideal_s / whole_s;
  }
  return out;
}

Result<GrownJob> grown_to(const PlannerJob& job, const TrainingPlan& plan, std::int64_t gpus) {
  using Outcome = Result<GrownJob>;
  const std::int64_t copy = plan.tensor * plan.pipeline * plan.context;
  if (gpus % copy != 0 || gpus < copy)
    return Outcome::fail(std::to_string(gpus) + " GPUs hold no whole number of copies of " + std::to_string(copy) +
                         "; choose a multiple of that.");
  GrownJob out{job, plan};
  out.plan.data = gpus / copy;
  out.job.cluster.gpus = gpus;
  out.job.global_batch = out.plan.data * plan.batch * plan.micro_batches;
  return Outcome::ok(std::move(out));
}

}  // namespace models::fleet
