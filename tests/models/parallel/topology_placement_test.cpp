#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <random>
#include <set>

#include "models/base/units.h"
#include "models/machine/all_reduce_time.h"
#include "models/parallel/topology/topology_bisection.h"
#include "models/parallel/topology/topology_boxes.h"
#include "models/parallel/topology/topology_parse.h"
#include "models/parallel/topology/topology_search.h"
#include "models/parallel/topology/topology_traffic.h"
#include "tests/support/base/near.h"
#include "tests/support/models/decoders.h"

using namespace models::parallel;
using support::near;
using Axis = TopologyAxis;
using Pattern = TopologyPattern;

namespace {

models::Chip linked_chip(std::string_view architecture, double bytes_per_s, int links, double to_a_peer = 0) {
  models::Chip chip;
  chip.name = "chip";
  chip.architecture = architecture;
  chip.pcie_generation = 5;
  chip.interconnect.bytes_per_s_per_direction = bytes_per_s;
  chip.interconnect.links = links;
  if (to_a_peer > 0) chip.interconnect.bytes_per_s_per_peer_per_direction = to_a_peer;
  return chip;
}

Topology machine(TopologyBox box, std::int64_t boxes = 1, double port = 50e9, std::int64_t rack = 72) {
  const models::Network network{"n", "n", "infiniband", port, ""};
  const models::Chip hopper = linked_chip("Hopper", 450e9, 18), blackwell = linked_chip("Blackwell", 900e9, 18),
                     mesh = linked_chip("CDNA", 448e9, 7, 64e9), tpu = linked_chip("TPU", 270e9, 6);
  const bool hopper_box = box == TopologyBox::hgx_h100 || box == TopologyBox::hgx_h200 || box == TopologyBox::pcie_box;
  const models::Chip& chip = box == TopologyBox::mi300x   ? mesh
                             : box == TopologyBox::tpu_v4 ? tpu
                             : hopper_box                 ? hopper
                                                          : blackwell;
  auto made = built_in_topology(box, {boxes, 1, rack}, chip, network);
  INFO(made.error);
  REQUIRE(made);
  return *made;
}

TopologyAxisCost priced(const Topology& t, const TopologyPlan& plan, const TopologyCall& call) {
  const auto fits = check_topology_plan(t, plan);
  INFO(fits.error);
  REQUIRE(fits);
  TopologyPricer pricer(t, {call});
  return pricer.price(plan).axes[static_cast<std::size_t>(call.axis)];
}

}  // namespace

TEST_CASE("a ring over machines of unlike shares has a port for each rank of the smallest, and each rank a rail") {
  const Topology two = machine(TopologyBox::hgx_h100, 2);
  const double port = two.links.back().reached_bytes_per_s;
  for (std::int64_t ranks = 9; ranks <= 16; ++ranks) {
    INFO(ranks << " ranks");
    const TopologyAxisCost cost = priced(two, {.tensor = ranks, .in_switch = false},
                                         {TopologyAxis::tensor, TopologyPattern::all_reduce, gibi, 1});
    CHECK(near(cost.bound_bytes_per_s, static_cast<double>(ranks - 8) * cost.slowest_bytes_per_s, 1e-6));
    CHECK(cost.slowest_bytes_per_s <= port);
  }
}

