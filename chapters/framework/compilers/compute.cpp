#include <algorithm>
#include <cmath>

#include "chapters/described/step_choices.h"
#include "chapters/framework/compilers/lab.h"
#include "chapters/mechanism/catalog.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::framework::compilers {
namespace {

using models::as_double;
using namespace models::inference;

struct AskedCall {
  CallSetup setup;
  bool engines = true;  ///< the chip is one that TensorRT builds for
};

/// The longest call with its weights and its cache; what is padded holds no cache. Empty: it has room.
std::string memory_problem(const Inputs& in, const CallSetup& setup, const models::Chip& chip) {
  using widgets::format_text;
  const bool decode = in.phase == LaunchedPhase::decode;
  const std::int64_t longest = in.lengths == Lengths::same ? std::min(in.median, in.longest) : in.longest;
  models::Workload workload = setup.workload;
  (decode ? workload.batch : workload.sequence) = longest;
  const models::ResidentBytes held = models::resident_bytes(*setup.architecture, workload);
  const std::string has = ", and the " + chip.name + " has " + format_text(chip.memory_bytes, "B");
  if (held.weights > chip.memory_bytes)
    return "The weights take " + format_text(held.weights, "B") + has + ": choose a smaller model or a larger chip.";
  if (held.total() <= chip.memory_bytes) return {};
  return "Caches of the longest call take " + format_text(held.cache, "B") + " next to weights of " +
         format_text(held.weights, "B") + has + ": choose " +
         (decode ? "fewer sequences or a shorter context." : "fewer or shorter prompts.");
}

models::Result<AskedCall> asked_call_of(const Inputs& in) {
  using Out = models::Result<AskedCall>;
  const auto model = find_model(in.model);
  if (!model) return Out::fail(model.error);
  const auto chip = find_launched_chip(in.chip);
  if (!chip) return Out::fail(chip.error);
  const auto machine = models::machine_of(**chip, models::Format::bf16);
  if (!machine) return Out::fail(machine.error);
  AskedCall asked;
  asked.engines = (*chip)->vendor != "AMD";
  if (!asked.engines && in.way == CompileWay::tensorrt)
    return Out::fail("TensorRT builds engines for NVIDIA's GPUs alone: choose another way or another chip.");
  CallSetup& setup = asked.setup;
  setup.architecture = &(*model)->architecture;
  setup.machine = *machine;
  setup.machine.peak_flops_per_s *= in.reached / 100;
  setup.machine.bandwidth_bytes_per_s *= in.reached / 100;
  setup.workload.phase = phase_of(in.phase);
  setup.workload.batch = in.batch;
  setup.workload.context = in.context;
  setup.host = host_of(in.launching);
  setup.least_kernel_s = in.launching.least_kernel_s;
  setup.native_launch_s = in.native_launch_s;
  setup.break_s = in.break_s;
  setup.longest = in.longest;
  if (std::string problem = memory_problem(in, setup, **chip); !problem.empty()) return Out::fail(std::move(problem));
  return Out::ok(std::move(asked));
}

CompileSetup compile_setup_of(const Inputs& in) {
  CompileSetup setup;
  setup.rules = {.policy = in.policy, .bucket = in.bucket, .longest = in.longest, .max_graphs = in.max_graphs};
  setup.seconds = {.standard_s = in.standard_s,
                   .autotune_s = in.autotune_s,
                   .xla_s = in.xla_s,
                   .tensorrt_s = in.tensorrt_s,
                   .by_hand_s = in.by_hand_s,
                   .capture_s = in.capture_s,
                   .break_s = in.break_compile_s};
  setup.products_faster = in.products_faster / 100;
  setup.kernels_slower = in.kernels_slower / 100;
  setup.guard_s = in.guard_s;
  setup.breaks = in.breaks;
  return setup;
}

std::vector<std::uint32_t> lengths_of(const Inputs& in) {
  const auto n = static_cast<std::size_t>(in.calls);
  const auto longest = static_cast<std::uint32_t>(in.longest);
  if (in.lengths == Lengths::same)
    return std::vector<std::uint32_t>(n, static_cast<std::uint32_t>(std::min(in.median, in.longest)));
  const auto source = static_cast<models::LengthSource>(static_cast<int>(in.lengths) - 1);
  return models::draw_lengths(source, n, longest, as_double(in.median), in.spread, in.seed);
}

std::string policy_words(ShapePolicy policy) {
  switch (policy) {
    case ShapePolicy::exact:
      return "one length each";
    case ShapePolicy::automatic:
      return "exact, then any length";
    case ShapePolicy::dynamic:
      return "any length";
    case ShapePolicy::powers:
      return "powers of two";
    case ShapePolicy::multiples:
      return "multiples of the bucket";
    case ShapePolicy::longest:
      return "the longest length";
    case ShapePolicy::any_padded:
      return "any multiple of the bucket";
    case ShapePolicy::divisible:
      return "multiples of 16, and others";
  }
  return {};
}

std::string graph_takes(const CachedGraph& graph) {
  if (!graph.dynamic()) return widgets::format_text(graph.length, "");
  return graph.multiple_of > 1 ? "multiples of 16" : "any length";
}

void fill_stream(const Inputs& in, const StreamRun& run, Outputs& out) {
  const StreamTotals& t = run.totals;
  const double n = as_double(in.calls);
  out.won_s = t.won_s();
  out.capture_s = as_double(t.captures) * in.capture_s;
  out.compile_s = t.compile_s;
  out.run_s = t.run_s;
  out.eager_s = t.eager_s;
  out.total_s = t.total_s();
  out.mean_call_s = t.total_s() / n;
  out.steady_call_s = t.run_s / n;
  out.eager_call_s = t.eager_s / n;
  out.saving_s = t.saving_s(n);
  out.guards_s = t.guards_s;
  out.compile_share = 100 * t.compile_s / t.total_s();
  out.graphs = t.graphs;
  out.recompilations = t.recompilations;
  out.captures = t.captures;
  const auto lowest = std::min_element(run.lead_s.begin(), run.lead_s.end());
  if (lowest != run.lead_s.end() && *lowest < 0) {
    out.lowest_s = *lowest;
    out.lowest_at = lowest - run.lead_s.begin() + 1;
  }
  out.eager_calls = t.eager_calls;
  out.eager_percent = 100 * as_double(t.eager_calls) / n;
  out.padding = 100 * t.padding;
  if (t.ahead_from > 0) out.ahead_from = as_double(t.ahead_from);
  if (in.way != CompileWay::eager && out.saving_s > 0) out.pays_after = t.compile_s / out.saving_s;
  for (std::size_t i = 0; i < run.guards.graphs.size() && out.cache.size() < 32; ++i) {
    const CachedGraph& graph = run.guards.graphs[i];
    const auto first = static_cast<std::size_t>(graph.first_call);
    out.cache.push_back({graph_takes(graph), graph.first_call + 1, graph.calls, run.compile_s[first]});
  }
}

/// Is the graph that took most of the calls one for any length?
bool mostly_dynamic(const GuardRun& guards) {
  const auto most = std::max_element(guards.graphs.begin(), guards.graphs.end(),
                                     [](const CachedGraph& a, const CachedGraph& b) { return a.calls < b.calls; });
  return most != guards.graphs.end() && most->dynamic();
}

WayRow row_of(const Inputs& in, CompileWay way, const CompileSetup& setup, const CallPricer& pricer,
              const StreamRun& run, double mean_length) {
  const StreamTotals& totals = run.totals;
  const GuardRules rules = rules_of(way, setup.rules);
  const auto length = static_cast<std::int64_t>(std::llround(mean_length));
  // A call of the mean length as it runs when its graph is there.
  const std::int64_t ran = way == CompileWay::eager ? length : padded_length(rules, length);
  const CallStyle style = style_of(way, setup, mostly_dynamic(run.guards));
  const CallPrice price = pricer.price(style, std::max<std::int64_t>(1, ran));
  WayRow row{.way = way,
             .yours = way == in.way,
             .name = std::string(way_name(way)),
             .launches = price.launches,
             .bytes = price.bytes,
             .host_s = price.host_s,
             .device_s = price.device_s,
             .call_s = totals.run_s / as_double(in.calls),
             .graphs = totals.graphs,
             .compile_s = totals.compile_s,
             .padding = 100 * totals.padding,
             .won_s = totals.won_s(),
             .ahead_from = Outputs::none};
  if (totals.ahead_from > 0) row.ahead_from = as_double(totals.ahead_from);
  return row;
}

/// What eager needs in the mean, less the lead a call: at numbers of calls that are even on a logarithmic axis.
WayMeans means_of(CompileWay way, const StreamRun& run) {
  WayMeans out{.way = way};
  const std::size_t n = run.lead_s.size();
  const double eager_call_s = run.totals.eager_s / static_cast<double>(n);
  for (double at = 1; at < static_cast<double>(n) + 1; at = std::max(at + 1, at * 1.06)) {
    const auto calls = static_cast<std::size_t>(at);
    out.calls.push_back(static_cast<double>(calls));
    out.call_s.push_back(eager_call_s - run.lead_s[calls - 1] / static_cast<double>(calls));
  }
  out.calls.push_back(static_cast<double>(n));
  out.call_s.push_back(run.totals.total_s() / static_cast<double>(n));
  return out;
}

}  // namespace

