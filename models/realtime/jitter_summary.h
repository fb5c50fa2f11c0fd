#pragma once
#include "models/realtime/jitter.h"

/// What a long run comes to: percentiles, the tail, and few enough points for a plot.
namespace models {

/// Index of the percentile `share` (0 to 1) among n sorted values, n > 0: the nearest rank.
std::size_t percentile_rank(std::size_t n, double share);
/// Nearest rank: the smallest value that at least this share of all values does not exceed. Reorders. 0 for none.
double percentile_in_place(std::vector<float>& values, double share);

struct JitterSummary {
  std::int64_t answered = 0;  ///< frames that are not skipped; times below are of these
  double mean_s = 0, p50_s = 0, p99_s = 0, p999_s = 0, worst_s = 0, best_s = 0;
};
/// The summary with the points of its plots.
struct JitterDistribution : JitterSummary {
  std::vector<double> bin_s,
      bin_share;  ///< histogram: centres of equal bins, and percent of answered frames; the last holds the rest
  std::vector<double> tail_s,
      tail_share;  ///< percent of answered frames that take longer than tail_s; falling, never 0
};
JitterDistribution summarize(const JitterRun& run);

/// The run in at most `most` stretches of equal length: each one's first frame, best, middle and worst answer. Skipped
/// frames are left out.
struct JitterEnvelope {
  std::vector<double> frame, low_s, high_s;
};
JitterEnvelope envelope_of(const JitterRun& run, std::size_t most);

}  // namespace models
