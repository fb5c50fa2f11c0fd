#include "models/serving/fleet/capacity_judge.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "models/base/counter_random.h"
#include "models/serving/engine/serving_summary.h"

namespace models {
namespace {

constexpr std::int64_t judged_block_tokens = 16;
constexpr std::int64_t min_judged = 1100, max_judged = 20'000;

class JudgeDraws {
 public:
  explicit JudgeDraws(std::uint64_t seed) : seed_(seed * 0x9E3779B97F4A7C15u) {}
  double unit() { return (static_cast<double>(counter_hash(seed_, drawn_++) >> 11) + 0.5) * 0x1p-53; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(unit()));
    return radius * std::cos(2 * std::numbers::pi * unit());
  }
  /// The sum of `count` exponential times with mean 1. From 32 on its cube root is taken to be normal (Wilson and
  /// Hilferty 1931), which is within 0.1 % there.
  double erlang(std::int64_t count) {
    if (count >= 32) {
      const double n = static_cast<double>(count), root = 1 - 1 / (9 * n) + normal() / (3 * std::sqrt(n));
      return n * root * root * root;
    }
    double product = 1, sum = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      product *= unit();
      if (product < 1e-200) {
        sum -= std::log(product);
        product = 1;
      }
    }
    return sum - std::log(product);
  }

 private:
  std::uint64_t seed_, drawn_ = 0;
};

/// The requests of one replica of many: every replicas-th of a Poisson stream.
std::vector<ServingRequest> trial_drawn_requests(const CapacityDemand& d, const FleetTrial& trial, std::int64_t count) {
  std::vector<ServingRequest> out = make_requests({.requests = count,
                                                   .rate_per_s = d.rate_per_s,
                                                   .seed = trial.seed,
                                                   .prompt_tokens = d.prompt_mean,
                                                   .output_tokens = d.output_mean,
                                                   .length_variation = trial.variation,
                                                   .longest_tokens = 1 << 20,
                                                   .service_times = false});
  JudgeDraws draws(trial.seed);
  double now_s = 0;
  for (ServingRequest& r : out) {
    now_s += draws.erlang(trial.replicas) / d.rate_per_s;
    r.arrival_s = std::round(now_s * 1e6) / 1e6;  // the clock of the engine
  }
  return out;
}

std::vector<ServingRequest> trial_recorded_requests(const FleetTrial& trial) {
  std::vector<ServingRequest> out;
  double tokens = 0;
  for (const RequestArrival& a : trial.recorded) {
    if (a.output_tokens < 1) continue;
    tokens += static_cast<double>(a.output_tokens);
    if (tokens > trial.most_tokens && !out.empty()) break;
    out.push_back({std::round(static_cast<double>(a.at_us) / trial.speed) / 1e6, 0,
                   static_cast<std::int32_t>(std::max<std::int64_t>(1, a.prompt_tokens)),
                   static_cast<std::int32_t>(a.output_tokens)});
  }
  return out;
}

TrialVerdict trial_verdict_of(std::span<const ServingRequest> requests, const ServingRun& run,
                              const ServingSetup& setup, const FleetTrial& trial, const ServingWindow& window) {
  const ServingSummary s = summarize_serving(requests, run, setup, trial.limits.ttft_s, trial.limits.tpot_s, window);
  TrialVerdict out{.requests = s.requests, .stopped = run.stopped};
  out.ttft_p50_s = s.ttft_p50_s;
  out.ttft_p99_s = s.ttft_p99_s;
  out.tpot_p50_s = s.tpot_p50_s;
  out.tpot_p99_s = s.tpot_p99_s;
  out.sequences = (s.mean_in_system - s.mean_waiting) / static_cast<double>(setup.servers);
  out.busy_percent = 100 * s.utilization;
  out.preemptions_percent =
      100 * static_cast<double>(run.preemptions) / static_cast<double>(std::max<std::int64_t>(1, run.completed));
  std::int64_t kept = 0, all = 0;
  const std::size_t end = window.count < requests.size() - window.first ? window.first + window.count : requests.size();
  for (std::size_t i = window.first; i < end; ++i) {
    ++all;
    const ServedRequest& served = run.served[i];
    if (!(served.finish_s >= 0)) continue;
    const std::int32_t later = requests[i].output_tokens - 1;
    const double each_s = later > 0 ? (served.last_token_s - served.first_token_s) / later : 0;
    kept += served.first_token_s - requests[i].arrival_s <= trial.limits.ttft_s && each_s <= trial.limits.tpot_s;
  }
  out.kept_percent = all > 0 ? 100 * static_cast<double>(kept) / static_cast<double>(all) : 0;
  return out;
}

}  // namespace

TrialVerdict try_fleet(const CapacityReplica& replica, const CapacityDemand& demand, const FleetTrial& trial) {
  ServingSetup setup{
      .policy = ServingPolicy::chunked,
      .cost = &replica.cost,
      .slots = static_cast<std::int64_t>(replica.engine.slots),
      .chunk_tokens = static_cast<std::int64_t>(replica.engine.chunk_tokens),
      .block_tokens = judged_block_tokens,
      .blocks = std::max<std::int64_t>(1, static_cast<std::int64_t>(replica.room_tokens) / judged_block_tokens),
      .cancelled = trial.cancelled,
  };
  setup.slots = std::min(setup.slots, setup.blocks);
  if (!trial.recorded.empty()) {
    const auto requests = trial_recorded_requests(trial);
    if (requests.empty()) return {};
    setup.servers = trial.replicas;
    return trial_verdict_of(requests, simulate_serving(requests, setup), setup, trial, {});
  }
  const ReplicaState state = replica_at(replica, demand, demand.rate_per_s / static_cast<double>(trial.replicas));
  // Until twice as many have come as are there at once the replica fills; as many behind keep it busy to the end.
  const double there = std::min(state.sequences, replica.sequences_within(demand)) + 1;
  const auto behind = std::min(max_judged / 4, static_cast<std::int64_t>(there)), filling = 2 * behind,
             measured = std::clamp(static_cast<std::int64_t>(trial.most_tokens / demand.output_mean) - 3 * behind,
                                   min_judged, std::max(min_judged, 8 * behind));
  const auto requests = trial_drawn_requests(demand, trial, filling + measured + behind);
  const ServingWindow window =
      window_of(requests, static_cast<std::size_t>(filling), static_cast<std::size_t>(measured));
  setup.measure_from_s = window.from_s;
  setup.measure_until_s = window.until_s;
  return trial_verdict_of(requests, simulate_serving(requests, setup), setup, trial, window);
}

}  // namespace models
