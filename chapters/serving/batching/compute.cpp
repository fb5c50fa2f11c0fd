#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "chapters/mechanism/catalog.h"
#include "chapters/serving/batching/lab.h"
#include "models/serving/arrivals/queueing.h"
#include "models/serving/engine/batch_means.h"
#include "widgets/number/number.h"

namespace chapters::serving::batching {
namespace {

using models::ServingPolicy;
using widgets::format_text;

constexpr std::size_t max_policies = 4, max_in_file = 1'000'000;

/// The requests of a file or of a stream.
struct Demand {
  std::shared_ptr<const std::vector<models::ServingRequest>> requests;
  std::int64_t failed = 0;
};
models::Result<Demand> demand_of(const Inputs& in, Streams& streams) {
  using Outcome = models::Result<Demand>;
  using Requests = std::vector<models::ServingRequest>;
  if (in.trace.text.empty())
    return Outcome::ok({streams.get(stream_of(in), [](const models::RequestStream& stream) {
      return std::make_shared<const Requests>(models::make_requests(stream));
    })});
  auto read = models::parse_requests(in.trace.text, max_in_file);
  if (!read) return Outcome::fail(read.error);
  if (in.service != ServiceKind::llm) models::draw_service_times(read->requests, stream_of(in));
  return Outcome::ok({std::make_shared<const Requests>(std::move(read->requests)), read->failed});
}

/// The model and the chips that serve it, and what its steps cost.
struct Served {
  models::ServingCost cost;
  models::ServingBound bound;
};
models::Result<Served> served_by(const Inputs& in) {
  using Outcome = models::Result<Served>;
  const auto chip = find_chip(in.chip);
  const auto model = find_model(in.model);
  if (!chip || !model) return Outcome::fail(!chip ? chip.error : model.error);
  const models::ServingMachine machine{
      .chip = *chip,
      .chips = static_cast<double>(in.chips),
      .format = in.format,
      .kv = in.kv_format,
  };
  const models::Architecture& architecture = (*model)->architecture;
  if (const auto memory = models::serving_memory(architecture, machine); !memory.holds_weights())
    return Outcome::fail("The weights take " + format_text(memory.weights_bytes, "B", 4) + " and " +
                         std::to_string(in.chips) + "\xC3\x97 " + (*chip)->short_name + " offer " +
                         format_text(memory.offered_bytes, "B", 4) +
                         ": take more chips, a narrower format or a smaller model.");
  const auto cost = models::serving_cost(architecture, machine);
  if (!cost) return Outcome::fail(cost.error);
  const auto bound = models::serving_bound(architecture, machine, static_cast<double>(in.slots), in.prompt_tokens,
                                           in.output_tokens, batches(in.policy));
  if (!bound) return Outcome::fail(bound.error);
  return Outcome::ok({*cost, *bound});
}

/// Takes out what only says how long the run was.
void drop_what_grows(PolicyRun& run) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  models::ServingSummary& s = run.figures;
  for (double* value :
       {&s.mean_wait_s, &s.mean_latency_s, &s.p50_latency_s, &s.p90_latency_s, &s.p99_latency_s, &s.longest_latency_s,
        &s.ttft_p50_s, &s.ttft_p99_s, &s.mean_waiting, &s.mean_in_system, &s.half.mean_wait_s, &s.half.mean_latency_s,
        &s.half.p50_latency_s, &s.half.p99_latency_s, &s.half.ttft_p50_s, &s.half.ttft_p99_s, &s.half.goodput_per_s})
    *value = none;
}

PolicyRun summarize(ServingPolicy policy, std::span<const models::ServingRequest> requests,
                    const models::ServingRun& run, const models::ServingSetup& setup,
                    const models::ServingWindow& window, const Inputs& in) {
  const auto figures = models::summarize_serving(requests, run, setup, in.ttft_limit_s, in.tpot_limit_s, window);
  PolicyRun out{
      .policy = policy,
      .name = serving_policy_choices()[static_cast<std::size_t>(policy)].label,
      .requests = figures.requests,
      .figures = figures,
      .counts = run,
      .overloaded = figures.overloaded || (in.service != ServiceKind::llm && in.trace.text.empty() &&
                                           !batches(policy) && load_percent(in, requests) >= 100),
      .utilization_percent = 100 * figures.utilization,
      .wasted_slots_percent = 100 * figures.wasted_slots,
      .kv_peak_percent =
          setup.cost ? 100 * static_cast<double>(run.peak_blocks) / static_cast<double>(setup.blocks) : 0,
  };
  if (out.overloaded) drop_what_grows(out);
  return out;
}

/// The requests that are drawn: from where, and how many before and after.
struct DrawnPart {
  std::int64_t first = 0;
  std::size_t lead = 0, followed = 0;
  double from_s = 0;
};
DrawnPart part_from(std::span<const models::ServingRequest> requests, std::int64_t first) {
  const auto at = std::min(static_cast<std::size_t>(first), requests.size() - 1);
  return {
      .first = static_cast<std::int64_t>(at),
      .lead = std::min<std::size_t>(at, max_lead),
      .followed = std::min<std::size_t>(requests.size() - at, max_followed),
      .from_s = at > 0 ? requests[at].arrival_s : 0,
  };
}

/// The part of a run that is drawn, in times and numbers of its own.
models::ServingRun drawn_part(models::ServingRun run, const DrawnPart& part) {
  const auto begin = run.served.begin() + (part.first - static_cast<std::int64_t>(part.lead));
  std::vector<models::ServedRequest> served(
      begin, begin + static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                         part.lead + part.followed, static_cast<std::size_t>(run.served.end() - begin))));
  for (models::ServedRequest& s : served)
    for (double* time : {&s.start_s, &s.first_token_s, &s.last_token_s, &s.finish_s}) *time -= part.from_s;
  run.served = std::move(served);
  for (models::SlotSpan& s : run.spans) {
    s.request -= static_cast<std::int32_t>(part.first);
    s.start_s = std::max(0.0, s.start_s - part.from_s);
    s.end_s -= part.from_s;
  }
  for (auto* points : {&run.waiting, &run.blocks})
    for (models::ServingPoint& p : *points) p.time_s = std::max(0.0, p.time_s - part.from_s);
  return run;
}

