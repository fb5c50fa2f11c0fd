#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/machine/hardware.h"
#include "models/parallel/topology/topology_graph.h"

/// What `nvidia-smi topo -m` and `rocm-smi --showtopo` print, read into a topology.
namespace models::parallel {

/// How two devices of a machine are joined, from near to far. Source: the legend that nvidia-smi prints.
enum class TopologyLabel : std::uint8_t {
  self,    ///< X
  nvlink,  ///< NV#: that many links
  xgmi,    ///< AMD's XGMI
  pix,     ///< at most one PCIe switch
  pxb,     ///< several PCIe switches, no host bridge
  phb,     ///< the host bridge of a processor
  node,    ///< host bridges within one NUMA node
  sys,     ///< the link between NUMA nodes
  unknown  ///< both tables of AMD name PCIe only
};
inline constexpr std::size_t topology_label_count = 9;
std::string_view topology_label_text(TopologyLabel label);  ///< "PIX"; "NV" without its number

struct TopologyDevice {
  std::string name;        ///< "GPU0", "mlx5_0"
  bool chip = true;        ///< otherwise a network adapter
  std::string adapter;     ///< what the legend calls it; empty: nothing
  std::int32_t numa = -1;  ///< -1: not printed
  std::string cpus{};      ///< cores near to it, "0-19,40-59"; empty: not printed
};

/// A pair's entry: the label, with the number of NVLinks or of hops.
struct TopologyEntry {
  TopologyLabel label = TopologyLabel::unknown;
  std::int32_t count = 0;
};

struct TopologyTable {
  bool amd = false;
  std::vector<TopologyDevice> devices;
  std::vector<TopologyEntry> entries;  ///< devices x devices, row by row

  const TopologyEntry& at(std::size_t a, std::size_t b) const { return entries[a * devices.size() + b]; }
};

inline constexpr std::size_t max_topology_text_bytes = 1 << 18;
inline constexpr std::size_t max_topology_devices = 64;

/// Reads either program's text, whatever stands around the table: prompts, colours, tabs, wrapped lines, legends. Fails
/// with one sentence that names what is wrong: no table, a row that is missing or too short, an unknown label, two
/// directions of a pair that differ.
Result<TopologyTable> parse_topology_table(std::string_view text);

/// The machine that prints the table. Chips that name more NVLinks together than a chip has are taken to be joined by
/// switches. `chip` gives the rates of links and of PCIe, `network` those of adapters.
Result<Topology> topology_of_table(const TopologyTable& table, const Chip& chip, const Network& network);

}  // namespace models::parallel
