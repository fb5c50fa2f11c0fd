#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/parallel/collectives/collective_schedule.h"

/// What a collective costs in the alpha-beta-gamma model: each step pays a latency, each byte a link's bandwidth, each
/// byte that is added to another a reduction's. Every rank has one link, which sends and receives at the same time.
namespace models::parallel {

struct AlphaBetaLinks {
  double latency_s = 5e-6, bandwidth_bytes_per_s = 50e9;
  double reduce_bytes_per_s = 0;  ///< bytes added to others a second; 0: adding is free
  /// Inside a node, where the hierarchical algorithm's first and last part runs.
  double inside_latency_s = 1e-6, inside_bandwidth_bytes_per_s = 450e9;
};

struct AlphaBetaTime {
  double latency_s = 0, transfer_s = 0, reduce_s = 0;
  double total_s() const { return latency_s + transfer_s + reduce_s; }
};

/// Time of `bytes` in the convention of nccl-tests: the whole buffer of an all-reduce, broadcast or reduce, and all
/// ranks' shares together where each has one. Ring, trees, halving and doubling, pairwise and Bruck: the closed forms
/// of Thakur, Rabenseifner, Gropp 2005, which hold step by step. Pipelined in the limit of many small pieces: the
/// double binary tree (Sanders, Speck, Traeff 2009), the chain with its best number of pieces, and the switch, whose
/// way up and way down are busy at once. `spec` must pass `check`; any number of ranks.
AlphaBetaTime collective_time(const CollectiveSpec& spec, double bytes, const AlphaBetaLinks& links);

/// Steps that pay a latency: those of the schedule in one piece, 2 (N - 1) of a ring all-reduce. In a chain every piece
/// after the first pays one more.
std::int64_t collective_steps(const CollectiveSpec& spec);

/// Bytes that the busiest rank sends over `bytes`: 2 (N - 1) / N of a ring all-reduce.
double sent_share(const CollectiveSpec& spec);

/// Bytes that pass one after the other on the way of `collective_time`, over `bytes`: 2 log2 N of a binomial
/// all-reduce. Of the hierarchical algorithm those that pass between nodes. The chain's pieces fill as they go, so its
/// share is that of large buffers, 1.
double serial_share(const CollectiveSpec& spec);

/// What a schedule's steps take when each begins after the one before: a latency, the most chunks that a rank sends or
/// receives, and the most that it adds. Equal to `collective_time` but for what is pipelined there.
AlphaBetaTime step_by_step_time(const CollectiveSchedule& schedule, double bytes, const AlphaBetaLinks& links);

/// When each state is reached if every step begins after the one before: `steps` + 1 times from 0, seconds.
std::vector<double> state_times(const CollectiveSchedule& schedule, double bytes, const AlphaBetaLinks& links);

struct ChunkTraffic {
  std::vector<std::int64_t> sent, received;  ///< chunks, by participant
};
ChunkTraffic chunk_traffic(const CollectiveSchedule& schedule);

/// Buffer sizes in [lo, hi] at which two collectives on the same ranks change places, ascending, to a relative error of
/// 1e-9.
std::vector<double> crossing_bytes(const CollectiveSpec& a, const CollectiveSpec& b, const AlphaBetaLinks& links,
                                   double lo, double hi);

/// An all-reduce on nodes: the parts of the hierarchical algorithm, and what it is held against.
struct HierarchyTimes {
  double inside_s = 0, between_s = 0;  ///< bytes alone: both halves in the nodes, the ring across them on all rails
  double pipelined_s = 0;              ///< the longer of the two: many pieces follow each other
  double flat_ring_s = 0;              ///< one ring of all ranks through one port of each node
  double flat_rails_s = 0;             ///< as many rings as a node has ranks, each through a port of its own
  double one_port_s = 0;               ///< one rank of each node carries the whole buffer across, then broadcasts it
};
/// Latencies are left out. `spec` must pass `check` as a hierarchical all-reduce.
HierarchyTimes hierarchy_times(const CollectiveSpec& spec, double bytes, const AlphaBetaLinks& links);

}  // namespace models::parallel
