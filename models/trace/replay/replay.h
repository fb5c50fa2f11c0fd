#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "models/base/result.h"
#include "models/trace/replay/job_graph.h"

/// Runs a job's graph: when each task begins and ends, what would be won without some of it, and which chain of tasks
/// decided when one of them began. Whole nanoseconds, the same in every run; time and memory grow with tasks and edges.
namespace models::trace {

/// A run. Vectors by task, by meeting, and by step.
struct JobTimes {
  std::vector<std::int64_t> start_ns, end_ns;
  std::vector<std::int64_t> meeting_ns;   ///< when its last part began
  std::vector<std::int64_t> step_end_ns;  ///< the latest end of a task of this step or of one before it
  std::int64_t length_ns = 0;             ///< from 0 to the latest end
};

/// What is different in another run. A task that is taken out keeps its place: it takes no time, and what had to wait
/// for it still does. So nothing can ever end later because something was taken out or waits for less.
struct JobChange {
  static constexpr std::int64_t keep = std::numeric_limits<std::int64_t>::min();
  std::uint32_t task = no_task;
  std::int64_t duration_ns = 0;       ///< its own work; `keep` leaves it as it is
  std::int64_t not_before_ns = keep;  ///< JobTask::not_before_ns
  bool waits = true;                  ///< false: it follows its lane alone, without edges into it and its meeting
};

/// What a changed run takes less than the unchanged one; negative where it takes longer. A step's time runs from the
/// end of the step before it to its own, so the steps add up to the last one's end.
struct JobWon {
  std::int64_t whole_ns = 0;
  std::vector<std::int64_t> step_ns;
};

/// What a link of a chain does to the next one.
enum class JobHold : std::uint8_t {
  launch,
  queue,
  sync,
  stream_wait,
  handover,
  data,
  lane,     ///< the next task of its lane follows
  meeting,  ///< it comes last to a collective
  itself    ///< nothing follows: the end of the chain
};

/// A task of a chain, and the part of its time that the next one waits for. From `to_ns` to the next link's `from_ns`
/// passes the delay of the edge or the gap of the lane.
struct JobLink {
  std::uint32_t task = no_task;
  std::int64_t from_ns = 0, to_ns = 0;
  JobHold holds = JobHold::itself;
};

/// A graph made ready, to be run any number of times. Runs share nothing, so threads may ask at once.
class Replay {
 public:
  /// Fails in one sentence where an index is out of range, a time is negative or longer than a week, or tasks wait for
  /// each other in a circle.
  static Result<Replay> of(JobGraph graph);

  const JobGraph& graph() const { return graph_; }
  const JobTimes& unchanged() const { return unchanged_; }

  /// Changes are made in their order; those of tasks that are not there count as nothing. Durations are held to zero
  /// and a week.
  JobTimes run(std::span<const JobChange> changes = {}) const;
  /// The same into a run that is there already, whose memory is used again.
  void run(std::span<const JobChange> changes, JobTimes& times) const;
  JobWon won(std::span<const JobChange> changes) const;
  std::int64_t won_ns(std::span<const JobChange> changes) const { return won(changes).whole_ns; }

  /// The chain that decided when the task began, or ended: from its culprit, which nothing held up, to the task itself.
  /// Each is the constraint that came true last; of several at once, an edge goes before the lane, and a task's own
  /// work before what its end waits for. `changes` are those of the run.
  std::vector<JobLink> chain_to_start(const JobTimes& times, std::uint32_t task,
                                      std::span<const JobChange> changes = {}) const;
  std::vector<JobLink> chain_to_end(const JobTimes& times, std::uint32_t task,
                                    std::span<const JobChange> changes = {}) const;
  /// The critical path: the chain to the end of the task that ends last, the first of them if several do.
  std::vector<JobLink> critical_path(const JobTimes& times, std::span<const JobChange> changes = {}) const;

 private:
  struct Arc {  // into a node
    std::int64_t delay_ns;
    std::uint32_t from;  // node: twice the task, and one more for its end
    JobEdgeKind kind;
  };
  struct Alone;
  std::vector<JobLink> chain(const JobTimes& times, std::uint32_t node, std::span<const JobChange> changes) const;
  Status check() const;
  void connect();
  Status sort();

  JobGraph graph_;
  std::vector<std::uint32_t> before_;      // by task: the one before it on its lane
  std::vector<std::uint32_t> arcs_of_;     // by node: its first arc; one more at the end
  std::vector<Arc> arcs_;                  // by node they lead to, in the order of the graph's edges
  std::vector<std::uint32_t> parts_of_;    // by meeting: its first part; one more at the end
  std::vector<std::uint32_t> parts_;       // tasks, by meeting
  std::vector<std::uint32_t> order_;       // nodes; a meeting's come after those of all tasks
  std::vector<std::int64_t> start_, end_;  // by task: not_before_ns and duration_ns, what a run begins with
  JobTimes unchanged_;
};

/// A chain with what follows on one lane as one link: its first and last task, and how many there are.
struct JobLinks {
  std::uint32_t first = no_task, last = no_task;
  std::uint32_t tasks = 0;
  std::int64_t from_ns = 0, to_ns = 0;
  JobHold holds = JobHold::itself;  ///< what its last task does to the next link
};
std::vector<JobLinks> by_lane(const JobGraph& graph, std::span<const JobLink> chain);

/// Who waits in meetings, and for whom: each part from its own start until the last has come. Vectors by rank.
struct JobBlame {
  std::vector<std::int64_t> waited_ns;
  std::vector<std::int64_t> caused_ns;  ///< waited by other ranks for this one
  /// Call by call, nothing run again: by how much the rank came after the last of the others, in the calls in which it
  /// came last; and what the others would have waited less, all together, if it had come with that one.
  std::vector<std::int64_t> late_ns, spared_ns;
  std::vector<std::int64_t> times_last;
  std::int64_t total_ns = 0;
};
JobBlame blame_of(const JobGraph& graph, const JobTimes& times);
/// Waiting of rank r for rank c in element r * ranks + c.
std::vector<std::int64_t> waits_matrix(const JobGraph& graph, const JobTimes& times);

/// Changes that bring a rank to each of its meetings no later than the last of the other ranks, as far as its own work
/// can be blamed: between two meetings all of it is shortened alike, by what makes the rank later there than it already
/// was. Found in at most eight runs, each of which cuts a part of what is left and never more than that.
std::vector<JobChange> rank_on_time(const Replay& replay, std::uint32_t rank);

}  // namespace models::trace
