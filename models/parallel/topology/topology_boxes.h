#pragma once
#include <cstdint>
#include <string_view>

#include "models/base/result.h"
#include "models/machine/hardware.h"
#include "models/parallel/topology/topology_graph.h"

/// Machines as graphs: built-in ones from the rows of the hardware catalog, and several of one kind over a network.
namespace models::parallel {

enum class TopologyBox : std::uint8_t {
  hgx_h100,
  hgx_h200,
  hgx_b200,
  nvl72_gb200,
  nvl72_gb300,
  pcie_box,
  mi300x,
  tpu_v4,
  tpu_v5p
};
inline constexpr std::size_t topology_box_count = 9;
/// The catalog's id of the box's chip; empty for the PCIe box, which takes any chip.
std::string_view topology_box_chip(TopologyBox box);
std::string_view topology_box_name(TopologyBox box);

/// The rates that a chip's row, PCIe and a network give. Reached rates are those of NCCL's and RCCL's topology search
/// where these state one; sources name the lines.
TopologyRate nvlink_rate(const Chip& chip);  ///< The rate of one NVLink.
TopologyRate xgmi_rate(const Chip& chip);    ///< The rate of one link of the mesh.
TopologyRate ici_rate(const Chip& chip);     ///< The rate of one link of the torus.
TopologyRate pcie_rate(int generation);      ///< 16 lanes
TopologyRate socket_rate();
TopologyRate network_rate(const Network& network);

/// Boxes and what joins them. `oversubscription`: ports below the leaf switches over ports up to the spine.
struct TopologySpec {
  std::int64_t boxes = 1;
  double oversubscription = 1;
  std::int64_t rack_chips = 72;  ///< Chips in use in a rack of 72.
  bool relay = true;             ///< chips pass on what is for another rail
};

/// The box `spec.boxes` times; with two or more, adapter r of every box is joined to leaf switch r, and the leaves to a
/// spine. Fails with a sentence: a chip without the link that the box needs; more than 160 chips; several tori.
Result<Topology> built_in_topology(TopologyBox box, const TopologySpec& spec, const Chip& chip, const Network& network);

/// Copies of a topology of one box, joined by its adapters as above. Fails with a sentence where it has no adapter.
Result<Topology> topology_cluster(const Topology& box, const TopologySpec& spec, const Network& network);

inline constexpr std::int64_t max_topology_chips = 160;

}  // namespace models::parallel
