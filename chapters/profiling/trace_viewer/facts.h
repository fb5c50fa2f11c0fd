#pragma once
#include <cstdint>
#include <limits>
#include <string>

#include "models/trace/measure/window.h"

/// Figures of a recording that are there or absent together. Each is absent until it is measured, which is not the same
/// as 0.
namespace chapters::profiling::trace_viewer {

inline constexpr double absent = std::numeric_limits<double>::quiet_NaN();

/// What a device did between two times; absent where no device was recorded.
struct DeviceTimes {
  double span_s = absent, busy_s = absent, idle_s = absent, busy_share = absent, idle_share = absent;
  double compute_s = absent, memory_s = absent, exposed_memory_s = absent;
};

/// Its idle time by cause; absent where no launching call was recorded.
struct IdleCauses {
  double host_s = absent, kernel_s = absent, other_s = absent, unknown_s = absent;
  double host_share = absent, kernel_share = absent, other_share = absent;
  double before_s = absent, inside_s = absent, after_s = absent;  ///< parts of `host_s`
  double before_share = absent, inside_share = absent, after_share = absent;
};

/// Its communication; absent where none was recorded.
struct CommunicationTimes {
  double total_s = absent, exposed_s = absent, hidden_s = absent;
  double exposed_share = absent;  ///< %, of the time looked at
  double overlap = absent;        ///< %; absent too where none lies between the two times
};

/// How the host launched over the whole recording; absent where no launching call was recorded.
struct LaunchFigures {
  double host_wait_s = absent, after_sync_s = absent;
  double delay_median_s = absent, delay_longest_s = absent, late = absent, queue_longest = absent;
};

/// The rank that lets the others wait longest; absent where nobody waits.
struct LateRank {
  double rank = absent, cost_s = absent, idle_cost_s = absent, share = absent;
  double times_last = absent, collectives = absent;
  double spared_s = absent;     ///< on time, what the others would wait less, call by call
  double won_s = absent;        ///< on time, what a replay of all ranks would end earlier
  double each_step_s = absent;  ///< what each other rank loses by it in a step; absent where no step is marked
};
/// The rank that computes longest; absent where there is one rank.
struct SlowRank {
  double rank = absent, excess = absent;
};

/// What a search found; absent where nothing is searched for.
struct Matches {
  double count = absent, time_s = absent;
};

/// The recording beside; absent where nothing stands there.
struct BesideFigures {
  double step_time_s = absent, busy_share = absent, speedup = absent;
};

/// A share in %, to a thousandth: a share of 5e-5 % is none that anybody can act on.
double percent(std::int64_t part, std::int64_t whole);

DeviceTimes device_times(const models::trace::WindowMetrics& m);
IdleCauses idle_causes(const models::trace::WindowMetrics& m);
CommunicationTimes communication_times(const models::trace::WindowMetrics& m);

/// "30 us": the length from which on models::trace asks for a cause of a gap before work that was launched in time.
const std::string& short_gap_text();

}  // namespace chapters::profiling::trace_viewer
