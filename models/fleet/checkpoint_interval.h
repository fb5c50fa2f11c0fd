#pragma once
#include <cstdint>
#include <span>
#include <vector>

/// How often a long run should save, when failures come at random. Every formula takes failures as a Poisson process
/// of the whole job, a save that stops training while it lasts, and failures that also strike during saves and
/// restarts.
namespace models::fleet {

/// What a run saves and loses. All in seconds.
struct RunReliability {
  double save_s = 0;     ///< training stands still for each checkpoint this long
  double restart_s = 0;  ///< from a failure until training goes on from the last checkpoint
  double mtbf_s = 1;     ///< mean time between failures of the whole job
};

/// Young, CACM 17 (1974): sqrt(2 C M), seconds of work between two saves.
double young_interval_s(const RunReliability& run);
/// Daly, FGCS 22 (2006), first order: sqrt(2 C M) - C; at least 0.
double daly_first_interval_s(const RunReliability& run);
/// Daly 2006, higher order, eq. 37: sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + (C / 2M) / 9) - C for C < 2 M, else M.
double daly_higher_interval_s(const RunReliability& run);
/// The interval that makes efficiency() largest: M (1 + W0(-exp(-1 - C / M))), W0 the main branch of Lambert's
/// function. It does not depend on the restart. 0 where a save costs nothing.
double exact_interval_s(const RunReliability& run);

/// Mean seconds on the clock from one checkpoint to the next with `interval_s` of work between them:
/// M exp(R / M) (exp((T + C) / M) - 1). Infinite where it is beyond what a double holds.
double expected_segment_s(const RunReliability& run, double interval_s);
/// The share of the clock that is work which is kept, 0 to 1: T over the expected segment.
double checkpoint_efficiency(const RunReliability& run, double interval_s);
/// C / T + (T / 2 + R) / M, the usual estimate of the share that is lost; close while all of them are small, and above
/// 1 where they are not.
double first_order_waste(const RunReliability& run, double interval_s);
/// Work that a failure undoes on average when it strikes between two saves: T (1 / (1 - exp(T / M)) + M / T), nearly T
/// / 2 while T is far below M.
double mean_lost_work_s(double interval_s, double mtbf_s);

/// Where the clock of a long run goes, as shares that sum to 1.
struct ClockShares {
  double kept = 0, saving = 0, redone = 0, restarting = 0;
};
/// `redone` is work (and saves under way) that a failure undid; `restarting` counts restarts that failed as well.
ClockShares clock_shares(const RunReliability& run, double interval_s);

/// What one failure did to a run.
struct RunFailure {
  double at_s = 0;          ///< when it struck
  double fell_from_s = 0;   ///< work done until then
  double fell_to_s = 0;     ///< work that the last checkpoint held
  bool restarting = false;  ///< it struck while the run was restarting, and undid nothing more
};
/// A stretch of the clock in which work goes from one amount to another, or stands still; `cycles` are several turns of
/// work and save, joined, and end with a save.
struct RunStretch {
  enum class Kind : std::uint8_t { work, save, restart, cycles } kind = Kind::work;
  double from_s = 0, to_s = 0;            ///< the clock
  double work_from_s = 0, work_to_s = 0;  ///< work done
};
struct SimulatedRun {
  std::vector<RunStretch> stretches;
  std::vector<RunFailure> failures;  ///< those that struck before the end, in order
  double end_s = 0;                  ///< the clock at the end
  double kept_s = 0;                 ///< work done at the end, saved or not
  double redone_s = 0, saving_s = 0, restarting_s = 0;
};

/// Times at which failures strike until `until_s`: a Poisson process of mean gap `mtbf_s`, the same for a seed whatever
/// the run does, and those of a shorter mean gap at the same random numbers.
std::vector<double> failure_times_s(double mtbf_s, double until_s, std::int64_t seed);
/// Plays a run on the clock until `until_s`, with failures at the given times (ascending). Takes at most
/// `max_stretches` stretches and then ends early. Without work between saves nothing is played.
SimulatedRun simulate_run(const RunReliability& run, double interval_s, std::span<const double> failures_s,
                          double until_s, bool join_cycles = false, std::size_t max_stretches = 100'000);

/// Effective time ratio of Kokolis et al., HPCA 2025 (arXiv:2410.21680): (1 - N r (u0 + dt / 2)) / (1 + w / dt), with
/// failures a second of the whole job, seconds of restart, of a save and between saves.
double effective_time_ratio(double failures_per_s, double restart_s, double save_s, double interval_s);

/// The fewest spare machines with which more than that many are away at once with a chance of at most `shortage`:
/// a quantile of the binomial of `machines`, each away with chance `away` (0 to 1).
std::int64_t spare_machines(std::int64_t machines, double away, double shortage);
/// The same for a job that always runs on as many machines, because a spare takes the place of each that fails: then
/// the number away is Poisson with mean `mean_away` (failures a second of the job times seconds of a repair), whatever
/// the repairs' distribution (M/G/infinity queue).
std::int64_t spare_machines_of_job(double mean_away, double shortage);

}  // namespace models::fleet
