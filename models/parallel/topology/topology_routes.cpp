#include "models/parallel/topology/topology_routes.h"

#include <algorithm>
#include <limits>
#include <queue>

namespace models::parallel {
namespace {

constexpr std::uint32_t unreached = std::numeric_limits<std::uint32_t>::max();
/// More than any path inside a box costs, less than the two network links that a detour through the spine adds.
constexpr std::uint32_t relay_cost = 48;
/// More than any path, so that no chip is passed where another way is.
constexpr std::uint32_t no_relay_cost = 1u << 20;

std::uint32_t link_cost(TopologyLinkKind kind) {
  switch (kind) {
    case TopologyLinkKind::nvlink:
    case TopologyLinkKind::xgmi:
    case TopologyLinkKind::ici:
      return 1;
    case TopologyLinkKind::pcie:
      return 4;
    case TopologyLinkKind::socket:
      return 16;
    case TopologyLinkKind::network:
    case TopologyLinkKind::spine:
      break;
  }
  return 64;
}

}  // namespace

TopologyRoutes::TopologyRoutes(const Topology& topology)
    : topology_(topology), chips_(static_cast<std::uint32_t>(topology.chips.size())) {
  const std::size_t nodes = topology.nodes.size();
  first_arc_.assign(nodes + 1, 0);
  for (const TopologyLink& l : topology.links) {
    ++first_arc_[l.a + 1];
    ++first_arc_[l.b + 1];
  }
  for (std::size_t n = 0; n < nodes; ++n) first_arc_[n + 1] += first_arc_[n];
  arcs_.resize(first_arc_[nodes]);
  std::vector<std::uint32_t> at(first_arc_.begin(), first_arc_.end() - 1);
  for (std::uint32_t i = 0; i < topology.links.size(); ++i) {
    const TopologyLink& l = topology.links[i];
    arcs_[at[l.a]++] = {l.b, 2 * i, 0};
    arcs_[at[l.b]++] = {l.a, 2 * i + 1, 0};
  }
  trees_.resize(chips_);
  flow_.resize(nodes);
  found_.resize(static_cast<std::size_t>(chips_) * chips_);
  if (chips_ == 0) return;
  find_tree(0);
  for (const std::uint32_t chip : topology.chips) {
    const auto& order = trees_[0].order;
    connected_ = connected_ && std::find(order.begin(), order.end(), chip) != order.end();
  }
}

void TopologyRoutes::find_tree(std::uint32_t to) {
  Tree& tree = trees_[to];
  if (!tree.order.empty()) return;
  const bool torus = topology_.shape == TopologyShape::torus;
  std::vector<std::uint32_t> cost(topology_.nodes.size(), unreached);
  using Entry = std::pair<std::uint32_t, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  const std::uint32_t goal = topology_.chips[to];
  cost[goal] = 0;
  open.push({0, goal});
  // Among adapters that are as near, the goal's own number is taken, so that ranks of one number meet on one rail.
  const std::size_t adapters = topology_.count(TopologyNodeKind::nic) / static_cast<std::size_t>(topology_.boxes);
  const std::int32_t own =
      adapters == static_cast<std::size_t>(topology_.chips_a_box) ? topology_.nodes[goal].place : -1;
  // What it costs to go on from a node towards the goal; a chip between asks for the relay too.
  const auto through = [&](std::uint32_t node) {
    if (topology_.nodes[node].kind == TopologyNodeKind::nic && own >= 0 && topology_.nodes[node].place != own)
      return cost[node] + 1;
    const bool relays = topology_.nodes[node].kind == TopologyNodeKind::chip && node != goal && !torus;
    return cost[node] + (!relays ? 0 : topology_.relay ? relay_cost : no_relay_cost);
  };
  while (!open.empty()) {
    const auto [so_far, node] = open.top();
    open.pop();
    if (so_far != cost[node]) continue;
    tree.order.push_back(node);
    const std::uint32_t from_here = through(node);
    for (std::uint32_t i = first_arc_[node]; i < first_arc_[node + 1]; ++i) {
      const Branch& b = arcs_[i];
      const std::uint32_t total = from_here + link_cost(topology_.links[b.arc / 2].kind);
      if (total >= cost[b.node]) continue;
      cost[b.node] = total;
      open.push({total, b.node});
    }
  }
  std::reverse(tree.order.begin(), tree.order.end());
  for (const std::uint32_t chip : topology_.chips) tree.cost.push_back(cost[chip]);
  tree.first_branch.push_back(0);
  for (const std::uint32_t node : tree.order) {
    double all = 0;
    const std::size_t first = tree.branches.size();
    if (node != goal)
      for (std::uint32_t i = first_arc_[node]; i < first_arc_[node + 1]; ++i) {
        const Branch& b = arcs_[i];
        const TopologyLink& link = topology_.links[b.arc / 2];
        if (cost[b.node] == unreached || through(b.node) + link_cost(link.kind) != cost[node]) continue;
        all += link.line_bytes_per_s;
        tree.branches.push_back({b.node, b.arc, static_cast<float>(link.line_bytes_per_s)});
      }
    for (std::size_t i = first; i < tree.branches.size(); ++i)
      tree.branches[i].share = static_cast<float>(static_cast<double>(tree.branches[i].share) / all);
    tree.first_branch.push_back(static_cast<std::uint32_t>(tree.branches.size()));
  }
}

std::uint32_t TopologyRoutes::distance(std::uint32_t from, std::uint32_t to) {
  find_tree(to);
  return trees_[to].cost[from];
}

void TopologyRoutes::push(std::uint32_t to, std::span<const double> sent, std::span<double> load) {
  find_tree(to);
  const Tree& tree = trees_[to];
  std::fill(flow_.begin(), flow_.end(), 0.0);
  for (std::uint32_t i = 0; i < chips_ && i < sent.size(); ++i)
    if (i != to) flow_[topology_.chips[i]] = sent[i];
  run_down(tree, [&](TopologyArc arc, double part) { load[arc] += part; });
}

std::span<const TopologyStep> TopologyRoutes::between(std::uint32_t from, std::uint32_t to) {
  Found& found = found_[static_cast<std::size_t>(from) * chips_ + to];
  if (!found.made) {
    find_tree(to);
    const Tree& tree = trees_[to];
    found.first = static_cast<std::uint32_t>(steps_.size());
    std::fill(flow_.begin(), flow_.end(), 0.0);
    if (from != to) flow_[topology_.chips[from]] = 1;
    run_down(tree, [&](TopologyArc arc, double part) { steps_.push_back({arc, static_cast<float>(part)}); });
    found.count = static_cast<std::uint32_t>(steps_.size()) - found.first;
    found.made = true;
  }
  return std::span(steps_).subspan(found.first, found.count);
}

}  // namespace models::parallel
