#include "chapters/profiling/trace_viewer/diagnosis_text.h"

#include <algorithm>

#include "widgets/number/number.h"

namespace chapters::profiling::trace_viewer {
namespace {

using models::trace::DeviceMetrics, models::trace::Diagnosis, models::trace::DiagnosisKind, models::trace::HostTime,
    models::trace::HostWait, models::trace::Metrics, models::trace::Trace;

std::string time_text(std::int64_t ns) { return widgets::format_text(static_cast<double>(ns) * 1e-9, "s"); }

std::string share_text(std::int64_t part, std::int64_t whole) {
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(whole, 1));
  return share > 0 && share < 0.01 ? "under 0.01 %" : widgets::format_text(share, "%");
}

std::string shortened(std::string_view name) {
  if (name.size() <= 60) return std::string(name);
  // Of a Python function the name says more than its file: "models/videomae/processing.py(235): preprocess".
  if (const auto at = name.find("): "); at != std::string_view::npos && name.substr(0, at).find(".py(") < at)
    return shortened(name.substr(at + 3));
  std::size_t end = 57;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;  // never inside a character
  return std::string(name.substr(0, end)) + "...";
}

std::string call_name(const Trace& trace, const HostTime& call) {
  return call.name == models::trace::none ? "nothing that was recorded" : shortened(trace.strings[call.name]);
}

/// "9 of 10 "
std::string part_of_whole(const Diagnosis& d) {
  return std::to_string(d.part) + " of " + std::to_string(d.whole) + " ";
}

std::string idle_sentence(const Trace& trace, const DeviceMetrics& d, const std::string& gpu, const Diagnosis& what) {
  const models::trace::Idle& i = d.idle;
  std::string s = gpu + " is idle for " + share_text(what.part, what.whole) + " of " + time_text(what.whole) +
                  ", from its first task to its last";
  std::string parts;
  const auto add = [&](std::int64_t ns, std::string_view says) {
    if (ns <= 0) return;
    const bool first = parts.empty();
    (parts += first ? "" : ", ") += share_text(ns, d.idle_ns) + (first ? " of the idle time lies " : " ");
    parts += says;
  };
  add(i.late.before_ns, "before the host called the next launch");
  add(i.late.inside_ns, "inside that call");
  add(i.late.after_ns, "after it had returned");
  add(i.kernel_wait_ns - i.unknown_short_ns, "in short pauses between tasks launched in time");
  add(i.other_ns - (i.unknown_ns - i.unknown_short_ns),
      "before tasks whose launch was called in time and that began late");
  add(i.unknown_ns, "before tasks whose launching call is not in the file");
  s += (parts.empty() ? "." : ": " + parts + ".");
  if (i.late.total_ns() == 0 && i.in_time.gaps > 0 && i.in_time.inside_ns == 0)
    s += " It never waits for the host to launch.";
  if (what.event != models::trace::none)
    s += " The longest gap, " + time_text(what.end_ns - what.start_ns) + ", ends with " +
         shortened(trace.name(trace.events[what.event])) + ".";
  return s;
}

std::string late_gaps_text(const std::string& gpu, const Diagnosis& what) {
  return "In gaps of " + gpu + " whose launch was called after they began, " + time_text(what.whole) + " in all, " +
         time_text(what.part);
}

std::string head_sentence(const Trace& trace, const DeviceMetrics& d, const std::string& gpu, const Diagnosis& what,
                          bool one_step) {
  const models::trace::Head& h = d.head;
  std::string s = time_text(what.part) + " of the " + time_text(what.whole) +
                  (!h.of_step ? " recorded"
                   : one_step ? " step"
                              : " of the first step") +
                  " pass before the first task of " + gpu;
  if (h.meanwhile == models::trace::none) return s + "; no span of the host covers half of that.";
  return s + "; the host is in " + shortened(trace.name(trace.events[h.meanwhile])) + " for " +
         time_text(h.meanwhile_ns) + ".";
}

std::string in_time_sentence(const Trace& trace, const DeviceMetrics& d, const std::string& gpu,
                             const Diagnosis& what) {
  std::string s = gpu + " is idle for " + time_text(what.part) + ", " + share_text(what.part, what.whole) +
                  " of its time, before tasks whose launch was called before the gap began.";
  if (what.event != models::trace::none)
    s += " The longest such gap, " + time_text(what.end_ns - what.start_ns) + ", ends with " +
         shortened(trace.name(trace.events[what.event])) + ".";
  // A call that began before the gap may last through it: then the host had not launched yet.
  const std::int64_t inside_ns = d.idle.in_time.inside_ns;
  if (2 * inside_ns >= what.part)
    return s + " " + time_text(inside_ns) +
           " of the gaps before such tasks pass inside the launching call, which had not returned: loading code at its "
           "first use, allocating, or waiting for room in the queue does that.";
  return s + " They may have waited for an event, for another stream or for a copy; the recording does not say which.";
}

/// The gaps' time inside of launching calls: a few very long ones, or all a little.
std::string launch_slow_sentence(const Trace& trace, const DeviceMetrics& d, const std::string& gpu,
                                 const Diagnosis& what) {
  const models::trace::SlowLaunches& slow = d.slow;
  const std::string call = shortened(trace.name(trace.events[slow.call]));
  std::string s = late_gaps_text(gpu, what) + " pass inside the call. ";
  if (2 * slow.long_ns < what.part)
    return s + "A call takes " + time_text(d.pace.call_ns) + " (median), and the longest part of a gap inside one, " +
           time_text(slow.call_ns) + ", is in " + call + ".";
  return s + share_text(slow.long_ns, what.part) + " of that in " + std::to_string(slow.long_calls) +
         (slow.long_calls == 1 ? " call" : " calls") + " of up to " + time_text(trace.events[slow.call].duration_ns) +
         " (" + call + "), where the median call takes " + time_text(d.pace.call_ns) +
         ": loading code at its first use, allocating, or waiting for room in the queue does that. What runs once goes "
         "away with a warm-up before the recording; fewer launches would not help.";
}

std::string started_late_sentence(const Trace& trace, const DeviceMetrics& d, const std::string& gpu,
                                  const Diagnosis& what) {
  const models::trace::SlowLaunches& slow = d.slow;
  std::string s = late_gaps_text(gpu, what) + " lie after the call had returned. The longest such wait is " +
                  time_text(what.end_ns - what.start_ns) + ", before " +
                  shortened(trace.name(trace.events[what.event]));
  if (slow.meanwhile != models::trace::none)
    s += ", with the host in " + shortened(trace.name(trace.events[slow.meanwhile]));
  return s +
         ". The work was launched and the device began it late: it did something that was not recorded, waited for "
         "an event or another stream, or its clock and the host's differ.";
}

std::string pace_sentence(const DeviceMetrics& d, const std::string& gpu, const Diagnosis& what) {
  const models::trace::LaunchPace& p = d.pace;
  return "From one launch to the next the host takes " + time_text(p.interval_ns) + ", " + time_text(p.call_ns) +
         " of it in the call, and a task of " + gpu + " " + time_text(p.task_ns) + ": the median gap is " +
         time_text(p.gap_ns) + " (all are medians). Gaps of that kind make up " + share_text(what.part, what.whole) +
         " of its waiting for the host: the launches set the pace. Fewer and larger kernels, or a graph, would "
         "help.";
}

std::string host_sentence(const Trace& trace, const DeviceMetrics& d, const std::string& gpu, const Diagnosis& what) {
  const HostWait& w = d.host_wait;
  const HostTime& first = w.what.front();
  std::string s;
  if (what.kind == DiagnosisKind::sync_drains_queue)
    s = "A synchronisation lets the queue of " + gpu + " run dry: " + std::to_string(w.after_sync) +
        (w.after_sync == 1 ? " wait" : " waits") + " for the host, " + share_text(w.after_sync_ns, w.total_ns) +
        " of that time, " + (w.after_sync == 1 ? "begins" : "begin") + " inside " +
        shortened(trace.name(trace.events[w.sync])) + ". ";
  if (what.kind == DiagnosisKind::host_unrecorded && first.name == models::trace::none)
    return "In the " + time_text(w.total_ns) + " in which " + gpu +
           " waited for the host to call the next launch, no host span covers " + share_text(first.ns, w.total_ns) +
           " of it.";
  s += "In the " + time_text(w.total_ns) + " in which " + gpu + " waited for the host to call the next launch, ";
  if (what.calls_that_stand_out == 0) {
    s += "no operation stands out";
    if (first.name != models::trace::none)
      return s + ": the largest of " + std::to_string(w.what.size()) + ", " + call_name(trace, first) + ", has " +
             share_text(first.ns, w.total_ns) + ".";
    s += ": for " + share_text(first.ns, w.total_ns) + " of it nothing was recorded";
    if (w.what.size() < 2) return s + ".";
    return s + ", and the largest of " + std::to_string(w.what.size() - 1) + " operations, " +
           call_name(trace, w.what[1]) + ", has " + share_text(w.what[1].ns, w.total_ns) + ".";
  }
  if (what.kind == DiagnosisKind::host_unrecorded)
    return s + "it was inside " + call_name(trace, first) + ", in nothing recorded within it, for " +
           share_text(first.ns, w.total_ns) + ".";
  s += (what.kind == DiagnosisKind::host_blocked ? "it was blocked in " : "it was in ") + call_name(trace, first) +
       " for " + share_text(first.ns, w.total_ns);
  if (what.calls_that_stand_out > 1)
    s += ", in " + call_name(trace, w.what[1]) + " for " + share_text(w.what[1].ns, w.total_ns);
  return s + ".";
}

std::string no_device_sentence(const Diagnosis& what) {
  return what.whole == 0 ? "No span could be read."
                         : "No row was recognised as a device among " + std::to_string(what.part) +
                               (what.part == 1 ? " process and " : " processes and ") + std::to_string(what.whole) +
                               (what.whole == 1 ? " span" : " spans") + ": the rows are shown as they are.";
}

std::string queue_sentence(const DeviceMetrics& d, const std::string& stream, const Diagnosis& what) {
  const models::trace::StreamMetrics& s = d.streams[what.stream];
  return "The host runs up to " + std::to_string(what.part) + " launches ahead of " + stream + ". With " +
         std::to_string(models::trace::deep_queue) + " or more waiting a launching call takes " +
         time_text(s.deep_call_ns) + ", with fewer " + time_text(s.shallow_call_ns) +
         " (medians): it waits for room in the queue.";
}

std::string leading_kernel_sentence(const Trace& trace, const DeviceMetrics& d, const std::string& gpu,
                                    const Diagnosis& what) {
  const models::trace::KernelTime& k = d.kernels.front();
  return shortened(trace.strings[k.name]) + " takes " + share_text(what.part, what.whole) +
         " of the time of all kernels of " + gpu + " in " + std::to_string(k.count) +
         (k.count == 1 ? " run." : " runs.");
}

}  // namespace

