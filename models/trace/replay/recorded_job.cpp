#include "models/trace/replay/recorded_job.h"

#include <algorithm>
#include <utility>

#include "models/trace/measure/median.h"
#include "models/trace/replay/recorded_build.h"

namespace models::trace {

std::uint32_t RecordedJob::task_of(std::uint32_t rank, std::uint32_t event) const {
  if (rank >= part_of.size()) return no_task;
  const std::vector<std::uint32_t>& tasks = parts[part_of[rank]].tasks;
  return event < tasks.size() ? tasks[event] : no_task;
}

RecordedJobBuilder::RecordedJobBuilder(std::span<const RecordedRank> ranks) {
  job_.ranks.assign(ranks.begin(), ranks.end());
  for (const RecordedRank& r : ranks) {
    std::uint32_t part = 0;
    while (part < job_.parts.size() && job_.parts[part].trace != r.trace) ++part;
    if (part == job_.parts.size()) job_.parts.push_back({r.trace, std::vector(r.trace->events.size(), no_task)});
    job_.part_of.push_back(part);
  }
  by_end_.resize(ranks.size());
}

const Event& RecordedJobBuilder::event_of(std::uint32_t task) const {
  return job_.parts[part_of_lane_[graph_.tasks[task].lane]].trace->events[graph_.tasks[task].event];
}

std::uint32_t RecordedJobBuilder::call_of(std::uint32_t task) const {
  const RecordedJob::Part& part = job_.parts[part_of_lane_[graph_.tasks[task].lane]];
  const std::uint32_t call = part.trace->events[graph_.tasks[task].event].link;
  return call == none ? no_task : part.tasks[call];
}

/// Collectives that end together tell what each clock has to have added. Without any, every recording begins at 0.
void RecordedJobBuilder::set_clocks(const JobWaits& waits) {
  const std::size_t n = job_.ranks.size();
  std::vector<bool> known(n, false);
  job_.clock_ns.assign(n, 0);
  const auto end_of = [&](const Collective& c, std::size_t r) {
    return job_.ranks[r].trace->events[c.events[r]].end_ns();
  };
  for (std::size_t first = 0; first < n; ++first) {
    if (known[first]) continue;
    known[first] = true;
    const Trace& t = *job_.ranks[first].trace;
    job_.clock_ns[first] = waits.collectives.empty() ? -t.first_ns : 0;
    for (bool any = !waits.collectives.empty(); any;) {
      any = false;
      std::vector<std::vector<std::int64_t>> differences(n);
      for (const Collective& c : waits.collectives) {
        std::size_t from = 0;
        while (from < n && (c.events[from] == none || !known[from])) ++from;
        for (std::size_t r = 0; from < n && r < n; ++r)
          if (c.events[r] != none && !known[r])
            differences[r].push_back(far_sum(far_sum(end_of(c, from), job_.clock_ns[from]), -end_of(c, r)));
      }
      for (std::size_t r = 0; r < n; ++r) {
        if (differences[r].empty()) continue;
        // One clock needs no moving, and devices of one recording have one.
        const std::int64_t bases = far_sum(job_.ranks[r].trace->base_ns, -t.base_ns);
        job_.clock_ns[r] = waits.one_clock ? bases : median_or(differences[r], 0);
        known[r] = any = true;
      }
    }
  }
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t other = 0; other < r; ++other)
      if (job_.part_of[r] == job_.part_of[other]) job_.clock_ns[r] = job_.clock_ns[other];
}

std::uint32_t RecordedJobBuilder::add(std::uint32_t part, const JobTask& task, std::int64_t start_ns,
                                      std::int64_t end_ns, std::uint32_t track) {
  std::size_t rank = 0;
  while (job_.part_of[rank] != part) ++rank;
  const std::uint32_t out = graph_.add_task(task);
  job_.start_ns.push_back(far_sum(start_ns, job_.clock_ns[rank]));
  job_.end_ns.push_back(far_sum(end_ns, job_.clock_ns[rank]));
  job_.thread_of.push_back(track);
  if (task.event != none) job_.parts[part].tasks[task.event] = out;
  return out;
}

