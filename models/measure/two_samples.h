#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Two lists of measured times, and what they say of the difference between what was measured.
namespace models::measure {

enum class Test : std::uint8_t { t, ranks, bootstrap };
enum class Statistic : std::uint8_t { mean, median, least };

struct Method {
  Test test = Test::t;
  bool paired = true;                     ///< a[i] and b[i] were measured next to each other
  Statistic statistic = Statistic::mean;  ///< what a bootstrap compares; t compares means, ranks shifts
  std::int64_t resamples = 1000;          ///< a bootstrap's
  double alpha = 0.05;                    ///< chance that the interval misses
};

/// What a method says of a - b, in the unit of the samples.
struct Comparison {
  double difference = 0, lo = 0, hi = 0;
  double p = 1;               ///< two-sided: the chance of so large a difference of equals
  double standard_error = 0;  ///< t alone
  double degrees = 0;         ///< t alone
};

double mean_of(std::span<const double> x);
/// Over n - 1; 0 for fewer than two.
double variance_of(std::span<const double> x);
/// Between the middle two of an even number. Orders `x` anew.
double median_of(std::vector<double>& x);
double statistic_of(Statistic which, std::span<const double> x);
/// Pearson's; 0 where either does not vary.
double correlation_of(std::span<const double> x, std::span<const double> y);

/// Both have two samples at least; paired, the first min(n, m) of each count.
/// t: Welch's, or of the differences. Ranks: Mann and Whitney's or Wilcoxon's signed ranks with the normal
/// approximation, ties and a continuity correction, and the interval of Hodges and Lehmann. Bootstrap: percentiles of
/// resampled differences, of pairs or of each list, drawn from `stream`.
Comparison compare(const Method& method, std::span<const double> a, std::span<const double> b, std::uint64_t stream);

}  // namespace models::measure
