#include "chapters/profiling/trace_viewer/device_facts.h"

#include <algorithm>

#include "chapters/profiling/trace_viewer/diagnosis_text.h"

namespace chapters::profiling::trace_viewer {
namespace {

using models::trace::DeviceMetrics, models::trace::Trace;

void state_kernels(const DeviceMetrics& d, const Trace& trace, Outputs& out) {
  std::int64_t kernels_ns = 0;
  for (const auto& k : d.kernels) kernels_ns += k.total_ns;
  for (std::size_t i = 0; i < std::min(d.kernels.size(), max_table_rows); ++i) {
    const auto& k = d.kernels[i];
    out.kernels.push_back({trace.strings[k.name], k.count, seconds(k.total_ns), percent(k.total_ns, kernels_ns),
                           seconds(k.total_ns) / static_cast<double>(std::max<std::int64_t>(1, k.count)),
                           seconds(k.max_ns), 0, 0});
  }
}

void state_host(const models::trace::HostWait& host, const Trace& trace, Outputs& out) {
  for (std::size_t i = 0; i < std::min(host.what.size(), max_table_rows); ++i) {
    const auto& h = host.what[i];
    out.host_rows.push_back({h.name == models::trace::none ? "(nothing was recorded)" : trace.strings[h.name], h.pieces,
                             seconds(h.ns), percent(h.ns, host.total_ns), seconds(h.longest_ns)});
  }
}

void state_streams(const DeviceMetrics& d, Outputs& out) {
  out.streams_idle_s = 0;
  for (const auto& s : d.streams) {
    out.streams.push_back({s.stream, s.events, seconds(s.busy_ns), seconds(s.idle.total_ns()), s.queue_max});
    out.streams_idle_s += seconds(s.idle.total_ns());
  }
}

LaunchFigures launch_figures(const DeviceMetrics& d) {
  std::int64_t longest = 0;
  for (const auto& s : d.streams) longest = std::max(longest, s.queue_max);
  return {.host_wait_s = seconds(d.host_wait.total_ns),
          .after_sync_s = seconds(d.host_wait.after_sync_ns),
          .delay_median_s = seconds(d.launch.median_delay_ns),
          .delay_longest_s = seconds(d.launch.max_delay_ns),
          .late = static_cast<double>(d.launch.delays_over_100_us),
          .queue_longest = static_cast<double>(longest)};
}

/// What a finding costs in all; 0 where it is no time.
double covered_s(const models::trace::Diagnosis& d) {
  using enum models::trace::DiagnosisKind;
  switch (d.kind) {
    case host_slow:
      return seconds(d.whole);
    case idle:
    case sync_drains_queue:
    case data_loader_late:
    case host_busy:
    case host_blocked:
    case host_unrecorded:
    case starts_late:
    case launched_in_time:
    case launch_slow:
    case started_late:
    case exposed_communication:
    case copies:
    case one_kernel_leads:
      return seconds(d.part);
    default:
      return 0;
  }
}

}  // namespace

void state_device(const models::trace::WindowMetrics& m, const Row& row, Outputs& out) {
  const DeviceMetrics* d = row.metrics();
  if (!d) return;
  out.times = device_times(m);
  if (d->communications > 0) out.communication = communication_times(m);
  out.launches = d->launch.linked;
  if (out.launches > 0) {
    out.causes = idle_causes(m);
    out.launching = launch_figures(*d);
  }
  state_kernels(*d, row.recording->trace, out);
  state_host(d->host_wait, row.recording->trace, out);
  state_streams(*d, out);
}

void state_threads(Run& run, Outputs& out) {
  const Trace& trace = run.main().recording->trace;
  run.host_spans = models::trace::host_spans(trace);
  const auto& all = run.host_spans;
  for (std::size_t i = 0; i < std::min(all.names.size(), max_table_rows); ++i) {
    const auto& n = all.names[i];
    out.span_rows.push_back({trace.strings[n.name], n.count, seconds(n.self_ns), percent(n.self_ns, all.self_ns),
                             seconds(n.total_ns), seconds(n.longest_self_ns)});
  }
}

void state_findings(const Row& row, Outputs& out) {
  const models::trace::Metrics& metrics = row.recording->metrics;
  const Replayed& replayed = row.recording->replayed;
  if (!replayed.won_ns.empty()) out.explained_share = 100 * replayed.fit.explained;
  for (ToldDiagnosis& told : tell_diagnosis(row.recording->trace, metrics)) {
    const std::string won = replay_sentence(replayed, told.diagnosis);
    out.findings.push_back({std::move(told.title), told.sentence + (won.empty() ? "" : " ") + won,
                            covered_s(metrics.diagnosis[told.diagnosis]),
                            replayed.says(told.diagnosis) ? seconds(replayed.won_ns[told.diagnosis]) : absent,
                            static_cast<int>(told.diagnosis)});
  }
}

}  // namespace chapters::profiling::trace_viewer
