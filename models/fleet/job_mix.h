#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/fleet/shelf_room.h"

/// Which sizes of jobs come to a fleet, and how long they run, as clusters have published it.
namespace models::fleet {

enum class DurationLaw : std::uint8_t {
  exponential,  ///< with `mean_s`
  log_normal,   ///< through `mean_s` and `median_s`
  two_decades   ///< the law of Gavel, OSDI 2020; see draw_duration
};
struct RunTimes {
  DurationLaw law = DurationLaw::exponential;
  double mean_s = 3600, median_s = 3600;

  double mean() const;
  /// The duration at a share u of the law, 0 < u < 1.
  double at(double u) const;
};

/// A kind of job: what it asks for, and its share of all jobs.
struct JobKind {
  ShelfShape shape;
  double share = 0;
  std::string_view profile{};  ///< a MIG profile's name; empty for whole GPUs
};

enum class Mix : std::uint8_t { gavel, philly, helios, seren, kalos, single, slices };
inline constexpr std::size_t mix_count = 7;

/// What a cluster printed of its GPU jobs. Source: AcmeTrace at 6d6ac9cd, data/cluster_summary.csv (Philly 2017, Helios
/// 2020, Seren and Kalos 2023), of "Characterization of Large Language Model Development in the Datacenter", NSDI 2024.
struct PrintedJobs {
  double mean_gpus = 1, max_gpus = 1;
  double mean_run_s = 3600, median_run_s = 3600;
  double mean_queue_s = 0, median_queue_s = 0;
};
/// Null for mixes that no cluster printed: Gavel's, single GPUs and slices.
const PrintedJobs* printed_jobs(Mix mix);

/// Sizes are powers of two, 1 to `max_gpus`, and the share of each is the same factor of that below it: the one law
/// with a single free number, which is fitted to the printed mean. Every cluster prints a median of one GPU; where the
/// law has fewer than half of its jobs there, that half is set and the law holds for the rest. The shares themselves
/// are not printed.
struct SizeShare {
  std::int64_t gpus = 1;
  double share = 0;
};
std::vector<SizeShare> fitted_sizes(double mean_gpus, double max_gpus);

struct JobMix {
  std::vector<JobKind> kinds;
  RunTimes durations;
  double left_out = 0;  ///< share of the jobs that are larger than `max_gpus` and are not sent
};
/// The jobs of a mix that ask for at most `max_gpus`, the rest left out and the shares scaled up to 1.
JobMix job_mix(Mix mix, std::int64_t max_gpus);

}  // namespace models::fleet
