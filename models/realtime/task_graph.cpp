#include "models/realtime/task_graph.h"

#include <algorithm>
#include <limits>

namespace models {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

enum class State : std::uint8_t { waiting, ready, running, done };

struct Work {
  State state = State::waiting;
  std::size_t missing = 0;  ///< what it still waits for, its frame's release included
  std::int64_t remaining_ns = 0, since_ns = 0;
  std::uint32_t unit = 0;
  bool started = false;
};

/// One run of the list scheduler. Jobs are numbered frame x tasks + task.
class Run {
 public:
  Run(const TaskGraph& graph, const GraphOptions& options)
      : g_(graph), o_(options), n_(graph.tasks.size()), frames_(static_cast<std::size_t>(options.frames)) {
    users_.resize(n_);
    for (std::size_t i = 0; i < n_; ++i)
      for (const std::size_t d : g_.tasks[i].after) users_[d].push_back(i);
    work_.resize(n_ * frames_);
    out_.jobs.resize(work_.size());
    out_.frames.resize(frames_);
    left_.assign(frames_, n_);
    units_.resize(g_.resources.size());
    for (std::size_t r = 0; r < units_.size(); ++r)
      units_[r].assign(static_cast<std::size_t>(
                           std::min<std::int64_t>(g_.resources[r].units, static_cast<std::int64_t>(work_.size()))),
                       free_unit);
    for (std::size_t f = 0; f < frames_; ++f) {
      out_.frames[f].release_ns = static_cast<std::int64_t>(f) * o_.period_ns;
      for (std::size_t i = 0; i < n_; ++i) {
        Work& w = work_[f * n_ + i];
        w.remaining_ns = g_.tasks[i].duration_ns;
        w.missing = 1 + g_.tasks[i].after.size() + (g_.tasks[i].after_own_last && f > 0);
      }
    }
  }

  GraphSchedule schedule() {
    for (std::int64_t now = 0; now != never; now = next_event(now)) {
      do {
        finish(now);
        release(now);
        for (std::size_t r = 0; r < units_.size(); ++r) dispatch(r, now);
      } while (ends_at(now));
    }
    std::stable_sort(out_.segments.begin(), out_.segments.end(),
                     [](const GraphSegment& a, const GraphSegment& b) { return a.start_ns < b.start_ns; });
    return std::move(out_);
  }

 private:
  static constexpr std::size_t free_unit = std::numeric_limits<std::size_t>::max();

  bool before(std::size_t a, std::size_t b) const {
    const std::int64_t pa = g_.tasks[a % n_].priority, pb = g_.tasks[b % n_].priority;
    return pa != pb ? pa > pb : a < b;
  }
  std::int64_t end_of(std::size_t job) const { return work_[job].since_ns + work_[job].remaining_ns; }

  template <class Visit>
  void each_running(const Visit& visit) const {
    for (const auto& units : units_)
      for (const std::size_t job : units)
        if (job != free_unit) visit(job);
  }
  std::int64_t next_event(std::int64_t now) const {
    std::int64_t next = never;
    each_running([&](std::size_t job) { next = std::min(next, end_of(job)); });
    if (released_ < frames_ && out_.frames[released_].release_ns > now)
      next = std::min(next, out_.frames[released_].release_ns);
    return next;
  }
  bool ends_at(std::int64_t now) const {
    bool any = false;
    each_running([&](std::size_t job) { any |= end_of(job) <= now; });
    return any;
  }

