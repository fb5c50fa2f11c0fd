#include "models/learning/practice.h"

#include <algorithm>
#include <cmath>

namespace models {

double wilson_lower(double right, double asked, double z) {
  if (!(asked > 0)) return 0;
  const double p = std::clamp(right / asked, 0.0, 1.0), z2 = z * z;
  const double centre = p + z2 / (2 * asked);
  const double spread = z * std::sqrt(p * (1 - p) / asked + z2 / (4 * asked * asked));
  return std::max(0.0, (centre - spread) / (1 + z2 / asked));
}

double confidence_z(double percent) {
  if (percent == 80) return 1.281552;
  if (percent == 90) return 1.644854;
  if (percent == 99) return 2.575829;
  return 1.959964;
}

std::int64_t questions_to_goal(double right, double asked, double rate, double goal, double z) {
  constexpr std::int64_t most = 1'000'000;
  const auto reached = [&](std::int64_t n) {
    return wilson_lower(right + rate * static_cast<double>(n), asked + static_cast<double>(n), z) >= goal;
  };
  if (reached(0)) return 0;
  if (!(rate > goal) || !reached(most)) return -1;
  std::int64_t lo = 0, hi = most;  // the bound rises with n once the rate is above the goal and the bound below it
  while (hi - lo > 1) {
    const std::int64_t middle = (lo + hi) / 2;
    (reached(middle) ? hi : lo) = middle;
  }
  return hi;
}

double review_interval_days(std::int64_t streak) {
  if (streak <= 0) return 0;
  if (streak == 1) return 1;
  return std::min(365.0, 6 * std::pow(2.5, static_cast<double>(std::min<std::int64_t>(streak, 10) - 2)));
}

int next_level(int level, int asked_level, bool right, int most) {
  if (right && asked_level >= level) return std::min(level + 1, most);
  if (!right && asked_level <= level) return std::max(level - 1, 1);
  return level;
}

}  // namespace models
