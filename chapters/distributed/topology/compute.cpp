#include <algorithm>
#include <cmath>
#include <numeric>

#include "chapters/distributed/topology/lab.h"
#include "chapters/mechanism/catalog.h"
#include "models/parallel/topology/topology_bisection.h"
#include "models/parallel/topology/topology_parse.h"
#include "models/parallel/topology/topology_traffic.h"

namespace chapters::distributed::topology {
namespace {

using parallel::TopologyAxis;
using parallel::TopologyAxisCost;

/// Shown until a table is pasted: four cards on two sockets, bridges from 0 to 3 and from 1 to 2.
constexpr std::string_view example_table =
    "     GPU0 GPU1 GPU2 GPU3 CPU Affinity NUMA Affinity\n"
    "GPU0  X   NODE SYS  NV4  0-15  0\n"
    "GPU1 NODE  X   NV4  SYS  0-15  0\n"
    "GPU2 SYS  NV4   X   NODE 16-31 1\n"
    "GPU3 NV4  SYS  NODE  X   16-31 1\n";

constexpr std::size_t most_pairs = 32;  // chips whose pairs are rated

/// Graph, plan and messages that the inputs ask for.
struct Asked {
  parallel::Topology graph;
  parallel::TopologyPlan plan;  ///< plan over the ranks that the machines hold
  std::int64_t ranks_asked = 0;
  std::string left_out;  ///< what of the inputs does not count, and why; else empty
  std::vector<parallel::TopologyCall> calls;
};

models::Result<parallel::Topology> graph_of(const Inputs& in) {
  using Graph = models::Result<parallel::Topology>;
  const auto found = find_network(in.network);
  if (!found) return Graph::fail(found.error);
  const models::Network* network = *found;
  const bool built_in = in.machine != pasted;
  const std::int64_t boxes = built_in ? in.boxes : in.pasted_boxes;
  if (network->kind == "pcie" && boxes > 1)
    return Graph::fail(network->name + " joins no machines here; choose InfiniBand or Ethernet for the adapters.");
  const auto box = static_cast<parallel::TopologyBox>(built_in ? static_cast<std::uint8_t>(in.machine) : 0);
  const bool torus = built_in && (box == parallel::TopologyBox::tpu_v4 || box == parallel::TopologyBox::tpu_v5p);
  const parallel::TopologySpec spec{torus ? 1 : boxes, in.oversubscription, in.rack_chips, in.relay};
  std::string_view id = built_in ? parallel::topology_box_chip(box) : std::string_view();
  if (id.empty()) id = in.chip;
  const auto chip = find_chip(id);
  if (!chip) return Graph::fail(chip.error);
  if (built_in) return parallel::built_in_topology(box, spec, **chip, *network);
  const std::string_view text = !in.file.text.empty() ? std::string_view(in.file.text)
                                : !in.table.empty()   ? std::string_view(in.table)
                                                      : example_table;
  const auto table = parallel::parse_topology_table(text);
  if (!table) return Graph::fail(table.error);
  auto graph = parallel::topology_of_table(*table, **chip, *network);
  if (!graph) return graph;
  return parallel::topology_cluster(*graph, spec, *network);
}

/// The axis that a single call runs over: the lit one, or the only one with ranks.
TopologyAxis axis_of_call(const Inputs& in, const parallel::TopologyPlan& plan) {
  if (in.axis != LitAxis::costliest) return static_cast<TopologyAxis>(static_cast<int>(in.axis) - 1);
  TopologyAxis widest = TopologyAxis::tensor;
  for (std::size_t i = 0; i < parallel::topology_ordered_axes; ++i)
    if (plan.size(static_cast<TopologyAxis>(i)) > plan.size(widest)) widest = static_cast<TopologyAxis>(i);
  return widest;
}

std::string path_words(std::uint32_t kinds) {
  std::string words;
  for (std::size_t i = 0; i < parallel::topology_link_kind_count; ++i) {
    if ((kinds >> i & 1u) == 0) continue;
    if (!words.empty()) words += ", ";
    words += parallel::topology_link_name(static_cast<parallel::TopologyLinkKind>(i));
  }
  return words;
}

AxisRow row_of(const parallel::Topology& graph, const TopologyAxisCost& c) {
  AxisRow row;
  row.axis = parallel::topology_axis_name(c.call.axis);
  row.collective = parallel::topology_pattern_name(c.call.pattern);
  row.method = parallel::topology_method_name(c.method);
  row.path = path_words(c.kinds);
  row.slowest = link_words(graph, c.slowest_link);
  row.cost = c;
  return row;
}

/// The axis that the picture shows: the one that is asked for where it sends, else the costliest.
void set_lit(const Inputs& in, Outputs& out, Run& run) {
  const auto& axes = run.costs.axes;
  run.lit = 0;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i].step_s > axes[run.lit].step_s) run.lit = i;
  const std::size_t asked = static_cast<std::size_t>(in.axis);
  if (asked > 0 && asked <= axes.size() && axes[asked - 1].step_s > 0) run.lit = asked - 1;
  out.lit = axes[run.lit];
  out.slowest = link_words(run.graph, out.lit.slowest_link);
  out.path = path_words(out.lit.kinds);
  out.method = parallel::topology_method_name(out.lit.method);
}

