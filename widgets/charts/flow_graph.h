#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/base/parts.h"

namespace widgets {

struct FlowNode {
  std::string_view label, sublabel{};
  double share =
      std::numeric_limits<double>::quiet_NaN();  ///< 0..1 of the whole: how much of the box is filled; NaN: none
  Tint tint{};
  std::string_view info{};
};
struct FlowEdge {
  std::uint32_t from = 0, to = 0;
  std::string_view label{};
  double weight = std::numeric_limits<double>::quiet_NaN();  ///< relative width of the arrow; NaN: a thin line
};

struct FlowGraphOptions {
  ImVec2 size{0, 0};  ///< pixels; 0: what is left, and the height that the widest layer needs
  bool down = false;  ///< layers from the top; else from the left
};

/// Which layer each node is in and where in it; no pixels yet.
struct FlowOrder {
  /// A node, or a bend of an edge that passes through a layer (node == -1).
  struct Place {
    std::int64_t node = -1;
    std::uint32_t layer = 0;
    double across = 0;  ///< position in the layer, in units of a box's height
  };
  std::vector<Place> places;                       ///< the nodes first, in their own order, then the bends
  std::vector<std::vector<std::uint32_t>> layers;  ///< places of each layer, in order across
  std::vector<std::vector<std::uint32_t>>
      routes;                  ///< per edge: places from one layer to the next; empty when it is left out
  std::vector<bool> backward;  ///< per edge: it closes a cycle and is drawn against the flow
  Line problem;                ///< one sentence about edges that close cycles or name no node
};
/// Layers by the longest path from the sources, order by barycentres of the neighbours. Every edge that is not backward
/// goes to a later layer; edges that close a cycle are turned around, those to itself or to no node are left out, both
/// said in `problem`.
FlowOrder order_flow(std::span<const FlowNode> nodes, std::span<const FlowEdge> edges);
/// Pairs of edges that cross between neighbouring layers.
std::size_t count_crossings(const FlowOrder& order);

struct FlowGraphLayout {
  struct Label {
    std::size_t edge = 0;
    Rect rect{};
  };
  std::vector<Rect> boxes;                  ///< per node
  std::vector<std::vector<ImVec2>> curves;  ///< per edge, from box to box; empty when it is left out
  std::vector<Label> labels;                ///< those with room clear of boxes and of each other
  Line problem;
};
/// Boxes, curves and labels in pixels, for an order made of the same nodes and edges.
void layout_flow_graph(std::span<const FlowNode> nodes, std::span<const FlowEdge> edges, const FlowOrder& order,
                       const FlowGraphOptions& options, Rect area, Measure measure, FlowGraphLayout& out);

struct FlowGraphView {
  std::int64_t selected = -1;  ///< node; -1: none
  FlowOrder order;
  FlowGraphLayout layout;
  std::uint64_t order_of = 0, layout_of = 0;
};

/// Every box is an item with its label, so that keyboard and tests reach it. Returns true when a click changed the
/// selection.
bool draw_flow_graph(const char* label, std::span<const FlowNode> nodes, std::span<const FlowEdge> edges,
                     FlowGraphView& view, const FlowGraphOptions& options = {});

/// More nodes than this are not laid out: nobody could read them.
constexpr std::size_t max_flow_nodes = 400, max_flow_edges = 2000;

}  // namespace widgets
