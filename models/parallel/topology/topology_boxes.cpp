#include "models/parallel/topology/topology_boxes.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

namespace models::parallel {
namespace {

using NodeKind = TopologyNodeKind;
using LinkKind = TopologyLinkKind;

std::string numbered(std::string_view word, std::int64_t n) { return std::string(word) + " " + std::to_string(n); }

/// An NVIDIA board of eight with `switches` NVSwitches, four PCIe switches and eight adapters.
Topology hgx_box(const Chip& chip, std::span<const int> lanes_of_switch, const Network& network) {
  Topology t;
  const TopologyRate nvlink = nvlink_rate(chip), pcie = pcie_rate(chip.pcie_generation.value_or(5)),
                     port = network_rate(network);
  for (int i = 0; i < 8; ++i) t.add(NodeKind::chip, numbered("GPU", i), 0, i);
  for (std::size_t s = 0; s < lanes_of_switch.size(); ++s) {
    const auto at = t.add(NodeKind::fabric_switch, numbered("NVSwitch", static_cast<std::int64_t>(s)), 0,
                          static_cast<std::int32_t>(s));
    for (const std::uint32_t gpu : t.chips) t.join(gpu, at, LinkKind::nvlink, nvlink, lanes_of_switch[s]);
  }
  for (int s = 0; s < 4; ++s) {
    const auto at = t.add(NodeKind::pcie_switch, numbered("PCIe switch", s), 0, s);
    for (int i = 0; i < 2; ++i) {
      t.join(t.chips[static_cast<std::size_t>(2 * s + i)], at, LinkKind::pcie, pcie);
      t.join(at, t.add(NodeKind::nic, numbered("NIC", 2 * s + i), 0, 2 * s + i), LinkKind::pcie, pcie);
    }
  }
  t.note("one NVLink", nvlink);
  t.note("PCIe x16", pcie);
  t.note("a network port", port);
  return t;
}

/// Up to 72 GPUs over 18 switch chips, a link of each GPU to each; adapters hang at the GPUs' hosts.
Topology rack_box(const Chip& chip, const Network& network, int chips) {
  Topology t;
  const TopologyRate nvlink = nvlink_rate(chip), port = network_rate(network);
  TopologyRate host = port;
  host.latency_s = 0;
  for (int i = 0; i < chips; ++i) t.add(NodeKind::chip, numbered("GPU", i), 0, i);
  const auto plane = t.add(NodeKind::fabric_switch, "18 NVLink switches", 0, 0);
  for (const std::uint32_t gpu : t.chips) t.join(gpu, plane, LinkKind::nvlink, nvlink, 18);
  for (int i = 0; i < chips; ++i)
    t.join(t.chips[static_cast<std::size_t>(i)], t.add(NodeKind::nic, numbered("NIC", i), 0, i), LinkKind::pcie, host);
  t.note("one NVLink", nvlink);
  t.note("a network port", port);
  return t;
}

/// Two sockets, each with two PCIe switches; two cards and an adapter at each switch.
Topology cards_box(const Chip& chip, const Network& network) {
  Topology t;
  t.shape = TopologyShape::tree;
  const TopologyRate pcie = pcie_rate(chip.pcie_generation.value_or(4)), sockets = socket_rate();
  std::array<std::uint32_t, 2> cpus{};
  for (int c = 0; c < 2; ++c) cpus[static_cast<std::size_t>(c)] = t.add(NodeKind::cpu, numbered("CPU", c), 0, c);
  t.join(cpus[0], cpus[1], LinkKind::socket, sockets);
  for (int s = 0; s < 4; ++s) {
    const auto at = t.add(NodeKind::pcie_switch, numbered("PCIe switch", s), 0, s);
    t.join(at, cpus[static_cast<std::size_t>(s / 2)], LinkKind::pcie, pcie);
    for (int i = 0; i < 2; ++i)
      t.join(t.add(NodeKind::chip, numbered("GPU", 2 * s + i), 0, 2 * s + i), at, LinkKind::pcie, pcie);
    t.join(t.add(NodeKind::nic, numbered("NIC", s), 0, s), at, LinkKind::pcie, pcie);
  }
  t.note("PCIe x16", pcie);
  t.note("between sockets", sockets);
  t.note("a network port", network_rate(network));
  return t;
}

/// Eight GPUs, each pair with a link of its own; an adapter behind a PCIe switch for each.
Topology mesh_box(const Chip& chip, const Network& network) {
  Topology t;
  t.shape = TopologyShape::mesh;
  const TopologyRate xgmi = xgmi_rate(chip), pcie = pcie_rate(chip.pcie_generation.value_or(5));
  for (int i = 0; i < 8; ++i) t.add(NodeKind::chip, numbered("GPU", i), 0, i);
  for (std::size_t a = 0; a < 8; ++a)
    for (std::size_t b = a + 1; b < 8; ++b) t.join(t.chips[a], t.chips[b], LinkKind::xgmi, xgmi);
  for (int i = 0; i < 8; ++i) {
    const auto at = t.add(NodeKind::pcie_switch, numbered("PCIe switch", i), 0, i);
    t.join(t.chips[static_cast<std::size_t>(i)], at, LinkKind::pcie, pcie);
    t.join(at, t.add(NodeKind::nic, numbered("NIC", i), 0, i), LinkKind::pcie, pcie);
  }
  t.note("one xGMI link", xgmi);
  t.note("PCIe x16", pcie);
  t.note("a network port", network_rate(network));
  return t;
}

/// A cube of 4 x 4 x 4 chips whose lines close to rings.
Topology torus_box(const Chip& chip) {
  constexpr std::int32_t side = 4;
  Topology t;
  t.shape = TopologyShape::torus;
  const TopologyRate ici = ici_rate(chip);
  for (std::int32_t& d : t.torus) d = side;
  for (int i = 0; i < side * side * side; ++i) t.add(NodeKind::chip, numbered("chip", i), 0, i);
  for (int i = 0; i < side * side * side; ++i) {
    int stride = 1;
    for (int d = 0; d < 3; ++d) {
      const int at = i / stride % side, next = i + (at + 1 < side ? stride : -stride * (side - 1));
      t.join(t.chips[static_cast<std::size_t>(i)], t.chips[static_cast<std::size_t>(next)], LinkKind::ici, ici);
      stride *= side;
    }
  }
  t.note("one ICI link", ici);
  return t;
}

/// What an all-reduce in the switches reaches at a chip's links, of the line rate: its bus bandwidth is
/// 2 (N - 1) / (N + 1) of that, since each rank sends its buffer once and one Nth of it again.
void set_in_switch(Topology& t, TopologyBox box) {
  if (box == TopologyBox::hgx_h100 || box == TopologyBox::hgx_h200) {
    t.in_switch_share = 480.0 / (14.0 / 9) / 450;
    t.in_switch_source = "from 480 GB/s of bus bandwidth on 8 H200, ml-engineering";
  } else {
    t.in_switch_share = 838.0 / (14.0 / 9) / 900;
    t.in_switch_source = "from 838 GB/s of bus bandwidth on 8 B200, ml-engineering";
  }
}

Topology box_of(TopologyBox box, const Chip& chip, const Network& network, std::int64_t rack_chips) {
  constexpr std::array<int, 4> hopper{5, 4, 4, 5};
  constexpr std::array<int, 2> blackwell{9, 9};
  switch (box) {
    case TopologyBox::hgx_h100:
    case TopologyBox::hgx_h200:
      return hgx_box(chip, hopper, network);
    case TopologyBox::hgx_b200:
      return hgx_box(chip, blackwell, network);
    case TopologyBox::nvl72_gb200:
    case TopologyBox::nvl72_gb300:
      return rack_box(chip, network, static_cast<int>(std::clamp<std::int64_t>(rack_chips, 1, 72)));
    case TopologyBox::pcie_box:
      return cards_box(chip, network);
    case TopologyBox::mi300x:
      return mesh_box(chip, network);
    case TopologyBox::tpu_v4:
    case TopologyBox::tpu_v5p:
      break;
  }
  return torus_box(chip);
}

}  // namespace

std::string_view topology_box_chip(TopologyBox box) {
  constexpr std::array<std::string_view, topology_box_count> chips{
      "h100_sxm", "h200_sxm", "b200_sxm", "gb200_gpu", "gb300_gpu", "", "mi300x", "tpu_v4", "tpu_v5p"};
  return chips[static_cast<std::size_t>(box)];
}

std::string_view topology_box_name(TopologyBox box) {
  constexpr std::array<std::string_view, topology_box_count> names{"HGX H100",     "HGX H200",    "HGX B200",
                                                                   "GB200 NVL72",  "GB300 NVL72", "PCIe box",
                                                                   "MI300X board", "TPU v4 cube", "TPU v5p cube"};
  return names[static_cast<std::size_t>(box)];
}

Result<Topology> built_in_topology(TopologyBox box, const TopologySpec& spec, const Chip& chip,
                                   const Network& network) {
  const bool cards = box == TopologyBox::pcie_box;
  if (!cards && !(chip.interconnect.bytes_per_s_per_direction.value_or(0) > 0))
    return Result<Topology>::fail("The catalog states no link between chips for " + chip.name + ".");
  if (cards && !chip.pcie_generation)
    return Result<Topology>::fail("The catalog states no PCIe generation for " + chip.name + "; choose another chip.");
  Topology one = box_of(box, chip, network, spec.rack_chips);
  one.name = topology_box_name(box);
  one.chips_a_box = static_cast<std::int32_t>(one.chips.size());
  if (one.shape == TopologyShape::switched) set_in_switch(one, box);
  return topology_cluster(one, spec, network);
}

Result<Topology> topology_cluster(const Topology& box, const TopologySpec& spec, const Network& network) {
  const auto chips = static_cast<std::int64_t>(box.chips.size());
  if (spec.boxes < 1 || chips < 1) return Result<Topology>::fail("A cluster has one box with one chip or more.");
  if (spec.boxes * chips > max_topology_chips)
    return Result<Topology>::fail(std::to_string(spec.boxes) + " boxes of " + std::to_string(chips) +
                                  " chips are more than the " + std::to_string(max_topology_chips) +
                                  " chips that are drawn; take fewer boxes.");
  if (spec.boxes == 1) return Result<Topology>::ok(box);
  if (box.shape == TopologyShape::torus)
    return Result<Topology>::fail("Tori are joined chip by chip, not over adapters; take one cube.");
  const std::size_t ports = box.count(NodeKind::nic);
  if (ports == 0)
    return Result<Topology>::fail("The box has no network adapter, so that only one of it can be used; take one box.");
  Topology t = box;
  t.boxes = static_cast<std::int32_t>(spec.boxes);
  t.relay = spec.relay;
  t.nodes.clear();
  t.links.clear();
  t.chips.clear();
  for (std::int32_t b = 0; b < t.boxes; ++b) {
    const auto first = static_cast<std::uint32_t>(t.nodes.size());
    for (const TopologyNode& n : box.nodes) t.add(n.kind, n.name, b, n.place);
    for (TopologyLink link : box.links) {
      link.a += first;
      link.b += first;
      t.links.push_back(link);
    }
  }
  // Rails: of a rack, one for each of the four GPUs of a tray; boxes of cards share one switch.
  const std::size_t rails = box.shape == TopologyShape::tree ? 1 : ports > 16 ? 4 : ports;
  const TopologyRate port = network_rate(network);
  const auto first_leaf = static_cast<std::uint32_t>(t.nodes.size());
  for (std::size_t r = 0; r < rails; ++r)
    t.add(NodeKind::leaf, rails == 1 ? std::string("switch") : numbered("rail", static_cast<std::int64_t>(r)), -1,
          static_cast<std::int32_t>(r));
  std::vector<int> below(rails, 0);
  for (std::uint32_t n = 0; n < first_leaf; ++n) {
    if (t.nodes[n].kind != NodeKind::nic) continue;
    const std::size_t rail = static_cast<std::size_t>(t.nodes[n].place) % rails;
    t.join(n, first_leaf + static_cast<std::uint32_t>(rail), LinkKind::network, port);
    ++below[rail];
  }
  const std::uint32_t spine = t.add(NodeKind::spine, "spine", -1, 0);
  for (std::size_t r = 0; r < rails; ++r) {
    TopologyRate up = port;
    up.line_bytes_per_s *= below[r] / spec.oversubscription;
    up.reached_bytes_per_s *= below[r] / spec.oversubscription;
    up.latency_s = 0;
    t.join(first_leaf + static_cast<std::uint32_t>(r), spine, LinkKind::spine, up);
  }
  return Result<Topology>::ok(std::move(t));
}

}  // namespace models::parallel
