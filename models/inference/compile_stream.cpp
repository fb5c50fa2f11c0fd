#include "models/inference/compile_stream.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "models/base/integer_math.h"

namespace models::inference {
namespace {

bool captures_graphs(CompileWay way) { return way == CompileWay::reduce_overhead || way == CompileWay::max_autotune; }

}  // namespace

double CompileSeconds::of(CompileWay way) const {
  switch (way) {
    case CompileWay::eager:
      return 0;
    case CompileWay::standard:
    case CompileWay::reduce_overhead:
      return standard_s;
    case CompileWay::max_autotune:
      return autotune_s;
    case CompileWay::xla:
      return xla_s;
    case CompileWay::tensorrt:
      return tensorrt_s;
    case CompileWay::by_hand:
      return by_hand_s;
  }
  return 0;
}

GuardRules rules_of(CompileWay way, const GuardRules& chosen) {
  GuardRules rules = chosen;
  const bool any = rules.policy == ShapePolicy::automatic || rules.policy == ShapePolicy::dynamic;
  if (way == CompileWay::xla) {
    if (any) rules.policy = ShapePolicy::exact;
    if (rules.policy == ShapePolicy::any_padded) rules.policy = ShapePolicy::multiples;
    rules.max_graphs = 0;
    rules.hashed = true;
  } else if (way == CompileWay::tensorrt) {
    if (any || rules.policy == ShapePolicy::exact) rules.policy = ShapePolicy::dynamic;
    rules.max_graphs = 0;
    rules.hashed = true;
    rules.splits_one = false;
  } else if (way == CompileWay::by_hand) {
    rules.policy = ShapePolicy::divisible;
    rules.max_graphs = 0;
  }
  return rules;
}

CallStyle style_of(CompileWay way, const CompileSetup& setup, bool dynamic) {
  CallStyle style;
  if (way == CompileWay::eager) return style;
  style.compiled = true;
  const bool native = way == CompileWay::xla || way == CompileWay::tensorrt;
  style.launched = captures_graphs(way) ? LaunchedBy::graph : native ? LaunchedBy::native : LaunchedBy::python;
  if (way == CompileWay::by_hand) return style;  // it has no graph that could break, and its kernels take any length
  style.breaks = setup.breaks;
  if (way == CompileWay::max_autotune || way == CompileWay::tensorrt) style.products_faster = setup.products_faster;
  if (dynamic) style.kernels_slower = setup.kernels_slower;
  return style;
}

CallPrices::CallPrices(const CallPricer& pricer, std::int64_t longest) : pricer_(pricer) {
  for (auto& known : known_) known.assign(static_cast<std::size_t>(longest) + 1, 0);
}

double CallPrices::call_s(std::size_t style, const CallStyle& how, std::int64_t length) {
  auto& known = known_[style];
  const auto at = static_cast<std::size_t>(length);
  if (at >= known.size()) known.resize(at + 1, 0);
  if (known[at] == 0) known[at] = pricer_.price(how, length).call_s;
  return known[at];
}

namespace {

/// The calls of one stream, one after the other.
class CompiledStream {
 public:
  CompiledStream(CompileWay way, const CompileSetup& setup, CallPrices& prices, StreamRun& out)
      : way_(way), setup_(setup), prices_(prices), out_(out) {
    const bool by_hand = way == CompileWay::by_hand;
    graph_s_ = setup.seconds.of(way) + (by_hand || is_eager() ? 0 : as_double(setup.breaks) * setup.seconds.break_s);
    // Kernels by hand have no guards but Triton's look at its arguments, which their launches hold already.
    guard_s_ = setup.guard_s * (by_hand ? 0 : as_double(setup.breaks + 1));
  }

  void call(std::size_t i, std::uint32_t length) {
    const double eager_s = prices_.call_s(0, eager_, length);
    CallCost cost{.run_s = eager_s};
    if (is_eager())
      out_.guards.calls.push_back({.length = length, .ran = length});
    else
      cost = compiled_call(out_.guards.calls[i], eager_s);
    StreamTotals& t = out_.totals;
    t.run_s += cost.run_s;
    t.eager_s += eager_s;
    t.compile_s += cost.wait_s;
    lead_s_ += eager_s - cost.run_s - cost.wait_s;
    if (lead_s_ < 0) behind_ = static_cast<std::int64_t>(i) + 1;
    out_.lead_s.push_back(lead_s_);
    out_.compile_s.push_back(cost.wait_s);
  }

  void total(std::int64_t calls) {
    StreamTotals& t = out_.totals;
    t.graphs = static_cast<std::int64_t>(out_.guards.graphs.size());
    t.recompilations = std::max<std::int64_t>(0, t.graphs - 1);
    t.eager_calls = is_eager() ? calls : out_.guards.eager_calls;
    if (calls > 0) t.guards_s /= as_double(calls);
    if (out_.guards.ran_tokens > 0) t.padding = 1 - out_.guards.tokens / out_.guards.ran_tokens;
    if (!is_eager() && calls > 0 && lead_s_ > 0) t.ahead_from = behind_ + 1;
  }

 private:
  struct CallCost {
    double run_s = 0, wait_s = 0;
  };

  bool is_eager() const { return way_ == CompileWay::eager; }

  /// A call behind its guards: in a graph, which may have to be compiled and captured first, or eagerly.
  CallCost compiled_call(const GuardedCall& call, double eager_s) {
    CallCost cost{.run_s = eager_s};
    const double checked_s = as_double(call.walked) * guard_s_;
    out_.totals.guards_s += checked_s;
    if (call.graph >= 0) {
      const bool dynamic = out_.guards.graphs[static_cast<std::size_t>(call.graph)].dynamic();
      if (call.compiled) cost.wait_s += graph_s_;
      const CompileWay ran = is_captured(call, cost) ? way_ : CompileWay::standard;
      cost.run_s = prices_.call_s(2 * static_cast<std::size_t>(ran) + (dynamic ? 1 : 0), style_of(ran, setup_, dynamic),
                                  call.ran);
    }
    cost.run_s += checked_s;
    return cost;
  }

  /// Does the call run as its way has it? Before a length has its CUDA graph it runs as torch.compile's plain mode
  /// does: once to warm up, and once more while the graph is captured.
  bool is_captured(const GuardedCall& call, CallCost& cost) {
    if (!captures_graphs(way_)) return true;
    const int times = met_[{call.graph, call.ran}]++;
    if (times == 1) {
      cost.wait_s += setup_.seconds.capture_s;
      ++out_.totals.captures;
    }
    return times >= 2;
  }

  CompileWay way_;
  const CompileSetup& setup_;
  CallPrices& prices_;
  StreamRun& out_;
  CallStyle eager_ = style_of(CompileWay::eager, setup_, false);
  double graph_s_ = 0, guard_s_ = 0, lead_s_ = 0;
  std::int64_t behind_ = 0;
  std::map<std::pair<std::int32_t, std::uint32_t>, int> met_;  ///< calls of each length in each graph
};

}  // namespace

StreamRun run_stream(std::span<const std::uint32_t> lengths, CompileWay way, const CompileSetup& setup,
                     CallPrices& prices) {
  StreamRun out;
  if (way != CompileWay::eager) out.guards = run_guards(lengths, rules_of(way, setup.rules));
  out.lead_s.reserve(lengths.size());
  out.compile_s.reserve(lengths.size());
  CompiledStream stream(way, setup, prices, out);
  for (std::size_t i = 0; i < lengths.size(); ++i) stream.call(i, lengths[i]);
  stream.total(static_cast<std::int64_t>(lengths.size()));
  return out;
}

}  // namespace models::inference
