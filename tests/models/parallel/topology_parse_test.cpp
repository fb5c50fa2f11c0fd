#include <catch2/catch_test_macros.hpp>
#include <string>

#include "models/parallel/topology/topology_boxes.h"
#include "models/parallel/topology/topology_parse.h"
#include "models/parallel/topology/topology_placement.h"
#include "tests/support/base/files.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"

using namespace models::parallel;
using support::near;

namespace {

models::Chip topology_chip(int generation = 5) {
  models::Chip chip;
  chip.name = "H100";
  chip.architecture = "Hopper sm_90";
  chip.pcie_generation = generation;
  chip.interconnect.bytes_per_s_per_direction = 450e9;
  chip.interconnect.links = 18;
  return chip;
}
const models::Network& topology_network() {
  static const models::Network network{"ndr", "NDR", "infiniband", 50e9, ""};
  return network;
}

std::string seed(const char* name) {
  return support::read_text(support::source_file("tests/fuzz/corpus/topology/") + name);
}

std::string refusal(std::string_view text) {
  const auto table = parse_topology_table(text);
  CHECK_FALSE(table);
  return table.error;
}

std::size_t links_of_kind(const Topology& t, TopologyLinkKind kind) {
  std::size_t n = 0;
  for (const TopologyLink& l : t.links) n += l.kind == kind ? 1 : 0;
  return n;
}

}  // namespace

TEST_CASE("topology: nvidia-smi's matrix is read whatever stands around it") {
  SECTION("with adapters, their legend and affinities") {
    const auto table = parse_topology_table(seed("nvlink_and_adapters"));
    REQUIRE(table);
    REQUIRE(table->devices.size() == 8);
    CHECK(table->devices[3].chip);
    CHECK(table->devices[3].numa == 1);
    CHECK_FALSE(table->devices[4].chip);
    CHECK(table->devices[6].adapter == "mlx5_2");
    CHECK(table->at(0, 1).label == TopologyLabel::nvlink);
    CHECK(table->at(0, 1).count == 18);
    CHECK(table->at(2, 6).label == TopologyLabel::pix);
    CHECK(table->at(4, 7).label == TopologyLabel::sys);
  }
  SECTION("with a prompt, colours and two NUMA nodes in a cell") {
    const auto table = parse_topology_table(seed("ansi_and_prompt"));
    REQUIRE(table);
    CHECK(table->devices[1].name == "GPU1");
    CHECK(table->devices[1].numa == 0);
    CHECK(table->at(1, 0).count == 4);
  }
  SECTION("with lines that a terminal wrapped") {
    const auto table = parse_topology_table(seed("wrapped"));
    REQUIRE(table);
    REQUIRE(table->devices.size() == 4);
    CHECK(table->at(0, 3).label == TopologyLabel::sys);
    CHECK(table->at(2, 3).label == TopologyLabel::pxb);
  }
  SECTION("of a DGX A100, under a line of prose that begins like a title") {
    const auto table = parse_topology_table(seed("dgx_a100"));
    INFO(table.error);
    REQUIRE(table);
    REQUIRE(table->devices.size() == 18);
    CHECK(table->devices[4].numa == 7);
    CHECK(table->at(0, 9).label == TopologyLabel::pxb);
    CHECK(table->at(16, 17).label == TopologyLabel::pix);
    CHECK(table->devices[17].adapter == "mlx5_9");
    const auto graph = topology_of_table(*table, topology_chip(4), topology_network());
    REQUIRE(graph);
    CHECK(graph->shape == TopologyShape::switched);
    CHECK(graph->count(TopologyNodeKind::cpu) == 5);          // four NUMA nodes with GPUs, one with the other adapters
    CHECK(graph->count(TopologyNodeKind::pcie_switch) == 5);  // pairs of GPUs and adapters, the pair of adapters
    CHECK(graph->count(TopologyNodeKind::socket_bus) == 1);
    CHECK(TopologyRoutes(*graph).connected());
  }
  SECTION("every label has a meaning of its own") {
    const auto table = parse_topology_table(
        "  GPU0 GPU1 GPU2 NIC0\n GPU0 X PHB NODE SOC\n GPU1 PHB X PXB PIX\n GPU2 NODE PXB X NV2\n NIC0 SOC PIX NV2 "
        "X\n");
    REQUIRE(table);
    CHECK(table->at(0, 1).label == TopologyLabel::phb);
    CHECK(table->at(0, 2).label == TopologyLabel::node);
    CHECK(table->at(0, 3).label == TopologyLabel::sys);  // SOC of old drivers
    CHECK(table->at(1, 2).label == TopologyLabel::pxb);
    CHECK(table->at(1, 3).label == TopologyLabel::pix);
  }
}

TEST_CASE("topology: AMD's three tables are read as one") {
  const auto mesh = parse_topology_table(seed("rocm_mesh"));
  REQUIRE(mesh);
  CHECK(mesh->amd);
  CHECK(mesh->at(0, 3).label == TopologyLabel::xgmi);
  CHECK(mesh->devices[3].numa == 1);
  const auto halves = parse_topology_table(seed("rocm_halves"));
  REQUIRE(halves);
  CHECK(halves->at(0, 1).label == TopologyLabel::xgmi);
  CHECK(halves->at(0, 2).label == TopologyLabel::unknown);
  CHECK(halves->at(0, 2).count == 3);
}

