#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "widgets/base/tint.h"
#include "widgets/timeline/timeline_sequence.h"

namespace widgets {

enum class TimelineMark : std::uint8_t {
  solid,
  pale,
  hatched,
  dot,     ///< a circle at the start: arrivals and other instants
  callout  ///< an outlined box with its name: "idle 3.4 ms, host wait"
};

/// Is a span of this mark a wait, and no work?
constexpr bool is_wait(TimelineMark mark) { return mark == TimelineMark::hatched || mark == TimelineMark::callout; }

/// One interval of work, or of waiting.
struct TimelineSpan {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;  ///< negative counts as 0; an end past the int64 range stops there
  std::uint32_t name = 0;        ///< what TimelineData::name is asked
  std::uint16_t depth = 0;       ///< nesting row inside its lane
  Tint tint{};
  TimelineMark mark = TimelineMark::solid;

  std::int64_t length_ns() const { return duration_ns > 0 ? duration_ns : 0; }
  std::int64_t end_ns() const {
    std::int64_t end = 0;
    return __builtin_add_overflow(start_ns, length_ns(), &end) ? INT64_MAX : end;
  }
};
static_assert(sizeof(TimelineSpan) == 24);
using TimelineSpans = TimelineSequence<TimelineSpan>;

/// Gives each span the first row that is free when it starts, parents before children, and sorts by (start, longest
/// first). Returns how many rows that took (at most 256; more overlap than that shares the last row).
std::size_t stack_depths(std::vector<TimelineSpan>& spans);

/// The tint that has more than half of the busy time, by weighted majority vote: constant work for each of millions.
struct TintVote {
  Tint tint{};
  std::int64_t lead_ns = -1;

  void add(Tint other, std::int64_t busy_ns) {
    if (other == tint && lead_ns >= 0) {
      lead_ns = lead_ns < INT64_MAX - busy_ns ? lead_ns + busy_ns : INT64_MAX;
    } else if (busy_ns > lead_ns) {
      lead_ns = busy_ns - (lead_ns > 0 ? lead_ns : 0);
      tint = other;
    } else {
      lead_ns -= busy_ns;
    }
  }
};

/// Neighbours that one node sums up. More would cost less memory and more spans read at the edges of what folds.
constexpr std::size_t timeline_fanout = 16;

/// What 16 neighbours (spans, or nodes of the level below) come to.
struct TimelineNode {
  std::int64_t first_start_ns, last_start_ns, max_end_ns, busy_ns;  ///< busy: the sum of all lengths
  std::int64_t wait_ns;                                             ///< The part of busy_ns in which spans were waits.
  float max_length_ns;                                              ///< rounded up: a bound
  Tint tint{}, wait_tint{};  ///< The tints of most of the work and of most of the waiting, where one has most.
};
static_assert(sizeof(TimelineNode) == 48);

struct TimelineRow {
  std::uint16_t depth = 0;
  std::size_t first = 0, count = 0;               ///< range in TimelineLaneIndex::order
  std::vector<std::vector<TimelineNode>> levels;  ///< levels[0] covers 16 spans a node, levels[1] 256, ...
};

/// A lane's spans by row and start, with summaries, so that a frame costs by its pixels and not by its spans.
/// About 3.2 bytes a span, and 4 more when the spans do not already come sorted by (depth, start).
struct TimelineLaneIndex {
  std::vector<std::uint32_t> order;        ///< empty: the spans' own order
  std::vector<TimelineRow> rows;           ///< by depth, only depths that occur, at most 256
  std::int64_t first_ns = 0, last_ns = 0;  ///< both 0 when there is no span
  std::array<bool, 256> tints{};           ///< those in use
  bool dots = false;                       ///< some span is drawn as a dot
  /// Rows from the top that one span fills nearly from end to end, around all that is below; the last row never counts.
  std::size_t wrappers = 0;

  std::uint32_t span_at(std::size_t position) const {
    return order.empty() ? static_cast<std::uint32_t>(position) : order[position];
  }
  std::size_t row_of(std::uint16_t depth) const;
};

/// O(n) when sorted by start, else O(n log n). Slow for millions: build it in a job and hand it to the view.
TimelineLaneIndex index_lane(const TimelineSpans& spans);

}  // namespace widgets
