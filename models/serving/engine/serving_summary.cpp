#include "models/serving/engine/serving_summary.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/serving/engine/batch_means.h"

namespace models {
namespace {

constexpr double unmeasured = std::numeric_limits<double>::quiet_NaN();

double over(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// Requests of the window, cut to those there are.
std::pair<std::size_t, std::size_t> bounds_of(const ServingWindow& window, std::size_t requests) {
  const std::size_t first = std::min(window.first, requests);
  return {first, first + std::min(window.count, requests - first)};
}

/// What each request of the window took, in order of arrival.
struct Taken {
  std::vector<double> wait_s, latency_s, ttft_s, tpot_s;
};

bool within_limits(const ServingRequest& r, const ServedRequest& s, double ttft_limit_s, double tpot_limit_s) {
  const std::int32_t more = r.output_tokens - 1;
  const double each_s = more > 0 ? (s.last_token_s - s.first_token_s) / more : 0;
  return s.first_token_s - r.arrival_s <= ttft_limit_s && each_s <= tpot_limit_s;
}

Taken taken_in(std::span<const ServingRequest> requests, const ServingRun& run, const ServingWindow& window) {
  Taken out;
  const auto [first, last] = bounds_of(window, requests.size());
  for (auto* values : {&out.wait_s, &out.latency_s, &out.ttft_s, &out.tpot_s}) values->reserve(last - first);
  for (std::size_t i = first; i < last; ++i) {
    const ServedRequest& s = run.served[i];
    if (!(s.finish_s >= 0)) continue;
    const double arrival_s = requests[i].arrival_s;
    out.wait_s.push_back(s.start_s - arrival_s);
    out.latency_s.push_back(s.finish_s - arrival_s);
    out.ttft_s.push_back(s.first_token_s - arrival_s);
    if (requests[i].output_tokens > 1)
      out.tpot_s.push_back((s.last_token_s - s.first_token_s) / (requests[i].output_tokens - 1));
  }
  return out;
}

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return over(sum, static_cast<double>(values.size()));
}

/// A quantile of `values`, and half of its interval.
struct Quantile {
  double value = unmeasured, half = unmeasured;
};
Quantile quantile_of(std::span<const double> values, double share, bool interval) {
  if (!speaks_of_quantile(values.size(), share)) return {};
  std::vector<double> copy(values.begin(), values.end());
  Quantile out{.value = take_quantile(copy, share)};
  if (interval) out.half = quantile_half_width(values, share, out.value);
  return out;
}

/// Who leaves when: departures, good ones and their tokens in each batch of the window's time.
struct Departures {
  std::array<double, interval_batches> all{}, good{};
  double count = 0, good_count = 0, tokens = 0, arrived = 0;
  double waiting_more = 0;  ///< in the queue at the end than at the start
};
Departures departures_in(std::span<const ServingRequest> requests, const ServingRun& run, const ServingWindow& window,
                         double until_s, double ttft_limit_s, double tpot_limit_s) {
  Departures out;
  const double span_s = until_s - window.from_s;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const ServedRequest& s = run.served[i];
    if (!(s.finish_s >= 0)) continue;
    out.arrived += requests[i].arrival_s >= window.from_s && requests[i].arrival_s < until_s;
    out.waiting_more += requests[i].arrival_s < until_s && s.start_s >= until_s;
    out.waiting_more -= requests[i].arrival_s < window.from_s && s.start_s >= window.from_s;
    if (!(s.finish_s >= window.from_s) || !(window.inside ? s.finish_s < until_s : s.finish_s <= until_s)) continue;
    const auto batch = static_cast<std::size_t>((s.finish_s - window.from_s) / span_s * interval_batches);
    const bool good = within_limits(requests[i], s, ttft_limit_s, tpot_limit_s);
    const std::size_t at = std::min(batch, interval_batches - 1);
    ++out.count;
    ++out.all[at];
    out.good[at] += good;
    out.good_count += good;
    out.tokens += requests[i].output_tokens;
  }
  return out;
}

/// Half of the interval of a rate, from counts of stretches that take `batch_s` each.
double rate_half_width(std::array<double, interval_batches> counts, double batch_s) {
  for (double& c : counts) c = over(c, batch_s);
  return half_width_of_batches(counts);
}

}  // namespace

ServingWindow window_of(std::span<const ServingRequest> requests, std::size_t first, std::size_t count) {
  ServingWindow out{.first = first, .count = count};
  if (first == 0 && count >= requests.size()) return out;
  out.inside = true;
  if (first < requests.size()) out.from_s = requests[first].arrival_s;
  if (first + count < requests.size()) out.until_s = requests[first + count].arrival_s;
  return out;
}

