#include <algorithm>
#include <cmath>
#include <utility>

#include "chapters/serving/capacity/lab.h"

/// Where the requests come from: drawn by their lengths, recorded, drawn from a client's profile, or read from a file.
namespace chapters::serving::capacity {
namespace {

constexpr std::size_t max_in_file = 1'000'000;
/// Requests that are drawn to show what such arrivals look like.
constexpr std::int64_t drawn_requests = 6000;
constexpr std::int64_t minute_us = 60'000'000;

Demand drawn_by_lengths(const Inputs& in) {
  Demand out;
  const auto requests = models::make_requests({.requests = drawn_requests,
                                               .rate_per_s = in.arrival_rate,
                                               .seed = static_cast<std::uint64_t>(in.seed),
                                               .prompt_tokens = in.prompt_tokens,
                                               .output_tokens = in.output_tokens,
                                               .length_variation = in.length_variation,
                                               .longest_tokens = 1 << 20,
                                               .service_times = false});
  for (const models::ServingRequest& r : requests)
    out.arrivals.push_back({std::llround(r.arrival_s * 1e6), r.prompt_tokens, r.output_tokens});
  out.window_us = out.arrivals.back().at_us + 1;
  out.mean_rate_per_s = in.arrival_rate;
  out.asks = models::demand_of_lengths(in.arrival_rate, in.prompt_tokens, in.output_tokens, in.length_variation);
  return out;
}

std::size_t client_of(const Inputs& in) {
  for (std::size_t i = 0; i < models::servegen_clients; ++i)
    if (models::client_profile(i).name == in.client) return i;
  return 0;
}

/// Arrivals in the window that is set, `speed` times as fast, and what they ask for.
void ask_of_recording(const Inputs& in, Demand& out) {
  out.recorded = true;
  if (in.window_s > 0) out.window_us = std::llround(in.window_s * 1e6);
  std::erase_if(out.arrivals, [&](const models::RequestArrival& a) { return a.at_us >= out.window_us; });
  const auto answered = std::count_if(out.arrivals.begin(), out.arrivals.end(),
                                      [](const models::RequestArrival& a) { return a.output_tokens > 0; });
  const models::ArrivalFigures figures = models::arrival_figures(out.arrivals, out.window_us);
  double rate = static_cast<double>(answered) / figures.window_s;
  out.mean_rate_per_s = rate * in.speed;
  if (in.plan_for == PlanFor::minute && figures.count > 0)
    rate = models::busiest_rate_per_s(out.arrivals, out.window_us, minute_us) * static_cast<double>(answered) /
           static_cast<double>(figures.count);
  // Ten seconds of the fleet's own clock, where the window holds ten of them.
  const double bin_us = std::clamp(1e7 * in.speed, 1e5, std::max(1e5, static_cast<double>(out.window_us) / 10));
  const double burst = models::arrivals_in_bins(out.arrivals, out.window_us, std::llround(bin_us)).index_of_dispersion;
  out.asks = models::demand_of_arrivals(out.arrivals, rate * in.speed, std::isfinite(burst) ? burst : 1);
}

}  // namespace

models::Result<Demand> demand_of(const Inputs& in, Kept& kept) {
  using Outcome = models::Result<Demand>;
  if (in.traffic == Traffic::lengths) return Outcome::ok(drawn_by_lengths(in));
  Demand out;
  if (in.traffic == Traffic::conversations) {
    out.arrivals = models::sample_arrivals(models::azure_conversation_rows());
    out.window_us = models::azure_conversation_window_us;
  } else if (in.traffic == Traffic::code) {
    out.arrivals = models::sample_arrivals(models::azure_code_rows());
    out.window_us = models::azure_code_window_us;
  } else if (in.traffic == Traffic::client) {
    out.arrivals = *kept.days.get({client_of(in), in.seed}, [](const DayKey& key) {
      return std::make_shared<const std::vector<models::RequestArrival>>(
          models::draw_client_day(models::client_profile(key.client), static_cast<std::uint64_t>(key.seed)));
    });
    out.window_us = models::servegen_day_us;
  } else {
    if (in.trace.text.empty())
      return Outcome::fail("No file of requests is open: open one, or take other requests than your own.");
    auto read = models::read_arrivals(in.trace.text, max_in_file);
    if (!read) return Outcome::fail(std::move(read.error));
    out.rows_left_out = read->rows_left_out;
    out.first_fault = std::move(read->first_fault);
    out.arrivals = std::move(read->arrivals);
    out.window_us = models::window_of_arrivals(out.arrivals);
  }
  ask_of_recording(in, out);
  if (!(out.asks.rate_per_s > 0))
    return Outcome::fail("No request in the window was answered: take a longer window, or other requests.");
  return Outcome::ok(std::move(out));
}

}  // namespace chapters::serving::capacity
