#include <algorithm>
#include <bit>

#include "models/machine/all_reduce_time.h"
#include "models/parallel/topology/topology_placement.h"

namespace models::parallel {
namespace {

/// Once for each collective: the LL ring's base latency of NCCL, src/graph/tuning.cc. ICI has no such library between.
constexpr double nccl_base_s = 6.6e-6;
/// What NVLS costs whatever the size, the same source.
constexpr double in_switch_latency_s = 25e-6;

bool halves(TopologyPattern pattern) {
  return pattern == TopologyPattern::all_gather || pattern == TopologyPattern::reduce_scatter;
}

double count(std::size_t n) { return static_cast<double>(n); }

/// A ring of the call's ranks: an all-gather and a reduce-scatter are half an all-reduce.
struct RingShare {
  std::int64_t ranks = 1;
  double half = 1, sent_bytes = 0;  ///< Share of an all-reduce's time; what each rank sends.
};
RingShare ring_of(const std::vector<std::vector<std::uint32_t>>& groups, const TopologyAxisCost& cost) {
  const auto n = static_cast<std::int64_t>(groups.front().size());
  const double half = halves(cost.call.pattern) ? 0.5 : 1;
  return {n, half, half * ring_all_reduce_bytes(n, cost.call.bytes)};
}

/// The i-th of the k members that ring r passes in an even box: one after the other, and on a mesh in zigzag, r, r + 1,
/// r - 1, r + 2, ..., which over all rings uses every link equally (Walecki's paths of a complete graph).
std::size_t member_of_ring(std::size_t r, std::size_t i, std::size_t k, TopologyShape shape) {
  if (shape != TopologyShape::mesh) return (r + i) % k;
  const std::size_t step = (i + 1) / 2;
  return (i % 2 == 1 ? r + step : r + 2 * k - step) % k;
}

}  // namespace

TopologyPricer::TopologyPricer(const Topology& topology, const std::vector<TopologyCall>& calls)
    : topology_(topology), calls_(calls), routes_(topology) {
  base_s_ = topology.shape == TopologyShape::torus ? 0 : nccl_base_s;
  const std::size_t arcs = 2 * topology.links.size();
  load_.resize(arcs);
  best_load_.resize(arcs);
  one_load_.resize(arcs);
  last_group_.resize(arcs);
  groups_on_.resize(arcs);
  best_groups_on_.resize(arcs);
  sent_.resize(topology.chips.size());
}

double TopologyPricer::capacity(TopologyArc arc) const {
  const TopologyLink& link = topology_.links[arc / 2];
  return line_rates_ ? link.line_bytes_per_s : link.reached_bytes_per_s;
}

void TopologyPricer::clear() {
  std::fill(load_.begin(), load_.end(), 0.0);
  std::fill(last_group_.begin(), last_group_.end(), 0);
  std::fill(groups_on_.begin(), groups_on_.end(), 0);
  group_ = 0;
  inside_hop_s_ = 0;
  between_hop_s_ = 0;
}

void TopologyPricer::add(std::uint32_t from, std::uint32_t to, double bytes) {
  double hop_s = 0;
  for (const TopologyStep& step : routes_.between(from, to)) {
    load_[step.arc] += bytes * static_cast<double>(step.share);
    if (last_group_[step.arc] != group_) {
      last_group_[step.arc] = group_;
      ++groups_on_[step.arc];
    }
    hop_s = std::max(hop_s, topology_.links[step.arc / 2].latency_s);
  }
  const bool inside = topology_.nodes[topology_.chips[from]].box == topology_.nodes[topology_.chips[to]].box;
  double& slowest = inside ? inside_hop_s_ : between_hop_s_;
  slowest = std::max(slowest, hop_s);
}

double TopologyPricer::busiest_s() const {
  double most = 0;
  for (TopologyArc arc = 0; arc < load_.size(); ++arc) most = std::max(most, load_[arc] / capacity(arc));
  return most;
}

std::vector<std::uint32_t> TopologyPricer::near_order(const std::vector<std::uint32_t>& chips) {
  std::vector<std::uint32_t> sorted = chips;
  std::sort(sorted.begin(), sorted.end());
  if (topology_.shape != TopologyShape::tree || sorted.size() > 32) return sorted;
  for (std::size_t i = 1; i + 1 < sorted.size(); ++i) {
    std::size_t nearest = i;
    for (std::size_t j = i + 1; j < sorted.size(); ++j)
      if (routes_.distance(sorted[i - 1], sorted[j]) < routes_.distance(sorted[i - 1], sorted[nearest])) nearest = j;
    std::rotate(sorted.begin() + static_cast<std::ptrdiff_t>(i), sorted.begin() + static_cast<std::ptrdiff_t>(nearest),
                sorted.begin() + static_cast<std::ptrdiff_t>(nearest) + 1);
  }
  return sorted;
}

/// One ring for each port that the group has in the box where it has fewest: NCCL lays no two channels through one port
/// where another box has ports to spare. A ring enters an even box through member r's port, leaves it through the one
/// through which it would leave the smallest box, and passes odd boxes the other way round, so that neighbours meet on
/// one rail.
void TopologyPricer::add_ring(const std::vector<std::uint32_t>& chips, double bytes) {
  std::vector<std::vector<std::uint32_t>> boxes;
  for (const std::uint32_t chip : near_order(chips)) {
    const std::int32_t box = topology_.nodes[topology_.chips[chip]].box;
    const auto known = std::find_if(boxes.begin(), boxes.end(), [&](const auto& b) {
      return topology_.nodes[topology_.chips[b.front()]].box == box;
    });
    if (known == boxes.end())
      boxes.push_back({chip});
    else
      known->push_back(chip);
  }
  std::size_t rings = 1;
  if (boxes.size() > 1) {
    rings = boxes.front().size();
    for (const auto& box : boxes) rings = std::min(rings, box.size());
  }
  std::vector<std::uint32_t> ring(chips.size());
  for (std::size_t r = 0; r < rings; ++r) {
    std::size_t at = 0;
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      const std::size_t k = boxes[b].size();
      std::vector<std::uint32_t> passed;
      for (std::size_t i = 0; i < k; ++i) passed.push_back(boxes[b][member_of_ring(r, i, k, topology_.shape)]);
      if (k > rings && rings > 1) {
        const std::uint32_t last = boxes[b][member_of_ring(r, rings - 1, rings, topology_.shape)];
        const auto found = std::find(passed.begin(), passed.end(), last);
        std::rotate(found, found + 1, passed.end());
      }
      if (b % 2 == 1) std::reverse(passed.begin(), passed.end());
      for (const std::uint32_t chip : passed) ring[at++] = chip;
    }
    for (std::size_t i = 0; i < ring.size(); ++i) add(ring[i], ring[(i + 1) % ring.size()], bytes / count(rings));
  }
}

