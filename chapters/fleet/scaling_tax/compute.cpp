#include <algorithm>
#include <cmath>

#include "chapters/fleet/scaling_tax/lab.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/published_panel.h"
#include "models/base/integer_math.h"
#include "models/fleet/checkpoint_interval.h"

namespace chapters::fleet::scaling_tax {

using namespace models::parallel;
using models::as_double;
using models::fleet::TaxParts, models::fleet::TaxSetup, models::fleet::TaxStairs;

namespace {

/// A release counts as found where so many of its canaries raise the alarm.
constexpr double surely = 0.95;

/// The published run that has this job and this plan, whatever its software; null where there is none.
const Published* published_run(const Inputs& in) {
  for (const Published& row : catalog().published_of("fleet/scaling-tax")) {
    if (row.output != "model_mfu") continue;
    Inputs theirs;
    Fields fields;
    describe(fields, theirs);
    set_published_inputs(fields, row);
    // Software and network may differ.
    PlannedStep here = in;
    here.software = theirs.software;
    here.network = theirs.network;
    if (here == static_cast<const PlannedStep&>(theirs)) return &row;
  }
  return nullptr;
}

TaxSetup setup_of(const Inputs& in, double goodput, double published_mfu) {
  TaxSetup s{.slower = in.slow_node / 100, .published_mfu = published_mfu, .goodput = goodput};
  for (std::size_t i = 0; i < models::fleet::tax_cause_count; ++i) {
    const Lift lift = lift_of(static_cast<TaxCause>(i));
    if (lift != Lift::none) s.lifted[i] = in.lifted[static_cast<std::size_t>(lift)] / 100;
  }
  return s;
}

/// A plan in the words of the planner.
std::string words_of(const models::memory::TrainingPlan& plan) {
  PlanPoint p;
  const auto narrow = [](std::int64_t n) { return static_cast<std::int32_t>(n); };
  p.tensor = narrow(plan.tensor);
  p.pipeline = narrow(plan.pipeline);
  p.context = narrow(plan.context);
  p.expert = narrow(plan.expert);
  p.data = narrow(plan.data);
  return plan_name(p);
}

/// The share of the clock that counts, and the mean time between failures, or a sentence.
std::string fill_goodput(const Inputs& in, Outputs& out) {
  out.mtbf_s = in.gpu_hours_per_failure * 3600 / as_double(in.gpus);
  out.goodput_used = in.goodput;
  if (!(in.goodput > 0)) {
    const models::fleet::RunReliability run{in.save_s, in.restart_s, out.mtbf_s};
    out.goodput_used = 100 * models::fleet::checkpoint_efficiency(run, models::fleet::exact_interval_s(run));
  }
  if (!(out.goodput_used >= 0.1))
    return "Next to nothing of the clock would count: failures come faster than this fleet can restart; take "
           "fewer GPUs, a shorter restart, or a larger goodput.";
  out.thirty_days_take = 30 * 86'400 / (out.goodput_used / 100);
  return {};
}

void fill_stairs(const Inputs& in, const PlannerJob& job, const TaxStairs& stairs, double used, Outputs& out) {
  const auto percent = [&](TaxCause cause) { return 100 * stairs.of(cause); };
  const double gpus = as_double(in.gpus);
  out.kernel_mfu = percent(TaxCause::kernel);
  out.gpu_mfu = percent(TaxCause::layers);
  out.node_mfu = percent(TaxCause::near_copies);
  out.model_mfu = percent(TaxCause::lockstep);
  out.fleet_mfu = percent(TaxCause::slow_node);
  out.effective_mfu = percent(TaxCause::failures);
  out.tax_points = out.node_mfu - out.fleet_mfu;
  out.tax_percent = 100 * (1 - out.fleet_mfu / out.node_mfu);
  out.slow_points = stairs.points(TaxCause::slow_node);
  out.slow_percent = 100 * out.slow_points / (out.fleet_mfu + out.slow_points);
  out.failure_points = stairs.points(TaxCause::failures);
  if (!out.published_name.empty()) out.unexplained_points = stairs.points(TaxCause::unexplained);
  // The stairs count idle GPUs as if the step took longer for all.
  out.step_s = 100 * stairs.ideal_s / out.fleet_mfu * used;
  out.tokens_per_s = as_double(job.global_batch) * as_double(job.sequence) / out.step_s;
  out.lost_gpus = gpus * (1 - out.effective_mfu / 100);
  const double month_dollars = month_hours * in.price_per_hour;
  out.lost_dollars_per_month = out.lost_gpus * month_dollars;
  out.point_gpus = gpus / (out.effective_mfu + 1);
  const double plain = 100 * stairs.untouched[place_of(TaxCause::failures)];
  out.won_mfu = out.effective_mfu - plain;
  out.won_gpus = gpus * (out.effective_mfu / plain - 1);
  out.won_dollars_per_month = out.won_gpus * month_dollars;
}

/// A row for each riser that there is; gives their causes.
std::vector<TaxCause> fill_risers(const Inputs& in, const models::memory::TrainingPlan& plan, const TaxStairs& stairs,
                                  std::int64_t near_gpus, Outputs& out) {
  std::vector<TaxCause> causes;
  const std::int64_t layer = plan.tensor * plan.context;
  const auto gpus_of = [&](TaxCause cause) -> std::int64_t {
    switch (cause) {
      case TaxCause::kernel:
      case TaxCause::layers:
      case TaxCause::recompute:
        return 1;
      case TaxCause::tensor:
        return plan.tensor;
      case TaxCause::near_copies:
        return near_gpus;
      case TaxCause::context:
        return layer;
      case TaxCause::expert:
        return std::min(in.gpus, layer * plan.expert);
      case TaxCause::pipeline:
        return layer * plan.pipeline;
      default:
        return in.gpus;
    }
  };
  const double gpus = as_double(in.gpus);
  for (std::size_t i = 0; i < models::fleet::tax_cause_count; ++i) {
    const auto cause = static_cast<TaxCause>(i);
    const bool always = cause == TaxCause::kernel || cause == TaxCause::layers || cause == TaxCause::copies ||
                        cause == TaxCause::lockstep || cause == TaxCause::failures || cause == TaxCause::slow_node;
    if (!always && stairs.found_s[i] == 0) continue;
    const double points = stairs.points(cause);
    causes.push_back(cause);
    out.risers.push_back({.cause = std::string(cause_words(cause)),
                          .gpus = gpus_of(cause),
                          .points = points,
                          .mfu = 100 * stairs.mfu[i],
                          .work_gpus = points / 100 * gpus,
                          .dollars_per_month = points / 100 * gpus * month_hours * in.price_per_hour});
    if (points <= out.largest_points) continue;
    out.largest = out.risers.back().cause;
    out.largest_points = points;
    out.largest_gpus = out.risers.back().work_gpus;
  }
  return causes;
}

void fill_canary(const Inputs& in, const PlannerJob& job, const models::memory::TrainingPlan& plan, Outputs& out) {
  models::fleet::CanarySetup setup{.release = in.release, .run_spread = in.run_spread / 100, .looks = in.looks};
  const bool share = in.rule == models::fleet::Rule::ratio;
  setup.rule = {.rule = in.rule, .threshold = share ? in.threshold / 100 : in.threshold, .hits = 2, .window = 3};
  out.false_alarm = 100 * models::fleet::canary_false_alarm(setup);
  double gpu_hours = 0;
  const auto rungs = models::fleet::canary_rungs(job, plan, setup);
  for (const models::fleet::CanaryRung& r : rungs) {
    out.rungs.push_back({r.gpus, 100 * r.past_mfu, 100 * r.mfu, 100 * r.shortfall, std::round(1000 * r.found) / 10});
    if (std::isfinite(out.canary_gpus)) continue;
    gpu_hours += as_double(r.gpus) * as_double(in.looks) * in.look_s / 3600;
    if (r.found < surely || !(r.shortfall > 0)) continue;
    out.canary_gpus = as_double(r.gpus);
    out.canary_shortfall = 100 * r.shortfall;
    out.canary_wait_s = r.looks * in.look_s;
    out.canary_gpu_hours = gpu_hours;
  }
  if (rungs.empty()) return;
  out.first_found = out.rungs.front().found;
  // A release that is as before climbs all of them, and each may raise an alarm.
  out.false_alarm =
      100 * -std::expm1(as_double(static_cast<std::int64_t>(rungs.size())) * std::log1p(-out.false_alarm / 100));
  out.full_shortfall = 100 * rungs.back().shortfall;
  out.full_dollars_per_day = rungs.back().shortfall * as_double(in.gpus) * 24 * in.price_per_hour;
}

/// Percentage points that one slow node costs, by how slow it is.
std::vector<SlowPoint> slow_curve(const PlannerJob& job, const TaxParts& parts, TaxSetup setup) {
  constexpr int points = 50;
  std::vector<SlowPoint> curve;
  for (int i = 0; i <= points; ++i) {
    const double slower = max_slower * i / points;
    setup.slower = slower / 100;
    const TaxStairs stairs = models::fleet::tax_stairs(job, parts, setup);
    curve.push_back({slower, stairs.points(TaxCause::slow_node), 100 * stairs.of(TaxCause::slow_node)});
  }
  return curve;
}

models::Result<PlannerJob> job_of(const Inputs& in) {
  // The planner's own lab has this latency by default, too.
  auto job = planner_job(in, {.network_latency_s = 14e-6});
  if (job) job->stack.spread = in.spread / 100;
  return job;
}

}  // namespace

Lift lift_of(TaxCause cause) {
  switch (cause) {
    case TaxCause::kernel:
      return Lift::kernel;
    case TaxCause::layers:
    case TaxCause::recompute:
      return Lift::layers;
    case TaxCause::tensor:
    case TaxCause::context:
    case TaxCause::expert:
      return Lift::tensor;
    case TaxCause::pipeline:
      return Lift::pipeline;
    case TaxCause::near_copies:
    case TaxCause::copies:
      return Lift::copies;
    case TaxCause::lockstep:
      return Lift::lockstep;
    case TaxCause::failures:
      return Lift::failures;
    default:
      return Lift::none;
  }
}

Computed compute(const Inputs& in, Progress& progress) {
  const auto asked = job_of(in);
  if (!asked) return infeasible<Computed>(asked.error);
  const auto runs = models::fleet::runnable_plan(*asked, plan_of(*asked, plan_point(in)));
  if (!runs) return infeasible<Computed>(runs.error);
  const PlannerJob& job = runs->job;
  const models::memory::TrainingPlan& plan = runs->plan;
  const auto parts = models::fleet::tax_parts(job, plan);
  if (!parts) return infeasible<Computed>(parts.error);
  Computed done;
  Outputs& out = done.facts;
  if (std::string reason = fill_goodput(in, out); !reason.empty()) return infeasible<Computed>(std::move(reason));
  if (const Published* run = in.published && runs->problem.empty() ? published_run(in) : nullptr; run != nullptr) {
    out.published_name = run->name;
    out.published_mfu = run->measured;
  }
  const double published_mfu = out.published_name.empty() ? 0 : out.published_mfu / 100;
  TaxSetup setup = setup_of(in, out.goodput_used / 100, published_mfu);
  setup.used = as_double(job.cluster.gpus) / as_double(in.gpus);
  const TaxStairs stairs = models::fleet::tax_stairs(job, *parts, setup);
  out.nodes = models::ceil_div(in.gpus, job.cluster.gpus_per_node);
  out.data_parallel = plan.data;
  out.plan_problem = runs->problem;
  out.used_gpus = job.cluster.gpus;
  out.batch_used = job.global_batch;
  if (!out.plan_problem.empty()) out.plan_used = words_of(plan);
  out.memory_bytes = parts->price.memory_bytes;
  out.fits = parts->price.fits;
  fill_stairs(in, runs->job, stairs, setup.used, out);
  std::vector<TaxCause> causes = fill_risers(in, plan, stairs, parts->near_gpus, out);
  fill_canary(in, job, plan, out);
  if (progress.facts_alone) return done;
  done.run = std::make_shared<const Run>(
      Run{.stairs = stairs, .causes = std::move(causes), .slow = slow_curve(job, *parts, setup)});
  return done;
}

}  // namespace chapters::fleet::scaling_tax
