#pragma once
#include <cstdint>
#include <vector>

#include "models/parallel/moe/moe_placement.h"
#include "models/parallel/moe/moe_routing.h"

/// What dispatch and combine of expert parallelism move between ranks, and how long the slowest rank takes.
namespace models::parallel {

enum class MoeExchange : std::uint8_t {
  direct,        ///< every copy travels by itself: NCCL's all-to-all, DeepEP's low-latency kernels
  once_per_node  ///< a token crosses the network once for each node, and is copied to ranks inside (DeepEP's normal
                 ///< ones)
};
inline constexpr std::size_t moe_exchange_count = 2;

/// Bandwidths of one direction for one rank, as reached; `base_s` is paid once for each exchange.
struct MoeLinks {
  double inside_bytes_per_s = 337.5e9, between_bytes_per_s = 45e9, base_s = 25e-6;
};

struct MoeExchangeSetting {
  MoeExchange way = MoeExchange::direct;
  std::int64_t ranks = 8, ranks_per_node = 8;
  double tokens_per_rank = 4096;
  MoeLinks links;
  std::int64_t nodes() const { return (ranks + ranks_per_node - 1) / ranks_per_node; }
};

/// Copies of one rank's tokens, in tokens: means over all source ranks, which hold tokens alike. A token that two
/// experts of one rank work on counts twice where copies travel by themselves, else once.
struct MoeTraffic {
  std::vector<double> to_rank;       ///< by rank: copies that a token sends there, mean over tokens
  std::vector<double> to_rank_once;  ///< by rank: share of tokens that go there at all
  std::vector<double> to_node_once;  ///< by node
  double copies = 0;                 ///< kept copies a token
};
/// Counts the kept copies of routed tokens on a placement. A token takes copy number `token mod copies` of a replicated
/// expert.
MoeTraffic count_traffic(const MoeRouted& routed, std::size_t tokens, const MoePlacement& placement,
                         std::int64_t ranks_per_node);

/// Traffic of the same size, evenly spread over ranks and nodes.
MoeTraffic even_traffic(const MoeTraffic& traffic);

struct MoeExchangeTime {
  double time_s = 0;
  double sent_bytes = 0;           ///< by a rank to others, mean over ranks, over both kinds of link
  double between_bytes = 0;        ///< The part of sent_bytes that goes through the network.
  double received_bytes = 0;       ///< by the rank that receives most from others, over both kinds of link
  double logical_bytes_per_s = 0;  ///< bytes that a rank hands over, its own and its node's counted, over the time
  bool between_bound = false;      ///< the network takes longer than the links inside nodes
  std::vector<double> rank_s;      ///< by rank: its busiest link alone, without the base
};

/// Both kinds of link work at once; a rank's time is that of its busiest port, sending or receiving, and the exchange
/// waits for the slowest rank. Direct: copies for a rank of another node go through its own network port.
/// Once a node: a token enters a node at the port of its source's number there, and inside, all but one of the node's
/// ports pass it on. Combine moves the same back. 0 for one rank.
MoeExchangeTime exchange_time(const MoeExchangeSetting& setting, const MoeTraffic& traffic, double row_bytes);

}  // namespace models::parallel
