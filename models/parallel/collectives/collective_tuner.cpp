#include "models/parallel/collectives/collective_tuner.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/base/integer_math.h"
#include "models/parallel/collectives/collective_constants.h"

namespace models::parallel {
namespace {

namespace nccl = nccl_constants;
constexpr double tuner_us = 1e-6, tuner_gbps = 1e9;

/// What the table's entries of one machine have in common.
struct TunerScale {
  const CollectiveMachine& m;
  double n = 0, nodes = 0, ports = 0;  ///< ranks, nodes, ranks of a node
  std::size_t row = 0, column = 0;     ///< where it stands in the tables of caps
  AllReduceGroup group;

  explicit TunerScale(const CollectiveMachine& machine)
      : m(machine),
        n(as_double(machine.site.ranks)),
        nodes(as_double(machine.nodes())),
        ports(machine.ranks_a_node()),
        row(static_cast<std::size_t>(machine.generation)),
        column(static_cast<std::size_t>(std::min<std::int64_t>(machine.nodes(), 3) - 1)),
        group{machine.site.ranks, machine.site.ranks_per_node} {}
  double channels() const { return as_double(m.channels); }
  double ll_cap() const { return nccl::ll_max_gbps[nodes > 1 ? 0 : row][column] * tuner_gbps; }
};

/// As NCCL's log2i: 3 for 8 to 15.
int whole_log2(std::int64_t n) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n))) - 1; }

bool is_ring_sum(Primitive p) {
  return p == Primitive::all_reduce || p == Primitive::reduce_scatter || p == Primitive::all_gather;
}
bool is_rooted_ring(Primitive p) { return p == Primitive::broadcast || p == Primitive::reduce; }

/// Bytes that a rank sends for each byte of the buffer.
double ring_share(Primitive p, double n) {
  if (is_rooted_ring(p)) return 1;
  return (p == Primitive::all_reduce ? 2 : 1) * (n - 1) / n;
}

NcclCandidate ring_entry(const TunerScale& s, Primitive primitive, NcclProtocol protocol) {
  const AllReduceLinks links = collective_links(s.m, NcclAlgorithm::ring, protocol);
  const AllReduceTime one_byte = all_reduce_time(AllReduceAlgorithm::ring, s.group, links, 1);
  const double slowest = ring_all_reduce_bytes(s.group.ranks, 1) / one_byte.transfer_s;
  double bus = s.nodes <= 2 ? s.m.inside_bytes_per_s : slowest, limit = slowest;
  if (protocol == NcclProtocol::ll) {
    bus = std::min(s.ll_cap(), bus * nccl::ring_ll_share);
    limit *= nccl::ring_ll_share;
  } else if (protocol == NcclProtocol::ll128) {
    bus = std::min(bus * nccl::ring_ll128_share,
                   s.channels() * nccl::channel_ring_ll128_gbps[s.row][s.column] * tuner_gbps);
    limit *= nccl::ring_ll128_share;
  }
  const double hops_s = one_byte.latency_s - links.base_s;
  const double share = ring_share(primitive, s.n);
  NcclCandidate c{NcclAlgorithm::ring,
                  protocol,
                  links.base_s,
                  bus / share,
                  std::min(bus, limit) / share,
                  slowest < s.m.inside_bytes_per_s ? "network ports" : inside_link_name(s.m.inside)};
  if (is_rooted_ring(primitive))
    c.latency_s += s.nodes > 1 ? links.between_hop_s : links.inside_hop_s;
  else
    c.latency_s += primitive == Primitive::all_reduce ? hops_s : hops_s / 2;
  return c;
}

