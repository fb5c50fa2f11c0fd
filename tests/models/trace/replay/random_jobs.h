#pragma once
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "models/trace/replay/replay.h"

/// Random jobs, and their runs by another way than the engine's: every constraint again and again until none moves
/// anything.
namespace job_test {

using models::trace::JobChange;
using models::trace::JobEdgeAt;
using models::trace::JobEdgeKind;
using models::trace::JobGraph;
using models::trace::JobTimes;
using models::trace::no_task;

inline std::int64_t any(std::mt19937_64& random, std::int64_t lo, std::int64_t hi) {
  return lo + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(hi - lo + 1));
}

/// Tasks in an order in which they can run, on up to 6 lanes of 3 ranks, with edges forward in that order, and meetings
/// of neighbours on different lanes.
inline JobGraph random_job(std::mt19937_64& random) {
  JobGraph g;
  const std::int64_t lanes = any(random, 1, 6), tasks = any(random, 0, 40);
  for (std::int64_t l = 0; l < lanes; ++l) g.add_lane("lane", static_cast<std::uint32_t>(l % 3));
  g.steps = static_cast<std::uint32_t>(any(random, 0, 3));
  std::vector<std::uint32_t> met;  // the tasks of the meeting that is still open
  for (std::int64_t i = 0; i < tasks; ++i) {
    const auto lane = static_cast<std::uint32_t>(any(random, 0, lanes - 1));
    const auto same_lane = [&](std::uint32_t p) { return g.tasks[p].lane == lane; };
    if (any(random, 0, 3) == 0 || std::any_of(met.begin(), met.end(), same_lane)) met.clear();
    const bool meets = any(random, 0, 3) == 0;
    if (meets && met.empty()) ++g.meetings;
    const std::uint32_t task =
        g.add_task({.duration_ns = any(random, 0, 50),
                    .lane = lane,
                    .meeting = meets ? g.meetings - 1 : no_task,
                    .not_before_ns = any(random, 0, 4) == 0 ? any(random, 0, 200) : 0,
                    .gap_ns = any(random, 0, 3) == 0 ? any(random, 0, 9) : 0,
                    .step = g.steps > 0 ? static_cast<std::uint32_t>(i * g.steps / tasks) : no_task});
    // While a meeting is open its later parts wait for nothing that could come after its first.
    const std::uint32_t before = meets && !met.empty() ? met.front() : task;
    for (std::int64_t e = any(random, 0, 2); e > 0 && before > 0; --e)
      g.add_edge(static_cast<std::uint32_t>(any(random, 0, before - 1)), task,
                 static_cast<JobEdgeKind>(any(random, 0, 5)), static_cast<JobEdgeAt>(any(random, 0, 3)),
                 any(random, -5, 20));
    if (meets) met.push_back(task);
    if (!meets) met.clear();
  }
  return g;
}

/// Bellman and Ford's longest paths, from times of 0 up. Knows durations, starts and who waits; not `on_time`.
inline JobTimes slow_run(const JobGraph& g, const std::vector<JobChange>& changes = {}) {
  JobTimes out;
  std::vector<std::int64_t> duration, start;
  std::vector<bool> alone(g.tasks.size(), false);
  for (const auto& t : g.tasks) {
    duration.push_back(t.duration_ns);
    start.push_back(t.not_before_ns);
  }
  for (const JobChange& c : changes) {
    if (c.duration_ns != JobChange::keep) duration[c.task] = c.duration_ns;
    if (c.not_before_ns != JobChange::keep) start[c.task] = c.not_before_ns;
    if (!c.waits) alone[c.task] = true;
  }
  out.start_ns = start;
  out.end_ns = start;
  out.meeting_ns.assign(g.meetings, 0);
  bool moved = true;
  const auto hold = [&](std::int64_t& time, std::int64_t at) {
    if (at > time) moved = true;
    time = std::max(time, at);
  };
  while (moved) {
    moved = false;
    std::vector<std::uint32_t> last(g.lanes.size(), no_task);
    for (std::uint32_t i = 0; i < g.tasks.size(); ++i) {
      const auto& t = g.tasks[i];
      if (last[t.lane] != no_task) hold(out.start_ns[i], out.end_ns[last[t.lane]] + t.gap_ns);
      last[t.lane] = i;
      hold(out.end_ns[i], out.start_ns[i] + duration[i]);
      if (t.meeting == no_task || alone[i]) continue;
      hold(out.meeting_ns[t.meeting], out.start_ns[i]);
      hold(out.end_ns[i], out.meeting_ns[t.meeting] + duration[i]);
    }
    for (const auto& e : g.edges) {
      if (alone[e.to]) continue;
      const bool ends = e.at == JobEdgeAt::end_to_start || e.at == JobEdgeAt::end_to_end;
      const bool at_end = e.at == JobEdgeAt::end_to_end || e.at == JobEdgeAt::start_to_end;
      hold((at_end ? out.end_ns : out.start_ns)[e.to], (ends ? out.end_ns : out.start_ns)[e.from] + e.delay_ns);
    }
  }
  for (const std::int64_t end : out.end_ns) out.length_ns = std::max(out.length_ns, end);
  return out;
}

inline std::vector<JobChange> random_changes(std::mt19937_64& random, const JobGraph& g) {
  std::vector<JobChange> out;
  for (std::int64_t n = g.tasks.empty() ? 0 : any(random, 0, 5); n > 0; --n)
    out.push_back({.task = static_cast<std::uint32_t>(any(random, 0, static_cast<std::int64_t>(g.tasks.size()) - 1)),
                   .duration_ns = any(random, 0, 2) == 0 ? JobChange::keep : any(random, 0, 60),
                   .not_before_ns = any(random, 0, 2) == 0 ? any(random, 0, 100) : JobChange::keep,
                   .waits = any(random, 0, 3) != 0});
  return out;
}

}  // namespace job_test
