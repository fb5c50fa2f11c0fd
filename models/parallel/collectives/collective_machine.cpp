#include "models/parallel/collectives/collective_machine.h"

#include <algorithm>
#include <array>

#include "models/base/integer_math.h"

namespace models::parallel {
namespace {

struct GenerationRow {
  std::string_view architecture;  ///< how the chip's architecture begins
  GpuGeneration generation;
  double nvlink_share;  ///< NCCL's rate of a link over the line rate
  std::int64_t channels;
};
constexpr std::array<GenerationRow, 5> generations{{
    {"Volta", GpuGeneration::volta, 20.0 / 25, 12},
    {"Ampere", GpuGeneration::ampere, 20.0 / 25, 24},
    {"Ada", GpuGeneration::ampere, 20.0 / 25, 24},
    {"Hopper", GpuGeneration::hopper, 20.6 / 25, 16},
    {"Blackwell", GpuGeneration::blackwell, 40.1 / 50, 16},
}};
constexpr double mesh_share = 48.0 / 64, pcie_share = 12.0 / 16;

/// RCCL's tables could not be matched to a machine, so AMD's chips use NCCL's row of their time.
constexpr GenerationRow stand_in{"", GpuGeneration::ampere, mesh_share, 24};

}  // namespace

std::string_view inside_link_name(InsideLink link) {
  constexpr std::array<std::string_view, 3> names{"NVLink", "the mesh", "PCIe"};
  return names[static_cast<std::size_t>(link)];
}

std::int64_t CollectiveMachine::nodes() const { return ceil_div(site.ranks, site.ranks_per_node); }
double CollectiveMachine::ranks_a_node() const {
  return static_cast<double>(site.ranks) / static_cast<double>(nodes());
}

Result<CollectiveMachine> collective_machine(const Chip& chip, const CollectiveSite& site) {
  using Made = Result<CollectiveMachine>;
  if (site.ranks < 1 || site.ranks_per_node < 1) return Made::fail("A collective needs one rank or more on each node.");
  const Interconnect& link = chip.interconnect;
  if (!link.bytes_per_s_per_direction || *link.bytes_per_s_per_direction <= 0)
    return Made::fail("The chip " + chip.name + " states no link to other chips: choose one that does.");
  CollectiveMachine m{.site = site};
  const auto* row = std::find_if(generations.begin(), generations.end(),
                                 [&](const GenerationRow& r) { return chip.architecture.starts_with(r.architecture); });
  m.known_tables = row != generations.end();
  const GenerationRow& rates = m.known_tables ? *row : stand_in;
  m.generation = rates.generation;
  m.channels = rates.channels;
  const double line = *link.bytes_per_s_per_direction;
  if (link.name.starts_with("PCIe")) {
    m.inside = InsideLink::pcie;
    m.inside_bytes_per_s = line * pcie_share;
    m.ll128 = false;  // NCCL leaves LL128 off over plain PCIe paths between GPUs.
  } else if (link.name.starts_with("NVLink")) {
    m.inside_bytes_per_s = line * rates.nvlink_share;
  } else {
    m.inside = InsideLink::mesh;
    const auto links = static_cast<double>(std::max(1, link.links.value_or(1)));
    const double peers = std::clamp(static_cast<double>(std::min(site.ranks, site.ranks_per_node)) - 1, 1.0, links);
    m.inside_bytes_per_s = line / links * peers * mesh_share;
  }
  const auto says = [&](const char* word) { return link.name.find(word) != std::string::npos; };
  const bool no_switch = says("bridge") || says("mesh");
  m.nvls = site.nvls && m.inside == InsideLink::nvlink && !no_switch && m.generation >= GpuGeneration::hopper;
  m.nic_bytes_per_s = site.nic_line_bytes_per_s * usable_port_share;
  if (m.nodes() > 1 && !(m.nic_bytes_per_s > 0))
    return Made::fail("The rate of the network ports is not stated, so nothing is predicted over more than one node.");
  return Made::ok(std::move(m));
}

}  // namespace models::parallel
