#pragma once
#include <array>
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
  /// What it can reach, in its unit: its strip is scaled to that and shows it as a line, so that 5 % full looks 5 %
  /// full. NaN: scaled to its own peak.
  double capacity = std::numeric_limits<double>::quiet_NaN();
  /// The strip's scale reaches this far without a line or a label at its ends, so that strips of several lanes can
  /// share one scale. NaN: as above.
  double scale_to = std::numeric_limits<double>::quiet_NaN();
};

struct TimelineLane {
  std::string_view label, sublabel;
  TimelineSpans spans;                        ///< any order; sorted by (depth, start) costs least
  std::span<const TimelineCounter> counters;  ///< share one strip and one scale under the spans
  std::uint32_t indent = 0;     ///< nesting of lanes: those after a lane with more indent are its group, which folds
  std::int64_t sort_index = 0;  ///< where lanes are sorted: before the order of labels
};

/// Order of the lanes by sort index, then by label with numbers by value ("stream 2" before "stream 10"); a group stays
/// under its head.
void timeline_order(std::span<const TimelineLane> lanes, std::vector<std::uint32_t>& order);

/// An arrow from the end of one span to the start of another: what waited for what.
struct TimelineLink {
  std::uint32_t from_lane = 0, from_span = 0, to_lane = 0, to_span = 0;
};

using TimelineLinks = TimelineSequence<TimelineLink>;

/// One span of a path through the lanes.
struct TimelineStep {
  std::uint32_t lane = 0, span = 0;
};

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
  /// From the span that caused a gap to the gap: drawn as a bracket over the gap with a line to its cause. The first 64
  /// count.
  TimelineLinks causes{};
  std::span<const TimelineStep> thread{};  ///< the critical path, by time: one bold line under its spans
  std::string_view (*tint_name)(const void* context, Tint tint) =
      nullptr;  ///< for the legend; empty or null: the meaning's own name, and no entry for a tint without a meaning
};

/// Summaries of all lanes. Made on first draw, or beforehand: TimelineData::index.
struct TimelineIndex {
  std::uint64_t fingerprint = 0;
  struct Scale {
    double low = 0, high = 1;
  };
  std::vector<TimelineLaneIndex> lanes;
  std::vector<std::vector<std::vector<TimelineRange>>> counters;  ///< The ranges of each counter of each lane.
  std::vector<Scale> scales;  ///< What each lane's counters span; 0 is always inside.
  std::vector<std::uint32_t>
      link_order;  ///< Links that name spans, by the earlier of their ends; empty: the links' own order.
  std::size_t link_count = 0;
  std::int64_t longest_link_ns = 0;
  double first_s = 0, last_s = 1;  ///< Where everything begins and ends, since the origin.
  std::array<bool, 256> tints{};   ///< those that spans and counters use

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
    std::size_t wrappers = 0;                           ///< rows at its top that are folded into the next one
    bool hidden = false;                                ///< in a folded group
  };
  std::vector<std::uint32_t> order;  ///< The lanes from above; empty: their own order.
  std::uint64_t order_of = 0;
  float lanes_height = 0, legend_height = 0;
  std::vector<LegendEntry> legend;
  std::vector<PlacedLegend> legend_placed;
  std::uint64_t touched_of = 0;
  std::vector<TimelineLink> touched;  ///< arrows at the selected span and the one under the pointer
  std::uint64_t layout_of = 0;        ///< what `blocks` were laid out for
  std::vector<PlacedLane> lanes;
  Rect area{}, lanes_area{};  ///< Screen pixels of the last frame: everything, and what lies right of the labels and
                              ///< under the ruler.
  TimelineViewport viewport{};
  std::vector<TimelineBlock> blocks;
  std::vector<TimelineVertex> vertices;
  std::vector<ImVec2> points, floor;
};

struct TimelineSelection {
  std::int64_t lane = -1, span = -1;  ///< -1: none
  bool operator==(const TimelineSelection&) const = default;
};

/// How a timeline lies, so that plots below can stand on the same axis.
struct TimelineAxis {
  float left_px = 0, right_px = 0;     ///< between the edges of the whole and those of the axis, screen pixels
  double start_s = 0, duration_s = 1;  ///< shown
};

