#include "models/numerics/loss_scaler.h"

#include <algorithm>
#include <cmath>

#include "models/base/counter_random.h"

namespace models {
namespace {

double lower_tail(double z) { return 0.5 * std::erfc(-z * std::sqrt(0.5)); }

std::string problem_of(const ScalerInputs& in) {
  if (!(in.steps >= 1 && in.steps <= 1000000)) return "A run has from 1 to 1,000,000 steps.";
  if (!(in.growth >= 1 && in.growth <= 1e6)) return "The scale's growth is a factor from 1 to 1,000,000.";
  if (!(in.backoff > 0 && in.backoff < 1)) return "The backoff is a factor between 0 and 1, both left out.";
  if (!(in.init_scale >= 0x1p-126 && in.init_scale <= 0x1p127))
    return "The first scale is a positive number that FP32 can hold.";
  if (in.growth_interval < 1) return "The growth interval is at least one step.";
  if (!(in.gradients >= 1 && in.gradients <= 1e15)) return "A step has from 1 to 1e15 gradients.";
  if (!(in.spread_log2 >= 0 && in.spread_log2 <= 100)) return "The spread is from 0 to 100 binades.";
  for (const double rate : {in.spike_rate, in.bad_rate})
    if (!(rate >= 0 && rate <= 1)) return "A rate is a share from 0 to 1.";
  for (const double x : {in.centre_log2, in.drift_log2, in.spike_log2})
    if (!(std::abs(x) <= 1000)) return "Magnitudes are given as exponents of two from -1000 to 1000.";
  return {};
}

/// Where the centre stands at a step; the drift is spread evenly over the run.
double centre_at(const ScalerInputs& in, std::int64_t step) {
  return in.centre_log2 +
         in.drift_log2 * static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(1, in.steps - 1));
}

/// The scale, and what GradScaler.update() does to it after each step. FP32 cannot hold more than 2^127 or, normally,
/// less than 2^-126.
class Scaler {
 public:
  explicit Scaler(const ScalerInputs& in)
      : in_(in), log2_(in.policy == ScalerPolicy::none ? 0 : std::log2(in.init_scale)) {}
  double log2() const { return log2_; }
  std::int64_t growths() const { return growths_; }
  void update(bool skipped) {
    if (in_.policy != ScalerPolicy::dynamic) return;
    if (skipped) {
      log2_ = std::max(-126.0, log2_ + backoff_log2_);
      clean_ = 0;
    } else if (++clean_ >= in_.growth_interval) {
      clean_ = 0;
      if (growth_log2_ > 0 && log2_ + growth_log2_ <= 127) {
        log2_ += growth_log2_;
        ++growths_;
      }
    }
  }

 private:
  const ScalerInputs& in_;
  double log2_;
  double growth_log2_ = std::log2(in_.growth), backoff_log2_ = std::log2(in_.backoff);
  std::int64_t clean_ = 0, growths_ = 0;
};

void summarize_samples(ScalerRun& run) {
  for (const ScalerSample& s : run.history.samples) {
    run.mean_zero_scaled += s.scaled.zero;
    run.mean_zero_unscaled += s.unscaled.zero;
    run.mean_zero_bf16 += s.bf16.zero;
    run.worst_zero_scaled = std::max(run.worst_zero_scaled, s.scaled.zero);
  }
  const double n = static_cast<double>(run.history.samples.size());
  for (double* mean : {&run.mean_zero_scaled, &run.mean_zero_unscaled, &run.mean_zero_bf16}) *mean /= n;
}

}  // namespace

MagnitudeRange fp16_magnitudes() { return {-25, -14, std::log2(65520.0)}; }
MagnitudeRange bf16_magnitudes() { return {-134, -126, 128 + std::log2(1 - 0x1p-9)}; }

MagnitudeShares magnitude_shares(const MagnitudeRange& range, double centre_log2, double spread_log2) {
  // Each share from the nearer tail, so that a share of 1e-30 keeps its digits.
  const auto below = [&](double limit) {
    return spread_log2 > 0 ? lower_tail((limit - centre_log2) / spread_log2) : centre_log2 <= limit ? 1.0 : 0.0;
  };
  const auto above = [&](double limit) {
    return spread_log2 > 0 ? lower_tail((centre_log2 - limit) / spread_log2) : centre_log2 > limit ? 1.0 : 0.0;
  };
  MagnitudeShares s;
  s.zero = below(range.zero_log2);
  s.overflow = above(range.overflow_log2);
  s.subnormal = centre_log2 > range.normal_log2 ? below(range.normal_log2) - s.zero
                                                : above(range.zero_log2) - above(range.normal_log2);
  s.normal = std::max(0.0, 1 - s.zero - s.overflow - s.subnormal);
  return s;
}

