#include "models/trace/replay/replay.h"

#include <algorithm>
#include <string>
#include <utility>

#include "models/trace/trace.h"

namespace models::trace {
namespace {

constexpr std::int64_t latest_ns = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::uint32_t max_job_ranks = 1u << 20;

/// Times stop at about 73 years instead of wrapping round.
std::int64_t later(std::int64_t at, std::int64_t by) { return std::min(at + by, latest_ns); }

bool is_length(std::int64_t ns) { return ns >= 0 && ns <= max_duration_ns; }

bool from_end(JobEdgeAt at) { return at == JobEdgeAt::end_to_start || at == JobEdgeAt::end_to_end; }
bool to_end(JobEdgeAt at) { return at == JobEdgeAt::end_to_end || at == JobEdgeAt::start_to_end; }

}  // namespace

/// Tasks that wait for nothing but their lane.
struct Replay::Alone {
  std::vector<bool> tasks;  ///< empty: none

  Alone(std::size_t count, std::span<const JobChange> changes) {
    for (const JobChange& c : changes) {
      if (c.task >= count || c.waits) continue;
      if (tasks.empty()) tasks.resize(count, false);
      tasks[c.task] = true;
    }
  }
  bool has(std::uint32_t task) const { return !tasks.empty() && tasks[task]; }
};

Status Replay::check() const {
  const auto nr = [](std::size_t i) { return std::to_string(i); };
  // Nodes are numbered in 32 bits: two a task and one a meeting.
  if (graph_.tasks.size() > (1u << 30) || graph_.edges.size() > (1u << 30) || graph_.meetings > (1u << 30))
    return Status::fail("The job has more than a billion tasks, edges or meetings; replay a part of it.");
  for (std::size_t i = 0; i < graph_.lanes.size(); ++i)
    if (graph_.lanes[i].rank >= max_job_ranks)
      return Status::fail("Lane " + nr(i) + " belongs to rank " + nr(graph_.lanes[i].rank) +
                          "; ranks are numbered from 0 to " + nr(max_job_ranks - 1) + ".");
  for (std::size_t i = 0; i < graph_.tasks.size(); ++i) {
    const JobTask& t = graph_.tasks[i];
    if (t.lane >= graph_.lanes.size())
      return Status::fail("Task " + nr(i) + " is on lane " + nr(t.lane) + ", but there are " + nr(graph_.lanes.size()) +
                          " lanes.");
    if ((t.meeting != no_task && t.meeting >= graph_.meetings) || (t.step != no_task && t.step >= graph_.steps))
      return Status::fail("Task " + nr(i) + " names a meeting or a step that is not there.");
    if (!is_length(t.duration_ns) || !is_length(t.not_before_ns) || !is_length(t.gap_ns))
      return Status::fail("Task " + nr(i) + " has a time that is negative or longer than a week.");
  }
  for (std::size_t i = 0; i < graph_.edges.size(); ++i) {
    const JobEdge& e = graph_.edges[i];
    if (e.from >= graph_.tasks.size() || e.to >= graph_.tasks.size())
      return Status::fail("Edge " + nr(i) + " names a task that is not there: there are " + nr(graph_.tasks.size()) +
                          " tasks.");
    if (e.delay_ns < -max_duration_ns || e.delay_ns > max_duration_ns)
      return Status::fail("Edge " + nr(i) + " has a delay of more than a week.");
  }
  return Status::ok();
}

void Replay::connect() {
  const std::size_t tasks = graph_.tasks.size();
  before_.assign(tasks, no_task);
  start_.resize(tasks);
  end_.resize(tasks);
  parts_of_.assign(graph_.meetings + std::size_t{1}, 0);
  arcs_of_.assign(2 * tasks + 1, 0);
  std::vector<std::uint32_t> last(graph_.lanes.size(), no_task);
  for (std::uint32_t i = 0; i < tasks; ++i) {
    const JobTask& t = graph_.tasks[i];
    before_[i] = std::exchange(last[t.lane], i);
    start_[i] = t.not_before_ns;
    end_[i] = t.duration_ns;
    if (t.meeting != no_task) ++parts_of_[t.meeting + 1];
  }
  for (std::size_t m = 1; m < parts_of_.size(); ++m) parts_of_[m] += parts_of_[m - 1];
  parts_.resize(parts_of_.back());
  std::vector<std::uint32_t> next(parts_of_.begin(), parts_of_.end() - 1);
  for (std::uint32_t i = 0; i < tasks; ++i)
    if (const std::uint32_t m = graph_.tasks[i].meeting; m != no_task) parts_[next[m]++] = i;
  const auto node = [](std::uint32_t task, bool end) { return 2 * task + (end ? 1u : 0u); };
  for (const JobEdge& e : graph_.edges) ++arcs_of_[node(e.to, to_end(e.at)) + 1];
  for (std::size_t n = 1; n < arcs_of_.size(); ++n) arcs_of_[n] += arcs_of_[n - 1];
  arcs_.resize(arcs_of_.back());
  next.assign(arcs_of_.begin(), arcs_of_.end() - 1);
  for (const JobEdge& e : graph_.edges)
    arcs_[next[node(e.to, to_end(e.at))]++] = {e.delay_ns, node(e.from, from_end(e.at)), e.kind};
}

/// Puts the nodes into an order in which each comes after all that it waits for.
Status Replay::sort() {
  const auto tasks = static_cast<std::uint32_t>(graph_.tasks.size());
  const std::uint32_t nodes = 2 * tasks + graph_.meetings;
  std::vector<std::uint32_t> after(tasks, no_task), waits(nodes, 0), first(2 * std::size_t{tasks} + 1, 0), to;
  for (std::uint32_t i = 0; i < tasks; ++i) {
    if (before_[i] != no_task) after[before_[i]] = i;
    const std::uint32_t meeting = graph_.tasks[i].meeting;
    waits[2 * i] = (before_[i] != no_task ? 1u : 0u) + arcs_of_[2 * i + 1] - arcs_of_[2 * i];
    waits[2 * i + 1] = 1 + (meeting != no_task ? 1u : 0u) + arcs_of_[2 * i + 2] - arcs_of_[2 * i + 1];
    if (meeting != no_task) ++waits[2 * tasks + meeting];
  }
  for (const Arc& a : arcs_) ++first[a.from + 1];
  for (std::size_t n = 1; n < first.size(); ++n) first[n] += first[n - 1];
  to.resize(arcs_.size());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (std::uint32_t n = 0; n < 2 * tasks; ++n)
    for (std::uint32_t a = arcs_of_[n]; a < arcs_of_[n + 1]; ++a) to[next[arcs_[a].from]++] = n;
  order_.clear();
  order_.reserve(nodes);
  const auto met = [&](std::uint32_t n) {
    if (--waits[n] == 0) order_.push_back(n);
  };
  for (std::uint32_t n = 0; n < nodes; ++n)
    if (waits[n] == 0) order_.push_back(n);
  for (std::size_t done = 0; done < order_.size(); ++done) {
    const std::uint32_t n = order_[done];
    if (n >= 2 * tasks) {
      for (std::uint32_t p = parts_of_[n - 2 * tasks]; p < parts_of_[n - 2 * tasks + 1]; ++p) met(2 * parts_[p] + 1);
      continue;
    }
    for (std::uint32_t i = first[n]; i < first[n + 1]; ++i) met(to[i]);
    const std::uint32_t task = n / 2;
    if (n % 2 == 1) {
      if (after[task] != no_task) met(2 * after[task]);
      continue;
    }
    met(n + 1);
    if (const std::uint32_t meeting = graph_.tasks[task].meeting; meeting != no_task) met(2 * tasks + meeting);
  }
  if (order_.size() == nodes) return Status::ok();
  const auto stuck = std::find_if(waits.begin(), waits.end(), [](std::uint32_t w) { return w > 0; });
  const auto n = static_cast<std::uint32_t>(stuck - waits.begin());
  return Status::fail(n < 2 * tasks ? "Task " + std::to_string(n / 2) + " on lane \"" +
                                          graph_.lanes[graph_.tasks[n / 2].lane].name.substr(0, 80) +
                                          "\" waits for itself in a circle; take an edge out of it."
                                    : "Tasks wait for each other in a circle; take an edge out of it.");
}

Result<Replay> Replay::of(JobGraph graph) {
  Replay out;
  out.graph_ = std::move(graph);
  if (const Status s = out.check(); !s) return Result<Replay>::fail(s.error);
  out.connect();
  if (const Status s = out.sort(); !s) return Result<Replay>::fail(s.error);
  out.run({}, out.unchanged_);
  return Result<Replay>::ok(std::move(out));
}

JobTimes Replay::run(std::span<const JobChange> changes) const {
  JobTimes out;
  run(changes, out);
  return out;
}

void Replay::run(std::span<const JobChange> changes, JobTimes& times) const {
  const auto tasks = static_cast<std::uint32_t>(graph_.tasks.size());
  // Until a task's turn comes, its start holds not_before_ns and its end its duration.
  times.start_ns = start_;
  times.end_ns = end_;
  times.meeting_ns.assign(graph_.meetings, 0);
  times.step_end_ns.assign(graph_.steps, 0);
  for (const JobChange& c : changes) {
    if (c.task >= tasks) continue;
    if (c.duration_ns != JobChange::keep)
      times.end_ns[c.task] = std::clamp<std::int64_t>(c.duration_ns, 0, max_duration_ns);
    if (c.not_before_ns != JobChange::keep)
      times.start_ns[c.task] = std::clamp<std::int64_t>(c.not_before_ns, 0, max_duration_ns);
  }
  const Alone alone_tasks(tasks, changes);
  const auto after_arcs = [&](std::uint32_t node, std::int64_t at) {
    for (std::uint32_t a = arcs_of_[node]; a < arcs_of_[node + 1]; ++a) {
      const Arc& arc = arcs_[a];
      const std::vector<std::int64_t>& ends = arc.from % 2 == 0 ? times.start_ns : times.end_ns;
      at = std::max(at, later(ends[arc.from / 2], arc.delay_ns));
    }
    return at;
  };
  for (const std::uint32_t node : order_) {
    if (node >= 2 * tasks) {
      const std::uint32_t meeting = node - 2 * tasks;
      const std::span<const std::uint32_t> parts(parts_.data() + parts_of_[meeting],
                                                 parts_of_[meeting + 1] - parts_of_[meeting]);
      std::int64_t at = 0;
      for (const std::uint32_t p : parts)
        if (!alone_tasks.has(p)) at = std::max(at, times.start_ns[p]);
      times.meeting_ns[meeting] = at;
      continue;
    }
    const std::uint32_t i = node / 2;
    const JobTask& t = graph_.tasks[i];
    const bool alone = alone_tasks.has(i);
    if (node % 2 == 0) {
      std::int64_t at = times.start_ns[i];
      if (before_[i] != no_task) at = std::max(at, later(times.end_ns[before_[i]], t.gap_ns));
      times.start_ns[i] = alone ? at : after_arcs(node, at);
      continue;
    }
    const bool meets = t.meeting != no_task && !alone;
    const std::int64_t at = later(meets ? times.meeting_ns[t.meeting] : times.start_ns[i], times.end_ns[i]);
    times.end_ns[i] = alone ? at : after_arcs(node, at);
  }
  times.length_ns = 0;
  for (std::uint32_t i = 0; i < tasks; ++i) {
    times.length_ns = std::max(times.length_ns, times.end_ns[i]);
    if (const std::uint32_t step = graph_.tasks[i].step; step != no_task)
      times.step_end_ns[step] = std::max(times.step_end_ns[step], times.end_ns[i]);
  }
  for (std::size_t s = 1; s < times.step_end_ns.size(); ++s)
    times.step_end_ns[s] = std::max(times.step_end_ns[s], times.step_end_ns[s - 1]);
}

JobWon Replay::won(std::span<const JobChange> changes) const {
  const JobTimes changed = run(changes);
  JobWon out{.whole_ns = unchanged_.length_ns - changed.length_ns, .step_ns = {}};
  std::int64_t before = 0;
  for (std::size_t s = 0; s < changed.step_end_ns.size(); ++s) {
    const std::int64_t so_far = unchanged_.step_end_ns[s] - changed.step_end_ns[s];
    out.step_ns.push_back(so_far - std::exchange(before, so_far));
  }
  return out;
}

}  // namespace models::trace