/// What is drawn of a policy whose figures are `figures`.
PolicyHistory history_of(const PolicyRun& figures, std::span<const models::ServingRequest> requests,
                         models::ServingRun run, const models::ServingWindow& window, const DrawnPart& part,
                         bool tokens) {
  PolicyHistory out;
  if (!figures.overloaded) {
    out.latency_s = models::latency_quantiles(requests, run, window, false);
    if (tokens) out.ttft_s = models::latency_quantiles(requests, run, window, true);
  }
  out.run = drawn_part(std::move(run), part);
  return out;
}

/// Where a queue grows, all are drawn from an empty server on: so many requests are run once more for that.
void draw_from_empty_server(std::span<const models::ServingRequest> requests, models::ServingSetup setup,
                            const Outputs& out, Run& history, DrawnPart& part) {
  part = part_from(requests, 0);
  setup.history_from = 0;
  setup.fraction = nullptr;
  const std::size_t enough =
      std::min(requests.size(), static_cast<std::size_t>(max_followed + setup.slots * setup.servers));
  for (std::size_t i = 0; i < out.racers.size(); ++i) {
    setup.policy = out.racers[i].policy;
    history.histories[i].run = drawn_part(models::simulate_serving(requests.first(enough), setup), part);
  }
}

/// The requests drawn, in times of their own.
void keep_requests(std::span<const models::ServingRequest> requests, const DrawnPart& part, Run& history) {
  history.first = part.first;
  history.lead = part.lead;
  const auto drawn = requests.subspan(static_cast<std::size_t>(part.first) - part.lead, part.lead + part.followed);
  history.requests.assign(drawn.begin(), drawn.end());
  for (models::ServingRequest& r : history.requests) r.arrival_s -= part.from_s;
}

/// What is drawn: from an empty server on where some queue grows, otherwise as it was recorded.
void keep_drawn(std::span<const models::ServingRequest> requests, const models::ServingSetup& setup, const Outputs& out,
                std::int64_t pictured, DrawnPart part, Run& history) {
  const bool grows =
      std::any_of(out.racers.begin(), out.racers.end(), [](const PolicyRun& run) { return run.overloaded; });
  if (part.first > 0 && grows) draw_from_empty_server(requests, setup, out, history, part);
  keep_requests(requests, part, history);
  history.pictured = std::min(pictured, static_cast<std::int64_t>(part.followed));
}

