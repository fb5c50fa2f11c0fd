#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "models/parallel/collectives/collective_tuner.h"
#include "models/parallel/planner/planner_data.h"
#include "models/parallel/planner/planner_traffic.h"
#include "models/parallel/topology/topology_boxes.h"
#include "models/parallel/topology/topology_placement.h"
#include "tests/support/base/files.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"

using support::near;
using namespace models;
using namespace models::parallel;

namespace {

const Chip& machine_chip(const std::string& id) {
  static const std::vector<Chip> all = [] {
    std::vector<Chip> chips;
    for (const char* maker : {"nvidia", "amd", "google"}) {
      const auto read = parse_chips(
          support::read_text(support::source_file("assets/hardware/" + std::string(maker) + ".json")), maker);
      chips.insert(chips.end(), read->begin(), read->end());
    }
    return chips;
  }();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Chip& c) { return c.id == id; });
  INFO(id);
  REQUIRE(at != all.end());
  return *at;
}

PlannerCluster machine(const std::string& chip, bool in_switch = false, std::int64_t gpus = 8) {
  const auto cluster = planner_cluster(machine_chip(chip), {.gpus = gpus, .in_switch = in_switch}, Format::bf16);
  REQUIRE(cluster);
  return *cluster;
}

}  // namespace

TEST_CASE("planner machines: boxes, links and shares of chips that were not always there") {
  const PlannerCluster h100 = machine("h100_sxm"), h800 = machine("h800_sxm"), h20 = machine("h20_sxm");
  CHECK(h800.link_inside_bytes_per_s == 200e9);
  CHECK(h800.peak_flops_per_s == h100.peak_flops_per_s);
  CHECK(h800.memory_bandwidth_bytes_per_s == h100.memory_bandwidth_bytes_per_s);
  CHECK(h20.link_inside_bytes_per_s == h100.link_inside_bytes_per_s);
  CHECK(h20.peak_flops_per_s < h100.peak_flops_per_s / 6);
  CHECK(machine("a800_80_sxm").link_inside_bytes_per_s == 200e9);
  CHECK(machine("gh200_96").gpus_per_node == 4);
  CHECK(machine("gb200_gpu").gpus_per_node == 72);
  CHECK(machine("v100_16_sxm2").memory_bytes == 16e9);
  CHECK(planner_cluster(machine_chip("v100_sxm2"), {.gpus = 8, .gpus_per_node = 4}, Format::bf16)->gpus_per_node == 4);
  // Shares are those of the generation, and the answer says where no run of the chip was compared.
  for (const char* id : {"h800_sxm", "h20_sxm", "gh200_96"}) CHECK(machine(id).generation == ChipGeneration::hopper);
  CHECK(machine("a800_80_sxm").generation == ChipGeneration::ampere);
  CHECK(machine("v100_16_sxm2").generation == ChipGeneration::volta);
  CHECK(machine("tpu_v5p").generation == ChipGeneration::other);
  for (const char* id : {"h20_sxm", "gh200_96", "a800_80_sxm", "mi300x", "tpu_v5p"}) CHECK_FALSE(machine(id).compared);
  for (const char* id : {"h100_sxm", "h800_sxm", "v100_sxm2", "v100_16_sxm2", "a100_40_sxm", "gb300_gpu"})
    CHECK(machine(id).compared);
}