void set_search(Outputs& out, const Run& run) {
  const parallel::TopologySearch& s = run.search;
  out.best_s = std::min(s.best.step_s, out.step_s);
  out.worst_s = std::max(s.worst.step_s, out.step_s);
  out.over_best = out.step_s / out.best_s;
  out.spread = out.worst_s / out.best_s;
  out.priced = s.priced;
  out.best_order = order_words(run.plan, s.best.order);
  for (const parallel::TopologyPlacement& p : s.orders)
    out.orders.push_back({order_words(run.plan, p.order), p.step_s, p.step_s / out.best_s});
  if (run.graph.boxes > 1 || run.graph.shape == parallel::TopologyShape::torus) return;
  const auto ranks = static_cast<std::size_t>(run.plan.ranks());
  for (std::size_t r = 0; r < ranks; ++r) {
    if (r > 0) out.devices += ",";
    out.devices += std::to_string(s.best.chip_of_rank.empty() ? r : s.best.chip_of_rank[r]);
  }
}

/// What makes the difference to the other placement: the axis whose time changes most.
void set_moved(Outputs& out, const Run& run) {
  if (!run.slower(out) && out.spread <= 1.005) return;
  const parallel::TopologyPlacement& other = run.other(out);
  const auto change = [&](std::size_t a) { return std::abs(other.costs.axes[a].step_s - run.costs.axes[a].step_s); };
  std::size_t moved = 0;
  for (std::size_t a = 0; a < parallel::topology_axis_count; ++a)
    if (change(a) > change(moved)) moved = a;
  out.moved_axis = parallel::topology_axis_name(run.costs.axes[moved].call.axis);
  out.moved_bytes_per_s = run.costs.axes[moved].bound_bytes_per_s;
  out.moved_other_bytes_per_s = other.costs.axes[moved].bound_bytes_per_s;
}

void list_rows(Outputs& out, const Run& run) {
  for (const TopologyAxisCost& c : run.costs.axes)
    if (c.step_s > 0) out.axes.push_back(row_of(run.graph, c));
  for (const parallel::TopologyFigure& f : run.graph.figures)
    out.figures.push_back({f.what, f.source, f.bytes_per_s, f.latency_s, 0});
  if (run.graph.in_switch_share > 0)
    out.figures.push_back({"all-reduce in the switches, of a GPU's line rate", run.graph.in_switch_source, 0, 0,
                           100 * run.graph.in_switch_share});
}

/// What every two chips reach alone.
void rate_pairs(parallel::TopologyPricer& pricer, Run& run) {
  const std::size_t n = run.pairs_shown = std::min(run.graph.chips.size(), most_pairs);
  run.pair_rates.assign(n * n, std::nan(""));
  for (std::uint32_t a = 0; a < n; ++a)
    for (std::uint32_t b = 0; b < n; ++b) {
      double most = 0;
      for (const auto& step : pricer.routes().between(a, b)) {
        const auto& link = run.graph.links[step.arc / 2];
        most = std::max(most, static_cast<double>(step.share) /
                                  (run.plan.line_rates ? link.line_bytes_per_s : link.reached_bytes_per_s));
      }
      if (most > 0) run.pair_rates[a * n + b] = 1 / most;
    }
}

