#include "models/parallel/topology/topology_bisection.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <vector>

namespace models::parallel {
namespace {

double rate_of(const TopologyLink& link, bool line_rates) {
  return line_rates ? link.line_bytes_per_s : link.reached_bytes_per_s;
}

/// A graph with what is left of each arc; arc i and i ^ 1 lead back and forth.
struct Residual {
  struct Arc {
    std::uint32_t to = 0;
    double left = 0;
  };
  std::vector<Arc> arcs;
  std::vector<std::vector<std::uint32_t>> from;  ///< arcs by node

  void join(std::uint32_t a, std::uint32_t b, double there, double back) {
    from[a].push_back(static_cast<std::uint32_t>(arcs.size()));
    arcs.push_back({b, there});
    from[b].push_back(static_cast<std::uint32_t>(arcs.size()));
    arcs.push_back({a, back});
  }

  /// Sends what fits along a shortest way (Edmonds and Karp), and returns it; 0 where none is left.
  double send(std::uint32_t source, std::uint32_t sink, double least) {
    constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> came_by(from.size(), none);
    std::queue<std::uint32_t> next;
    next.push(source);
    while (!next.empty() && came_by[sink] == none) {
      const std::uint32_t node = next.front();
      next.pop();
      for (const std::uint32_t arc : from[node]) {
        if (arcs[arc].left <= least || arcs[arc].to == source || came_by[arcs[arc].to] != none) continue;
        came_by[arcs[arc].to] = arc;
        next.push(arcs[arc].to);
      }
    }
    if (came_by[sink] == none) return 0;
    double flow = std::numeric_limits<double>::infinity();
    for (std::uint32_t at = sink; at != source; at = arcs[came_by[at] ^ 1u].to)
      flow = std::min(flow, arcs[came_by[at]].left);
    for (std::uint32_t at = sink; at != source; at = arcs[came_by[at] ^ 1u].to) {
      arcs[came_by[at]].left -= flow;
      arcs[came_by[at] ^ 1u].left += flow;
    }
    return flow;
  }
};

}  // namespace

double topology_bisection(const Topology& graph, bool line_rates) {
  if (graph.chips.size() < 2) return 0;
  const auto source = static_cast<std::uint32_t>(graph.nodes.size()), sink = source + 1;
  Residual residual;
  residual.from.resize(graph.nodes.size() + 2);
  double all = 0;
  for (const TopologyLink& link : graph.links) {
    const double rate = rate_of(link, line_rates);
    residual.join(link.a, link.b, rate, rate);
    all += 2 * rate;
  }
  const std::size_t half = graph.chips.size() / 2;
  for (std::size_t i = 0; i < graph.chips.size(); ++i) {
    if (i < half)
      residual.join(source, graph.chips[i], 2 * all, 0);
    else
      residual.join(graph.chips[i], sink, 2 * all, 0);
  }
  // Less than rounding leaves is nothing.
  const double least = 1e-12 * all;
  double sum = 0;
  while (const double flow = residual.send(source, sink, least)) sum += flow;
  return sum;
}

double topology_ports(const Topology& graph, bool line_rates) {
  double sum = 0;
  for (const TopologyLink& link : graph.links) {
    if (link.kind != TopologyLinkKind::nvlink && link.kind != TopologyLinkKind::xgmi &&
        link.kind != TopologyLinkKind::ici)
      continue;
    for (const std::uint32_t end : {link.a, link.b})
      if (graph.nodes[end].kind == TopologyNodeKind::chip) sum += 2 * rate_of(link, line_rates);
  }
  return sum;
}

}  // namespace models::parallel
