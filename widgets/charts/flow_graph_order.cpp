#include <algorithm>
#include <cmath>
#include <numeric>

#include "widgets/charts/flow_graph.h"

namespace widgets {
namespace {

using Places = std::vector<std::uint32_t>;

/// Marks edges that close a cycle: those that a depth-first walk finds leading back to a node it is still under.
void find_backward(std::span<const FlowNode> nodes, std::span<const FlowEdge> edges, const std::vector<bool>& usable,
                   std::vector<bool>& backward) {
  enum class Mark : std::uint8_t { fresh, open, done };
  std::vector<Mark> marks(nodes.size(), Mark::fresh);
  std::vector<Places> leaving(nodes.size());
  for (std::uint32_t e = 0; e < edges.size(); ++e)
    if (usable[e]) leaving[edges[e].from].push_back(e);
  std::vector<std::pair<std::uint32_t, std::size_t>> walk;
  for (std::uint32_t root = 0; root < nodes.size(); ++root) {
    if (marks[root] != Mark::fresh) continue;
    walk.push_back({root, 0});
    marks[root] = Mark::open;
    while (!walk.empty()) {
      auto& [node, next] = walk.back();
      if (next == leaving[node].size()) {
        marks[node] = Mark::done;
        walk.pop_back();
        continue;
      }
      const std::uint32_t e = leaving[node][next++], to = edges[e].to;
      if (marks[to] == Mark::open) backward[e] = true;
      if (marks[to] != Mark::fresh) continue;
      marks[to] = Mark::open;
      walk.push_back({to, 0});
    }
  }
}

/// Longest path from the sources; then a source moves up to its first successor, so that late inputs sit where they are
/// used.
std::vector<std::uint32_t> find_layers(std::size_t nodes,
                                       const std::vector<std::pair<std::uint32_t, std::uint32_t>>& links) {
  std::vector<std::uint32_t> layer(nodes, 0), entering(nodes, 0);
  std::vector<Places> leaving(nodes);
  for (const auto& [from, to] : links) {
    leaving[from].push_back(to);
    ++entering[to];
  }
  std::vector<std::uint32_t> waiting = entering, ready;
  for (std::uint32_t n = 0; n < nodes; ++n)
    if (waiting[n] == 0) ready.push_back(n);
  for (std::size_t i = 0; i < ready.size(); ++i)
    for (const std::uint32_t to : leaving[ready[i]]) {
      layer[to] = std::max(layer[to], layer[ready[i]] + 1);
      if (--waiting[to] == 0) ready.push_back(to);
    }
  for (std::uint32_t n = 0; n < nodes; ++n) {
    if (entering[n] != 0 || leaving[n].empty()) continue;
    std::uint32_t first = UINT32_MAX;
    for (const std::uint32_t to : leaving[n]) first = std::min(first, layer[to]);
    layer[n] = first - 1;
  }
  return layer;
}

/// Neighbours of each place in the layer before and after.
struct Neighbours {
  std::vector<Places> before, after;
};
Neighbours neighbours_of(const FlowOrder& order) {
  Neighbours n{std::vector<Places>(order.places.size()), std::vector<Places>(order.places.size())};
  for (const Places& route : order.routes)
    for (std::size_t i = 1; i < route.size(); ++i) {
      n.after[route[i - 1]].push_back(route[i]);
      n.before[route[i]].push_back(route[i - 1]);
    }
  return n;
}

void number_across(FlowOrder& order) {
  for (const Places& layer : order.layers)
    for (std::size_t i = 0; i < layer.size(); ++i) order.places[layer[i]].across = static_cast<double>(i);
}

double mean_across(const FlowOrder& order, const Places& of, double fallback) {
  if (of.empty()) return fallback;
  double sum = 0;
  for (const std::uint32_t p : of) sum += order.places[p].across;
  return sum / static_cast<double>(of.size());
}

void sort_layers(FlowOrder& order) {
  const Neighbours n = neighbours_of(order);
  std::vector<Places> best = order.layers;
  std::size_t fewest = count_crossings(order);
  std::vector<double> wish(order.places.size());
  for (int sweep = 0; sweep < 12 && fewest > 0; ++sweep) {
    const bool down = sweep % 2 == 0;
    for (std::size_t k = 0; k < order.layers.size(); ++k) {
      Places& layer = order.layers[down ? k : order.layers.size() - 1 - k];
      for (const std::uint32_t p : layer)
        wish[p] = mean_across(order, down ? n.before[p] : n.after[p], order.places[p].across);
      std::stable_sort(layer.begin(), layer.end(), [&](std::uint32_t a, std::uint32_t b) { return wish[a] < wish[b]; });
      for (std::size_t i = 0; i < layer.size(); ++i) order.places[layer[i]].across = static_cast<double>(i);
    }
    if (const std::size_t crossings = count_crossings(order); crossings < fewest) {
      fewest = crossings;
      best = order.layers;
    }
  }
  order.layers = best;
  number_across(order);
}

/// Moves places towards the mean of their neighbours, in order and a box apart (a bend takes half a box).
void spread(FlowOrder& order) {
  const Neighbours n = neighbours_of(order);
  const auto gap = [&](std::uint32_t a, std::uint32_t b) {
    return (order.places[a].node < 0 ? 0.25 : 0.5) + (order.places[b].node < 0 ? 0.25 : 0.5);
  };
  std::vector<double> wish;
  for (int pass = 0; pass < 16; ++pass) {
    for (std::size_t k = 0; k < order.layers.size(); ++k) {
      const Places& layer = order.layers[pass % 2 == 0 ? k : order.layers.size() - 1 - k];
      wish.clear();
      double drift = 0;
      for (const std::uint32_t p : layer) {
        const double here = order.places[p].across, before = mean_across(order, n.before[p], here),
                     after = mean_across(order, n.after[p], here);
        wish.push_back(n.before[p].empty() ? after : n.after[p].empty() ? before : (before + after) / 2);
      }
      for (std::size_t i = 0; i < layer.size(); ++i) {
        double at = wish[i];
        if (i > 0) at = std::max(at, order.places[layer[i - 1]].across + gap(layer[i - 1], layer[i]));
        order.places[layer[i]].across = at;
        drift += at - wish[i];
      }
      // Keeping apart pushes one way only; moving all back by the mean makes it even.
      for (const std::uint32_t p : layer) order.places[p].across -= drift / static_cast<double>(layer.size());
    }
  }
}

}  // namespace

std::size_t count_crossings(const FlowOrder& order) {
  std::vector<std::vector<std::pair<double, double>>> links(order.layers.size());
  for (const Places& route : order.routes)
    for (std::size_t i = 1; i < route.size(); ++i)
      links[order.places[route[i - 1]].layer].push_back(
          {order.places[route[i - 1]].across, order.places[route[i]].across});
  std::size_t crossings = 0;
  for (const auto& between : links)
    for (std::size_t a = 0; a < between.size(); ++a)
      for (std::size_t b = a + 1; b < between.size(); ++b)
        crossings += (between[a].first - between[b].first) * (between[a].second - between[b].second) < 0 ? 1 : 0;
  return crossings;
}

FlowOrder order_flow(std::span<const FlowNode> nodes, std::span<const FlowEdge> edges) {
  FlowOrder order;
  if (nodes.size() > max_flow_nodes || edges.size() > max_flow_edges) {
    order.problem.add("The graph has ").add_integer(static_cast<std::int64_t>(nodes.size())).add(" boxes and ");
    order.problem.add_integer(static_cast<std::int64_t>(edges.size()))
        .add(" arrows; up to ")
        .add_integer(max_flow_nodes)
        .add(" and ");
    order.problem.add_integer(max_flow_edges).add(" are drawn.");
    return order;
  }
  order.routes.resize(edges.size());
  order.backward.assign(edges.size(), false);
  std::vector<bool> usable(edges.size());
  for (std::size_t e = 0; e < edges.size(); ++e) {
    usable[e] = edges[e].from < nodes.size() && edges[e].to < nodes.size() && edges[e].from != edges[e].to;
    if (usable[e] || order.problem.length > 0) continue;
    order.problem.add("Arrow ").add_integer(static_cast<std::int64_t>(e));
    order.problem.add(edges[e].from == edges[e].to && edges[e].to < nodes.size()
                          ? " leads from a box to itself and is left out."
                          : " names a box that does not exist and is left out.");
  }
  find_backward(nodes, edges, usable, order.backward);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> links;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    if (!usable[e]) continue;
    if (order.backward[e] && order.problem.length == 0) {
      order.problem.add("The arrow from \"")
          .add(nodes[edges[e].from].label)
          .add("\" to \"")
          .add(nodes[edges[e].to].label);
      order.problem.add("\" closes a cycle and is drawn against the flow.");
    }
    links.push_back(order.backward[e] ? std::pair{edges[e].to, edges[e].from} : std::pair{edges[e].from, edges[e].to});
  }
  const std::vector<std::uint32_t> layer = find_layers(nodes.size(), links);
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    if (layer[n] >= order.layers.size()) order.layers.resize(layer[n] + 1);
    order.places.push_back({n, layer[n], 0});
    order.layers[layer[n]].push_back(n);
  }
  std::size_t link = 0;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    if (!usable[e]) continue;
    const auto [from, to] = links[link++];
    Places& route = order.routes[e];
    route.push_back(from);
    for (std::uint32_t l = layer[from] + 1; l < layer[to]; ++l) {
      const auto bend = static_cast<std::uint32_t>(order.places.size());
      order.places.push_back({-1, l, 0});
      order.layers[l].push_back(bend);
      route.push_back(bend);
    }
    route.push_back(to);
  }
  number_across(order);
  sort_layers(order);
  spread(order);
  return order;
}

}  // namespace widgets
