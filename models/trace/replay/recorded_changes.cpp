#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "models/trace/measure/intervals.h"
#include "models/trace/replay/recorded_build.h"
#include "models/trace/replay/recorded_job.h"

namespace models::trace {
namespace {

/// Shorter calls are not what the finding blames, where few are long.
constexpr std::int64_t long_call_ns = 1'000'000;

/// Adds what is left of a lane's tasks when its threads do nothing between these times, which are in the job's.
void take_out(const RecordedJob& job, const RecordedJob::HostLane& host, const Intervals& out, std::string_view thread,
              std::vector<JobChange>& changes) {
  const Trace& trace = *job.parts[host.part].trace;
  const JobGraph& graph = job.replay->graph();
  auto part = out.parts.begin();
  for (std::uint32_t i = host.first; i < host.first + host.count && part != out.parts.end(); ++i) {
    const std::int64_t start_ns = job.start_ns[i], end_ns = job.end_ns[i];
    while (part != out.parts.end() && part->end_ns <= start_ns && part->end_ns < end_ns) ++part;
    const Track& track = trace.tracks[job.thread_of[i]];
    if (track.pid + '\n' + track.tid != thread) continue;
    std::int64_t inside_ns = 0;
    for (auto p = part; p != out.parts.end() && p->start_ns < end_ns; ++p)
      inside_ns += std::max<std::int64_t>(0, std::min(p->end_ns, end_ns) - std::max(p->start_ns, start_ns));
    if (inside_ns <= 0) continue;
    const bool whole = inside_ns == end_ns - start_ns;
    const std::int64_t left_ns = whole ? 0 : std::max<std::int64_t>(0, graph.tasks[i].duration_ns - inside_ns);
    changes.push_back({.task = i, .duration_ns = left_ns, .waits = !whole});
  }
}

}  // namespace

std::vector<JobChange> without_events(const RecordedJob& job, std::uint32_t rank,
                                      std::span<const std::uint32_t> events) {
  std::vector<JobChange> out;
  if (rank >= job.part_of.size()) return out;
  const std::uint32_t part = job.part_of[rank];
  const Trace& trace = *job.parts[part].trace;
  std::unordered_map<std::string, std::vector<Intervals::Part>> by_thread;
  for (const std::uint32_t i : events) {
    if (i >= trace.events.size()) continue;
    const Event& e = trace.events[i];
    const Track& track = trace.tracks[e.track];
    if (const std::uint32_t task = job.task_of(rank, i); task != no_task && track.kind == TrackKind::stream) {
      out.push_back({.task = task});
    } else if (track.kind == TrackKind::thread || track.kind == TrackKind::python) {
      by_thread[track.pid + '\n' + track.tid].push_back(
          {far_sum(e.start_ns, job.clock_ns[rank]), far_sum(e.end_ns(), job.clock_ns[rank])});
    }
  }
  for (const RecordedJob::HostLane& host : job.hosts) {
    if (host.part != part) continue;
    for (const std::string& thread : host.threads) {
      const auto found = by_thread.find(thread);
      if (found == by_thread.end()) continue;
      std::vector<Intervals::Part>& spans = found->second;
      std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
      Intervals apart;
      for (const Intervals::Part& s : spans) apart.add(s.start_ns, s.end_ns);
      take_out(job, host, apart, thread, out);
    }
  }
  return out;
}

namespace {

/// What each kind of finding takes out of the lanes of one device's recording.
class FindingChanges {
 public:
  FindingChanges(const RecordedJob& job, std::uint32_t rank, const DeviceMetrics& device)
      : job_(job), graph_(job.replay->graph()), trace_(*job.ranks[rank].trace), device_(device), rank_(rank) {}