namespace {

/// Means and percentiles of what requests took, and half of the interval of each.
void add_latencies(const Taken& taken, bool intervals, ServingSummary& out) {
  const Quantile p50 = quantile_of(taken.latency_s, 0.5, intervals),
                 p99 = quantile_of(taken.latency_s, 0.99, intervals),
                 ttft50 = quantile_of(taken.ttft_s, 0.5, intervals),
                 ttft99 = quantile_of(taken.ttft_s, 0.99, intervals),
                 tpot99 = quantile_of(taken.tpot_s, 0.99, intervals);
  out.requests = static_cast<std::int64_t>(taken.latency_s.size());
  out.mean_wait_s = mean_of(taken.wait_s);
  out.mean_latency_s = mean_of(taken.latency_s);
  out.p50_latency_s = p50.value;
  out.p90_latency_s = quantile_of(taken.latency_s, 0.9, false).value;
  out.p99_latency_s = p99.value;
  out.longest_latency_s = *std::max_element(taken.latency_s.begin(), taken.latency_s.end());
  out.ttft_p50_s = ttft50.value;
  out.ttft_p99_s = ttft99.value;
  out.tpot_p50_s = quantile_of(taken.tpot_s, 0.5, false).value;
  out.tpot_p99_s = tpot99.value;
  out.half = {
      .mean_wait_s = intervals ? mean_half_width(taken.wait_s) : unmeasured,
      .mean_latency_s = intervals ? mean_half_width(taken.latency_s) : unmeasured,
      .p50_latency_s = p50.half,
      .p99_latency_s = p99.half,
      .ttft_p50_s = ttft50.half,
      .ttft_p99_s = ttft99.half,
      .tpot_p99_s = tpot99.half,
      .throughput_per_s = unmeasured,
      .goodput_per_s = unmeasured,
  };
}

/// Rates of the window's time, and half of their intervals.
void add_rates(const Departures& left, const ServingRun& run, double span_s, bool intervals, ServingSummary& out) {
  const auto gaps = static_cast<std::size_t>(run.gaps.count());
  out.itl_p50_s = speaks_of_quantile(gaps, 0.5) ? run.gaps.percentile_s(0.5) : unmeasured;
  out.itl_p99_s = speaks_of_quantile(gaps, 0.99) ? run.gaps.percentile_s(0.99) : unmeasured;
  out.itl_longest_s = run.gaps.longest_s();
  out.throughput_per_s = over(left.count, span_s);
  out.tokens_per_s = run.tokens > 0 ? over(left.tokens, span_s) : 0;
  out.goodput_per_s = over(left.good_count, span_s);
  out.arrivals_per_s = over(left.arrived, span_s);
  if (!intervals) return;
  const double batch_s = span_s / interval_batches;
  out.half.throughput_per_s = rate_half_width(left.all, batch_s);
  out.half.goodput_per_s = rate_half_width(left.good, batch_s);
}

/// How full the system was, by its integrals over the window's time, and Little's law over the whole run.
void add_occupancy(std::span<const ServingRequest> requests, const ServingRun& run, const ServingIntegrals& sums,
                   const ServingSetup& setup, double span_s, ServingSummary& out) {
  out.mean_in_system = over(sums.in_system_s, span_s);
  out.mean_waiting = over(sums.waiting_s, span_s);
  double latency_s = 0;
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (run.served[i].finish_s >= 0) latency_s += run.served[i].finish_s - requests[i].arrival_s;
  out.little_error = over(std::abs(run.in_system_s - latency_s), latency_s);
  out.utilization = std::min(1.0, over(sums.busy_s, span_s * static_cast<double>(setup.servers)));
  out.wasted_slots = std::max(0.0, over(sums.slot_held_s - sums.slot_used_s, sums.slot_held_s));
}

/// Whether the queue grew, or the system still filled, by more than chance lets it.
void judge_load(const Departures& left, const ServingSetup& setup, ServingSummary& out) {
  // A batch that waits to fill holds up to its slots in the queue.
  const bool waits_to_fill = setup.policy == ServingPolicy::fixed || setup.policy == ServingPolicy::dynamic;
  const double servers = static_cast<double>(setup.servers),
               chance = 30 + servers * (waits_to_fill ? 2 * static_cast<double>(setup.slots) : 3),
               much = std::max(0.02 * left.arrived, chance);
  out.overloaded = left.waiting_more > much;
  out.filling = !out.overloaded && left.arrived - left.count > much;
  if (!out.filling) return;
  const double none = unmeasured;
  out.half = {none, none, none, none, none, none, none, none, none};
}

}  // namespace

ServingSummary summarize_serving(std::span<const ServingRequest> requests, const ServingRun& run,
                                 const ServingSetup& setup, double ttft_limit_s, double tpot_limit_s,
                                 const ServingWindow& whole) {
  ServingSummary out;
  const Taken taken = taken_in(requests, run, whole);
  if (taken.latency_s.empty()) return out;
  ServingWindow window = whole;
  if (!window.inside) window.from_s = requests.front().arrival_s;
  const double until_s = std::isfinite(window.until_s) ? window.until_s : run.end_s, span_s = until_s - window.from_s;
  const Departures left = departures_in(requests, run, window, until_s, ttft_limit_s, tpot_limit_s);
  const bool intervals = window.inside && taken.latency_s.size() >= least_for_interval;
  add_latencies(taken, intervals, out);
  add_rates(left, run, span_s, intervals, out);
  add_occupancy(requests, run, window.inside ? run.measured : run, setup, span_s, out);
  if (intervals) judge_load(left, setup, out);
  return out;
}

std::vector<double> latency_quantiles(std::span<const ServingRequest> requests, const ServingRun& run,
                                      const ServingWindow& window, bool to_first_token) {
  const auto [first, last] = bounds_of(window, requests.size());
  std::vector<double> all;
  for (std::size_t i = first; i < last; ++i)
    if (const ServedRequest& s = run.served[i]; s.finish_s >= 0)
      all.push_back((to_first_token ? s.first_token_s : s.finish_s) - requests[i].arrival_s);
  std::sort(all.begin(), all.end());
  constexpr std::size_t kept = 1000;
  if (all.size() <= kept) return all;
  std::vector<double> out;
  for (std::size_t i = 1; i <= kept; ++i) out.push_back(all[(i * all.size() + kept - 1) / kept - 1]);
  return out;
}

}  // namespace models