double squared_norm_below(double limit_log2, double centre_log2, double spread_log2) {
  if (!(spread_log2 > 0)) return centre_log2 < limit_log2 ? 1 : 0;
  return lower_tail((limit_log2 - centre_log2) / spread_log2 - 2 * spread_log2 * std::log(2.0));
}

Result<ScalerRun> run_loss_scaler(const ScalerInputs& in) {
  using Outcome = Result<ScalerRun>;
  if (std::string problem = problem_of(in); !problem.empty()) return Outcome::fail(std::move(problem));
  ScalerRun run;
  const auto steps = static_cast<std::size_t>(in.steps);
  run.history.largest_log2.resize(steps);
  run.history.scale_log2.resize(steps);
  run.history.fate.resize(steps, StepFate::applied);
  const std::uint64_t largest = random_stream(in.seed, 1), spike = random_stream(in.seed, 2),
                      bad = random_stream(in.seed, 3);
  const MagnitudeRange fp16 = fp16_magnitudes(), bf16 = bf16_magnitudes();
  const std::size_t samples = std::min(steps, scaler_samples);
  run.history.samples.reserve(samples);
  Scaler scaler(in);
  run.highest_scale_log2 = run.lowest_scale_log2 = scaler.log2();
  std::int64_t in_a_row = 0, late_skips = 0;
  std::size_t next_sample = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    const double centre = centre_at(in, static_cast<std::int64_t>(i));
    // The largest of n independent magnitudes: all lie below it with probability U, each with U^(1/n).
    const double tail = -std::expm1(std::log(open_draw(largest, i)) / in.gradients);
    const double lift = unit_draw(spike, i) < in.spike_rate ? in.spike_log2 : 0;
    const double top = centre + in.spread_log2 * upper_normal_quantile(std::min(tail, 1 - 1e-16)) + lift;
    const double scale = scaler.log2();
    run.history.largest_log2[i] = static_cast<float>(top);
    run.history.scale_log2[i] = static_cast<float>(scale);
    run.highest_scale_log2 = std::max(run.highest_scale_log2, scale);
    run.lowest_scale_log2 = std::min(run.lowest_scale_log2, scale);
    const bool is_bad = unit_draw(bad, i) < in.bad_rate, overflows = top + scale >= fp16.overflow_log2;
    if (is_bad || overflows) {
      run.history.fate[i] = is_bad ? StepFate::bad : StepFate::overflowed;
      ++(is_bad ? run.bad_skips : run.overflow_skips);
      run.longest_skip_run = std::max(run.longest_skip_run, ++in_a_row);
      const bool early = static_cast<std::int64_t>(i) < in.growth_interval;
      ++(early ? run.early_skips : late_skips);
    } else {
      in_a_row = 0;
    }
    if (i == next_sample) {
      run.history.samples.push_back(
          {static_cast<std::int64_t>(i), centre, scale, magnitude_shares(fp16, centre + scale, in.spread_log2),
           magnitude_shares(fp16, centre, in.spread_log2), magnitude_shares(bf16, centre, in.spread_log2)});
      next_sample = run.history.samples.size() * steps / samples;
    }
    scaler.update(is_bad || overflows);
  }
  run.growths = scaler.growths();
  run.final_scale_log2 = scaler.log2();
  const std::int64_t late_steps = in.steps - in.growth_interval;
  run.late_skip_rate = late_steps > 0 ? static_cast<double>(late_skips) / static_cast<double>(late_steps) : 0;
  if (in.policy == ScalerPolicy::dynamic)
    run.balance_rate =
        std::log(in.growth) / (std::log(in.growth) - std::log(in.backoff) * static_cast<double>(in.growth_interval));
  summarize_samples(run);
  return Outcome::ok(std::move(run));
}

ScalerHealth health_of(const ScalerFigures& run, const ScalerInputs& in) {
  if (in.policy != ScalerPolicy::dynamic) return ScalerHealth::unscaled;
  if (run.worst_zero_scaled > 0.5) return ScalerHealth::collapsed;
  if (in.steps <= in.growth_interval) return ScalerHealth::searching;
  return run.late_skip_rate <= 2 * run.balance_rate ? ScalerHealth::healthy : ScalerHealth::investigate;
}

double scale_drift_log2(const ScalerInputs& in, double p) {
  if (!(p >= 0 && p <= 1)) return 0;
  // Growths a step: the chance q = (1-p)^n that a run of n is clean, over the mean length (1 - q) / p of what was
  // tried.
  const double n = static_cast<double>(in.growth_interval), q = std::exp(n * std::log1p(-p));
  const double growths = p > 0 ? q * p / (1 - q) : 1 / n;
  return growths * std::log2(in.growth) + p * std::log2(in.backoff);
}

}  // namespace models