void RecordedJobBuilder::add_streams(std::uint32_t rank) {
  for (const Track& t : job_.ranks[rank].trace->tracks)
    if (t.kind == TrackKind::stream && t.device == job_.ranks[rank].device) add_stream(rank, t);
  std::vector<std::uint32_t>& ends = by_end_[rank];
  for (const Lane& l : streams_)
    for (std::uint32_t i = l.first; l.rank == rank && i < l.first + l.count; ++i) ends.push_back(i);
  std::sort(ends.begin(), ends.end(),
            [&](auto a, auto b) { return job_.end_ns[a] != job_.end_ns[b] ? job_.end_ns[a] < job_.end_ns[b] : a < b; });
}

void RecordedJobBuilder::add_stream(std::uint32_t rank, const Track& track) {
  const std::uint32_t part = job_.part_of[rank];
  const std::vector<Event>& events = job_.parts[part].trace->events;
  std::vector<std::uint32_t> work;
  for (std::uint32_t i = track.first; i < track.first + track.count; ++i)
    if (events[i].kind == EventKind::span && on_device(events[i].cls)) work.push_back(i);
  if (work.empty()) return;
  const std::uint32_t lane = graph_.add_lane("stream " + std::to_string(track.stream), rank);
  part_of_lane_.push_back(part);
  streams_.push_back({rank, static_cast<std::uint32_t>(graph_.tasks.size()), static_cast<std::uint32_t>(work.size())});
  for (std::size_t i = 0; i < work.size(); ++i) {
    const Event& e = events[work[i]];
    const bool cut = i + 1 < work.size() && events[work[i + 1]].start_ns < e.end_ns();
    const std::int64_t end_ns = cut ? events[work[i + 1]].start_ns : e.end_ns();
    job_.fit.cut += cut;
    add(part, {.duration_ns = end_ns - e.start_ns, .lane = lane, .event = work[i]}, e.start_ns, end_ns, none);
  }
}

/// The job begins at 0. Only what nothing that was recorded holds up begins when it did.
void RecordedJobBuilder::set_starts() {
  const std::int64_t first_ns = *std::min_element(job_.start_ns.begin(), job_.start_ns.end());
  for (std::size_t i = 0; i < graph_.tasks.size(); ++i) {
    job_.start_ns[i] = far_sum(job_.start_ns[i], -first_ns);
    job_.end_ns[i] = far_sum(job_.end_ns[i], -first_ns);
  }
  for (const RecordedJob::HostLane& h : job_.hosts) graph_.tasks[h.first].not_before_ns = job_.start_ns[h.first];
  for (const Lane& l : streams_)
    if (call_of(l.first) == no_task) graph_.tasks[l.first].not_before_ns = job_.start_ns[l.first];
  for (std::int64_t& c : job_.clock_ns) c = far_sum(c, -first_ns);
}

/// Steps of ranks are the same steps in their order; a task belongs to the one that it begins in.
void RecordedJobBuilder::set_steps() {
  for (const RecordedRank& r : job_.ranks)
    graph_.steps = std::max(graph_.steps, static_cast<std::uint32_t>(r.steps.size()));
  for (std::size_t i = 0; i < graph_.tasks.size(); ++i) {
    const std::uint32_t rank = graph_.rank_of(static_cast<std::uint32_t>(i));
    const std::span<const Step> steps = job_.ranks[rank].steps;
    const std::int64_t at = far_sum(job_.start_ns[i], -job_.clock_ns[rank]);
    const auto after =
        std::upper_bound(steps.begin(), steps.end(), at, [](std::int64_t t, const Step& s) { return t < s.start_ns; });
    if (after != steps.begin()) graph_.tasks[i].step = static_cast<std::uint32_t>(after - steps.begin() - 1);
  }
}

/// No part of a meeting moves data before the last has come, so its own work is what it takes from there.
void RecordedJobBuilder::add_meetings(const JobWaits& waits) {
  for (const Collective& c : waits.collectives) {
    std::vector<std::uint32_t> parts;
    std::int64_t last_ns = INT64_MIN;
    for (std::uint32_t r = 0; r < c.events.size(); ++r) {
      const std::uint32_t task = c.events[r] == none ? no_task : job_.task_of(r, c.events[r]);
      if (task == no_task) continue;
      parts.push_back(task);
      last_ns = std::max(last_ns, job_.start_ns[task]);
    }
    if (parts.size() < 2) continue;
    for (const std::uint32_t p : parts) {
      graph_.tasks[p].meeting = graph_.meetings;
      graph_.tasks[p].duration_ns = std::max<std::int64_t>(0, job_.end_ns[p] - last_ns);
    }
    ++graph_.meetings;
  }
  job_.fit.collectives = graph_.meetings;
}

