#include "models/serving/serving.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/serving/serving_ledger.h"

namespace models {
namespace {

/// Nearest rank: the smallest value that at least this share of all is not above. Reorders; 0 of nothing.
double percentile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  const std::size_t at = std::clamp<std::size_t>(static_cast<std::size_t>(rank), 1, values.size()) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

double over(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

ServingRun simulate_serving(std::span<const ServingRequest> requests, const ServingSetup& setup) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  ServingRun run;
  run.served.assign(requests.size(), ServedRequest{-1, -1, -1, -1});
  const bool steps =
      setup.cost && (setup.policy == ServingPolicy::continuous || setup.policy == ServingPolicy::chunked);
  const std::int64_t replicas = setup.cost ? setup.servers : 1;
  std::vector<serving::Share> shares(static_cast<std::size_t>(replicas));
  for (serving::Share& share : shares) share.requests = requests;
  if (setup.cost || requests.size() > 0) shares[0].ids.reserve(requests.size() / shares.size() + 1);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const bool never_fits =
        setup.cost &&
        serving::blocks_of(std::int64_t{requests[i].prompt_tokens} + requests[i].output_tokens, setup) > setup.blocks;
    if (never_fits) {
      ++run.refused;
      run.served[i] = {nan, nan, nan, nan};
    } else {
      shares[i % shares.size()].ids.push_back(static_cast<std::int32_t>(i));
    }
  }
  for (std::size_t r = 0; r < shares.size() && !run.stopped; ++r) {
    serving::Ledger ledger(run, setup, shares[r], r == 0);
    if (steps)
      serving::run_steps(shares[r], setup, ledger);
    else
      serving::run_batches(shares[r], setup, setup.cost ? 1 : setup.servers, ledger);
  }
  return run;
}

ServingSummary summarize_serving(std::span<const ServingRequest> requests, const ServingRun& run, std::int64_t servers,
                                 double ttft_limit_s, double tpot_limit_s) {
  ServingSummary out;
  std::vector<double> latency, ttft, tpot;
  latency.reserve(requests.size());
  ttft.reserve(requests.size());
  double wait_s = 0, latency_s = 0;
  std::int64_t good = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const ServedRequest& s = run.served[i];
    if (!(s.finish_s >= 0)) continue;
    const double arrival_s = requests[i].arrival_s;
    wait_s += s.start_s - arrival_s;
    latency_s += s.finish_s - arrival_s;
    latency.push_back(s.finish_s - arrival_s);
    ttft.push_back(s.first_token_s - arrival_s);
    const std::int32_t more = requests[i].output_tokens - 1;
    const double each_s = more > 0 ? (s.last_token_s - s.first_token_s) / more : 0;
    if (more > 0) tpot.push_back(each_s);
    if (ttft.back() <= ttft_limit_s && each_s <= tpot_limit_s) ++good;
  }
  if (latency.empty()) return out;
  const double n = static_cast<double>(latency.size()), span_s = run.end_s - requests.front().arrival_s;
  out.mean_wait_s = wait_s / n;
  out.mean_latency_s = latency_s / n;
  out.p50_latency_s = percentile(latency, 0.5);
  out.p90_latency_s = percentile(latency, 0.9);
  out.p99_latency_s = percentile(latency, 0.99);
  out.ttft_p50_s = percentile(ttft, 0.5);
  out.ttft_p99_s = percentile(ttft, 0.99);
  out.tpot_p50_s = percentile(tpot, 0.5);
  out.tpot_p99_s = percentile(tpot, 0.99);
  out.itl_p50_s = run.gaps.percentile_s(0.5);
  out.itl_p99_s = run.gaps.percentile_s(0.99);
  out.itl_longest_s = run.gaps.longest_s();
  out.throughput_per_s = over(n, span_s);
  out.tokens_per_s = over(run.tokens, span_s);
  out.goodput_per_s = over(static_cast<double>(good), span_s);
  out.mean_in_system = over(run.in_system_s, span_s);
  out.mean_waiting = over(run.waiting_s, span_s);
  out.little_error = over(std::abs(run.in_system_s - latency_s), latency_s);
  out.utilization = std::min(1.0, over(run.busy_s, span_s * static_cast<double>(servers)));
  out.wasted_slots = over(run.slot_held_s - run.slot_used_s, run.slot_held_s);
  return out;
}

}  // namespace models
