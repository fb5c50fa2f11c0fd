#pragma once
#include <vector>

#include "models/trace/cases/job.h"
#include "models/trace/replay/replay.h"
#include "models/trace/trace.h"

/// The run of a case as profilers would have recorded it, one recording a rank.
namespace models::trace {

struct CaseRecording {
  std::vector<Trace> ranks;
  /// By rank and event: the task, or no_task for a step's span. The recording's readers never see it.
  std::vector<std::vector<std::uint32_t>> task_of;
};

/// What goes on when the last step is over is cut there. `with_tasks` fills task_of.
CaseRecording record_case(const CaseJob& job, const JobTimes& times, bool with_tasks);

}  // namespace models::trace
