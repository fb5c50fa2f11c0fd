#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "chapters/distributed/topology/lab.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace lab_topology = chapters::distributed::topology;

namespace {

constexpr const char* odd_pairs = R"({"machine": "pasted", "chip": "rtx3090", "tensor": 2, "data": 2,
  "table": "GPU0 GPU1 GPU2 GPU3 CPU Affinity NUMA Affinity\nGPU0 X NODE SYS NV4 0-15 0\nGPU1 NODE X NV4 SYS 0-15 0\n)"
                                  R"(GPU2 SYS NV4 X NODE 16-31 1\nGPU3 NV4 SYS NODE X 16-31 1\n"})";

std::string answer_text(chapters::Lab& lab) { return std::string(lab.answer()); }

lab_topology::Computed topology_of(const lab_topology::Inputs& in) {
  use_bundled_catalog();
  lab_topology::Computed done = lab_topology::compute(in, {});
  INFO(done.facts.reason);
  REQUIRE(done.run);
  return done;
}

}  // namespace

TEST_CASE("topology: one plan, one permutation, seven times the communication") {
  const LabPtr lab = open_lab("distributed/topology");
  const double inside = computed(*lab, "step_time");
  CHECK(out(*lab, "over_best") == 1);
  CHECK(near(out(*lab, "slowest_bytes_per_s"), 370.8e9, 1e-3));
  CHECK(near(out(*lab, "spread"), 6.86, 2e-3));
  CHECK(answer_text(*lab) ==
        "Tensor inside, data outside costs `846 ms` of communication per step; data inside, tensor outside costs "
        "`5.81 s`, `6.9×` as much.\nThe tensor axis has `371 GB/s` of bus bandwidth per rank here, and `48 GB/s` "
        "there.");
  choose(*lab, "order", "dp-tp-cp-pp");
  CHECK(near(computed(*lab, "step_time") / inside, 6.86, 2e-3));
  CHECK(near(out(*lab, "best_time"), inside, 1e-9));
  CHECK(out(*lab, "slowest_bytes_per_s") == 48e9);
}

TEST_CASE("topology: a group that leaves its machine has a port for each rank that it has where it has fewest") {
  const LabPtr lab =
      open_lab("distributed/topology", R"({"tensor": 8, "data": 1, "traffic": "one_call", "axis": "tensor",
                                           "in_switch": false})");
  CHECK(near(computed(*lab, "bound_bytes_per_s"), 370.8e9, 1e-3));
  for (const int beyond : {1, 2, 3, 4, 5, 6, 7, 8}) {
    INFO(beyond << " ranks in the second machine");
    CHECK(near(computed(set(*lab, "tensor", 8 + beyond), "bound_bytes_per_s"), beyond * 48e9, 1e-3));
  }
}

TEST_CASE("topology: what the answer says of a plan that is not placed whole") {
  const LabPtr lab = open_lab("distributed/topology", R"({"tensor": 8, "data": 64, "expert": 4})");
  compute(*lab);
  CHECK(out(*lab, "ranks") == 16);
  CHECK(out(*lab, "ranks_asked") == 512);
  CHECK(
      answer_text(*lab).ends_with("The machines hold `16` of the plan's `512` ranks. Llama 3 8B has no experts, so "
                                  "that expert parallel sends nothing."));
}

TEST_CASE("topology: chips are exchanged where no order finds the bridges") {
  const LabPtr lab = open_lab("distributed/topology", odd_pairs);
  compute(*lab);
  CHECK(out(*lab, "over_best") > 3);
  const std::string devices = lab->outputs().find("devices")->text();
  INFO(devices);
  REQUIRE(devices.size() == 7);
  CHECK(devices[0] - '0' + devices[2] - '0' == 3);  // GPU 0 with 3, 1 with 2
  lab->inputs().find("chip_order")->text() = devices;
  compute(*lab);
  CHECK(near(out(*lab, "over_best"), 1, 1e-9));
  CHECK(near(out(*lab, "slowest_bytes_per_s"), 80e9, 1e-9));  // four links of 20 GB/s
}