/// What the figures of the chosen policy are of.
std::string state_of(const Inputs& in, const PolicyRun& run) {
  const models::ServingSummary& s = run.figures;
  const std::string leave = format_text(s.throughput_per_s, "") + " of " + format_text(s.arrivals_per_s, "");
  if (run.overloaded)
    return "overloaded: " + leave + " requests per second leave, and the queue grows as long as they come";
  if (!in.trace.text.empty()) return "a recording, measured as a whole, start and end included";
  if (static_cast<std::size_t>(run.requests) < models::least_for_interval)
    return "too few requests to tell: start and end weigh on the figures";
  if (s.filling)
    return "not settled: " + leave + " requests per second leave while the batch fills; measure more of them";
  return "steady: " + leave + " requests per second leave";
}

/// What the chosen policy's waits and rates are of its first rival's, over the same arrivals.
void compare_with_rival(Outputs& out) {
  if (out.racers.size() < 2) return;
  const models::ServingSummary &own = out.racers[0].figures, &rival = out.racers[1].figures;
  const auto ratio = [](double a, double b) { return b > 0 ? a / b : std::numeric_limits<double>::quiet_NaN(); };
  const bool same_requests = out.racers[1].requests == out.racers[0].requests;
  out.speedup_p50 = ratio(rival.p50_latency_s, same_requests ? own.p50_latency_s : 0);
  out.served_gain = ratio(own.throughput_per_s, rival.throughput_per_s);
  out.goodput_gain = ratio(own.goodput_per_s, rival.goodput_per_s);
  out.tokens_gain = ratio(own.tokens_per_s, rival.tokens_per_s);
}

/// Why the figures of a run mean nothing; empty when they do.
std::string problem_of(const models::ServingRun& run, const models::ServingSetup& setup, const Inputs& in,
                       const Progress& progress) {
  if (run.stopped && progress.cancelled) return "The run was stopped before its end.";
  if (run.stopped)
    return in.trace.text.empty() ? "The run takes more than 20 million scheduler events or 400 million steps of a "
                                   "sequence: ask for fewer "
                                   "requests."
                                 : "The run takes more than 20 million scheduler events or 400 million steps of a "
                                   "sequence: cut the file of "
                                   "arrivals.";
  if (run.completed == 0)
    return "No request fits into the cache of " +
           format_text(static_cast<double>(setup.blocks * in.block_tokens), "tokens") +
           ": give the cache more memory, or ask for shorter requests.";
  return {};
}

/// The model on its chips: what its steps cost, and the cache that is left beside its weights.
models::Status serve_model(const Inputs& in, models::ServingCost& cost, models::ServingSetup& setup, Outputs& out) {
  auto made = served_by(in);
  if (!made) return models::Status::fail(std::move(made.error));
  cost = std::move(made->cost);
  out.bound = made->bound;
  out.bound.tokens_per_s *= static_cast<double>(in.servers);
  out.kv_pool_bytes = in.kv_share / 100 * cost.free_bytes;
  out.kv_blocks =
      static_cast<std::int64_t>(out.kv_pool_bytes / (cost.kv_bytes_per_token * static_cast<double>(in.block_tokens)));
  setup.cost = &cost;
  setup.blocks = out.kv_blocks;
  return models::Status::ok();
}

/// Runs the setup's policy over the arrivals; the first to run is the one that was chosen. One sentence where its
/// figures mean nothing.
std::string race(const Inputs& in, const std::vector<models::ServingRequest>& requests, models::ServingSetup setup,
                 const DrawnPart& part, Progress& progress, Outputs& out, Run& history) {
  const bool chosen = out.racers.empty(), recorded = !in.trace.text.empty();
  const std::int64_t wanted = recorded ? static_cast<std::int64_t>(requests.size()) : in.requests,
                     measured = chosen ? wanted : std::min(wanted, max_raced), edge = recorded ? 0 : edge_of(measured);
  const std::span<const models::ServingRequest> met(requests.data(), static_cast<std::size_t>(measured + 2 * edge));
  const models::ServingWindow window =
      models::window_of(met, static_cast<std::size_t>(edge), static_cast<std::size_t>(measured));
  if (chosen) out.warm_up = edge;
  setup.measure_from_s = window.from_s;
  setup.measure_until_s = window.until_s;
  setup.fraction = chosen ? &progress.fraction : nullptr;
  models::ServingRun run = models::simulate_serving(met, setup);
  if (std::string problem = problem_of(run, setup, in, progress); !problem.empty()) return problem;
  out.racers.push_back(summarize(setup.policy, met, run, setup, window, in));
  // Of a queue that grows only a recording's waits are figures of their own: it has an end.
  if (chosen && (recorded || !out.racers.back().overloaded))
    out.waits = waits_of(met, run, static_cast<std::size_t>(edge), static_cast<std::size_t>(measured));
  if (!progress.facts_alone)
    history.histories.push_back(
        history_of(out.racers.back(), met, std::move(run), window, part, in.service == ServiceKind::llm));
  return {};
}

