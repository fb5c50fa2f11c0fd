#include "models/trace/measure/diagnosis.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "models/trace/measure/metrics.h"

namespace models::trace {
namespace {

/// At least `min_percent` of the whole, and some.
bool matters(std::int64_t part, std::int64_t whole, std::int64_t min_percent) {
  return part > 0 && part >= whole / 100 * min_percent;
}

struct Finding {
  std::int64_t weight_ns = 0;  ///< time that would be saved, roughly: the worst comes first
  Diagnosis what;
};

/// The longest event of a class on a device, or none.
std::uint32_t longest_of(const Trace& trace, int device, EventClass cls) {
  std::uint32_t best = none;
  for (const Track& t : trace.tracks) {
    if (t.kind != TrackKind::stream || t.device != device) continue;
    for (std::uint32_t i = t.first; i < t.first + t.count; ++i)
      if (trace.events[i].cls == cls && (best == none || trace.events[i].duration_ns > trace.events[best].duration_ns))
        best = i;
  }
  return best;
}

/// Collects what one device's figures point at.
class DeviceFindings {
 public:
  DeviceFindings(const Trace& trace, const Metrics& metrics, std::uint32_t index, std::vector<Finding>& found)
      : trace_(trace), d_(metrics.devices[index]), calls_(metrics.launch.calls), index_(index), found_(found) {}

  void find() {
    find_head();
    find_idle();
    find_host_wait();
    find_late_parts();
    find_doubts();
    if (matters(d_.exposed_comm_ns, d_.span_ns, 2))
      add_event(d_.exposed_comm_ns, DiagnosisKind::exposed_communication, d_.exposed_comm_ns, d_.span_ns,
                longest_of(trace_, d_.device, EventClass::communication));
    if (matters(d_.mem_ns, d_.busy_ns, 10))
      add_event(d_.mem_ns, DiagnosisKind::copies, d_.mem_ns, d_.busy_ns,
                longest_of(trace_, d_.device, EventClass::memory));
    find_launches();
    find_leading_kernel();
    find_in_time();
    if (const LaunchMetrics& l = d_.launch; matters(l.unlinked, l.linked + l.unlinked, 5))
      add(0, l.linked == 0 && calls_ == 0 ? DiagnosisKind::launches_none : DiagnosisKind::launches_missing, l.unlinked,
          l.linked + l.unlinked);
  }

 private:
  Diagnosis& add(std::int64_t weight_ns, DiagnosisKind kind, std::int64_t part, std::int64_t whole) {
    found_.push_back({weight_ns, {.kind = kind, .device = index_, .part = part, .whole = whole}});
    return found_.back().what;
  }

  void add_event(std::int64_t weight_ns, DiagnosisKind kind, std::int64_t part, std::int64_t whole,
                 std::uint32_t event) {
    Diagnosis& what = add(weight_ns, kind, part, whole);
    what.event = event;
    if (event == none) return;
    what.start_ns = trace_.events[event].start_ns;
    what.end_ns = trace_.events[event].end_ns();
  }

  void find_head() {
    const Head& h = d_.head;
    if (!matters(h.ns, h.whole_ns, 10)) return;
    Diagnosis& what = add(h.ns, DiagnosisKind::starts_late, h.ns, h.whole_ns);
    what.event = h.first;
    what.start_ns = h.start_ns;
    what.end_ns = h.start_ns + h.ns;
  }

  /// Work that lay in the queue and was not begun.
  void find_in_time() {
    const std::int64_t ns = d_.idle.other_ns - (d_.idle.unknown_ns - d_.idle.unknown_short_ns);
    if (!matters(ns, d_.span_ns, 5)) return;
    Diagnosis& what = add(ns, DiagnosisKind::launched_in_time, ns, d_.span_ns);
    for (const Gap& gap : d_.longest_gaps) {
      if (gap.cause != Gap::Cause::other || gap.next == none || trace_.events[gap.next].link == none) continue;
      what.event = gap.next;
      what.start_ns = gap.start_ns;
      what.end_ns = gap.end_ns;
      return;
    }
  }

  /// A span around the whole recording says nothing of what the host did inside it.
  bool covers_all(const HostTime& time) const {
    return time.longest != none && trace_.events[time.longest].duration_ns >= d_.span_ns / 10 * 9 &&
           !blocks_host(trace_.strings[time.name]);
  }

  void find_idle() {
    if (!matters(d_.idle_ns, d_.span_ns, 10)) return;
    Diagnosis& what = add(d_.idle_ns, DiagnosisKind::idle, d_.idle_ns, d_.span_ns);
    if (d_.longest_gaps.empty()) return;
    const Gap& gap = d_.longest_gaps.front();
    what.event = gap.next;
    what.start_ns = gap.start_ns;
    what.end_ns = gap.end_ns;
  }

  /// What the host did meanwhile, and whether it had waited for the device before: the cause of the cause.
  void find_host_wait() {
    const HostWait& w = d_.host_wait;
    if (w.what.empty() || !matters(d_.idle.late.before_ns, d_.span_ns, 2)) return;
    const HostTime& first = w.what.front();
    const bool stands_out = matters(first.ns, w.total_ns, 20);
    const bool second = stands_out && w.what.size() > 1 && matters(w.what[1].ns, w.total_ns, 10);
    const std::string_view name = first.name == none ? std::string_view() : trace_.strings[first.name];
    Diagnosis& what = add(w.total_ns,
                          !stands_out                                         ? DiagnosisKind::host_slow
                          : first.name == none || covers_all(first)           ? DiagnosisKind::host_unrecorded
                          : name.find("DataLoader") != std::string_view::npos ? DiagnosisKind::data_loader_late
                          : blocks_host(name)                                 ? DiagnosisKind::host_blocked
                                                                              : DiagnosisKind::host_busy,
                          first.ns, w.total_ns);
    what.event = first.longest;
    what.start_ns = first.start_ns;
    what.end_ns = first.end_ns;
    what.calls_that_stand_out = !stands_out ? 0 : second ? 2 : 1;
    if (!matters(w.after_sync_ns, w.total_ns, 20) || w.sync == none) return;
    // A loader that takes longer than all that follows a synchronisation would be waited for without one, too.
    if (what.kind == DiagnosisKind::data_loader_late && first.ns > w.after_sync_ns) return;
    what.kind = DiagnosisKind::sync_drains_queue;
    what.part = w.after_sync_ns;
  }

