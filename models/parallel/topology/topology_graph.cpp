#include "models/parallel/topology/topology_graph.h"

#include <algorithm>
#include <array>

namespace models::parallel {

std::string_view topology_link_name(TopologyLinkKind kind) {
  constexpr std::array<std::string_view, topology_link_kind_count> names{"NVLink",  "xGMI",    "ICI",  "PCIe",
                                                                         "sockets", "network", "spine"};
  return names[static_cast<std::size_t>(kind)];
}

std::uint32_t Topology::add(TopologyNodeKind kind, std::string name_of_node, std::int32_t box, std::int32_t place) {
  const auto index = static_cast<std::uint32_t>(nodes.size());
  nodes.push_back({kind, std::move(name_of_node), box, place});
  if (kind == TopologyNodeKind::chip) chips.push_back(index);
  return index;
}

std::uint32_t Topology::join(std::uint32_t a, std::uint32_t b, TopologyLinkKind kind, const TopologyRate& rate,
                             std::int32_t lanes) {
  const double n = lanes;
  links.push_back({a, b, kind, n * rate.line_bytes_per_s, n * rate.reached_bytes_per_s, rate.latency_s, lanes});
  return static_cast<std::uint32_t>(links.size() - 1);
}

void Topology::note(std::string_view what, const TopologyRate& rate) {
  const auto known = [&](const std::string& text) {
    return std::any_of(figures.begin(), figures.end(), [&](const TopologyFigure& f) { return f.what == text; });
  };
  const std::string name_of_rate(what);
  if (known(name_of_rate + ", line rate")) return;
  figures.push_back({name_of_rate + ", line rate", rate.line_source, rate.line_bytes_per_s, 0});
  figures.push_back({name_of_rate + ", reached", rate.reached_source, rate.reached_bytes_per_s, 0});
  figures.push_back({name_of_rate + ", a hop", rate.latency_source, 0, rate.latency_s});
}

std::size_t Topology::count(TopologyNodeKind kind) const {
  return static_cast<std::size_t>(
      std::count_if(nodes.begin(), nodes.end(), [&](const TopologyNode& n) { return n.kind == kind; }));
}

}  // namespace models::parallel
