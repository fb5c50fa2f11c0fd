#pragma once
#include "widgets/timeline/timeline.h"

/// What the parts of draw_timeline share within one frame. Not for others.
namespace widgets {

struct TimelineFrame {
  const char* label;
  const TimelineData& data;
  TimelineView& view;
  const TimelineOptions& options;
  const TimelineIndex& index;
  Rect area{};   ///< everything
  Rect lanes{};  ///< right of the labels, under the ruler
  float row_px = 0, row_step_px = 0, counter_px = 0;
  TimelineViewport viewport{};
  TimelineEvents events{};

  float lane_top(std::size_t lane) const { return lanes.min.y - view.scroll_px + view.scratch.lanes[lane].top; }
  float row_top(std::size_t lane, std::size_t row) const {
    const std::size_t folded = view.scratch.lanes[lane].wrappers;
    return lane_top(lane) + view.scratch.lanes[lane].rows +
           static_cast<float>(row > folded ? row - folded : 0) * row_step_px;
  }
  bool lane_shown(std::size_t lane) const {
    if (view.scratch.lanes[lane].hidden) return false;
    const float top = lane_top(lane);
    return top < lanes.max.y && top + view.scratch.lanes[lane].height > lanes.min.y;
  }
};

/// Rows lower than a line of body text: their lanes lie close, with small labels.
inline bool low_lanes(const TimelineOptions& options) { return options.row_px < 12; }
inline Type label_type(const TimelineOptions& options) { return low_lanes(options) ? Type::small : Type::body; }
/// Pixels of each lane, from above in `order` (empty: their own); `folded` as in TimelineView, or empty. Returns the
/// height of all.
float place_timeline_lanes(const TimelineData& data, const TimelineIndex& index, const TimelineOptions& options,
                           std::span<const std::uint8_t> folded, std::span<const std::uint32_t> order,
                           std::vector<TimelineScratch::PlacedLane>& placed);
/// What a press on a lane's caret folds or opens.
enum class TimelineCaret : std::uint8_t { none, group, wrappers };
TimelineCaret timeline_caret(const TimelineData& data, const TimelineIndex& index, const TimelineOptions& options,
                             std::size_t lane);
/// Carets as items, for those who fold; before the frame is painted.
void fold_timeline_lanes(TimelineFrame& f);
/// Entries of the legend for these tints, and for dots where there are some; returns its height in `width`.
float layout_timeline_legend(const TimelineData& data, const std::array<bool, 256>& tints, bool dots, float width,
                             TimelineScratch& scratch);
/// Where not all lanes are seen: the legend again, of those that are, in the room that it has.
void name_seen_lanes(const TimelineFrame& f);
/// The arrows at the selected span and the one under the pointer; looked for only when these change.
void find_touched_links(TimelineFrame& f);
void layout_timeline_blocks(TimelineFrame& f);
void find_timeline_hover(TimelineFrame& f, ImVec2 mouse);
/// One sentence in a tip about what is under the pointer.
void tip_timeline(const TimelineFrame& f, ImVec2 mouse);
void paint_timeline(const TimelineFrame& f, const Painter& painter);
void paint_timeline_lane(const TimelineFrame& f, const Painter& painter, std::size_t lane);
void paint_timeline_counters(const TimelineFrame& f, const Painter& painter, std::size_t lane);
void paint_timeline_ruler(const TimelineFrame& f, const Painter& painter);
void paint_timeline_cursor(const TimelineFrame& f, const Painter& painter);
void paint_timeline_links(const TimelineFrame& f, const Painter& painter);
void paint_timeline_causes(const TimelineFrame& f, const Painter& painter);
void paint_timeline_thread(const TimelineFrame& f, const Painter& painter);
/// Leaves where each lane ends where another scenario's picture is gathered.
void leave_timeline(const TimelineFrame& f);
/// The end of the last lane of the scenario that was set aside, in seconds since the origin; -infinity: there is none.
double reference_last_s(const char* label);
/// Where the lanes of the scenario that was set aside end: a dashed line across each that ends elsewhere, marked A.
void paint_timeline_reference(const TimelineFrame& f, const Painter& painter);
void record_timeline(const TimelineFrame& f, Record& record);

}  // namespace widgets
