#include "models/parallel/moe/moe_exchange.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace models::parallel {
namespace {

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// Ranks of one node: all nodes are full but perhaps the last.
struct MoeNode {
  std::size_t first = 0, count = 0;
};
MoeNode node_of(const MoeExchangeSetting& s, std::size_t node) {
  const auto each = static_cast<std::size_t>(s.ranks_per_node), ranks = static_cast<std::size_t>(s.ranks);
  return {node * each, std::min(each, ranks - node * each)};
}

}  // namespace

MoeTraffic count_traffic(const MoeRouted& routed, std::size_t tokens, const MoePlacement& placement,
                         std::int64_t ranks_per_node) {
  MoeTraffic out;
  const std::size_t ranks = placement.experts.size(), each = static_cast<std::size_t>(ranks_per_node);
  out.to_rank.assign(ranks, 0.0);
  out.to_rank_once.assign(ranks, 0.0);
  out.to_node_once.assign((ranks + each - 1) / each, 0.0);
  std::vector<std::vector<std::uint32_t>> goes(tokens);
  for (const MoeCopy& copy : routed.copies) {
    if (!copy.kept) continue;
    const std::vector<std::int32_t>& holders = placement.ranks[copy.expert];
    goes[copy.token].push_back(static_cast<std::uint32_t>(holders[copy.token % holders.size()]));
  }
  const double share = 1 / static_cast<double>(tokens);
  for (std::vector<std::uint32_t>& to : goes) {
    std::sort(to.begin(), to.end());
    for (std::size_t i = 0; i < to.size(); ++i) {
      out.to_rank[to[i]] += share;
      out.copies += share;
      if (i == 0 || to[i] != to[i - 1]) out.to_rank_once[to[i]] += share;
      if (i == 0 || to[i] / each != to[i - 1] / each) out.to_node_once[to[i] / each] += share;
    }
  }
  return out;
}

MoeTraffic even_traffic(const MoeTraffic& traffic) {
  MoeTraffic out = traffic;
  for (std::vector<double>* part : {&out.to_rank, &out.to_rank_once, &out.to_node_once})
    std::fill(part->begin(), part->end(), sum_of(*part) / static_cast<double>(part->size()));
  return out;
}

MoeExchangeTime exchange_time(const MoeExchangeSetting& s, const MoeTraffic& traffic, double row_bytes) {
  MoeExchangeTime out;
  const auto ranks = static_cast<std::size_t>(s.ranks);
  out.rank_s.assign(ranks, 0.0);
  if (ranks < 2) return out;
  const double rows = s.tokens_per_rank * row_bytes;  // bytes of all tokens of one rank, once
  const bool once = s.way == MoeExchange::once_per_node;
  const std::vector<double>& inside = once ? traffic.to_rank_once : traffic.to_rank;
  const double all_ranks = sum_of(traffic.to_rank), all_nodes = sum_of(traffic.to_node_once);
  double slowest_inside = 0, slowest_between = 0;
  for (std::size_t node = 0; node < static_cast<std::size_t>(s.nodes()); ++node) {
    const MoeNode n = node_of(s, node);
    const auto here = static_cast<double>(n.count), away = static_cast<double>(ranks - n.count);
    double node_copies = 0;
    for (std::size_t r = n.first; r < n.first + n.count; ++r) node_copies += inside[r];
    for (std::size_t r = n.first; r < n.first + n.count; ++r) {
      // Copies of one rank's tokens, to be multiplied by `rows`.
      double between_out = 0, between_in = 0, inside_out = 0, inside_in = 0;
      if (once) {
        between_out = all_nodes - traffic.to_node_once[node];
        between_in = away / here * traffic.to_node_once[node];
        inside_in = inside[r] * static_cast<double>(ranks) * (here - 1) / here;
        // What came in at this port, and its own tokens, passed on to the node's other ranks.
        inside_out = (node_copies - inside[r]) * static_cast<double>(ranks) / here;
      } else {
        between_out = all_ranks - node_copies;
        between_in = away * inside[r];
        inside_out = node_copies - inside[r];
        inside_in = (here - 1) * inside[r];
      }
      const double between_s = rows * std::max(between_out, between_in) / s.links.between_bytes_per_s;
      const double inside_s = rows * std::max(inside_out, inside_in) / s.links.inside_bytes_per_s;
      slowest_between = std::max(slowest_between, between_s);
      slowest_inside = std::max(slowest_inside, inside_s);
      out.rank_s[r] = std::max(between_s, inside_s);
      out.sent_bytes += rows * (between_out + inside_out) / static_cast<double>(ranks);
      out.between_bytes += rows * between_out / static_cast<double>(ranks);
      out.received_bytes = std::max(out.received_bytes, rows * (between_in + inside_in));
    }
  }
  out.between_bound = slowest_between > slowest_inside;
  out.time_s = s.links.base_s + std::max(slowest_between, slowest_inside);
  const double handed = !once ? all_ranks : s.nodes() > 1 ? all_nodes : sum_of(traffic.to_rank_once);
  if (out.time_s > 0) out.logical_bytes_per_s = rows * handed / out.time_s;
  return out;
}

}  // namespace models::parallel
