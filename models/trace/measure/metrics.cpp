#include "models/trace/measure/metrics.h"

#include <algorithm>
#include <limits>

#include "models/trace/measure/intervals.h"
#include "models/trace/measure/median.h"

namespace models::trace {
namespace {

constexpr std::int64_t long_call_ns = 50'000, long_delay_ns = 100'000;
constexpr std::size_t max_kept_gaps = 20;

std::int64_t add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

/// The events of a device, by start.
using Work = std::vector<std::uint32_t>;

class Device {
 public:
  Device(const Trace& trace, int device) : trace_(trace) { m.device = device; }

  void measure(const HostThreads& host) {
    std::sort(work.begin(), work.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Event &x = trace_.events[a], &y = trace_.events[b];
      return x.start_ns != y.start_ns ? x.start_ns < y.start_ns : a < b;
    });
    Intervals all, kernels, comp, comm, mem;
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (const std::uint32_t i : work) {
      const Event& e = trace_.events[i];
      all.add(e.start_ns, e.end_ns());
      if (e.cls == EventClass::memory) {
        ++m.memories;
        mem.add(e.start_ns, e.end_ns());
      } else
        kernels.add(e.start_ns, e.end_ns());
      if (e.cls == EventClass::computation) {
        ++m.computations;
        comp.add(e.start_ns, e.end_ns());
      }
      if (e.cls == EventClass::communication) {
        ++m.communications;
        comm.add(e.start_ns, e.end_ns());
      }
      last = std::max(last, e.end_ns());
    }
    m.events = static_cast<std::int64_t>(work.size());
    m.span_ns = last - trace_.events[work.front()].start_ns;
    m.busy_ns = all.length();
    m.idle_ns = m.span_ns - m.busy_ns;
    m.busy_kernels_only_ns = kernels.length();
    m.comp_ns = comp.length();
    m.comm_ns = comm.length();
    m.mem_ns = mem.length();
    m.comp_and_comm_ns = overlap(comp, comm);
    m.exposed_comm_ns = m.comm_ns - m.comp_and_comm_ns;
    m.overlap_pct_of_comm =
        m.comm_ns > 0 ? 100.0 * static_cast<double>(m.comp_and_comm_ns) / static_cast<double>(m.comm_ns) : -1;
    m.busy_intervals = static_cast<std::int64_t>(all.parts.size());
    std::vector<Gap> gaps;
    m.idle = idle(work, &gaps);
    m.host_wait = watch_host(trace_, host, gaps);
    m.pace = pace_of(trace_, work, gaps);
    m.slow = slow_launches(trace_, gaps, m.pace);
    m.longest_gaps = longest(std::move(gaps));
    by_stream();
    by_kernel();
    launches();
  }

  DeviceMetrics m;
  Work work;
  std::vector<std::int64_t> delays;

 private:
  /// Gaps of the rows, by time, go to `gaps` when there is one.
  Idle idle(const Work& rows, std::vector<Gap>* gaps) const {
    Idle sum;
    std::int64_t end = std::numeric_limits<std::int64_t>::min();
    for (const std::uint32_t i : rows) {
      const Event& e = trace_.events[i];
      if (end != std::numeric_limits<std::int64_t>::min() && e.start_ns > end) {
        const Gap gap = gap_before(trace_, end, i, e.start_ns);
        add_gap(sum, trace_, gap);
        if (gaps) gaps->push_back(gap);
      }
      end = std::max(end, e.end_ns());
    }
    return sum;
  }

  static std::vector<Gap> longest(std::vector<Gap> gaps) {
    const auto kept = std::min(gaps.size(), max_kept_gaps);
    std::partial_sort(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(kept), gaps.end(),
                      [](const Gap& a, const Gap& b) {
                        const std::int64_t x = a.end_ns - a.start_ns, y = b.end_ns - b.start_ns;
                        return x != y ? x > y : a.start_ns < b.start_ns;
                      });
    return {gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(kept)};
  }

