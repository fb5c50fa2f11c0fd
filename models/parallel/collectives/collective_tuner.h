#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/machine/all_reduce_time.h"
#include "models/parallel/collectives/collective_kinds.h"
#include "models/parallel/collectives/collective_machine.h"

/// Which algorithm and protocol NCCL takes for a size, and how long the call is then expected to last.
namespace models::parallel {

enum class NcclAlgorithm : std::uint8_t {
  tree,
  ring,
  collnet_direct,  ///< reduce-scatter in the node, the network's switches add, all-gather in the node
  collnet_chain,   ///< a chain in the node, the network's switches add
  nvls,            ///< NVSwitch adds and multicasts; over several nodes the network's switches add between them
  nvls_tree,       ///< NVSwitch inside, a tree of nodes between
  pat,             ///< parallel aggregated trees, for one rank a node
  send_receive,    ///< pairs; no choice is made
};
inline constexpr std::size_t nccl_algorithm_count = 8;
enum class NcclProtocol : std::uint8_t {
  ll,      ///< a flag with every 4 bytes
  ll128,   ///< a flag with every 120 bytes, in lines of 128 that a link must not tear
  simple,  ///< whole chunks, then a fence
};
inline constexpr std::size_t nccl_protocol_count = 3;
std::string_view nccl_algorithm_name(NcclAlgorithm algorithm);  ///< "NVLSTree", as NCCL's log writes it
std::string_view nccl_protocol_name(NcclProtocol protocol);     ///< "LL128"

/// One entry of the tuner's table: t = latency + S / bandwidth. Bandwidths are of the algorithm, S / t.
struct NcclCandidate {
  NcclAlgorithm algorithm{};
  NcclProtocol protocol{};
  double latency_s = 0;
  double ranked_bytes_per_s = 0;   ///< what the tuner ranks by: on two nodes a ring counts as one of a single node
  double limited_bytes_per_s = 0;  ///< the same within what the links between the nodes let through
  std::string_view limit;  ///< what sets the limited bandwidth: "NVLink", "network ports", "NCCL's cap on NVLSTree"
};

struct NcclForced {
  bool algorithm_is_forced = false, protocol_is_forced = false;
  NcclAlgorithm algorithm{};
  NcclProtocol protocol{};
};

/// The entries that NCCL would weigh for a collective, tree first. Latencies: ncclTunerConstantsDefaults. Bandwidths:
/// ncclTopoTuneModel, with the usable rate of the links in place of its topology search. NVLS: each rank's links carry
/// (1 + 1/G) S in each direction, at the efficiency that the tuner gives the switch (0.85 Hopper, 0.74 Blackwell); its
/// caps of NVLSTree are a channel's, of eight. Source: src/graph/tuning.cc of NCCL at 5067397c2676.
std::vector<NcclCandidate> nccl_candidates(const CollectiveMachine& machine, Primitive primitive,
                                           const NcclForced& forced = {});

/// What a node's switches do to an all-reduce (in_switch_all_reduce_bytes): the rate at which a rank's links carry it,
/// and its latency. 0 B/s where no switch adds.
struct InSwitchSums {
  double bytes_per_s = 0, latency_s = 0;
};
InSwitchSums in_switch_sums(const CollectiveMachine& machine);

/// An all-reduce of a group on such nodes while the network's switches add between them (CollNet, and NVLS where it is
/// there), the fastest of the entries; `share` multiplies their rates. Infinite inside one node.
double in_network_sum_s(CollectiveMachine machine, const AllReduceGroup& group, double share, double bytes);

struct CollectiveEstimate {
  double seconds = 0;
  NcclCandidate chosen;
  bool launch_bound = false;  ///< the host of one process is the slower part
};
/// Seconds of one entry, by its ranked or by its limited bandwidth: with the tuner's correction of trees at medium
/// sizes and its factor on the latency of a Simple ring between nodes.
double candidate_s(const CollectiveMachine& machine, Primitive primitive, const NcclCandidate& candidate, double bytes,
                   bool limited);
/// The entry of least ranked time, priced within its limits. `candidates` are not empty.
CollectiveEstimate choose_collective(const CollectiveMachine& machine, Primitive primitive,
                                     const std::vector<NcclCandidate>& candidates, double bytes);

/// Links and latencies of one algorithm and protocol, as `all_reduce_time` takes them; for a hierarchical all-reduce
/// those of a ring.
AllReduceLinks collective_links(const CollectiveMachine& machine, NcclAlgorithm algorithm, NcclProtocol protocol);

}  // namespace models::parallel