/// Compares the benchmark that was given, if one was.
models::Status add_benchmark(const Inputs& in, models::ServingSetup setup, Outputs& out) {
  using models::Status;
  if (in.benchmark.text.empty()) return Status::ok();
  if (in.service != ServiceKind::llm)
    return Status::fail(
        "A benchmark is of a language model, and this is a plain queue: choose the service time from "
        "model and chip, or take the benchmark away.");
  setup.policy = in.policy;
  auto compared = compare_benchmark(in, setup);
  if (!compared) return Status::fail(std::move(compared.error));
  out.benchmark = std::move(*compared);
  const ComparedRun& fastest = out.benchmark.runs[out.benchmark.fastest];
  out.benchmark_tokens_per_s = fastest.measured_per_s;
  out.benchmark_simulated_per_s = fastest.simulated_per_s;
  out.benchmark_reached = fastest.reached_percent;
  return Status::ok();
}

}  // namespace

std::vector<ServingPolicy> policies_to_run(const Inputs& in) {
  std::vector<ServingPolicy> out{in.policy};
  for (std::size_t i = 0; i < serving_policy_choices().size(); ++i)
    for (const std::string& id : in.against)
      if (const auto policy = static_cast<ServingPolicy>(i);
          serving_policy_choices()[i].id == id && policy != in.policy && out.size() < max_policies)
        out.push_back(policy);
  return out;
}

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Streams& streams) {
  const auto demand = demand_of(in, streams);
  if (!demand) return {{.reason = demand.error}};
  const std::vector<models::ServingRequest>& requests = *demand->requests;
  Outputs out;
  Run history;
  out.failed = demand->failed;
  models::ServingCost cost;
  models::ServingSetup setup{
      .servers = in.servers,
      .slots = in.slots,
      .timeout_s = in.timeout_s,
      .chunk_tokens = in.chunk_tokens,
      .block_tokens = in.block_tokens,
      .preemption = in.preemption,
      .history_requests = progress.facts_alone ? 0 : in.pictured,
      .cancelled = &progress.cancelled,
  };
  if (in.service == ServiceKind::llm)
    if (models::Status served = serve_model(in, cost, setup, out); !served)
      return {{.reason = std::move(served.error)}};
  if (models::Status compared = add_benchmark(in, setup, out); !compared)
    return {{.reason = std::move(compared.error)}};
  const std::vector<ServingPolicy> policies = policies_to_run(in);
  const bool recorded = !in.trace.text.empty();
  // A rival is measured on fewer requests: what is drawn must be in its run, too.
  const DrawnPart part =
      part_from(requests, recorded ? 0 : edge_of(policies.size() > 1 ? std::min(in.requests, max_raced) : in.requests));
  setup.history_from = part.first;
  for (const ServingPolicy policy : policies) {
    setup.policy = policy;
    out.reason = race(in, requests, setup, part, progress, out, history);
    if (!out.reason.empty()) return {std::move(out)};
  }
  out.chosen = out.racers.front();
  if (out.chosen.requests == 0)
    return {{.reason =
                 "None of the requests that are measured fits into the cache: give it more memory, or ask for shorter "
                 "requests."}};
  out.state = state_of(in, out.chosen);
  compare_with_rival(out);
  consult_theory(in, requests, out);
  if (progress.facts_alone) return {std::move(out)};
  history.published = bound_published_runs(in, out);
  keep_drawn(requests, setup, out, in.pictured, part, history);
  return {std::move(out), std::make_shared<const Run>(std::move(history))};
}

}  // namespace chapters::serving::batching
