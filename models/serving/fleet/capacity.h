#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/base/result.h"
#include "models/serving/arrivals/arrival_stats.h"
#include "models/serving/engine/serving_cost.h"

/// How many replicas of a model a stream of requests needs: for the memory of its caches, for the work that it brings,
/// and for the time in which it wants to be answered.
///
/// A replica is a server of chunked prefill (Agrawal et al. 2024, as vLLM and TensorRT-LLM do by default): a step gives
/// a token to each of n sequences, and takes up to `chunk_tokens` - n tokens of prompts along where some wait. Steps
/// cost what serving_cost.h says. In the steady state of a replica that gets `rate` requests a second, with S0 the step
/// without prompts, a the time that the prompt of a request adds to the steps, and o the tokens after the first,
///
///   gap between tokens  s = S0(n) + n a(n) / o       (each second has rate x a of prompts in it)
///   Little's law        n = rate o s
///
/// so that rate = n / (o S0 + n a). All that depends on the load is known once n is.
namespace models {

/// Who asks, on average, and how far from it.
struct CapacityDemand {
  double rate_per_s = 1;
  double prompt_mean = 1, output_mean = 1;
  double pairs_mean = 1;    ///< (query, key) pairs of a prompt
  double context_mean = 1;  ///< tokens of cache that a decode step reads for a sequence, on average over its steps
  double context_cv = 0;    ///< standard deviation over mean of that, over the sequences of a batch
  double burst = 1;         ///< variance over mean of the number that arrives in about 10 s; 1: Poisson
  /// Means of shares of the requests, from the shortest on, each as large as capacity_shares() says.
  std::vector<double> prompts, outputs;
};
/// Shares in which distributions of lengths are kept: finer where they are long. They add up to 1.
std::span<const double> capacity_shares();
/// Log-normal lengths that do not depend on each other (standard deviation over mean: `variation`), Poisson arrivals.
CapacityDemand demand_of_lengths(double rate_per_s, double prompt_tokens, double output_tokens, double variation);
/// Lengths as they were recorded; failed requests ask for nothing. Nothing in it: the rate is 0.
CapacityDemand demand_of_arrivals(std::span<const RequestArrival> arrivals, double rate_per_s, double burst);

struct CapacityEngine {
  double chunk_tokens = 1024;  ///< new tokens in a step, at most
  double slots = 4096;         ///< sequences in a batch, at most
};
/// What must be kept, and for which share of the requests each limit must be.
struct CapacityLimits {
  double ttft_s = 1, tpot_s = 0.05;
  double share = 0.99;
  double busy = 0.8;  ///< share of the time that a replica may work, where it cannot do more than work
};

/// One replica and what it costs.
struct CapacityReplica {
  ServingCost cost;
  double chips = 1;
  double copies = 1;       ///< chips that hold the same key and value head
  double room_tokens = 0;  ///< cache that fits beside the weights
  CapacityEngine engine;
  double sequences_within(const CapacityDemand& d) const;  ///< that the room holds, each of average length
};
/// `one` is what one of the machine's chips takes (serving_cost_of_one). Infeasible, in one sentence: weights that do
/// not fit, a model that cannot be cut over so many chips, no link.
Result<CapacityReplica> capacity_replica(const ServingCost& one, const Architecture& architecture,
                                         const ServingMachine& machine, const CapacityEngine& engine);

/// A replica in its steady state.
struct ReplicaState {
  double sequences = 0;      ///< n: that decode at once, on average
  double rate_per_s = 0;     ///< requests that it gets
  double gap_s = 0;          ///< s: between two tokens of a sequence, on average
  double empty_step_s = 0;   ///< S0: a step without prompts
  double full_step_s = 0;    ///< S1: a step full of prompt tokens, without their attention
  double prompts_share = 0;  ///< share of the steps that carry prompts
  double prompts_busy = 0;   ///< share of the time in which prompts are computed; 1 and more: they pile up
  double prompt_s = 0;       ///< a request's prompt in full steps, mean
};
ReplicaState replica_with(const CapacityReplica& replica, const CapacityDemand& demand, double sequences);
/// The state at a load; the sequences are infinite where the load is beyond what the replica can do.
ReplicaState replica_at(const CapacityReplica& replica, const CapacityDemand& demand, double rate_per_s);

/// Share of requests whose first token takes longer than this, or whose later ones take longer on average, where
/// `replicas` get them in turn. First tokens: the rest of a step, the prompts before it (Kingman's mean wait with an
/// exponential tail; dealing in turn divides the burstiness), its own prompt. Later ones: steps are normal around their
/// mean, as far as n and the prompts among them vary.
double share_beyond_ttft(const ReplicaState& s, const CapacityReplica& r, const CapacityDemand& d, double replicas,
                         double limit_s);
double share_beyond_tpot(const ReplicaState& s, const CapacityReplica& r, const CapacityDemand& d, double replicas,
                         double limit_s);
/// The times that only 1 - share take longer.
double ttft_of_share(const ReplicaState& s, const CapacityReplica& r, const CapacityDemand& d, double replicas,
                     double share);
double tpot_of_share(const ReplicaState& s, const CapacityReplica& r, const CapacityDemand& d, double replicas,
                     double share);

/// Seconds that a request keeps a replica at work if the reading of weights is shared by endlessly many: no scheduler
/// needs less.
double least_work_s(const CapacityReplica& replica, const CapacityDemand& demand);

enum class CapacityWall : std::uint8_t { memory, rate, latency };
inline constexpr std::size_t capacity_wall_count = 3;

/// Replicas that each demand asks for, as real numbers: the walls. Infinite: no number is enough.
struct CapacityWalls {
  double memory = 0;          ///< caches of all who are there at once, 99 of 100 times
  double rate = 0;            ///< the least work, at `busy`
  double ttft = 0, tpot = 0;  ///< each limit, for `share` of the requests
  double latency() const { return ttft > tpot ? ttft : tpot; }
  double highest() const;
  CapacityWall binds() const;
};
CapacityWalls capacity_walls(const CapacityReplica& replica, const CapacityDemand& demand,
                             const CapacityLimits& limits);

/// Requests a second that a replica can do when its memory is full and others always wait.
ReplicaState saturated_replica(const CapacityReplica& replica, const CapacityDemand& demand);

}  // namespace models
