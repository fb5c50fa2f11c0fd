#include <algorithm>

#include "chapters/distributed/topology/lab.h"
#include "widgets/number/number.h"

/// What the picture of many machines says: the first one whole, and how thick and how busy its pipes are.
namespace chapters::distributed::topology {
namespace {

using parallel::TopologyLink, parallel::TopologyLinkKind, parallel::TopologyNodeKind;

/// Adds a link to a pipe: its rate, and the most that any of them is kept busy.
void add_link(const Run& run, const std::vector<LinkMark>& marks, std::size_t i, bool rate, PipeMark& pipe) {
  const TopologyLink& link = run.graph.links[i];
  if (rate) pipe.bytes_per_s += run.plan.line_rates ? link.line_bytes_per_s : link.reached_bytes_per_s;
  if (i >= marks.size()) return;
  pipe.busy = std::max(pipe.busy, marks[i].busy);
  pipe.slowest = pipe.slowest || marks[i].slowest;
  pipe.dashed = pipe.dashed || marks[i].dashed();
}

/// Between chips of a machine; where nothing else joins them PCIe does.
bool joins_chips(const parallel::Topology& graph, const TopologyLink& link, bool fabric) {
  if (link.kind == TopologyLinkKind::nvlink || link.kind == TopologyLinkKind::xgmi) return true;
  const auto nic = [&](std::uint32_t n) { return graph.nodes[n].kind == TopologyNodeKind::nic; };
  return !fabric && link.kind == TopologyLinkKind::pcie && !nic(link.a) && !nic(link.b);
}

std::string rate_text(double bytes_per_s) { return widgets::format_text(bytes_per_s, "B/s"); }

}  // namespace

FoldedPicture folded_picture(const Run& run, const std::vector<LinkMark>& marks) {
  const parallel::Topology& graph = run.graph;
  FoldedPicture out;
  std::vector<std::int64_t> chip_row(graph.nodes.size(), -1), rail_row(graph.nodes.size(), -1);
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const auto& node = graph.nodes[n];
    if (node.kind == TopologyNodeKind::chip && node.box == 0) {
      chip_row[n] = static_cast<std::int64_t>(out.chips.size());
      out.chips.emplace_back();
    } else if (node.kind == TopologyNodeKind::nic && node.box == 0) {
      out.ports.push_back({.pipe = {}, .node = n});
    } else if (node.kind == TopologyNodeKind::leaf) {
      rail_row[n] = static_cast<std::int64_t>(out.rails.size());
      out.rails.push_back({.pipe = {}, .node = n});
    }
  }
  const bool fabric = std::any_of(graph.links.begin(), graph.links.end(), [](const TopologyLink& l) {
    return l.kind == TopologyLinkKind::nvlink || l.kind == TopologyLinkKind::xgmi;
  });
  TopologyLinkKind joins = TopologyLinkKind::pcie;
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const TopologyLink& link = graph.links[i];
    for (const std::uint32_t end : {link.a, link.b}) {
      if (chip_row[end] < 0 || !joins_chips(graph, link, fabric)) continue;
      joins = link.kind;
      add_link(run, marks, i, true, out.chips[static_cast<std::size_t>(chip_row[end])]);
    }
    if (link.kind == TopologyLinkKind::spine) {
      for (const std::uint32_t end : {link.a, link.b})
        if (rail_row[end] >= 0) add_link(run, marks, i, true, out.rails[static_cast<std::size_t>(rail_row[end])].pipe);
    }
    if (link.kind != TopologyLinkKind::network) continue;
    // A rail's ports carry alike: the busiest of them says how busy the pipe is.
    for (const std::uint32_t end : {link.a, link.b}) {
      if (rail_row[end] >= 0) ++out.rails[static_cast<std::size_t>(rail_row[end])].ports;
      for (RailMark& port : out.ports)
        if (graph.nodes[end].kind == TopologyNodeKind::nic && graph.nodes[end].place == graph.nodes[port.node].place)
          add_link(run, marks, i, end == port.node, port.pipe);
    }
  }
  for (PipeMark& pipe : out.chips) pipe.figure = rate_text(pipe.bytes_per_s);
  for (RailMark& port : out.ports) port.pipe.figure = rate_text(port.pipe.bytes_per_s);
  for (RailMark& rail : out.rails) {
    rail.pipe.figure = rate_text(rail.pipe.bytes_per_s);
    rail.words = std::to_string(rail.ports) + (rail.ports == 1 ? " port uses it" : " ports share it");
  }
  out.fabric = joins == TopologyLinkKind::nvlink ? "NVSwitch" : std::string(parallel::topology_link_name(joins));
  return out;
}

}  // namespace chapters::distributed::topology
