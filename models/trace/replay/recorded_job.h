#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/base/result.h"
#include "models/trace/measure/metrics.h"
#include "models/trace/measure/ranks.h"
#include "models/trace/replay/replay.h"

/// Recordings as a job that can be run again. A recording says when things ran and not what they waited for, so the
/// graph is a reading of it:
/// - The threads of a process that launch work or wait for it are one lane where their calls do not overlap (the main
///   thread and autograd's take turns), else a lane each. The time between two calls is a task, as long as recorded.
/// - Work on a device begins after its launching call, and after the work before it on its stream.
/// - A call that waits for the device returns after the last work launched before it; a copy that ended inside its call
///   held it up; a call that found the queue full returns when there is room again.
/// - Work that began within 30 us of the end of work on another stream of its device waited for it; a collective waits
///   for the computation launched before it.
/// - Collectives of several ranks are matched by waits_of.
/// Delays are those recorded, up to what starting work takes: 100 us after a call, 30 us after work. What lies beyond
/// nobody explains, and the run without changes is that much shorter than the recording.
namespace models::trace {

/// A device of a recording, and the recording's steps where it marks any.
struct RecordedRank {
  const Trace* trace = nullptr;
  int device = -1;
  std::span<const Step> steps;
};

/// How well the unchanged run agrees with the recording, to be said before what would be won.
struct ReplayFit {
  std::int64_t recorded_ns = 0, replayed_ns = 0;  ///< the job, from the first span to the end of the last
  /// How much of the devices' time comes out again, 0 to 1. From each end of work to the next one, in their order, the
  /// shorter of the two times, recorded and replayed, over the longer; all of a device are added up before dividing,
  /// and so are devices. Times that are wrong in two directions do not make up for each other.
  double explained = 0;
  std::int64_t work = 0;         ///< tasks on devices
  std::int64_t launched = 0;     ///< those whose launching call was recorded
  std::int64_t cut = 0;          ///< those that lasted into the next on their stream, and count up to there
  std::int64_t collectives = 0;  ///< collectives that were matched over ranks
  std::int64_t alone = 0;        ///< kernels of communication without their like on another rank
  bool loosened = false;         ///< its times contradict each other; edges against the clock were left out
};

struct RecordedJob {
  std::shared_ptr<const Replay> replay;
  std::vector<RecordedRank> ranks;
  ReplayFit fit;
  std::vector<std::int64_t> start_ns, end_ns;  ///< by task, as recorded
  std::vector<std::int64_t> clock_ns;          ///< by rank: what an event's time has to have added for the job's time

  /// The task that an event became; `no_task` where it became none.
  std::uint32_t task_of(std::uint32_t rank, std::uint32_t event) const;

  struct HostLane {
    std::uint32_t part = 0;              ///< index of its recording among `parts`
    std::uint32_t first = 0, count = 0;  ///< its tasks
    std::vector<std::string> threads;    ///< pid, a line feed, tid
  };
  struct Part {
    const Trace* trace = nullptr;
    std::vector<std::uint32_t> tasks;  ///< by event
  };
  std::vector<Part> parts;             ///< one a recording
  std::vector<std::uint32_t> part_of;  ///< by rank
  std::vector<HostLane> hosts;
  std::vector<std::uint32_t> thread_of;  ///< by task: for host lanes the track of its call or of the one that follows
};

/// Fails in one sentence where no device did any work. Time and memory grow with the events of the recordings, which
/// have to stay while the job is there. Recordings of several jobs, or whose clocks nobody can compare, run side by
/// side.
Result<RecordedJob> recorded_job(std::span<const RecordedRank> ranks);

/// The events are not there: a task on a device takes no time, a span of a thread none of its lane's; a call that waits
/// inside such a span waits no more. What was launched inside still runs. Empty where an event is no part of the job,
/// such as a span of a thread that launches nothing.
std::vector<JobChange> without_events(const RecordedJob& job, std::uint32_t rank,
                                      std::span<const std::uint32_t> events);

/// What the job would win without each of Metrics::diagnosis; `not_replayed` where a finding is no time that can be
/// taken out, or nothing is known that causes it. Taken out is:
/// - starts_late: what its lane of the host does before the call that launched the device's first task
/// - sync_drains_queue: all waiting of synchronising calls
/// - data_loader_late, host_busy, host_blocked: all calls of the name that is blamed
/// - host_slow, host_unrecorded: all time of the host from the device's first task on
/// - launches_set_pace: the same, of calls and the time between them that take at most four intervals each
/// - launch_slow: what the long calls take beyond the median call
/// - exposed_communication, copies, one_kernel_leads: all such work of the device
inline constexpr std::int64_t not_replayed = JobChange::keep;
std::vector<std::int64_t> won_by_diagnosis(const RecordedJob& job, const Trace& trace, const Metrics& metrics);

}  // namespace models::trace
