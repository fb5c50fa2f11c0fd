#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "chapters/serving/batching/lab.h"
#include "models/serving/arrivals/queueing.h"
#include "widgets/number/number.h"

/// Who comes, how long a plain queue works for them, and how long they wait: run and by formula.
namespace chapters::serving::batching {
namespace {

using models::ServingPolicy;
using widgets::format_text;

/// Work that comes to a plain queue, in servers that it keeps busy. Of times by tokens and of a file it is what these
/// requests ask, over the time in which they come; else rate x mean service time.
double offered_servers(const Inputs& in, std::span<const models::ServingRequest> requests) {
  const double span_s = requests.back().arrival_s - requests.front().arrival_s;
  if (in.service == ServiceKind::per_token && span_s > 0) {
    double service_s = 0;
    for (const models::ServingRequest& r : requests) service_s += r.service_s;
    return service_s / span_s;
  }
  double per_s = in.arrival_rate;
  if (!in.trace.text.empty() && span_s > 0) per_s = static_cast<double>(requests.size() - 1) / span_s;
  return per_s * in.service_time_s;
}

}  // namespace

std::int64_t edge_of(std::int64_t measured) { return measured / 10; }

models::RequestStream stream_of(const Inputs& in) {
  return {
      .requests = in.requests + 2 * edge_of(in.requests),
      .rate_per_s = in.arrival_rate,
      .seed = static_cast<std::uint64_t>(in.seed),
      .bursty = in.arrivals == Arrivals::bursty,
      .burst = in.burst,
      .burst_s = 10 / in.arrival_rate,
      .gap_cv = in.arrivals == Arrivals::gamma ? in.gap_cv : 1,
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

bool batches(ServingPolicy policy) { return policy == ServingPolicy::fixed || policy == ServingPolicy::dynamic; }

double mean_service_s(const Inputs& in) { return models::service_moments(stream_of(in)).mean_s; }

double load_percent(const Inputs& in, std::span<const models::ServingRequest> requests) {
  return 100 * offered_servers(in, requests) / static_cast<double>(in.servers);
}

WaitFigures waits_of(std::span<const models::ServingRequest> requests, const models::ServingRun& run, std::size_t first,
                     std::size_t measured) {
  // Whole microseconds, exact up to 2^53 of them, which are 285 years; what takes longer is rounded.
  std::vector<double> waits_us;
  double sum_us = 0, last_us = 0;
  std::int64_t waited = 0;
  for (std::size_t i = 0; i < run.served.size(); ++i) {
    const models::ServedRequest& s = run.served[i];
    if (s.finish_s >= 0) last_us = std::max(last_us, std::round(1e6 * s.finish_s));
    if (i < first || i >= first + measured || s.start_s < 0) continue;
    waits_us.push_back(std::round(1e6 * (s.start_s - requests[i].arrival_s)));
    sum_us += waits_us.back();
    waited += waits_us.back() > 0;
  }
  WaitFigures out;
  if (waits_us.empty()) return out;
  std::sort(waits_us.begin(), waits_us.end());
  const auto rank = [&](std::size_t percent) { return 1e-6 * waits_us[(percent * waits_us.size() + 99) / 100 - 1]; };
  out.sum_us = sum_us;
  out.waited = static_cast<double>(waited);
  out.p50_s = rank(50);
  out.p90_s = rank(90);
  out.p99_s = rank(99);
  out.longest_s = 1e-6 * waits_us.back();
  out.last_departure_us = last_us;
  return out;
}

void consult_theory(const Inputs& in, std::span<const models::ServingRequest> requests, Outputs& out) {
  if (in.service == ServiceKind::llm) {
    out.theory = "none: the service time depends on who shares the batch";
    return;
  }
  out.offered_load = offered_servers(in, requests);
  out.load_percent = load_percent(in, requests);
  if (batches(in.policy)) {
    out.theory = "none for batches";
  } else if (!in.trace.text.empty()) {
    out.theory = "none for arrivals of a file";
  } else if (in.arrivals == Arrivals::bursty) {
    out.theory = "none for bursts";
  } else if (out.load_percent >= 100) {
    out.theory =
        "no steady state: at " + format_text(out.load_percent, "%") + " of capacity the line grows without end";
  } else if (in.arrivals == Arrivals::gamma) {
    const bool one = in.servers == 1 && in.service == ServiceKind::exponential;
    if (one)
      out.theory_wait_s = models::gamma_m1_wait_s(in.arrival_rate, in.service_time_s, in.gap_cv).value_or(std::nan(""));
    out.theory = one ? "GI/M/1" : "none in closed form for gamma gaps but for one exponential server";
  } else if (in.service == ServiceKind::exponential) {
    out.theory_wait_s = models::mmc_wait_s(in.servers, in.arrival_rate, in.service_time_s).value_or(std::nan(""));
    out.theory = in.servers == 1 ? "M/M/1" : "M/M/" + std::to_string(in.servers) + ", Erlang C";
  } else if (in.servers == 1) {
    const models::ServiceMoments service = models::service_moments(stream_of(in));
    out.theory_wait_s = models::mg1_wait_s(in.arrival_rate, service.mean_s, service.scv).value_or(std::nan(""));
    out.theory = in.service == ServiceKind::per_token ? "M/G/1, Pollaczek-Khinchin" : "M/D/1, Pollaczek-Khinchin";
  } else {
    out.theory = in.service == ServiceKind::deterministic
                     ? "none in closed form for several servers of fixed time"
                     : "none in closed form for several servers whose times go by tokens";
  }
}

}  // namespace chapters::serving::batching