std::string_view diagnosis_title(DiagnosisKind kind) {
  switch (kind) {
    case DiagnosisKind::no_device:
      return "No device";
    case DiagnosisKind::idle:
      return "The device is idle";
    case DiagnosisKind::sync_drains_queue:
      return "A synchronisation drains the queue";
    case DiagnosisKind::data_loader_late:
      return "The data loader is late";
    case DiagnosisKind::host_busy:
      return "The host was busy elsewhere";
    case DiagnosisKind::host_blocked:
      return "The host was blocked";
    case DiagnosisKind::host_unrecorded:
      return "The host's time was not recorded";
    case DiagnosisKind::launched_in_time:
      return "Waits though its launch was called";
    case DiagnosisKind::starts_late:
      return "The device starts late";
    case DiagnosisKind::launches_none:
      return "No launches recorded";
    case DiagnosisKind::host_slow:
      return "The host is slower than the device";
    case DiagnosisKind::exposed_communication:
      return "Communication is exposed";
    case DiagnosisKind::copies:
      return "Copies take part of the time";
    case DiagnosisKind::launch_slow:
      return "Launching calls are slow";
    case DiagnosisKind::started_late:
      return "Launched, and begun late";
    case DiagnosisKind::launches_set_pace:
      return "Launches set the pace";
    case DiagnosisKind::queue_full:
      return "The queue is full";
    case DiagnosisKind::one_kernel_leads:
      return "One kernel leads";
    case DiagnosisKind::launches_missing:
      return "Launches are missing";
    case DiagnosisKind::kernels_missing:
      return "Kernels are missing";
    case DiagnosisKind::durations_doubtful:
      return "Durations are doubtful";
  }
  return {};
}

