#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "chapters/precision/loss_scaling/lab.h"

namespace chapters::precision::loss_scaling {

chapters::Computed<Outputs, Run> compute(const Inputs& in) {
  Outputs out;
  const bool dynamic = in.policy == models::ScalerPolicy::dynamic;
  models::ScalerInputs m{
      .policy = in.policy,
      .init_scale = in.init_scale,
      .growth = in.growth,
      .backoff = in.backoff,
  };
  m.growth_interval = dynamic ? in.growth_interval : 2000;
  m.steps = in.steps;
  m.gradients = in.gradients;
  m.centre_log2 = std::log2(in.median);
  m.spread_log2 = in.spread_binades;
  m.drift_log2 = in.drift_binades;
  m.spike_rate = in.spike_rate / 100;
  m.spike_log2 = in.spike_binades;
  m.bad_rate = in.bad_rate / 100;
  m.seed = in.seed;
  auto result = models::run_loss_scaler(m);
  if (!result) return {.facts = {.reason = result.error}};
  const models::ScalerHistory& history = result->history;
  const models::ScalerFigures& run = out.figures = *result;
  out.skips = run.skips();
  out.late_skips = out.skips - run.early_skips;
  out.late_steps = std::max<std::int64_t>(0, in.steps - m.growth_interval);
  // Less than one in 10^12 gradients is no gradient of any step.
  const auto percent = [](double share) { return share < 1e-12 ? 0 : 100 * share; };
  const bool longer = dynamic && in.steps > in.growth_interval;
  out.skip_rate = 100 * static_cast<double>(out.skips) / static_cast<double>(in.steps);
  out.late_skip_rate = longer || !dynamic ? 100 * run.late_skip_rate : std::nan("");
  out.balance_rate = dynamic ? 100 * run.balance_rate : std::nan("");
  out.times_balance = longer && run.balance_rate > 0 ? run.late_skip_rate / run.balance_rate : std::nan("");
  out.fifty_over_normal = 2 / out.balance_rate;  // one step in fifty is 2 %
  out.normal_every = std::round(100 / out.balance_rate);
  out.late_every = out.late_skip_rate > 0 ? std::round(100 / out.late_skip_rate) : std::nan("");
  out.scale_drift = longer ? 1000 * models::scale_drift_log2(m, run.late_skip_rate) : std::nan("");
  out.final_scale = std::exp2(run.final_scale_log2);
  out.lowest_scale = std::exp2(run.lowest_scale_log2);
  out.highest_scale = std::exp2(run.highest_scale_log2);
  out.zero_scaled = percent(run.mean_zero_scaled);
  out.zero_unscaled = percent(run.mean_zero_unscaled);
  out.zero_bf16 = percent(run.mean_zero_bf16);
  out.worst_zero_scaled = percent(run.worst_zero_scaled);
  const auto fp16 = models::fp16_magnitudes();
  out.norm_lost = 100 * models::squared_norm_below(fp16.zero_log2, m.centre_log2, in.spread_binades);
  out.headroom_binades = fp16.overflow_log2 - static_cast<double>(history.largest_log2.back()) -
                         static_cast<double>(history.scale_log2.back());
  out.health = models::health_of(run, m);
  return {std::move(out), std::make_shared<const Run>(Run{std::move(result->history)})};
}

}  // namespace chapters::precision::loss_scaling