using Loads = std::array<std::vector<double>, parallel::topology_axis_count>;

/// What the other placement puts on the links, where there is one that takes another time.
void load_other(parallel::TopologyPricer& pricer, const Outputs& out, Run& run) {
  if (!run.slower(out) && out.spread <= 1.005) return;
  parallel::TopologyPlan other = run.plan;
  other.order = run.other(out).order;
  other.chip_of_rank = run.other(out).chip_of_rank;
  Loads load;
  pricer.price(other, &load);
  run.other_load = std::move(load[run.lit]);
}

parallel::TopologyPlan cut_to_fit(parallel::TopologyPlan plan, std::int64_t chips) {
  plan.context = std::clamp<std::int64_t>(chips / plan.tensor, 1, plan.context);
  plan.pipeline = std::clamp<std::int64_t>(chips / (plan.tensor * plan.context), 1, plan.pipeline);
  plan.data = std::clamp<std::int64_t>(chips / (plan.tensor * plan.context * plan.pipeline), 1, plan.data);
  plan.expert = std::gcd(plan.data, plan.expert);
  return plan;
}

/// The chips that a list of numbers names, then those that it does not.
models::Result<std::vector<std::uint32_t>> chips_of(std::string_view text, std::size_t chips) {
  using Chips = models::Result<std::vector<std::uint32_t>>;
  std::vector<std::uint32_t> named;
  std::vector<bool> used(chips, false);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(", "), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const bool number = word.size() <= 3 && word.find_first_not_of("0123456789") == std::string_view::npos;
    const std::size_t chip = number ? static_cast<std::size_t>(std::stoi(std::string(word))) : chips;
    if (chip >= chips || used[chip])
      return Chips::fail("The chips of the ranks are numbers from 0 to " + std::to_string(chips - 1) +
                         " with commas between them, each at most once.");
    used[chip] = true;
    named.push_back(static_cast<std::uint32_t>(chip));
  }
  if (named.empty()) return Chips::ok({});
  for (std::uint32_t chip = 0; chip < chips; ++chip)
    if (!used[chip]) named.push_back(chip);
  return Chips::ok(std::move(named));
}

}  // namespace

std::array<TopologyAxis, 4> axes_of(AxisOrder order) {
  std::array<TopologyAxis, 4> axes{TopologyAxis::tensor, TopologyAxis::context, TopologyAxis::pipeline,
                                   TopologyAxis::data};
  for (int i = 0; i < static_cast<int>(order); ++i) std::next_permutation(axes.begin(), axes.end());
  return axes;
}

AxisOrder order_of(const std::array<TopologyAxis, 4>& axes) {
  for (std::size_t i = 0; i < axis_order_count; ++i)
    if (axes_of(static_cast<AxisOrder>(i)) == axes) return static_cast<AxisOrder>(i);
  return {};
}

