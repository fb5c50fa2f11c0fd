#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "models/parallel/topology/topology_boxes.h"
#include "models/parallel/topology/topology_parse.h"

namespace models::parallel {
namespace {

using Label = TopologyLabel;
using NodeKind = TopologyNodeKind;
using LinkKind = TopologyLinkKind;

/// Sets of devices that are near each other.
struct NearSets {
  std::vector<std::size_t> parent;
  explicit NearSets(std::size_t n) : parent(n) { std::iota(parent.begin(), parent.end(), std::size_t{0}); }
  std::size_t find(std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  }
  void unite(std::size_t a, std::size_t b) { parent[std::max(find(a), find(b))] = std::min(find(a), find(b)); }
};

/// The sets of devices that a label up to `far` joins; where asked, also those of one NUMA node, or, in tables that do
/// not print it, those with the same cores.
NearSets sets_within(const TopologyTable& table, Label far, bool numa) {
  const std::size_t n = table.devices.size();
  NearSets sets(n);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = a + 1; b < n; ++b) {
      const Label label = table.at(a, b).label;
      const TopologyDevice &one = table.devices[a], &other = table.devices[b];
      const bool same_cpus = one.numa < 0 && other.numa < 0 && !one.cpus.empty() && one.cpus == other.cpus;
      const bool same_numa = numa && ((one.numa >= 0 && one.numa == other.numa) || same_cpus);
      if ((label >= Label::pix && label <= far) || same_numa) sets.unite(a, b);
    }
  return sets;
}

/// The NUMA node that a device of the set names; -1 where none does.
std::int32_t numa_of(const TopologyTable& table, NearSets& domain, std::size_t set) {
  for (std::size_t i = 0; i < table.devices.size(); ++i)
    if (domain.find(i) == set && table.devices[i].numa >= 0) return table.devices[i].numa;
  return -1;
}

/// NVLinks that a chip names to all others together.
std::int32_t most_links(const TopologyTable& table) {
  std::int32_t most = 0;
  for (std::size_t a = 0; a < table.devices.size(); ++a) {
    std::int32_t sum = 0;
    for (std::size_t b = 0; b < table.devices.size(); ++b)
      if (a != b && table.at(a, b).label == Label::nvlink) sum += table.at(a, b).count;
    most = std::max(most, sum);
  }
  return most;
}

/// Builds the graph of a pasted table in steps: devices, the tree of PCIe, then links between chips.
class TableGraph {
 public:
  TableGraph(const TopologyTable& table, const Chip& chip)
      : table_(table),
        chip_(chip),
        pcie_(pcie_rate(chip.pcie_generation.value_or(4))),
        sockets_(socket_rate()),
        node_(table.devices.size()) {
    t_.name = table.amd ? "the pasted AMD machine" : "the pasted machine";
    t_.shape = TopologyShape::tree;
  }

  Result<Topology> build(const Network& network) {
    add_devices();
    add_pcie_tree();
    nvlinks_ = most_links(table_);
    if (nvlinks_ > std::max(chip_.interconnect.links.value_or(18), 18)) {
      add_switch_plane();
    } else {
      add_direct_links();
    }
    for (const TopologyLink& l : t_.links)
      if ((l.kind == LinkKind::nvlink || l.kind == LinkKind::xgmi) && !(l.line_bytes_per_s > 0))
        return Result<Topology>::fail("The table has links between chips, and the catalog states none of " +
                                      chip_.name + "; choose the chip that the table is of.");
    set_mesh();
    note_rates(network);
    t_.chips_a_box = chips_;
    return Result<Topology>::ok(std::move(t_));
  }

 private:
  void add_devices() {
    for (std::size_t i = 0; i < node_.size(); ++i) {
      const TopologyDevice& d = table_.devices[i];
      if (d.chip) {
        node_[i] = t_.add(NodeKind::chip, "GPU " + d.name.substr(3), 0, chips_++);
      } else {
        node_[i] = t_.add(NodeKind::nic, d.adapter.empty() ? d.name : d.adapter, 0, adapters_++);
      }
    }
  }

