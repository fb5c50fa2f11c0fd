#include <algorithm>
#include <cstdio>

#include "models/trace_metrics.h"

namespace models::trace {
namespace {

std::string time_text(std::int64_t ns) {
  char text[32];
  const double value = static_cast<double>(ns);
  if (value >= 1e9) std::snprintf(text, sizeof text, "%.3g s", value / 1e9);
  else if (value >= 1e6) std::snprintf(text, sizeof text, "%.3g ms", value / 1e6);
  else if (value >= 1e3) std::snprintf(text, sizeof text, "%.3g us", value / 1e3);
  else std::snprintf(text, sizeof text, "%.0f ns", value);
  return text;
}
std::string percent(std::int64_t part, std::int64_t whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g%%", 100.0 * static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(whole, 1)));
  return text;
}
std::string shortened(std::string_view name) {
  if (name.size() <= 60) return std::string(name);
  std::size_t end = 57;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;  // never inside a character
  return std::string(name.substr(0, end)) + "...";
}

/// At least `percent` of the whole, and some.
bool matters(std::int64_t part, std::int64_t whole, std::int64_t least_percent) { return part > 0 && part >= whole / 100 * least_percent; }

struct Finding {
  std::int64_t weight_ns = 0;  ///< time that would be saved, roughly: the worst comes first
  Diagnosis what;
};

void find_idle(const Trace& trace, const DeviceMetrics& d, const std::string& gpu, std::vector<Finding>& found) {
  if (!matters(d.idle_ns, d.span_ns, 10)) return;
  const Idle& i = d.idle;
  std::string s = gpu + " is idle for " + percent(d.idle_ns, d.span_ns) + " of " + time_text(d.span_ns) + ": " + percent(i.host_wait_ns, d.idle_ns) +
                  " of that waits for the host to launch";
  if (i.kernel_wait_ns > 0) s += ", " + percent(i.kernel_wait_ns, d.idle_ns) + " is the short pause between kernels already launched";
  if (i.other_ns > 0) s += ", " + percent(i.other_ns, d.idle_ns) + " has another cause";
  s += ".";
  Diagnosis what{s, none, 0, 0};
  if (!d.longest_gaps.empty()) {
    const Gap& gap = d.longest_gaps.front();
    what = {s + " The longest gap, " + time_text(gap.end_ns - gap.start_ns) + ", ends with " + shortened(trace.name(trace.events[gap.next])) + ".", gap.next, gap.start_ns, gap.end_ns};
  }
  found.push_back({d.idle_ns, what});
}

/// The longest event of a class on a device, or none.
std::uint32_t longest_of(const Trace& trace, int device, EventClass cls) {
  std::uint32_t best = none;
  for (const Track& t : trace.tracks) {
    if (t.kind != TrackKind::stream || t.device != device) continue;
    for (std::uint32_t i = t.first; i < t.first + t.count; ++i)
      if (trace.events[i].cls == cls && (best == none || trace.events[i].duration_ns > trace.events[best].duration_ns)) best = i;
  }
  return best;
}

Diagnosis about(const Trace& trace, std::string sentence, std::uint32_t event) {
  if (event == none) return {std::move(sentence), none, 0, 0};
  return {std::move(sentence), event, trace.events[event].start_ns, trace.events[event].end_ns()};
}

void find_device(const Trace& trace, const DeviceMetrics& d, std::vector<Finding>& found) {
  const std::string gpu = "GPU " + std::to_string(d.device);
  find_idle(trace, d, gpu, found);
  if (matters(d.exposed_comm_ns, d.span_ns, 2))
    found.push_back({d.exposed_comm_ns, about(trace, "Communication is exposed on " + gpu + " for " + time_text(d.exposed_comm_ns) + ", " + percent(d.exposed_comm_ns, d.span_ns) +
                                                         " of its time: " + percent(d.comp_and_comm_ns, d.comm_ns) + " of it runs behind computation.",
                                              longest_of(trace, d.device, EventClass::communication))});
  if (matters(d.mem_ns, d.busy_ns, 10))
    found.push_back({d.mem_ns, about(trace, "Copies and memory sets take " + percent(d.mem_ns, d.busy_ns) + " of the busy time of " + gpu + ", " + time_text(d.mem_ns) + ".", longest_of(trace, d.device, EventClass::memory))});
  const LaunchMetrics& l = d.launch;
  if (l.linked >= 100 && l.shorter_than_launch * 2 >= l.linked && matters(d.idle_ns, d.span_ns, 10)) {
    found.push_back({d.idle.host_wait_ns / 2, {std::to_string(l.shorter_than_launch) + " of " + std::to_string(l.linked) + " tasks of " + gpu +
                                                   " take less time than the call that launches them: the launches set the pace. Fewer and larger kernels, or a CUDA graph, would help.",
                                               none, 0, 0}});
  }
  for (const StreamMetrics& s : d.streams)
    if (s.queue_most >= 1000)
      found.push_back({0, {"The host runs up to " + std::to_string(s.queue_most) + " launches ahead of stream " + std::to_string(s.stream) + " of " + gpu +
                               ": near 1024 a launch has to wait for room in the queue.",
                           none, 0, 0}});
  if (!d.kernels.empty() && matters(d.kernels.front().total_ns, d.busy_ns, 20)) {
    const KernelTime& k = d.kernels.front();
    found.push_back({k.total_ns / 10, about(trace, shortened(trace.strings[k.name]) + " takes " + percent(k.total_ns, d.busy_ns) + " of the busy time of " + gpu + " in " + std::to_string(k.count) + (k.count == 1 ? " run." : " runs."), k.longest)});
  }
  if (matters(l.unlinked, l.linked + l.unlinked, 5))
    found.push_back({0, {std::to_string(l.unlinked) + " of " + std::to_string(l.linked + l.unlinked) + " tasks of " + gpu + " have no launching call in the file: causes of idle time before them are not known.", none, 0, 0}});
}

}  // namespace

void diagnose(const Trace& trace, Metrics& metrics) {
  std::vector<Finding> found;
  for (const DeviceMetrics& d : metrics.devices) find_device(trace, d, found);
  std::stable_sort(found.begin(), found.end(), [](const Finding& a, const Finding& b) { return a.weight_ns > b.weight_ns; });
  metrics.diagnosis.clear();
  if (metrics.devices.empty()) metrics.diagnosis.push_back({"No work on a device is in this trace: only what the host did can be seen.", none, 0, 0});
  for (Finding& f : found) metrics.diagnosis.push_back(std::move(f.what));
}

}  // namespace models::trace
