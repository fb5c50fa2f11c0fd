#include <algorithm>
#include <cmath>

#include "chapters/precision/loss_scaling/lab.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::precision::loss_scaling {
namespace {

using widgets::format_text;

double wide(std::int64_t n) { return static_cast<double>(n); }

void tell(const Inputs& in, Outputs& out) {
  if (out.health == Health::unscaled) {
    out.verdict = format_text(out.zero_scaled, "%") + " of the gradients round to zero, " +
                  format_text(out.skip_rate, "%") + " of the steps are skipped";
    out.story = in.policy == models::ScalerPolicy::none
                    ? "FP16 keeps nothing below 2^-25 = 3.0e-8. BF16 loses " + format_text(out.zero_bf16, "%") +
                          " of the same gradients, with no scale at all."
                    : "A fixed scale fits one moment of a run. When gradients grow, every step overflows; when they "
                      "shrink, they sink below FP16 again.";
    return;
  }
  if (out.health == Health::searching) {
    out.verdict = "The scale is being found: " + format_text(wide(out.skips), "") + " of the first " +
                  format_text(wide(in.steps), "") + " steps are skipped";
    out.story = "It halves until the largest gradient fits, and has not yet had " +
                format_text(wide(in.growth_interval), "") + " clean steps to grow again.";
    return;
  }
  const std::string rate =
      out.late_skip_rate > 0 ? "1 step in " + format_text(std::round(100 / out.late_skip_rate), "") : "no step";
  out.verdict = "After the first " + format_text(wide(in.growth_interval), "") + " steps the scaler skips " + rate +
                "; normal is 1 in " + format_text(std::round(100 / out.balance_rate), "");
  if (out.health == Health::healthy)
    out.story = "Each doubling is tried and, if too much, taken back: " + format_text(out.zero_scaled, "%") +
                " of the gradients become zero instead of " + format_text(out.zero_unscaled, "%") + ".";
  else if (out.bad_skips > out.overflow_skips)
    out.story = format_text(wide(out.bad_skips), "") +
                " steps hold inf or NaN whatever the scale is. The scaler halves all the same: at this rate " +
                format_text(out.scale_drift, "") + " factors of two in 1,000 steps.";
  else
    out.story = "The scale is knocked down " + format_text(out.times_balance, "") +
                " times as often as it can grow back: gradients are growing, or spikes are frequent. Find out which.";
}

std::array<double, 4> percent_of(const models::MagnitudeShares& s) {
  return {100 * s.zero, 100 * s.subnormal, 100 * s.normal, 100 * s.overflow};
}

/// The density of log2 |g|, which is normal, over multiples of the median; and what FP16 tells apart.
void fill_bell(const Inputs& in, Outputs& out) {
  constexpr double reach = 4.2;  // standard deviations either way: outside is less than a pixel
  for (std::size_t i = 0; i < bell_points; ++i) {
    const double z = reach * (2 * static_cast<double>(i) / (bell_points - 1) - 1);
    out.bell_multiple[i] = std::exp2(z * in.spread_binades);
    out.bell_density[i] = std::exp(-z * z / 2);
  }
  const auto fp16 = models::fp16_magnitudes();
  out.zero_below = std::exp2(fp16.zero_log2);
  out.smallest_normal = std::exp2(fp16.normal_log2);
  out.infinite_from = std::exp2(fp16.overflow_log2);
  out.infinite_label = format_text(out.infinite_from, "", 5) + ": inf";
}

void fill_picture(const Inputs& in, const models::ScalerRun& run, Outputs& out) {
  const std::size_t n = run.fate.size();
  out.steps = static_cast<double>(n);
  for (std::size_t k = 0; k < run.samples.size(); ++k) {
    const auto& s = run.samples[k];
    const auto first = static_cast<std::size_t>(s.step),
               end = k + 1 < run.samples.size() ? static_cast<std::size_t>(run.samples[k + 1].step) : n;
    double largest = -1e9;
    for (std::size_t i = first; i < end; ++i)
      largest = std::max(largest, static_cast<double>(run.largest_log2[i]) + static_cast<double>(run.scale_log2[i]));
    out.step.push_back(static_cast<double>(s.step));
    out.upper.push_back(std::exp2(s.centre_log2 + s.scale_log2 + 2 * in.spread_binades));
    out.lower.push_back(std::exp2(s.centre_log2 + s.scale_log2 - 2 * in.spread_binades));
    out.largest.push_back(std::exp2(largest));
    out.pictures.push_back({std::exp2(s.centre_log2),
                            std::exp2(s.centre_log2 + s.scale_log2),
                            {percent_of(s.scaled), percent_of(s.unscaled), percent_of(s.bf16)}});
  }
  // Room above the largest and the limit of FP16, and below the smallest; what lies 40 binades under FP16 is cut.
  out.range_hi = 256 * std::max(*std::max_element(out.largest.begin(), out.largest.end()), out.infinite_from);
  out.range_lo = std::clamp(*std::min_element(out.lower.begin(), out.lower.end()), std::ldexp(out.zero_below, -40),
                            out.zero_below) /
                 16;
  for (std::size_t i = 0; i < n; ++i) {
    if (i == 0 || run.scale_log2[i] != run.scale_log2[i - 1])
      out.scale_step.push_back(static_cast<double>(i)),
          out.scale.push_back(std::exp2(static_cast<double>(run.scale_log2[i])));
    if (run.fate[i] == models::StepFate::applied) continue;
    const bool bad = run.fate[i] == models::StepFate::bad;
    (bad ? out.bad_step : out.skip_step).push_back(static_cast<double>(i));
    (bad ? out.bad_magnitude : out.skip_magnitude)
        .push_back(std::exp2(static_cast<double>(run.largest_log2[i]) + static_cast<double>(run.scale_log2[i])));
  }
  out.scale_step.push_back(out.steps);
  out.scale.push_back(out.scale.back());
}

}  // namespace