TEST_CASE("topology: what cannot be is said in a sentence") {
  const auto reason = [](const char* inputs) {
    const LabPtr lab = open_lab("distributed/topology", inputs);
    return reason_of(*lab);
  };
  CHECK(reason(R"({"machine": "pasted", "table": "GPU0"})").find("row of GPU0 is missing") != std::string::npos);
  const LabPtr example = open_lab("distributed/topology", R"({"machine": "pasted"})");
  compute(*example);
  CHECK(answer_text(*example).ends_with("Nothing is pasted yet: this is an example of four cards."));
  CHECK(reason(R"({"machine": "pasted", "pasted_boxes": 2})").find("take one box") != std::string::npos);
  CHECK(reason(R"({"tensor": 32})").find("16 chips") != std::string::npos);
  CHECK(reason(R"({"chip_order": "0,0"})").find("at most once") != std::string::npos);
  CHECK(reason(R"({"model": "mixtral-8x7b", "data": 6, "expert": 4})").find("no multiple of 4") != std::string::npos);
  CHECK(reason(R"({"machine": "nvl72_gb200", "boxes": 3})").find("more than the 160 chips") != std::string::npos);
  CHECK(reason(R"({"network": "pcie_4"})").find("joins no machines") != std::string::npos);
  CHECK(reason(R"({"tensor": 1, "data": 1})").find("two ranks") != std::string::npos);
}

TEST_CASE("topology: the 24 orders are 24 permutations, and each finds itself") {
  std::vector<std::array<models::parallel::TopologyAxis, 4>> seen;
  for (std::size_t i = 0; i < lab_topology::axis_order_count; ++i) {
    const auto order = static_cast<lab_topology::AxisOrder>(i);
    const auto axes = lab_topology::axes_of(order);
    CHECK(std::find(seen.begin(), seen.end(), axes) == seen.end());
    CHECK(lab_topology::order_of(axes) == order);
    seen.push_back(axes);
  }
}

TEST_CASE("topology: two machines face each other, every rail level with itself") {
  use_bundled_catalog();
  const lab_topology::Computed done = topology_of({});
  const models::parallel::Topology& graph = done.run->graph;
  lab_topology::BoxLayout l;
  lab_topology::layout_graph(graph, {{0, 0}, {1000, 500}}, l);
  REQUIRE(l.frames.size() == 2);
  const auto centre = [&](std::uint32_t n) { return (l.nodes[n].min.x + l.nodes[n].max.x) / 2; };
  for (std::size_t i = 0; i < 8; ++i) {
    const std::uint32_t a = graph.chips[i], b = graph.chips[8 + i];
    CHECK(l.nodes[a].min.y == l.nodes[b].min.y);
    CHECK(std::abs(centre(a) + centre(b) - 1000) < 0.1f);  // mirrored
    CHECK(l.nodes[a].max.x < l.frames[0].max.x);
  }
  // The shortest wire is that of the last rail, and no two wires run at one height.
  std::vector<float> heights;
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n)
    if (graph.nodes[n].kind == models::parallel::TopologyNodeKind::leaf) heights.push_back(l.nodes[n].min.y);
  REQUIRE(heights.size() == 8);
  CHECK(std::is_sorted(heights.rbegin(), heights.rend()));
  CHECK(heights.back() > l.frames[0].max.y);
  CHECK(heights.front() < 500);
  // Without room for a row of adapters the second machine is folded, and every chip has a pipe to its rail.
  lab_topology::layout_graph(graph, {{0, 0}, {1000, 170}}, l);
  REQUIRE(l.folded);
  REQUIRE(l.columns.size() == 1);
  for (std::size_t i = 0; i < 16; ++i) {
    const widgets::Rect &chip = l.nodes[graph.chips[i]], &of = i < 8 ? l.frames.front() : l.columns.front();
    CHECK((chip.min.x > of.min.x && chip.max.x < of.max.x && chip.max.y < of.max.y));
    if (i > 0 && i != 8) CHECK(chip.min.y > l.nodes[graph.chips[i - 1]].max.y);
  }
  // In still less each machine is a plate with its chips on it.
  lab_topology::layout_graph(graph, {{0, 0}, {1000, 120}}, l);
  CHECK(l.frames.empty());
  REQUIRE(l.plates.size() == 2);
  CHECK(l.plates[0].max.x <= l.plates[1].min.x);
  for (std::size_t i = 0; i < 16; ++i) {
    const widgets::Rect &chip = l.nodes[graph.chips[i]], &plate = l.plates[i / 8];
    CHECK((chip.min.x > plate.min.x && chip.max.x < plate.max.x && chip.max.y < plate.max.y));
  }
}

