#include "chapters/profiling/trace_viewer/rows.h"

#include <algorithm>

namespace chapters::profiling::trace_viewer {

const models::trace::DeviceMetrics* Row::metrics() const {
  for (const auto& d : recording->metrics.devices)
    if (d.device == device) return &d;
  return nullptr;
}

std::string Row::label() const {
  return "rank " + std::to_string(rank()) +
         (recording->metrics.devices.size() > 1 ? ", device " + std::to_string(device) : "");
}

std::vector<Row> rows_of(const std::vector<RecordingPtr>& recordings) {
  std::vector<Row> out;
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    for (const auto& d : recordings[i]->metrics.devices) out.push_back({recordings[i], d.device, i});
    if (recordings[i]->metrics.devices.empty()) out.push_back({recordings[i], -1, i});
  }
  return out;
}

Window window_of(const Row& row, std::int64_t step) {
  const auto& steps = row.recording->metrics.steps;
  if (step > 0 && !steps.empty()) {
    const auto& s = steps[std::min(static_cast<std::size_t>(step), steps.size()) - 1];
    return {s.start_ns, s.end_ns, true};
  }
  const auto x = models::trace::device_extent(row.recording->trace, row.device);
  return {x.first_ns, x.last_ns, false};
}

double mean_step_s(const Row& row, std::int64_t step) {
  const auto& steps = row.recording->metrics.steps;
  if (steps.empty()) return 0;
  if (const Window w = window_of(row, step); w.is_step) return seconds(w.to_ns - w.from_ns);
  double sum = 0;
  for (const auto& s : steps) sum += seconds(s.end_ns - s.start_ns);
  return sum / static_cast<double>(steps.size());
}

models::trace::WindowMetrics measure(const Row& row, std::int64_t step) {
  const Window w = window_of(row, step);
  return models::trace::measure_window(row.recording->trace, row.device, w.from_ns, w.to_ns);
}

std::vector<models::trace::RankStep> rank_steps(const std::vector<Row>& rows) {
  std::vector<models::trace::RankStep> out;
  for (std::uint32_t r = 0; r < rows.size(); ++r) {
    const models::trace::Metrics& m = rows[r].recording->metrics;
    for (const auto& s : m.step_devices) {
      if (s.device != rows[r].device) continue;
      const auto& step = m.steps[s.step];
      out.push_back({r, s.step, seconds(step.end_ns - step.start_ns), seconds(s.busy_ns), seconds(s.comp_ns),
                     seconds(s.comm_ns), seconds(s.exposed_comm_ns), seconds(s.idle_ns)});
    }
    if (m.steps.empty()) {
      const models::trace::WindowMetrics w = measure(rows[r], 0);
      out.push_back({r, 0, seconds(w.window_ns), seconds(w.busy_ns), seconds(w.comp_ns), seconds(w.comm_ns),
                     seconds(w.exposed_comm_ns), seconds(w.idle_ns)});
    }
  }
  return out;
}

std::string beyond_text(const char* what, std::int64_t asked, std::int64_t last) {
  if (asked <= last) return {};
  return "There is no " + std::string(what) + " " + std::to_string(asked) + ": the last, " + std::to_string(last) +
         ", is shown.";
}

}  // namespace chapters::profiling::trace_viewer