NcclCandidate tree_entry(const TunerScale& s, NcclProtocol protocol) {
  const AllReduceLinks links = collective_links(s.m, NcclAlgorithm::tree, protocol);
  // The tuner rounds the depth of the tree down, which is that of the next smaller power of two.
  const auto floor_nodes = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(s.m.nodes())));
  const std::int64_t ports = std::max<std::int64_t>(1, s.m.site.ranks / s.m.nodes());
  const AllReduceTime steps = all_reduce_time(AllReduceAlgorithm::tree, {floor_nodes * ports, ports}, links, 1);
  const double through = 1 / all_reduce_time(AllReduceAlgorithm::tree, s.group, links, 1).transfer_s;
  const double ring =
      s.nodes <= 2 ? s.m.inside_bytes_per_s : std::min(s.m.inside_bytes_per_s, s.ports * s.m.nic_bytes_per_s);
  double bus = std::min(nccl::tree_share * ring, s.channels() * nccl::channel_tree_gbps[s.row][s.column] * tuner_gbps);
  double limit = through;
  if (protocol == NcclProtocol::ll) {
    bus = std::min(bus * nccl::tree_ll_share, s.ll_cap());
    limit *= nccl::ring_ll_share;
  } else if (protocol == NcclProtocol::ll128) {
    bus = std::min(bus * (s.nodes > 1 ? nccl::tree_ll128_nodes : nccl::tree_ll128_one_node),
                   s.channels() * nccl::channel_tree_ll128_gbps[s.row][s.column] * tuner_gbps);
    limit *= nccl::tree_ll128_nodes;
  }
  if (s.m.generation >= GpuGeneration::hopper) bus *= nccl::tree_pattern_share;
  const double ranked = bus / 2;
  const bool by_ports = s.nodes > 1 && limit < ranked;
  return {NcclAlgorithm::tree,     protocol,
          steps.latency_s,         ranked,
          std::min(ranked, limit), by_ports ? "network ports" : inside_link_name(s.m.inside)};
}

/// S / t that a node's ports let through: each carries its share of the buffer once each way on two nodes or where the
/// network adds, twice in a tree of more.
double through_ports(const TunerScale& s, bool network_adds) {
  if (s.nodes <= 1) return std::numeric_limits<double>::infinity();
  return s.ports * s.m.nic_bytes_per_s / (s.nodes <= 2 || network_adds ? 1 : 2);
}

NcclCandidate entry_with_ports(NcclAlgorithm algorithm, double latency_us, double inside, double ports,
                               std::string_view inside_name) {
  return {algorithm,
          NcclProtocol::simple,
          latency_us * tuner_us,
          std::min(inside, ports),
          std::min(inside, ports),
          ports < inside ? "network ports" : inside_name};
}

}  // namespace

InSwitchSums in_switch_sums(const CollectiveMachine& m) {
  if (!m.nvls) return {};
  return {nccl::nvls_efficiency[static_cast<std::size_t>(m.generation)] * m.inside_bytes_per_s,
          nccl::nvls_us * tuner_us};
}

