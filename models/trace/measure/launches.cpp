#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "models/trace/measure/median.h"
#include "models/trace/measure/metrics.h"

namespace models::trace {
namespace {

constexpr std::int64_t ordinary_intervals = 4, latency_below_ns = 100'000;
constexpr std::int64_t long_launch_ns = 1'000'000, long_launch_medians = 100;

/// The call that launched what ended a gap; null: it is not in the file.
const Event* call_of(const Trace& trace, const Gap& gap) {
  const std::uint32_t link = gap.next == none ? none : trace.events[gap.next].link;
  return link == none ? nullptr : &trace.events[link];
}

/// What a thread was in for at least three quarters of a stretch of time: the innermost such span other than `but`.
std::uint32_t mostly_in(const Trace& trace, const Track& track, std::int64_t from_ns, std::int64_t to_ns,
                        std::uint32_t but) {
  std::uint32_t found = none;
  for (std::uint32_t i = track.first; i < track.first + track.count; ++i) {
    const Event& e = trace.events[i];
    if (e.start_ns >= to_ns) break;
    if (i == but || e.kind != EventKind::span || trace.name(e).starts_with("ProfilerStep#")) continue;
    const std::int64_t ns = std::min(e.end_ns(), to_ns) - std::max(e.start_ns, from_ns);
    if (ns >= (to_ns - from_ns) / 4 * 3 && ns > 0) found = i;  // by start: what comes later lies further in
  }
  return found;
}

/// The innermost span of a track that covers nine tenths of the head, else half of it, if there is one. Of a thread
/// that launches nothing, waiting says nothing.
void look_at(const Trace& trace, std::uint32_t track, bool launches, Head& head) {
  const Track& t = trace.tracks[track];
  const std::int64_t end_ns = head.start_ns + head.ns;
  for (std::uint32_t i = t.first; i < t.first + t.count; ++i) {
    const Event& e = trace.events[i];
    if (e.start_ns >= end_ns) break;
    if (e.kind != EventKind::span || trace.name(e).starts_with("ProfilerStep#")) continue;
    const std::int64_t ns = std::min(e.end_ns(), end_ns) - std::max(e.start_ns, head.start_ns);
    if (ns < head.ns - head.ns / 2 || (!launches && blocks_host(trace.name(e)))) continue;
    const std::int64_t most_ns = head.ns - head.ns / 10;
    if (ns < most_ns && head.meanwhile_ns >= most_ns) continue;
    head.meanwhile = i;  // by start: what comes later lies further in
    head.meanwhile_ns = ns;
  }
}

enum class RuntimeCall : std::uint8_t { unasked, other, launch, begin_capture, end_capture };

/// HolisticTraceAnalysis' list of calls that put work on a device, with the driver's names and graphs.
RuntimeCall call_named(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("StreamBeginCapture")) return RuntimeCall::begin_capture;
  if (has("StreamEndCapture")) return RuntimeCall::end_capture;
  return has("Launch") || ((has("Memcpy") || has("Memset")) && has("Async")) ? RuntimeCall::launch : RuntimeCall::other;
}

}  // namespace

Gap gap_before(const Trace& trace, std::int64_t start_ns, std::uint32_t next, std::int64_t end_ns) {
  Gap gap{.start_ns = start_ns, .end_ns = end_ns, .next = next};
  const Event* call = call_of(trace, gap);
  if (call && call->start_ns > start_ns) {
    gap.cause = Gap::Cause::host_wait;
    gap.before_ns = std::min(call->start_ns, end_ns) - start_ns;
  } else if (end_ns - start_ns < kernel_wait_below_ns) {
    gap.cause = Gap::Cause::kernel_wait;
  }
  if (call)
    gap.inside_ns = std::max<std::int64_t>(0, std::min(call->end_ns(), end_ns) - std::max(call->start_ns, start_ns));
  return gap;
}

void add_gap(Idle& idle, const Trace& trace, const Gap& gap) {
  const std::int64_t ns = gap.end_ns - gap.start_ns;
  ++idle.gaps;
  (gap.cause == Gap::Cause::host_wait     ? idle.host_wait_ns
   : gap.cause == Gap::Cause::kernel_wait ? idle.kernel_wait_ns
                                          : idle.other_ns) += ns;
  if (!call_of(trace, gap)) {
    idle.unknown_ns += ns;
    if (gap.cause == Gap::Cause::kernel_wait) idle.unknown_short_ns += ns;
    return;
  }
  LaunchSplit& split = gap.cause == Gap::Cause::host_wait ? idle.late : idle.in_time;
  ++split.gaps;
  split.before_ns += gap.before_ns;
  split.inside_ns += gap.inside_ns;
  split.after_ns += gap.after_ns();
}

