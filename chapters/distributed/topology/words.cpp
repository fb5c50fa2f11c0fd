#include <algorithm>
#include <cmath>

#include "chapters/distributed/topology/lab.h"
#include "widgets/number/number.h"

namespace chapters::distributed::topology {
namespace {

using widgets::figure, widgets::format_text;

/// "tensor inside, data outside"; of three axes and more "tensor, context, data from inside out".
std::string phrase_of(const parallel::TopologyPlan& plan, const std::array<parallel::TopologyAxis, 4>& order) {
  const std::string words = order_words(plan, order);
  const std::size_t first = words.find(", ");
  if (first == std::string::npos) return "with " + words + " alone";
  if (words.find(", ", first + 1) != std::string::npos) return words + " from inside out";
  return words.substr(0, first) + " inside, " + words.substr(first + 2) + " outside";
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string ratio_figure(double ratio) { return figure(format_text(ratio, "", ratio < 1.995 ? 3 : 2) + "×"); }

}  // namespace

std::string order_words(const parallel::TopologyPlan& plan, const std::array<parallel::TopologyAxis, 4>& order) {
  std::string words;
  for (const parallel::TopologyAxis axis : order) {
    const std::int64_t n = axis == parallel::TopologyAxis::data ? plan.data : plan.size(axis);
    if (n < 2) continue;
    if (!words.empty()) words += ", ";
    words += parallel::topology_axis_name(axis);
  }
  return words.empty() ? std::string("one rank") : words;
}

std::string link_words(const parallel::Topology& graph, std::int64_t link) {
  if (link < 0 || link >= static_cast<std::int64_t>(graph.links.size())) return "none";
  const parallel::TopologyLink& l = graph.links[static_cast<std::size_t>(link)];
  switch (l.kind) {
    case parallel::TopologyLinkKind::nvlink:
      return graph.nodes[l.b].kind == parallel::TopologyNodeKind::chip ? "a pair's NVLinks" : "a GPU's NVLinks";
    case parallel::TopologyLinkKind::xgmi:
      return "one xGMI link";
    case parallel::TopologyLinkKind::ici:
      return "one ICI link";
    case parallel::TopologyLinkKind::pcie:
      return "one PCIe link";
    case parallel::TopologyLinkKind::socket:
      return graph.nodes[l.b].kind == parallel::TopologyNodeKind::socket_bus ? "the link between NUMA nodes"
                                                                             : "the link between sockets";
    case parallel::TopologyLinkKind::network:
      return "one network port";
    case parallel::TopologyLinkKind::spine:
      break;
  }
  return "the way up to the spine";
}

namespace {

std::string sentence_of(const Inputs& in, const Outputs& out, const Run& run) {
  const std::string slowest = out.slowest + " at " + figure(out.lit.slowest_bytes_per_s, "B/s");
  if (in.traffic == Traffic::one_call) {
    const auto& c = out.lit;
    const std::string what = c.call.pattern == parallel::TopologyPattern::next_rank ? std::string("A message")
                             : (c.call.pattern == parallel::TopologyPattern::all_reduce ||
                                c.call.pattern == parallel::TopologyPattern::all_gather ||
                                c.call.pattern == parallel::TopologyPattern::all_to_all)
                                 ? "An " + std::string(parallel::topology_pattern_name(c.call.pattern))
                                 : "A " + std::string(parallel::topology_pattern_name(c.call.pattern));
    std::string text = what + " of " + figure(c.call.bytes, "B") + " over `" + std::to_string(c.ranks) +
                       "` ranks takes " + figure(c.call_s, "s") + ", " + figure(c.bus_bytes_per_s, "B/s") +
                       " of bus bandwidth; busiest is " + slowest;
    if (c.groups > 1) text += ", with `" + std::to_string(c.groups) + "` groups at work at once";
    if (out.over_best > 1.005) text += ". The best placement found takes " + figure(out.best_s, "s");
    return text + ".";
  }
  const parallel::TopologySearch& search = run.search;
  const bool slower = run.slower(out);
  const parallel::TopologyPlacement& other = run.other(out);
  const std::string yours =
      capital(phrase_of(run.plan, run.plan.order)) + ", a step communicates for " + figure(out.step_s, "s");
  const std::string exchanged = slower && search.best.swaps > 0 ? " and with chips exchanged" : "";
  if (!slower && out.spread <= 1.005)
    return yours + "; busiest is " + slowest + ", and none of `" + std::to_string(out.priced) +
           "` placements priced is faster.";
  // What makes the difference: the axis whose time changes most.
  std::size_t moved = 0;
  const auto change = [&](std::size_t a) { return std::abs(other.costs.axes[a].step_s - run.costs.axes[a].step_s); };
  for (std::size_t a = 0; a < parallel::topology_axis_count; ++a)
    if (change(a) > change(moved)) moved = a;
  const auto &here = run.costs.axes[moved], &there = other.costs.axes[moved];
  const std::string why = ": its " + std::string(parallel::topology_axis_name(here.call.axis)) + " axis has " +
                          figure(there.bound_bytes_per_s, "B/s") + " of bus bandwidth, not " +
                          figure(here.bound_bytes_per_s, "B/s") + ".";
  if (slower)
    return yours + ", " + ratio_figure(out.over_best) + " as long as the same plan " +
           phrase_of(run.plan, search.best.order) + exchanged + ", " + figure(out.best_s, "s") + why;
  return yours + "; " + phrase_of(run.plan, search.worst.order) + " takes " + figure(out.worst_s, "s") + ", " +
         ratio_figure(out.spread) + " as long" + why;
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out, const Run& run) {
  std::string text = sentence_of(in, out, run);
  if (out.ranks < out.ranks_asked)
    text += " The machines hold `" + std::to_string(out.ranks) + "` of the plan's `" + std::to_string(out.ranks_asked) +
            "` ranks.";
  if (!out.left_out.empty()) text += " " + out.left_out;
  return text;
}

}  // namespace chapters::distributed::topology
