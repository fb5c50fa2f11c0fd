#include <algorithm>

#include "chapters/mechanism/catalog.h"
#include "chapters/serving/batching/lab.h"
#include "models/serving/queueing.h"
#include "widgets/number/number.h"

namespace chapters::serving::batching {
namespace {

using models::ServingPolicy;
using widgets::format_text;

constexpr std::size_t max_policies = 4, max_in_file = 1'000'000;

models::RequestStream stream_of(const Inputs& in) {
  return {
      .requests = in.requests,
      .rate_per_s = in.arrival_rate,
      .seed = static_cast<std::uint64_t>(in.seed),
      .bursty = in.arrivals == Arrivals::bursty,
      .burst = in.burst,
      .burst_s = 10 / in.arrival_rate,
      .service =
          in.service == Service::deterministic ? models::ServiceTime::deterministic : models::ServiceTime::exponential,
      .service_s = in.service_time_s,
      .prompt_tokens = in.prompt_tokens,
      .output_tokens = in.output_tokens,
      .length_variation = in.length_variation,
      .lengths = in.service == Service::llm,
  };
}

models::Result<std::vector<models::ServingRequest>> requests_of(const Inputs& in) {
  using Outcome = models::Result<std::vector<models::ServingRequest>>;
  if (in.trace.text.empty()) return Outcome::ok(models::make_requests(stream_of(in)));
  auto read = models::parse_requests(in.trace.text, max_in_file);
  if (read) models::draw_service_times(*read, stream_of(in));
  return read;
}

models::Result<models::ServingCost> cost_of(const Inputs& in) {
  const auto chip = find_chip(in.chip);
  const auto model = find_model(in.model);
  if (!chip || !model) return models::Result<models::ServingCost>::fail(!chip ? chip.error : model.error);
  return models::serving_cost((*model)->architecture,
                              {.chip = *chip, .chips = static_cast<double>(in.chips), .format = in.format});
}

/// The chosen policy first.
std::vector<ServingPolicy> policies_to_run(const Inputs& in) {
  std::vector<ServingPolicy> out{in.policy};
  for (std::size_t i = 0; i < policy_choices().size(); ++i)
    for (const std::string& id : in.against)
      if (const auto policy = static_cast<ServingPolicy>(i);
          policy_choices()[i].id == id && policy != in.policy && out.size() < max_policies)
        out.push_back(policy);
  return out;
}

PolicyRun summarize(ServingPolicy policy, std::span<const models::ServingRequest> requests,
                    const models::ServingRun& run, const models::ServingSetup& setup, const Inputs& in) {
  const auto figures = models::summarize_serving(requests, run, in.servers, in.ttft_limit_s, in.tpot_limit_s);
  return {
      .policy = policy,
      .name = policy_choices()[static_cast<std::size_t>(policy)].label,
      .requests = static_cast<std::int64_t>(requests.size()),
      .figures = figures,
      .counts = run,
      .utilization_percent = 100 * figures.utilization,
      .wasted_slots_percent = 100 * figures.wasted_slots,
      .kv_peak_percent =
          setup.cost ? 100 * static_cast<double>(run.peak_blocks) / static_cast<double>(setup.blocks) : 0,
  };
}

/// Why the figures of a run mean nothing; empty when they do.
std::string problem_of(const models::ServingRun& run, const models::ServingSetup& setup, const Inputs& in,
                       const Progress& progress) {
  if (run.stopped && progress.cancelled) return "The run was stopped before its end.";
  if (run.stopped)
    return in.trace.text.empty()
               ? "The run takes more than 20 million scheduler events: ask for fewer requests, or for longer chunks."
               : "The run takes more than 20 million scheduler events: cut the file of arrivals, or take longer "
                 "chunks.";
  if (run.completed == 0)
    return "No request fits into the cache of " +
           format_text(static_cast<double>(setup.blocks * in.block_tokens), "tokens") +
           ": give the cache more memory, or ask for shorter requests.";
  return {};
}

/// What the formulas say of this queue: which one speaks of it, or why none does.
void consult_theory(const Inputs& in, Outputs& out) {
  if (in.service == Service::llm) {
    out.theory = "none: the service time depends on who shares the batch";
    return;
  }
  out.offered_load = 100 * in.arrival_rate * in.service_time_s / static_cast<double>(in.servers);
  if (in.policy == ServingPolicy::fixed || in.policy == ServingPolicy::dynamic) {
    out.theory = "none for batches";
  } else if (!in.trace.text.empty()) {
    out.theory = "none for arrivals of a file";
  } else if (in.arrivals != Arrivals::poisson) {
    out.theory = "none for bursts";
  } else if (out.offered_load >= 100) {
    out.theory =
        "no steady state: at " + format_text(out.offered_load, "%") + " of capacity the line grows without end";
  } else if (in.service == Service::exponential) {
    out.theory_wait_s = models::mmc_wait_s(in.servers, in.arrival_rate, in.service_time_s).value_or(0);
    out.theory = in.servers == 1 ? "M/M/1" : "M/M/" + std::to_string(in.servers) + ", Erlang C";
  } else if (in.servers == 1) {
    out.theory_wait_s = models::mg1_wait_s(in.arrival_rate, in.service_time_s, 0).value_or(0);
    out.theory = "M/D/1, Pollaczek-Khinchin";
  } else {
    out.theory = "none in closed form for several servers of fixed time";
  }
  if (out.theory_wait_s > 0) out.theory_latency_s = out.theory_wait_s + in.service_time_s;
}

Outputs infeasible(std::string sentence) {
  Outputs out;
  out.reason = std::move(sentence);
  return out;
}

}  // namespace

Outputs compute(const Inputs& in, Progress& progress) {
  const auto requests = requests_of(in);
  if (!requests) return infeasible(requests.error);
  Outputs out;
  models::ServingCost cost;
  models::ServingSetup setup{
      .servers = in.servers,
      .slots = in.slots,
      .timeout_s = in.timeout_s,
      .chunk_tokens = in.chunk_tokens,
      .block_tokens = in.block_tokens,
      .preemption = in.preemption,
      .history_requests = max_pictured,
      .cancelled = &progress.cancelled,
  };
  if (in.service == Service::llm) {
    auto made = cost_of(in);
    if (!made) return infeasible(made.error);
    cost = std::move(*made);
    out.kv_pool_bytes = in.kv_share / 100 * cost.free_bytes;
    out.kv_blocks =
        static_cast<std::int64_t>(out.kv_pool_bytes / (cost.kv_bytes_per_token * static_cast<double>(in.block_tokens)));
    setup.cost = &cost;
    setup.blocks = out.kv_blocks;
  }
  const std::size_t pictured = std::min<std::size_t>(requests->size(), max_pictured);
  for (const ServingPolicy policy : policies_to_run(in)) {
    const bool chosen = out.racers.empty();
    const std::size_t count = chosen ? requests->size() : std::min<std::size_t>(requests->size(), max_raced);
    const std::span<const models::ServingRequest> met(requests->data(), count);
    setup.policy = policy;
    setup.fraction = chosen ? &progress.fraction : nullptr;
    models::ServingRun run = models::simulate_serving(met, setup);
    if (std::string problem = problem_of(run, setup, in, progress); !problem.empty()) {
      out.reason = std::move(problem);
      return out;
    }
    out.racers.push_back(summarize(policy, met, run, setup, in));
    run.served = {run.served.begin(), run.served.begin() + static_cast<std::ptrdiff_t>(pictured)};
    out.histories.push_back(std::move(run));
  }
  out.chosen = out.racers.front();
  if (out.racers.size() > 1 && out.racers[1].requests == out.chosen.requests && out.chosen.figures.p50_latency_s > 0)
    out.speedup_p50 = out.racers[1].figures.p50_latency_s / out.chosen.figures.p50_latency_s;
  consult_theory(in, out);
  out.first_requests.assign(requests->begin(), requests->begin() + static_cast<std::ptrdiff_t>(pictured));
  return out;
}

}  // namespace chapters::serving::batching
