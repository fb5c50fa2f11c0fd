#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

/// A job of one or several ranks as a graph of tasks: what ran where, for how long, and what each task had to wait for.
/// replay.h computes its run, and what the run would win if something of it were changed.
namespace models::trace {

inline constexpr std::uint32_t no_task = std::numeric_limits<std::uint32_t>::max();

/// A host thread, a loader's worker or a stream of a device. Its tasks run one after another in the order of
/// JobGraph::tasks.
struct JobLane {
  std::string name;
  std::uint32_t rank = 0;
};

/// One task: host code between two calls, a call, a kernel, a copy, a rank's part in a collective, a batch decoded.
struct JobTask {
  std::int64_t duration_ns = 0;  ///< its own work, without anything that it waits for
  std::uint32_t lane = 0;
  /// A collective that this task is a part of. No part moves data before the last one has begun: each part ends its own
  /// duration after that, so parts of one duration end together.
  std::uint32_t meeting = no_task;
  std::int64_t not_before_ns = 0;  ///< it begins no earlier, whatever else is ready; the job begins at 0
  std::int64_t gap_ns = 0;         ///< its lane needs so long between the end of the task before it and its start
  std::uint32_t step = no_task;    ///< step of the job, for what each of them would win
  std::uint32_t label = no_task;   ///< free for the caller: what it is
  std::uint32_t event = no_task;   ///< free for the caller: an event of a recording
};

/// Why one task has to wait for another.
enum class JobEdgeKind : std::uint8_t {
  launch,       ///< a device's task begins not before the call that launches it
  queue,        ///< a call does not return before the stream's queue has room
  sync,         ///< a synchronising call does not return before the tasks that it waits for have ended
  stream_wait,  ///< a stream waits for an event of another stream
  handover,     ///< a loader hands over a batch, or may not run further ahead
  data          ///< any other
};
/// Which end of the first task holds which end of the second.
enum class JobEdgeAt : std::uint8_t { end_to_start, start_to_start, end_to_end, start_to_end };

/// `to` begins, or ends, not before `from` has begun, or ended, and `delay_ns` have passed. A delay may be negative.
struct JobEdge {
  std::uint32_t from = no_task, to = no_task;
  std::int64_t delay_ns = 0;
  JobEdgeKind kind = JobEdgeKind::data;
  JobEdgeAt at = JobEdgeAt::end_to_start;
};

struct JobGraph {
  std::vector<JobLane> lanes;
  std::vector<JobTask> tasks;
  std::vector<JobEdge> edges;
  std::uint32_t meetings = 0, steps = 0;  ///< how many there are

  /// Appends a lane, a task, an edge; the first two give their index.
  std::uint32_t add_lane(std::string name, std::uint32_t rank = 0);
  std::uint32_t add_task(const JobTask& task);
  void add_edge(std::uint32_t from, std::uint32_t to, JobEdgeKind kind, JobEdgeAt at = JobEdgeAt::end_to_start,
                std::int64_t delay_ns = 0);
  std::uint32_t rank_of(std::uint32_t task) const { return lanes[tasks[task].lane].rank; }
  /// One more than the highest rank of a lane; 0 without lanes.
  std::uint32_t ranks() const;
};

}  // namespace models::trace
