#include "models/measure/bench_power.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/measure/students_t.h"

namespace models::measure {
namespace {

double real_count(std::size_t n) { return static_cast<double>(n); }

/// Variance of the sum of weighted noise of unit variance whose neighbours have this correlation.
double correlated_variance(const std::vector<double>& weights, double correlation) {
  double sum = 0, before = 0, last = 0;
  for (const double w : weights) {
    before = correlation * (before + last);  // all earlier weights, each with its correlation to this run
    sum += w * w + 2 * w * before;
    last = w;
  }
  return sum;
}

struct Weighted {
  std::vector<double> by_slot;
  double squares = 0, clock = 0;
};
/// Adds the slot's time, taken so many times.
void add_time(const Bench& bench, Weighted& to, const std::vector<Slot>& slots, std::size_t slot, double times) {
  const double weight = times * slots[slot].factor;
  to.by_slot[slot] += weight;
  to.squares += weight * weight;
  to.clock += times * times * clock_variance(bench, slots[slot].factor);
}

double variance_by(const Bench& bench, const Weighted& w) {
  return bench.noise * bench.noise * correlated_variance(w.by_slot, bench.correlation) +
         outlier_variance(bench) * w.squares + w.clock;
}

/// Squared deviations of `means` from their own mean.
double squares_about_mean(const std::vector<double>& means) {
  return variance_of(means) * (real_count(means.size()) - 1);
}

/// A sample's squared deviations from its mean, on average: what heat and cold make of them, and what noise does.
struct Squares {
  double sure = 0, noise = 0, runs = 2;
  double variance_of_mean() const { return (sure + noise) / ((runs - 1) * runs); }
  /// The variance of that, times half: of a chi-square about its mean, not about none.
  double half_spread() const { return noise * (noise + 2 * sure) / std::pow(runs - 1, 3) / (runs * runs); }
};

Squares expected_squares(const Bench& bench, const std::vector<Slot>& slots, const std::vector<std::size_t>& of,
                         std::size_t n) {
  Weighted mean{std::vector<double>(slots.size())};
  std::vector<double> means;
  double each = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double f = slots[of[i]].factor;
    add_time(bench, mean, slots, of[i], 1 / real_count(n));
    means.push_back(f);
    each += f * f * (bench.noise * bench.noise + outlier_variance(bench)) + clock_variance(bench, f);
  }
  const double mean_square = outlier_mean(bench) * outlier_mean(bench);
  return {mean_square * squares_about_mean(means), std::max(0.0, each - real_count(n) * variance_by(bench, mean)),
          real_count(n)};
}

/// The same of A less this part of B, in pairs.
Squares expected_pair_squares(const Bench& bench, const std::vector<Slot>& slots, const KeptRuns& kept, double part,
                              double variance_of_mean) {
  const std::size_t n = kept.pairs();
  std::vector<double> means;
  double each = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t k = kept.a[i], l = kept.b[i];
    const double fa = slots[k].factor, fb = part * slots[l].factor;
    const double alike = std::pow(bench.correlation, real_count(k > l ? k - l : l - k));
    means.push_back(fa - fb);
    each += bench.noise * bench.noise * (fa * fa + fb * fb - 2 * fa * fb * alike) +
            outlier_variance(bench) * (fa * fa + fb * fb) + clock_variance(bench, slots[k].factor) +
            part * part * clock_variance(bench, slots[l].factor);
  }
  const double mean_square = outlier_mean(bench) * outlier_mean(bench);
  return {mean_square * squares_about_mean(means), std::max(0.0, each - real_count(n) * variance_of_mean),
          real_count(n)};
}

/// By what it is at parts of -1, 0 and 1.
PartVariance fitted(const std::array<double, 3>& at, double scale) {
  const double unit = 1 / (scale * scale);
  return {.a = at[1] * unit, .b = ((at[0] + at[2]) / 2 - at[1]) * unit, .shared = (at[0] - at[2]) / 4 * unit};
}

double mean_factor(const std::vector<Slot>& slots, const std::vector<std::size_t>& of, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += slots[of[i]].factor;
  return sum / real_count(n);
}

/// So far out the distribution that is taken says nothing of the real one.
constexpr double least_chance = 1e-6;
/// Beyond this a standard error is as good as sure.
constexpr double max_freedom = 1e5;

/// The chance that t lies beyond `critical`, where A less this part of B is `mean` of A.
double chance_beyond(const Prospect& p, double part, double mean, double critical) {
  const double nominal = std::sqrt(std::max(0.0, p.nominal.at(part)));
  if (!(nominal > 0)) return mean > 0 ? 1 : 0;
  const double chance =
      t_power(mean / nominal, std::sqrt(std::max(0.0, p.real.at(part))) / nominal, critical, p.freedom);
  return chance < least_chance ? 0 : chance;
}

}  // namespace

