#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "chapters/profiling/trace_viewer/source.h"
#include "models/trace/measure/window.h"

/// The recordings of the trace viewer as one list of devices, and what of each one step covers.
namespace chapters::profiling::trace_viewer {

inline double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// One device of one recording: what the heat map has a row for.
struct Row {
  RecordingPtr recording;
  int device = -1;       ///< -1: a recording without device work
  std::size_t file = 0;  ///< in the order in which the recordings were given
  std::int64_t rank() const {
    return recording->trace.rank >= 0 ? recording->trace.rank : static_cast<std::int64_t>(file);
  }
  const models::trace::DeviceMetrics* metrics() const;  ///< null without device work
  std::string label() const;                            ///< "rank 3, device 1"
};
std::vector<Row> rows_of(const std::vector<RecordingPtr>& recordings);

/// Start and end of a step (counted from 1, the last one beyond), or of the device's work for step 0.
struct Window {
  std::int64_t from_ns = 0, to_ns = 0;
  bool is_step = false;
};
Window window_of(const Row& row, std::int64_t step);
/// How long the chosen step takes, or the mean of all for step 0; 0 where no step is marked.
double mean_step_s(const Row& row, std::int64_t step);
models::trace::WindowMetrics measure(const Row& row, std::int64_t step);
/// Every step of every row, for models::trace::slowest_rank; of a recording without steps its whole time is one.
std::vector<models::trace::RankStep> rank_steps(const std::vector<Row>& rows);

/// A place beyond the last is taken for the last: the sentence that says so, since the figures are not of what was
/// asked; empty where it is there.
std::string beyond_text(const char* what, std::int64_t asked, std::int64_t last);

}  // namespace chapters::profiling::trace_viewer
