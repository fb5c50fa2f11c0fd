#include "widgets/timeline/timeline_index.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace widgets {
namespace {

constexpr std::size_t max_indexed_rows = 256;

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

float at_least(std::int64_t ns) {
  constexpr std::int64_t exact = 1 << std::numeric_limits<float>::digits;
  const auto rounded = static_cast<float>(ns);
  return ns <= exact ? rounded : std::nextafter(rounded, std::numeric_limits<float>::infinity());
}

TimelineNode summary_of(const TimelineSpans& spans, const TimelineLaneIndex& index, std::size_t first,
                        std::size_t last) {
  TimelineNode n{0, 0, INT64_MIN, 0, 0, 0, {}, {}};
  std::int64_t longest = 0;
  TintVote work, wait;
  for (std::size_t i = first; i < last; ++i) {
    const TimelineSpan s = spans[index.span_at(i)];
    if (i == first) n.first_start_ns = s.start_ns;
    n.last_start_ns = s.start_ns;
    n.max_end_ns = std::max(n.max_end_ns, s.end_ns());
    longest = std::max(longest, s.length_ns());
    n.busy_ns = saturating_add(n.busy_ns, s.length_ns());
    if (is_wait(s.mark)) n.wait_ns = saturating_add(n.wait_ns, s.length_ns());
    (is_wait(s.mark) ? wait : work).add(s.tint, s.length_ns());
  }
  n.max_length_ns = at_least(longest);
  n.tint = work.tint;
  n.wait_tint = wait.tint;
  return n;
}

TimelineNode summary_of(std::span<const TimelineNode> nodes) {
  TimelineNode n = nodes.front();
  TintVote work, wait;
  work.add(n.tint, n.busy_ns - n.wait_ns);
  wait.add(n.wait_tint, n.wait_ns);
  for (const TimelineNode& m : nodes.subspan(1)) {
    n.last_start_ns = m.last_start_ns;
    n.max_end_ns = std::max(n.max_end_ns, m.max_end_ns);
    n.max_length_ns = std::max(n.max_length_ns, m.max_length_ns);
    n.busy_ns = saturating_add(n.busy_ns, m.busy_ns);
    n.wait_ns = saturating_add(n.wait_ns, m.wait_ns);
    work.add(m.tint, m.busy_ns - m.wait_ns);
    wait.add(m.wait_tint, m.wait_ns);
  }
  n.tint = work.tint;
  n.wait_tint = wait.tint;
  return n;
}

void build_levels(const TimelineSpans& spans, const TimelineLaneIndex& index, TimelineRow& row) {
  std::vector<TimelineNode> level;
  level.reserve((row.count + timeline_fanout - 1) / timeline_fanout);
  for (std::size_t i = 0; i < row.count; i += timeline_fanout)
    level.push_back(summary_of(spans, index, row.first + i, row.first + std::min(i + timeline_fanout, row.count)));
  row.levels.push_back(std::move(level));
  while (row.levels.back().size() > 1) {
    const std::vector<TimelineNode>& below = row.levels.back();
    std::vector<TimelineNode> next;
    next.reserve((below.size() + timeline_fanout - 1) / timeline_fanout);
    for (std::size_t i = 0; i < below.size(); i += timeline_fanout)
      next.push_back(summary_of(std::span(below).subspan(i, std::min(timeline_fanout, below.size() - i))));
    row.levels.push_back(std::move(next));
  }
}

bool starts_before(const TimelineSpan& a, const TimelineSpan& b) {
  return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.length_ns() > b.length_ns();
}

/// Orders the spans by row and in each by start. `row_of_depth`: the row that has the spans of a depth.
void order_spans_by_row(const TimelineSpans& spans, std::size_t size, bool by_start,
                        const std::vector<std::uint16_t>& row_of_depth, TimelineLaneIndex& index) {
  std::vector<std::uint32_t> sorted;  // by start; needed only when the data is not
  if (!by_start) {
    sorted.resize(size);
    std::iota(sorted.begin(), sorted.end(), 0u);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return starts_before(spans[a], spans[b]); });
  }
  index.order.resize(size);
  std::vector<std::size_t> next;
  for (const TimelineRow& row : index.rows) next.push_back(row.first);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t s = by_start ? static_cast<std::uint32_t>(i) : sorted[i];
    index.order[next[row_of_depth[spans[s].depth]]++] = s;
  }
}

}  // namespace