void TopologyPricer::add_all_pairs(const std::vector<std::uint32_t>& chips, double bytes) {
  if (chips.size() <= 16) {
    for (const std::uint32_t from : chips)
      for (const std::uint32_t to : chips)
        if (from != to) add(from, to, bytes);
    return;
  }
  std::fill(one_load_.begin(), one_load_.end(), 0.0);
  std::fill(sent_.begin(), sent_.end(), 0.0);
  for (const std::uint32_t chip : chips) sent_[chip] = bytes;
  for (const std::uint32_t to : chips) routes_.push(to, sent_, one_load_);
  for (TopologyArc arc = 0; arc < load_.size(); ++arc) {
    if (one_load_[arc] == 0) continue;
    load_[arc] += one_load_[arc];
    ++groups_on_[arc];
    inside_hop_s_ = std::max(inside_hop_s_, topology_.links[arc / 2].latency_s);
  }
}

void TopologyPricer::find_slowest(TopologyAxisCost& cost) const {
  double most = 0;
  cost.kinds = 0;
  cost.slowest_link = -1;
  for (TopologyArc arc = 0; arc < load_.size(); ++arc) {
    if (load_[arc] <= 0) continue;
    const TopologyLink& link = topology_.links[arc / 2];
    cost.kinds |= 1u << static_cast<unsigned>(link.kind);
    const double busy_s = load_[arc] / capacity(arc);
    // Among links that are busy for as long, the farther one is named.
    const bool tie = cost.slowest_link >= 0 && busy_s > most * (1 - 1e-6) &&
                     link.kind > topology_.links[static_cast<std::size_t>(cost.slowest_link)].kind;
    if (busy_s <= most * (1 + 1e-6) && !tie) continue;
    most = std::max(most, busy_s);
    cost.slowest_link = arc / 2;
    cost.slowest_bytes_per_s = capacity(arc);
    cost.sharing = groups_on_[arc];
  }
  if (cost.slowest_link < 0) return;
  // Bytes are dealt over all switches of a box, so that the chip's links to them count as one.
  const TopologyLink& slowest = topology_.links[static_cast<std::size_t>(cost.slowest_link)];
  if (topology_.nodes[slowest.b].kind != TopologyNodeKind::fabric_switch) return;
  cost.slowest_bytes_per_s = 0;
  for (std::uint32_t i = 0; i < topology_.links.size(); ++i)
    if (topology_.links[i].a == slowest.a && topology_.links[i].kind == slowest.kind)
      cost.slowest_bytes_per_s += capacity(2 * i);
}