namespace {

void add_switch_entries(const TunerScale& s, std::vector<NcclCandidate>& out) {
  const double ports = std::max(1.0, std::floor(s.n / s.nodes));
  if (s.nodes > 1 && s.m.site.in_network) {
    const double inside = s.m.inside_bytes_per_s / 2;
    out.push_back(entry_with_ports(
        NcclAlgorithm::collnet_direct,
        2 * (std::min(1.0, ports - 1) * nccl::collnet_direct_us + (ports - 1) * nccl::collnet_arity_us) +
            nccl::collnet_direct_net_us,
        ports > 1 ? inside * ports / (ports - 1) : s.m.nic_bytes_per_s, through_ports(s, true),
        inside_link_name(s.m.inside)));
    out.push_back(entry_with_ports(NcclAlgorithm::collnet_chain,
                                   2 * (ports - 1) * nccl::collnet_chain_us + nccl::collnet_chain_net_us, inside,
                                   through_ports(s, true), inside_link_name(s.m.inside)));
  }
  if (!s.m.nvls || s.ports < 2) return;
  const double inside = in_switch_sums(s.m).bytes_per_s / in_switch_all_reduce_bytes(s.ports, 1);
  if (s.nodes <= 1) {
    out.push_back(entry_with_ports(NcclAlgorithm::nvls, nccl::nvls_us, inside, through_ports(s, true), "NVSwitch"));
    return;
  }
  if (s.m.site.in_network)
    out.push_back(entry_with_ports(NcclAlgorithm::nvls, nccl::nvls_us + nccl::nvls_net_us, inside,
                                   through_ports(s, true), "NVSwitch"));
  const double cap =
      nccl::nvls_channels * nccl::channel_nvls_tree_gbps[s.row][s.column] * tuner_gbps * s.n / 2 / (s.n - 1);
  const double depth = whole_log2(s.m.nodes());
  out.push_back(entry_with_ports(NcclAlgorithm::nvls_tree, nccl::nvls_us + 2 * depth * nccl::nvls_tree_net_us,
                                 std::min(inside, cap), through_ports(s, false),
                                 cap < inside ? "NCCL's cap on NVLSTree" : "NVSwitch"));
}

bool adds_in_network(NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::collnet_direct || algorithm == NcclAlgorithm::collnet_chain ||
         algorithm == NcclAlgorithm::nvls;
}

NcclCandidate pat_entry(const TunerScale& s) {
  const double rate = nccl::pat_share * s.m.nic_bytes_per_s * s.n / (s.n - 1);
  const double latency_us =
      nccl::pat_base_us + whole_log2(s.m.nodes()) * nccl::pat_net_us / nccl::pat_log_divisor + s.n * nccl::pat_rank_us;
  return {NcclAlgorithm::pat, NcclProtocol::simple, latency_us * tuner_us, rate, rate, "network ports"};
}

/// Each rank's own part stays; of the others those on its node go over the links inside and the rest through its port,
/// both at once.
NcclCandidate pairs_entry(const TunerScale& s) {
  const AllReduceLinks links = collective_links(s.m, NcclAlgorithm::ring, NcclProtocol::simple);
  const double inside_s = (s.ports - 1) / s.n / links.inside_bytes_per_s;
  const double outside_s = s.nodes > 1 ? (s.n - s.ports) / s.n / links.between_bytes_per_s : 0;
  const double rate = 1 / std::max(inside_s, outside_s);
  return {NcclAlgorithm::send_receive,
          NcclProtocol::simple,
          links.base_s + (s.nodes > 1 ? links.between_hop_s : links.inside_hop_s),
          rate,
          rate,
          outside_s > inside_s ? "network ports" : inside_link_name(s.m.inside)};
}

}  // namespace

double in_network_sum_s(CollectiveMachine machine, const AllReduceGroup& group, double share, double bytes) {
  machine.site.ranks = group.ranks;
  machine.site.ranks_per_node = group.ranks_per_node;
  machine.site.in_network = true;
  double best_s = std::numeric_limits<double>::infinity();
  if (machine.nodes() < 2) return best_s;
  std::vector<NcclCandidate> entries;
  add_switch_entries(TunerScale(machine), entries);
  for (const NcclCandidate& entry : entries)
    if (adds_in_network(entry.algorithm))
      best_s = std::min(best_s, entry.latency_s + bytes / (share * entry.limited_bytes_per_s));
  return best_s;
}

std::string_view nccl_algorithm_name(NcclAlgorithm algorithm) {
  constexpr std::array<std::string_view, nccl_algorithm_count> names{
      "Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT", "send and receive",
  };
  return names[static_cast<std::size_t>(algorithm)];
}

std::string_view nccl_protocol_name(NcclProtocol protocol) {
  constexpr std::array<std::string_view, nccl_protocol_count> names{"LL", "LL128", "Simple"};
  return names[static_cast<std::size_t>(protocol)];
}