std::size_t stack_depths(std::vector<TimelineSpan>& spans) {
  std::stable_sort(spans.begin(), spans.end(), starts_before);
  std::vector<std::int64_t> free_from;
  for (TimelineSpan& s : spans) {
    const auto free_row =
        std::find_if(free_from.begin(), free_from.end(), [&](std::int64_t end) { return end <= s.start_ns; });
    std::size_t row = static_cast<std::size_t>(free_row - free_from.begin());
    if (row == free_from.size() && row < max_indexed_rows) free_from.push_back(0);
    row = std::min(row, max_indexed_rows - 1);
    free_from[row] = s.end_ns();
    s.depth = static_cast<std::uint16_t>(row);
  }
  return free_from.size();
}

std::size_t TimelineLaneIndex::row_of(std::uint16_t depth) const {
  const auto it = std::lower_bound(rows.begin(), rows.end(), depth,
                                   [](const TimelineRow& r, std::uint16_t d) { return r.depth < d; });
  return std::min(static_cast<std::size_t>(it - rows.begin()), rows.empty() ? 0 : rows.size() - 1);
}

TimelineLaneIndex index_lane(const TimelineSpans& spans) {
  TimelineLaneIndex index;
  const std::size_t size = std::min<std::size_t>(spans.size(), std::numeric_limits<std::uint32_t>::max());
  if (size == 0) return index;

  bool by_start = true, by_depth = true;
  std::vector<std::size_t> counts;  // as long as the spans are deep: a recording may have a hundred thousand lanes
  index.first_ns = INT64_MAX;
  index.last_ns = INT64_MIN;
  TimelineSpan before;
  for (std::size_t i = 0; i < size; ++i) {
    const TimelineSpan s = spans[i];
    if (s.depth >= counts.size()) counts.resize(s.depth + std::size_t{1}, 0);
    ++counts[s.depth];
    index.tints[s.tint.code] = true;
    index.dots = index.dots || s.mark == TimelineMark::dot;
    index.first_ns = std::min(index.first_ns, s.start_ns);
    index.last_ns = std::max(index.last_ns, s.end_ns());
    if (i > 0) {
      by_start = by_start && before.start_ns <= s.start_ns;
      by_depth = by_depth && (before.depth < s.depth || (before.depth == s.depth && before.start_ns <= s.start_ns));
    }
    before = s;
  }

  std::vector<std::uint16_t> row_of_depth(counts.size(), 0);
  for (std::size_t d = 0; d < counts.size(); ++d) {
    if (counts[d] == 0) continue;
    if (index.rows.size() < max_indexed_rows)
      index.rows.push_back({.depth = static_cast<std::uint16_t>(d), .levels = {}});
    row_of_depth[d] = static_cast<std::uint16_t>(index.rows.size() - 1);
    index.rows.back().count += counts[d];
  }
  std::size_t first = 0;
  for (TimelineRow& row : index.rows) {
    row.first = first;
    first += row.count;
  }

  if (!by_depth) order_spans_by_row(spans, size, by_start, row_of_depth, index);
  for (TimelineRow& row : index.rows) build_levels(spans, index, row);
  const double whole = static_cast<double>(index.last_ns) - static_cast<double>(index.first_ns);
  while (index.wrappers + 1 < index.rows.size()) {
    const TimelineRow& row = index.rows[index.wrappers];
    if (row.count != 1 || !(static_cast<double>(row.levels.back()[0].busy_ns) >= 0.95 * whole)) break;
    ++index.wrappers;
  }
  return index;
}

}  // namespace widgets
