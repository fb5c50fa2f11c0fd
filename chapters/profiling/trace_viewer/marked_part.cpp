#include "chapters/profiling/trace_viewer/marked_part.h"

#include <algorithm>

#include "chapters/profiling/trace_viewer/rows.h"
#include "widgets/number/number.h"

namespace chapters::profiling::trace_viewer {
namespace {

std::string part_words(const models::trace::WindowMetrics& m) {
  const auto time = [](std::int64_t ns) { return widgets::format_text(seconds(ns), "s"); };
  return "Selected " + time(m.window_ns) + ": " + widgets::format_text(static_cast<double>(m.events), "") +
         " tasks on the device, busy " + time(m.busy_ns) + ", computing " + time(m.comp_ns) + ", communicating " +
         time(m.comm_ns) + " (" + time(m.exposed_comm_ns) + " exposed), idle " + time(m.idle_ns) + " (" +
         time(m.idle.host_wait_ns) + " for the host)";
}

}  // namespace

MeasuredPart measure_part(const MarkedPart& part) {
  const Lanes& lanes = *part.lanes;
  const LaneSource& source = lanes.sources().front();
  const auto [low_s, high_s] = std::minmax(part.from_s, part.to_s);
  MeasuredPart out;
  out.metrics = models::trace::measure_window(source.recording->trace, source.device, lanes.time_ns(0, low_s),
                                              lanes.time_ns(0, high_s));
  out.words = part_words(out.metrics);
  return out;
}

}  // namespace chapters::profiling::trace_viewer