/// With times that contradict each other: what leads forward in time makes no circle.
void RecordedJobBuilder::keep_forward_edges() {
  job_.fit.loosened = true;
  std::erase_if(graph_.edges, [&](const JobEdge& e) {
    const bool ends = e.at == JobEdgeAt::end_to_start || e.at == JobEdgeAt::end_to_end;
    const bool at_end = e.at == JobEdgeAt::end_to_end || e.at == JobEdgeAt::start_to_end;
    return (ends ? job_.end_ns : job_.start_ns)[e.from] >= (at_end ? job_.end_ns : job_.start_ns)[e.to];
  });
  std::vector<bool> backward(graph_.meetings, false);
  std::vector<std::int64_t> last(graph_.meetings, INT64_MIN);
  for (std::size_t i = 0; i < graph_.tasks.size(); ++i)
    if (const std::uint32_t m = graph_.tasks[i].meeting; m != no_task) last[m] = std::max(last[m], job_.start_ns[i]);
  for (std::size_t i = 0; i < graph_.tasks.size(); ++i)
    if (const std::uint32_t m = graph_.tasks[i].meeting; m != no_task && job_.end_ns[i] <= last[m]) backward[m] = true;
  for (std::size_t i = 0; i < graph_.tasks.size(); ++i)
    if (std::uint32_t& m = graph_.tasks[i].meeting; m != no_task && backward[m]) {
      m = no_task;
      graph_.tasks[i].duration_ns = job_.end_ns[i] - job_.start_ns[i];
    }
}

void RecordedJobBuilder::measure_fit() {
  ReplayFit& fit = job_.fit;
  const JobTimes& run = job_.replay->unchanged();
  double shorter = 0, longer = 0;
  for (const std::vector<std::uint32_t>& work : by_end_) {
    std::int64_t recorded = 0, replayed = 0;
    for (const std::uint32_t i : work) {
      const std::int64_t a = std::max(recorded, job_.end_ns[i]), b = std::max(replayed, run.end_ns[i]);
      const double took = static_cast<double>(a - recorded), takes = static_cast<double>(b - replayed);
      shorter += std::min(took, takes);
      longer += std::max(took, takes);
      recorded = a;
      replayed = b;
      ++fit.work;
      fit.launched += call_of(i) != no_task;
      fit.alone += event_of(i).cls == EventClass::communication && graph_.tasks[i].meeting == no_task;
    }
  }
  fit.explained = longer > 0 ? shorter / longer : 0;
  fit.recorded_ns = *std::max_element(job_.end_ns.begin(), job_.end_ns.end());
  fit.replayed_ns = run.length_ns;
}

Result<RecordedJob> RecordedJobBuilder::build() {
  std::vector<RankWork> rows;
  for (const RecordedRank& r : job_.ranks) rows.push_back({r.trace, r.device});
  const JobWaits waits = waits_of(rows);
  set_clocks(waits);
  for (std::uint32_t p = 0; p < job_.parts.size(); ++p) add_hosts(p);
  for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) add_streams(r);
  if (streams_.empty())
    return Result<RecordedJob>::fail("No device did any work in these recordings, so there is nothing to replay.");
  set_starts();
  set_steps();
  add_meetings(waits);
  add_launches();
  add_gaps();
  for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) add_collective_waits(r);
  for (std::uint32_t p = 0; p < job_.parts.size(); ++p) add_syncs(p);
  add_queues();
  Result<Replay> made = Replay::of(graph_);
  if (!made) {
    keep_forward_edges();
    made = Replay::of(graph_);
  }
  if (!made) return Result<RecordedJob>::fail(made.error);
  job_.replay = std::make_shared<const Replay>(std::move(*made));
  measure_fit();
  return Result<RecordedJob>::ok(std::move(job_));
}

Result<RecordedJob> recorded_job(std::span<const RecordedRank> ranks) {
  if (ranks.empty())
    return Result<RecordedJob>::fail("No device did any work in these recordings, so there is nothing to replay.");
  return RecordedJobBuilder(ranks).build();
}

}  // namespace models::trace
