#pragma once
#include <cstdint>
#include <vector>

namespace kernels {

/// What many samples of one time say. Quartiles interpolate linearly between order statistics.
struct Summary {
  double median = 0;
  double iqr = 0;  ///< upper less lower quartile
  double ci_low = 0,
         ci_high = 0;  ///< 95 % confidence interval of the median, from order statistics; all samples below six of them
  std::int64_t samples = 0;
};

/// Zeros for no samples. The interval takes the samples of ranks n/2 -+ 1.96 sqrt(n)/2 (binomial of 1/2, normal
/// approximation).
Summary summarize(std::vector<double> samples);

/// True when the median is known to `share` of itself: the half width of its interval is no more than that.
bool is_settled(const Summary& summary, double share);

}  // namespace kernels
