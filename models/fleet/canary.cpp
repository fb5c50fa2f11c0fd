#include "models/fleet/canary.h"

#include <algorithm>
#include <cmath>

#include "models/base/integer_math.h"
#include "models/training/slowest_rank.h"

namespace models::fleet {
namespace {

constexpr std::int64_t trials = 300;

void spoil(Release release, parallel::PlannerJob& job) {
  if (release == Release::slower_kernels) job.stack.product_factor /= 1 + slower_kernel_share;
  if (release == Release::gradients_wait) job.stack.data_hidden = 0;
  if (release == Release::half_network) job.cluster.link_between_bytes_per_s /= 2;
}

/// Seconds of a step of past releases and of this one; 0 where the plan cannot run.
struct StepPair {
  double past_s = 0, now_s = 0;
};
StepPair steps_of(const GrownJob& grown, Release release) {
  using parallel::PlanCause;
  const auto past = parallel::price_plan(grown.job, grown.plan);
  if (!past) return {};
  if (release == Release::as_before) return {past->step_s, past->step_s};
  if (release == Release::rare_pauses) {
    const parallel::StepParts& p = past->parts;
    const double work_s =
        p[PlanCause::products] + p[PlanCause::attention] + p[PlanCause::elements] + p[PlanCause::recompute];
    const Slowness pauses{SlownessKind::rare, rare_pause_size, rare_pause_share};
    return {past->step_s, past->step_s + work_s * expected_slowest(pauses, grown.job.cluster.gpus)};
  }
  parallel::PlannerJob with = grown.job;
  spoil(release, with);
  const auto now = parallel::price_plan(with, grown.plan);
  return {past->step_s, now ? now->step_s : 0};
}

/// A run of looks as a fleet of one rank that becomes slower after a quarter of its steps.
Fleet looks_of(const CanarySetup& setup, double shortfall) {
  Fleet f;
  f.ranks = 1;
  f.steps = setup.looks + (setup.looks - 1) / 3;
  f.noise = {setup.run_spread, 0, 0};
  f.fault = Fault::slow_rank;
  f.slower = shortfall < 1 ? 1 / (1 - shortfall) - 1 : 1e3;
  return f;
}

}  // namespace

std::vector<CanaryRung> canary_rungs(const parallel::PlannerJob& job, const memory::TrainingPlan& plan,
                                     const CanarySetup& setup) {
  std::vector<CanaryRung> rungs;
  const double wolf = canary_false_alarm(setup);
  const std::int64_t copy = plan.tensor * plan.pipeline * plan.context;
  for (std::int64_t copies = 1; copies <= plan.data;
       copies = copies < plan.data ? std::min(2 * copies, plan.data) : plan.data + 1) {
    // Experts may need more copies than the smallest rungs have.
    const auto grown = grown_to(job, plan, copies * copy);
    if (!grown) continue;
    const StepPair steps = steps_of(*grown, setup.release);
    if (!(steps.past_s > 0) || !(steps.now_s > 0)) continue;
    CanaryRung r{.gpus = copies * copy};
    r.past_mfu = parallel::planner_mfu(grown->job, steps.past_s);
    r.mfu = parallel::planner_mfu(grown->job, steps.now_s);
    r.shortfall = std::max(0.0, 1 - r.mfu / r.past_mfu);
    const DetectionPower power = detection_power(setup.rule, looks_of(setup, r.shortfall), trials);
    // Trials are few: nothing is found less often than the rule cries wolf.
    r.found = r.shortfall > 0 ? std::max(power.found, wolf) : wolf;
    r.looks = power.mean_slow_steps;
    rungs.push_back(r);
  }
  return rungs;
}

double canary_false_alarm(const CanarySetup& setup) {
  const double each = false_alarm_rate(setup.rule, {setup.run_spread, 0, 0});
  return -std::expm1(as_double(setup.looks) * std::log1p(-std::min(each, 1 - 1e-12)));
}

}  // namespace models::fleet
