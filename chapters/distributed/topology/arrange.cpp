#include <algorithm>
#include <cmath>

#include "chapters/distributed/topology/lab.h"
#include "widgets/number/number.h"

namespace chapters::distributed::topology {
namespace {

using parallel::TopologyAxis;
using widgets::format_text;

constexpr std::array<std::string_view, 4> letters{"T", "C", "P", "D"};
constexpr std::size_t most_pairs = 32;

/// Busy times of every link for one axis, as shares of the busiest.
void mark_links(const parallel::Topology& graph, const std::vector<double>& load, bool line, bool ghost,
                std::vector<LinkMark>& marks) {
  double most = 0;
  const auto busy = [&](std::size_t i) {
    const auto& link = graph.links[i];
    return std::max(load[2 * i], load[2 * i + 1]) / (line ? link.line_bytes_per_s : link.reached_bytes_per_s);
  };
  for (std::size_t i = 0; i < graph.links.size(); ++i) most = std::max(most, busy(i));
  if (most <= 0) return;
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const double share = busy(i) / most;
    (ghost ? marks[i].ghost : marks[i].busy) = static_cast<float>(share);
    if (!ghost) marks[i].slowest = share > 1 - 1e-6;
  }
}

std::string rank_text(const parallel::TopologyPlan& plan, std::int64_t rank) {
  std::string text;
  for (const TopologyAxis axis : plan.order) {
    const std::int64_t n = axis == TopologyAxis::data ? plan.data : plan.size(axis);
    if (n > 1) {
      if (!text.empty()) text += " ";
      text += std::string(letters[static_cast<std::size_t>(axis)]) + std::to_string(rank % n);
    }
    rank /= n;
  }
  return text;
}

void mark_chips(const Outputs& out, Picture& p) {
  const parallel::Topology& graph = out.graph;
  p.chips.resize(graph.chips.size());
  p.chip_of_node.assign(graph.nodes.size(), -1);
  for (std::size_t c = 0; c < graph.chips.size(); ++c) {
    p.chip_of_node[graph.chips[c]] = static_cast<std::int32_t>(c);
    const std::string& name = graph.nodes[graph.chips[c]].name;
    p.chips[c].name = name.substr(name.rfind(' ') + 1);
  }
  const auto chip_of = [&](std::uint32_t rank) {
    return out.plan.chip_of_rank.empty() ? rank : out.plan.chip_of_rank[rank];
  };
  for (std::uint32_t i = 0; i < p.chips.size(); ++i) p.chips[chip_of(i)].position = i;
  for (std::int64_t r = 0; r < out.plan.ranks(); ++r)
    p.chips[chip_of(static_cast<std::uint32_t>(r))].rank = rank_text(out.plan, r);
  const auto groups = parallel::topology_groups(out.plan, static_cast<TopologyAxis>(out.lit));
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const std::uint32_t rank : groups[g]) p.chips[chip_of(rank)].group = static_cast<std::int32_t>(g);
}

PlacementBar bar_of(const Outputs& out, const parallel::TopologyPlacement& placed, std::string name) {
  PlacementBar bar;
  bar.name = std::move(name);
  bar.step_s = placed.step_s;
  for (std::size_t a = 0; a < bar.axis_s.size(); ++a) bar.axis_s[a] = placed.costs.axes[a].step_s;
  bar.words = format_text(placed.step_s, "s");
  const double ratio = placed.step_s / out.best_s;
  if (ratio > 1.005) bar.ratio = format_text(ratio, "", ratio < 1.995 ? 3 : 2) + "×";
  bar.order = order_of(placed.order);
  for (const std::uint32_t chip : placed.chip_of_rank)
    bar.chips += (bar.chips.empty() ? "" : ",") + std::to_string(chip);
  return bar;
}

/// Yours, the best one where that is another, and the orders that differ, slowest last; five at most.
void add_bars(const Outputs& out, Picture& p) {
  const parallel::TopologyPlacement yours{out.plan.order, out.plan.chip_of_rank, 0, out.step_s, out.costs};
  p.bars.push_back(bar_of(out, yours, order_words(out.plan, out.plan.order)));
  p.bars.back().yours = true;
  const auto same = [](double a, double b) { return std::abs(a - b) <= 0.005 * b; };
  const auto shown = [&](double s) {
    return std::any_of(p.bars.begin(), p.bars.end(), [&](const PlacementBar& b) { return same(b.step_s, s); });
  };
  if (out.search.best.swaps > 0 && !shown(out.search.best.step_s))
    p.bars.push_back(bar_of(out, out.search.best, order_words(out.plan, out.search.best.order) + ", chips exchanged"));
  std::vector<const parallel::TopologyPlacement*> others;
  for (const auto& o : out.search.orders)
    if (!shown(o.step_s) &&
        std::none_of(others.begin(), others.end(), [&](const auto* other) { return same(other->step_s, o.step_s); }))
      others.push_back(&o);
  constexpr std::size_t most = 3;
  for (std::size_t i = 0; i < others.size(); ++i)
    if (others.size() <= most || i + 1 == others.size() || i + 1 < most)
      p.bars.push_back(bar_of(out, *others[i], order_words(out.plan, others[i]->order)));
  std::stable_sort(p.bars.begin(), p.bars.end(),
                   [](const PlacementBar& a, const PlacementBar& b) { return a.step_s < b.step_s; });
  p.bars.front().best = true;
  p.most_s = p.bars.back().step_s;
}