void TopologyPricer::keep_if_faster(TopologyAxisCost& best, const TopologyAxisCost& cost) {
  const bool faster =
      best.method == TopologyMethod::none || cost.latency_s + cost.transfer_s < best.latency_s + best.transfer_s;
  if (!faster) return;
  best = cost;
  find_slowest(best);
  std::swap(best_load_, load_);
  std::swap(best_groups_on_, groups_on_);
}

void TopologyPricer::price_ring(const Groups& groups, TopologyAxisCost& best) {
  clear();
  TopologyAxisCost cost = best;
  const auto [n, half, sent] = ring_of(groups, cost);
  std::int64_t most_in_a_box = 1;
  std::vector<std::int64_t> in_box(static_cast<std::size_t>(topology_.boxes));
  for (const auto& group : groups) {
    ++group_;
    add_ring(group, sent);
    std::fill(in_box.begin(), in_box.end(), 0);
    for (const std::uint32_t chip : group) {
      const std::int32_t box = topology_.nodes[topology_.chips[chip]].box;
      most_in_a_box = std::max(most_in_a_box, ++in_box[static_cast<std::size_t>(box)]);
    }
  }
  const double rate = sent / busiest_s();
  const AllReduceLinks links{rate, rate, inside_hop_s_, std::max(between_hop_s_, inside_hop_s_), base_s_};
  const AllReduceGroup group{n, most_in_a_box};
  const AllReduceTime ring = all_reduce_time(AllReduceAlgorithm::ring, group, links, cost.call.bytes);
  cost.method = TopologyMethod::ring;
  cost.latency_s = base_s_ + half * (ring.latency_s - base_s_);
  cost.transfer_s = half * ring.transfer_s;
  if (cost.call.pattern == TopologyPattern::all_reduce) {
    const AllReduceTime tree = all_reduce_time(AllReduceAlgorithm::tree, group, links, cost.call.bytes);
    if (tree.total_s() < ring.total_s()) {
      cost.method = TopologyMethod::tree;
      cost.latency_s = tree.latency_s;
      cost.transfer_s = tree.transfer_s;
    }
  }
  keep_if_faster(best, cost);
}

/// An all-to-all, or the two phases of an all-reduce in which every rank sends its share to each other at once.
void TopologyPricer::price_direct(const Groups& groups, TopologyAxisCost& best) {
  clear();
  TopologyAxisCost cost = best;
  const double phases = cost.call.pattern == TopologyPattern::all_reduce ? 2 : 1;
  for (const auto& group : groups) {
    ++group_;
    add_all_pairs(group, phases * cost.call.bytes / count(group.size()));
  }
  cost.method = TopologyMethod::direct;
  cost.latency_s = base_s_ + phases * std::max(inside_hop_s_, between_hop_s_);
  cost.transfer_s = busiest_s();
  keep_if_faster(best, cost);
}

void TopologyPricer::price_next(const Groups& groups, TopologyAxisCost& best) {
  clear();
  TopologyAxisCost cost = best;
  for (const auto& group : groups) {
    ++group_;
    for (std::size_t i = 0; i + 1 < group.size(); ++i) add(group[i], group[i + 1], cost.call.bytes);
  }
  cost.method = TopologyMethod::next;
  cost.latency_s = base_s_ + std::max(inside_hop_s_, between_hop_s_);
  cost.transfer_s = busiest_s();
  keep_if_faster(best, cost);
}

/// Rings along every dimension of a block at once: a rank sends over two links of a dimension that closes, over one of
/// a dimension that does not. False where a group is no block of neighbours.
bool TopologyPricer::price_torus(const Groups& groups, TopologyAxisCost& best) {
  clear();
  TopologyAxisCost cost = best;
  const auto [n, half, sent] = ring_of(groups, cost);
  double steps = 0, fewest_links = 0;
  for (const auto& group : groups) {
    std::array<std::uint64_t, 3> seen{};
    for (const std::uint32_t chip : group) {
      std::int32_t left = static_cast<std::int32_t>(chip);
      for (std::size_t d = 0; d < 3; ++d) {
        seen[d] |= 1ull << (left % topology_.torus[d]);
        left /= topology_.torus[d];
      }
    }
    double volume = 1, links = 0, hops = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const int extent = std::popcount(seen[d]);
      const int first = std::countr_zero(seen[d]);
      if (std::popcount((seen[d] >> first) + 1) != 1) return false;  // not neighbours
      volume *= extent;
      if (extent > 1) links += extent == topology_.torus[d] && extent > 2 ? 2 : 1;
      hops += extent - 1;
    }
    if (volume != count(group.size())) return false;
    fewest_links = fewest_links == 0 ? links : std::min(fewest_links, links);
    steps = std::max(steps, hops);
    ++group_;
    for (const std::uint32_t a : group)
      for (const std::uint32_t b : group)
        if (a < b && routes_.distance(a, b) == 1) {
          add(a, b, sent / links);
          add(b, a, sent / links);
        }
  }
  if (fewest_links == 0) return false;
  cost.method = TopologyMethod::torus_rings;
  cost.latency_s = base_s_ + 2 * half * steps * inside_hop_s_;
  cost.transfer_s = busiest_s();
  keep_if_faster(best, cost);
  return true;
}

