#include "chapters/serving/batching/benchmark.h"

#include <algorithm>

#include "chapters/mechanism/catalog.h"
#include "chapters/serving/batching/lab.h"
#include "models/serving/engine/batch_means.h"
#include "widgets/number/number.h"

namespace chapters::serving::batching {
namespace {

using models::BenchmarkRun;
using widgets::format_text;

constexpr std::int64_t max_simulated = 5000;
constexpr std::size_t max_runs = 12;

/// The run's requests as a stream: at the rate at which they were sent, or all at once.
std::vector<models::ServingRequest> requests_of(const Inputs& in, const BenchmarkRun& run) {
  models::RequestStream stream{
      .requests = std::min(run.requests, max_simulated),
      .rate_per_s = run.offered_rate_per_s.value_or(1),
      .seed = static_cast<std::uint64_t>(in.seed),
      .prompt_tokens = run.prompt_tokens,
      .output_tokens = run.output_tokens,
      .length_variation = in.length_variation,
      .longest_tokens = models::longest_of_means(run.prompt_tokens, run.output_tokens),
      .service_times = false,
  };
  std::vector<models::ServingRequest> out = models::make_requests(stream);
  if (!run.offered_rate_per_s)
    for (models::ServingRequest& r : out) r.arrival_s = 0;
  return out;
}

/// What the requests of a simulation took, as a benchmark's client sees it.
struct Seen {
  std::vector<double> ttft_s, tpot_s, latency_s;
};

/// Where so many at a time are allowed, a request is sent when its turn comes, and its clock starts then.
Seen seen_by_client(const std::vector<models::ServingRequest>& requests, const models::ServingRun& run, bool in_turn) {
  Seen out;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const models::ServedRequest& s = run.served[i];
    if (!(s.finish_s >= 0)) continue;
    const double sent_s = in_turn ? s.start_s : requests[i].arrival_s;
    out.ttft_s.push_back(s.first_token_s - sent_s);
    out.latency_s.push_back(s.last_token_s - sent_s);
    if (requests[i].output_tokens > 1)
      out.tpot_s.push_back((s.last_token_s - s.first_token_s) / (requests[i].output_tokens - 1));
  }
  return out;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return values.empty() ? std::nan("") : sum / static_cast<double>(values.size());
}

void add_times(std::int64_t number, std::string_view name, const models::BenchmarkLatency& log,
               std::vector<double> seen, std::vector<ComparedTime>& out) {
  const auto add = [&](std::string_view which, const std::optional<double>& measured_s, double simulated_s) {
    if (measured_s && *measured_s > 0 && std::isfinite(simulated_s))
      out.push_back(
          {number, std::string(name) + " " + std::string(which), *measured_s, simulated_s, simulated_s / *measured_s});
  };
  // Of as many requests as the benchmark had, so that both percentiles are as sure as each other.
  const auto quantile = [&](double share) { return seen.empty() ? std::nan("") : models::take_quantile(seen, share); };
  add("mean", log.mean_s, mean_of(seen));
  add("p50", log.p50_s, quantile(0.5));
  add("p90", log.p90_s, quantile(0.9));
  add("p99", log.p99_s, quantile(0.99));
}

/// Gaps between single tokens, over all answers.
void add_gaps(std::int64_t number, const models::BenchmarkLatency& log, const models::TokenGaps& gaps,
              std::vector<ComparedTime>& out) {
  if (gaps.count() == 0) return;
  const auto add = [&](std::string_view which, const std::optional<double>& measured_s, double simulated_s) {
    if (measured_s && *measured_s > 0)
      out.push_back({number, "Gap " + std::string(which), *measured_s, simulated_s, simulated_s / *measured_s});
  };
  add("mean", log.mean_s, gaps.sum_s() / static_cast<double>(gaps.count()));
  add("p50", log.p50_s, gaps.percentile_s(0.5));
  add("p99", log.p99_s, gaps.percentile_s(0.99));
}

std::string text_of(const BenchmarkRun& run) {
  const auto count = [](double n) { return format_text(n, ""); };
  std::string out = run.engine.empty() ? std::string() : run.engine + ": ";
  out += count(static_cast<double>(run.requests)) + " requests of " + count(run.prompt_tokens) + " and " +
         count(run.output_tokens) + " tokens on average, ";
  if (run.offered_rate_per_s)
    out += count(*run.offered_rate_per_s) + " sent per second";
  else if (!run.most_at_once)
    out += "all sent at once";
  if (run.most_at_once)
    out += std::string(run.offered_rate_per_s ? ", " : "") + count(static_cast<double>(*run.most_at_once)) +
           (run.offered_rate_per_s ? " under way at most" : " under way at a time");
  if (run.failed > 0) out += "; " + count(static_cast<double>(run.failed)) + " more failed";
  if (run.requests > max_simulated) out += "; the first " + count(max_simulated) + " are simulated";
  return out;
}

std::string left_out_of(const models::BenchmarkLog& log) {
  std::string out;
  if (log.left_out > 0)
    out =
        std::to_string(log.left_out) + (log.left_out == 1 ? " run is" : " runs are") + " left out: " + log.first_fault;
  if (log.runs.size() > max_runs)
    out += (out.empty() ? "" : " ") + std::string("The first ") + std::to_string(max_runs) + " of " +
           std::to_string(log.runs.size()) + " runs are compared.";
  return out;
}

/// Requests under way at a time: by Little's law where the log gives the latency, else the limit that it names.
double under_way(const BenchmarkRun& run, const Inputs& in) {
  double out = static_cast<double>(in.slots * in.servers);
  if (run.latency.mean_s)
    out = run.requests_per_s * *run.latency.mean_s;
  else if (run.most_at_once)
    out = static_cast<double>(*run.most_at_once);
  return std::clamp(out, 1.0, static_cast<double>(run.requests));
}

void add_bound(const Inputs& in, const BenchmarkRun& run, ComparedRun& out) {
  const auto chip = find_chip(in.chip);
  const auto model = find_model(in.model);
  if (!chip || !model) return;
  const double servers = static_cast<double>(in.servers);
  const auto bound = models::serving_bound(
      (*model)->architecture,
      {.chip = *chip, .chips = static_cast<double>(in.chips), .format = in.format, .kv = in.kv_format},
      std::max(1.0, out.sequences / servers), run.prompt_tokens, run.output_tokens);
  if (!bound) return;
  out.bound_per_s = bound->tokens_per_s * servers;
  out.reached_percent = 100 * run.output_tokens_per_s / out.bound_per_s;
}

/// One run through the simulation; the sentence says why it cannot be.
std::string compare_run(const Inputs& in, models::ServingSetup setup, const BenchmarkRun& run, ComparedBenchmark& out) {
  ComparedRun one{.what = text_of(run), .requests = run.requests, .measured_per_s = run.output_tokens_per_s};
  one.sequences = under_way(run, in);
  if (run.most_at_once)
    setup.slots = std::clamp<std::int64_t>((*run.most_at_once + in.servers - 1) / in.servers, 1, setup.slots);
  setup.history_requests = 0;
  setup.fraction = nullptr;
  const std::vector<models::ServingRequest> requests = requests_of(in, run);
  const models::ServingRun ran = models::simulate_serving(requests, setup);
  if (ran.stopped) return "The benchmark's requests take more than 20 million scheduler events, or were stopped.";
  if (ran.completed == 0) return "No request of the benchmark fits into the cache: give it more memory.";
  one.simulated_per_s = ran.tokens / ran.end_s;
  const auto number = static_cast<std::int64_t>(out.runs.size()) + 1;
  Seen seen = seen_by_client(requests, ran, run.most_at_once.has_value());
  add_times(number, "TTFT", run.ttft, std::move(seen.ttft_s), out.times);
  add_times(number, "TPOT", run.tpot, std::move(seen.tpot_s), out.times);
  add_gaps(number, run.itl, ran.gaps, out.times);
  add_times(number, "Latency", run.latency, std::move(seen.latency_s), out.times);
  add_bound(in, run, one);
  out.runs.push_back(std::move(one));
  return {};
}

}  // namespace

models::Result<ComparedBenchmark> compare_benchmark(const Inputs& in, const models::ServingSetup& setup) {
  using Outcome = models::Result<ComparedBenchmark>;
  const auto log = models::parse_benchmark_log(in.benchmark.text);
  if (!log) return Outcome::fail(log.error);
  ComparedBenchmark out{.left_out = left_out_of(*log)};
  for (std::size_t i = 0; i < std::min(log->runs.size(), max_runs); ++i) {
    if (std::string why = compare_run(in, setup, log->runs[i], out); !why.empty()) return Outcome::fail(std::move(why));
    if (out.runs.back().measured_per_s > out.runs[out.fastest].measured_per_s) out.fastest = i;
  }
  return Outcome::ok(std::move(out));
}

}  // namespace chapters::serving::batching