  void by_stream() {
    std::map<std::int64_t, Work> streams;
    for (const std::uint32_t i : work) streams[trace_.tracks[trace_.events[i].track].stream].push_back(i);
    for (const auto& [stream, rows] : streams) {
      StreamMetrics s;
      s.stream = stream;
      s.track = trace_.events[rows.front()].track;
      s.events = static_cast<std::int64_t>(rows.size());
      Intervals busy;
      std::int64_t end = std::numeric_limits<std::int64_t>::min();
      for (const std::uint32_t i : rows) {
        const Event& e = trace_.events[i];
        busy.add(e.start_ns, e.end_ns());
        s.overlaps += e.start_ns < end;
        end = std::max(end, e.end_ns());
      }
      s.busy_ns = busy.length();
      s.idle = idle(rows, nullptr);
      queue(rows, s);
      m.streams.push_back(std::move(s));
    }
  }

  /// One longer when a launching call starts, one shorter when its work starts.
  void queue(const Work& rows, StreamMetrics& s) const {
    std::vector<std::uint32_t> calls;
    std::vector<std::int64_t> starts, shallow, deep;
    for (const std::uint32_t i : rows) {
      const Event& e = trace_.events[i];
      if (e.link == none) continue;
      calls.push_back(e.link);
      starts.push_back(e.start_ns);  // `rows` are by start
    }
    s.linked = static_cast<std::int64_t>(calls.size());
    const auto called_at = [&](std::size_t i) { return trace_.events[calls[i]].start_ns; };
    std::sort(calls.begin(), calls.end(), [&](std::uint32_t a, std::uint32_t b) {
      const std::int64_t x = trace_.events[a].start_ns, y = trace_.events[b].start_ns;
      return x != y ? x < y : a < b;
    });
    std::int64_t length = 0;
    for (std::size_t called = 0, started = 0; called < calls.size() || started < starts.size();) {
      const bool call = started == starts.size() || (called < calls.size() && called_at(called) <= starts[started]);
      if (call && (called == 0 || calls[called] != calls[called - 1]))  // a graph's launch is one call of many tasks
        (length >= deep_queue ? deep : shallow).push_back(trace_.events[calls[called]].duration_ns);
      length += call ? 1 : -1;
      ++(call ? called : started);
      s.queue_max = std::max(s.queue_max, length);
      s.queue_min = std::min(s.queue_min, length);
    }
    s.deep_calls = static_cast<std::int64_t>(deep.size());
    s.shallow_call_ns = median_or(shallow, -1);
    s.deep_call_ns = median_or(deep, -1);
  }

  void by_kernel() {
    std::map<std::uint32_t, KernelTime> kernels;
    for (const std::uint32_t i : work) {
      const Event& e = trace_.events[i];
      if (e.cls == EventClass::memory) continue;
      KernelTime& k =
          kernels.try_emplace(e.name, KernelTime{e.name, i, 0, 0, e.duration_ns, e.duration_ns}).first->second;
      ++k.count;
      k.total_ns = add(k.total_ns, e.duration_ns);
      k.min_ns = std::min(k.min_ns, e.duration_ns);
      if (e.duration_ns > k.max_ns) {
        k.max_ns = e.duration_ns;
        k.longest = i;
      }
    }
    for (const auto& [name, k] : kernels) m.kernels.push_back(k);
    std::stable_sort(m.kernels.begin(), m.kernels.end(),
                     [](const KernelTime& a, const KernelTime& b) { return a.total_ns > b.total_ns; });
  }

  void launches() {
    LaunchMetrics& l = m.launch;
    for (const std::uint32_t i : work) {
      const Event& e = trace_.events[i];
      if (e.link == none) {
        ++l.unlinked;
        continue;
      }
      const Event& call = trace_.events[e.link];
      ++l.linked;
      if (call.duration_ns <= long_call_ns && e.duration_ns < call.duration_ns) ++l.shorter_than_launch;
      if (call.duration_ns > long_call_ns) ++l.calls_over_50_us;
      if (e.start_ns < call.end_ns()) ++l.before_launch_ends;
      if (e.start_ns < call.start_ns) ++l.before_launch_starts;
      delays.push_back(std::max<std::int64_t>(0, e.start_ns - call.end_ns()));
      if (delays.back() > long_delay_ns) ++l.delays_over_100_us;
    }
    auto sorted = delays;
    summarize_delays(l, sorted);
  }

