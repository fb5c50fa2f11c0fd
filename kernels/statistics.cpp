#include "kernels/statistics.h"

#include <algorithm>
#include <cmath>

namespace kernels {
namespace {

double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Summary summarize(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const auto n = static_cast<double>(samples.size());
  const double reach = 0.98 * std::sqrt(n);
  const double last = n - 1;
  const auto low = static_cast<std::size_t>(std::clamp(std::floor(n / 2 - reach), 0.0, last));
  const auto high = static_cast<std::size_t>(std::clamp(std::ceil(n / 2 + reach), 0.0, last));
  return {
      .median = quantile(samples, 0.5),
      .iqr = quantile(samples, 0.75) - quantile(samples, 0.25),
      .ci_low = samples[low],
      .ci_high = samples[high],
      .samples = static_cast<std::int64_t>(samples.size()),
  };
}

bool is_settled(const Summary& s, double share) {
  return s.samples > 5 && (s.ci_high - s.ci_low) / 2 <= share * s.median;
}

}  // namespace kernels