// The collectives lab and the planner price one sum in the switches: one number.
TEST_CASE("planner machines: sums in a node's switches are those of the collectives lab") {
  for (const char* id : {"h100_sxm", "h200_sxm", "b200_sxm"})
    for (const std::int64_t ranks : {2, 4, 8}) {
      const double bytes = 134e6;
      const auto box = collective_machine(machine_chip(id), {.ranks = ranks, .ranks_per_node = ranks});
      REQUIRE(box);
      const auto candidates =
          nccl_candidates(*box, Primitive::all_reduce, {.algorithm_is_forced = true, .algorithm = NcclAlgorithm::nvls});
      REQUIRE(candidates.size() == 1);
      const PlannerCluster with = machine(id, true), without = machine(id);
      const double switch_s = candidate_s(*box, Primitive::all_reduce, candidates.front(), bytes, true);
      const double rings_s = tensor_sum_s(without, {.tensor = ranks}, bytes);
      INFO(id << ", " << ranks << " ranks: " << switch_s << " s in the switches, " << rings_s << " s by rings");
      CHECK(near(tensor_sum_s(with, {.tensor = ranks}, bytes), std::min(switch_s, rings_s), 1e-12));
      // A scatter and a gather move what they moved.
      const memory::TrainingPlan split{.tensor = ranks, .sequence_parallel = true};
      CHECK(tensor_sum_s(with, split, bytes) == tensor_sum_s(without, split, bytes));
    }
  // Eight ranks gain most: a ring sends 14 eighths of the buffer, a rank to its switch 9.
  CHECK(tensor_sum_s(machine("h100_sxm", true), {.tensor = 8}, 1e9) <
        0.8 * tensor_sum_s(machine("h100_sxm"), {.tensor = 8}, 1e9));
  // No switch, or none that adds.
  for (const char* id : {"v100_sxm2", "a100_80_sxm", "gh200_96", "h100_pcie", "mi300x"})
    CHECK(machine(id, true).switch_bytes_per_s == 0);
  // Between nodes the rings stay.
  const AllReduceGroup two{16, 8};
  const PlannerCluster with = machine("h100_sxm", true, 16);
  CHECK(planner_sum_s(with, two, planner_links(with), 1, 1e9) ==
        all_reduce_time(AllReduceAlgorithm::fastest, two, planner_links(with), 1e9).total_s());
}

// A slice is as large as the job, and its sides are as even as they can be.
TEST_CASE("planner machines: TPUs stand in the torus of a slice") {
  const auto sides = [](const char* chip, std::int64_t gpus) { return machine(chip, false, gpus).torus; };
  using Sides = std::array<std::int64_t, 3>;
  CHECK(sides("tpu_v4", 64) == Sides{4, 4, 4});
  CHECK(sides("tpu_v5p", 2048) == Sides{8, 16, 16});
  CHECK(sides("tpu_v5e", 256) == Sides{16, 16, 1});
  CHECK(machine("tpu_v5e", false, 1024).gpus_per_node == 256);  // four pods, with a network between them
  CHECK_FALSE(machine("h100_sxm").is_torus());
  CHECK_FALSE(planner_cluster(machine_chip("tpu_v4"), {.gpus = 64, .gpus_per_node = 4}, Format::bf16)->is_torus());
  // Ranks that stand apart share the lines between them; an exchange is held up in the middle of the longest side.
  const PlannerCluster v4 = machine("tpu_v4", false, 64);
  const double link = planner_links(v4).inside_bytes_per_s;
  CHECK(near(planner_links(v4, planner_group(v4, 4, 1)).inside_bytes_per_s, 2 * link));
  CHECK(near(planner_links(v4, planner_group(v4, 64, 1)).inside_bytes_per_s, 6 * link));
  CHECK(near(planner_links(v4, planner_group(v4, 2, 2)).inside_bytes_per_s, link));
  CHECK(near(planner_exchange_rate(v4, planner_group(v4, 2, 1)), link));
  CHECK(near(planner_exchange_rate(v4, planner_group(v4, 4, 1)), 1.5 * link));
}

// The cube that the topology lab draws: its rings along every dimension are the planner's.
TEST_CASE("planner machines: rings of a torus are those of the topology lab") {
  PlannerCluster cube = machine("tpu_v4", false, 64);
  cube.curve.inside_share = 1;  // that lab has no share
  const auto drawn = built_in_topology(TopologyBox::tpu_v4, {}, machine_chip("tpu_v4"), {});
  REQUIRE(drawn);
  const double bytes = 1e9;
  for (const std::int64_t tensor : {4, 16, 64}) {
    const TopologyPlan plan{.tensor = tensor, .data = 64 / tensor};
    const auto costs = TopologyPricer(*drawn, {{TopologyAxis::tensor, TopologyPattern::all_reduce, bytes, 1},
                                               {TopologyAxis::data, TopologyPattern::all_gather, bytes, 1}})
                           .price(plan);
    const TopologyAxisCost& sum = costs.axes[static_cast<std::size_t>(TopologyAxis::tensor)];
    INFO(tensor << ": " << topology_method_name(sum.method));
    CHECK(near(tensor_sum_s(cube, {.tensor = tensor}, bytes), sum.call_s, 1e-9));
    if (tensor == 64) continue;
    const AllReduceGroup shards = dense_groups(cube, {.tensor = tensor, .data = 64 / tensor}).shards;
    CHECK(near(ring_gather_time(shards, planner_links(cube, shards), bytes).total_s(),
               costs.axes[static_cast<std::size_t>(TopologyAxis::data)].call_s, 1e-9));
  }
}