  /// A processor for each NUMA node, switches under it for devices that share one.
  void add_pcie_tree() {
    NearSets domain = sets_within(table_, Label::node, true), under = sets_within(table_, Label::pxb, false);
    std::map<std::size_t, std::uint32_t> cpu_of, switch_of;
    std::map<std::size_t, std::size_t> shared;
    for (std::size_t i = 0; i < node_.size(); ++i) ++shared[under.find(i)];
    for (std::size_t i = 0; i < node_.size(); ++i) {
      const std::size_t d = domain.find(i), u = under.find(i);
      if (!cpu_of.contains(d)) {
        const auto number = static_cast<std::int32_t>(cpu_of.size());
        const std::int32_t numa = numa_of(table_, domain, d);
        cpu_of[d] = t_.add(NodeKind::cpu, numa >= 0 ? "NUMA " + std::to_string(numa) : "processor", 0, number);
      }
      if (shared[u] < 2) {
        t_.join(node_[i], cpu_of[d], LinkKind::pcie, pcie_);
        continue;
      }
      if (!switch_of.contains(u)) {
        const auto number = static_cast<std::int32_t>(switch_of.size());
        switch_of[u] = t_.add(NodeKind::pcie_switch, "PCIe switch " + std::to_string(number), 0, number);
        t_.join(switch_of[u], cpu_of[d], LinkKind::pcie, pcie_);
      }
      t_.join(node_[i], switch_of[u], LinkKind::pcie, pcie_);
    }
    join_processors(cpu_of);
  }

  void join_processors(const std::map<std::size_t, std::uint32_t>& cpu_of) {
    if (cpu_of.size() == 2) {
      t_.join(cpu_of.begin()->second, cpu_of.rbegin()->second, LinkKind::socket, sockets_);
    } else if (cpu_of.size() > 2) {
      const auto bus = t_.add(NodeKind::socket_bus, "between NUMA nodes", 0, 0);
      for (const auto& [set, cpu] : cpu_of) t_.join(cpu, bus, LinkKind::socket, sockets_);
    }
  }

  /// Every chip names all its links to every other: they go to switches, which all chips share.
  void add_switch_plane() {
    const auto plane = t_.add(NodeKind::fabric_switch, "NVLink switches", 0, 0);
    t_.shape = TopologyShape::switched;
    for (std::size_t a = 0; a < node_.size(); ++a) {
      std::int32_t most = 0;
      for (std::size_t b = 0; b < node_.size(); ++b)
        if (a != b && table_.at(a, b).label == Label::nvlink) most = std::max(most, table_.at(a, b).count);
      if (most > 0) t_.join(node_[a], plane, LinkKind::nvlink, nvlink_rate(chip_), most);
    }
  }

  void add_direct_links() {
    for (std::size_t a = 0; a < node_.size(); ++a)
      for (std::size_t b = a + 1; b < node_.size(); ++b) {
        const TopologyEntry& e = table_.at(a, b);
        if (e.label == Label::nvlink) {
          t_.join(node_[a], node_[b], LinkKind::nvlink, nvlink_rate(chip_), e.count);
          even_ = even_ && e.count * (chips_ - 1) == nvlinks_;
          ++bridged_;
        }
        if (e.label != Label::xgmi) continue;
        TopologyRate rate = xgmi_rate(chip_);  // over other chips where it takes more hops than one
        rate.line_bytes_per_s /= e.count;
        rate.reached_bytes_per_s /= e.count;
        t_.join(node_[a], node_[b], LinkKind::xgmi, rate);
        ++meshed_;
      }
  }

  /// Boards of four whose pairs have as many links each: NCCL's rings use all of them at once.
  void set_mesh() {
    const auto chips = static_cast<std::size_t>(chips_);
    const std::size_t pairs = chips * (chips - 1) / 2;
    if (chips > 2 && even_ && bridged_ == pairs) t_.shape = TopologyShape::mesh;
    if (meshed_ > 0 && meshed_ == pairs) t_.shape = TopologyShape::mesh;
  }

  void note_rates(const Network& network) {
    if (nvlinks_ > 0) t_.note("one NVLink", nvlink_rate(chip_));
    if (meshed_ > 0) t_.note("one xGMI link", xgmi_rate(chip_));
    t_.note("PCIe x16", pcie_);
    t_.note("between sockets", sockets_);
    if (adapters_ > 0) t_.note("a network port", network_rate(network));
  }

  const TopologyTable& table_;
  const Chip& chip_;
  TopologyRate pcie_, sockets_;
  Topology t_;
  std::vector<std::uint32_t> node_;  ///< node in the graph of each device of the table
  std::int32_t chips_ = 0, adapters_ = 0;
  std::int32_t nvlinks_ = 0;              ///< that a chip names to all others together
  std::size_t meshed_ = 0, bridged_ = 0;  ///< pairs of chips with xGMI, with NVLinks
  bool even_ = true;                      ///< each pair with NVLinks has the same share of a chip's links
};

}  // namespace

Result<Topology> topology_of_table(const TopologyTable& table, const Chip& chip, const Network& network) {
  if (!chip.pcie_generation && !chip.interconnect.bytes_per_s_per_direction)
    return Result<Topology>::fail("The catalog states neither PCIe nor a link of " + chip.name +
                                  "; choose the chip that the table is of.");
  return TableGraph(table, chip).build(network);
}

}  // namespace models::parallel
