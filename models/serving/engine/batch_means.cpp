#include "models/serving/engine/batch_means.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace models {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double student_t_975(std::int64_t degrees) {
  constexpr double z = 1.959963984540054;
  const double n = static_cast<double>(degrees), z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

double half_width_of_batches(std::span<const double> batches) {
  if (batches.size() < 2) return no_number;
  const double k = static_cast<double>(batches.size());
  double mean = 0, squares = 0;
  for (const double b : batches) mean += b / k;
  for (const double b : batches) squares += (b - mean) * (b - mean);
  return student_t_975(static_cast<std::int64_t>(batches.size()) - 1) * std::sqrt(squares / (k - 1) / k);
}

double mean_half_width(std::span<const double> values) {
  if (values.size() < least_for_interval) return no_number;
  std::array<double, interval_batches> means{};
  const std::size_t each = values.size() / interval_batches;
  for (std::size_t b = 0; b < interval_batches; ++b)
    for (const double v : values.subspan(b * each, each)) means[b] += v / static_cast<double>(each);
  return half_width_of_batches(means);
}

/// Requests of one busy period wait together: of fewer than so many beyond the percentile, batches are too alike inside
/// and too few of their kind, and intervals came out at a third of their length.
constexpr double least_beyond = 50;

double quantile_half_width(std::span<const double> values, double share, double whole) {
  const std::size_t each = values.size() / interval_batches;
  if (values.size() < least_for_interval || !(static_cast<double>(each) * (1 - share) >= least_beyond - 1e-9))
    return no_number;
  double squares = 0;
  std::vector<double> batch;
  for (std::size_t b = 0; b < interval_batches; ++b) {
    const auto from = values.subspan(b * each, each);
    batch.assign(from.begin(), from.end());
    const double off = take_quantile(batch, share) - whole;
    squares += off * off;
  }
  constexpr double k = interval_batches;
  return student_t_975(interval_batches - 1) * std::sqrt(squares / (k - 1) / k);
}

double take_quantile(std::span<double> values, double share) {
  if (values.empty()) return 0;
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  const std::size_t at = std::clamp<std::size_t>(static_cast<std::size_t>(rank), 1, values.size()) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

}  // namespace models
