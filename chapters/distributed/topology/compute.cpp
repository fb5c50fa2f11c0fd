#include <algorithm>
#include <numeric>

#include "chapters/distributed/topology/lab.h"
#include "chapters/mechanism/catalog.h"
#include "models/parallel/topology/topology_parse.h"
#include "models/parallel/topology/topology_traffic.h"
#include "widgets/number/number.h"

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

models::Result<parallel::Topology> graph_of(const Inputs& in) {
  using Graph = models::Result<parallel::Topology>;
  const auto found = find_network(in.network);
  if (!found) return Graph::fail(found.error);
  const models::Network* network = *found;
  if (network->kind == "pcie" && in.boxes > 1)
    return Graph::fail(network->name + " joins no machines here; choose InfiniBand or Ethernet for the adapters.");
  const bool built_in = in.machine != pasted;
  const auto box = static_cast<parallel::TopologyBox>(built_in ? static_cast<std::uint8_t>(in.machine) : 0);
  const bool torus = built_in && (box == parallel::TopologyBox::tpu_v4 || box == parallel::TopologyBox::tpu_v5p);
  const parallel::TopologySpec spec{torus ? 1 : in.boxes, in.oversubscription, in.rack_chips, in.relay};
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
  row.ranks = c.ranks;
  row.groups = c.groups;
  row.sharing = c.sharing;
  row.bytes = c.call.bytes;
  row.calls = c.call.calls;
  row.slowest_bytes_per_s = c.slowest_bytes_per_s;
  row.call_s = c.call_s;
  row.bus_bytes_per_s = c.bus_bytes_per_s;
  row.step_s = c.step_s;
  return row;
}

void set_lit(const Inputs& in, Outputs& out) {
  const auto& axes = out.costs.axes;
  out.lit = 0;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i].step_s > axes[out.lit].step_s) out.lit = i;
  const std::size_t asked = static_cast<std::size_t>(in.axis);
  if (asked > 0 && asked <= axes.size() && axes[asked - 1].step_s > 0) out.lit = asked - 1;
  const TopologyAxisCost& c = axes[out.lit];
  out.call_s = c.call_s;
  out.bus_bytes_per_s = c.bus_bytes_per_s;
  out.bound_bytes_per_s = c.bound_bytes_per_s;
  out.slowest_bytes_per_s = c.slowest_bytes_per_s;
  out.sharing = c.sharing;
  out.slowest = link_words(out.graph, c.slowest_link);
  out.path = path_words(c.kinds);
  out.method = parallel::topology_method_name(c.method);
}

void set_search(Outputs& out) {
  const parallel::TopologySearch& s = out.search;
  out.best_s = std::min(s.best.step_s, out.step_s);
  out.worst_s = std::max(s.worst.step_s, out.step_s);
  out.over_best = out.step_s / out.best_s;
  out.spread = out.worst_s / out.best_s;
  out.priced = s.priced;
  out.best_order = order_words(out.plan, s.best.order);
  for (const parallel::TopologyPlacement& p : s.orders)
    out.orders.push_back({order_words(out.plan, p.order), p.step_s, p.step_s / out.best_s});
  if (out.graph.boxes > 1 || out.graph.shape == parallel::TopologyShape::torus) return;
  const auto ranks = static_cast<std::size_t>(out.plan.ranks());
  for (std::size_t r = 0; r < ranks; ++r) {
    if (r > 0) out.devices += ",";
    out.devices += std::to_string(s.best.chip_of_rank.empty() ? r : s.best.chip_of_rank[r]);
  }
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

models::Result<Asked> asked_of(const Inputs& in) {
  using Answer = models::Result<Asked>;
  auto graph = graph_of(in);
  if (!graph) return Answer::fail(graph.error);
  Asked asked;
  asked.graph = std::move(*graph);
  parallel::TopologyPlan whole{.tensor = in.tensor,
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
  if (in.traffic == Traffic::one_call) {
    asked.calls = {{axis_of_call(in, asked.plan), in.pattern, in.bytes, 1}};
  } else {
    const auto model = find_model(in.model);
    if (!model) return Answer::fail(model.error);
    const bool experts = (*model)->architecture.moe.routed > 0;
    if (experts && in.data % in.expert != 0)
      return Answer::fail("Experts are spread over ranks along the data axis, and " + std::to_string(in.data) +
                          " ranks are no multiple of " + std::to_string(in.expert) + ".");
    if (!experts && in.expert > 1) {
      if (!asked.left_out.empty()) asked.left_out += " ";
      asked.left_out += (*model)->name + " has no experts, so that expert parallel sends nothing.";
      whole.expert = 1;
      asked.plan.expert = 1;
    }
    auto calls = parallel::topology_calls((*model)->architecture, {in.batch, in.sequence, in.micro_batches}, whole);
    if (!calls) return Answer::fail(calls.error);
    asked.calls = std::move(*calls);
  }
  if (std::none_of(asked.calls.begin(), asked.calls.end(),
                   [&](const parallel::TopologyCall& c) { return asked.plan.size(c.axis) > 1; }))
    return Answer::fail("No axis that sends has two ranks here; set one to two or more, or take more machines.");
  return Answer::ok(std::move(asked));
}

Outputs compute(const Inputs& in) {
  auto asked = asked_of(in);
  if (!asked) return {.reason = asked.error};
  Outputs out;
  out.graph = std::move(asked->graph);
  out.plan = asked->plan;
  out.ranks = out.plan.ranks();
  out.ranks_asked = asked->ranks_asked;
  out.left_out = asked->left_out;
  parallel::TopologyPricer pricer(out.graph, asked->calls);
  if (!pricer.routes().connected()) {
    out.reason = "Some chips have no path to the others; paste the table with its adapters and processors.";
    return out;
  }
  out.costs = pricer.price(out.plan);
  out.step_s = out.costs.step_s;
  out.search = parallel::search_placements(pricer, out.graph, out.plan);
  out.chips = static_cast<std::int64_t>(out.graph.chips.size());
  out.links = static_cast<std::int64_t>(out.graph.links.size());
  set_lit(in, out);
  set_search(out);
  for (const TopologyAxisCost& c : out.costs.axes)
    if (c.step_s > 0) out.axes.push_back(row_of(out.graph, c));
  for (const parallel::TopologyFigure& f : out.graph.figures)
    out.figures.push_back(
        {f.what, f.source,
         f.latency_s > 0 ? widgets::format_text(f.latency_s, "s") : widgets::format_text(f.bytes_per_s, "B/s"),
         f.bytes_per_s, f.latency_s});
  if (out.graph.in_switch_share > 0)
    out.figures.push_back({"all-reduce in the switches, of a GPU's line rate", out.graph.in_switch_source,
                           widgets::format_text(100 * out.graph.in_switch_share, "%"), 0, 0});
  return out;
}

}  // namespace chapters::distributed::topology
