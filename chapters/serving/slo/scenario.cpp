#include <algorithm>
#include <cmath>
#include <utility>

#include "chapters/mechanism/catalog.h"
#include "chapters/serving/slo/lab.h"
#include "models/serving/fleet/plain_fleet.h"
#include "models/serving/prefix/prefix_cache_file.h"
#include "widgets/number/number.h"

/// What runs: the requests at a load, the fleet that meets them, and the runs that are kept.
namespace chapters::serving::slo {
namespace {

using models::ServingPolicy;
using widgets::format_text;

constexpr std::int64_t slo_block_tokens = 16;

/// All requests of a run of which so many are measured: a third more before them, while the fleet fills, and a tenth
/// behind them.
std::int64_t slo_all_of(std::int64_t measured) { return measured + measured / 3 + measured / 10; }

bool scales(const Inputs& in) { return in.service == ServiceKind::llm && in.scale_on != models::ScaleSignal::none; }
/// Replicas that may work at once.
std::int64_t replicas_at_most(const Inputs& in) {
  return scales(in) ? std::max(in.most_replicas, in.replicas) : in.replicas;
}

/// Requests that are measured in a run: so many for each replica that is there at the start, up to a limit for all.
std::int64_t measured_of(const Inputs& in) {
  return std::max(in.requests, std::min(in.requests * in.replicas, max_measured));
}

/// Requests of a run at a load. A load far above the capacity gets more, so that its time is not shorter than that of
/// the ladder's highest, and waves so many that three whole ones come; each within a multiple.
std::int64_t requests_at(const Inputs& in, double capacity_per_s, double rate_per_s) {
  const std::int64_t all = slo_all_of(measured_of(in));
  const double above = capacity_per_s > 0 ? rate_per_s / (1.3 * capacity_per_s) : 1;
  const double longer = static_cast<double>(all) * std::clamp(above, 1.0, 8.0);
  if (in.arrivals != Arrivals::waves) return static_cast<std::int64_t>(std::min(longer, 1e5));
  const double waves = std::ceil(3.2 * in.wave_s * rate_per_s);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(waves, 1e9)), all,
                                  std::min(3 * all, slo_all_of(max_measured)));
}

models::RequestStream slo_stream(const Inputs& in, double capacity_per_s, double rate_per_s) {
  return {
      .requests = requests_at(in, capacity_per_s, rate_per_s),
      .rate_per_s = rate_per_s,
      .seed = static_cast<std::uint64_t>(in.seed),
      .bursty = in.arrivals == Arrivals::bursty,
      .burst = in.burst,
      .burst_s = in.burst_s,
      .gap_cv = in.arrivals == Arrivals::gamma ? in.gap_cv : 1,
      .wave = in.arrivals == Arrivals::waves ? in.wave : 0,
      .wave_s = in.wave_s,
      .service = service_time_of(in.service),
      .service_s = in.service_time_s,
      .fixed_s = in.fixed_s,
      .per_prompt_token_s = in.per_prompt_token_s,
      .per_output_token_s = in.per_output_token_s,
      .prompt_tokens = in.prompt_tokens,
      .output_tokens = in.output_tokens,
      .length_variation = in.length_variation,
      .longest_tokens = models::longest_of_means(in.prompt_tokens, in.output_tokens),
      .lengths = has_lengths(in.service),
      .service_times = in.service != ServiceKind::llm,
  };
}

}  // namespace

double mean_service_s(const Inputs& in, const Scenario& scenario) {
  const models::RequestStream stream = slo_stream(in, 0, in.arrival_rate);
  if (in.service != ServiceKind::per_token || scenario.recorded.empty()) return models::service_moments(stream).mean_s;
  auto requests = scenario.recorded;
  models::draw_service_times(requests, stream);
  double sum_s = 0;
  for (const models::ServingRequest& r : requests) sum_s += r.service_s;
  return sum_s / static_cast<double>(requests.size());
}

