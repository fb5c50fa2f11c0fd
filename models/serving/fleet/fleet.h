#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "models/serving/engine/serving.h"

/// Several replicas of one model behind a router: the discrete-event engine of serving.h, with what only a fleet has.
/// Replicas come and go by a rule, requests are sent away, and prompts may be read in a pool of their own whose caches
/// are then sent to the pool that writes the answers. Deterministic; time in whole microseconds.
namespace models {

/// Which replica a request goes to. least_requests: the fewest that wait or run. least_blocks: the fewest blocks of
/// cache that are taken or that the queue will take. two_choices: of two drawn by the seed, the one with fewer requests
/// (Mitzenmacher 2001). prefix_aware: the fewest tokens of prompts to read before this one's first token: those that
/// stand before it and its own that the replica does not have in its cache.
enum class FleetRouter : std::uint8_t { round_robin, least_requests, least_blocks, two_choices, prefix_aware };
inline constexpr int fleet_router_count = 5;

/// What the number of replicas follows, each as a mean over the replicas that serve. queue: requests that wait.
/// slots: requests that run, over the most that can. busy: share of the time since the last look in which a step ran,
/// which is what a counter of the GPU's utilization shows.
enum class ScaleSignal : std::uint8_t { none, queue, slots, busy };
inline constexpr int scale_signal_count = 4;

/// Every `interval_s` the number of replicas becomes their number x signal / target, rounded up, within its bounds;
/// changes of up to a tenth are not made (the rule of Kubernetes' horizontal autoscaler). More are started at once and
/// serve after `cold_start_s`; fewer only once none of the looks of the last `hold_s` wanted more. One that goes
/// finishes what it has, and is paid for until then.
struct FleetScaling {
  ScaleSignal signal = ScaleSignal::none;
  double target = 4;
  std::int64_t least = 1, most = 16;  ///< replicas
  double interval_s = 15, cold_start_s = 120, hold_s = 300;
  bool operator==(const FleetScaling&) const = default;
};

/// Prompts in a pool of their own. Blocks are then only counted.
struct FleetParting {
  std::int64_t prefill_replicas = 0;  ///< 0: every replica does both
  /// What a step costs in the pool of prompts, and the blocks of a replica there; null and 0: as in the other pool.
  const ServingCost* prefill_cost = nullptr;
  std::int64_t prefill_blocks = 0;
  /// The link of each replica, one way: a cache goes from one to one other, after those that either of them has begun.
  double link_bytes_per_s = 50e9, link_latency_s = 10e-6;
};

struct FleetSetup {
  /// One replica (continuous or chunked, with a cost); `servers` of them at the start. Spans and queues are not
  /// pictured.
  ServingSetup replica;
  FleetRouter router = FleetRouter::round_robin;
  std::uint64_t seed = 1;  ///< for two_choices
  FleetScaling scaling;
  FleetParting parting;
  /// A request that comes to a replica where so many wait is refused at once; 0: never.
  std::int64_t longest_queue = 0;
  double sample_s = 0;  ///< time between two points of the fleet's history; 0: none is kept
};

/// What became of a request.
enum class FleetVerdict : std::uint8_t { served, too_long, refused, dropped };

/// The fleet at one moment.
struct FleetPoint {
  double time_s = 0;
  std::int32_t serving = 0, starting = 0, leaving = 0;  ///< replicas
  std::int32_t waiting = 0, running = 0;                ///< requests
  bool operator==(const FleetPoint&) const = default;
};

struct FleetRun : ServingRun {
  std::vector<std::int16_t> replica;  ///< by request: that wrote its answer, or -1
  std::vector<FleetVerdict> verdict;  ///< by request
  std::int64_t queue_refused = 0;     ///< refused because too many waited; `refused` counts those that never fit
  double paid_replica_s = 0;          ///< from the order to start to the last departure, over all pools
  std::int64_t transfers = 0;         ///< caches sent from pool to pool
  double transfer_bytes = 0;
  double transfer_s = 0, transfer_wait_s = 0;  ///< sums: on the wire, and from the end of the prompt to its start
  std::int64_t most_replicas = 0;              ///< that were paid for at one time
  std::vector<FleetPoint> history;
};

/// Runs all requests, sorted by arrival, to the end.
FleetRun simulate_fleet(std::span<const ServingRequest> requests, const FleetSetup& setup);

}  // namespace models