std::string_view way_name(CompileWay way) {
  constexpr std::array<std::string_view, compile_way_count> names{
      "Eager", "torch.compile", "reduce-overhead", "max-autotune", "XLA", "TensorRT", "Triton by hand"};
  return names[static_cast<std::size_t>(way)];
}

widgets::Tint way_tint(CompileWay way, bool yours) {
  if (way == CompileWay::eager) return widgets::Tint::strong();
  return yours ? widgets::Tint::yours() : widgets::Tint::series(static_cast<std::uint64_t>(way) - 1);
}

Computed compute(const Inputs& in, Progress& progress) {
  const auto asked = asked_call_of(in);
  if (!asked) return infeasible<Computed>(asked.error);
  const auto pricer = CallPricer::make(asked->setup);
  if (!pricer) return infeasible<Computed>(pricer.error);
  const CompileSetup setup = compile_setup_of(in);
  const std::vector<std::uint32_t> lengths = lengths_of(in);
  CallPrices prices(*pricer, in.longest);
  Computed done;
  Outputs& out = done.facts;
  for (const std::uint32_t length : lengths) out.mean_length += length / as_double(in.calls);
  out.policy_used =
      in.way == CompileWay::eager ? "no graph at all" : policy_words(rules_of(in.way, setup.rules).policy);
  auto chosen = std::make_shared<Run>();
  for (std::size_t i = 0; i < compile_way_count; ++i) {
    if (progress.cancelled) return infeasible<Computed>("The computation was stopped.");
    const auto way = static_cast<CompileWay>(i);
    if (way == CompileWay::tensorrt && !asked->engines) continue;
    StreamRun run = run_stream(lengths, way, setup, prices);
    out.ways.push_back(row_of(in, way, setup, *pricer, run, out.mean_length));
    // Kernels by hand are days of work, which have no price here.
    if (i == 0 || (way != CompileWay::by_hand && run.totals.won_s() > out.best_won_s)) {
      out.best_won_s = run.totals.won_s();
      out.best_way = way_name(way);
    }
    if (way != CompileWay::eager) out.distinct_lengths = run.guards.distinct_lengths;
    if (way != CompileWay::eager && !progress.facts_alone) chosen->means.push_back(means_of(way, run));
    if (way == in.way) chosen->stream = std::move(run);
    progress.fraction = as_double(static_cast<std::int64_t>(i) + 1) / compile_way_count;
  }
  fill_stream(in, chosen->stream, out);
  const WayRow& eager = out.ways[0];
  const WayRow& now = *std::find_if(out.ways.begin(), out.ways.end(), [](const WayRow& row) { return row.yours; });
  out.launches = std::llround(now.launches);
  out.eager_launches = std::llround(eager.launches);
  out.bytes = now.bytes;
  out.eager_bytes = eager.bytes;
  out.host_s = now.host_s;
  out.device_s = now.device_s;
  if (!progress.facts_alone) done.run = std::move(chosen);
  return done;
}

}  // namespace chapters::framework::compilers
