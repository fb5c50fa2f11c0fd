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
  if (first == std::string::npos) return words + (plan.expert > 1 ? " with experts" : " alone");
  if (words.find(", ", first + 1) != std::string::npos) return words + ", from inside out";
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

std::string article(parallel::TopologyPattern pattern) {
  using parallel::TopologyPattern;
  if (pattern == TopologyPattern::next_rank) return "A message";
  const bool vowel = pattern == TopologyPattern::all_reduce || pattern == TopologyPattern::all_gather ||
                     pattern == TopologyPattern::all_to_all;
  return (vowel ? "An " : "A ") + std::string(parallel::topology_pattern_name(pattern));
}

std::string busiest_text(const Outputs& out) {
  return "The busiest link is " + out.slowest + ", " + figure(out.lit.slowest_bytes_per_s, "B/s");
}

/// One call of the lit axis.
std::string call_text(const Outputs& out) {
  const auto& c = out.lit;
  std::string text = article(c.call.pattern) + " of " + figure(c.call.bytes, "B") + " over " +
                     figure(static_cast<double>(c.ranks), "") + " ranks takes " + figure(c.call_s, "s") + ": " +
                     figure(c.bus_bytes_per_s, "B/s") + " of bus bandwidth.\n" + busiest_text(out);
  if (out.over_best > 1.005) return text + "; the best placement takes " + figure(out.best_s, "s") + ".";
  if (c.groups > 1) return text + ", and " + figure(static_cast<double>(c.groups), "") + " groups are at work at once.";
  return text + ", and no other placement is faster.";
}

/// A step of this placement, next to the best one or the slowest order.
std::string step_text(const Outputs& out, const Run& run) {
  const parallel::TopologyPlacement& other = run.other(out);
  const std::string yours = phrase_of(run.plan, run.plan.order), theirs = phrase_of(run.plan, other.order);
  const std::string cost = " costs " + figure(out.step_s, "s") + " of communication per step";
  const bool many = yours.size() + theirs.size() > 64, exchanged = run.slower(out) && other.swaps > 0;
  const std::string subject = many ? "This order of the axes" : capital(yours);
  if (!run.slower(out) && out.spread <= 1.005) return subject + cost + ", and no other placement is faster.";
  if (!run.slower(out))
    return subject + cost + "; " + (many ? std::string("the slowest order") : theirs) + " costs " +
           figure(out.worst_s, "s") + ", " + ratio_figure(out.spread) + " as much.";
  return subject + cost + ", " + ratio_figure(out.over_best) + " the " + figure(out.best_s, "s") + " " +
         (exchanged ? std::string("after exchanging chips")
          : many    ? std::string("of the best order")
                    : "of " + theirs) +
         ".";
}

/// The link that decides, and what it is in the other placement.
std::string reason_text(const Outputs& out, const Run& run) {
  if (run.slower(out) || out.spread > 1.005)
    return "The " + out.moved_axis + " axis has " + figure(out.moved_bytes_per_s, "B/s") +
           " of bus bandwidth per rank here, and " + figure(out.moved_other_bytes_per_s, "B/s") + " there.";
  if (std::isfinite(out.relayed_s))
    return busiest_text(out) + "; if GPUs changed rails before leaving the machine, a step would cost " +
           figure(out.relayed_s, "s") + ".";
  return busiest_text(out) + "; " + figure(static_cast<double>(out.priced), "") + " placements were priced.";
}

/// What of the plan is not there; empty where all is.
std::string missing_text(const Outputs& out) {
  if (out.ranks < out.ranks_asked)
    return "The machines hold " + figure(static_cast<double>(out.ranks), "") + " of the plan's " +
           figure(static_cast<double>(out.ranks_asked), "") + " ranks." +
           (out.left_out.empty() ? "" : " " + out.left_out);
  return out.left_out;
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out, const Run& run) {
  std::string text =
      in.traffic == Traffic::one_call ? call_text(out) : step_text(out, run) + "\n" + reason_text(out, run);
  const std::string missing = missing_text(out);
  return missing.empty() ? text : text.substr(0, text.find('\n') + 1) + missing;
}

}  // namespace chapters::distributed::topology