Prospect prospect_of(const Bench& bench, const std::vector<Slot>& slots, bool paired) {
  const KeptRuns kept = kept_of(slots);
  const std::size_t pairs = kept.pairs(), n = paired ? pairs : kept.a.size(), m = paired ? pairs : kept.b.size();
  if (pairs < 2) return {};
  const double usual = mean_factor(slots, kept.a, n), scale = usual * outlier_mean(bench);
  std::array<double, 3> real{}, nominal{};
  double half_spread = 0;
  for (std::size_t i = 0; i < real.size(); ++i) {
    const double part = static_cast<double>(i) - 1;
    Weighted difference{std::vector<double>(slots.size())};
    for (std::size_t k = 0; k < n; ++k) add_time(bench, difference, slots, kept.a[k], 1 / real_count(n));
    for (std::size_t k = 0; k < m; ++k) add_time(bench, difference, slots, kept.b[k], -part / real_count(m));
    real[i] = variance_by(bench, difference);
    if (!paired) continue;
    const Squares squares = expected_pair_squares(bench, slots, kept, part, real[i]);
    nominal[i] = squares.variance_of_mean();
    half_spread = squares.half_spread();  // the last one's: equal versions
  }
  if (!paired) {
    const Squares a = expected_squares(bench, slots, kept.a, n), b = expected_squares(bench, slots, kept.b, m);
    nominal = {a.variance_of_mean() + b.variance_of_mean(), a.variance_of_mean(),
               a.variance_of_mean() + b.variance_of_mean()};
    half_spread = a.half_spread() + b.half_spread();
  }
  const double degrees = paired ? real_count(n) - 1 : real_count(n + m) - 2;
  const double sure = nominal[2] * nominal[2] / std::max(half_spread, 1e-300);
  return {.bias = 1 - mean_factor(slots, kept.b, m) / usual,
          .real = fitted(real, scale),
          .nominal = fitted(nominal, scale),
          .degrees = degrees,
          .freedom = std::clamp(sure, 1.0, max_freedom)};
}

Prospect prospect_of(std::span<const double> a, std::span<const double> b, bool paired) {
  const Comparison c = compare({.paired = paired}, a, b, 0);
  const double error = c.standard_error / mean_of(a);
  const PartVariance variance{.a = error * error};
  return {.real = variance, .nominal = variance, .degrees = c.degrees, .freedom = c.degrees};
}

double chance_of_faster(const Prospect& p, double gain, double alpha) {
  const double part = 1 - gain;
  return chance_beyond(p, part, 1 - part * (1 - p.bias), student_t_critical(alpha, p.degrees));
}

double chance_of_false_alarm(const Prospect& p, double alpha) {
  Prospect other = p;
  other.bias = -p.bias;
  return std::min(1.0, chance_of_faster(p, 0, alpha) + chance_of_faster(other, 0, alpha));
}

double smallest_gain(Prospect prospect, double alpha, double power) {
  prospect.bias = 0;
  if (!(prospect.nominal.at(1) > 0)) return 0;
  const double critical = student_t_critical(alpha, prospect.degrees);
  const auto chance = [&](double gain) { return chance_beyond(prospect, 1 - gain, gain, critical); };
  double lo = 0,
         hi = std::min(1.0, 4 * (critical + 2) * std::sqrt(std::max(prospect.nominal.at(1), prospect.real.at(1))));
  if (hi >= 1 && chance(1) < power) return 1;
  for (int i = 0; i < 50; ++i) {
    const double middle = (lo + hi) / 2;
    (chance(middle) < power ? lo : hi) = middle;
  }
  return (lo + hi) / 2;
}

double rule_of_sixteen(double spread, double gain) {
  const double runs = 16 * (spread / gain) * (spread / gain);
  return std::max(1.0, std::ceil(runs * (1 - 1e-9)));  // 64 and a rounding error are 64
}

std::int64_t runs_needed(const Bench& bench, bool paired, double alpha, double power) {
  if (bench.gain == 0) return 0;
  const auto seen = [&](std::int64_t pairs) {
    Bench b = bench;
    b.runs = 2 * (pairs + bench.discard);
    const Prospect p = prospect_of(b, slots_of(b, 1), paired);
    const double critical = student_t_critical(alpha, p.degrees);
    return chance_beyond(p, 1 - bench.gain, std::abs(bench.gain), critical) >= power;
  };
  const std::int64_t most = max_needed / 2 - bench.discard;
  std::int64_t enough = 4;
  while (enough < most && !seen(enough)) enough = std::min(most, 2 * enough);
  if (!seen(enough)) return 0;
  std::int64_t few = enough == 4 ? 3 : enough / 2;
  while (enough - few > 1) {
    const std::int64_t middle = (few + enough) / 2;
    (seen(middle) ? enough : few) = middle;
  }
  return 2 * (enough + bench.discard);
}

}  // namespace models::measure