Outputs compute(const Inputs& in) {
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
  if (!result) {
    out.reason = result.error;
    return out;
  }
  const models::ScalerRun& run = *result;
  out.skips = run.skips();
  out.overflow_skips = run.overflow_skips;
  out.bad_skips = run.bad_skips;
  out.early_skips = run.early_skips;
  out.longest_skip_run = run.longest_skip_run;
  out.growths = run.growths;
  out.skip_rate = 100 * wide(out.skips) / wide(in.steps);
  out.late_skip_rate = 100 * run.late_skip_rate;
  out.balance_rate = 100 * run.balance_rate;
  out.times_balance = run.balance_rate > 0 ? run.late_skip_rate / run.balance_rate : 0;
  out.scale_drift = dynamic ? 1000 * models::scale_drift_log2(m, run.late_skip_rate) : 0;
  out.final_scale = std::exp2(run.final_scale_log2);
  out.lowest_scale = std::exp2(run.lowest_scale_log2);
  out.highest_scale = std::exp2(run.highest_scale_log2);
  out.zero_scaled = 100 * run.mean_zero_scaled;
  out.zero_unscaled = 100 * run.mean_zero_unscaled;
  out.zero_bf16 = 100 * run.mean_zero_bf16;
  out.worst_zero_scaled = 100 * run.worst_zero_scaled;
  const auto fp16 = models::fp16_magnitudes();
  out.norm_lost = 100 * models::squared_norm_below(fp16.zero_log2, m.centre_log2, in.spread_binades);
  out.headroom_binades =
      fp16.overflow_log2 - static_cast<double>(run.largest_log2.back()) - static_cast<double>(run.scale_log2.back());
  out.health = static_cast<Health>(models::health_of(run, m));
  fill_bell(in, out);
  fill_picture(in, run, out);
  tell(in, out);
  widgets::Fingerprint mark;
  for (const double x : out.upper) mark.add(x);
  for (const double x : out.scale) mark.add(x);
  for (const double x : out.largest) mark.add(x);
  mark.add(out.steps), mark.add(wide(out.skips));
  out.version = mark.value | 1;
  return out;
}

}  // namespace chapters::precision::loss_scaling
