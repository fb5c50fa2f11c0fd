#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "widgets/timeline/timeline.h"

namespace widgets {

/// What a span of a timeline is called.
struct SpanName {
  std::array<std::string, 4> said;  ///< the longest first; an empty one says nothing
  std::int64_t duration_ns = 0;
  std::string info;  ///< for the hover
};

/// The names of a timeline's spans, by the number in TimelineSpan::name, and how wide a nanosecond and a letter are.
struct SpanNames {
  std::span<const SpanName> names;
  std::span<const TimelineLane> lanes;
  float px_per_ns = 0, letter_px = 1, margin_px = 0;
};

/// The names for a timeline at the scale that `view` last drew it in; `margin_px` pixels stay free beside a name.
SpanNames span_names(std::span<const SpanName> names, std::span<const TimelineLane> lanes, const TimelineView& view,
                     float margin_px);
/// Lets the timeline say of each span the longest of its names that has room, and its info in the hover. `names` must
/// live until it is drawn.
void say_names(const SpanNames& names, TimelineData& data);

}  // namespace widgets