struct TimelineView {
  TimelineWindow window;  ///< fits on the first frame
  double cursor_s = 0;
  bool playing = false;
  double play_rate = 0;  ///< seconds of data a second; 0: the whole in ten seconds
  float scroll_px = 0;   ///< lanes scrolled away above
  float label_px = 0;    ///< design pixels that the label column was dragged to; 0: as wide as the options say
  TimelineSelection selected;
  bool reveal = false;  ///< scrolls the lanes once, so that the selected span is among those seen
  double range_start_s = std::numeric_limits<double>::quiet_NaN(), range_end_s = range_start_s;  ///< NaN: no range

  TimelineSelection grabbed;  ///< the span that the pointer holds, where the options let it

  std::vector<std::uint8_t> folded;  ///< by lane: its group, or its wrapping rows, stand other than they do at first

  TimelineIndex index;      ///< derived from the data, unless that brings its own
  TimelineScratch scratch;  ///< reused so that a steady frame allocates nothing

  /// Where the last draw_timeline put its lanes, in screen pixels; without lanes before the first.
  std::size_t drawn_lanes() const { return scratch.lanes.size(); }
  /// What the lanes may take: right of their labels and under the ruler.
  Rect lanes_rect() const { return scratch.lanes_area; }
  /// One lane, over the width of lanes_rect(); it may be scrolled out of it.
  Rect lane_rect(std::size_t lane) const;
  float x_pixel(double time_s) const { return scratch.viewport.x_of_s(time_s); }
  /// The layout of the last frame; hand its margins and range to the plots below, or theirs to the options and
  /// `window`.
  TimelineAxis axis() const;
  /// Height of everything that the last draw_timeline would need to show all lanes without scrolling.
  float whole_height() const;
};

enum class TimelineArrows : std::uint8_t { touched, all, none };  ///< touched: of the selected and the hovered span

/// Words for the hover of one span.
struct TimelineNote {
  TimelineSelection span;
  std::string_view text;
};

struct TimelineOptions {
  float width = 0;        ///< pixels; 0: what is left
  float height = 0;       ///< pixels; 0: as much as the lanes need, at most what is left
  float row_px = 19;      ///< design pixels of a span
  float counter_px = 64;  ///< design pixels of a counter strip
  float label_px = 96;    ///< design pixels of the label column; 0: none
  bool cursor = true, ruler = true;
  bool initials = false;  ///< where a name does not fit at all, its first letters: for schedules of few names
  TimelineArrows arrows = TimelineArrows::touched;
  bool legend = false;         ///< a row under the lanes: the tints in use, by name
  bool sorted = false;         ///< lanes stand in the order of timeline_order
  bool fold_wrappers = false;  ///< rows that one span fills from end to end fold into the next: frames around a program
  bool whole_lanes = false;    ///< ends where a lane ends; where more lie below, the last line of `height` says so
  bool grabs = false;          ///< a drag that begins on a span takes that span along and does not pan
  TimelineNote note;           ///< in place of what the data's `info` says of that span
  float axis_left_px = -1, axis_right_px = -1;  ///< margins of a plot that shares the axis, screen pixels; -1: its own
};

struct TimelineEvents {
  TimelineSelection hovered;        ///< the span under the pointer; of a folded block, its first
  std::uint32_t hovered_count = 0;  ///< spans in the block under the pointer
  bool clicked = false, cursor_moved = false;
  TimelineSelection dropped;  ///< the span that a drag took along and let go in this frame
};

/// Lanes of spans over time. Wheel zooms about the pointer, drag pans, shift-drag selects a range, click selects a
/// span, double click or F fits; a caret before a label, an item labelled "fold" and the label, folds a group or opens
/// folded rows; W, S zoom and A, D pan while the pointer is over it; shift-wheel scrolls the lanes;
/// Space plays. The cursor is an item labelled "cursor" that drags. Millions of spans cost by the pixels they cover.
TimelineEvents draw_timeline(const char* label, const TimelineData& data, TimelineView& view,
                             const TimelineOptions& options = {});

/// Moves the cursor on by `dt_s` of wall time; stops at the index' end. Returns true while it moves.
bool advance_playback(TimelineView& view, const TimelineIndex& index, double dt_s);

/// Height in pixels of the lanes and ruler, before any scrolling.
float timeline_height(const TimelineData& data, const TimelineIndex& index, const TimelineOptions& options);

}  // namespace widgets