AllReduceLinks collective_links(const CollectiveMachine& m, NcclAlgorithm algorithm, NcclProtocol protocol) {
  const std::size_t row = algorithm == NcclAlgorithm::tree ? 0 : 1, column = static_cast<std::size_t>(protocol);
  const bool pcie = m.inside == InsideLink::pcie;
  AllReduceLinks links{.inside_bytes_per_s = m.inside_bytes_per_s,
                       .between_bytes_per_s = m.nic_bytes_per_s,
                       .inside_hop_s = (pcie ? nccl::pcie_us : nccl::nvlink_us)[row][column] * tuner_us,
                       .between_hop_s = nccl::net_us[row][column] * tuner_us,
                       .base_s = nccl::base_us[row][column] * tuner_us};
  // The host posts every step of a ring over several nodes, three times with Simple.
  if (row == 1 && m.nodes() > 1)
    links.inside_hop_s = std::max(links.inside_hop_s, m.net_overhead_s * (protocol == NcclProtocol::simple ? 3 : 1));
  // A ring with one rank a node takes the steps of a tree.
  if (row == 1 && m.nodes() > 1 && m.site.ranks == m.nodes()) links.between_hop_s = nccl::net_us[0][column] * tuner_us;
  return links;
}

std::vector<NcclCandidate> nccl_candidates(const CollectiveMachine& machine, Primitive primitive,
                                           const NcclForced& forced) {
  std::vector<NcclCandidate> all;
  if (machine.site.ranks < 2) return all;
  const TunerScale s(machine);
  const bool rings = is_ring_sum(primitive) || is_rooted_ring(primitive);
  for (const NcclProtocol p : {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple}) {
    const bool asked = forced.protocol_is_forced && forced.protocol == p;
    if (!rings || (p == NcclProtocol::ll128 && !machine.ll128 && !asked)) continue;
    if (primitive == Primitive::all_reduce) all.push_back(tree_entry(s, p));
    all.push_back(ring_entry(s, primitive, p));
  }
  if (primitive == Primitive::all_reduce) add_switch_entries(s, all);
  if ((primitive == Primitive::all_gather || primitive == Primitive::reduce_scatter) && s.nodes > 1 && s.ports == 1)
    all.push_back(pat_entry(s));
  if (!rings) all.push_back(pairs_entry(s));
  std::erase_if(all, [&](const NcclCandidate& c) {
    return (forced.algorithm_is_forced && c.algorithm != forced.algorithm) ||
           (forced.protocol_is_forced && c.protocol != forced.protocol);
  });
  return all;
}

double candidate_s(const CollectiveMachine& machine, Primitive primitive, const NcclCandidate& c, double bytes,
                   bool limited) {
  double rate = limited ? c.limited_bytes_per_s : c.ranked_bytes_per_s, latency_s = c.latency_s;
  if (c.algorithm == NcclAlgorithm::tree && bytes >= 64) {
    const int index = std::ilogb(bytes / 64);
    const auto& correction = nccl::tree_correction[static_cast<std::size_t>(c.protocol)];
    if (index < nccl::tree_corrections) rate *= correction[static_cast<std::size_t>(index)];
  }
  const double channel_bytes = bytes / as_double(machine.channels * machine.site.ranks);
  if (c.algorithm == NcclAlgorithm::ring && c.protocol == NcclProtocol::simple && machine.nodes() > 1 &&
      primitive == Primitive::all_reduce && channel_bytes >= nccl::plateau_from_bytes)
    latency_s *= machine.generation == GpuGeneration::volta ? nccl::plateau_volta : nccl::plateau;
  return latency_s + bytes / rate;
}

CollectiveEstimate choose_collective(const CollectiveMachine& machine, Primitive primitive,
                                     const std::vector<NcclCandidate>& candidates, double bytes) {
  CollectiveEstimate best;
  double least_s = std::numeric_limits<double>::infinity();
  for (const NcclCandidate& c : candidates)
    if (const double ranked_s = candidate_s(machine, primitive, c, bytes, false); ranked_s < least_s) {
      least_s = ranked_s;
      best.chosen = c;
    }
  if (std::isinf(least_s)) return best;
  best.seconds = candidate_s(machine, primitive, best.chosen, bytes, true);
  const double launches_s = machine.site.one_process ? machine.ranks_a_node() * group_launch_s : 0;
  best.launch_bound = launches_s > best.seconds;
  best.seconds = std::max(best.seconds, launches_s);
  return best;
}

}  // namespace models::parallel
