#pragma once
#include <atomic>
#include <cstdint>
#include <span>

#include "models/serving/fleet/capacity.h"

/// The plan of a fleet held against the engine: its requests are served one by one (serving.h), and what they took is
/// counted.
namespace models {

struct FleetTrial {
  std::int64_t replicas = 1;
  CapacityLimits limits;
  double variation = 0.8;  ///< spread of drawn lengths
  std::uint64_t seed = 1;
  std::span<const RequestArrival> recorded;  ///< empty: requests are drawn
  double speed = 1;                          ///< how many times faster recorded requests come
  double most_tokens = 3e6;                  ///< output tokens that are simulated, at most; later requests are left out
  const std::atomic<bool>* cancelled = nullptr;
};

/// What the engine made of a fleet. Percentiles are NaN where fewer than ten requests are expected beyond them.
struct TrialVerdict {
  std::int64_t requests = 0;  ///< that were measured
  double ttft_p50_s = 0, ttft_p99_s = 0, tpot_p50_s = 0, tpot_p99_s = 0;
  double kept_percent = 0;         ///< share of the requests that keep both limits
  double sequences = 0;            ///< in the batch of a replica, on average
  double busy_percent = 0;         ///< share of the time in which a replica works
  double preemptions_percent = 0;  ///< requests sent back for lack of cache, over all
  bool stopped = false;
};

/// Requests reach the replicas in turn. Drawn ones: one replica stands for all, which are alike; it gets every
/// replicas-th request of a Poisson stream, and is measured once it has filled. Recorded ones: all replicas, from an
/// empty fleet on, failed requests left out.
TrialVerdict try_fleet(const CapacityReplica& replica, const CapacityDemand& demand, const FleetTrial& trial);

}  // namespace models
