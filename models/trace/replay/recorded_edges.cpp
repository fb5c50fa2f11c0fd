#include <algorithm>
#include <string_view>

#include "models/trace/measure/median.h"
#include "models/trace/replay/recorded_build.h"

namespace models::trace {
namespace {

/// A call as short as this is not held up by a copy of its own.
constexpr std::int64_t short_call_ns = 20'000;

bool copies(std::string_view name) {
  return name.find("emcpy") != std::string_view::npos || name.find("emset") != std::string_view::npos;
}

}  // namespace

/// Does the call return only when the work that it launched has ended?
bool RecordedJobBuilder::blocks(std::uint32_t call, std::uint32_t work) const {
  const Trace& trace = *job_.parts[part_of_lane_[graph_.tasks[call].lane]].trace;
  return job_.end_ns[work] <= job_.end_ns[call] && job_.end_ns[call] - job_.start_ns[call] >= short_call_ns &&
         copies(trace.name(event_of(call)));
}

/// Two medians of the recordings: from a call's end to the start of work that nothing else held up, and from work to
/// work that was launched in time.
void RecordedJobBuilder::measure_delays() {
  std::vector<std::int64_t> delays, gaps;
  for (const Lane& l : streams_)
    for (std::uint32_t i = l.first; i < l.first + l.count; ++i) {
      const std::uint32_t call = call_of(i);
      const std::int64_t free_ns = i > l.first ? job_.end_ns[i - 1] : -far_ns;
      const std::int64_t called_ns = call == no_task ? -far_ns : job_.end_ns[call];
      const std::int64_t delay = job_.start_ns[i] - called_ns, gap = job_.start_ns[i] - free_ns;
      if (called_ns > free_ns && delay >= 0 && delay <= max_launch_delay_ns) delays.push_back(delay);
      if (called_ns <= free_ns && i > l.first && gap < kernel_wait_below_ns) gaps.push_back(gap);
    }
  delay_ns_ = median_or(delays, 0);
  gap_ns_ = median_or(gaps, 0);
}

/// From the end of the call to the start of the work, as recorded where the stream was free, else the usual one.
/// Negative where the work began inside its call.
std::int64_t RecordedJobBuilder::launch_delay(std::uint32_t lane_first, std::uint32_t task) const {
  const std::uint32_t call = call_of(task);
  const std::int64_t delay = job_.start_ns[task] - job_.end_ns[call];
  const bool queued = task > lane_first && job_.end_ns[task - 1] >= job_.end_ns[call];
  return std::max(std::min(delay, queued ? delay_ns_ : max_launch_delay_ns),
                  job_.start_ns[call] - job_.end_ns[call] - max_launch_delay_ns);
}

void RecordedJobBuilder::add_launches() {
  measure_delays();
  for (const Lane& l : streams_)
    for (std::uint32_t i = l.first; i < l.first + l.count; ++i) {
      const std::uint32_t call = call_of(i);
      // A graph's call launches many: the first on each stream waits for it, the others for the first.
      if (call == no_task || (i > l.first && call_of(i - 1) == call)) continue;
      const std::int64_t delay = launch_delay(l.first, i), lead = job_.start_ns[i] - job_.start_ns[call];
      if (delay < 0 && (blocks(call, i) || lead <= 0)) {
        const bool queued = i > l.first && job_.end_ns[i - 1] > job_.start_ns[call];
        graph_.add_edge(call, i, JobEdgeKind::launch, JobEdgeAt::start_to_start,
                        std::max(queued ? std::min(lead, delay_ns_) : lead, -max_launch_delay_ns));
      } else {
        graph_.add_edge(call, i, JobEdgeKind::launch, JobEdgeAt::end_to_start, delay);
        if (delay < 0) graph_.add_edge(call, i, JobEdgeKind::launch, JobEdgeAt::start_to_start);
      }
      if (!blocks(call, i)) continue;
      const std::int64_t tail = job_.end_ns[call] - job_.end_ns[i];
      graph_.tasks[call].duration_ns = std::min(graph_.tasks[call].duration_ns, tail);
      graph_.add_edge(i, call, JobEdgeKind::sync, JobEdgeAt::end_to_end, std::min(tail, max_launch_delay_ns));
    }
}

/// What a stream needs from one task to the next, and what it waited for on other streams.
void RecordedJobBuilder::add_gaps() {
  for (const Lane& l : streams_)
    for (std::uint32_t i = l.first; i < l.first + l.count; ++i) {
      const std::int64_t start_ns = job_.start_ns[i], free_ns = i > l.first ? job_.end_ns[i - 1] : -far_ns;
      const std::int64_t gap = start_ns - free_ns;
      std::int64_t& needs = graph_.tasks[i].gap_ns;
      needs = i > l.first ? std::min(gap, gap_ns_) : 0;
      const std::uint32_t call = call_of(i);
      // Launched as late as it began: the stream had nothing to do.
      if (call != no_task && start_ns - job_.end_ns[call] <= launch_delay(l.first, i) && job_.end_ns[call] > free_ns)
        continue;
      const std::uint32_t other = last_ended(by_end_[l.rank], start_ns, [&](std::uint32_t task) {
        return graph_.tasks[task].lane != graph_.tasks[i].lane;
      });
      if (other != no_task && job_.end_ns[other] > free_ns && start_ns - job_.end_ns[other] < kernel_wait_below_ns &&
          job_.start_ns[other] < start_ns)
        graph_.add_edge(other, i, JobEdgeKind::stream_wait, JobEdgeAt::end_to_start, start_ns - job_.end_ns[other]);
      else if (i > l.first && gap < kernel_wait_below_ns)
        needs = gap;
    }
}

/// A collective's stream waits for the computation that was launched before it, on any other stream.
void RecordedJobBuilder::add_collective_waits(std::uint32_t rank) {
  std::vector<std::uint32_t> work;
  for (const std::uint32_t i : by_end_[rank])
    if (call_of(i) != no_task) work.push_back(i);
  const auto call_ns = [&](std::uint32_t i) { return job_.start_ns[call_of(i)]; };
  std::sort(work.begin(), work.end(),
            [&](auto a, auto b) { return call_ns(a) != call_ns(b) ? call_ns(a) < call_ns(b) : a < b; });
  std::uint32_t computed = no_task;
  for (const std::uint32_t i : work) {
    if (event_of(i).cls == EventClass::computation) computed = i;
    if (event_of(i).cls != EventClass::communication || computed == no_task) continue;
    if (graph_.tasks[computed].lane != graph_.tasks[i].lane && job_.end_ns[computed] <= job_.start_ns[i] &&
        job_.start_ns[computed] < job_.start_ns[i])
      graph_.add_edge(computed, i, JobEdgeKind::stream_wait);
  }
}

/// A call that waits for the device: for the last of the work launched before it that ended while it waited.
void RecordedJobBuilder::add_syncs(std::uint32_t part) {
  const Trace& trace = *job_.parts[part].trace;
  std::vector<bool> waits(trace.strings.size(), false);
  for (std::size_t s = 0; s < waits.size(); ++s) waits[s] = waits_for_device(trace.strings[s]);
  for (const RecordedJob::HostLane& h : job_.hosts) {
    if (h.part != part) continue;
    for (std::uint32_t call = h.first; call < h.first + h.count; ++call) {
      if (graph_.tasks[call].event == none || !waits[event_of(call).name]) continue;
      std::uint32_t last = no_task;
      for (std::uint32_t r = 0; r < job_.ranks.size(); ++r) {
        if (job_.part_of[r] != part) continue;
        const std::uint32_t found = last_ended(by_end_[r], job_.end_ns[call], [&](std::uint32_t task) {
          const std::uint32_t by = call_of(task);
          return (by == no_task ? job_.start_ns[task] : job_.start_ns[by]) < job_.start_ns[call] &&
                 job_.start_ns[task] < job_.end_ns[call];
        });
        if (found != no_task && (last == no_task || job_.end_ns[found] > job_.end_ns[last])) last = found;
      }
      if (last == no_task || job_.end_ns[last] <= job_.start_ns[call]) continue;
      const std::int64_t tail = job_.end_ns[call] - job_.end_ns[last];
      graph_.tasks[call].duration_ns = std::min(graph_.tasks[call].duration_ns, tail);
      graph_.add_edge(last, call, JobEdgeKind::sync, JobEdgeAt::end_to_end, std::min(tail, max_launch_delay_ns));
    }
  }
}

/// Calls that found the queue of their stream full: where it is deep, and the call lasts twice as long as the median.
void RecordedJobBuilder::add_queues() {
  for (const Lane& l : streams_) {
    std::vector<std::uint32_t> calls, ahead;  // by call: its task, and how much was launched and had not begun
    std::vector<std::int64_t> lengths;
    std::uint32_t begun = l.first, most = 0;
    std::vector<std::uint32_t> launched;  // the first work of each call
    for (std::uint32_t i = l.first; i < l.first + l.count; ++i) {
      const std::uint32_t call = call_of(i);
      if (call == no_task || (i > l.first && call_of(i - 1) == call)) continue;
      while (begun < i && job_.start_ns[begun] <= job_.start_ns[call]) ++begun;
      launched.push_back(i);
      calls.push_back(call);
      ahead.push_back(i - begun);
      most = std::max(most, i - begun);
      lengths.push_back(graph_.tasks[call].duration_ns);
    }
    if (most < deep_queue) continue;
    const std::int64_t usual = median_or(lengths, 0);
    for (std::size_t k = 0; k < calls.size(); ++k) {
      const std::uint32_t call = calls[k];
      if (ahead[k] < deep_queue || graph_.tasks[call].duration_ns < 2 * usual || launched[k] < l.first + deep_queue)
        continue;
      // The last that began before the call returned made room.
      std::uint32_t room = launched[k] - ahead[k];
      while (room + 1 < launched[k] && job_.start_ns[room + 1] <= job_.end_ns[call]) ++room;
      if (job_.start_ns[room] <= job_.start_ns[call] || job_.start_ns[room] > job_.end_ns[call]) continue;
      const std::int64_t tail = job_.end_ns[call] - job_.start_ns[room];
      graph_.tasks[call].duration_ns = std::min({graph_.tasks[call].duration_ns, usual, std::max(tail, usual)});
      graph_.add_edge(room, call, JobEdgeKind::queue, JobEdgeAt::start_to_end, std::min(tail, max_launch_delay_ns));
    }
  }
}

}  // namespace models::trace
