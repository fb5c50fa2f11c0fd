#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "models/trace/replay/recorded_job.h"

/// How recorded_job puts a job together; nobody else needs it.
namespace models::trace {

/// More than starting work takes is no delay of a launch, and not of one stream after another.
inline constexpr std::int64_t max_launch_delay_ns = 100'000;

inline constexpr std::int64_t far_ns = std::numeric_limits<std::int64_t>::max() / 3;

/// Stops far away: a clock that jumps must not wrap round.
inline std::int64_t far_sum(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) return a < 0 ? -far_ns : far_ns;
  return std::clamp(out, -far_ns, far_ns);
}
/// Time from a to b, both anywhere.
inline std::int64_t far_span(std::int64_t a, std::int64_t b) {
  return far_sum(std::clamp(b, -far_ns, far_ns), -std::clamp(a, -far_ns, far_ns));
}

/// A call that launches work or waits for it.
struct RecordedCall {
  std::int64_t start_ns = 0, end_ns = 0;  ///< without what lies inside a call before it
  std::uint32_t event = none, track = none;
};

class RecordedJobBuilder {
 public:
  explicit RecordedJobBuilder(std::span<const RecordedRank> ranks);
  Result<RecordedJob> build();

 private:
  struct Lane {  // a stream: its tasks
    std::uint32_t rank = 0, first = 0, count = 0;
  };
  void set_clocks(const JobWaits& waits);
  void add_hosts(std::uint32_t part);
  void add_host(std::uint32_t part, std::vector<RecordedCall> calls, const std::vector<std::uint32_t>& tracks);
  void add_streams(std::uint32_t rank);
  void add_stream(std::uint32_t rank, const Track& track);
  void set_starts();
  void set_steps();
  void measure_delays();
  void add_launches();
  void add_gaps();
  void add_collective_waits(std::uint32_t rank);
  void add_meetings(const JobWaits& waits);
  void add_syncs(std::uint32_t part);
  void add_queues();
  void keep_forward_edges();
  void measure_fit();

  const Event& event_of(std::uint32_t task) const;
  std::uint32_t call_of(std::uint32_t task) const;  ///< the task that launched it, or `no_task`
  bool blocks(std::uint32_t call, std::uint32_t work) const;
  std::int64_t launch_delay(std::uint32_t lane_first, std::uint32_t task) const;
  std::uint32_t add(std::uint32_t part, const JobTask& task, std::int64_t start_ns, std::int64_t end_ns,
                    std::uint32_t track);
  /// The last of `tasks`, which are by end, that ended by `at` and is fit to be waited for.
  template <class Fit>
  std::uint32_t last_ended(const std::vector<std::uint32_t>& tasks, std::int64_t at, const Fit& fit) const {
    constexpr int few = 64;
    auto it = std::upper_bound(tasks.begin(), tasks.end(), at,
                               [&](std::int64_t t, std::uint32_t task) { return t < job_.end_ns[task]; });
    for (int i = 0; i < few && it != tasks.begin(); ++i)
      if (--it; fit(*it)) return *it;
    return no_task;
  }

  JobGraph graph_;
  RecordedJob job_;
  std::vector<Lane> streams_;
  std::vector<std::uint32_t> part_of_lane_;         // by lane of the graph
  std::vector<std::vector<std::uint32_t>> by_end_;  // by rank: its work, by end
  std::int64_t delay_ns_ = 0, gap_ns_ = 0;          // medians: from call to work, from work to work
};

}  // namespace models::trace