LaunchPace pace_of(const Trace& trace, const std::vector<std::uint32_t>& work, const std::vector<Gap>& gaps) {
  LaunchPace out;
  std::vector<std::uint32_t> calls;
  std::vector<std::int64_t> tasks, inside, intervals, late;
  for (const std::uint32_t i : work) {
    tasks.push_back(trace.events[i].duration_ns);
    if (trace.events[i].link != none) calls.push_back(trace.events[i].link);
  }
  std::sort(calls.begin(), calls.end());  // events are by track, then start
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Event& call = trace.events[calls[i]];
    inside.push_back(call.duration_ns);
    if (i > 0 && trace.events[calls[i - 1]].track == call.track)
      intervals.push_back(call.start_ns - trace.events[calls[i - 1]].start_ns);
  }
  out.task_ns = median_or(tasks, 0);
  out.call_ns = median_or(inside, 0);
  out.interval_ns = median_or(intervals, 0);
  for (const Gap& gap : gaps) {
    if (gap.cause != Gap::Cause::host_wait) continue;
    late.push_back(gap.end_ns - gap.start_ns);
    if (late.back() / ordinary_intervals <= out.interval_ns) out.ordinary_ns += late.back();
  }
  out.gap_ns = median_or(late, 0);
  return out;
}

SlowLaunches slow_launches(const Trace& trace, const std::vector<Gap>& gaps, const LaunchPace& pace) {
  SlowLaunches out;
  for (const Gap& gap : gaps) {
    if (gap.cause != Gap::Cause::host_wait) continue;
    const std::uint32_t call = trace.events[gap.next].link;
    const std::int64_t took_ns = trace.events[call].duration_ns;
    if (took_ns >= long_launch_ns && took_ns / long_launch_medians >= pace.call_ns && gap.inside_ns > 0) {
      ++out.long_calls;
      out.long_ns += gap.inside_ns;
    }
    if (gap.inside_ns > out.call_ns) {
      out.call_ns = gap.inside_ns;
      out.call = call;
    }
    if (gap.after_ns() > latency_below_ns) out.late_ns += gap.after_ns();
    if (out.started_late.next == none || gap.after_ns() > out.started_late.after_ns()) out.started_late = gap;
  }
  if (const Gap& gap = out.started_late; gap.next != none && gap.after_ns() > 0) {
    const std::uint32_t call = trace.events[gap.next].link;
    const Track& thread = trace.tracks[trace.events[call].track];
    out.meanwhile = mostly_in(trace, thread, gap.end_ns - gap.after_ns(), gap.end_ns, call);
  }
  return out;
}

Head head_of(const Trace& trace, const HostThreads& host, const std::vector<Step>& steps,
             const std::vector<std::uint32_t>& work) {
  Head out;
  if (work.empty()) return out;
  const std::int64_t first_ns = trace.events[work.front()].start_ns;
  std::int64_t start_ns = first_ns, last_ns = first_ns;
  for (const std::uint32_t i : work) last_ns = std::max(last_ns, trace.events[i].end_ns());
  if (!steps.empty()) {
    start_ns = steps.front().start_ns;
    last_ns = std::max(last_ns, steps.back().end_ns);
  } else {
    for (const auto& [pid, tracks] : host.of_process)
      for (const std::uint32_t t : tracks) start_ns = std::min(start_ns, trace.events[trace.tracks[t].first].start_ns);
  }
  if (start_ns >= first_ns) return out;
  out.start_ns = start_ns;
  out.ns = first_ns - start_ns;
  out.of_step = !steps.empty() && first_ns < steps.front().end_ns;
  out.whole_ns = (out.of_step ? steps.front().end_ns : last_ns) - start_ns;
  out.first = work.front();
  // The first that is launched says which thread launches.
  const auto linked =
      std::find_if(work.begin(), work.end(), [&](std::uint32_t i) { return trace.events[i].link != none; });
  if (linked != work.end()) {
    const Track& own = trace.tracks[trace.events[trace.events[*linked].link].track];
    if (const auto found = host.of_thread.find(own.pid + '\n' + own.tid); found != host.of_thread.end())
      for (const std::uint32_t t : found->second)
        if (out.meanwhile == none) look_at(trace, t, true, out);
  }
  for (const auto& [pid, tracks] : host.of_process)
    for (const std::uint32_t t : tracks)
      if (out.meanwhile == none) look_at(trace, t, false, out);
  return out;
}

void count_calls(const Trace& trace, LaunchMetrics& l) {
  std::vector<RuntimeCall> calls(trace.strings.size(), RuntimeCall::unasked);
  for (const Track& track : trace.tracks) {
    bool capturing = false, any_begin = false;
    LaunchMetrics since;  // since the thread's first call or the last end of a capture
    const auto take = [&](LaunchMetrics& part) {
      l.calls += part.calls;
      l.calls_without_work += part.calls_without_work;
      part = {};
    };
    for (std::uint32_t i = track.first; i < track.first + track.count; ++i) {
      const Event& e = trace.events[i];
      if (e.cls != EventClass::runtime) continue;
      RuntimeCall& call = calls[e.name];
      if (call == RuntimeCall::unasked) call = call_named(trace.strings[e.name]);
      if (call == RuntimeCall::begin_capture) {
        take(since);
        capturing = any_begin = true;
      } else if (call == RuntimeCall::end_capture) {
        // A recording that began inside a capture has its end alone.
        if (!any_begin) l.calls_captured += since.calls_without_work;
        if (!any_begin) since.calls -= since.calls_without_work;
        if (!any_begin) since.calls_without_work = 0;
        take(since);
        capturing = false;
        any_begin = true;
      } else if (call == RuntimeCall::launch && e.correlated) {
        if (capturing && e.link == none) {
          ++l.calls_captured;
          continue;
        }
        ++since.calls;
        since.calls_without_work += e.link == none;
      }
    }
    take(since);
  }
}

}  // namespace models::trace
