#include "models/parallel/topology_search.h"

#include <algorithm>
#include <numeric>

namespace models::parallel {
namespace {

/// Ranks along an axis of the order alone, data without context.
std::int64_t ordered_size(const TopologyPlan& plan, TopologyAxis axis) {
  return axis == TopologyAxis::data ? plan.data : plan.size(axis);
}

TopologyPlacement priced_placement(const TopologyPlan& plan, const TopologyCosts& costs, std::int64_t swaps) {
  return {plan.order, plan.chip_of_rank, swaps, costs.step_s, costs};
}

}  // namespace

std::vector<std::array<TopologyAxis, topology_ordered_axes>> topology_orders(const TopologyPlan& plan) {
  std::vector<TopologyAxis> busy, idle;
  for (const TopologyAxis axis :
       {TopologyAxis::tensor, TopologyAxis::context, TopologyAxis::pipeline, TopologyAxis::data})
    (ordered_size(plan, axis) > 1 ? busy : idle).push_back(axis);
  std::vector<std::array<TopologyAxis, topology_ordered_axes>> orders;
  do {
    std::array<TopologyAxis, topology_ordered_axes> order{};
    std::copy(idle.begin(), idle.end(), std::copy(busy.begin(), busy.end(), order.begin()));
    orders.push_back(order);
  } while (std::next_permutation(busy.begin(), busy.end()));
  return orders;
}

TopologySearch search_placements(TopologyPricer& pricer, const Topology& topology, const TopologyPlan& plan,
                                 std::int64_t effort) {
  TopologySearch found;
  TopologyPlan tried = plan;
  tried.chip_of_rank.clear();
  const std::int64_t ranks = std::max<std::int64_t>(plan.ranks(), 1);
  for (const auto& order : topology_orders(plan)) {
    tried.order = order;
    found.orders.push_back(priced_placement(tried, pricer.price(tried), 0));
  }
  found.priced = static_cast<std::int64_t>(found.orders.size());
  std::stable_sort(found.orders.begin(), found.orders.end(),
                   [](const TopologyPlacement& a, const TopologyPlacement& b) { return a.step_s < b.step_s; });
  found.best = found.orders.front();
  found.worst = found.orders.back();
  tried.order = found.best.order;
  tried.chip_of_rank.resize(topology.chips.size());
  std::iota(tried.chip_of_rank.begin(), tried.chip_of_rank.end(), 0u);
  bool better = true;
  std::int64_t left = effort / ranks;
  while (better && left > 0) {
    better = false;
    for (std::size_t a = 0; a < static_cast<std::size_t>(ranks) && left > 0; ++a)
      for (std::size_t b = a + 1; b < tried.chip_of_rank.size() && left > 0; ++b) {
        std::swap(tried.chip_of_rank[a], tried.chip_of_rank[b]);
        const TopologyCosts costs = pricer.price(tried);
        ++found.priced;
        --left;
        if (costs.step_s < found.best.step_s * (1 - 1e-9)) {
          found.best = priced_placement(tried, costs, found.best.swaps + 1);
          better = true;
        } else {
          std::swap(tried.chip_of_rank[a], tried.chip_of_rank[b]);
        }
      }
  }
  found.complete = !better && left > 0;
  return found;
}

}  // namespace models::parallel
