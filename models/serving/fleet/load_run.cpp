#include "models/serving/fleet/load_run.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/serving/engine/batch_means.h"

namespace models {
namespace {

RequestFate fate_of(const ServingRequest& request, const ServedRequest& served, std::int16_t replica) {
  RequestFate out{.arrival_s = request.arrival_s, .replica = replica};
  if (!(served.finish_s >= 0)) {
    out.sent_away = true;
    out.start_s = out.ttft_s = out.tpot_s = std::numeric_limits<double>::quiet_NaN();
    return out;
  }
  out.leave_s = served.finish_s;
  out.start_s = served.start_s;
  out.ttft_s = served.first_token_s - request.arrival_s;
  const std::int32_t more = request.output_tokens - 1;
  out.tpot_s = more > 0 ? (served.last_token_s - served.first_token_s) / more : 0;
  return out;
}

/// Replicas that serve all the time, and who waits in their queues, at 300 times.
std::vector<FleetPoint> queue_history(const LoadRun& run, std::int32_t replicas) {
  constexpr int points = 300;
  std::vector<double> come_s, start_s;
  for (const RequestFate& fate : run.fates) {
    if (fate.sent_away) continue;
    come_s.push_back(fate.arrival_s);
    start_s.push_back(fate.start_s);
  }
  std::sort(start_s.begin(), start_s.end());
  std::vector<FleetPoint> out;
  for (int i = 0; i <= points; ++i) {
    const double time_s = run.counts.end_s * i / points;
    const auto before = [&](const std::vector<double>& times) {
      return std::upper_bound(times.begin(), times.end(), time_s) - times.begin();
    };
    out.push_back({.time_s = time_s,
                   .serving = replicas,
                   .waiting = static_cast<std::int32_t>(before(come_s) - before(start_s))});
  }
  return out;
}

}  // namespace

LimitVerdict verdict_of(const RequestFate& fate, const LatencyLimits& limits) {
  if (fate.sent_away) return LimitVerdict::sent_away;
  if (!(fate.ttft_s <= limits.ttft_s)) return LimitVerdict::late;
  return fate.tpot_s <= limits.tpot_s ? LimitVerdict::in_time : LimitVerdict::slow;
}

LoadRun condense_run(std::span<const ServingRequest> requests, FleetRun run, const ServingSetup& setup,
                     const ServingWindow& window, double rate_per_s, double servers_per_replica) {
  constexpr double no_limit = std::numeric_limits<double>::infinity();
  LoadRun out{.rate_per_s = rate_per_s, .window = window};
  out.figures = summarize_serving(requests, run, setup, no_limit, no_limit, window);
  out.counts = run;
  out.queue_refused = run.queue_refused;
  out.paid_replica_s = run.paid_replica_s > 0 ? run.paid_replica_s
                                              : static_cast<double>(setup.servers) * run.end_s / servers_per_replica;
  const double servers_s = out.paid_replica_s * servers_per_replica;
  out.busy_share = servers_s > 0 ? std::min(1.0, run.busy_s / servers_s) : 0;
  out.replicas = run.end_s > 0 ? out.paid_replica_s / run.end_s : 0;
  out.most_replicas = run.most_replicas > 0 ? run.most_replicas : std::llround(out.replicas);
  out.fates.reserve(requests.size());
  for (const ServingRequest& r : requests) out.prompt_mean += r.prompt_tokens / static_cast<double>(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i)
    out.fates.push_back(fate_of(requests[i], run.served[i], i < run.replica.size() ? run.replica[i] : std::int16_t{0}));
  out.from_s = window.inside || requests.empty() ? window.from_s : requests.front().arrival_s;
  out.until_s = std::isfinite(window.until_s) ? window.until_s : out.counts.end_s;
  out.history = std::move(run.history);
  if (out.history.empty()) out.history = queue_history(out, static_cast<std::int32_t>(std::llround(out.replicas)));
  return out;
}

LoadFigures figures_under(const LoadRun& run, const LatencyLimits& limits) {
  LoadFigures out{.rate_per_s = run.rate_per_s};
  out.overloaded = run.figures.overloaded;
  out.settled = !run.figures.overloaded && !run.figures.filling;
  const double span_s = run.until_s - run.from_s;
  if (!(span_s > 0)) return out;
  std::array<double, limit_verdict_count> counts{};
  std::array<double, interval_batches> batches{};
  for (const RequestFate& fate : run.fates) {
    out.arrivals_per_s += fate.arrival_s >= run.from_s && fate.arrival_s < run.until_s ? 1 / span_s : 0;
    const double end_s = end_of(fate);
    if (!(end_s >= run.from_s) || !(run.window.inside ? end_s < run.until_s : end_s <= run.until_s)) continue;
    const LimitVerdict verdict = verdict_of(fate, limits);
    ++counts[static_cast<std::size_t>(verdict)];
    if (verdict != LimitVerdict::in_time) continue;
    const auto batch = static_cast<std::size_t>((end_s - run.from_s) / span_s * interval_batches);
    batches[std::min(batch, interval_batches - 1)] += static_cast<double>(interval_batches) / span_s;
  }
  const double all = counts[0] + counts[1] + counts[2] + counts[3];
  out.requests = static_cast<std::int64_t>(all);
  out.goodput_per_s = counts[0] / span_s;
  out.throughput_per_s = (all - counts[3]) / span_s;
  if (all > 0) {
    out.in_time = counts[0] / all;
    out.late = counts[1] / all;
    out.slow = counts[2] / all;
    out.sent_away = counts[3] / all;
  }
  if (run.window.inside && all >= least_for_interval && !run.figures.overloaded && !run.figures.filling)
    out.goodput_half_per_s = half_width_of_batches(batches);
  return out;
}

ServingWindow load_window(std::span<const ServingRequest> requests, double wave_s) {
  const std::size_t before = requests.size() * 10 / 43, behind = requests.size() * 3 / 43;
  const ServingWindow plain = window_of(requests, before, requests.size() - before - behind);
  if (!(wave_s > 0) || !plain.inside) return plain;
  const double from_s = std::ceil(plain.from_s / wave_s) * wave_s,
               until_s = std::floor(plain.until_s / wave_s) * wave_s;
  if (!(until_s - from_s >= 0.5 * wave_s)) return plain;
  const auto first_from = [&](double time_s) {
    return static_cast<std::size_t>(
        std::partition_point(requests.begin(), requests.end(),
                             [&](const ServingRequest& r) { return r.arrival_s < time_s; }) -
        requests.begin());
  };
  const std::size_t first = first_from(from_s);
  return window_of(requests, first, first_from(until_s) - first);
}

}  // namespace models