  void satisfy(std::size_t job, std::int64_t now) {
    if (--work_[job].missing > 0) return;
    work_[job].state = State::ready;
    out_.jobs[job].ready_ns = now;
    ready_.push_back(job);
  }
  void leave(std::size_t job, std::int64_t now) {
    const Work& w = work_[job];
    units_[g_.tasks[job % n_].resource][w.unit] = free_unit;
    if (now > w.since_ns || g_.tasks[job % n_].duration_ns == 0)
      out_.segments.push_back(
          {w.since_ns, now, static_cast<std::uint32_t>(job / n_), static_cast<std::uint32_t>(job % n_), w.unit});
  }
  void finish(std::int64_t now) {
    ended_.clear();
    each_running([&](std::size_t job) {
      if (end_of(job) <= now) ended_.push_back(job);
    });
    for (const std::size_t job : ended_) {
      leave(job, now);
      work_[job].state = State::done;
      out_.jobs[job].finish_ns = now;
      out_.makespan_ns = std::max(out_.makespan_ns, now);
      const std::size_t f = job / n_, task = job % n_;
      for (const std::size_t user : users_[task]) satisfy(f * n_ + user, now);
      if (g_.tasks[task].after_own_last && f + 1 < frames_) satisfy(job + n_, now);
      if (--left_[f] == 0) out_.frames[f].finish_ns = now;
    }
  }
  void release(std::int64_t now) {
    while (released_ < frames_ && out_.frames[released_].release_ns <= now &&
           (o_.pipelined || released_ == 0 || left_[released_ - 1] == 0)) {
      out_.frames[released_].start_ns = never;
      for (std::size_t i = 0; i < n_; ++i) satisfy(released_ * n_ + i, now);
      ++released_;
    }
  }
  void start(std::size_t job, std::size_t resource, std::int64_t now) {
    Work& w = work_[job];
    auto& units = units_[resource];
    w.unit = static_cast<std::uint32_t>(std::find(units.begin(), units.end(), free_unit) - units.begin());
    units[w.unit] = job;
    w.state = State::running;
    w.since_ns = now;
    if (!w.started) out_.jobs[job].start_ns = now;
    w.started = true;
    auto& first = out_.frames[job / n_].start_ns;
    first = std::min(first, now);
  }
  void dispatch(std::size_t resource, std::int64_t now) {
    auto& units = units_[resource];
    for (;;) {
      auto best = ready_.end();
      for (auto it = ready_.begin(); it != ready_.end(); ++it)
        if (g_.tasks[*it % n_].resource == resource && (best == ready_.end() || before(*it, *best))) best = it;
      if (best == ready_.end()) return;
      const std::size_t job = *best;
      if (std::find(units.begin(), units.end(), free_unit) == units.end()) {
        const std::size_t last =
            *std::max_element(units.begin(), units.end(), [&](std::size_t a, std::size_t b) { return before(a, b); });
        // Only a higher priority takes a place: an older frame alone is no reason to stop work that has begun.
        if (!o_.preemptive || g_.tasks[job % n_].priority <= g_.tasks[last % n_].priority) return;
        leave(last, now);
        work_[last].remaining_ns = end_of(last) - now;
        work_[last].state = State::ready;
        *best = last;
        ++out_.preemptions;
      } else {
        ready_.erase(best);
      }
      start(job, resource, now);
    }
  }

  const TaskGraph& g_;
  const GraphOptions& o_;
  std::size_t n_, frames_, released_ = 0;
  std::vector<std::vector<std::size_t>> users_, units_;
  std::vector<Work> work_;
  std::vector<std::size_t> left_, ready_, ended_;
  GraphSchedule out_;
};

}  // namespace

Result<GraphSchedule> schedule_frames(const TaskGraph& graph, const GraphOptions& options) {
  using R = Result<GraphSchedule>;
  if (const auto order = topological_order(graph); !order) return R::fail(order.error);
  for (const GraphTask& t : graph.tasks) {
    if (t.resource >= graph.resources.size()) return R::fail("'" + t.name + "' names a resource that does not exist.");
    if (graph.resources[t.resource].units < 1)
      return R::fail("'" + t.name + "' runs on " + graph.resources[t.resource].name +
                     " and there is none: add one or move the task.");
    if (t.duration_ns < 0) return R::fail("'" + t.name + "' takes a negative time: allowed is 0 or more.");
  }
  if (options.frames < 1 || options.frames > 4096 || options.period_ns < 0)
    return R::fail("The schedule takes 1 to 4,096 frames and a period of 0 or more.");
  return R::ok(Run(graph, options).schedule());
}

Result<double> sustained_rate_hz(const TaskGraph& graph, GraphOptions options) {
  constexpr std::size_t first = 16, last = 40;  // past the filling, short of the draining
  options.frames = 48;
  options.period_ns = 0;
  const auto s = schedule_frames(graph, options);
  if (!s) return Result<double>::fail(s.error);
  const auto ended = [&](std::size_t f) { return s->frames[f].finish_ns; };
  // Frames may end in groups: a beat of k frames that repeats is exact, whatever its place in the group.
  std::size_t beat = last - first;
  for (std::size_t k = 1; k <= 8; ++k) {
    bool repeats = true;
    for (std::size_t f = first + k; f <= last && repeats; ++f)
      repeats = ended(f) - ended(f - k) == ended(first + k) - ended(first);
    if (repeats) {
      beat = k;
      break;
    }
  }
  const std::int64_t span_ns = ended(first + beat) - ended(first);
  return Result<double>::ok(span_ns > 0 ? static_cast<double>(beat) * 1e9 / static_cast<double>(span_ns) : 0);
}

}  // namespace models