void add_pairs(const Outputs& out, parallel::TopologyPricer& pricer, Picture& p) {
  const std::size_t n = std::min(out.graph.chips.size(), most_pairs);
  const bool line = out.plan.line_rates;
  p.pair_rates.assign(n * n, std::nan(""));
  for (std::uint32_t a = 0; a < n; ++a) {
    p.pair_names.push_back(out.graph.boxes > 1
                               ? std::string(1, static_cast<char>('A' + out.graph.nodes[out.graph.chips[a]].box)) +
                                     p.chips[a].name
                               : p.chips[a].name);
    for (std::uint32_t b = 0; b < n; ++b) {
      double most = 0;
      for (const auto& step : pricer.routes().between(a, b)) {
        const auto& link = out.graph.links[step.arc / 2];
        most =
            std::max(most, static_cast<double>(step.share) / (line ? link.line_bytes_per_s : link.reached_bytes_per_s));
      }
      if (most > 0) p.pair_rates[a * n + b] = 1 / most;
    }
  }
}

/// The rates of the first machine's first link of each kind, those of a GPU to all switches added up.
void add_rates(const Outputs& out, Picture& p) {
  const auto& links = out.graph.links;
  const auto rate = [&](const parallel::TopologyLink& l) {
    return out.plan.line_rates ? l.line_bytes_per_s : l.reached_bytes_per_s;
  };
  std::array<bool, parallel::topology_link_kind_count> said{};
  for (const parallel::TopologyLink& l : links) {
    const auto kind = static_cast<std::size_t>(l.kind);
    const bool across = l.kind == parallel::TopologyLinkKind::spine,
               port = l.kind == parallel::TopologyLinkKind::network;
    const bool flat = l.kind == parallel::TopologyLinkKind::socket || l.kind == parallel::TopologyLinkKind::xgmi;
    if (said[kind] || across || flat) continue;
    said[kind] = true;
    double sum = rate(l);
    if (l.kind == parallel::TopologyLinkKind::nvlink) {
      sum = 0;
      for (const parallel::TopologyLink& other : links)
        if (other.a == l.a && other.kind == l.kind) sum += rate(other);
    }
    p.rates.push_back(
        {format_text(sum, "B/s"), std::string(parallel::topology_link_name(l.kind)), l.a, port ? l.a : l.b});
  }
}

std::string caption_of(const Outputs& out) {
  const auto& c = out.costs.axes[out.lit];
  std::string text = "busiest for " + std::string(parallel::topology_axis_name(c.call.axis)) + ": " + out.slowest +
                     ", " + format_text(out.slowest_bytes_per_s, "B/s");
  if (c.method == parallel::TopologyMethod::in_switch) text += " while the switches add";
  if (out.sharing > 1)
    text += " shared by " + std::to_string(out.sharing) + " of " + std::to_string(c.groups) + " groups";
  text += "; one " + std::string(parallel::topology_pattern_name(c.call.pattern)) + " of " +
          format_text(c.call.bytes, "B") + " takes " + format_text(c.call_s, "s") + " (" + out.method + ")";
  return text;
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  if (!out.reason.empty() || out.graph.chips.empty()) return p;
  const auto asked = asked_of(in);
  if (!asked) return p;
  p.graph = out.graph;
  p.lit = out.lit;
  parallel::TopologyPricer pricer(out.graph, asked->calls);
  std::array<std::vector<double>, parallel::topology_axis_count> load;
  pricer.price(out.plan, &load);
  p.links.assign(out.graph.links.size(), {});
  if (!load[out.lit].empty()) mark_links(out.graph, load[out.lit], out.plan.line_rates, false, p.links);
  p.nodes_busy.assign(out.graph.nodes.size(), false);
  for (std::size_t i = 0; i < p.links.size(); ++i) {
    p.slowest_links += p.links[i].slowest ? 1 : 0;
    if (p.links[i].busy <= 0) continue;
    p.nodes_busy[out.graph.links[i].a] = true;
    p.nodes_busy[out.graph.links[i].b] = true;
  }
  // The ghost: the best placement where yours is slower, else the worst.
  const bool slower = out.over_best > 1.005;
  if (slower || out.spread > 1.005) {
    parallel::TopologyPlan other = out.plan;
    const parallel::TopologyPlacement& placed = slower ? out.search.best : out.search.worst;
    other.order = placed.order;
    other.chip_of_rank = placed.chip_of_rank;
    for (auto& l : load) l.clear();
    pricer.price(other, &load);
    if (!load[out.lit].empty()) mark_links(out.graph, load[out.lit], out.plan.line_rates, true, p.links);
    if (std::any_of(p.links.begin(), p.links.end(), [](const LinkMark& link) { return link.dashed(); }))
      p.ghost_words = "dashed: " + order_words(out.plan, placed.order) +
                      (slower ? (placed.swaps > 0 ? ", chips exchanged" : "") : ", the slowest order");
  }
  mark_chips(out, p);
  add_rates(out, p);
  for (const TopologyAxis axis : out.plan.order) {
    const std::int64_t n = axis == TopologyAxis::data ? out.plan.data : out.plan.size(axis);
    if (n < 2) continue;
    p.ordered.push_back(axis);
    p.axis_names.push_back(std::string(parallel::topology_axis_name(axis)) + " " + std::to_string(n));
  }
  p.machine = (out.graph.boxes > 1 ? std::to_string(out.graph.boxes) + " × " : std::string()) + out.graph.name;
  p.caption = caption_of(out);
  p.bars_title = in.traffic == Traffic::step ? "Communication of one step, none of it hidden" : "The call";
  add_bars(out, p);
  add_pairs(out, pricer, p);
  p.axes = out.axes;
  p.answer = answer_of(in, out);
  return p;
}

}  // namespace chapters::distributed::topology
