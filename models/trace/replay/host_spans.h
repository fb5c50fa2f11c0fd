#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "models/trace/replay/recorded_job.h"

namespace models::trace {

/// All spans of one name on the threads that launch: how long they are, and what the run would win without them.
struct HostSpanWin {
  std::string name;
  std::uint32_t longest = none;  ///< the event
  std::int64_t count = 0, total_ns = 0, longest_ns = 0;
  std::int64_t won_ns = 0;
};

struct HostSpanWins {
  std::vector<HostSpanWin> spans;  ///< what wins most first
  std::int64_t left_out = 0;       ///< names that are not among them
  ReplayFit fit;                   ///< how much of the recording the replay explains
};

/// The `most` names with the longest total, each taken out alone (`without_events`). Frames around a whole step say
/// nothing and are left out. A name inside another is counted in both. Fails where no device did any work.
Result<HostSpanWins> host_span_wins(const Trace& trace, std::size_t most = 12);

}  // namespace models::trace
