#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/base/parts.h"
#include "widgets/timeline/timeline_layout.h"

namespace widgets {

struct TimelineCounter {
  std::string_view label, unit;
  TimelinePoints points;  ///< sorted by time
  Tint tint{};
  bool steps = true;  ///< holds its value; else straight lines between points
  bool area = false;
};

struct TimelineLane {
  std::string_view label, sublabel;
  TimelineSpans spans;                        ///< any order; sorted by (depth, start) costs least
  std::span<const TimelineCounter> counters;  ///< share one strip and one scale under the spans
  std::uint32_t indent = 0;                   ///< nesting of lanes: a process's threads
};

/// An arrow from the end of one span to the start of another: what waited for what.
struct TimelineLink {
  std::uint32_t from_lane = 0, from_span = 0, to_lane = 0, to_span = 0;
};

using TimelineLinks = TimelineSequence<TimelineLink>;

struct TimelineIndex;
struct TimelineData {
  std::span<const TimelineLane> lanes;
  TimelineLinks links;  ///< those that name no span are left out
  std::string_view (*name)(const void* context, std::uint32_t id) = nullptr;
  std::string_view (*info)(const void* context, std::uint32_t lane, std::uint32_t span) = nullptr;  ///< for the hover
  const void* context = nullptr;
  std::int64_t origin_ns = 0;  ///< shown as time 0; for traces, the first start
  std::uint64_t revision = 0;  ///< raise it when a lane of more than 4,096 spans changes in place
  const TimelineIndex* index =
      nullptr;  ///< made of this very data, in a job for example; null: the view makes and keeps its own
};

/// Summaries of all lanes. Made on first draw, or beforehand: TimelineData::index.
struct TimelineIndex {
  std::uint64_t fingerprint = 0;
  struct Scale {
    double low = 0, high = 1;
  };
  std::vector<TimelineLaneIndex> lanes;
  std::vector<std::vector<std::vector<TimelineRange>>> counters;  ///< of each lane, of each of its counters
  std::vector<Scale> scales;                                      ///< of each lane's counters; 0 is always inside
  std::vector<std::uint32_t>
      link_order;  ///< of those that name spans, by the earlier of their ends; empty: the links' own order
  std::size_t link_count = 0;
  std::int64_t longest_link_ns = 0;
  double first_s = 0, last_s = 1;  ///< of everything, since the origin

  std::uint32_t link_at(std::size_t position) const {
    return link_order.empty() ? static_cast<std::uint32_t>(position) : link_order[position];
  }
};
TimelineIndex index_timeline(const TimelineData& data);
/// Equal for equal data; reads small lanes in full and samples big ones.
std::uint64_t timeline_fingerprint(const TimelineData& data);

/// When an arrow begins and ends; an effect recorded before its cause is turned round.
struct TimelineLinkTimes {
  std::int64_t first_ns = 0, last_ns = 0;
};
std::optional<TimelineLinkTimes> link_times(const TimelineData& data,
                                            const TimelineLink& link);  ///< nothing when it names no span

struct TimelineScratch {
  struct PlacedLane {
    float top = 0, rows = 0, counters = 0, height = 0;  ///< pixels below the top of the lanes
    std::size_t first_block = 0, blocks = 0;            ///< in `blocks`, by row and start
  };
  std::uint64_t layout_of = 0;  ///< what `blocks` were laid out for
  std::vector<PlacedLane> lanes;
  Rect area{}, lanes_area{};  ///< of the last frame, screen pixels: everything; right of the labels, under the ruler
  TimelineViewport viewport{};
  std::vector<TimelineBlock> blocks;
  std::vector<TimelineVertex> vertices;
  std::vector<ImVec2> points, floor;
};

struct TimelineSelection {
  std::int64_t lane = -1, span = -1;  ///< -1: none
  bool operator==(const TimelineSelection&) const = default;
};

struct TimelineView {
  TimelineWindow window;  ///< fits on the first frame
  double cursor_s = 0;
  bool playing = false;
  double play_rate = 0;  ///< seconds of data a second; 0: the whole in ten seconds
  float scroll_px = 0;   ///< lanes scrolled away above
  TimelineSelection selected;
  bool reveal = false;  ///< scrolls the lanes once, so that the selected span is among those seen
  double range_start_s = std::numeric_limits<double>::quiet_NaN(), range_end_s = range_start_s;  ///< NaN: no range

  TimelineIndex index;      ///< derived from the data, unless that brings its own
  TimelineScratch scratch;  ///< reused so that a steady frame allocates nothing

  /// Where the last draw_timeline put its lanes, in screen pixels; without lanes before the first.
  std::size_t drawn_lanes() const { return scratch.lanes.size(); }
  /// What the lanes may take: right of their labels and under the ruler.
  Rect lanes_rect() const { return scratch.lanes_area; }
  /// One lane, over the width of lanes_rect(); it may be scrolled out of it.
  Rect lane_rect(std::size_t lane) const;
  float x_pixel(double time_s) const { return scratch.viewport.x_of_s(time_s); }
  /// Height of everything that the last draw_timeline would need to show all lanes without scrolling.
  float whole_height() const;
};

struct TimelineOptions {
  float height = 0;       ///< pixels; 0: as much as the lanes need, at most what is left
  float row_px = 19;      ///< design pixels of a span
  float counter_px = 64;  ///< design pixels of a counter strip
  float label_px = 96;    ///< design pixels of the label column; 0: none
  bool cursor = true, ruler = true;
  bool initials = false;  ///< where a name does not fit at all, its first letters: for schedules of few names
};

struct TimelineEvents {
  TimelineSelection hovered;        ///< the span under the pointer; of a folded block, its first
  std::uint32_t hovered_count = 0;  ///< spans in the block under the pointer
  bool clicked = false, cursor_moved = false;
};

/// Lanes of spans over time. Wheel zooms about the pointer, drag pans, shift-drag selects a range, click selects a
/// span, double click or F fits; W, S zoom and A, D pan while the pointer is over it; shift-wheel scrolls the lanes;
/// Space plays. The cursor is an item labelled "cursor" that drags. Millions of spans cost by the pixels they cover.
TimelineEvents draw_timeline(const char* label, const TimelineData& data, TimelineView& view,
                             const TimelineOptions& options = {});

/// Moves the cursor on by `dt_s` of wall time; stops at the index' end. Returns true while it moves.
bool advance_playback(TimelineView& view, const TimelineIndex& index, double dt_s);

/// Height in pixels of the lanes and ruler, before any scrolling.
float timeline_height(const TimelineData& data, const TimelineIndex& index, const TimelineOptions& options);

}  // namespace widgets
