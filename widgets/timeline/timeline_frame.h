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
    return lane_top(lane) + view.scratch.lanes[lane].rows + static_cast<float>(row) * row_step_px;
  }
  bool lane_shown(std::size_t lane) const {
    const float top = lane_top(lane);
    return top < lanes.max.y && top + view.scratch.lanes[lane].height > lanes.min.y;
  }
};

/// Pixels of each lane; returns the height of all.
float place_timeline_lanes(const TimelineData& data, const TimelineIndex& index, const TimelineOptions& options,
                           std::vector<TimelineScratch::PlacedLane>& placed);
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
void record_timeline(const TimelineFrame& f, Record& record);

}  // namespace widgets
