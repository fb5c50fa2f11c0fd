#include <algorithm>

#include "chapters/distributed/topology/lab.h"
#include "widgets/number/number.h"

namespace chapters::distributed::topology {
namespace {

using widgets::format_text;

std::string ticked_figure(double value, std::string_view unit) { return "`" + format_text(value, unit) + "`"; }
std::string ticked_ratio(double ratio) { return "`" + format_text(ratio, "", ratio < 1.995 ? 3 : 2) + "×`"; }

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
      return "a GPU's NVLinks";
    case parallel::TopologyLinkKind::xgmi:
      return "one xGMI link";
    case parallel::TopologyLinkKind::ici:
      return "one ICI link";
    case parallel::TopologyLinkKind::pcie:
      return "one PCIe link";
    case parallel::TopologyLinkKind::socket:
      return "the link between sockets";
    case parallel::TopologyLinkKind::network:
      return "one network port";
    case parallel::TopologyLinkKind::spine:
      break;
  }
  return "the way up to the spine";
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string slowest =
      out.slowest + " at " + ticked_figure(out.slowest_bytes_per_s, "B/s");
  if (in.traffic == Traffic::one_call) {
    const auto& c = out.costs.axes[out.lit];
    const std::string what = c.call.pattern == parallel::TopologyPattern::next_rank
                                 ? std::string("A message")
                                 : (c.call.pattern == parallel::TopologyPattern::all_reduce ||
                                    c.call.pattern == parallel::TopologyPattern::all_gather ||
                                    c.call.pattern == parallel::TopologyPattern::all_to_all)
                                       ? "An " + std::string(parallel::topology_pattern_name(c.call.pattern))
                                       : "A " + std::string(parallel::topology_pattern_name(c.call.pattern));
    std::string text = what + " of " + ticked_figure(c.call.bytes, "B") + " over `" + std::to_string(c.ranks) +
                       "` ranks takes " + ticked_figure(out.call_s, "s") + ", " +
                       ticked_figure(out.bus_bytes_per_s, "B/s") + " of bus bandwidth; busiest is " + slowest;
    if (c.groups > 1) text += ", with `" + std::to_string(c.groups) + "` groups at work at once";
    if (out.over_best > 1.005) text += ". The best placement found takes " + ticked_figure(out.best_s, "s");
    return text + ".";
  }
  const std::string yours = "With " + order_words(out.plan, out.plan.order) + " from inside out a step sends for " +
                            ticked_figure(out.step_s, "s");
  if (out.over_best > 1.005)
    return yours + "; the same plan with " + out.best_order +
           (out.search.best.swaps > 0 ? " and chips exchanged" : "") + " sends for " +
           ticked_figure(out.best_s, "s") + ", " + ticked_ratio(out.over_best) + " less. What it waits for is " +
           slowest + ".";
  if (out.spread > 1.005)
    return yours + "; with " + order_words(out.plan, out.search.worst.order) + " the same plan sends for " +
           ticked_figure(out.worst_s, "s") + ", " + ticked_ratio(out.spread) + " as long.";
  return yours + "; busiest is " + slowest + ", and none of " + ticked_figure(static_cast<double>(out.priced), "") +
         " placements is faster.";
}

}  // namespace chapters::distributed::topology
