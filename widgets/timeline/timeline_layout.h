#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "widgets/timeline/timeline_index.h"

namespace widgets {

/// Where time lies on the screen. Every layout of a timeline takes this one struct.
struct TimelineViewport {
  float x = 0, width = 0;              ///< pixels
  double start_s = 0, duration_s = 1;  ///< shown, since the origin
  std::int64_t origin_ns = 0;

  double px_per_s() const { return static_cast<double>(width) / duration_s; }
  double time_at(float px) const { return start_s + static_cast<double>(px - x) / px_per_s(); }
  /// Unclamped; far outside it is still finite.
  float x_of_s(double time_s) const;
  float x_of(std::int64_t time_ns) const;
  double since_origin_s(std::int64_t time_ns) const;
};

/// One thing to paint: a span, or neighbours folded because each is narrower than `timeline_fold_px`.
struct TimelineBlock {
  float x0 = 0, x1 = 0;                                ///< inside the viewport; may be narrower than a pixel
  std::int64_t start_ns = 0, end_ns = 0, busy_ns = 0;  ///< whole, not clipped; busy is the sum of the lengths
  std::int64_t wait_ns = 0;                            ///< The part of busy_ns in which spans were waits.
  std::uint32_t first = 0;                             ///< index of the (first) span
  std::uint32_t count = 0;                             ///< 1: a single span
  std::uint32_t lane = 0;
  std::uint16_t row = 0;
  Tint tint{};       ///< The tint of a single span; folded ones have that of most of their work.
  Tint wait_tint{};  ///< Folded spans have the tint of most of their waiting.
  TimelineMark mark = TimelineMark::solid;

  /// Parts of the block's time that are spent in work and in waits; their sum is over 1 where spans of a row overlap.
  double density() const;
  double wait_share() const;
};

constexpr float timeline_fold_px = 4.0f;

/// Appends what row `row` shows in `viewport`, in order of start. Folding goes by bins of time that stay where they are
/// while one pans. The blocks' counts and busy times add up to those of the spans that touch the viewport. With B =
/// width / 2 px bins at most 3 B + 3 blocks come out whatever the data; 2 B + 2 when spans of the row do not overlap.
void layout_timeline_row(const TimelineSpans& spans, const TimelineLaneIndex& index, std::size_t row,
                         const TimelineViewport& viewport, std::uint32_t lane, std::vector<TimelineBlock>& out);

/// The blocks must come from layout_timeline_row. The one under `px`, within a pixel and a half; nullptr when none.
const TimelineBlock* timeline_block_at(std::span<const TimelineBlock> blocks, float px);

struct TimelinePoint {
  std::int64_t time_ns = 0;
  double value = 0;
};
using TimelinePoints = TimelineSequence<TimelinePoint>;
struct TimelineVertex {
  float x = 0, y = 0;
};
/// The extremes of `counter_block` neighbouring points; those that are not finite left out (low > high when all are).
struct TimelineRange {
  double low = 0, high = 0;
  std::int64_t last_ns = 0;  ///< The time of the last point, so that a block can be passed without touching its points.
  double last = 0;
};
inline constexpr std::size_t counter_block = 64;
std::vector<TimelineRange> index_counter(const TimelinePoints& points);

/// How a counter lies in its row: y runs from `bottom` (value `low`) to `top` (value `high`).
struct CounterPlace {
  bool steps = false;  ///< each value holds until the next point; else straight lines join the points
  double low = 0, high = 1;
  float top = 0, bottom = 0;  ///< screen pixels
};

/// A counter as a polyline: points sorted by time, at most four vertices a pixel column. A value that is not finite is
/// left out. `blocks` of index_counter spare reading what falls into one column; the vertices are the same.
void layout_counter(const TimelinePoints& points, const TimelineViewport& viewport, const CounterPlace& place,
                    std::vector<TimelineVertex>& out, std::span<const TimelineRange> blocks = {});

/// What of the time is shown; the gestures change only this.
struct TimelineWindow {
  double start_s = 0, duration_s = 0;  ///< since the origin; a duration of 0 asks for a fit
};
/// Keeps the window sane for data from `first_s` to `last_s`: 1 ns to four times the data, never out of sight of it.
TimelineWindow limit_window(TimelineWindow window, double first_s, double last_s);
TimelineWindow fit_window(double first_s, double last_s);
/// Shows 1/factor of the time, with `at_s` staying under the pointer.
TimelineWindow zoom_window(TimelineWindow window, double factor, double at_s);
TimelineWindow pan_window(TimelineWindow window, double by_s);

}  // namespace widgets
