#include "models/fleet/detector.h"

#include <algorithm>
#include <cmath>

namespace models::fleet {
namespace {

constexpr double slack = 0.5;
constexpr double mad_to_spread = 1.4826;  // in a normal distribution

/// A rule at work on one rank's times.
class Watch {
 public:
  explicit Watch(const Detector& d)
      : d_(d), recent_(static_cast<std::size_t>(std::max<std::int64_t>(1, d.window)), 0) {}
  /// Takes the next step; true: an alarm stands.
  bool alarmed(double time, double median, double spread) {
    const double above = time - median, z = above / std::max(spread, 1e-12);
    switch (d_.rule) {
      case Rule::deviation:
        return z > d_.threshold;
      case Rule::ratio:
        return above > d_.threshold * median;
      case Rule::several: {
        char& oldest = recent_[at_++ % recent_.size()];
        hits_ -= oldest;
        oldest = z > d_.threshold;
        hits_ += oldest;
        return hits_ >= d_.hits;
      }
      case Rule::cumulative:
        sum_ = std::max(0.0, sum_ + std::min(z, cumulative_cap) - slack);
        return sum_ > d_.threshold;
    }
    return false;
  }

 private:
  const Detector& d_;
  std::vector<char> recent_;
  std::size_t at_ = 0;
  std::int64_t hits_ = 0;
  double sum_ = 0;
};

/// The spread that 1.4826 MAD finds in a healthy fleet: that of the normal part, since pauses are few.
double healthy_spread(const Noise& noise) { return std::max(noise.spread, 1e-12); }

double choose(std::int64_t n, std::int64_t k) {
  double out = 1;
  for (std::int64_t i = 1; i <= k; ++i) out *= static_cast<double>(n - k + i) / static_cast<double>(i);
  return out;
}

/// Mean number of steps until a cumulative sum of a healthy rank passes the threshold, from 0: Brook and Evans' chain
/// of equal intervals.
double mean_run_length(double threshold, const Noise& noise) {
  constexpr std::size_t states = 48;
  const double width = 2 * threshold / (2.0 * states - 1), s = healthy_spread(noise);
  // P(sum moves to at most x above where it is).
  const auto below = [&](double step) {
    const double z = step + slack;
    return z >= cumulative_cap ? 1.0 : 1 - exceeds(noise, z * s);
  };
  double a[states][states + 1];
  for (std::size_t i = 0; i < states; ++i) {
    for (std::size_t j = 0; j < states; ++j) {
      const double from = (static_cast<double>(j) - static_cast<double>(i)) * width;
      const double p = below(from + width / 2) - (j == 0 ? 0 : below(from - width / 2));
      a[i][j] = (i == j ? 1 : 0) - p;
    }
    a[i][states] = 1;
  }
  for (std::size_t k = 0; k < states; ++k)
    for (std::size_t i = k + 1; i < states; ++i) {
      if (a[i][k] == 0) continue;
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j <= states; ++j) a[i][j] -= factor * a[k][j];
    }
  double length[states];
  for (std::size_t k = states; k-- > 0;) {
    double v = a[k][states];
    for (std::size_t j = k + 1; j < states; ++j) v -= a[k][j] * length[j];
    length[k] = v / a[k][k];
  }
  return length[0];
}

double median_of(std::vector<float>& v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return static_cast<double>(*middle);
}

}  // namespace

double false_alarm_rate(const Detector& d, const Noise& noise) {
  const double s = healthy_spread(noise);
  switch (d.rule) {
    case Rule::deviation:
      return exceeds(noise, d.threshold * s);
    case Rule::ratio:
      return exceeds(noise, d.threshold);
    case Rule::several: {
      const double p = exceeds(noise, d.threshold * s);
      const std::int64_t n = std::max<std::int64_t>(1, d.window), k = std::clamp<std::int64_t>(d.hits, 1, n);
      // A hit that makes k of n, where the one that leaves the window was none: before there were k - 1.
      return p * (1 - p) * choose(n - 1, k - 1) * std::pow(p, static_cast<double>(k - 1)) *
             std::pow(1 - p, static_cast<double>(n - k));
    }
    case Rule::cumulative: {
      const double length = mean_run_length(std::max(d.threshold, 0.01), noise);
      return length > 0 ? 1 / length : 0;
    }
  }
  return 0;
}

Detection detect(const Detector& d, const Fleet& f, const FleetRun& run) {
  Detection out;
  const Guilt guilt = guilt_of(f);
  const auto ranks = static_cast<std::size_t>(f.ranks), steps = static_cast<std::size_t>(f.steps);
  std::vector<double> median(steps, 1), spread(steps, 0);
  std::vector<float> column;
  for (std::size_t i = 0; i < steps; ++i) {
    const float* const first = run.time.data() + i * ranks;
    column.assign(first, first + ranks);
    median[i] = median_of(column);
    for (float& v : column) v = std::fabs(v - static_cast<float>(median[i]));
    spread[i] = mad_to_spread * median_of(column);
  }
  out.first_alarm.assign(ranks, -1);
  for (std::size_t r = 0; r < ranks; ++r) {
    Watch watch(d);
    const bool guilty = guilt.holds(static_cast<std::int64_t>(r));
    bool caught = false, wrong = false;
    for (std::size_t i = 0; i < steps && !caught && !(wrong && !guilty); ++i) {
      if (!watch.alarmed(static_cast<double>(run.time[i * ranks + r]), median[i], spread[i])) continue;
      if (out.first_alarm[r] < 0) out.first_alarm[r] = static_cast<std::int64_t>(i);
      const bool late = guilty && static_cast<std::int64_t>(i) >= guilt.onset;
      caught = late;
      wrong = wrong || !late;
      if (!late) continue;
      const std::int64_t taken = static_cast<std::int64_t>(i) - guilt.onset + 1;
      if (out.slow_steps == 0 || taken < out.slow_steps) out.slow_steps = taken;
    }
    out.alarms += out.first_alarm[r] >= 0;
    out.caught += caught;
    out.missed += guilty && !caught;
    out.wrong += wrong;
  }
  return out;
}

DetectionPower detection_power(const Detector& d, const Fleet& fleet, std::int64_t trials) {
  DetectionPower out;
  Fleet one = fleet;
  one.ranks = 1;
  if (one.fault == Fault::bad_node) one.fault = Fault::slow_rank;
  if (guilt_of(one).ranks == 0 || trials < 1) return out;
  const std::int64_t onset = guilt_of(one).onset;
  double delays = 0;
  std::int64_t found = 0;
  for (std::int64_t t = 0; t < trials; ++t) {
    one.seed = fleet.seed + 1000 + t;
    Watch watch(d);
    for (std::int64_t i = std::max<std::int64_t>(0, onset - d.window); i < one.steps; ++i) {
      if (!watch.alarmed(step_time(one, 0, i), 1, healthy_spread(one.noise)) || i < onset) continue;
      ++found;
      delays += static_cast<double>(i - onset + 1);
      break;
    }
  }
  out.found = static_cast<double>(found) / static_cast<double>(trials);
  out.mean_slow_steps = found > 0 ? delays / static_cast<double>(found) : 0;
  return out;
}

}  // namespace models::fleet
