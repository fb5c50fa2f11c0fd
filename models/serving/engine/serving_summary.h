#pragma once
#include <limits>

#include "models/serving/engine/serving.h"

/// What a run of the serving engine says in figures, and how sure they are.
namespace models {

/// The requests and the time that figures are of: the whole of a run, or what lies between its start and its drain.
struct ServingWindow {
  std::size_t first = 0, count = std::numeric_limits<std::size_t>::max();  ///< requests, in order of arrival
  double from_s = 0, until_s = std::numeric_limits<double>::infinity();    ///< infinite: the last departure
  /// The run goes on before and behind the window, so that departures in it are those of a steady stream.
  bool inside = false;
};
/// The window of `count` requests from `first` on: from the arrival of the first of them to that of the first one
/// behind. All of the run where there are none before and behind.
ServingWindow window_of(std::span<const ServingRequest> requests, std::size_t first, std::size_t count);

/// Half of the interval that holds the figure's long-run value with 95 % confidence, by batch means (batch_means.h).
/// NaN: the window is too short for one, or is a whole run, which no longer run stands behind.
struct ServingHalfWidths {
  double mean_wait_s = 0, mean_latency_s = 0, p50_latency_s = 0, p99_latency_s = 0, ttft_p50_s = 0, ttft_p99_s = 0;
  double tpot_p99_s = 0, throughput_per_s = 0, goodput_per_s = 0;
};

/// Means and percentiles of the requests of a window that were served; percentiles are exact (nearest rank), and NaN
/// where fewer than ten requests are expected beyond them.
struct ServingSummary {
  std::int64_t requests = 0;  ///< served requests of the window, from which the figures are
  double mean_wait_s = 0, mean_latency_s = 0, p50_latency_s = 0, p90_latency_s = 0, p99_latency_s = 0;
  double longest_latency_s = 0;
  double ttft_p50_s = 0, ttft_p99_s = 0, tpot_p50_s = 0,
         tpot_p99_s = 0;  ///< time per output token after the first; of requests with at least two
  /// Inter-token latency: time between one token of a request and its next, over all tokens of the window.
  /// Percentiles are within 0.5 %.
  double itl_p50_s = 0, itl_p99_s = 0, itl_longest_s = 0;
  double throughput_per_s = 0, tokens_per_s = 0;  ///< requests and tokens that leave within the window's time
  double goodput_per_s = 0;                       ///< those of these requests that keep both limits
  double mean_in_system = 0, mean_waiting = 0;    ///< L and Lq over that time
  double little_error = 0;                        ///< |L - throughput x mean latency| / L, of the whole run
  double utilization = 0;                         ///< 0 to 1, of the servers' time
  double wasted_slots = 0;                        ///< 0 to 1, of the slot-seconds taken
  double arrivals_per_s = 0;                      ///< in the window
  /// The queue is longer at the window's end than at its start, by over 2 % of the arrivals and by more than chance
  /// leaves: it grows as long as they come, and waits say how long the run was. Known of windows inside a run alone.
  bool overloaded = false;
  /// Not that, but the batch itself has grown so much: the window begins before it has filled.
  bool filling = false;
  ServingHalfWidths half;
};
ServingSummary summarize_serving(std::span<const ServingRequest> requests, const ServingRun& run,
                                 const ServingSetup& setup, double ttft_limit_s, double tpot_limit_s,
                                 const ServingWindow& window = {});

/// Latencies or first tokens of the window's requests as at most 1,000 quantiles: their P50 and P99 by nearest rank are
/// those of all. Sorted.
std::vector<double> latency_quantiles(std::span<const ServingRequest> requests, const ServingRun& run,
                                      const ServingWindow& window, bool to_first_token);

}  // namespace models
