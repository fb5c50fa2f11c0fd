#include "models/measure/bench_power.h"

#include <algorithm>
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

double outlier_variance(const Bench& bench) {
  const double p = bench.outlier_share;
  return bench.outlier * bench.outlier * (2 * p - p * p);
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

/// What the sample variance of these runs is on average.
double expected_variance(const Bench& bench, const std::vector<Slot>& slots, const std::vector<std::size_t>& of,
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
  return (squares_about_mean(means) + each - real_count(n) * variance_by(bench, mean)) / (real_count(n) - 1);
}

/// The same of the differences of pairs.
double expected_pair_variance(const Bench& bench, const std::vector<Slot>& slots, const KeptRuns& kept,
                              double variance_of_mean) {
  const std::size_t n = kept.pairs();
  std::vector<double> means;
  double each = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t k = kept.a[i], l = kept.b[i];
    const double fa = slots[k].factor, fb = slots[l].factor;
    const double shared = std::pow(bench.correlation, real_count(k > l ? k - l : l - k));
    means.push_back(fa - fb);
    each += bench.noise * bench.noise * (fa * fa + fb * fb - 2 * fa * fb * shared) +
            outlier_variance(bench) * (fa * fa + fb * fb) + clock_variance(bench, fa) + clock_variance(bench, fb);
  }
  return (squares_about_mean(means) + each - real_count(n) * variance_of_mean) / (real_count(n) - 1);
}

double mean_factor(const std::vector<Slot>& slots, const std::vector<std::size_t>& of, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += slots[of[i]].factor;
  return sum / real_count(n);
}

}  // namespace

Prospect prospect_of(const Bench& bench, const std::vector<Slot>& slots, bool paired) {
  const KeptRuns kept = kept_of(slots);
  const std::size_t pairs = kept.pairs(), n = paired ? pairs : kept.a.size(), m = paired ? pairs : kept.b.size();
  if (pairs < 2) return {};
  Weighted difference{std::vector<double>(slots.size())};
  for (std::size_t i = 0; i < n; ++i) add_time(bench, difference, slots, kept.a[i], 1 / real_count(n));
  for (std::size_t i = 0; i < m; ++i) add_time(bench, difference, slots, kept.b[i], -1 / real_count(m));
  const double of_mean = variance_by(bench, difference), scale = mean_factor(slots, kept.a, n);
  double nominal = 0, degrees = 0;
  if (paired) {
    nominal = expected_pair_variance(bench, slots, kept, of_mean) / real_count(n);
    degrees = real_count(n) - 1;
  } else {
    nominal = expected_variance(bench, slots, kept.a, n) / real_count(n) +
              expected_variance(bench, slots, kept.b, m) / real_count(m);
    degrees = real_count(n + m) - 2;
  }
  return {.bias = 1 - mean_factor(slots, kept.b, m) / scale,
          .sd = std::sqrt(std::max(0.0, of_mean)) / scale,
          .nominal = std::sqrt(std::max(0.0, nominal)) / scale,
          .degrees = degrees};
}

Prospect prospect_of(std::span<const double> a, std::span<const double> b, bool paired) {
  const Comparison c = compare({.paired = paired}, a, b, 0);
  const double scale = mean_of(a);
  return {.sd = c.standard_error / scale, .nominal = c.standard_error / scale, .degrees = c.degrees};
}

double chance_of_faster(const Prospect& p, double gain, double alpha) {
  if (!(p.nominal > 0)) return gain + p.bias > 0 ? 1 : 0;
  return t_power((gain + p.bias) / p.nominal, p.sd / p.nominal, student_t_critical(alpha, p.degrees), p.degrees);
}

double chance_of_false_alarm(const Prospect& p, double alpha) {
  Prospect other = p;
  other.bias = -p.bias;
  return std::min(1.0, chance_of_faster(p, 0, alpha) + chance_of_faster(other, 0, alpha));
}

double smallest_gain(Prospect prospect, double alpha, double power) {
  prospect.bias = 0;
  if (!(prospect.nominal > 0)) return 0;
  const double critical = student_t_critical(alpha, prospect.degrees);
  double lo = 0, hi = 4 * (critical + 2) * std::max(prospect.nominal, prospect.sd);
  for (int i = 0; i < 50; ++i) {
    const double middle = (lo + hi) / 2;
    const double chance =
        t_power(middle / prospect.nominal, prospect.sd / prospect.nominal, critical, prospect.degrees);
    (chance < power ? lo : hi) = middle;
  }
  return (lo + hi) / 2;
}

std::int64_t runs_needed(const Bench& bench, bool paired, double alpha, double power) {
  const double gain = std::abs(bench.gain);
  if (!(gain > 0)) return 0;
  const auto seen = [&](std::int64_t pairs) {
    Bench b = bench;
    b.runs = 2 * (pairs + bench.discard);
    return smallest_gain(prospect_of(b, slots_of(b, 1), paired), alpha, power) <= gain;
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