 public:
  static void summarize_delays(LaunchMetrics& l, std::vector<std::int64_t>& all) {
    if (all.empty()) return;
    std::sort(all.begin(), all.end());
    const std::size_t middle = all.size() / 2;
    l.median_delay_ns = all[middle];
    l.max_delay_ns = all.back();
  }

 private:
  const Trace& trace_;
};

std::vector<Step> find_steps(const Trace& trace) {
  std::vector<Step> steps;
  for (const Event& e : trace.events)
    // Annotations; profilers of 2021 wrote them as operators.
    if (!on_device(e.cls) && e.kind == EventKind::span && trace.tracks[e.track].kind == TrackKind::thread &&
        trace.name(e).starts_with("ProfilerStep#"))
      steps.push_back({std::string(trace.name(e)), e.start_ns, e.end_ns()});
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  steps.erase(std::unique(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.name == b.name; }),
              steps.end());
  if (steps.size() > 10'000) steps.resize(10'000);
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) steps[i].end_ns = steps[i + 1].start_ns;
  return steps;
}

/// What of a device's work lies in each step. Both are by start, and an interval rarely spans steps, so one pass does.
void measure_steps(const Trace& trace, const Device& device, Metrics& out) {
  std::size_t first = 0;
  std::int64_t longest = 0;
  for (const std::uint32_t i : device.work) longest = std::max(longest, trace.events[i].duration_ns);
  for (std::uint32_t s = 0; s < out.steps.size(); ++s) {
    const Step& step = out.steps[s];
    Intervals all, comp, comm, mem;
    while (first < device.work.size() && trace.events[device.work[first]].start_ns + longest <= step.start_ns) ++first;
    for (std::size_t w = first; w < device.work.size(); ++w) {
      const Event& e = trace.events[device.work[w]];
      if (e.start_ns >= step.end_ns) break;
      const std::int64_t start = std::max(e.start_ns, step.start_ns), end = std::min(e.end_ns(), step.end_ns);
      if (end <= start) continue;
      all.add(start, end);
      if (e.cls == EventClass::computation) comp.add(start, end);
      if (e.cls == EventClass::communication) comm.add(start, end);
      if (e.cls == EventClass::memory) mem.add(start, end);
    }
    StepDevice d;
    d.step = s;
    d.device = device.m.device;
    d.busy_ns = all.length();
    d.idle_ns = step.end_ns - step.start_ns - d.busy_ns;
    d.comp_ns = comp.length();
    d.comm_ns = comm.length();
    d.mem_ns = mem.length();
    d.exposed_comm_ns = d.comm_ns - overlap(comp, comm);
    out.step_devices.push_back(d);
  }
}

}  // namespace

Metrics measure(const Trace& trace) {
  Metrics out;
  std::map<int, Device> devices;
  for (std::uint32_t t = 0; t < trace.tracks.size(); ++t) {
    const Track& track = trace.tracks[t];
    if (track.kind != TrackKind::stream) continue;
    for (std::uint32_t i = track.first; i < track.first + track.count; ++i)
      if (on_device(trace.events[i].cls))
        devices.try_emplace(track.device, trace, track.device).first->second.work.push_back(i);
  }
  out.steps = find_steps(trace);
  const HostThreads host(trace);
  std::vector<std::int64_t> delays;
  for (auto& [number, device] : devices) {
    device.measure(host);
    device.m.head = head_of(trace, host, out.steps, device.work);
    measure_steps(trace, device, out);
    delays.insert(delays.end(), device.delays.begin(), device.delays.end());
    const LaunchMetrics& l = device.m.launch;
    out.launch.linked += l.linked;
    out.launch.unlinked += l.unlinked;
    out.launch.shorter_than_launch += l.shorter_than_launch;
    out.launch.calls_over_50_us += l.calls_over_50_us;
    out.launch.delays_over_100_us += l.delays_over_100_us;
    out.launch.before_launch_ends += l.before_launch_ends;
    out.launch.before_launch_starts += l.before_launch_starts;
    out.devices.push_back(std::move(device.m));
  }
  Device::summarize_delays(out.launch, delays);
  count_calls(trace, out.launch);
  diagnose(trace, out);
  return out;
}

}  // namespace models::trace
