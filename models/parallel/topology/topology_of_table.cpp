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

}  // namespace

Result<Topology> topology_of_table(const TopologyTable& table, const Chip& chip, const Network& network) {
  const std::size_t n = table.devices.size();
  if (!chip.pcie_generation && !chip.interconnect.bytes_per_s_per_direction)
    return Result<Topology>::fail("The catalog states neither PCIe nor a link of " + chip.name +
                                  "; choose the chip that the table is of.");
  Topology t;
  t.name = table.amd ? "the pasted AMD machine" : "the pasted machine";
  t.shape = TopologyShape::tree;
  const TopologyRate pcie = pcie_rate(chip.pcie_generation.value_or(4)), sockets = socket_rate();
  std::vector<std::uint32_t> node(n);
  std::int32_t chips = 0, adapters = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const TopologyDevice& d = table.devices[i];
    if (d.chip) {
      node[i] = t.add(NodeKind::chip, "GPU " + d.name.substr(3), 0, chips++);
    } else {
      node[i] = t.add(NodeKind::nic, d.adapter.empty() ? d.name : d.adapter, 0, adapters++);
    }
  }
  // The tree of PCIe: a processor for each NUMA node, switches under it for devices that share one.
  NearSets domain = sets_within(table, Label::node, true), under = sets_within(table, Label::pxb, false);
  std::map<std::size_t, std::uint32_t> cpu_of, switch_of;
  std::map<std::size_t, std::size_t> shared;
  for (std::size_t i = 0; i < n; ++i) ++shared[under.find(i)];
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t d = domain.find(i), u = under.find(i);
    if (!cpu_of.contains(d)) {
      const auto number = static_cast<std::int32_t>(cpu_of.size());
      const std::int32_t numa = numa_of(table, domain, d);
      cpu_of[d] = t.add(NodeKind::cpu, numa >= 0 ? "NUMA " + std::to_string(numa) : "processor", 0, number);
    }
    if (shared[u] < 2) {
      t.join(node[i], cpu_of[d], LinkKind::pcie, pcie);
      continue;
    }
    if (!switch_of.contains(u)) {
      const auto number = static_cast<std::int32_t>(switch_of.size());
      switch_of[u] = t.add(NodeKind::pcie_switch, "PCIe switch " + std::to_string(number), 0, number);
      t.join(switch_of[u], cpu_of[d], LinkKind::pcie, pcie);
    }
    t.join(node[i], switch_of[u], LinkKind::pcie, pcie);
  }
  if (cpu_of.size() == 2) {
    t.join(cpu_of.begin()->second, cpu_of.rbegin()->second, LinkKind::socket, sockets);
  } else if (cpu_of.size() > 2) {
    const auto bus = t.add(NodeKind::socket_bus, "between NUMA nodes", 0, 0);
    for (const auto& [set, cpu] : cpu_of) t.join(cpu, bus, LinkKind::socket, sockets);
  }
  // Links between chips.
  std::size_t meshed = 0, bridged = 0;
  bool even = true;
  const std::int32_t links = most_links(table);
  const std::int32_t of_chip = chip.interconnect.links.value_or(18);
  if (links > std::max(of_chip, 18)) {
    const auto plane = t.add(NodeKind::fabric_switch, "NVLink switches", 0, 0);
    t.shape = TopologyShape::switched;
    for (std::size_t a = 0; a < n; ++a) {
      std::int32_t most = 0;
      for (std::size_t b = 0; b < n; ++b)
        if (a != b && table.at(a, b).label == Label::nvlink) most = std::max(most, table.at(a, b).count);
      if (most > 0) t.join(node[a], plane, LinkKind::nvlink, nvlink_rate(chip), most);
    }
  } else {
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = a + 1; b < n; ++b) {
        const TopologyEntry& e = table.at(a, b);
        if (e.label == Label::nvlink) {
          t.join(node[a], node[b], LinkKind::nvlink, nvlink_rate(chip), e.count);
          even = even && e.count * (chips - 1) == links;
          ++bridged;
        }
        if (e.label != Label::xgmi) continue;
        TopologyRate rate = xgmi_rate(chip);  // over other chips where it takes more hops than one
        rate.line_bytes_per_s /= e.count;
        rate.reached_bytes_per_s /= e.count;
        t.join(node[a], node[b], LinkKind::xgmi, rate);
        ++meshed;
      }
  }
  for (const TopologyLink& l : t.links)
    if ((l.kind == LinkKind::nvlink || l.kind == LinkKind::xgmi) && !(l.line_bytes_per_s > 0))
      return Result<Topology>::fail("The table has links between chips, and the catalog states none of " + chip.name +
                                    "; choose the chip that the table is of.");
  if (links > 0) t.note("one NVLink", nvlink_rate(chip));
  const auto all_chips = static_cast<std::size_t>(chips);
  // Boards of four whose pairs have as many links each: NCCL's rings use all of them at once.
  if (all_chips > 2 && even && bridged == all_chips * (all_chips - 1) / 2) t.shape = TopologyShape::mesh;
  if (meshed > 0 && meshed == all_chips * (all_chips - 1) / 2) t.shape = TopologyShape::mesh;
  if (meshed > 0) t.note("one xGMI link", xgmi_rate(chip));
  t.note("PCIe x16", pcie);
  t.note("between sockets", sockets);
  if (adapters > 0) t.note("a network port", network_rate(network));
  t.chips_a_box = chips;
  return Result<Topology>::ok(std::move(t));
}

}  // namespace models::parallel
