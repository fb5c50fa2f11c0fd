#include <algorithm>
#include <cmath>

#include "chapters/precision/loss_scaling/lab.h"
#include "widgets/number/number.h"

namespace chapters::precision::loss_scaling {
namespace {

using models::ScalerHealth;
using widgets::format_text;

std::string count_text(std::int64_t n) { return format_text(static_cast<double>(n), ""); }

void write_verdict(const Inputs& in, const Outputs& out, Picture& p) {
  const models::ScalerRun& run = out.run;
  if (out.health == ScalerHealth::unscaled) {
    p.verdict = format_text(out.zero_scaled, "%") + " of the gradients round to zero, " +
                format_text(out.skip_rate, "%") + " of the steps are skipped";
    p.story = in.policy == models::ScalerPolicy::none
                  ? "FP16 keeps nothing below 2^-25 = 3.0e-8. BF16 loses " + format_text(out.zero_bf16, "%") +
                        " of the same gradients, with no scale at all."
                  : "A fixed scale fits one moment of a run. When gradients grow, every step overflows; when they "
                    "shrink, they sink below FP16 again.";
    return;
  }
  if (out.health == ScalerHealth::searching) {
    p.verdict = "The scale is being found: " + count_text(out.skips) + " of the first " + count_text(in.steps) +
                " steps are skipped";
    p.story = "It halves until the largest gradient fits, and has not yet had " + count_text(in.growth_interval) +
              " clean steps to grow again.";
    return;
  }
  const std::string rate =
      out.late_skip_rate > 0 ? "1 step in " + format_text(std::round(100 / out.late_skip_rate), "") : "no step";
  p.verdict = "After the first " + count_text(in.growth_interval) + " steps the scaler skips " + rate +
              "; normal is 1 in " + format_text(std::round(100 / out.balance_rate), "");
  if (out.health == ScalerHealth::healthy)
    p.story = "Each doubling is tried and, if too much, taken back: " + format_text(out.zero_scaled, "%") +
              " of the gradients become zero instead of " + format_text(out.zero_unscaled, "%") + ".";
  else if (run.bad_skips > run.overflow_skips)
    p.story = count_text(run.bad_skips) +
              " steps hold inf or NaN whatever the scale is. The scaler halves all the same: at this rate " +
              format_text(out.scale_drift, "") + " factors of two in 1,000 steps.";
  else
    p.story = "The scale is knocked down " + format_text(out.times_balance, "") +
              " times as often as it can grow back: gradients are growing, or spikes are frequent. Find out which.";
}

/// The density of log2 |g|, which is normal, over multiples of the median; and what FP16 tells apart.
void arrange_bell(const Inputs& in, Picture& p) {
  constexpr double reach = 4.2;  // These standard deviations are drawn either way: outside is less than a pixel.
  for (std::size_t i = 0; i < bell_points; ++i) {
    const double z = reach * (2 * static_cast<double>(i) / (bell_points - 1) - 1);
    p.bell_multiple[i] = std::exp2(z * in.spread_binades);
    p.bell_density[i] = std::exp(-z * z / 2);
  }
  const auto fp16 = models::fp16_magnitudes();
  p.zero_below = std::exp2(fp16.zero_log2);
  p.smallest_normal = std::exp2(fp16.normal_log2);
  p.infinite_from = std::exp2(fp16.overflow_log2);
  p.infinite_label = format_text(p.infinite_from, "", 5) + ": inf";
}

std::array<double, 4> percent_of(const models::MagnitudeShares& s) {
  return {100 * s.zero, 100 * s.subnormal, 100 * s.normal, 100 * s.overflow};
}

/// What the lower pictures show of a sample; needs the bell.
StepPicture picture_of(const models::ScalerSample& s, const Picture& p) {
  StepPicture step;
  step.median = std::exp2(s.centre_log2);
  step.scaled_median = std::exp2(s.centre_log2 + s.scale_log2);
  step.shares = {percent_of(s.scaled), percent_of(s.unscaled), percent_of(s.bf16)};
  const std::array<double, 3> limits{p.zero_below, p.smallest_normal, p.infinite_from};
  for (std::size_t k = 0; k < limits.size(); ++k)
    step.ends[k + 1] = static_cast<std::size_t>(
        std::partition_point(p.bell_multiple.begin(), p.bell_multiple.end(),
                             [&](double multiple) { return step.scaled_median * multiple < limits[k]; }) -
        p.bell_multiple.begin());
  step.ends.back() = bell_points;
  step.lo = std::min(std::min(step.median, step.scaled_median) * p.bell_multiple.front(), p.zero_below / 4);
  step.hi = std::max(std::max(step.median, step.scaled_median) * p.bell_multiple.back(), p.infinite_from * 4);
  return step;
}

/// The largest scaled gradient of steps `first` to `end`, as a power of two.
double largest_log2(const models::ScalerRun& run, std::size_t first, std::size_t end) {
  double largest = -1e9;
  for (std::size_t i = first; i < end; ++i)
    largest = std::max(largest, static_cast<double>(run.largest_log2[i]) + static_cast<double>(run.scale_log2[i]));
  return largest;
}

void arrange_samples(const Inputs& in, const models::ScalerRun& run, Picture& p) {
  for (std::size_t k = 0; k < run.samples.size(); ++k) {
    const auto& s = run.samples[k];
    const auto first = static_cast<std::size_t>(s.step),
               end = k + 1 < run.samples.size() ? static_cast<std::size_t>(run.samples[k + 1].step) : run.fate.size();
    p.step.push_back(static_cast<double>(s.step));
    p.upper.push_back(std::exp2(s.centre_log2 + s.scale_log2 + 2 * in.spread_binades));
    p.lower.push_back(std::exp2(s.centre_log2 + s.scale_log2 - 2 * in.spread_binades));
    p.largest.push_back(std::exp2(largest_log2(run, first, end)));
    p.steps_shown.push_back(picture_of(s, p));
  }
  // There is room above the largest and the limit of FP16, and below the smallest; what lies 40 binades under FP16 is
  // cut.
  p.range_hi = 256 * std::max(*std::max_element(p.largest.begin(), p.largest.end()), p.infinite_from);
  p.range_lo =
      std::clamp(*std::min_element(p.lower.begin(), p.lower.end()), std::ldexp(p.zero_below, -40), p.zero_below) / 16;
}

/// Where the scale changes, and the steps that are skipped.
void arrange_steps(const models::ScalerRun& run, Picture& p) {
  const std::size_t n = run.fate.size();
  p.steps = static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (i == 0 || run.scale_log2[i] != run.scale_log2[i - 1]) {
      p.scale_step.push_back(static_cast<double>(i));
      p.scale.push_back(std::exp2(static_cast<double>(run.scale_log2[i])));
    }
    if (run.fate[i] == models::StepFate::applied) continue;
    const bool bad = run.fate[i] == models::StepFate::bad;
    (bad ? p.bad_step : p.skip_step).push_back(static_cast<double>(i));
    (bad ? p.bad_magnitude : p.skip_magnitude).push_back(std::exp2(largest_log2(run, i, i + 1)));
  }
  p.scale_step.push_back(p.steps);
  p.scale.push_back(p.scale.back());
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  if (!out.reason.empty() || out.run.samples.empty()) return p;
  arrange_bell(in, p);
  arrange_samples(in, out.run, p);
  arrange_steps(out.run, p);
  write_verdict(in, out, p);
  return p;
}

}  // namespace chapters::precision::loss_scaling
