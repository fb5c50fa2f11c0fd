#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "models/serving/engine/serving_summary.h"
#include "models/serving/fleet/fleet.h"

/// A run of a fleet at one load, kept request by request, so that limits can be laid through it without running it
/// again.
namespace models {

/// What limits ask of a request, seconds: its first token after its arrival, and a token after the first on average.
struct LatencyLimits {
  double ttft_s = 1, tpot_s = 0.05;
  bool operator==(const LatencyLimits&) const = default;
};

/// What a request got. Times are NaN where it was sent away.
struct RequestFate {
  double arrival_s = 0;
  double leave_s = std::numeric_limits<double>::quiet_NaN();  ///< time of departure
  double start_s = 0;                                         ///< first taken from the queue
  double ttft_s = 0, tpot_s = 0;                              ///< tpot: 0 of an answer of one token
  std::int16_t replica = 0;                                   ///< that wrote the answer
  bool sent_away = false;                                     ///< refused, too long for the cache, or dropped
};

/// late: its first token misses its limit, whatever else. slow: its first token is in time, the others are not.
enum class LimitVerdict : std::uint8_t { in_time, late, slow, sent_away };
inline constexpr int limit_verdict_count = 4;
LimitVerdict verdict_of(const RequestFate& fate, const LatencyLimits& limits);
/// When a request ends: it leaves, or is sent away, which is counted at its arrival.
inline double end_of(const RequestFate& fate) { return fate.sent_away ? fate.arrival_s : fate.leave_s; }

struct LoadRun {
  double rate_per_s = 0;  ///< that was asked for
  ServingWindow window;
  std::vector<RequestFate> fates;  ///< by arrival: all requests
  /// All but the goodput, which knows no limits here: it counts every request that leaves.
  ServingSummary figures;
  ServingCounts counts;
  std::int64_t queue_refused = 0;
  double busy_share = 0;      ///< time with a step, over the time of the replicas that were paid for
  double paid_replica_s = 0;  ///< from the start to the end of the run
  double replicas = 0;        ///< paid for on average, until the last departure
  std::int64_t most_replicas = 0;
  double prompt_mean = 0;  ///< tokens, over all requests
  /// A fleet as it was sampled; otherwise replicas that serve and requests in the queue, at 300 times.
  std::vector<FleetPoint> history;
  double from_s = 0, until_s = 0;  ///< the time that is measured
};

/// Keeps what limits ask; `setup.servers` is the number of servers that may work at once, and judges the load as
/// summarize_serving does.
LoadRun condense_run(std::span<const ServingRequest> requests, FleetRun run, const ServingSetup& setup,
                     const ServingWindow& window, double rate_per_s, double servers_per_replica = 1);

/// A load under limits: all of the requests that end, served or sent away, in the window's time.
struct LoadFigures {
  double rate_per_s = 0, arrivals_per_s = 0;
  double throughput_per_s = 0, goodput_per_s = 0;
  /// Half of the interval that holds the long-run goodput with 95 % confidence; NaN where a queue grows, or of fewer
  /// than 1,000 requests.
  double goodput_half_per_s = std::numeric_limits<double>::quiet_NaN();
  double in_time = 0, late = 0, slow = 0, sent_away = 0;  ///< shares of those that end, 0 to 1, together 1
  std::int64_t requests = 0;                              ///< that end
  bool overloaded = false;                                ///< the queue grows as long as requests come
  bool settled = true;  ///< neither that, nor does the batch still fill while it is measured
};
LoadFigures figures_under(const LoadRun& run, const LatencyLimits& limits);

/// The requests between the first ten and the last three of forty-three parts of all, which are a third and a tenth of
/// those between; of arrivals in waves of `wave_s` (0: none) those of as many whole waves as
/// lie between, where one does, so that no window ends on a slope.
ServingWindow load_window(std::span<const ServingRequest> requests, double wave_s = 0);

}  // namespace models
