#include <algorithm>
#include <cstdio>

#include "models/trace/metrics.h"

namespace models::trace {
namespace {

std::string time_text(std::int64_t ns) {
  char text[32];
  const double value = static_cast<double>(ns);
  if (value >= 3.6e12)
    std::snprintf(text, sizeof text, "%.1f h", value / 3.6e12);
  else if (value >= 1e9)
    std::snprintf(text, sizeof text, "%.3g s", value / 1e9);
  else if (value >= 1e6)
    std::snprintf(text, sizeof text, "%.3g ms", value / 1e6);
  else if (value >= 1e3)
    std::snprintf(text, sizeof text, "%.3g us", value / 1e3);
  else
    std::snprintf(text, sizeof text, "%.0f ns", value);
  return text;
}
std::string percent(std::int64_t part, std::int64_t whole) {
  char text[32];
  const double value = 100.0 * static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(whole, 1));
  if (value > 0 && value < 0.01) return "under 0.01%";
  std::snprintf(text, sizeof text, "%.3g%%", value);
  return text;
}
std::string shortened(std::string_view name) {
  if (name.size() <= 60) return std::string(name);
  std::size_t end = 57;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;  // never inside a character
  return std::string(name.substr(0, end)) + "...";
}

/// At least `percent` of the whole, and some.
bool matters(std::int64_t part, std::int64_t whole, std::int64_t least_percent) {
  return part > 0 && part >= whole / 100 * least_percent;
}

struct Finding {
  std::int64_t weight_ns = 0;  ///< time that would be saved, roughly: the worst comes first
  Diagnosis what;
};

void find_idle(const Trace& trace, const DeviceMetrics& d, const std::string& gpu, std::vector<Finding>& found) {
  if (!matters(d.idle_ns, d.span_ns, 10)) return;
  const Idle& i = d.idle;
  std::string s = gpu + " is idle for " + percent(d.idle_ns, d.span_ns) + " of " + time_text(d.span_ns) + ": " +
                  percent(i.host_wait_ns, d.idle_ns) +
                  " of that waits for the host to launch";  // 0 too: that nobody waits for the host is news
  if (i.kernel_wait_ns > 0)
    s += ", " + percent(i.kernel_wait_ns, d.idle_ns) + " is the short pause between kernels already launched";
  if (i.other_ns > 0) s += ", " + percent(i.other_ns, d.idle_ns) + " has another cause";
  s += ".";
  Diagnosis what{s, none, 0, 0, "The device is idle"};
  if (!d.longest_gaps.empty()) {
    const Gap& gap = d.longest_gaps.front();
    what = {s + " The longest gap, " + time_text(gap.end_ns - gap.start_ns) + ", ends with " +
                shortened(trace.name(trace.events[gap.next])) + ".",
            gap.next, gap.start_ns, gap.end_ns, what.title};
  }
  found.push_back({d.idle_ns, what});
}

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

Diagnosis about(const Trace& trace, std::string_view title, std::string sentence, std::uint32_t event) {
  if (event == none) return {std::move(sentence), none, 0, 0, title};
  return {std::move(sentence), event, trace.events[event].start_ns, trace.events[event].end_ns(), title};
}

/// What the host did meanwhile, and whether it had waited for the device before: the cause of the cause.
void find_host_wait(const Trace& trace, const DeviceMetrics& d, const std::string& gpu, std::vector<Finding>& found) {
  const HostWait& w = d.host_wait;
  if (w.what.empty() || !matters(d.idle.host_wait_ns, d.span_ns, 2)) return;
  const auto named = [&](const HostTime& t) {
    return t.name == none ? std::string("nothing that was recorded") : shortened(trace.strings[t.name]);
  };
  const HostTime& first = w.what.front();
  std::string s = "In the " + time_text(w.total_ns) + " in which " + gpu + " waited for the host ";
  if (matters(first.ns, w.total_ns, 20)) {
    s += "it was in " + named(first) + " for " + percent(first.ns, w.total_ns);
    if (w.what.size() > 1 && matters(w.what[1].ns, w.total_ns, 10))
      s += ", in " + named(w.what[1]) + " for " + percent(w.what[1].ns, w.total_ns);
    s += ".";
  } else {
    s += "no operation stands out: " + named(first) + " comes first of " + std::to_string(w.what.size()) + " with " +
         percent(first.ns, w.total_ns) + ".";
  }
  std::string_view title = !matters(first.ns, w.total_ns, 20)                     ? "The host is slower than the device"
                           : named(first).find("DataLoader") != std::string::npos ? "The data loader is late"
                                                                                  : "The host was busy elsewhere";
  if (matters(w.after_sync_ns, w.total_ns, 20) && w.sync != none) {
    title = "A synchronisation drains the queue";
    s = "A synchronisation lets the queue of " + gpu + " run dry: " + std::to_string(w.after_sync) +
        (w.after_sync == 1 ? " wait" : " waits") + " for the host, " + percent(w.after_sync_ns, w.total_ns) +
        " of that time, " + (w.after_sync == 1 ? "begins" : "begin") + " inside " +
        shortened(trace.name(trace.events[w.sync])) + ". " + s;
  }
  found.push_back({w.total_ns, {s, first.longest, first.start_ns, first.end_ns, title}});
}

/// What makes the figures themselves doubtful.
void find_doubts(const DeviceMetrics& d, const std::string& gpu, std::vector<Finding>& found) {
  for (const StreamMetrics& s : d.streams)
    if (matters(s.overlaps, s.events, 1))
      found.push_back({0,
                       {std::to_string(s.overlaps) + " of " + std::to_string(s.events) + " tasks on stream " +
                            std::to_string(s.stream) + " of " + gpu +
                            " begin before the one before them ends, which a stream does not do: the profiler's "
                            "durations are too long, and so is the busy time.",
                        none, 0, 0, "Durations are doubtful"}});
}

void find_device(const Trace& trace, const DeviceMetrics& d, std::vector<Finding>& found) {
  const std::string gpu = "GPU " + std::to_string(d.device);
  find_idle(trace, d, gpu, found);
  find_host_wait(trace, d, gpu, found);
  find_doubts(d, gpu, found);
  if (matters(d.exposed_comm_ns, d.span_ns, 2))
    found.push_back(
        {d.exposed_comm_ns, about(trace, "Communication is exposed",
                                  "Communication is exposed on " + gpu + " for " + time_text(d.exposed_comm_ns) + ", " +
                                      percent(d.exposed_comm_ns, d.span_ns) + " of its time: " +
                                      percent(d.comp_and_comm_ns, d.comm_ns) + " of it runs behind computation.",
                                  longest_of(trace, d.device, EventClass::communication))});
  if (matters(d.mem_ns, d.busy_ns, 10))
    found.push_back({d.mem_ns, about(trace, "Copies take part of the time",
                                     "Copies and memory sets take " + percent(d.mem_ns, d.busy_ns) +
                                         " of the busy time of " + gpu + ", " + time_text(d.mem_ns) + ".",
                                     longest_of(trace, d.device, EventClass::memory))});
  const LaunchMetrics& l = d.launch;
  if (l.linked >= 100 && l.shorter_than_launch * 2 >= l.linked && matters(d.idle_ns, d.span_ns, 10)) {
    found.push_back({d.idle.host_wait_ns / 2,
                     {std::to_string(l.shorter_than_launch) + " of " + std::to_string(l.linked) + " tasks of " + gpu +
                          " take less time than the call that launches them: the launches set the pace. Fewer and "
                          "larger kernels, or a CUDA graph, would help.",
                      none, 0, 0, "Launches set the pace"}});
  }
  for (const StreamMetrics& s : d.streams)
    if (s.queue_max >= 1000)
      found.push_back(
          {0,
           {"The host runs up to " + std::to_string(s.queue_max) + " launches ahead of stream " +
                std::to_string(s.stream) + " of " + gpu + ": near 1024 a launch has to wait for room in the queue.",
            none, 0, 0, "The queue is full"}});
  double all_ns = 0;  // not the busy time, which counts kernels that run at once only once
  for (const KernelTime& k : d.kernels) all_ns += static_cast<double>(k.total_ns);
  if (const auto sum_ns = static_cast<std::int64_t>(std::min(all_ns, 9e18));
      !d.kernels.empty() && matters(d.kernels.front().total_ns, sum_ns, 20)) {
    const KernelTime& k = d.kernels.front();
    found.push_back({k.total_ns / 10, about(trace, "One kernel leads",
                                            shortened(trace.strings[k.name]) + " takes " + percent(k.total_ns, sum_ns) +
                                                " of the time of all kernels of " + gpu + " in " +
                                                std::to_string(k.count) + (k.count == 1 ? " run." : " runs."),
                                            k.longest)});
  }
  if (matters(l.unlinked, l.linked + l.unlinked, 5))
    found.push_back({0,
                     {std::to_string(l.unlinked) + " of " + std::to_string(l.linked + l.unlinked) + " tasks of " + gpu +
                          " have no launching call in the file: causes of idle time before them are not known.",
                      none, 0, 0, "Launches are missing"}});
}

}  // namespace

void diagnose(const Trace& trace, Metrics& metrics) {
  std::vector<Finding> found;
  for (const DeviceMetrics& d : metrics.devices) find_device(trace, d, found);
  std::stable_sort(found.begin(), found.end(),
                   [](const Finding& a, const Finding& b) { return a.weight_ns > b.weight_ns; });
  metrics.diagnosis.clear();
  if (const LaunchMetrics& l = metrics.launch;
      !metrics.devices.empty() && l.calls_without_work >= 10 && matters(l.calls_without_work, l.calls, 5))
    found.push_back({0,
                     {std::to_string(l.calls_without_work) + " of " + std::to_string(l.calls) +
                          " launching calls have no work on a device in the file: the profiler lost kernels, and busy "
                          "times are too short.",
                      none, 0, 0, "Kernels are missing"}});
  if (metrics.devices.empty())
    metrics.diagnosis.push_back(
        {"No work on a device is in this trace: only what the host did can be seen.", none, 0, 0, "No device"});
  for (Finding& f : found) metrics.diagnosis.push_back(std::move(f.what));
}

}  // namespace models::trace
