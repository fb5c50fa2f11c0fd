#include "models/machine/all_reduce_time.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace models {
namespace {

double rank_share(double ranks) { return (ranks - 1) / ranks; }

double ranks_a_node(const AllReduceGroup& g) { return static_cast<double>(g.ranks) / static_cast<double>(g.nodes()); }

AllReduceTime ring_of_nodes(const AllReduceGroup& g, const AllReduceLinks& l, double bytes) {
  const RingStep step = ring_step(g, l);
  return {.latency_s = l.base_s + 2 * (static_cast<double>(g.ranks) - 1) * step.hop_s,
          .transfer_s = ring_all_reduce_bytes(g.ranks, bytes) / step.bytes_per_s,
          .algorithm = AllReduceAlgorithm::ring};
}

AllReduceTime tree_of_nodes(const AllReduceGroup& g, const AllReduceLinks& l, double bytes) {
  const double ports = ranks_a_node(g);
  const auto depth = static_cast<double>(std::bit_width(static_cast<std::uint64_t>(g.nodes() - 1)));
  const double inside_s = g.nodes() == 1 || ports > 1 ? 2 * bytes / l.inside_bytes_per_s : 0;
  const double crossings = g.nodes() == 2 ? 1 : 2;
  const double between_s = g.nodes() == 1 ? 0 : crossings * bytes / (ports * l.between_bytes_per_s);
  return {.latency_s = l.base_s + 2 * ((ports - 1) * l.inside_hop_s + depth * l.between_hop_s),
          .transfer_s = std::max(inside_s, between_s),
          .algorithm = AllReduceAlgorithm::tree};
}

AllReduceTime hierarchy_of_nodes(const AllReduceGroup& g, const AllReduceLinks& l, double bytes) {
  const double ports = ranks_a_node(g);
  const auto nodes = static_cast<double>(g.nodes());
  return {.latency_s = l.base_s + 2 * (ports - 1) * l.inside_hop_s + 2 * (nodes - 1) * l.between_hop_s,
          .transfer_s = 2 * rank_share(ports) * bytes / l.inside_bytes_per_s +
                        2 * rank_share(nodes) * bytes / ports / l.between_bytes_per_s,
          .algorithm = AllReduceAlgorithm::hierarchical};
}

}  // namespace

std::string_view all_reduce_name(AllReduceAlgorithm algorithm) {
  constexpr std::array<std::string_view, all_reduce_algorithm_count> names{"ring", "tree", "hierarchical", "fastest"};
  return names[static_cast<std::size_t>(algorithm)];
}

RingStep ring_step(const AllReduceGroup& g, const AllReduceLinks& l) {
  const auto n = static_cast<double>(g.ranks), nodes = static_cast<double>(g.nodes());
  const double ports = ranks_a_node(g);
  const double hops_s = (n - nodes) * l.inside_hop_s + (nodes - 1) * l.between_hop_s;
  const double outside =
      std::min(ports == 1 ? l.between_bytes_per_s : l.inside_bytes_per_s, ports * l.between_bytes_per_s);
  return {.hop_s = hops_s / (n - 1), .bytes_per_s = g.nodes() == 1 ? l.inside_bytes_per_s : outside};
}

double ring_all_reduce_bytes(std::int64_t ranks, double buffer_bytes) {
  if (ranks < 2) return 0;
  const auto n = static_cast<double>(ranks);
  return 2 * (n - 1) / n * buffer_bytes;
}

AllReduceTime ring_gather_time(const AllReduceGroup& group, const AllReduceLinks& links, double buffer_bytes) {
  if (group.ranks < 2) return {};
  const RingStep step = ring_step(group, links);
  return {.latency_s = links.base_s + (static_cast<double>(group.ranks) - 1) * step.hop_s,
          .transfer_s = rank_share(static_cast<double>(group.ranks)) * buffer_bytes / step.bytes_per_s,
          .algorithm = AllReduceAlgorithm::ring};
}

double ring_all_reduce_s(std::int64_t ranks, double buffer_bytes, double bytes_per_s, double hop_s) {
  if (ranks < 2) return 0;
  return ring_all_reduce_bytes(ranks, buffer_bytes) / bytes_per_s + 2 * (static_cast<double>(ranks) - 1) * hop_s;
}

double in_switch_all_reduce_bytes(double ranks, double buffer_bytes) { return buffer_bytes * (1 + 1 / ranks); }

AllReduceTime all_reduce_time(AllReduceAlgorithm algorithm, const AllReduceGroup& group, const AllReduceLinks& links,
                              double buffer_bytes) {
  if (group.ranks < 2) return {};
  switch (algorithm) {
    case AllReduceAlgorithm::ring:
      return ring_of_nodes(group, links, buffer_bytes);
    case AllReduceAlgorithm::tree:
      return tree_of_nodes(group, links, buffer_bytes);
    case AllReduceAlgorithm::hierarchical:
      return hierarchy_of_nodes(group, links, buffer_bytes);
    case AllReduceAlgorithm::fastest:
      break;
  }
  AllReduceTime best = ring_of_nodes(group, links, buffer_bytes);
  for (const AllReduceTime& other :
       {tree_of_nodes(group, links, buffer_bytes), hierarchy_of_nodes(group, links, buffer_bytes)})
    if (other.total_s() < best.total_s()) best = other;
  return best;
}

}  // namespace models