  std::vector<JobChange> of(const Diagnosis& d) {
    using enum DiagnosisKind;
    switch (d.kind) {
      case starts_late:
        return head();
      case sync_drains_queue:
        return hosts([&](std::uint32_t, const Event* call) {
          return call && waits_for_device(trace_.name(*call)) ? Left::nothing_and_no_wait : Left::all;
        });
      case data_loader_late:
      case host_busy:
      case host_blocked:
        return all_of_name(device_.host_wait.what.front().name);
      case host_slow:
      case host_unrecorded:
        return hosts([&](std::uint32_t task, const Event*) { return after_head(task) ? Left::nothing : Left::all; });
      case launches_set_pace:
        return hosts([&](std::uint32_t task, const Event*) {
          const bool ordinary = graph_.tasks[task].duration_ns <= 4 * device_.pace.interval_ns;
          return ordinary && after_head(task) ? Left::nothing : Left::all;
        });
      case launch_slow:
        return hosts([&](std::uint32_t task, const Event* call) {
          const bool few = device_.slow.long_ns >= device_.idle.late.inside_ns / 2;
          const std::int64_t ns = graph_.tasks[task].duration_ns, usual = device_.pace.call_ns;
          const bool slow = few ? ns >= long_call_ns && ns / 100 >= usual : ns > usual;
          return call && call->link != none && slow ? Left::median : Left::all;
        });
      case exposed_communication:
        return work([](const Event& e) { return e.cls == EventClass::communication; });
      case copies:
        return work([](const Event& e) { return e.cls == EventClass::memory; });
      case one_kernel_leads:
        return work(
            [&](const Event& e) { return e.name == device_.kernels.front().name && e.cls != EventClass::memory; });
      default:
        return {};
    }
  }

 private:
  enum class Left : std::uint8_t { all, median, nothing, nothing_and_no_wait };

  template <class Choose>
  std::vector<JobChange> hosts(const Choose& choose) const {
    std::vector<JobChange> out;
    for (const RecordedJob::HostLane& h : job_.hosts) {
      if (h.part != job_.part_of[rank_]) continue;
      for (std::uint32_t i = h.first; i < h.first + h.count; ++i) {
        const std::uint32_t event = graph_.tasks[i].event;
        const Left left = choose(i, event == none ? nullptr : &trace_.events[event]);
        if (left != Left::all)
          out.push_back({.task = i,
                         .duration_ns = left == Left::median ? device_.pace.call_ns : 0,
                         .waits = left != Left::nothing_and_no_wait});
      }
    }
    return out;
  }

  template <class Choose>
  std::vector<JobChange> work(const Choose& choose) const {
    std::vector<JobChange> out;
    for (const Track& t : trace_.tracks) {
      if (t.kind != TrackKind::stream || t.device != device_.device) continue;
      for (std::uint32_t i = t.first; i < t.first + t.count; ++i)
        if (const std::uint32_t task = job_.task_of(rank_, i); task != no_task && choose(trace_.events[i]))
          out.push_back({.task = task});
    }
    return out;
  }

  std::vector<JobChange> all_of_name(std::uint32_t name) const {
    std::vector<std::uint32_t> events;
    for (std::uint32_t i = 0; i < trace_.events.size(); ++i)
      if (trace_.events[i].name == name && trace_.events[i].kind == EventKind::span) events.push_back(i);
    return without_events(job_, rank_, events);
  }

  /// When the device began, as recorded.
  bool after_head(std::uint32_t task) const {
    const std::uint32_t first = job_.task_of(rank_, device_.head.first);
    return first == no_task || job_.start_ns[task] >= job_.start_ns[first];
  }

  /// Everything that passes before the call that launched the first task, on the lane of that call, and the time until
  /// the lane begins.
  std::vector<JobChange> head() const {
    std::vector<JobChange> out;
    const std::uint32_t call = trace_.events[device_.head.first].link,
                        end = call == none ? no_task : job_.task_of(rank_, call);
    for (const RecordedJob::HostLane& h : job_.hosts)
      for (std::uint32_t i = h.first; end >= h.first && end < h.first + h.count && i < end; ++i)
        out.push_back({.task = i, .not_before_ns = 0, .waits = false});
    return out;
  }

  const RecordedJob& job_;
  const JobGraph& graph_;
  const Trace& trace_;
  const DeviceMetrics& device_;
  std::uint32_t rank_;
};

}  // namespace

std::vector<std::int64_t> won_by_diagnosis(const RecordedJob& job, const Trace& trace, const Metrics& metrics) {
  std::vector<std::int64_t> out(metrics.diagnosis.size(), not_replayed);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Diagnosis& d = metrics.diagnosis[i];
    if (d.device == none) continue;
    const DeviceMetrics& device = metrics.devices[d.device];
    for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
      if (job.ranks[r].trace != &trace || job.ranks[r].device != device.device) continue;
      const std::vector<JobChange> changes = FindingChanges(job, r, device).of(d);
      if (!changes.empty()) out[i] = job.replay->won_ns(changes);
      break;
    }
  }
  return out;
}

}  // namespace models::trace
