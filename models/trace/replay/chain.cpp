#include <algorithm>
#include <limits>

#include "models/trace/replay/replay.h"
#include "models/trace/trace.h"

namespace models::trace {
namespace {

/// What the changes leave of the tasks: their durations, and who waits for what.
struct ChangedTasks {
  std::vector<std::int64_t> duration_ns;
  std::vector<bool> alone;

  ChangedTasks(const JobGraph& graph, std::span<const JobChange> changes) : alone(graph.tasks.size(), false) {
    for (const JobTask& t : graph.tasks) duration_ns.push_back(t.duration_ns);
    for (const JobChange& c : changes) {
      if (c.task >= graph.tasks.size()) continue;
      if (c.duration_ns != JobChange::keep)
        duration_ns[c.task] = std::clamp<std::int64_t>(c.duration_ns, 0, max_duration_ns);
      if (!c.waits) alone[c.task] = true;
    }
  }
};

}  // namespace

std::vector<JobLink> Replay::chain(const JobTimes& times, std::uint32_t node,
                                   std::span<const JobChange> changes) const {
  std::vector<JobLink> out;
  const ChangedTasks tasks(graph_, changes);
  const auto time_of = [&](std::uint32_t n) { return (n % 2 == 0 ? times.start_ns : times.end_ns)[n / 2]; };
  JobLink link{.task = node / 2, .from_ns = 0, .to_ns = time_of(node)};
  // The link is done: what comes before it ends at `from`, and holds it.
  const auto go_to = [&](std::uint32_t from, JobHold hold, std::int64_t at) {
    link.from_ns = std::min(at, link.to_ns);
    out.push_back(link);
    // A negative delay lets the next one begin while this one still runs.
    link = {.task = from / 2, .from_ns = 0, .to_ns = std::min(time_of(from), out.back().from_ns), .holds = hold};
    node = from;
  };
  const auto follow_arc = [&](std::int64_t at) {
    for (std::uint32_t a = arcs_of_[node]; a < arcs_of_[node + 1]; ++a)
      if (time_of(arcs_[a].from) + arcs_[a].delay_ns == at) {
        go_to(arcs_[a].from, static_cast<JobHold>(arcs_[a].kind), at);
        return true;
      }
    return false;
  };
  while (true) {
    const std::uint32_t i = node / 2;
    const JobTask& t = graph_.tasks[i];
    const std::int64_t at = time_of(node);
    if (node % 2 == 0) {
      if (!tasks.alone[i] && follow_arc(at)) continue;
      if (before_[i] == no_task || times.end_ns[before_[i]] + t.gap_ns != at) break;
      go_to(2 * before_[i] + 1, JobHold::lane, at);
      continue;
    }
    const bool meets = t.meeting != no_task && !tasks.alone[i];
    const std::int64_t from = meets ? times.meeting_ns[t.meeting] : times.start_ns[i];
    if (from + tasks.duration_ns[i] != at && !tasks.alone[i] && follow_arc(at)) continue;
    if (!meets || times.start_ns[i] == from) {
      node = 2 * i;
      continue;
    }
    const auto first = parts_.begin() + parts_of_[t.meeting], end = parts_.begin() + parts_of_[t.meeting + 1];
    const auto last =
        std::find_if(first, end, [&](std::uint32_t p) { return times.start_ns[p] == from && !tasks.alone[p]; });
    if (last == end) break;
    go_to(2 * *last, JobHold::meeting, from);
  }
  link.from_ns = std::min(times.start_ns[link.task], link.to_ns);
  out.push_back(link);
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<JobLink> Replay::chain_to_start(const JobTimes& times, std::uint32_t task,
                                            std::span<const JobChange> changes) const {
  if (task >= graph_.tasks.size()) return {};
  return chain(times, 2 * task, changes);
}

std::vector<JobLink> Replay::chain_to_end(const JobTimes& times, std::uint32_t task,
                                          std::span<const JobChange> changes) const {
  if (task >= graph_.tasks.size()) return {};
  return chain(times, 2 * task + 1, changes);
}

std::vector<JobLink> Replay::critical_path(const JobTimes& times, std::span<const JobChange> changes) const {
  if (times.end_ns.empty()) return {};
  const auto last = std::max_element(times.end_ns.begin(), times.end_ns.end());
  return chain_to_end(times, static_cast<std::uint32_t>(last - times.end_ns.begin()), changes);
}

std::vector<JobLinks> by_lane(const JobGraph& graph, std::span<const JobLink> chain) {
  std::vector<JobLinks> out;
  for (const JobLink& l : chain) {
    const bool same = !out.empty() && out.back().holds == JobHold::lane &&
                      graph.tasks[out.back().last].lane == graph.tasks[l.task].lane;
    if (!same) out.push_back({.first = l.task, .from_ns = l.from_ns});
    JobLinks& links = out.back();
    links.last = l.task;
    ++links.tasks;
    links.to_ns = l.to_ns;
    links.holds = l.holds;
  }
  return out;
}

}  // namespace models::trace
