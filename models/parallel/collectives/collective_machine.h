#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "models/base/result.h"
#include "models/machine/hardware.h"

/// What a collective runs over: ranks, the links inside a node, the network ports between nodes.
namespace models::parallel {

/// The rows of NCCL's tables.
enum class GpuGeneration : std::uint8_t { volta, ampere, hopper, blackwell };
inline constexpr std::size_t gpu_generation_count = 4;

enum class InsideLink : std::uint8_t { nvlink, mesh, pcie };
std::string_view inside_link_name(InsideLink link);  ///< "NVLink"

/// What the prediction takes of an installation, beyond its chip.
struct CollectiveSite {
  std::int64_t ranks = 8, ranks_per_node = 8;  ///< a node is a domain of the fast links: 72 on a GB200 rack
  double nic_line_bytes_per_s = 0;             ///< line rate of a rank's share of its node's ports, one direction
  bool nvls = true;                            ///< multicast and reduction in NVSwitch may be used where there is one
  bool in_network = false;                     ///< the network's switches add (SHARP)
  /// One process launches the kernels of all ranks of a node, one after the other.
  bool one_process = false;
};

struct CollectiveMachine {
  CollectiveSite site;
  GpuGeneration generation = GpuGeneration::hopper;
  InsideLink inside = InsideLink::nvlink;
  double inside_bytes_per_s = 0, nic_bytes_per_s = 0;  ///< usable, of one rank, one direction
  std::int64_t channels = 16;                          ///< rings side by side
  bool nvls = false;                                   ///< there is a switch that can, and it may be used
  bool ll128 = true;
  /// The host posts each step of a ring between nodes: 1 us on Intel and Arm, 2 us on AMD.
  double net_overhead_s = 1e-6;
  bool known_tables = true;  ///< false: NCCL's tables have no row for this chip, and its neighbour's stands in
  std::int64_t nodes() const;
  double ranks_a_node() const;
};

/// Share of a port's line rate that a collective gets: 46 to 48 of 50 GB/s at 400 Gb/s, 24 of 25 at 200 Gb/s. Sources:
/// issue 290 of nccl-tests, issue 812 of NCCL.
inline constexpr double usable_port_share = 0.94;
/// Between two launches of one host thread: empty kernels from C++, measured by ourselves on an H100
/// (assets/published/framework-launch.json, h100-run-bare). Eight A100 driven by one process have a floor of 8
/// times 4.35 us, four L40S of 4 times 4.33 us.
inline constexpr double group_launch_s = 4.12e-6;

/// The machine of a chip of the catalog. NVLink counts at the rate that NCCL's topology search gives a link (20 GB/s of
/// 25 on V100 and A100, 20.6 of 25 on H100, 40.1 of 50 on B200: src/graph/topo.h), a link of AMD's mesh and PCIe at
/// three quarters (RCCL's 48 of 64 GB/s on MI300X; NCCL's 12 of 16 GB/s for PCIe 3). Two GPUs of a mesh have one link
/// of all. Fails with a sentence where the chip states no link or the ranks are none.
Result<CollectiveMachine> collective_machine(const Chip& chip, const CollectiveSite& site);

}  // namespace models::parallel
