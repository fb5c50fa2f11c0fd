#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/measure/bench_runs.h"
#include "models/measure/two_samples.h"

/// What a budget of runs can see, by formula and by repeating the whole experiment; and what looking early does.
namespace models::measure {

/// The variance of A less B's part: B's own share of it grows with the square of that.
struct PartVariance {
  double a = 0, b = 0, shared = 0;
  double at(double part) const { return a + part * (part * b - 2 * shared); }
};

/// A t test of kept runs before they are made. Shares of A's time.
struct Prospect {
  double bias = 0;       ///< what the order makes of two equal versions
  PartVariance real;     ///< the estimate's, with the correlation of the noise
  PartVariance nominal;  ///< what the test takes for that: it knows of no correlation
  double degrees = 1;    ///< by which the test reads its t
  double freedom = 1;    ///< how surely the test takes its standard error: as a chi-square of so many degrees
};

/// The estimate's variance is exact for the noise of a Bench; a clock's steps are taken as of A's runs. Its test
/// statistic is taken as t distributed about it, which is exact for independent normal noise without drift. What heat
/// and cold make of a sample's spread is sure, so that with them the standard error varies less (Satterthwaite 1946).
Prospect prospect_of(const Bench& bench, const std::vector<Slot>& slots, bool paired);
/// The same from kept times that were measured: no bias is known, and runs are taken as independent (of pairs: pairs).
Prospect prospect_of(std::span<const double> a, std::span<const double> b, bool paired);

/// The chance that the test calls B faster, where it really saves `gain`; 0 below one in a million.
double chance_of_faster(const Prospect& prospect, double gain, double alpha);
/// The chance that the test calls either faster, where both are the same.
double chance_of_false_alarm(const Prospect& prospect, double alpha);
/// The gain that is called in `power` of all trials where the order makes no difference of its own; 1: none is.
double smallest_gain(Prospect prospect, double alpha, double power);
/// Runs of both together until a gain of this size is called in `power` of all trials; 0: more than max_needed.
std::int64_t runs_needed(const Bench& bench, bool paired, double alpha, double power);
inline constexpr std::int64_t max_needed = 4000;
/// Runs of each version by the rule of sixteen, for independent runs that spread so far; a whole number of them.
/// Source: Lehr 1992.
double rule_of_sixteen(double spread, double gain);

/// Repeated experiments. Where `a` is not empty they are drawn from measured pairs, B's times scaled so that both have
/// the same of what the method compares, in place of the bench.
struct Trials {
  Bench bench{};
  std::span<const double> a{}, b{};
  Method method{};
  std::int64_t repeats = 200, look_every = 1;
  std::int64_t method_repeats = 1'000'000;  ///< the method is asked in the first so many alone; looks are in all
  std::uint64_t seed = 1;
};

struct TrialCounts {
  std::int64_t repeats = 0, method_repeats = 0;
  std::vector<double> faster;       ///< share that calls B faster, one a gain that was asked for
  double false_alarm = 0;           ///< share that calls a difference of equals, tested once at the end
  double peeking = 0, split = 0;    ///< the same with a t test at every look, at alpha and at alpha over the looks
  double fair_limit = 0;            ///< what each look may take for all of them together to call in a share of alpha
  std::vector<std::int64_t> looks;  ///< pairs at each look
  std::vector<double> peeking_by, split_by, single_by;  ///< by look: called until then, and called at it
};
inline constexpr std::int64_t first_look = 5;  ///< pairs

/// False from `go_on(share done)` ends it early, with fewer repeats.
TrialCounts run_trials(const Trials& trials, std::span<const double> gains, const std::function<bool(double)>& go_on);

/// Looks at n pairs, every so many from the first on and at the end.
std::vector<std::int64_t> looks_of(std::int64_t pairs, std::int64_t every);

}  // namespace models::measure
