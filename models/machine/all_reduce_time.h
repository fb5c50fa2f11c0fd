#pragma once
#include <cstdint>
#include <string_view>
#include "models/base/integer_math.h"

/// Time of an all-reduce over links with latency: closed forms of ring, tree and hierarchical, node by node.
namespace models {

enum class AllReduceAlgorithm : std::uint8_t {
  ring,          ///< one ring through all ranks, as many at once as a node has network ports
  tree,          ///< a chain inside each node and a double binary tree of nodes, pipelined
  hierarchical,  ///< reduce-scatter inside nodes, a ring of nodes for each rank's share, all-gather inside nodes
  fastest        ///< the one of these that takes least
};
inline constexpr std::size_t all_reduce_algorithm_count = 4;
/// "ring", "tree", "hierarchical", "fastest".
std::string_view all_reduce_name(AllReduceAlgorithm algorithm);

/// What lies between ranks. Bandwidths are of one direction, for one rank.
struct AllReduceLinks {
  double inside_bytes_per_s = 240e9, between_bytes_per_s = 47e9;
  double inside_hop_s = 0.6e-6, between_hop_s = 2.7e-6;  ///< latency of one step to a neighbour
  double base_s = 0;                                     ///< once for each all-reduce, whatever its size
};

/// Ranks that hold the same buffer, spread evenly over as few nodes of `ranks_per_node` as hold them.
struct AllReduceGroup {
  std::int64_t ranks = 1, ranks_per_node = 8;
  std::int64_t nodes() const { return ceil_div(ranks, ranks_per_node); }
};

struct AllReduceTime {
  double latency_s = 0, transfer_s = 0;
  AllReduceAlgorithm algorithm = AllReduceAlgorithm::ring;  ///< the one that runs, never `fastest`
  double total_s() const { return latency_s + transfer_s; }
};

/// Bytes that each rank of a ring sends, and receives: 2 (N - 1) / N of the buffer. 0 for one rank.
/// Source: Patarasuk, Yuan, "Bandwidth optimal all-reduce algorithms", 2009.
double ring_all_reduce_bytes(std::int64_t ranks, double buffer_bytes);

/// One step of a ring that runs through every rank of every node, as many rings at once as a node has network ports.
struct RingStep {
  double hop_s = 0;        ///< latency of a step, on average: of N - 1 steps in a row, nodes - 1 leave a node
  double bytes_per_s = 0;  ///< the slower of a node's inside and all of its network ports together
};
/// `group` must have two ranks or more.
RingStep ring_step(const AllReduceGroup& group, const AllReduceLinks& links);

/// An all-gather or a reduce-scatter of `buffer_bytes`, the whole buffer, over a ring through every rank: N - 1 steps,
/// of which nodes - 1 leave a node, and (N - 1) / N of the bytes at the ring's rate; adding is free. NCCL runs both as
/// rings where a node has several ranks. 0 for one rank. Source: Thakur, Rabenseifner, Gropp 2005.
AllReduceTime ring_gather_time(const AllReduceGroup& group, const AllReduceLinks& links, double buffer_bytes);

/// Bytes and steps of a ring over one kind of link: 2 (N - 1) / N of the buffer and 2 (N - 1) steps.
double ring_all_reduce_s(std::int64_t ranks, double buffer_bytes, double bytes_per_s, double hop_s);

/// Bytes that each rank's links carry in each direction where a switch adds and hands out sums (NVLink SHARP): the
/// whole buffer for the sums, and the Nth that the rank sums once more for all. Gathers and scatters alone gain
/// nothing: every rank receives, or sends, all of the buffer whoever adds. Source: src/graph/tuning.cc of NCCL.
double in_switch_all_reduce_bytes(double ranks, double buffer_bytes);

/// One all-reduce of `buffer_bytes`. 0 for one rank. Latencies count steps as NCCL's tuner does: of a ring's
/// 2 (N - 1) steps, 2 (nodes - 1) leave a node; of a tree's, 2 (ranks of a node - 1) stay inside and 2 log2(nodes),
/// rounded up, leave it. A ring moves 2 (N - 1) / N of the buffer through the slower of the node's inside and all of
/// its network ports together; a pipelined tree 2 of the buffer, but between two nodes, where each of the two trees
/// only sends its half there and back, 1; a hierarchical one 2 (G - 1) / G inside, then 2 (nodes - 1) / nodes of a G-th
/// of it through each port. Source: src/graph/tuning.cc of NCCL; Thakur, Rabenseifner, Gropp 2005; Sanders, Speck,
/// Traeff, "Two-tree algorithms", 2009.
AllReduceTime all_reduce_time(AllReduceAlgorithm algorithm, const AllReduceGroup& group, const AllReduceLinks& links,
                              double buffer_bytes);

}  // namespace models
