#include "models/serving/engine/serving_gaps.h"

#include <algorithm>
#include <cmath>

namespace models {
namespace {

constexpr double smallest_s = 1e-6, growth = 1.01;
constexpr std::size_t max_bins = 3800;  // to 2.6e10 s

}  // namespace

std::size_t TokenGaps::bin_of(double gap_s) {
  static const double per_e = 1 / std::log(growth);
  if (!(gap_s > smallest_s)) return 0;
  return std::min(max_bins - 1, static_cast<std::size_t>(std::log(gap_s / smallest_s) * per_e));
}

double TokenGaps::upper_edge_s(std::size_t bin) { return smallest_s * std::pow(growth, static_cast<double>(bin + 1)); }

void TokenGaps::put(std::size_t bin, std::int64_t count) {
  if (bins_.size() <= bin) bins_.resize(bin + 1, 0);
  bins_[bin] += count;
}

void TokenGaps::add(double gap_s, std::int64_t count) {
  if (!(gap_s >= 0) || count <= 0) return;
  if (!(gap_s == last_s_)) {
    last_s_ = gap_s;
    last_bin_ = bin_of(gap_s);
  }
  put(last_bin_, count);
  count_ += count;
  sum_s_ += gap_s * static_cast<double>(count);
  longest_s_ = std::max(longest_s_, gap_s);
}

void TokenGaps::add_ramp(double first_s, double more_s, std::int64_t steps, std::int64_t count) {
  if (!(first_s >= 0 && more_s >= 0) || steps <= 0 || count <= 0) return;
  const double k = static_cast<double>(steps), last_s = first_s + more_s * (k - 1);
  const std::size_t last_bin = bin_of(last_s);
  std::int64_t placed = 0;
  for (std::size_t bin = bin_of(first_s); placed < steps; ++bin) {
    // The steps whose gap lies below the bin's upper edge; the last bin takes what is left.
    std::int64_t below = steps;
    if (bin < last_bin)
      below = std::clamp(static_cast<std::int64_t>(std::ceil((upper_edge_s(bin) - first_s) / more_s)), placed, steps);
    put(bin, (below - placed) * count);
    placed = below;
  }
  count_ += steps * count;
  sum_s_ += static_cast<double>(count) * k * (first_s + last_s) / 2;
  longest_s_ = std::max(longest_s_, last_s);
}

double TokenGaps::percentile_s(double share) const {
  if (count_ == 0) return 0;
  const auto rank = static_cast<std::int64_t>(
      std::clamp(std::ceil(share * static_cast<double>(count_)), 1.0, static_cast<double>(count_)));
  std::int64_t passed = 0;
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    passed += bins_[bin];
    if (passed >= rank) return std::min(longest_s_, upper_edge_s(bin) / std::sqrt(growth));
  }
  return longest_s_;
}

}  // namespace models