namespace {

/// What the plan sends in a step of the model, or the one call. May take experts out of the plan, and says so.
models::Status set_calls(const Inputs& in, parallel::TopologyPlan whole, Asked& asked) {
  if (in.traffic == Traffic::one_call) {
    asked.calls = {{axis_of_call(in, asked.plan), in.pattern, in.bytes, 1}};
    return models::Status::ok();
  }
  const auto model = find_model(in.model);
  if (!model) return models::Status::fail(model.error);
  const bool experts = (*model)->architecture.moe.routed > 0;
  if (experts && in.data % in.expert != 0)
    return models::Status::fail("Experts are spread over ranks along the data axis, and " + std::to_string(in.data) +
                                " ranks are no multiple of " + std::to_string(in.expert) + ".");
  if (!experts && in.expert > 1) {
    if (!asked.left_out.empty()) asked.left_out += " ";
    asked.left_out += (*model)->name + " has no experts, so that expert parallel sends nothing.";
    whole.expert = 1;
    asked.plan.expert = 1;
  }
  auto calls = parallel::topology_calls((*model)->architecture, {in.batch, in.sequence, in.micro_batches}, whole);
  if (!calls) return models::Status::fail(calls.error);
  asked.calls = std::move(*calls);
  return models::Status::ok();
}

/// A plan of more ranks than chips is placed in part: fewer replicas first, then fewer stages, then shorter context
/// groups, with the messages of the whole plan.
models::Result<Asked> asked_of(const Inputs& in) {
  using Answer = models::Result<Asked>;
  auto graph = graph_of(in);
  if (!graph) return Answer::fail(graph.error);
  Asked asked;
  asked.graph = std::move(*graph);
  const parallel::TopologyPlan whole{.tensor = in.tensor,
                                     .context = in.context,
                                     .pipeline = in.pipeline,
                                     .data = in.data,
                                     .expert = in.expert,
                                     .order = axes_of(in.order),
                                     .in_switch = in.in_switch,
                                     .line_rates = in.rates == Rates::line};
  if (in.machine == pasted && in.table.empty() && in.file.text.empty())
    asked.left_out = "Nothing is pasted yet: this is an example of four cards.";
  asked.ranks_asked = whole.ranks();
  asked.plan = cut_to_fit(whole, static_cast<std::int64_t>(asked.graph.chips.size()));
  auto chips = chips_of(in.chip_order, asked.graph.chips.size());
  if (!chips) return Answer::fail(chips.error);
  asked.plan.chip_of_rank = std::move(*chips);
  if (const auto fits = parallel::check_topology_plan(asked.graph, asked.plan); !fits) return Answer::fail(fits.error);
  if (const auto calls = set_calls(in, whole, asked); !calls) return Answer::fail(calls.error);
  if (std::none_of(asked.calls.begin(), asked.calls.end(),
                   [&](const parallel::TopologyCall& c) { return asked.plan.size(c.axis) > 1; }))
    return Answer::fail("No axis that sends has two ranks here; set one to two or more, or take more machines.");
  return Answer::ok(std::move(asked));
}

/// The same placement where GPUs change rails before a message leaves the machine, if the spine is what holds it up.
void set_relayed(const Inputs& in, Outputs& out, const Run& run) {
  const std::int64_t slowest = out.lit.slowest_link;
  if (in.relay || slowest < 0) return;
  if (run.graph.links[static_cast<std::size_t>(slowest)].kind != parallel::TopologyLinkKind::spine) return;
  Inputs changed = in;
  changed.relay = true;
  const auto asked = asked_of(changed);
  if (!asked) return;
  parallel::TopologyPricer pricer(asked->graph, asked->calls);
  out.relayed_s = pricer.price(run.plan, nullptr).step_s;
}

}  // namespace

Computed compute(const Inputs& in, const Progress& progress) {
  auto asked = asked_of(in);
  if (!asked) return infeasible<Computed>(asked.error);
  Computed done;
  Outputs& out = done.facts;
  const auto made = std::make_shared<Run>();
  Run& run = *made;
  run.graph = std::move(asked->graph);
  run.plan = std::move(asked->plan);
  out.ranks = run.plan.ranks();
  out.ranks_asked = asked->ranks_asked;
  out.left_out = std::move(asked->left_out);
  parallel::TopologyPricer pricer(run.graph, asked->calls);
  if (!pricer.routes().connected()) {
    out.reason = "Some chips have no path to the others; paste the table with its adapters and processors.";
    return done;
  }
  Loads load;
  run.costs = pricer.price(run.plan, progress.facts_alone ? nullptr : &load);
  out.step_s = run.costs.step_s;
  run.search = parallel::search_placements(pricer, run.graph, run.plan);
  out.chips = static_cast<std::int64_t>(run.graph.chips.size());
  out.links = static_cast<std::int64_t>(run.graph.links.size());
  out.bisection_bytes_per_s = parallel::topology_bisection(run.graph, run.plan.line_rates);
  out.ports_bytes_per_s = parallel::topology_ports(run.graph, run.plan.line_rates);
  set_lit(in, out, run);
  set_search(out, run);
  set_moved(out, run);
  set_relayed(in, out, run);
  list_rows(out, run);
  if (progress.facts_alone) return done;
  run.load = std::move(load[run.lit]);
  load_other(pricer, out, run);
  rate_pairs(pricer, run);
  run.groups = parallel::topology_groups(run.plan, static_cast<TopologyAxis>(run.lit));
  done.run = made;
  return done;
}

}  // namespace chapters::distributed::topology
