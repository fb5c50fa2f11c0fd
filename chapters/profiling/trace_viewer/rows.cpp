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

}  // namespace chapters::profiling::trace_viewer
