#include "chapters/profiling/trace_viewer/facts.h"

#include <cmath>

#include "chapters/profiling/trace_viewer/rows.h"
#include "widgets/number/number.h"

namespace chapters::profiling::trace_viewer {

double percent(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? std::round(1e5 * static_cast<double>(part) / static_cast<double>(whole)) * 1e-3 : 0;
}

DeviceTimes device_times(const models::trace::WindowMetrics& m) {
  return {.span_s = seconds(m.window_ns),
          .busy_s = seconds(m.busy_ns),
          .idle_s = seconds(m.idle_ns),
          .busy_share = percent(m.busy_ns, m.window_ns),
          .idle_share = percent(m.idle_ns, m.window_ns),
          .compute_s = seconds(m.comp_ns),
          .memory_s = seconds(m.mem_ns),
          .exposed_memory_s = seconds(m.exposed_mem_ns)};
}

IdleCauses idle_causes(const models::trace::WindowMetrics& m) {
  const models::trace::Idle& i = m.idle;
  return {.host_s = seconds(i.host_wait_ns),
          .kernel_s = seconds(i.kernel_wait_ns),
          .other_s = seconds(i.other_ns),
          .unknown_s = seconds(i.unknown_ns),
          .host_share = percent(i.host_wait_ns, m.window_ns),
          .kernel_share = percent(i.kernel_wait_ns, m.window_ns),
          .other_share = percent(i.other_ns, m.window_ns),
          .before_s = seconds(i.late.before_ns),
          .inside_s = seconds(i.late.inside_ns),
          .after_s = seconds(i.late.after_ns),
          .before_share = percent(i.late.before_ns, m.window_ns),
          .inside_share = percent(i.late.inside_ns, m.window_ns),
          .after_share = percent(i.late.after_ns, m.window_ns)};
}

CommunicationTimes communication_times(const models::trace::WindowMetrics& m) {
  return {.total_s = seconds(m.comm_ns),
          .exposed_s = seconds(m.exposed_comm_ns),
          .hidden_s = seconds(m.comp_and_comm_ns),
          .exposed_share = percent(m.exposed_comm_ns, m.window_ns),
          .overlap = m.comm_ns > 0 ? m.overlap_pct_of_comm() : absent};
}

const std::string& short_gap_text() {
  static const std::string text = widgets::format_text(seconds(models::trace::kernel_wait_below_ns), "s");
  return text;
}

}  // namespace chapters::profiling::trace_viewer
