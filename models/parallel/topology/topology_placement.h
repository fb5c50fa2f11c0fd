#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/parallel/topology/topology_graph.h"
#include "models/parallel/topology/topology_routes.h"

/// Ranks of a parallel plan on the chips of a topology: the groups of each axis, what they send, and how long it takes.
namespace models::parallel {

/// Experts are spread over neighbours along the data-parallel axis. `expert_data` are the ranks that hold the same
/// experts.
enum class TopologyAxis : std::uint8_t { tensor, context, pipeline, data, expert, expert_data };
inline constexpr std::size_t topology_axis_count = 6;
/// The first four, whose sizes multiply to the ranks.
inline constexpr std::size_t topology_ordered_axes = 4;
inline constexpr std::int64_t max_topology_ranks = 65536;
std::string_view topology_axis_name(TopologyAxis axis);  ///< "tensor", ..., "expert data"

/// What the ranks of a group do together. Bytes of a call: the buffer of an all-reduce; what all ranks together hold
/// of an all-gather and a reduce-scatter; what one rank sends of an all-to-all, its own share counted; one message to
/// the next rank.
enum class TopologyPattern : std::uint8_t { all_reduce, reduce_scatter, all_gather, all_to_all, next_rank };
inline constexpr std::size_t topology_pattern_count = 5;
std::string_view topology_pattern_name(TopologyPattern pattern);  ///< "all-reduce"

struct TopologyCall {
  TopologyAxis axis = TopologyAxis::tensor;
  TopologyPattern pattern = TopologyPattern::all_reduce;
  double bytes = 0;
  double calls = 1;  ///< Calls of a rank in a step.
};

/// Ranks are numbered with the first axis of `order` running fastest, and rank r is on chip `chip_of_rank[r]`.
struct TopologyPlan {
  std::int64_t tensor = 1, context = 1, pipeline = 1, data = 1, expert = 1;
  std::array<TopologyAxis, topology_ordered_axes> order{TopologyAxis::tensor, TopologyAxis::context, TopologyAxis::data,
                                                        TopologyAxis::pipeline};
  std::vector<std::uint32_t> chip_of_rank;  ///< all chips once, those without a rank last; empty: as they are numbered
  bool in_switch = true;                    ///< all-reduces may be added up in the switches
  bool line_rates = false;                  ///< what vendors state instead of what collectives get

  std::int64_t size(TopologyAxis axis) const;  ///< ranks of one group
  std::int64_t ranks() const { return tensor * context * pipeline * data; }
};

/// A sentence where the plan does not fit the topology.
Status check_topology_plan(const Topology& topology, const TopologyPlan& plan);

/// The groups of an axis, each a list of ranks in the axis's order. Gradients are summed over data and context
/// together, so that the groups of `data` hold both.
std::vector<std::vector<std::uint32_t>> topology_groups(const TopologyPlan& plan, TopologyAxis axis);

/// How a group does its collective.
enum class TopologyMethod : std::uint8_t {
  none,
  ring,         ///< rings through all ranks, one for each port that leaves a box
  tree,         ///< the same links, fewer steps
  direct,       ///< every rank to every other at once
  torus_rings,  ///< rings along every dimension of the block at once
  in_switch,    ///< the switches add (NVLink SHARP)
  next          ///< each rank to the next one
};
std::string_view topology_method_name(TopologyMethod method);

/// What one axis costs, all its groups at work at once.
struct TopologyAxisCost {
  TopologyCall call;
  TopologyMethod method = TopologyMethod::none;
  std::int64_t ranks = 1, groups = 0;
  double latency_s = 0, transfer_s = 0;  ///< The parts of one call.
  double call_s = 0, step_s = 0;         ///< one call; all calls of a step
  double bus_bytes_per_s = 0;            ///< as nccl-tests prints it; of next_rank the rate of a message
  double bound_bytes_per_s = 0;          ///< the same without latency; of a ring what a rank sends at
  std::int64_t slowest_link = -1;        ///< the link that is busy longest
  double slowest_bytes_per_s = 0;        ///< what it carries at most; a chip's links to all switches are one
  std::int64_t sharing = 0;              ///< groups with bytes on it
  std::uint32_t kinds = 0;               ///< bit i: bytes cross a link of kind i
};

struct TopologyCosts {
  std::array<TopologyAxisCost, topology_axis_count> axes{};
  double step_s = 0;  ///< The sum over all axes, one after the other, were nothing hidden behind work.
};

/// Prices plans on one topology; keeps paths and memory between calls.
class TopologyPricer {
 public:
  TopologyPricer(const Topology& topology, const std::vector<TopologyCall>& calls);

  /// `load`, where not null: for each axis, the bytes of one call that every arc carries.
  TopologyCosts price(const TopologyPlan& plan, std::array<std::vector<double>, topology_axis_count>* load = nullptr);
  TopologyRoutes& routes() { return routes_; }

 private:
  using Groups = std::vector<std::vector<std::uint32_t>>;  ///< chips
  void clear();
  void add(std::uint32_t from, std::uint32_t to, double bytes);
  void add_ring(const std::vector<std::uint32_t>& chips, double bytes);
  void add_all_pairs(const std::vector<std::uint32_t>& chips, double bytes);
  double busiest_s() const;
  double capacity(TopologyArc arc) const;
  std::vector<std::uint32_t> near_order(const std::vector<std::uint32_t>& chips);
  void price_ring(const Groups& groups, TopologyAxisCost& cost);
  void price_direct(const Groups& groups, TopologyAxisCost& cost);
  void price_next(const Groups& groups, TopologyAxisCost& cost);
  bool price_torus(const Groups& groups, TopologyAxisCost& cost);
  bool price_in_switch(const Groups& groups, TopologyAxisCost& cost);
  void find_slowest(TopologyAxisCost& cost) const;
  void keep_if_faster(TopologyAxisCost& best, const TopologyAxisCost& cost);

  const Topology& topology_;
  std::vector<TopologyCall> calls_;
  TopologyRoutes routes_;
  double base_s_ = 0;
  bool line_rates_ = false;
  // What the collective being priced puts on each arc: bytes, the last group that put some there, how many groups did;
  // and those of the fastest so far.
  std::vector<double> load_, best_load_, sent_, one_load_;
  std::vector<std::uint32_t> last_group_, groups_on_, best_groups_on_;
  std::uint32_t group_ = 0;
  double share_ = 1;  ///< A share of capacities; nothing reads it yet.
  double inside_hop_s_ = 0, between_hop_s_ = 0;
};

}  // namespace models::parallel