/// The switches add: each rank sends its buffer once for the sums, and the Nth that it sums once more for all.
/// Source: NVIDIA, NVLink SHARP; the share is measured.
bool TopologyPricer::price_in_switch(const Groups& groups, TopologyAxisCost& best) {
  if (!(topology_.in_switch_share > 0)) return false;
  clear();
  TopologyAxisCost cost = best;
  const double n = count(groups.front().size()), bytes = in_switch_all_reduce_bytes(n, cost.call.bytes);
  double most_s = 0;
  std::vector<std::uint32_t> group_of_node(topology_.nodes.size(), 0);
  for (const auto& group : groups) {
    ++group_;
    for (const std::uint32_t chip : group) {
      if (topology_.nodes[topology_.chips[chip]].box != topology_.nodes[topology_.chips[group.front()]].box)
        return false;
      group_of_node[topology_.chips[chip]] = group_;
    }
  }
  std::vector<double> line(topology_.nodes.size(), 0.0);
  for (const TopologyLink& link : topology_.links)
    if (link.kind == TopologyLinkKind::nvlink) line[link.a] += link.line_bytes_per_s;
  for (std::uint32_t i = 0; i < topology_.links.size(); ++i) {
    const TopologyLink& link = topology_.links[i];
    if (link.kind != TopologyLinkKind::nvlink || group_of_node[link.a] == 0) continue;
    const double part = bytes * link.line_bytes_per_s / line[link.a];
    load_[2 * i] = load_[2 * i + 1] = part;
    groups_on_[2 * i] = groups_on_[2 * i + 1] = 1;
    const double share = line_rates_ ? 1 : topology_.in_switch_share;
    most_s = std::max(most_s, part / (share * link.line_bytes_per_s));
    inside_hop_s_ = std::max(inside_hop_s_, link.latency_s);
  }
  cost.method = TopologyMethod::in_switch;
  cost.latency_s = in_switch_latency_s;
  cost.transfer_s = most_s;
  keep_if_faster(best, cost);
  if (best.method == TopologyMethod::in_switch) best.slowest_bytes_per_s = bytes / most_s;
  return true;
}

TopologyCosts TopologyPricer::price(const TopologyPlan& plan,
                                    std::array<std::vector<double>, topology_axis_count>* load) {
  TopologyCosts costs;
  line_rates_ = plan.line_rates;
  for (const TopologyCall& call : calls_) {
    TopologyAxisCost cost;
    cost.call = call;
    cost.ranks = plan.size(call.axis);
    if (cost.ranks < 2 || !(call.bytes > 0)) continue;
    Groups groups = topology_groups(plan, call.axis);
    cost.groups = static_cast<std::int64_t>(groups.size());
    if (!plan.chip_of_rank.empty())
      for (auto& group : groups)
        for (std::uint32_t& rank : group) rank = plan.chip_of_rank[rank];
    const bool one_box = std::all_of(groups.begin(), groups.end(), [&](const auto& group) {
      return std::all_of(group.begin(), group.end(), [&](std::uint32_t chip) {
        return topology_.nodes[topology_.chips[chip]].box == topology_.nodes[topology_.chips[group.front()]].box;
      });
    });
    if (call.pattern == TopologyPattern::all_to_all) {
      price_direct(groups, cost);
    } else if (call.pattern == TopologyPattern::next_rank) {
      price_next(groups, cost);
    } else {
      price_ring(groups, cost);
      if (topology_.shape == TopologyShape::mesh && one_box) price_direct(groups, cost);
      if (topology_.shape == TopologyShape::torus) price_torus(groups, cost);
      if (plan.in_switch && call.pattern == TopologyPattern::all_reduce) price_in_switch(groups, cost);
    }
    cost.call_s = cost.latency_s + cost.transfer_s;
    cost.step_s = cost.call_s * call.calls;
    const double n = static_cast<double>(cost.ranks);
    const double factor = call.pattern == TopologyPattern::all_reduce  ? 2 * (n - 1) / n
                          : call.pattern == TopologyPattern::next_rank ? 1
                                                                       : (n - 1) / n;
    cost.bus_bytes_per_s = factor * call.bytes / cost.call_s;
    cost.bound_bytes_per_s = factor * call.bytes / cost.transfer_s;
    costs.step_s += cost.step_s;
    if (load) (*load)[static_cast<std::size_t>(call.axis)] = best_load_;
    costs.axes[static_cast<std::size_t>(call.axis)] = cost;
  }
  return costs;
}

}  // namespace models::parallel