TEST_CASE("topology: groups of every axis share out the ranks") {
  TopologyPlan plan{.tensor = 2, .context = 2, .pipeline = 3, .data = 4, .expert = 2};
  std::array<Axis, 4> order = plan.order;
  std::sort(order.begin(), order.end());
  do {
    plan.order = order;
    for (std::size_t a = 0; a < topology_axis_count; ++a) {
      const auto groups = topology_groups(plan, static_cast<Axis>(a));
      std::set<std::uint32_t> seen;
      for (const auto& group : groups) {
        CHECK(static_cast<std::int64_t>(group.size()) == plan.size(static_cast<Axis>(a)));
        seen.insert(group.begin(), group.end());
      }
      CHECK(seen.size() == 48);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  // The first axis runs fastest, and experts are neighbours along data.
  plan.order = {Axis::data, Axis::tensor, Axis::context, Axis::pipeline};
  CHECK(topology_groups(plan, Axis::expert).front() == std::vector<std::uint32_t>{0, 1});
  CHECK(topology_groups(plan, Axis::expert_data).front() == std::vector<std::uint32_t>{0, 8, 2, 10});
  CHECK(topology_groups(plan, Axis::tensor).front() == std::vector<std::uint32_t>{0, 4});
}

TEST_CASE("topology: an all-reduce inside a board is the known closed form at the links' rate") {
  const TopologyPlan plan{.tensor = 8, .in_switch = false};
  const TopologyAxisCost c = priced(machine(TopologyBox::hgx_h100), plan, {Axis::tensor, Pattern::all_reduce, gibi, 1});
  CHECK(near(c.bound_bytes_per_s, 18 * 20.6e9, 1e-6));
  CHECK(near(c.call_s, 6.6e-6 + models::ring_all_reduce_s(8, gibi, 18 * 20.6e9, 0.6e-6), 1e-6));
  CHECK(c.method == TopologyMethod::ring);
  TopologyPlan line = plan;
  line.line_rates = true;
  CHECK(near(
      priced(machine(TopologyBox::hgx_h100), line, {Axis::tensor, Pattern::all_reduce, gibi, 1}).slowest_bytes_per_s,
      450e9, 1e-6));
}

TEST_CASE("topology: sums in the switches begin to win at six B200, as published") {
  // Bus bandwidth of 8 GiB, GB/s: ml-engineering, network/README.md at 744d01e18b79; the last one sets the share.
  const std::array<std::pair<int, double>, 5> published{{{4, 673.2}, {5, 677.8}, {6, 778.2}, {7, 811.2}, {8, 838.0}}};
  const Topology t = machine(TopologyBox::hgx_b200);
  for (const auto& [ranks, measured] : published) {
    const TopologyAxisCost c = priced(t, {.tensor = ranks}, {Axis::tensor, Pattern::all_reduce, 8 * gibi, 1});
    CHECK((c.method == TopologyMethod::in_switch) == (ranks >= 6));
    CHECK(near(c.bus_bytes_per_s, measured * 1e9, ranks >= 6 ? 0.02 : 0.075));
  }
}

TEST_CASE("topology: on a mesh two of eight use one link of seven") {
  // 47.67 and 312.9 GB/s of 4 GiB on MI300X, the same source.
  const Topology t = machine(TopologyBox::mi300x);
  const TopologyAxisCost two = priced(t, {.tensor = 2}, {Axis::tensor, Pattern::all_reduce, 4 * gibi, 1}),
                         all = priced(t, {.tensor = 8}, {Axis::tensor, Pattern::all_reduce, 4 * gibi, 1});
  CHECK(near(two.bus_bytes_per_s, 47.67e9, 0.01));
  CHECK(near(all.bus_bytes_per_s, 312.9e9, 0.08));
  CHECK(near(all.bound_bytes_per_s, 7 * 48e9, 1e-6));
}

TEST_CASE("topology: rings leave a machine through the ports of all ranks that it holds") {
  const Topology t = machine(TopologyBox::hgx_h100, 2);
  TopologyPlan turned{.tensor = 8, .data = 2, .line_rates = true};
  turned.order = {Axis::data, Axis::tensor, Axis::context, Axis::pipeline};
  const TopologyCall call{Axis::tensor, Pattern::all_reduce, gibi, 1};
  const TopologyAxisCost four = priced(t, turned, call);
  CHECK(near(four.bound_bytes_per_s, 4 * 50e9, 1e-6));
  CHECK(four.sharing == 1);  // each group has rails of its own
  TopologyPlan pairs{.tensor = 2, .data = 8, .line_rates = true};
  pairs.order = turned.order;
  CHECK(near(priced(t, pairs, call).bound_bytes_per_s, 50e9, 1e-6));
}

TEST_CASE("topology: rings over two meshes use all links of either") {
  const Topology t = machine(TopologyBox::mi300x, 2);
  TopologyPlan turned{.tensor = 8, .data = 2, .line_rates = true};
  turned.order = {Axis::data, Axis::tensor, Axis::context, Axis::pipeline};
  const TopologyAxisCost four = priced(t, turned, {Axis::tensor, Pattern::all_reduce, gibi, 1});
  // Four ports of 50 GB/s, and inside twelve arcs of 64 GB/s of which each ring uses three.
  CHECK(near(four.bound_bytes_per_s, 200e9, 1e-6));
}

TEST_CASE("topology: neighbouring ranks of two machines meet on a rail and never on the spine") {
  const Topology t = machine(TopologyBox::hgx_h100, 2);
  TopologyRoutes routes(t);
  for (std::uint32_t to = 8; to < 16; ++to) {
    bool spine = false, network = false;
    for (const TopologyStep& step : routes.between(3, to)) {
      spine = spine || t.links[step.arc / 2].kind == TopologyLinkKind::spine;
      network = network || t.links[step.arc / 2].kind == TopologyLinkKind::network;
    }
    CHECK(network);
    CHECK_FALSE(spine);  // where rails differ, NVLink changes them first
  }
  double share = 0;
  for (const TopologyStep& step : routes.between(0, 1))
    if (t.links[step.arc / 2].a == t.chips[0]) share += static_cast<double>(step.share);
  CHECK(near(share, 1, 1e-6));  // dealt over all four switches
}

TEST_CASE("topology: an all-to-all over racks is bound by the port times what stays inside") {
  for (const std::int64_t inside : {8, 36, 64}) {
    const Topology t = machine(TopologyBox::nvl72_gb200, 2, 50e9, inside);
    const std::int64_t n = 2 * inside;
    const TopologyPlan plan{.data = n, .expert = n, .line_rates = true};
    const TopologyAxisCost c = priced(t, plan, {Axis::expert, Pattern::all_to_all, 8 * gibi, 1});
    const auto ranks = static_cast<double>(n), near_ranks = static_cast<double>(inside);
    CHECK(near(c.bound_bytes_per_s, 50e9 * (ranks - 1) / (ranks - near_ranks), 1e-3));
  }
  // 89.7 GB/s over 128 GB200 with a port of 50 GB/s each: oci-gpu-quickstarts at 6a0abdc78b57.
  const Topology t = machine(TopologyBox::nvl72_gb200, 2, 50e9, 64);
  const TopologyAxisCost c = priced(t, {.data = 128, .expert = 128}, {Axis::expert, Pattern::all_to_all, 8 * gibi, 1});
  CHECK(near(c.bus_bytes_per_s, 89.7e9, 0.1));
}

TEST_CASE("topology: groups that meet on one link share it") {
  const Topology t = machine(TopologyBox::pcie_box);
  TopologyPlan plan{.tensor = 2, .data = 4};
  plan.order = {Axis::data, Axis::tensor, Axis::context, Axis::pipeline};
  const TopologyAxisCost c = priced(t, plan, {Axis::tensor, Pattern::all_reduce, gibi, 1});
  CHECK(c.sharing == 4);
  CHECK(near(c.slowest_bytes_per_s, 22e9));
  CHECK(near(c.bound_bytes_per_s, 22e9 / 4, 1e-6));
  CHECK(t.links[static_cast<std::size_t>(c.slowest_link)].kind == TopologyLinkKind::socket);
}

TEST_CASE("topology: a closed line of a torus has two links a chip, a block those of all its dimensions") {
  const Topology t = machine(TopologyBox::tpu_v4);
  const TopologyCall call{Axis::tensor, Pattern::all_reduce, gibi, 1};
  CHECK(near(priced(t, {.tensor = 4}, call).bound_bytes_per_s, 2 * 45e9, 1e-6));
  CHECK(
      near(priced(t, {.tensor = 8}, call).bound_bytes_per_s, 3 * 45e9, 1e-6));  // 4 x 2: the short side does not close
  CHECK(near(priced(t, {.tensor = 64}, call).bound_bytes_per_s, 6 * 45e9, 1e-6));
}

TEST_CASE("topology: what a step of Llama 3 8B sends") {
  const models::Architecture a = support::llama_3_8b();
  const auto calls = topology_calls(a, {1, 8192, 4}, {.tensor = 2, .context = 2, .pipeline = 2, .data = 2});
  REQUIRE(calls);
  REQUIRE(calls->size() == 4);
  CHECK((*calls)[0].bytes == 4096.0 * 4096 * 2);  // half of the sequence
  CHECK((*calls)[0].calls == 4.0 * 16 * 4);
  CHECK((*calls)[1].bytes == 8192.0 * 2 * 8 * 128 / 2 * 2);
  CHECK((*calls)[2].bytes == 4096.0 * 4096 * 2 / 2);
  CHECK(near((*calls)[3].bytes, 8030261248.0 / 4 * 2));
  CHECK(topology_calls(a, {1, 8192, 4}, {.data = 8, .expert = 8}).error.find("no experts") != std::string::npos);
  CHECK(topology_calls(a, {1, 8192, 4}, {.pipeline = 64}).error.find("too few") != std::string::npos);
}

TEST_CASE("topology: a plan that does not fit is refused") {
  const Topology t = machine(TopologyBox::hgx_h100);
  CHECK(check_topology_plan(t, {.tensor = 16}).error.find("have 8 chips") != std::string::npos);
  CHECK(check_topology_plan(t, {.data = 6, .expert = 4}).error.find("no multiple of 4") != std::string::npos);
  TopologyPlan twice{.tensor = 8};
  twice.chip_of_rank = {0, 0, 1, 2, 3, 4, 5, 6};
  CHECK(check_topology_plan(t, twice).error.find("each of them once") != std::string::npos);
}

TEST_CASE("topology: the search finds what trying every placement finds") {
  // Six cards on two sockets, pairs of them bridged in an order that no numbering follows.
  const auto table = parse_topology_table(
      "GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 CPU Affinity NUMA Affinity\n"
      "GPU0 X NODE NODE SYS SYS NV4 0-7 0\nGPU1 NODE X NODE NV4 SYS SYS 0-7 0\nGPU2 NODE NODE X SYS NV4 SYS 0-7 0\n"
      "GPU3 SYS NV4 SYS X NODE NODE 8-15 1\nGPU4 SYS SYS NV4 NODE X NODE 8-15 1\nGPU5 NV4 SYS SYS NODE NODE X 8-15 "
      "1\n");
  REQUIRE(table);
  const auto graph = topology_of_table(*table, linked_chip("Ampere", 56.25e9, 4), {"n", "n", "infiniband", 50e9, ""});
  REQUIRE(graph);
  const std::vector<TopologyCall> calls{{Axis::tensor, Pattern::all_reduce, 1e8, 100},
                                        {Axis::data, Pattern::all_reduce, 1e9, 1}};
  TopologyPricer pricer(*graph, calls);
  const TopologyPlan plan{.tensor = 2, .data = 3};
  const TopologySearch found = search_placements(pricer, *graph, plan);
  CHECK(found.orders.size() == 2);
  CHECK(found.complete);
  CHECK(found.best.swaps > 0);
  TopologyPlan tried = plan;
  tried.chip_of_rank.resize(6);
  std::iota(tried.chip_of_rank.begin(), tried.chip_of_rank.end(), 0u);
  double best_s = 1e9;
  do best_s = std::min(best_s, pricer.price(tried).step_s);
  while (std::next_permutation(tried.chip_of_rank.begin(), tried.chip_of_rank.end()));
  CHECK(near(found.best.step_s, best_s, 1e-9));
  CHECK(found.priced >= 2 + 15);
}

TEST_CASE("topology: small machines whose links are dealt at random are searched as well as by trying everything") {
  std::minstd_rand random(7);
  const TopologyRate pcie{24e9, 24e9, 1e-6, "", "", ""}, sockets{22e9, 22e9, 1e-6, "", "", ""},
      bridge{20e9, 20e9, 1e-6, "", "", ""};
  for (int machine_number = 0; machine_number < 60; ++machine_number) {
    Topology t;
    t.shape = TopologyShape::tree;
    const std::array<std::uint32_t, 2> cpus{t.add(TopologyNodeKind::cpu, "CPU 0", 0, 0),
                                            t.add(TopologyNodeKind::cpu, "CPU 1", 0, 1)};
    t.join(cpus[0], cpus[1], TopologyLinkKind::socket, sockets);
    for (int i = 0; i < 6; ++i)
      t.join(t.add(TopologyNodeKind::chip, "GPU", 0, i), cpus[random() % 2], TopologyLinkKind::pcie, pcie);
    for (std::size_t a = 0; a < 6; ++a)
      for (std::size_t b = a + 1; b < 6; ++b)
        if (random() % 3 == 0)
          t.join(t.chips[a], t.chips[b], TopologyLinkKind::nvlink, bridge, 1 + static_cast<int>(random() % 4));
    t.chips_a_box = 6;
    TopologyPlan plan{.tensor = machine_number % 2 == 0 ? 2 : 3, .data = machine_number % 2 == 0 ? 3 : 2};
    TopologyPricer pricer(
        t, {{Axis::tensor, Pattern::all_reduce, 67e6, 4096}, {Axis::data, Pattern::all_reduce, 8e9, 20}});
    const TopologySearch found = search_placements(pricer, t, plan);
    plan.chip_of_rank = {0, 1, 2, 3, 4, 5};
    double best_s = 1e9;
    do best_s = std::min(best_s, pricer.price(plan).step_s);
    while (std::next_permutation(plan.chip_of_rank.begin(), plan.chip_of_rank.end()));
    INFO("machine " << machine_number);
    CHECK(near(found.best.step_s, best_s, 1e-6));
    CHECK((found.best.swaps == 0) == (found.best.chip_of_rank.empty()));
  }
}

TEST_CASE("topology: four cards that are all joined by direct NVLinks use every link at once") {
  // A board of four A100: NV4 between every two, 12 links a card; NCCL counts 20 GB/s for a link.
  const auto table = parse_topology_table(
      "GPU0 GPU1 GPU2 GPU3\nGPU0 X NV4 NV4 NV4\nGPU1 NV4 X NV4 NV4\nGPU2 NV4 NV4 X NV4\nGPU3 NV4 NV4 NV4 X\n");
  REQUIRE(table);
  const auto graph = topology_of_table(*table, linked_chip("Ampere", 300e9, 12), {"n", "n", "infiniband", 50e9, ""});
  REQUIRE(graph);
  TopologyPricer pricer(*graph, {{Axis::tensor, Pattern::all_reduce, 1e9, 1}});
  const auto four = pricer.price({.tensor = 4}).axes[static_cast<std::size_t>(Axis::tensor)];
  CHECK(near(four.bound_bytes_per_s, 3 * 4 * 20e9, 1e-6));
  const auto two = pricer.price({.tensor = 2}).axes[static_cast<std::size_t>(Axis::tensor)];
  CHECK(near(two.bound_bytes_per_s, 4 * 20e9, 1e-6));
}

TEST_CASE("topology: every order of the axes is priced") {
  CHECK(topology_orders({.tensor = 2, .context = 2, .pipeline = 2, .data = 2}).size() == 24);
  CHECK(topology_orders({.tensor = 2, .data = 8}).size() == 2);
  CHECK(topology_orders({}).size() == 1);
  const Topology t = machine(TopologyBox::hgx_h100, 8);
  TopologyPricer pricer(t,
                        {{Axis::tensor, Pattern::all_reduce, 67e6, 4096}, {Axis::data, Pattern::all_reduce, 2e9, 1}});
  const TopologySearch found = search_placements(pricer, t, {.tensor = 8, .data = 8});
  CHECK(found.best.order[0] == Axis::tensor);
  CHECK(found.worst.step_s / found.best.step_s > 7);
}

// NVIDIA states 130 TB/s of NVLink for a rack of 72 (72 x 1.8 TB/s), and 3.6 TB/s of bisection for an HGX H100 board,
// both with the directions added.
TEST_CASE("half to half: an NVL72 rack carries 36 x 0.9 = 32.4 TB/s one way, a quarter of all its ports") {
  const Topology rack = machine(TopologyBox::nvl72_gb200);
  CHECK(near(topology_ports(rack, true), 72 * 1.8e12, 1e-12));
  CHECK(near(topology_bisection(rack, true), 32.4e12, 1e-9));
  CHECK(topology_bisection(rack, false) < topology_bisection(rack, true));
  CHECK(near(2 * topology_bisection(machine(TopologyBox::hgx_h100), true), 3.6e12, 1e-9));
  // Two boards: eight ports of 50 GB/s. A mesh: 4 x 4 links of 64 GB/s. A cube: 16 rings are cut twice.
  CHECK(near(topology_bisection(machine(TopologyBox::hgx_h100, 2), true), 8 * 50e9, 1e-9));
  CHECK(near(topology_bisection(machine(TopologyBox::mi300x), true), 16 * 64e9, 1e-9));
  CHECK(near(topology_bisection(machine(TopologyBox::tpu_v4), true), 32 * 45e9, 1e-9));
  CHECK(near(topology_ports(machine(TopologyBox::mi300x), true), 2 * 8 * 7 * 64e9, 1e-12));
  CHECK(topology_bisection({}, true) == 0);
}
