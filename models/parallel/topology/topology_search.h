#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "models/parallel/topology/topology_placement.h"

namespace models::parallel {

/// One placement and what it costs.
struct TopologyPlacement {
  std::array<TopologyAxis, topology_ordered_axes> order{};
  std::vector<std::uint32_t> chip_of_rank;  ///< empty: as the chips are numbered
  std::int64_t swaps = 0;                   ///< exchanges of two chips from the numbering
  double step_s = 0;
  TopologyCosts costs;
};

struct TopologySearch {
  std::vector<TopologyPlacement> orders;  ///< every order of the axes that have ranks to order, fastest first
  TopologyPlacement best, worst;          ///< best: after exchanges of chips too
  std::int64_t priced = 0;                ///< placements that were priced
  bool complete = false;                  ///< no exchange of two chips makes the best one faster
};

/// Prices every order of the axes, then exchanges chips of the fastest one, two at a time, as long as that makes it
/// faster or until `effort` ranks have been placed. Six chips or fewer are searched whole, every placement; eight or
/// fewer from the other orders and from shuffled chips too, since exchanges alone may end in a valley. The plan's own
/// order and chips are not kept.
TopologySearch search_placements(TopologyPricer& pricer, const Topology& topology, const TopologyPlan& plan,
                                 std::int64_t effort = 2500);

/// The orders that differ: axes of one rank stand last, in their usual order.
std::vector<std::array<TopologyAxis, topology_ordered_axes>> topology_orders(const TopologyPlan& plan);

}  // namespace models::parallel
