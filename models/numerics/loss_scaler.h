#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "models/base/result.h"

/// Training in FP16 under a loss scaler: gradients of known distribution, step by step, against the range of the
/// format. Magnitudes are log-normal: log2 |g| is normal about a centre that drifts; a rare spike lifts a whole step.
/// Everything a step asks (its largest gradient, the share below a limit) is exact for that distribution; nothing is
/// estimated from a sample of elements.
namespace models {

/// `dynamic`: as torch.amp.GradScaler; `fixed`: the first scale for ever, overflowing steps skipped; `none`: a scale
/// of 1, and nobody looks: a step that overflows is applied, and its inf or NaN with it.
enum class ScalerPolicy : std::uint8_t { dynamic, fixed, none };

struct ScalerInputs {
  ScalerPolicy policy = ScalerPolicy::dynamic;
  double init_scale = 65536, growth = 2, backoff = 0.5;  ///< growth at least 1, backoff in (0, 1)
  std::int64_t growth_interval = 2000;                   ///< clean steps in a row before the scale grows
  std::int64_t steps = 20000;
  double gradients = 1e8;      ///< elements of one step
  double centre_log2 = -22;    ///< log2 of the median magnitude at the first step
  double spread_log2 = 4;      ///< standard deviation of log2 |g|: binades
  double drift_log2 = -8;      ///< by how much the centre moves over the run
  double spike_rate = 0.0002;  ///< share of steps whose gradients are all larger...
  double spike_log2 = 6;       ///< ...by 2 to this
  double bad_rate = 0;         ///< share of steps that hold inf or NaN whatever the scale is
  std::int64_t seed = 1;
};

/// The magnitudes that a format tells apart, as exponents of two. Below `zero_log2` a magnitude rounds to zero (half
/// the smallest subnormal, which ties to the even zero); from `overflow_log2` on it rounds to infinity.
struct MagnitudeRange {
  double zero_log2, normal_log2, overflow_log2;
};
/// FP16: 2^-25, 2^-14, 65,520. BF16: 2^-134, 2^-126, 2^128 (1 - 2^-9). Round to nearest, ties to even; subnormals kept.
MagnitudeRange fp16_magnitudes();
MagnitudeRange bf16_magnitudes();

/// Shares of elements, each 0 to 1; they add up to 1.
struct MagnitudeShares {
  double zero = 0, subnormal = 0, normal = 0, overflow = 0;
};
/// Shares of gradients whose log2 |g| is normal about `centre_log2` with `spread_log2` (0: all alike).
MagnitudeShares magnitude_shares(const MagnitudeRange& range, double centre_log2, double spread_log2);

/// Share of the squared norm that elements below 2^limit_log2 hold: of a log-normal, the normal tail moved by 2
/// sigma^2.
double squared_norm_below(double limit_log2, double centre_log2, double spread_log2);

enum class StepFate : std::uint8_t { applied, overflowed, bad };

/// What a step in the middle of a stretch of the run looks like.
struct ScalerSample {
  std::int64_t step = 0;
  double centre_log2 = 0;  ///< middle of the true gradients
  double scale_log2 = 0;
  MagnitudeShares scaled, unscaled, bf16;  ///< FP16 under the scale, FP16 as they are, BF16 as they are
};

/// A run step by step.
struct ScalerHistory {
  std::vector<float> largest_log2;  ///< the true largest gradient of each step
  std::vector<float> scale_log2;    ///< the scale that each step ran with
  std::vector<StepFate> fate;
  std::vector<ScalerSample> samples;  ///< at most `scaler_samples`, evenly over the run
};

/// What a run comes to.
struct ScalerFigures {
  std::int64_t overflow_skips = 0, bad_skips = 0, growths = 0;
  std::int64_t early_skips = 0;  ///< skips in the first growth interval, while the scale is being found
  std::int64_t longest_skip_run = 0;
  double late_skip_rate = 0;  ///< skips a step after the first growth interval; 0 where the run is not longer
  /// Skips a step at which halving and doubling hold each other, where clean steps come in whole intervals: a share r
  /// takes r (-ln backoff) and the others give (1 - r) ln growth / interval, so r = ln growth / (ln growth - interval x
  /// ln backoff): 1 in 2,001 as GradScaler ships, and below 1 whatever growth and backoff are.
  double balance_rate = 0;
  double mean_zero_scaled = 0, mean_zero_unscaled = 0, worst_zero_scaled = 0, mean_zero_bf16 = 0;  ///< over the samples
  double final_scale_log2 = 0, highest_scale_log2 = 0, lowest_scale_log2 = 0;
  std::int64_t skips() const { return overflow_skips + bad_skips; }
};

struct ScalerRun : ScalerFigures {
  ScalerHistory history;
};
constexpr std::size_t scaler_samples = 400;

/// One run; the same inputs give the same history, and every draw is the same whatever the policy is.
/// Infeasible: steps outside 1 to 1,000,000, a growth below 1, a backoff outside (0, 1), a rate outside 0 to 1,
/// anything not finite. Source: Micikevicius et al., "Mixed precision training", ICLR 2018; torch.amp.GradScaler for
/// the rule.
Result<ScalerRun> run_loss_scaler(const ScalerInputs& inputs);

/// Mean drift of log2 scale a step that a share `skip_rate` of skipped steps leads to, if clean steps fall in runs of
/// random length: below 0 the scale sinks. A run reaches the interval with probability (1 - skip_rate)^interval.
double scale_drift_log2(const ScalerInputs& inputs, double skip_rate);

/// healthy: after the first interval it skips at most twice as often as it can grow back; investigate: more often;
/// collapsed: more than half of the gradients became zero at some moment under a dynamic scale; unscaled: no dynamic
/// scale; searching: the run is not longer than the first interval, so that nothing can be said of later.
enum class ScalerHealth : std::uint8_t { healthy, investigate, collapsed, unscaled, searching };
ScalerHealth health_of(const ScalerFigures& run, const ScalerInputs& inputs);

}  // namespace models