namespace {

/// Times are stretched so that the run's own mean is the load: a short run of bursts may otherwise miss it by a fifth.
void stretch_to(std::vector<models::ServingRequest>& requests, double rate_per_s) {
  const double last_s = requests.empty() ? 0 : requests.back().arrival_s;
  if (!(last_s > 0)) return;
  const double factor = static_cast<double>(requests.size()) / rate_per_s / last_s;
  for (models::ServingRequest& r : requests) r.arrival_s = std::round(r.arrival_s * factor * 1e6) / 1e6;
}

/// What is asked at a load, by arrival, and what prompts begin with.
struct SloDemand {
  std::vector<models::ServingRequest> requests;
  std::vector<models::PromptPrefix> prefixes;
};
SloDemand demand_at(const Inputs& in, const Scenario& scenario, double rate_per_s) {
  SloDemand out;
  const models::RequestStream stream = slo_stream(in, scenario.capacity_per_s, rate_per_s);
  if (scenario.recorded.empty()) {
    out.requests = models::make_requests(stream);
    if (!(stream.wave > 0)) stretch_to(out.requests, rate_per_s);
  } else {
    out.requests = scenario.recorded;
    for (models::ServingRequest& r : out.requests) r.arrival_s *= scenario.recorded_per_s / rate_per_s;
    if (in.service != ServiceKind::llm) models::draw_service_times(out.requests, stream);
  }
  if (in.service == ServiceKind::llm)
    out.prefixes = models::draw_sessions(
        out.requests, {.turns = in.turns, .open = in.open_sessions, .seed = static_cast<std::uint64_t>(in.seed)});
  return out;
}

models::ServingSetup replica_of(const Inputs& in, const Scenario& scenario, const Progress& progress) {
  return {
      .policy = in.policy,
      .cost = in.service == ServiceKind::llm ? &scenario.cost : nullptr,
      .servers = in.service == ServiceKind::llm ? in.replicas : in.replicas * in.servers,
      .slots = in.slots,
      .chunk_tokens = in.chunk_tokens,
      .block_tokens = slo_block_tokens,
      .blocks = std::max<std::int64_t>(scenario.blocks, 1),
      .drop_after_s = in.drop_after_s > 0 ? in.drop_after_s : std::numeric_limits<double>::infinity(),
      .named = scenario.named.names.empty() ? nullptr : &scenario.named,
      .cancelled = &progress.cancelled,
  };
}

models::FleetScaling scaling_of(const Inputs& in) {
  return {
      .signal = in.scale_on,
      .target = in.scale_on == models::ScaleSignal::queue ? in.target_queue : in.target_percent / 100,
      .least = std::min(in.replicas, in.most_replicas),
      .most = std::max(in.replicas, in.most_replicas),
      .interval_s = in.look_s,
      .cold_start_s = in.cold_start_s,
      .hold_s = in.hold_s,
  };
}

/// One run of what is set, or of a fleet that is always there and turns nobody away.
models::FleetRun simulate(const Inputs& in, const SloDemand& demand, const models::ServingSetup& replica,
                          double sample_s, bool saturated) {
  const bool plain = in.service != ServiceKind::llm;
  if (plain && !forms_batches(in.policy) && (in.replicas > 1 || in.longest_queue > 0 || in.drop_after_s > 0))
    return models::simulate_plain_fleet(
        demand.requests, {
                             .replicas = in.replicas,
                             .servers = in.servers,
                             .router = in.router,
                             .seed = static_cast<std::uint64_t>(in.seed),
                             .longest_queue = saturated ? 0 : in.longest_queue,
                             .drop_after_s = saturated ? std::numeric_limits<double>::infinity() : replica.drop_after_s,
                             .measure_from_s = replica.measure_from_s,
                             .measure_until_s = replica.measure_until_s,
                         });
  if (plain || !joins_batches(in.policy)) {
    models::FleetRun out;
    static_cast<models::ServingRun&>(out) = models::simulate_serving(demand.requests, replica);
    return out;
  }
  models::FleetSetup setup{
      .replica = replica,
      .router = in.router,
      .seed = static_cast<std::uint64_t>(in.seed),
      .longest_queue = saturated ? 0 : in.longest_queue,
      .sample_s = sample_s,
  };
  setup.replica.prefixes = demand.prefixes;
  if (saturated) {
    setup.replica.servers = replicas_at_most(in);
    setup.replica.drop_after_s = std::numeric_limits<double>::infinity();
  } else if (scales(in)) {
    setup.scaling = scaling_of(in);
  }
  return models::simulate_fleet(demand.requests, setup);
}

/// What a fleet that always has work gets done, requests a second.
double capacity_of(const Inputs& in, const Scenario& scenario, const Progress& progress) {
  if (in.service != ServiceKind::llm && !forms_batches(in.policy))
    return static_cast<double>(in.replicas * in.servers) / mean_service_s(in, scenario);
  SloDemand demand = demand_at(in, scenario, 1);
  for (models::ServingRequest& r : demand.requests) r.arrival_s = 0;
  const models::FleetRun run = simulate(in, demand, replica_of(in, scenario, progress), 0, true);
  if (run.stopped) return 0;
  std::vector<double> leave_s;
  for (const models::ServedRequest& s : run.served)
    if (s.finish_s >= 0) leave_s.push_back(s.finish_s);
  return models::saturated_rate(std::move(leave_s));
}

std::string price_steps(const Inputs& in, Scenario& out) {
  const auto chip = find_chip(in.chip);
  const auto model = find_model(in.model);
  if (!chip || !model) return !chip ? chip.error : model.error;
  const models::ServingMachine machine{
      .chip = *chip,
      .chips = static_cast<double>(in.chips),
      .format = in.format,
      .kv = in.kv_format,
  };
  const models::Architecture& architecture = (*model)->architecture;
  if (const auto memory = models::serving_memory(architecture, machine); !memory.holds_weights())
    return "The weights take " + format_text(memory.weights_bytes, "B", 4) + " and " + std::to_string(in.chips) +
           "\xC3\x97 " + (*chip)->short_name + " offer " + format_text(memory.offered_bytes, "B", 4) +
           ": take more chips, a narrower format or a smaller model.";
  auto cost = models::serving_cost(architecture, machine);
  if (!cost) return cost.error;
  out.cost = std::move(*cost);
  out.blocks = static_cast<std::int64_t>(out.cost.free_bytes /
                                         (out.cost.kv_bytes_per_token * static_cast<double>(slo_block_tokens)));
  return {};
}

/// Names of the blocks of the recorded prompts, where the file has them for each request, in order.
models::NamedPrompts names_in(const std::string& text, const std::vector<models::ServingRequest>& recorded) {
  constexpr std::int64_t mooncake_block_tokens = 512;
  if (text.find("hash_ids") == std::string::npos) return {};
  const auto read = models::parse_prompt_file(text, mooncake_block_tokens, max_rows);
  const auto same = [](const models::PromptRequest& a, const models::ServingRequest& b) {
    return a.tokens == b.prompt_tokens;
  };
  if (!read ||
      !std::equal(read->trace.requests.begin(), read->trace.requests.end(), recorded.begin(), recorded.end(), same))
    return {};
  return models::named_prompts(read->trace);
}

std::string read_recorded(const Inputs& in, Scenario& out) {
  if (in.trace.text.empty()) return {};
  auto read = models::parse_requests(in.trace.text, max_rows);
  if (!read) return read.error;
  out.recorded = std::move(read->requests);
  out.failed = read->failed;
  out.named = names_in(in.trace.text, out.recorded);
  const double span_s = out.recorded.empty() ? 0 : out.recorded.back().arrival_s;
  if (!(span_s > 0)) return "All requests of the file come at once: a load curve takes times that differ.";
  out.recorded_per_s = static_cast<double>(out.recorded.size() - 1) / span_s;
  return {};
}

/// What does not go together; empty where all does.
std::string clash_of(const Inputs& in) {
  if (in.service != ServiceKind::llm) {
    if (forms_batches(in.policy) && (in.replicas > 1 || in.longest_queue > 0 || in.drop_after_s > 0))
      return "Batches of a plain queue are formed on one replica here, and nobody is sent away: take one replica, or "
             "serve one by one.";
    return {};
  }
  if (joins_batches(in.policy)) return {};
  if (scales(in) || in.longest_queue > 0 || in.drop_after_s > 0 || in.turns > 1 ||
      (in.replicas > 1 && in.router != models::FleetRouter::round_robin))
    return "One by one, static and dynamic batching take requests in turn here: routers, scaling, shedding and turns "
           "take a policy that joins at every step.";
  return {};
}

}  // namespace