std::string diagnosis_sentence(const Trace& trace, const Metrics& metrics, const Diagnosis& what) {
  if (what.kind == DiagnosisKind::no_device) return no_device_sentence(what);
  if (what.kind == DiagnosisKind::kernels_missing)
    return part_of_whole(what) +
           "launching calls have no work on a device in the file, and no stream capture was recorded around them: "
           "either they went into a graph all the same, or the profiler lost kernels and busy times are too short.";
  const DeviceMetrics& d = metrics.devices[what.device];
  const std::string gpu = "GPU " + std::to_string(d.device);
  const std::string stream = what.stream == models::trace::none
                                 ? ""
                                 : "stream " + std::to_string(d.streams[what.stream].stream) + " of " + gpu;
  switch (what.kind) {
    case DiagnosisKind::no_device:
    case DiagnosisKind::kernels_missing:
      break;
    case DiagnosisKind::idle:
      return idle_sentence(trace, d, gpu, what);
    case DiagnosisKind::sync_drains_queue:
    case DiagnosisKind::data_loader_late:
    case DiagnosisKind::host_busy:
    case DiagnosisKind::host_blocked:
    case DiagnosisKind::host_unrecorded:
    case DiagnosisKind::host_slow:
      return host_sentence(trace, d, gpu, what);
    case DiagnosisKind::exposed_communication:
      return "Communication is exposed on " + gpu + " for " + time_text(what.part) + ", " +
             share_text(what.part, what.whole) + " of its time: " + share_text(d.comp_and_comm_ns, d.comm_ns) +
             " of it is hidden under computation.";
    case DiagnosisKind::copies:
      return "Copies and memory sets take " + share_text(what.part, what.whole) + " of the busy time of " + gpu + ", " +
             time_text(what.part) + ".";
    case DiagnosisKind::launch_slow:
      return launch_slow_sentence(trace, d, gpu, what);
    case DiagnosisKind::starts_late:
      return head_sentence(trace, d, gpu, what, metrics.steps.size() == 1);
    case DiagnosisKind::launched_in_time:
      return in_time_sentence(trace, d, gpu, what);
    case DiagnosisKind::launches_none:
      return "This recording has no launching calls, so why " + gpu + " waits cannot be seen.";
    case DiagnosisKind::started_late:
      return started_late_sentence(trace, d, gpu, what);
    case DiagnosisKind::launches_set_pace:
      return pace_sentence(d, gpu, what);
    case DiagnosisKind::queue_full:
      return queue_sentence(d, stream, what);
    case DiagnosisKind::one_kernel_leads:
      return leading_kernel_sentence(trace, d, gpu, what);
    case DiagnosisKind::launches_missing:
      return part_of_whole(what) + "tasks of " + gpu +
             " have no launching call in the file: causes of idle time before them are not known.";
    case DiagnosisKind::durations_doubtful:
      return part_of_whole(what) + "tasks on " + stream +
             " begin before the one before them ends. A CUDA stream does one after the other: either the profiler's "
             "durations are too long, and so is the busy time, or this row is no such stream.";
  }
  return {};
}

