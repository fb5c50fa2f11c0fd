#include <array>
#include <string>

#include "models/machine/all_reduce_time.h"
#include "models/parallel/topology/topology_boxes.h"

// Every rate and its source. NCCL's figures: src/graph/topo.h, lines 17 to 39, and src/graph/tuning.cc, lines 150 to
// 176, of NVIDIA/nccl at 5067397c2676. RCCL's: src/graph/topo.h of ROCm/rccl.
namespace models::parallel {
namespace {

/// GB/s that NCCL's search counts for one NVLink: of Hopper, of Ampere and before, and of
/// Blackwell.
double nvlink_search_rate(const Chip& chip, double line_bytes_per_s) {
  if (chip.architecture.starts_with("Hopper")) return 20.6e9;
  if (line_bytes_per_s > 40e9) return 40.1e9;
  return 20.0e9;
}

const std::string catalog_source = "the chip's row in the hardware catalog";

double links_of(const Chip& chip) { return static_cast<double>(chip.interconnect.links.value_or(1)); }

}  // namespace

TopologyRate nvlink_rate(const Chip& chip) {
  TopologyRate r;
  r.line_bytes_per_s = chip.interconnect.bytes_per_s_per_direction.value_or(0) / links_of(chip);
  r.reached_bytes_per_s = nvlink_search_rate(chip, r.line_bytes_per_s);
  r.latency_s = AllReduceLinks{}.inside_hop_s;
  r.line_source = catalog_source + ", over its links";
  r.reached_source = "NCCL, src/graph/topo.h: what its search counts for one NVLink of this generation";
  r.latency_source = "NCCL, src/graph/tuning.cc: a step of an LL ring over NVLink";
  return r;
}

TopologyRate xgmi_rate(const Chip& chip) {
  TopologyRate r;
  r.line_bytes_per_s = chip.interconnect.bytes_per_s_per_peer_per_direction.value_or(
      chip.interconnect.bytes_per_s_per_direction.value_or(0) / links_of(chip));
  r.reached_bytes_per_s = 0.75 * r.line_bytes_per_s;
  r.latency_s = AllReduceLinks{}.inside_hop_s;
  r.line_source = catalog_source;
  r.reached_source = "RCCL, src/graph/topo.h: 48 of the 64 GB/s of an MI300X link, the same share of others";
  r.latency_source = "assumed as NVLink's: NCCL, src/graph/tuning.cc";
  return r;
}

TopologyRate ici_rate(const Chip& chip) {
  TopologyRate r;
  r.line_bytes_per_s = chip.interconnect.bytes_per_s_per_direction.value_or(0) / links_of(chip);
  r.reached_bytes_per_s = r.line_bytes_per_s;
  r.latency_s = 1e-6;
  r.line_source = catalog_source + ", over its links";
  r.reached_source = "assumed to be the line rate: no other figure is published";
  r.latency_source = "about 1 us a hop: J. Austin and others, How to Scale Your Model, 2025";
  return r;
}

TopologyRate pcie_rate(int generation) {
  TopologyRate r;
  r.line_bytes_per_s = pcie_bytes_per_s_per_direction(generation).value_or(0);
  // 12 GB/s of PCIe 3, twice as much with each generation.
  r.reached_bytes_per_s = 12e9 * static_cast<double>(1 << (generation > 3 ? generation - 3 : 0));
  r.latency_s = 1e-6;
  r.line_source = "PCI-SIG base specifications, after line coding";
  r.reached_source = "NCCL, src/graph/topo.h: 12 GB/s of PCIe 3 x16, doubled with each generation";
  r.latency_source = "NCCL, src/graph/tuning.cc: a step of an LL ring over PCIe";
  return r;
}

TopologyRate socket_rate() {
  TopologyRate r;
  r.line_bytes_per_s = 22e9;
  r.reached_bytes_per_s = 22e9;
  r.latency_s = 1e-6;
  r.line_source = "NCCL, src/graph/topo.h: what GPU traffic gets between Sapphire Rapids sockets";
  r.reached_source = r.line_source;
  r.latency_source = "NCCL, src/graph/tuning.cc: a step of an LL ring over PCIe";
  return r;
}

TopologyRate network_rate(const Network& network) {
  TopologyRate r;
  r.line_bytes_per_s = network.bytes_per_s_per_direction;
  // All-to-all over one port a GPU reaches 0.93 to 0.97 of what the ports allow on three published pairs of nodes.
  r.reached_bytes_per_s = 0.96 * network.bytes_per_s_per_direction;
  r.latency_s = AllReduceLinks{}.between_hop_s;
  r.line_source = "the network's row in the hardware catalog";
  r.reached_source = "0.93 to 0.97 of the line in published all-to-all runs of two nodes, MI355X, gfx950 and B300";
  r.latency_source = "NCCL, src/graph/tuning.cc: a step of an LL ring over the network";
  return r;
}

}  // namespace models::parallel
