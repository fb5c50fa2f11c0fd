#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "models/parallel/topology/topology_graph.h"

namespace models::parallel {

/// A link in one direction: 2 x its number, plus 1 from its second end to its first.
using TopologyArc = std::uint32_t;

/// Share of a pair's bytes that crosses a link.
struct TopologyStep {
  TopologyArc arc = 0;
  float share = 0;
};

/// Paths between the chips of a topology. Bytes take the path of least cost, and all of them where several cost the
/// same, in proportion to the links' bandwidth at each branch: NVLink, xGMI and ICI are preferred to PCIe, that to the
/// link between sockets, that to the network; a chip passes bytes on where it saves a walk through the spine (NCCL's
/// PXN) or where chips alone make the network (a torus).
class TopologyRoutes {
 public:
  explicit TopologyRoutes(const Topology& topology);

  /// What the bytes from one chip to another cross, chips by number; empty for a chip and itself or where no path is.
  /// Valid until the next call.
  std::span<const TopologyStep> between(std::uint32_t from, std::uint32_t to);
  /// What the path costs by the preferences above: near chips have a low one.
  std::uint32_t distance(std::uint32_t from, std::uint32_t to);
  /// Whether every chip reaches every other.
  bool connected() const { return connected_; }
  /// Adds, for bytes that chips send to chip `to` (`sent[i]` by chip i), what each arc carries to `load`, by arc.
  void push(std::uint32_t to, std::span<const double> sent, std::span<double> load);

 private:
  struct Branch {
    std::uint32_t node = 0;
    TopologyArc arc = 0;
    float share = 0;
  };
  struct Found {
    std::uint32_t first = 0, count = 0;
    bool made = false;
  };
  void find_tree(std::uint32_t to);
  const Topology& topology_;
  std::uint32_t chips_ = 0;
  bool connected_ = true;
  std::vector<std::uint32_t> first_arc_;  ///< Each node's first arc in `arcs_`; one more at the end.
  std::vector<Branch> arcs_;              ///< to neighbours
  // By chip that is reached: the nodes from the farthest to the nearest, and where each sends on.
  struct Tree {
    std::vector<std::uint32_t> order, first_branch;
    std::vector<Branch> branches;
    std::vector<std::uint32_t> cost;  ///< What the way from each chip costs.
  };
  /// Lets what is in `flow_` run down the tree; `carry(arc, part)` is told what each branch carries.
  template <class Carry>
  void run_down(const Tree& tree, Carry&& carry) {
    for (std::size_t i = 0; i < tree.order.size(); ++i) {
      const double flow = flow_[tree.order[i]];
      if (flow == 0) continue;
      for (std::uint32_t b = tree.first_branch[i]; b < tree.first_branch[i + 1]; ++b) {
        const Branch& branch = tree.branches[b];
        const double part = flow * static_cast<double>(branch.share);
        carry(branch.arc, part);
        flow_[branch.node] += part;
      }
    }
  }

  std::vector<Tree> trees_;
  std::vector<Found> found_;
  std::vector<TopologyStep> steps_;
  std::vector<double> flow_;
};

}  // namespace models::parallel