/// Findings of the kind that are about one device each.
static bool of_one_device(const Diagnosis& d) {
  return d.kind != DiagnosisKind::no_device && d.kind != DiagnosisKind::kernels_missing &&
         d.kind != DiagnosisKind::queue_full && d.kind != DiagnosisKind::durations_doubtful;
}

static double part_share(const Diagnosis& d) {
  return 100.0 * static_cast<double>(d.part) / static_cast<double>(std::max<std::int64_t>(d.whole, 1));
}

/// The title of the kind, unless the share asks for another.
static std::string title_of(const Diagnosis& d) {
  if (d.kind == DiagnosisKind::host_unrecorded && part_share(d) < 90) return "Part of the host's time was not recorded";
  if (d.kind == DiagnosisKind::copies && part_share(d) > 50) return "Copies take most of the busy time";
  if (d.kind == DiagnosisKind::idle && part_share(d) >= hardly_used_percent) return "The device is hardly used";
  return std::string(diagnosis_title(d.kind));
}

std::vector<ToldDiagnosis> tell_diagnosis(const Trace& trace, const Metrics& metrics) {
  constexpr std::size_t few = 2;  // so many are told one by one
  const auto& all = metrics.diagnosis;
  std::vector<ToldDiagnosis> told;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto same = [&](const Diagnosis& d) { return d.kind == all[i].kind; };
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(i);
    const bool folds =
        of_one_device(all[i]) && static_cast<std::size_t>(std::count_if(all.begin(), all.end(), same)) > few;
    if (folds && std::any_of(all.begin(), from, same)) continue;
    told.push_back({i, title_of(all[i]), diagnosis_sentence(trace, metrics, all[i])});
    if (!folds) continue;
    double lo = 1e300, hi = 0;
    std::size_t others = 0;
    for (auto d = from + 1; d != all.end(); ++d)
      if (same(*d)) {
        lo = std::min(lo, part_share(*d));
        hi = std::max(hi, part_share(*d));
        ++others;
      }
    const std::string low = widgets::format_text(lo, "%"), high = widgets::format_text(hi, "%");
    told.back().sentence += " The same is found of " + std::to_string(others) + " more GPUs, with " + low +
                            (low == high ? "" : " to " + high) + " in place of " +
                            share_text(all[i].part, all[i].whole) + ".";
  }
  return told;
}

}  // namespace chapters::profiling::trace_viewer
