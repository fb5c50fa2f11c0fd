#include <algorithm>
#include <cmath>

#include "chapters/distributed/topology/lab.h"
#include "widgets/number/number.h"

namespace chapters::distributed::topology {
namespace {

using parallel::TopologyAxis;
using widgets::format_text;

constexpr std::array<std::string_view, 4> letters{"T", "C", "P", "D"};

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

void mark_chips(const Run& run, Picture& p) {
  const parallel::Topology& graph = run.graph;
  p.chips.resize(graph.chips.size());
  p.chip_of_node.assign(graph.nodes.size(), -1);
  for (std::size_t c = 0; c < graph.chips.size(); ++c) {
    p.chip_of_node[graph.chips[c]] = static_cast<std::int32_t>(c);
    const std::string& name = graph.nodes[graph.chips[c]].name;
    p.chips[c].name = name.substr(name.rfind(' ') + 1);
  }
  const auto chip_of = [&](std::uint32_t rank) {
    return run.plan.chip_of_rank.empty() ? rank : run.plan.chip_of_rank[rank];
  };
  for (std::uint32_t i = 0; i < p.chips.size(); ++i) p.chips[chip_of(i)].position = i;
  for (std::int64_t r = 0; r < run.plan.ranks(); ++r)
    p.chips[chip_of(static_cast<std::uint32_t>(r))].rank = rank_text(run.plan, r);
  for (std::size_t g = 0; g < run.groups.size(); ++g)
    for (const std::uint32_t rank : run.groups[g]) p.chips[chip_of(rank)].group = static_cast<std::int32_t>(g);
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
void add_bars(const Outputs& out, const Run& run, Picture& p) {
  const parallel::TopologyPlacement yours{run.plan.order, run.plan.chip_of_rank, 0, out.step_s, run.costs};
  const auto name_of = [&](const std::array<TopologyAxis, 4>& order) {
    const std::string words = order_words(run.plan, order);
    return words == "data" && run.plan.expert > 1 ? words + " with experts" : words;
  };
  p.bars.push_back(bar_of(out, yours, name_of(run.plan.order)));
  p.bars.back().yours = true;
  const auto same = [](double a, double b) { return std::abs(a - b) <= 0.005 * b; };
  const auto shown = [&](double s) {
    return std::any_of(p.bars.begin(), p.bars.end(), [&](const PlacementBar& b) { return same(b.step_s, s); });
  };
  if (run.search.best.swaps > 0 && !shown(run.search.best.step_s))
    p.bars.push_back(bar_of(out, run.search.best, name_of(run.search.best.order) + ", chips exchanged"));
  std::vector<const parallel::TopologyPlacement*> others;
  for (const auto& o : run.search.orders)
    if (!shown(o.step_s) &&
        std::none_of(others.begin(), others.end(), [&](const auto* other) { return same(other->step_s, o.step_s); }))
      others.push_back(&o);
  constexpr std::size_t most = 3;
  for (std::size_t i = 0; i < others.size(); ++i)
    if (others.size() <= most || i + 1 == others.size() || i + 1 < most)
      p.bars.push_back(bar_of(out, *others[i], name_of(others[i]->order)));
  std::stable_sort(p.bars.begin(), p.bars.end(),
                   [](const PlacementBar& a, const PlacementBar& b) { return a.step_s < b.step_s; });
  p.bars.front().best = true;
  p.most_s = p.bars.back().step_s;
}

void name_pairs(const Run& run, Picture& p) {
  for (std::size_t a = 0; a < run.pairs_shown; ++a) {
    const std::int32_t box = run.graph.nodes[run.graph.chips[a]].box;
    p.pair_names.push_back((run.graph.boxes > 1 ? std::string(1, static_cast<char>('A' + box)) : std::string()) +
                           p.chips[a].name);
  }
}

void add_figures(const Outputs& out, Picture& p) {
  for (const FigureRow& f : out.figures)
    p.figures.push_back({f.what,
                         f.share > 0       ? format_text(f.share, "%")
                         : f.latency_s > 0 ? format_text(f.latency_s, "s")
                                           : format_text(f.bytes_per_s, "B/s"),
                         f.source});
}

/// The rates of the first machine's first link of each kind, those of a GPU to all switches added up.
void add_rates(const Run& run, Picture& p) {
  const auto& links = run.graph.links;
  const auto rate = [&](const parallel::TopologyLink& l) {
    return run.plan.line_rates ? l.line_bytes_per_s : l.reached_bytes_per_s;
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
  const parallel::TopologyAxisCost& c = out.lit;
  std::string text = "busiest for " + std::string(parallel::topology_axis_name(c.call.axis)) + ": " + out.slowest +
                     ", " + format_text(c.slowest_bytes_per_s, "B/s");
  if (c.method == parallel::TopologyMethod::in_switch) text += " while the switches add";
  if (c.sharing > 1) text += " shared by " + std::to_string(c.sharing) + " of " + std::to_string(c.groups) + " groups";
  text += "; one " + std::string(parallel::topology_pattern_name(c.call.pattern)) + " of " +
          format_text(c.call.bytes, "B") + " takes " + format_text(c.call_s, "s") + " (" + out.method + ")";
  return text;
}

/// How busy the lit axis keeps the links, and dashed the other placement's.
void add_links(const Outputs& out, const Run& run, Picture& p) {
  const parallel::Topology& graph = run.graph;
  p.links.assign(graph.links.size(), {});
  p.nodes_busy.assign(graph.nodes.size(), false);
  if (!run.load.empty()) mark_links(graph, run.load, run.plan.line_rates, false, p.links);
  for (std::size_t i = 0; i < p.links.size(); ++i) {
    p.slowest_links += p.links[i].slowest ? 1 : 0;
    if (p.links[i].busy <= 0) continue;
    p.nodes_busy[graph.links[i].a] = true;
    p.nodes_busy[graph.links[i].b] = true;
  }
  if (run.other_load.empty()) return;
  mark_links(graph, run.other_load, run.plan.line_rates, true, p.links);
  if (std::none_of(p.links.begin(), p.links.end(), [](const LinkMark& link) { return link.dashed(); })) return;
  const parallel::TopologyPlacement& other = run.other(out);
  p.ghost_words = "dashed: " + order_words(run.plan, other.order);
  p.ghost_words += !run.slower(out) ? ", the slowest order" : other.swaps > 0 ? ", chips exchanged" : "";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || run.graph.chips.empty()) return p;
  add_links(out, run, p);
  mark_chips(run, p);
  add_rates(run, p);
  p.folded = folded_picture(run, p.links);
  for (const TopologyAxis axis : run.plan.order) {
    const std::int64_t n = axis == TopologyAxis::data ? run.plan.data : run.plan.size(axis);
    if (n < 2) continue;
    p.ordered.push_back(axis);
    p.axis_names.push_back(std::string(parallel::topology_axis_name(axis)) + " " + std::to_string(n));
  }
  p.machine = (run.graph.boxes > 1 ? std::to_string(run.graph.boxes) + " × " : std::string()) + run.graph.name;
  p.caption = caption_of(out);
  p.bars_title = in.traffic == Traffic::step ? "Communication of one step, none of it hidden" : "The call";
  add_bars(out, run, p);
  name_pairs(run, p);
  add_figures(out, p);
  p.answer = answer_of(in, out, run);
  return p;
}

}  // namespace chapters::distributed::topology
