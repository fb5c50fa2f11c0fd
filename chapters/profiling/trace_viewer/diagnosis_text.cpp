#include "chapters/profiling/trace_viewer/diagnosis_text.h"

#include <algorithm>

#include "widgets/number/number.h"

namespace chapters::profiling::trace_viewer {
namespace {

using models::trace::DeviceMetrics;
using models::trace::Diagnosis;
using models::trace::DiagnosisKind;
using models::trace::HostTime;
using models::trace::HostWait;
using models::trace::Metrics;
using models::trace::Trace;

std::string time_text(std::int64_t ns) { return widgets::format_text(static_cast<double>(ns) * 1e-9, "s"); }

std::string share_text(std::int64_t part, std::int64_t whole) {
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(whole, 1));
  return share > 0 && share < 0.01 ? "under 0.01 %" : widgets::format_text(share, "%");
}

std::string shortened(std::string_view name) {
  if (name.size() <= 60) return std::string(name);
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
  // 0 of the waiting for the host is said too: that nobody waits for it is news.
  std::string s = gpu + " is idle for " + share_text(what.part, what.whole) + " of " + time_text(what.whole) + ": " +
                  share_text(i.host_wait_ns, d.idle_ns) + " of that waits for the host to launch";
  if (i.kernel_wait_ns > 0)
    s += ", " + share_text(i.kernel_wait_ns, d.idle_ns) + " is the short pause between kernels already launched";
  if (i.other_ns > 0) s += ", " + share_text(i.other_ns, d.idle_ns) + " has another cause";
  s += ".";
  if (what.event != models::trace::none)
    s += " The longest gap, " + time_text(what.end_ns - what.start_ns) + ", ends with " +
         shortened(trace.name(trace.events[what.event])) + ".";
  return s;
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
  s += "In the " + time_text(w.total_ns) + " in which " + gpu + " waited for the host ";
  if (what.calls_that_stand_out == 0)
    return s + "no operation stands out: " + call_name(trace, first) + " comes first of " +
           std::to_string(w.what.size()) + " with " + share_text(first.ns, w.total_ns) + ".";
  s += "it was in " + call_name(trace, first) + " for " + share_text(first.ns, w.total_ns);
  if (what.calls_that_stand_out > 1)
    s += ", in " + call_name(trace, w.what[1]) + " for " + share_text(w.what[1].ns, w.total_ns);
  return s + ".";
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
    case DiagnosisKind::host_slow:
      return "The host is slower than the device";
    case DiagnosisKind::exposed_communication:
      return "Communication is exposed";
    case DiagnosisKind::copies:
      return "Copies take part of the time";
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
  if (what.kind == DiagnosisKind::no_device)
    return "No device track was recognised: " + std::to_string(what.part) +
           (what.part == 1 ? " process, " : " processes, ") + std::to_string(what.whole) +
           (what.whole == 1 ? " span" : " spans") + ".";
  if (what.kind == DiagnosisKind::kernels_missing)
    return part_of_whole(what) +
           "launching calls have no work on a device in the file: the profiler lost kernels, and busy times are too "
           "short.";
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
    case DiagnosisKind::host_slow:
      return host_sentence(trace, d, gpu, what);
    case DiagnosisKind::exposed_communication:
      return "Communication is exposed on " + gpu + " for " + time_text(what.part) + ", " +
             share_text(what.part, what.whole) + " of its time: " + share_text(d.comp_and_comm_ns, d.comm_ns) +
             " of it runs behind computation.";
    case DiagnosisKind::copies:
      return "Copies and memory sets take " + share_text(what.part, what.whole) + " of the busy time of " + gpu + ", " +
             time_text(what.part) + ".";
    case DiagnosisKind::launches_set_pace:
      return part_of_whole(what) + "tasks of " + gpu +
             " take less time than the call that launches them: the launches set the pace. Fewer and larger kernels, "
             "or a CUDA graph, would help.";
    case DiagnosisKind::queue_full:
      return "The host runs up to " + std::to_string(what.part) + " launches ahead of " + stream +
             ": near 1024 a launch has to wait for room in the queue.";
    case DiagnosisKind::one_kernel_leads:
      return leading_kernel_sentence(trace, d, gpu, what);
    case DiagnosisKind::launches_missing:
      return part_of_whole(what) + "tasks of " + gpu +
             " have no launching call in the file: causes of idle time before them are not known.";
    case DiagnosisKind::durations_doubtful:
      return part_of_whole(what) + "tasks on " + stream +
             " begin before the one before them ends, which a stream does not do: the profiler's durations are too "
             "long, and so is the busy time.";
  }
  return {};
}

bool others_wait(std::span<const models::trace::RankStep> steps, std::int64_t row) {
  double own_s = 0, others_s = 0, own = 0, others = 0;
  for (const auto& s : steps) {
    const bool here = static_cast<std::int64_t>(s.row) == row;
    (here ? own_s : others_s) += s.comm_s;
    (here ? own : others) += 1;
  }
  return own > 0 && others > 0 && others_s / others > own_s / own;
}

std::string slowest_sentence(std::int64_t rank, const models::trace::Slowest& slowest, bool waited_for) {
  return "Rank " + std::to_string(rank) + " computes " + widgets::format_text(100 * slowest.excess, "%") +
         " longer a step than the median rank (" + widgets::format_text(slowest.mean_comp_s, "s") + " against " +
         widgets::format_text(slowest.median_comp_s, "s") + ")" +
         (waited_for ? "; the others wait for it inside their collectives." : ".");
}

}  // namespace chapters::profiling::trace_viewer
