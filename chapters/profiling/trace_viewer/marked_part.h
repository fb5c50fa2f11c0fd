#pragma once
#include <memory>
#include <string>

#include "chapters/profiling/trace_viewer/lanes.h"
#include "models/trace/measure/window.h"

/// What shift-drag asks: how the device spent a part of its time. Over millions of events that takes longer than a
/// frame.
namespace chapters::profiling::trace_viewer {

/// A part of the time of what stands first in the lanes.
struct MarkedPart {
  std::shared_ptr<const Lanes> lanes;
  double from_s = 0, to_s = 0;  ///< since the first span shown, in either order
  bool operator==(const MarkedPart&) const = default;
};

struct MeasuredPart {
  models::trace::WindowMetrics metrics;
  std::string words;
};
MeasuredPart measure_part(const MarkedPart& part);

}  // namespace chapters::profiling::trace_viewer