  /// The parts of the gaps that what the host did before its calls does not explain.
  void find_late_parts() {
    const LaunchSplit& late = d_.idle.late;
    const SlowLaunches& slow = d_.slow;
    // What every launch takes is part of their pace; what few take is not.
    const bool few = slow.long_ns >= late.inside_ns / 2;
    if (matters(late.inside_ns, d_.span_ns, 2) && matters(late.inside_ns, late.total_ns(), 20) && slow.call != none &&
        (few || !launches_set_pace()))
      add_event(late.inside_ns, DiagnosisKind::launch_slow, late.inside_ns, late.total_ns(), slow.call);
    // A few microseconds after every call are its latency.
    if (!matters(slow.late_ns, d_.span_ns, 2)) return;
    Diagnosis& what = add(late.after_ns, DiagnosisKind::started_late, late.after_ns, late.total_ns());
    what.event = slow.started_late.next;
    what.start_ns = slow.started_late.end_ns - slow.started_late.after_ns();
    what.end_ns = slow.started_late.end_ns;
  }

  /// What makes the figures themselves doubtful.
  void find_doubts() {
    for (std::uint32_t i = 0; i < d_.streams.size(); ++i)
      if (const StreamMetrics& s = d_.streams[i]; matters(s.overlaps, s.events, 1))
        add(0, DiagnosisKind::durations_doubtful, s.overlaps, s.events).stream = i;
  }

  /// A task shorter than the time from launch to launch leaves a gap each time. Few long gaps have another cause.
  bool launches_set_pace() const {
    constexpr int some = 100;
    return d_.launch.linked >= some && d_.pace.task_ns < d_.pace.interval_ns &&
           matters(d_.idle.host_wait_ns, d_.span_ns, 10) && matters(d_.pace.ordinary_ns, d_.idle.host_wait_ns, 50);
  }

  void find_launches() {
    if (launches_set_pace())
      add(d_.pace.ordinary_ns / 2, DiagnosisKind::launches_set_pace, d_.pace.ordinary_ns, d_.idle.host_wait_ns);
    for (std::uint32_t i = 0; i < d_.streams.size(); ++i)
      if (const StreamMetrics& s = d_.streams[i];
          s.shallow_call_ns >= 0 && s.deep_call_ns >= 2 * std::max<std::int64_t>(1, s.shallow_call_ns))
        add(0, DiagnosisKind::queue_full, s.queue_max, 0).stream = i;
  }

  void find_leading_kernel() {
    double all_ns = 0;  // not the busy time, which counts kernels that run at once only once
    for (const KernelTime& k : d_.kernels) all_ns += static_cast<double>(k.total_ns);
    const auto sum_ns = static_cast<std::int64_t>(std::min(all_ns, 9e18));
    // A kernel leads others, of a device that has work.
    if (d_.kernels.empty() || !matters(d_.kernels.front().total_ns, sum_ns, 20)) return;
    const KernelTime& k = d_.kernels.front();
    if ((d_.kernels.size() == 1 && k.count == 1) || !matters(d_.busy_ns, d_.span_ns, 5)) return;
    // Communication that computation does not hide is a finding of its own, which would be said twice.
    if (k.longest != none && trace_.events[k.longest].cls == EventClass::communication &&
        matters(d_.exposed_comm_ns, d_.span_ns, 2))
      return;
    add_event(k.total_ns / 10, DiagnosisKind::one_kernel_leads, k.total_ns, sum_ns, k.longest);
  }

  const Trace& trace_;
  const DeviceMetrics& d_;
  std::int64_t calls_;  // that launch, in the whole file
  std::uint32_t index_;
  std::vector<Finding>& found_;
};

Diagnosis no_device(const Trace& trace) {
  std::set<std::string_view> processes;
  std::int64_t spans = 0;
  for (const Track& t : trace.tracks) {
    if (t.count > 0) processes.insert(t.pid);
    for (std::uint32_t i = t.first; i < t.first + t.count; ++i) spans += trace.events[i].kind != EventKind::instant;
  }
  return {.kind = DiagnosisKind::no_device, .part = static_cast<std::int64_t>(processes.size()), .whole = spans};
}

}  // namespace

void diagnose(const Trace& trace, Metrics& metrics) {
  std::vector<Finding> found;
  for (std::uint32_t i = 0; i < metrics.devices.size(); ++i) DeviceFindings(trace, metrics, i, found).find();
  std::stable_sort(found.begin(), found.end(),
                   [](const Finding& a, const Finding& b) { return a.weight_ns > b.weight_ns; });
  metrics.diagnosis.clear();
  if (metrics.devices.empty()) metrics.diagnosis.push_back(no_device(trace));
  for (const Finding& f : found) metrics.diagnosis.push_back(f.what);
  if (const LaunchMetrics& l = metrics.launch;
      !metrics.devices.empty() && l.calls_without_work >= 10 && matters(l.calls_without_work, l.calls, 5))
    metrics.diagnosis.push_back(
        {.kind = DiagnosisKind::kernels_missing, .part = l.calls_without_work, .whole = l.calls});
}

}  // namespace models::trace
