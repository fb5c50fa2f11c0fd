#include "models/parallel/topology/topology_placement.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace models::parallel {
namespace {

/// Every coordinate of a rank, in the order of TopologyAxis.
struct RankCoordinates {
  std::array<std::int64_t, topology_ordered_axes> at{};
};

RankCoordinates coordinates_of(const TopologyPlan& plan, std::int64_t rank) {
  RankCoordinates c;
  for (const TopologyAxis axis : plan.order) {
    const std::int64_t n = plan.size(axis) / (axis == TopologyAxis::data ? plan.context : 1);
    c.at[static_cast<std::size_t>(axis)] = rank % n;
    rank /= n;
  }
  return c;
}

}  // namespace

std::string_view topology_axis_name(TopologyAxis axis) {
  constexpr std::array<std::string_view, topology_axis_count> names{"tensor", "context", "pipeline",
                                                                    "data",   "expert",  "expert data"};
  return names[static_cast<std::size_t>(axis)];
}

std::string_view topology_pattern_name(TopologyPattern pattern) {
  constexpr std::array<std::string_view, topology_pattern_count> names{"all-reduce", "reduce-scatter", "all-gather",
                                                                       "all-to-all", "send"};
  return names[static_cast<std::size_t>(pattern)];
}

std::string_view topology_method_name(TopologyMethod method) {
  constexpr std::array<std::string_view, 7> names{"none", "ring", "tree", "direct", "torus rings", "in switch", "send"};
  return names[static_cast<std::size_t>(method)];
}

std::int64_t TopologyPlan::size(TopologyAxis axis) const {
  switch (axis) {
    case TopologyAxis::tensor:
      return tensor;
    case TopologyAxis::context:
      return context;
    case TopologyAxis::pipeline:
      return pipeline;
    case TopologyAxis::data:
      return data * context;
    case TopologyAxis::expert:
      return expert;
    case TopologyAxis::expert_data:
      break;
  }
  return data * context / std::max<std::int64_t>(expert, 1);
}

Status check_topology_plan(const Topology& topology, const TopologyPlan& plan) {
  const auto chips = static_cast<std::int64_t>(topology.chips.size());
  for (const std::int64_t n : {plan.tensor, plan.context, plan.pipeline, plan.data, plan.expert})
    if (n < 1 || n > max_topology_ranks) return Status::fail("An axis has one rank or more, and at most 65,536.");
  if (plan.tensor * plan.context > max_topology_ranks || plan.pipeline * plan.data > max_topology_ranks ||
      plan.ranks() > chips)
    return Status::fail("The axes ask for " + std::to_string(plan.tensor) + " × " + std::to_string(plan.context) +
                        " × " + std::to_string(plan.pipeline) + " × " + std::to_string(plan.data) +
                        " ranks, and the machines have " + std::to_string(chips) +
                        " chips; take more boxes or smaller axes.");
  if (plan.data % plan.expert != 0)
    return Status::fail("Experts are spread over ranks along the data axis, and " + std::to_string(plan.data) +
                        " ranks are no multiple of " + std::to_string(plan.expert) + ".");
  std::array<bool, topology_ordered_axes> seen{};
  for (const TopologyAxis axis : plan.order) {
    const auto i = static_cast<std::size_t>(axis);
    if (i >= topology_ordered_axes || seen[i]) return Status::fail("The order names each of the four axes once.");
    seen[i] = true;
  }
  if (plan.chip_of_rank.empty()) return Status::ok();
  std::vector<bool> used(topology.chips.size(), false);
  for (const std::uint32_t chip : plan.chip_of_rank) {
    if (chip >= used.size() || used[chip])
      return Status::fail("The chips of the ranks must be numbers from 0 to " + std::to_string(chips - 1) +
                          ", each of them once.");
    used[chip] = true;
  }
  if (plan.chip_of_rank.size() != topology.chips.size())
    return Status::fail("The chips of the ranks are " + std::to_string(plan.chip_of_rank.size()) +
                        " numbers, and the machines have " + std::to_string(chips) + " chips; name each once.");
  return Status::ok();
}

std::vector<std::vector<std::uint32_t>> topology_groups(const TopologyPlan& plan, TopologyAxis axis) {
  const std::int64_t ranks = plan.ranks(), members = plan.size(axis);
  // Ranks with the same key are a group; the order within is by the place along the axis.
  std::vector<std::array<std::int64_t, 3>> keyed;
  keyed.reserve(static_cast<std::size_t>(ranks));
  for (std::int64_t r = 0; r < ranks; ++r) {
    const auto c = coordinates_of(plan, r).at;
    const std::int64_t t = c[0], x = c[1], p = c[2], d = c[3];
    const std::int64_t block = d / plan.expert, within = d % plan.expert;
    std::int64_t key = 0, place = 0;
    switch (axis) {
      case TopologyAxis::tensor:
        key = x + plan.context * (p + plan.pipeline * d);
        place = t;
        break;
      case TopologyAxis::context:
        key = t + plan.tensor * (p + plan.pipeline * d);
        place = x;
        break;
      case TopologyAxis::pipeline:
        key = t + plan.tensor * (x + plan.context * d);
        place = p;
        break;
      case TopologyAxis::data:
        key = t + plan.tensor * p;
        place = x + plan.context * d;
        break;
      case TopologyAxis::expert:
        key = t + plan.tensor * (x + plan.context * (p + plan.pipeline * block));
        place = within;
        break;
      case TopologyAxis::expert_data:
        key = t + plan.tensor * (p + plan.pipeline * within);
        place = x + plan.context * block;
        break;
    }
    keyed.push_back({key, place, r});
  }
  std::sort(keyed.begin(), keyed.end());
  std::vector<std::vector<std::uint32_t>> groups;
  for (std::size_t i = 0; i < keyed.size(); ++i) {
    if (i % static_cast<std::size_t>(members) == 0) groups.emplace_back();
    groups.back().push_back(static_cast<std::uint32_t>(keyed[i][2]));
  }
  return groups;
}

}  // namespace models::parallel
