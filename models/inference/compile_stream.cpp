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

StreamRun run_stream(std::span<const std::uint32_t> lengths, CompileWay way, const CompileSetup& setup,
                     CallPrices& prices) {
  StreamRun out;
  StreamTotals& t = out.totals;
  const bool none = way == CompileWay::eager, captures = captures_graphs(way);
  if (!none) out.guards = run_guards(lengths, rules_of(way, setup.rules));
  const double graph_s = setup.seconds.of(way) + (way == CompileWay::by_hand ? 0 : as_double(setup.breaks)) *
                                                     (none ? 0 : setup.seconds.break_s);
  const double pieces = way == CompileWay::by_hand ? 0 : as_double(setup.breaks + 1);
  // Kernels by hand have no guards but Triton's look at its arguments, which their launches hold already.
  const double guard_s = setup.guard_s * pieces;
  const std::size_t code = 2 * static_cast<std::size_t>(way);
  const CallStyle eager = style_of(CompileWay::eager, setup, false);
  // Before a length has its CUDA graph it runs as torch.compile's plain mode does.
  const std::size_t plain_code = 2 * static_cast<std::size_t>(CompileWay::standard);
  std::map<std::pair<std::int32_t, std::uint32_t>, int> met;  // calls of each length in each graph
  double lead_s = 0;
  std::int64_t behind = 0;
  out.lead_s.reserve(lengths.size());
  out.compile_s.reserve(lengths.size());
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const double eager_s = prices.call_s(0, eager, lengths[i]);
    double run_s = eager_s, wait_s = 0;
    if (none) {
      out.guards.calls.push_back({.length = lengths[i], .ran = lengths[i]});
    } else {
      const GuardedCall& call = out.guards.calls[i];
      const double checked_s = as_double(call.walked) * guard_s;
      t.guards_s += checked_s;
      if (call.graph >= 0) {
        const bool dynamic = out.guards.graphs[static_cast<std::size_t>(call.graph)].dynamic();
        const std::size_t any = dynamic ? 1 : 0;
        if (call.compiled) wait_s += graph_s;
        bool plain = false;
        if (captures) {
          const int times = met[{call.graph, call.ran}]++;
          plain = times < 2;
          if (times == 1) {
            wait_s += setup.seconds.capture_s;
            ++t.captures;
          }
        }
        run_s = plain ? prices.call_s(plain_code + any, style_of(CompileWay::standard, setup, dynamic), call.ran)
                      : prices.call_s(code + any, style_of(way, setup, dynamic), call.ran);
      }
      run_s += checked_s;
    }
    t.run_s += run_s;
    t.eager_s += eager_s;
    t.compile_s += wait_s;
    lead_s += eager_s - run_s - wait_s;
    if (lead_s < 0) behind = static_cast<std::int64_t>(i) + 1;
    out.lead_s.push_back(lead_s);
    out.compile_s.push_back(wait_s);
  }
  const auto n = static_cast<std::int64_t>(lengths.size());
  t.graphs = static_cast<std::int64_t>(out.guards.graphs.size());
  t.recompilations = std::max<std::int64_t>(0, t.graphs - 1);
  t.eager_calls = none ? n : out.guards.eager_calls;
  if (n > 0) t.guards_s /= as_double(n);
  if (out.guards.ran_tokens > 0) t.padding = 1 - out.guards.tokens / out.guards.ran_tokens;
  if (!none && n > 0 && lead_s > 0) t.ahead_from = behind + 1;
  return out;
}

}  // namespace models::inference