Inputs scenario_key(const Inputs& in) {
  const Inputs fresh;
  Inputs key = in;
  key.ttft_limit_s = fresh.ttft_limit_s;
  key.tpot_limit_s = fresh.tpot_limit_s;
  key.share = fresh.share;
  key.arrival_rate = fresh.arrival_rate;
  return key;
}

std::shared_ptr<const Scenario> make_scenario(const Inputs& in, Progress& progress) {
  auto out = std::make_shared<Scenario>();
  out->refused = clash_of(in);
  if (out->refused.empty()) out->refused = read_recorded(in, *out);
  if (out->refused.empty() && in.service == ServiceKind::llm) out->refused = price_steps(in, *out);
  if (!out->refused.empty()) return out;
  out->capacity_per_s = capacity_of(in, *out, progress);
  if (progress.cancelled) return nullptr;
  // Turns that all come at once find nothing in a cache: ask again with turns after each other.
  if (in.service == ServiceKind::llm && in.turns > 1 && out->capacity_per_s > 0)
    if (const auto run = run_at(in, *out, 1.4 * out->capacity_per_s, progress))
      out->capacity_per_s = std::max(out->capacity_per_s, run->figures.throughput_per_s);
  out->ladder = models::load_ladder(out->capacity_per_s);
  if (out->ladder.rungs.empty())
    out->refused =
        "None of these requests fits into the cache, or a run takes too many steps: ask for shorter requests, or for "
        "fewer of them.";
  return out;
}

std::shared_ptr<const models::LoadRun> run_at(const Inputs& in, const Scenario& scenario, double rate_per_s,
                                              Progress& progress) {
  return scenario.runs.get(rate_per_s, [&](double rate) -> std::shared_ptr<const models::LoadRun> {
    const SloDemand demand = demand_at(in, scenario, rate);
    const bool waves = in.arrivals == Arrivals::waves && scenario.recorded.empty();
    const models::ServingWindow window = models::load_window(demand.requests, waves ? in.wave_s : 0);
    models::ServingSetup replica = replica_of(in, scenario, progress);
    replica.measure_from_s = window.from_s;
    replica.measure_until_s = window.until_s;
    models::FleetRun run = simulate(in, demand, replica, demand.requests.back().arrival_s / 300, false);
    if (run.stopped) return nullptr;
    replica.servers = in.service == ServiceKind::llm ? replicas_at_most(in) : in.replicas * in.servers;
    const double lanes = in.service == ServiceKind::llm ? 1 : static_cast<double>(in.servers);
    return std::make_shared<const models::LoadRun>(
        models::condense_run(demand.requests, std::move(run), replica, window, rate, lanes));
  });
}

}  // namespace chapters::serving::slo
