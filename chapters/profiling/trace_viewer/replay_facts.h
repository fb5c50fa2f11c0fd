#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/trace/measure/metrics.h"
#include "models/trace/measure/ranks.h"
#include "models/trace/replay/recorded_job.h"

/// What recordings would win, by running them again (models/trace/replay/recorded_job.h): how much of the recording the
/// replay explains is said first.
namespace chapters::profiling::trace_viewer {

struct Row;

/// One recording, run again alone, without each of its findings.
struct Replayed {
  models::trace::ReplayFit fit;
  std::vector<std::int64_t> won_ns;  ///< by Metrics::diagnosis; empty where there is nothing to replay
  /// Is there a figure for the finding, and what is it?
  bool says(std::size_t diagnosis) const;
};
Replayed replayed(const models::trace::Trace& trace, const models::trace::Metrics& metrics);
/// "A replay that explains 88 % of this recording is 32 ms shorter without it."; empty where nothing is replayed.
std::string replay_sentence(const Replayed& replayed, std::size_t diagnosis);

/// A rank that comes in time to every collective: as late as the last of the others, no later.
struct RankOnTime {
  models::trace::ReplayFit fit;
  std::int64_t spared_ns = 0;  ///< what the others would wait less, call by call, nothing run again
  std::int64_t won_ns = 0;     ///< what all ranks run again would end earlier
  bool replayed = false;       ///< false: there is no collective that was matched
};
/// `culprit` is a row. Runs the job of all rows again.
RankOnTime rank_on_time(const std::vector<Row>& rows, int culprit);
/// "On time it would spare the others 9.16 ms of that, ...".
std::string on_time_sentence(const RankOnTime& on_time);

}  // namespace chapters::profiling::trace_viewer
