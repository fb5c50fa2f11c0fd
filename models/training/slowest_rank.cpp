#include "models/training/slowest_rank.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "models/base/counter_random.h"

namespace models {
namespace {

constexpr int intervals = 320;  // of Simpson's rule; beyond 8 and below -8 nothing is left for n up to 1e6
constexpr double least_x = -8, interval = 16.0 / intervals;

/// ln Phi at the ends of all intervals, which no n changes.
const std::array<double, intervals + 1>& log_normal_below() {
  static const std::array<double, intervals + 1> all = [] {
    std::array<double, intervals + 1> log_below{};
    for (int i = 0; i <= intervals; ++i)
      log_below[static_cast<std::size_t>(i)] =
          std::log1p(-0.5 * std::erfc((least_x + interval * i) / std::numbers::sqrt2));
    return log_below;
  }();
  return all;
}

/// Mean of the largest of n standard normal numbers: the integral of 1 - Phi^n above 0 less that of Phi^n below 0.
double normal_maximum(double n) {
  if (n <= 1) return 0;
  const auto& log_below = log_normal_below();
  double sum = 0;
  for (int i = 0; i <= intervals; ++i) {
    const double x = least_x + interval * i;
    const double all_below = std::exp(n * log_below[static_cast<std::size_t>(i)]);
    double value = x < 0 ? -all_below : 1 - all_below;
    if (i == intervals / 2) value = 0.5 - all_below;  // the integrand jumps by 1 at 0
    sum += value * (i == 0 || i == intervals ? 1 : i % 2 == 1 ? 4 : 2);
  }
  return sum * interval / 3;
}

/// 1 + 1/2 + ... + 1/n; from 64 on by Euler and Maclaurin, to 1e-12.
double harmonic(double n) {
  if (n >= 64) return std::log(n) + std::numbers::egamma + 1 / (2 * n) - 1 / (12 * n * n) + 1 / (120 * n * n * n * n);
  double sum = 0;
  for (double k = 1; k <= n; ++k) sum += 1 / k;
  return sum;
}

/// By which share of its time a rank is slower that a share `p` of all ranks exceeds.
double excess_at(const Slowness& s, double p) {
  switch (s.kind) {
    case SlownessKind::normal:
      return s.spread * upper_normal_quantile(p);
    case SlownessKind::exponential:
      return s.spread * (-std::log(p) - 1);
    case SlownessKind::uniform:
      return s.spread * std::numbers::sqrt3 * (1 - 2 * p);
    case SlownessKind::rare:
      return p < s.rare_share ? s.spread : 0;
  }
  return 0;
}

}  // namespace

double expected_slowest(const Slowness& s, std::int64_t ranks) {
  const double n = static_cast<double>(std::max<std::int64_t>(ranks, 1));
  switch (s.kind) {
    case SlownessKind::normal:
      return s.spread * normal_maximum(n);
    case SlownessKind::exponential:
      return s.spread * (harmonic(n) - 1);
    case SlownessKind::uniform:
      return s.spread * std::numbers::sqrt3 * (n - 1) / (n + 1);
    case SlownessKind::rare:
      return s.spread * -std::expm1(n * std::log1p(-s.rare_share));
  }
  return 0;
}

SlowestSample simulate_slowest(const Slowness& s, std::int64_t ranks, std::int64_t steps, std::int64_t seed) {
  SlowestSample sample;
  if (ranks < 1 || steps < 1) return sample;
  double sum = 0, squares = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    // The slowest is the one with the smallest share of ranks beyond it, since all have one distribution.
    const std::uint64_t stream = random_stream(seed, static_cast<std::uint64_t>(step));
    double least = 1;
    for (std::int64_t rank = 0; rank < ranks; ++rank)
      least = std::min(least, open_draw(stream, static_cast<std::uint64_t>(rank)));
    const double excess = excess_at(s, least);
    sum += excess;
    squares += excess * excess;
  }
  const auto n = static_cast<double>(steps);
  sample.steps = steps;
  sample.mean = sum / n;
  if (steps > 1) sample.standard_error = std::sqrt(std::max(0.0, squares / n - sample.mean * sample.mean) / (n - 1));
  return sample;
}

}  // namespace models