TEST_CASE("topology: of many machines the pipes are as thick as they are fast, and the slowest is the way up") {
  use_bundled_catalog();
  lab_topology::Inputs in;
  in.boxes = 4;
  in.tensor = 1;
  in.data = in.expert = 32;
  in.model = "qwen3-30b-a3b";
  in.oversubscription = 4;
  in.relay = false;
  const lab_topology::Computed done = topology_of(in);
  const lab_topology::Picture p = lab_topology::arrange(in, done.facts, *done.run);
  REQUIRE(p.folded.chips.size() == 8);
  REQUIRE(p.folded.ports.size() == 8);
  REQUIRE(p.folded.rails.size() == 8);
  CHECK(p.folded.fabric == "NVSwitch");
  CHECK(near(p.folded.chips[3].bytes_per_s, 370.8e9, 1e-3));
  CHECK(near(p.folded.ports[3].pipe.bytes_per_s, 48e9));
  // Four ports of 48 GB/s and a way up of a quarter of them.
  CHECK(near(p.folded.rails[3].pipe.bytes_per_s, 48e9));
  CHECK(p.folded.rails[3].words == "4 ports share it");
  CHECK(p.folded.rails[3].pipe.slowest);
  CHECK_FALSE(p.folded.chips[3].slowest);
  // Where GPUs change rails first, nothing climbs.
  CHECK(near(done.facts.step_s / done.facts.relayed_s, 3, 0.05));
  CHECK(p.answer.ends_with("a step would cost `25.8 s`."));
}

TEST_CASE("topology: every machine is laid out inside its panel without one chip on another") {
  use_bundled_catalog();
  for (std::size_t m = 0; m + 1 < lab_topology::machine_count; ++m)
    for (const ImVec2 size : {ImVec2{620, 300}, ImVec2{1200, 640}}) {
      lab_topology::Inputs in;
      in.machine = static_cast<lab_topology::Machine>(m);
      in.boxes = m % 2 == 0 ? 2 : 1;
      in.data = 4;
      const lab_topology::Computed done = topology_of(in);
      const models::parallel::Topology& graph = done.run->graph;
      lab_topology::BoxLayout l;
      lab_topology::layout_graph(graph, {{0, 0}, size}, l);
      for (std::size_t i = 0; i < graph.chips.size(); ++i) {
        const widgets::Rect& a = l.nodes[graph.chips[i]];
        REQUIRE(a.width() > 4);
        CHECK((a.min.x >= -1 && a.min.y >= -1 && a.max.x <= size.x + 1 && a.max.y <= size.y + 1));
        for (std::size_t j = i + 1; j < graph.chips.size(); ++j) {
          const widgets::Rect& b = l.nodes[graph.chips[j]];
          const bool apart = a.max.x <= b.min.x || b.max.x <= a.min.x || a.max.y <= b.min.y || b.max.y <= a.min.y;
          if (!apart) FAIL_CHECK("machine " << m << ": chips " << i << " and " << j << " overlap");
        }
      }
    }
}

TEST_CASE("topology: axes are dragged into another order, chips onto each other, and a bar is pressed") {
  use_bundled_catalog();
  const LabPtr lab = open_lab("distributed/topology");
  compute(*lab);
  Canvas canvas(*lab, {1000, 700});
  canvas.ui.frames(3);
  const auto place = [&](std::string_view text) {
    for (const widgets::Stroke& s : canvas.ui.record().strokes)
      if (s.kind == widgets::Stroke::Kind::text && s.text == text) return s.points[0];
    FAIL("no text " << text);
    return ImVec2{};
  };
  ImVec2 from = place("tensor 2"), to = place("data 8");
  canvas.ui.drag_points({from.x + 10, from.y + 6}, {to.x + 60, to.y + 6});
  canvas.ui.frames(2);
  CHECK(lab->inputs().find("order")->choice_id() == "dp-cp-pp-tp");
  compute(*lab);
  canvas.ui.frames(3);
  CHECK(out(*lab, "over_best") > 6);
  // The bar of the other order puts it back.
  const ImVec2 bar = place("tensor, data");
  canvas.ui.click_at({bar.x + 20, bar.y + 5});
  canvas.ui.frames(2);
  compute(*lab);
  CHECK(near(out(*lab, "over_best"), 1, 1e-9));
  canvas.ui.frames(3);
  from = place("T0 D0");
  to = place("T0 D2");
  canvas.ui.drag_points({from.x + 8, from.y + 2}, {to.x + 8, to.y + 2});
  canvas.ui.frames(2);
  CHECK(lab->inputs().find("chip_order")->text().starts_with("4,1,2,3,0,5"));
}
