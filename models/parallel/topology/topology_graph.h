#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Chips, switches, processors and network adapters with the links between them.
namespace models::parallel {

enum class TopologyNodeKind : std::uint8_t {
  chip,           ///< GPU or TPU
  fabric_switch,  ///< NVSwitch
  pcie_switch,
  cpu,         ///< a socket or NUMA domain
  socket_bus,  ///< what joins more than two of them
  nic,         ///< network adapter
  leaf,        ///< switch of one rail
  spine        ///< what joins the rails
};
inline constexpr std::size_t topology_node_kind_count = 8;

enum class TopologyLinkKind : std::uint8_t { nvlink, xgmi, ici, pcie, socket, network, spine };
inline constexpr std::size_t topology_link_kind_count = 7;
/// "NVLink", "xGMI", "ICI", "PCIe", "sockets", "network", "spine".
std::string_view topology_link_name(TopologyLinkKind kind);

/// What a kind of link carries. Bandwidths are of one direction.
struct TopologyRate {
  double line_bytes_per_s = 0;     ///< what the vendor states
  double reached_bytes_per_s = 0;  ///< what collectives get of it
  double latency_s = 0;            ///< The latency of one hop of a collective.
  std::string line_source, reached_source, latency_source;
};

struct TopologyNode {
  TopologyNodeKind kind = TopologyNodeKind::chip;
  std::string name;        ///< "GPU 3", "NVSwitch 0"
  std::int32_t box = 0;    ///< the machine it is part of; -1 for leaf and spine switches
  std::int32_t place = 0;  ///< its number among those of its kind in the box; of leaves the rail
};

/// One link with both directions; each has the whole bandwidth.
struct TopologyLink {
  std::uint32_t a = 0, b = 0;
  TopologyLinkKind kind = TopologyLinkKind::nvlink;
  double line_bytes_per_s = 0, reached_bytes_per_s = 0, latency_s = 0;
  std::int32_t lanes = 1;  ///< physical links that it bundles
};

/// How chips are joined, which decides how the whole is drawn and which collectives have a closed form.
enum class TopologyShape : std::uint8_t { switched, mesh, tree, torus };

struct TopologyFigure {
  std::string what, source;
  double bytes_per_s = 0;  ///< 0: a latency
  double latency_s = 0;
};

struct Topology {
  std::string name;
  TopologyShape shape = TopologyShape::switched;
  std::vector<TopologyNode> nodes;
  std::vector<TopologyLink> links;
  std::vector<std::uint32_t> chips;  ///< nodes that are chips, in the order of their numbers
  std::int32_t boxes = 1;
  std::int32_t chips_a_box = 0;
  std::int32_t torus[3] = {0, 0, 0};  ///< chips along each dimension; 0: none. Chip x + X (y + Y z).
  bool relay = true;                  ///< chips pass on what is for another rail (NCCL's PXN)
  /// Share of the line rate that an all-reduce in the switches reaches at a chip's links; 0: the switches cannot add.
  double in_switch_share = 0;
  std::string in_switch_source;
  std::vector<TopologyFigure> figures;  ///< every bandwidth and latency of the graph, with its source

  /// Adds a node or a link and returns its number.
  std::uint32_t add(TopologyNodeKind kind, std::string name, std::int32_t box, std::int32_t place);
  std::uint32_t join(std::uint32_t a, std::uint32_t b, TopologyLinkKind kind, const TopologyRate& rate,
                     std::int32_t lanes = 1);
  /// Notes a rate in `figures` once, under `what`.
  void note(std::string_view what, const TopologyRate& rate);
  std::size_t count(TopologyNodeKind kind) const;
};

}  // namespace models::parallel
