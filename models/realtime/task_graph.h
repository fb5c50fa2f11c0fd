#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/base/result.h"

/// List scheduling of a task graph that repeats every frame, on named resources. Times are whole nanoseconds, so that
/// equal is equal.
namespace models {

struct GraphResource {
  std::string name;
  std::int64_t units = 1;  ///< jobs that it runs at once
};

struct GraphTask {
  std::string name;
  std::size_t resource = 0;
  std::int64_t duration_ns = 0;
  std::vector<std::size_t> after;  ///< tasks of the same frame that must end first
  std::int64_t priority = 0;       ///< higher goes first
  bool after_own_last = false;     ///< also waits for itself in the frame before: it carries state
};

struct TaskGraph {
  std::vector<GraphResource> resources;
  std::vector<GraphTask> tasks;
};

/// The tasks, each after those it waits for. Infeasible: no task, a dependency out of range, or a circle, which the
/// sentence names.
Result<std::vector<std::size_t>> topological_order(const TaskGraph& graph);

/// Longest chain of dependencies within one frame: no number of units gets below it.
std::int64_t critical_path_ns(const TaskGraph& graph);
/// Work of one frame on each resource, over its units: no schedule gets below the largest.
std::vector<double> work_per_unit_ns(const TaskGraph& graph);

struct GraphOptions {
  std::int64_t frames = 1;
  std::int64_t period_ns = 0;  ///< frame n is released at n x period
  bool pipelined = false;      ///< else a frame starts only when the one before has ended
  bool preemptive = false;     ///< a job of higher priority takes the place of one that runs, which goes on later
};

/// One stretch of work without a break.
struct GraphSegment {
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t frame = 0, task = 0, unit = 0;
};
struct GraphJob {
  std::int64_t ready_ns = 0;  ///< released, and everything it waits for has ended
  std::int64_t start_ns = 0, finish_ns = 0;
};
struct GraphFrame {
  std::int64_t release_ns = 0, start_ns = 0, finish_ns = 0;
  std::int64_t latency_ns() const { return finish_ns - release_ns; }
};

struct GraphSchedule {
  std::vector<GraphSegment> segments;  ///< by start
  std::vector<GraphJob> jobs;          ///< frame x tasks + task
  std::vector<GraphFrame> frames;
  std::int64_t makespan_ns = 0;
  std::int64_t preemptions = 0;
};

/// Work-conserving list schedule: whenever a unit is free, it takes the ready job of the highest priority; among equals
/// the older frame, then the earlier task of the list. Such schedules have anomalies: faster tasks, more units or fewer
/// dependencies may end later. Source: R. L. Graham, Bounds on Multiprocessing Timing Anomalies, SIAM J. Appl. Math. 17
/// (1969). Infeasible: as topological_order, or a task whose resource has no unit, or 1 to 4,096 frames exceeded.
Result<GraphSchedule> schedule_frames(const TaskGraph& graph, const GraphOptions& options);

/// Why a job started when it did, back from the end of a frame: segments in order of time. Each one starts when the one
/// before it ends, because it waited for its result or for its place.
std::vector<std::size_t> critical_chain(const TaskGraph& graph, const GraphSchedule& schedule, std::size_t frame);

/// How much later each task of a frame could end without moving the frame's end, with the order on single-unit
/// resources kept.
std::vector<std::int64_t> task_float_ns(const TaskGraph& graph, const GraphSchedule& schedule, std::size_t frame);

/// Frames a second when there is always a next frame waiting: 1 / latency unless frames are pipelined.
/// Measured over the beat in which frames 17 to 41 end, or over all of them when they have none. 0 when the graph takes
/// no time; infeasible as schedule_frames.
Result<double> sustained_rate_hz(const TaskGraph& graph, GraphOptions options);

}  // namespace models
