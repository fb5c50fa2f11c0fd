#include <algorithm>
#include <cmath>

#include "chapters/mechanism/catalog.h"
#include "chapters/serving/batching/lab.h"
#include "models/serving/queueing.h"
#include "widgets/number/number.h"

namespace chapters::serving::batching {
namespace {

using models::ServingPolicy;
using widgets::format_text;

constexpr std::int64_t most_pictured = 120, most_raced = 5000;
constexpr std::size_t most_racers = 4, most_in_file = 1'000'000;

models::RequestStream stream_of(const Inputs& in) {
  models::RequestStream s{
      .requests = in.requests, .rate_per_s = in.arrival_rate, .seed = static_cast<std::uint64_t>(in.seed)};
  s.bursty = in.arrivals == Arrivals::bursty;
  s.burst = in.burst;
  s.burst_s = 10 / in.arrival_rate;
  s.service =
      in.service == Service::deterministic ? models::ServiceTime::deterministic : models::ServiceTime::exponential;
  s.service_s = in.service_time_s;
  s.prompt_tokens = in.prompt_tokens, s.output_tokens = in.output_tokens, s.length_variation = in.length_variation;
  s.lengths = in.service == Service::llm;
  return s;
}

models::Result<std::vector<models::ServingRequest>> requests_of(const Inputs& in) {
  using Outcome = models::Result<std::vector<models::ServingRequest>>;
  if (in.trace.text.empty()) return Outcome::ok(models::make_requests(stream_of(in)));
  auto read = models::parse_requests(in.trace.text, most_in_file);
  if (read) models::draw_service_times(*read, stream_of(in));
  return read;
}

/// Fills blocks and pool; a sentence when the model cannot be served.
std::string fit_model(const Inputs& in, models::ServingCost& cost, models::ServingSetup& setup, Outputs& out) {
  const models::Chip* chip = catalog().chip(in.chip);
  const models::LanguageModel* model = catalog().model(in.model);
  if (!chip || !model) return "Choose a model and a chip.";
  auto made = models::serving_cost(model->architecture,
                                   {.chip = chip, .chips = static_cast<double>(in.chips), .format = in.format});
  if (!made) return made.error;
  cost = std::move(*made);
  setup.cost = &cost;
  out.kv_pool_bytes = in.kv_share / 100 * cost.free_bytes;
  setup.blocks =
      static_cast<std::int64_t>(out.kv_pool_bytes / (cost.kv_bytes_per_token * static_cast<double>(in.block_tokens)));
  out.kv_blocks = setup.blocks;
  return {};
}

/// Policies in the order of the race: the chosen one first.
std::vector<ServingPolicy> field_of(const Inputs& in) {
  std::vector<ServingPolicy> out{in.policy};
  for (std::size_t i = 0; i < policy_choices().size(); ++i)
    for (const std::string& id : in.against)
      if (const auto policy = static_cast<ServingPolicy>(i);
          policy_choices()[i].id == id && policy != in.policy && out.size() < most_racers)
        out.push_back(policy);
  return out;
}

void take_figures(const models::ServingSummary& s, const models::ServingRun& run, const models::ServingSetup& setup,
                  Racer& r) {
  r.mean_wait_s = s.mean_wait_s, r.mean_latency_s = s.mean_latency_s, r.p50_latency_s = s.p50_latency_s,
  r.p99_latency_s = s.p99_latency_s;
  r.ttft_p99_s = s.ttft_p99_s, r.tpot_p99_s = s.tpot_p99_s, r.throughput_per_s = s.throughput_per_s,
  r.goodput_per_s = s.goodput_per_s;
  r.utilization = 100 * s.utilization, r.wasted_slots = 100 * s.wasted_slots;
  r.kv_peak = setup.cost ? 100 * static_cast<double>(run.peak_blocks) / static_cast<double>(setup.blocks) : 0;
  r.preemptions = run.preemptions;
  r.gap_p99_s = s.itl_p99_s;
  const bool tokens = setup.cost != nullptr;
  r.headlines = {
      {{"p50", format_text(s.p50_latency_s, "s")},
       {"p99", format_text(s.p99_latency_s, "s")},
       {tokens ? "TTFT p99" : "wait", format_text(tokens ? s.ttft_p99_s : s.mean_wait_s, "s")},
       {tokens ? "gap p99" : "busy", tokens ? format_text(s.itl_p99_s, "s") : format_text(r.utilization, "%")},
       {"goodput", format_text(s.goodput_per_s, "") + "/s"},
       {"served", format_text(s.throughput_per_s, "") + "/s"}}};
}

void take_outputs(const models::ServingSummary& s, const models::ServingRun& run, const Racer& r, Outputs& out) {
  out.mean_wait_s = s.mean_wait_s, out.mean_latency_s = s.mean_latency_s;
  out.p50_latency_s = s.p50_latency_s, out.p90_latency_s = s.p90_latency_s, out.p99_latency_s = s.p99_latency_s;
  out.throughput_per_s = s.throughput_per_s, out.tokens_per_s = s.tokens_per_s, out.goodput_per_s = s.goodput_per_s;
  out.ttft_p50_s = s.ttft_p50_s, out.ttft_p99_s = s.ttft_p99_s, out.tpot_p50_s = s.tpot_p50_s,
  out.tpot_p99_s = s.tpot_p99_s;
  out.gap_p99_s = s.itl_p99_s, out.gap_longest_s = s.itl_longest_s;
  out.utilization = r.utilization, out.wasted_slots = r.wasted_slots, out.kv_peak = r.kv_peak;
  out.mean_in_system = s.mean_in_system, out.mean_waiting = s.mean_waiting, out.little_error = s.little_error;
  out.makespan_s = run.end_s;
  out.preemptions = run.preemptions, out.completed = run.completed, out.refused = run.refused, out.events = run.events;
}

/// Keeps what lasted: of several points at one time the last. Somebody who is served on arrival was never in the queue.
void settle(std::vector<models::ServingPoint>& points, double end_s) {
  std::size_t kept = 0;
  for (const models::ServingPoint& p : points) {
    if (p.time_s > end_s) break;
    if (kept > 0 && points[kept - 1].time_s == p.time_s) --kept;
    points[kept++] = p;
  }
  points.resize(kept);
}

void take_picture(std::span<const models::ServingRequest> requests, models::ServingRun& run, Racer& r, Outputs& out) {
  const std::size_t shown = std::min<std::size_t>(requests.size(), most_pictured);
  double end_s = 0;
  std::vector<std::pair<double, double>> done;
  for (std::size_t i = 0; i < shown; ++i)
    if (const double finish_s = run.served[i].finish_s; finish_s >= 0) {
      done.emplace_back(finish_s, finish_s - requests[i].arrival_s);
      end_s = std::max(end_s, finish_s);
    }
  std::sort(done.begin(), done.end());
  for (const auto& [at_s, took_s] : done) {
    r.done_s.push_back(at_s);
    r.latency_s.push_back(took_s);
    out.slowest_shown_s = std::max(out.slowest_shown_s, took_s);
  }
  r.served.assign(run.served.begin(), run.served.begin() + static_cast<std::ptrdiff_t>(shown));
  for (const models::SlotSpan& s : run.spans) r.lanes = std::max(r.lanes, s.lane + 1);
  r.spans = std::move(run.spans);
  settle(run.waiting, end_s);
  settle(run.blocks, end_s);
  r.waiting = std::move(run.waiting);
  r.blocks = std::move(run.blocks);
  for (const models::ServingPoint& p : r.waiting) r.peak_waiting = std::max(r.peak_waiting, p.value);
  for (const models::ServingPoint& p : r.blocks) out.peak_blocks = std::max(out.peak_blocks, p.value);
  out.peak_waiting = std::max(out.peak_waiting, r.peak_waiting);
  out.shown_s = std::max(out.shown_s, end_s);
}

void take_theory(const Inputs& in, Outputs& out) {
  if (in.service == Service::llm) {
    out.theory = "none: the service time depends on who shares the batch";
    return;
  }
  out.offered_load = 100 * in.arrival_rate * in.service_time_s / static_cast<double>(in.servers);
  if (in.policy == ServingPolicy::fixed || in.policy == ServingPolicy::dynamic)
    out.theory = "none for batches";
  else if (!in.trace.text.empty())
    out.theory = "none for arrivals of a file";
  else if (in.arrivals != Arrivals::poisson)
    out.theory = "none for bursts";
  else if (out.offered_load >= 100)
    out.theory =
        "no steady state: at " + format_text(out.offered_load, "%") + " of capacity the line grows without end";
  else if (in.service == Service::exponential) {
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

std::string caption_of(const Inputs& in, const Outputs& out) {
  std::string what = format_text(static_cast<double>(out.racers.front().requests), "") + " requests";
  if (!in.trace.text.empty()) what += " of " + in.trace.path.substr(in.trace.path.find_last_of("/\\") + 1);
  if (out.dots.size() < static_cast<std::size_t>(out.racers.front().requests))
    what += ", the first " + format_text(static_cast<double>(out.dots.size()), "") + " shown";
  if (in.service != Service::llm)
    return what + " through a plain queue of " +
           (in.servers == 1 ? std::string("one server")
                            : format_text(static_cast<double>(in.servers), "") + " servers") +
           "; formula: " + out.theory;
  const auto* model = catalog().model(in.model);
  const auto* chip = catalog().chip(in.chip);
  what += ", " + model->name + " on " + std::to_string(in.chips) + " x " + chip->short_name;
  if (in.servers > 1) what += ", the first of " + std::to_string(in.servers) + " replicas shown";
  return what;
}

}  // namespace

Outputs compute(const Inputs& in, Progress& progress) {
  Outputs out;
  const auto read = requests_of(in);
  if (!read) return out.reason = read.error, out;
  const std::vector<models::ServingRequest>& requests = *read;
  models::ServingCost cost;
  models::ServingSetup setup{
      .servers = in.servers,
      .slots = in.slots,
      .timeout_s = in.timeout_s,
      .chunk_tokens = in.chunk_tokens,
      .block_tokens = in.block_tokens,
      .preemption = in.preemption,
      .history_requests = most_pictured,
      .cancelled = &progress.cancelled,
  };
  if (in.service == Service::llm)
    if (out.reason = fit_model(in, cost, setup, out); !out.reason.empty()) return out;
  out.shown_s = out.slowest_shown_s = 1e-9;
  for (const ServingPolicy policy : field_of(in)) {
    const bool chosen = out.racers.empty();
    const std::size_t n = chosen ? requests.size() : std::min<std::size_t>(requests.size(), most_raced);
    const std::span<const models::ServingRequest> entries(requests.data(), n);
    setup.policy = policy;
    setup.fraction = chosen ? &progress.fraction : nullptr;
    models::ServingRun run = models::simulate_serving(entries, setup);
    if (run.stopped)
      return out.reason = progress.cancelled      ? "The run was stopped before its end."
                          : in.trace.text.empty() ? "The run takes more than 20 million scheduler events: ask for "
                                                    "fewer requests, or for longer chunks."
                                                  : "The run takes more than 20 million scheduler events: cut the file "
                                                    "of arrivals, or take longer chunks.",
             out;
    if (run.completed == 0)
      return out.reason = "No request fits into the cache of " +
                          format_text(static_cast<double>(setup.blocks * in.block_tokens), "tokens") +
                          ": give the cache more memory, or ask for shorter requests.",
             out;
    const auto summary = models::summarize_serving(entries, run, in.servers, in.ttft_limit_s, in.tpot_limit_s);
    Racer r;
    r.policy = policy;
    r.name = policy_choices()[static_cast<std::size_t>(policy)].label;
    r.requests = static_cast<std::int64_t>(n);
    take_figures(summary, run, setup, r);
    if (chosen) take_outputs(summary, run, r, out);
    take_picture(entries, run, r, out);
    out.racers.push_back(std::move(r));
  }
  if (out.racers.size() > 1 && out.racers[1].requests == out.racers[0].requests && out.p50_latency_s > 0)
    out.speedup_p50 = out.racers[1].p50_latency_s / out.p50_latency_s;
  take_theory(in, out);
  for (std::size_t i = 0; i < std::min<std::size_t>(requests.size(), most_pictured); ++i) {
    const double size = in.service == Service::llm ? std::log1p(requests[i].output_tokens) / std::log1p(1000.0)
                                                   : requests[i].service_s / (3 * in.service_time_s);
    out.dots.push_back({requests[i].arrival_s, static_cast<float>(std::clamp(size, 0.0, 1.0)),
                        requests[i].prompt_tokens, requests[i].output_tokens});
  }
  out.caption = caption_of(in, out);
  return out;
}

}  // namespace chapters::serving::batching
