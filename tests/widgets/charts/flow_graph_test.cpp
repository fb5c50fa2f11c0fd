#include "widgets/charts/flow_graph.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>
#include <string>

#include "tests/support/ui/headless_frame.h"
#include "tests/widgets/charts/chart_measure.h"
#include "widgets/base/item_probe.h"

using namespace widgets;

namespace {

/// A transformer block: the residual passes by attention and by the FFN.
const std::vector<FlowNode> block{{"input"}, {"attention", "", 0.3}, {"add"}, {"FFN", "", 0.6}, {"output"}};
const std::vector<FlowEdge> block_edges{{0, 1}, {1, 2}, {0, 2, "residual"}, {2, 3}, {3, 4}, {2, 4, "residual"}};

}  // namespace

TEST_CASE("layers go by the longest path, and an edge over a layer bends in it") {
  const FlowOrder o = order_flow(block, block_edges);
  std::vector<std::uint32_t> layers;
  for (std::size_t n = 0; n < block.size(); ++n) layers.push_back(o.places[n].layer);
  CHECK(layers == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
  CHECK(o.routes[0].size() == 2);
  CHECK(o.routes[2].size() == 3);
  CHECK(o.places.size() == block.size() + 2);
  CHECK(count_crossings(o) == 0);
  CHECK(o.problem.length == 0);
}

TEST_CASE("barycentres undo crossings that the given order has") {
  // 0-5, 1-4, 2-3 cross three times as given.
  const std::vector<FlowNode> nodes(6);
  const std::vector<FlowEdge> edges{{0, 5}, {1, 4}, {2, 3}};
  CHECK(count_crossings(order_flow(nodes, edges)) == 0);
}

TEST_CASE("a cycle is drawn against the flow and named; loops and strangers are left out") {
  const std::vector<FlowNode> nodes{{"prefill"}, {"decode"}, {"sample"}};
  const std::vector<FlowEdge> cycle{{0, 1}, {1, 2}, {2, 1}};
  const FlowOrder o = order_flow(nodes, cycle);
  CHECK(o.backward == std::vector<bool>{false, false, true});
  CHECK(o.problem.view() == "The arrow from \"sample\" to \"decode\" closes a cycle and is drawn against the flow.");
  const std::vector<FlowEdge> loop{{1, 1}, {0, 1}}, stranger{{0, 9}};
  CHECK(order_flow(nodes, loop).problem.view() == "Arrow 0 leads from a box to itself and is left out.");
  CHECK(order_flow(nodes, stranger).problem.view() == "Arrow 0 names a box that does not exist and is left out.");
  CHECK(order_flow(nodes, stranger).routes[0].empty());
}

TEST_CASE("random graphs: every kept edge goes one layer a step, places of a layer keep their order and distance") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 40; ++round) {
    const std::size_t count = 1 + random() % 30;
    const std::vector<FlowNode> nodes(count);
    std::vector<FlowEdge> edges;
    for (std::size_t e = 0; e < count * 2; ++e)
      edges.push_back({static_cast<std::uint32_t>(random() % count), static_cast<std::uint32_t>(random() % count)});
    const FlowOrder o = order_flow(nodes, edges);
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const bool kept = edges[e].from != edges[e].to;
      REQUIRE(o.routes[e].empty() == !kept);
      for (std::size_t i = 1; i < o.routes[e].size(); ++i)
        REQUIRE(o.places[o.routes[e][i]].layer == o.places[o.routes[e][i - 1]].layer + 1);
      if (kept) REQUIRE(o.routes[e].front() == (o.backward[e] ? edges[e].to : edges[e].from));
    }
    for (const auto& layer : o.layers)
      for (std::size_t i = 1; i < layer.size(); ++i)
        REQUIRE(o.places[layer[i]].across - o.places[layer[i - 1]].across >= 0.5 - 1e-9);
  }
}

TEST_CASE("boxes lie inside the area, in the order of their layers, clear of each other and of edge labels") {
  PlainTheme theme;
  for (const bool down : {false, true}) {
    FlowGraphLayout l;
    const Rect area{{10, 20}, {1000, 520}};
    layout_flow_graph(block, block_edges, order_flow(block, block_edges), {.down = down}, area, seven_px, l);
    for (std::size_t n = 0; n < block.size(); ++n) {
      CHECK((l.boxes[n].min.x >= 10 && l.boxes[n].max.x <= 1000 && l.boxes[n].min.y >= 20 && l.boxes[n].max.y <= 520));
      if (n > 0) CHECK((down ? l.boxes[n].min.y >= l.boxes[n - 1].max.y : l.boxes[n].min.x >= l.boxes[n - 1].max.x));
    }
    CHECK(l.labels.size() == 2);
    for (const auto& label : l.labels)
      for (const Rect& b : l.boxes)
        CHECK((label.rect.min.x >= b.max.x || label.rect.max.x <= b.min.x || label.rect.min.y >= b.max.y ||
               label.rect.max.y <= b.min.y));
    CHECK(std::abs(l.curves[0].front().x - (down ? (l.boxes[0].min.x + l.boxes[0].max.x) / 2 : l.boxes[0].max.x)) <=
          1.0f);
  }
}

TEST_CASE("edge labels are dropped where there is no room") {
  PlainTheme theme;
  FlowGraphLayout l;
  layout_flow_graph(block, block_edges, order_flow(block, block_edges), {}, {{0, 0}, {160, 60}}, seven_px, l);
  CHECK(l.labels.empty());
}

TEST_CASE("a box is an item with its label: a click selects it, another lets go") {
  support::HeadlessFrame ui;
  const ItemProbe probe;
  FlowGraphView view;
  const auto frame = [&] { ui.frame([&] { draw_flow_graph("block", block, block_edges, view); }); };
  const auto click = [&] {
    for (const bool down : {true, false}) {
      ImGui::GetIO().AddMouseButtonEvent(0, down);
      frame();
    }
  };
  frame();
  const ProbedItem* item = probe.find("FFN");
  REQUIRE(item != nullptr);
  ImGui::GetIO().AddMousePosEvent(item->centre().x, item->centre().y);
  frame();
  click();
  CHECK(view.selected == 3);
  click();
  CHECK(view.selected == -1);
}

TEST_CASE("too many boxes, none, and values that are no numbers draw at any size") {
  const std::vector<FlowNode> many(500), bad{{"", "", std::nan("")}, {std::string_view{}, "x", 1e300}};
  const std::vector<FlowEdge> edges{{0, 1, "w", std::numeric_limits<double>::infinity()}, {1, 0, "v", -1}};
  for (const ImVec2 size : {ImVec2{130, 90}, ImVec2{1280, 800}, ImVec2{2560, 1440}}) {
    support::HeadlessFrame ui(size);
    FlowGraphView a, b, c;
    ui.frame([&] {
      draw_flow_graph("many", many, {}, a);
      draw_flow_graph("none", {}, {}, b);
      draw_flow_graph("bad", bad, edges, c);
    });
    CHECK(a.layout.problem.view() == "The graph has 500 boxes and 0 arrows; up to 400 and 2000 are drawn.");
    CHECK(b.layout.problem.view() == "Nothing to show: the graph has no boxes.");
    CHECK(c.layout.boxes.size() == 2);
  }
}