TEST_CASE("topology: damaged tables are refused with what is wrong") {
  CHECK(refusal("").find("no text yet") != std::string::npos);
  CHECK(refusal("a page about GPUs").find("no line of device names") != std::string::npos);
  CHECK(refusal(seed("row_missing")) == "The row of GPU1 is missing; paste the whole table.");
  CHECK(refusal(seed("label_unknown")).find("has FOO for GPU1, which is no label") != std::string::npos);
  CHECK(refusal(seed("two_directions")).find("GPU0 and GPU1 and another of GPU1 and GPU0") != std::string::npos);
  CHECK(refusal("GPU0 GPU1\nGPU0 X PIX\nGPU1 X PIX\n").find("does not have its X") != std::string::npos);
  CHECK(refusal("GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX\n").find("ends after 1 of 2 labels") != std::string::npos);
  CHECK(refusal("GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX X\nGPU0 X PIX\n").find("twice") != std::string::npos);
  CHECK(refusal(seed("rocm_cut")).find("paste the whole text") != std::string::npos);
  CHECK(refusal(std::string(max_topology_text_bytes + 1, 'x')).find("256 KiB") != std::string::npos);
  std::string many;
  for (int i = 0; i < 80; ++i) many += "GPU" + std::to_string(i) + " ";
  CHECK(refusal(many).find("more than 64 devices") != std::string::npos);
}

TEST_CASE("topology: a table becomes a machine with its processors, switches and links") {
  SECTION("GPUs that name more NVLinks than they have are joined by switches") {
    const auto graph =
        topology_of_table(*parse_topology_table(seed("nvlink_and_adapters")), topology_chip(), topology_network());
    REQUIRE(graph);
    CHECK(graph->shape == TopologyShape::switched);
    CHECK(graph->count(TopologyNodeKind::fabric_switch) == 1);
    CHECK(graph->count(TopologyNodeKind::cpu) == 2);
    CHECK(graph->count(TopologyNodeKind::pcie_switch) == 4);  // each GPU with its adapter
    CHECK(links_of_kind(*graph, TopologyLinkKind::socket) == 1);
    for (const TopologyLink& l : graph->links)
      if (l.kind == TopologyLinkKind::nvlink) CHECK(near(l.reached_bytes_per_s, 18 * 20.6e9));
  }
  SECTION("a few links go from chip to chip") {
    const auto graph =
        topology_of_table(*parse_topology_table(seed("ansi_and_prompt")), topology_chip(), topology_network());
    REQUIRE(graph);
    CHECK(graph->shape == TopologyShape::tree);
    CHECK(links_of_kind(*graph, TopologyLinkKind::nvlink) == 1);
  }
  SECTION("devices of one host bridge, of one NUMA node and of two") {
    const auto graph = topology_of_table(*parse_topology_table(seed("wrapped")), topology_chip(4), topology_network());
    REQUIRE(graph);
    TopologyPricer pricer(*graph, {{TopologyAxis::tensor, TopologyPattern::all_reduce, 1e9, 1}});
    TopologyPlan near_pair{.tensor = 2}, far_pair{.tensor = 2};
    far_pair.chip_of_rank = {0, 2, 1, 3};
    CHECK(near(pricer.price(near_pair).axes[0].slowest_bytes_per_s, 24e9));
    CHECK(near(pricer.price(far_pair).axes[0].slowest_bytes_per_s, 22e9));
  }
  SECTION("an old table without NUMA nodes has a processor for each set of cores") {
    const auto table = parse_topology_table(
        "        GPU0    GPU1    GPU2    GPU3    CPU Affinity\n"
        "GPU0     X      NV1     NV2     SYS     0-19,40-59\n"
        "GPU1    NV1      X      SYS     NV2     0-19,40-59\n"
        "GPU2    NV2     SYS      X      NV1     20-39,60-79\n"
        "GPU3    SYS     NV2     NV1      X      20-39,60-79\n");
    REQUIRE(table);
    CHECK(table->devices[2].cpus == "20-39,60-79");
    CHECK(table->devices[2].numa == -1);
    const auto graph = topology_of_table(*table, topology_chip(3), topology_network());
    REQUIRE(graph);
    CHECK(graph->count(TopologyNodeKind::cpu) == 2);
  }
  SECTION("machines without adapters cannot be joined") {
    const auto graph = topology_of_table(*parse_topology_table(seed("cards")), topology_chip(4), topology_network());
    REQUIRE(graph);
    CHECK(topology_cluster(*graph, {.boxes = 2}, topology_network()).error.find("no network adapter") !=
          std::string::npos);
  }
  SECTION("links that the chip does not have are asked for") {
    models::Chip plain = topology_chip();
    plain.interconnect = {};
    const auto graph = topology_of_table(*parse_topology_table(seed("rocm_mesh")), plain, topology_network());
    CHECK(graph.error.find("choose the chip that the table is of") != std::string::npos);
  }
}
