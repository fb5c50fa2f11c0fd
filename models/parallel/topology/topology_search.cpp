#include "models/parallel/topology/topology_search.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace models::parallel {
namespace {

/// Ranks along an axis of the order alone, data without context.
std::int64_t ordered_size(const TopologyPlan& plan, TopologyAxis axis) {
  return axis == TopologyAxis::data ? plan.data : plan.size(axis);
}

/// A box of so many chips is searched whole: 720 placements.
constexpr std::size_t max_chips_tried_whole = 6;
/// A cluster of so many chips is searched from other starts too, each with so much effort.
constexpr std::size_t max_chips_restarted = 8;
constexpr std::int64_t restart_effort = 800;
constexpr int random_starts = 6;

TopologyPlacement priced_placement(const TopologyPlan& plan, const TopologyCosts& costs, std::int64_t swaps) {
  return {plan.order, plan.chip_of_rank, swaps, costs.step_s, costs};
}

/// Exchanges that lead from the chips as they are numbered to these.
std::int64_t exchanges_of(const std::vector<std::uint32_t>& chips) {
  std::vector<bool> seen(chips.size(), false);
  auto exchanges = static_cast<std::int64_t>(chips.size());
  for (std::size_t i = 0; i < chips.size(); ++i) {
    if (!seen[i]) --exchanges;
    for (std::size_t at = i; !seen[at]; at = chips[at]) seen[at] = true;
  }
  return exchanges;
}

/// Placements of one plan, of which the fastest is kept.
struct Descent {
  TopologyPricer& pricer;
  TopologyPlan& tried;
  TopologySearch& found;
  std::int64_t left = 0;  ///< placements that may still be priced

  /// Prices what is tried and keeps it where it is the fastest so far.
  double price() {
    const TopologyCosts costs = pricer.price(tried);
    ++found.priced;
    --left;
    if (costs.step_s < found.best.step_s * (1 - 1e-9))
      found.best = priced_placement(tried, costs, exchanges_of(tried.chip_of_rank));
    return costs.step_s;
  }

  /// Exchanges two chips as long as that is faster. True where no exchange of two is left that is.
  bool run() {
    std::vector<std::uint32_t>& chips = tried.chip_of_rank;
    const auto ranks = static_cast<std::size_t>(tried.ranks());
    double here = price();
    bool better = true;
    while (better && left > 0) {
      better = false;
      for (std::size_t a = 0; a < ranks && left > 0; ++a)
        for (std::size_t b = a + 1; b < chips.size() && left > 0; ++b) {
          std::swap(chips[a], chips[b]);
          const double there = price();
          if (there < here * (1 - 1e-9)) {
            here = there;
            better = true;
          } else {
            std::swap(chips[a], chips[b]);
          }
        }
    }
    return !better && left > 0;
  }
};

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
  Descent descent{pricer, tried, found, effort / ranks};
  std::vector<std::uint32_t>& chips = tried.chip_of_rank;
  const auto numbered = [&] {
    chips.resize(topology.chips.size());
    std::iota(chips.begin(), chips.end(), 0u);
  };
  tried.order = found.best.order;
  numbered();
  if (chips.size() <= max_chips_tried_whole) {
    do descent.price();
    while (std::next_permutation(chips.begin(), chips.end()));
    found.complete = true;
    return found;
  }
  found.complete = descent.run();
  if (chips.size() > max_chips_restarted) return found;
  // A valley may lie elsewhere: the other orders and shuffled chips are tried as starts too.
  for (std::size_t i = 1; i < found.orders.size(); ++i) {
    tried.order = found.orders[i].order;
    numbered();
    descent.left = restart_effort / ranks;
    descent.run();
  }
  std::minstd_rand random(1);
  numbered();
  for (int start = 0; start < random_starts; ++start) {
    for (std::size_t i = chips.size() - 1; i > 0; --i) std::swap(chips[i], chips[random() % (i + 1)]);
    descent.left = restart_effort / ranks;
    descent.run();
  }
  return found;
}

}  // namespace models::parallel
