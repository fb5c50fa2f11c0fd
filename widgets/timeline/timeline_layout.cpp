#include "widgets/timeline/timeline_layout.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace widgets {
namespace {

constexpr double ns_per_s = 1e9;

std::int64_t clamp_ns(double ns) {
  if (!(ns > -9.2e18)) return INT64_MIN;
  if (!(ns < 9.2e18)) return INT64_MAX;
  return static_cast<std::int64_t>(ns);
}

std::int64_t offset_ns(std::int64_t origin, double ns) {
  std::int64_t sum = 0;
  const std::int64_t by = clamp_ns(ns);
  return __builtin_add_overflow(origin, by, &sum) ? (by > 0 ? INT64_MAX : INT64_MIN) : sum;
}

/// Walks a row's summaries in order of start and folds on the way.
class Folder {
 public:
  Folder(const TimelineSpans& spans, const TimelineLaneIndex& index, std::size_t row, const TimelineViewport& viewport,
         std::uint32_t lane, std::vector<TimelineBlock>& out)
      : spans_(spans), index_(index), row_(index.rows[row]), viewport_(viewport), out_(out) {
    const double ns_per_px = viewport.duration_s * ns_per_s / static_cast<double>(viewport.width);
    const double narrow = std::min(static_cast<double>(timeline_fold_px) * ns_per_px, 9e18);
    narrow_ns_ = static_cast<std::int64_t>(std::ceil(narrow));
    // Bins of a power of two at most as long as a narrow span: 2 to 4 px each, anchored to time.
    const auto whole = static_cast<std::uint64_t>(std::max(narrow, 1.0));
    bin_shift_ = static_cast<int>(std::bit_width(whole)) - 1;
    low_ns_ = offset_ns(viewport.origin_ns, std::floor(viewport.start_s * ns_per_s));
    high_ns_ = offset_ns(viewport.origin_ns, std::ceil((viewport.start_s + viewport.duration_s) * ns_per_s));
    fold_.lane = lane;
    fold_.row = static_cast<std::uint16_t>(row);
  }

  void run() {
    if (!row_.levels.empty()) visit(row_.levels.size() - 1, 0);
    flush();
  }

 private:
  std::int64_t bin(std::int64_t start) const { return std::max(start, low_ns_) >> bin_shift_; }

  static std::uint64_t bin_span_of(const TimelineNode& n) {
    return static_cast<std::uint64_t>(n.last_start_ns) - static_cast<std::uint64_t>(n.first_start_ns);
  }
  std::uint64_t half_bin_ns() const { return (std::uint64_t{1} << bin_shift_) / 2; }

  /// False once everything further starts right of the viewport.
  bool visit(std::size_t level, std::size_t k) {
    const TimelineNode& n = row_.levels[level][k];
    if (n.first_start_ns >= high_ns_) return false;
    if (n.max_end_ns <= low_ns_ && n.last_start_ns < low_ns_) return true;
    std::size_t per_node = timeline_fanout;
    for (std::size_t l = 0; l < level; ++l) per_node *= timeline_fanout;
    const std::size_t first = k * per_node, last = std::min(first + per_node, row_.count);
    const bool inside = n.first_start_ns >= low_ns_ && n.last_start_ns < high_ns_;
    const std::int64_t b = bin(n.first_start_ns);
    // Half a bin of starts may lean into the next bin: exact edges would cost a descent to the spans at every one of
    // them.
    const bool one_bin = b == bin(n.last_start_ns) || bin_span_of(n) <= half_bin_ns();
    if (inside && one_bin &&
        (static_cast<double>(n.max_length_ns) < static_cast<double>(narrow_ns_) || (has_wide_ && b == wide_bin_))) {
      add(b, row_.first + first, last - first, n.first_start_ns, n.max_end_ns, n.busy_ns, n.wait_ns);
      vote_.add(n.tint, n.busy_ns - n.wait_ns);
      wait_vote_.add(n.wait_tint, n.wait_ns);
      return true;
    }
    if (level > 0) {
      const std::size_t end = std::min((k + 1) * timeline_fanout, row_.levels[level - 1].size());
      for (std::size_t child = k * timeline_fanout; child < end; ++child)
        if (!visit(level - 1, child)) return false;
      return true;
    }
    const std::uint32_t* order = index_.order.empty() ? nullptr : index_.order.data();
    for (std::size_t i = row_.first + first; i < row_.first + last; ++i) {
      const TimelineSpan s = spans_[order ? order[i] : i];
      if (s.start_ns >= high_ns_) return false;
      const std::int64_t length = s.length_ns();
      if (s.start_ns < low_ns_ && s.end_ns() <= low_ns_) continue;
      const std::int64_t bin_of_span = bin(s.start_ns);
      if (length < narrow_ns_ || (has_wide_ && bin_of_span == wide_bin_)) {
        add(bin_of_span, i, 1, s.start_ns, s.end_ns(), length, is_wait(s.mark) ? length : 0);
        (is_wait(s.mark) ? wait_vote_ : vote_).add(s.tint, length);
        continue;
      }
      flush();
      has_wide_ = true;
      wide_bin_ = bin_of_span;
      emit(i, 1, s.start_ns, s.end_ns(), length, s.tint);
    }
    return true;
  }

  void add(std::int64_t b, std::size_t position, std::size_t count, std::int64_t start, std::int64_t end,
           std::int64_t busy, std::int64_t wait) {
    if (fold_.count > 0 && b != fold_bin_) flush();
    if (fold_.count == 0) {
      fold_bin_ = b;
      fold_first_ = position;
      fold_.start_ns = start;
      fold_.end_ns = end;
      fold_.busy_ns = fold_.wait_ns = 0;
      vote_ = wait_vote_ = {};
    }
    fold_.count += static_cast<std::uint32_t>(count);
    fold_.end_ns = std::max(fold_.end_ns, end);
    if (__builtin_add_overflow(fold_.busy_ns, busy, &fold_.busy_ns)) fold_.busy_ns = INT64_MAX;
    if (__builtin_add_overflow(fold_.wait_ns, wait, &fold_.wait_ns)) fold_.wait_ns = INT64_MAX;
  }

  void flush() {
    if (fold_.count == 0) return;
    fold_.wait_tint = wait_vote_.tint;
    const bool one_wait = fold_.count == 1 && fold_.wait_ns > 0;
    emit(fold_first_, fold_.count, fold_.start_ns, fold_.end_ns, fold_.busy_ns,
         one_wait ? fold_.wait_tint : vote_.tint);
    fold_.count = 0;
    fold_.wait_ns = 0;
  }

  void emit(std::size_t position, std::uint32_t count, std::int64_t start, std::int64_t end, std::int64_t busy,
            Tint tint) {
    TimelineBlock block = fold_;
    block.first = index_.span_at(position);
    block.count = count;
    block.start_ns = start;
    block.end_ns = end;
    block.busy_ns = busy;
    block.tint = tint;
    if (count == 1) block.mark = spans_[block.first].mark;
    const float left = viewport_.x, right = viewport_.x + viewport_.width;
    block.x0 = std::clamp(viewport_.x_of(start), left, right);
    block.x1 = std::clamp(viewport_.x_of(end), left, right);
    out_.push_back(block);
  }

  const TimelineSpans& spans_;
  const TimelineLaneIndex& index_;
  const TimelineRow& row_;
  const TimelineViewport& viewport_;
  std::vector<TimelineBlock>& out_;
  std::int64_t narrow_ns_ = 0;  ///< shorter than this is narrow
  int bin_shift_ = 0;
  std::int64_t low_ns_ = 0, high_ns_ = 0, fold_bin_ = 0, wide_bin_ = 0;
  bool has_wide_ = false;
  TimelineBlock fold_;
  std::size_t fold_first_ = 0;
  TintVote vote_, wait_vote_;
};

}  // namespace

double TimelineViewport::since_origin_s(std::int64_t time_ns) const {
  std::int64_t since = 0;
  if (__builtin_sub_overflow(time_ns, origin_ns, &since))
    return (static_cast<double>(time_ns) - static_cast<double>(origin_ns)) / ns_per_s;
  return static_cast<double>(since) / ns_per_s;
}
float TimelineViewport::x_of_s(double time_s) const {
  const double px = (time_s - start_s) * px_per_s();
  return x + static_cast<float>(std::clamp(px, -1e7, 1e7));
}
float TimelineViewport::x_of(std::int64_t time_ns) const { return x_of_s(since_origin_s(time_ns)); }

double TimelineBlock::density() const {
  const double length = static_cast<double>(end_ns) - static_cast<double>(start_ns);
  return length > 0 ? static_cast<double>(busy_ns - wait_ns) / length : 1.0;
}

double TimelineBlock::wait_share() const {
  const double length = static_cast<double>(end_ns) - static_cast<double>(start_ns);
  return length > 0 ? static_cast<double>(wait_ns) / length : 0.0;
}

void layout_timeline_row(const TimelineSpans& spans, const TimelineLaneIndex& index, std::size_t row,
                         const TimelineViewport& viewport, std::uint32_t lane, std::vector<TimelineBlock>& out) {
  const bool drawable = viewport.width > 0 && viewport.duration_s > 0 && std::isfinite(viewport.duration_s) &&
                        std::isfinite(viewport.start_s);
  if (!drawable || row >= index.rows.size()) return;
  Folder(spans, index, row, viewport, lane, out).run();
}

const TimelineBlock* timeline_block_at(std::span<const TimelineBlock> blocks, float px) {
  const TimelineBlock* nearest = nullptr;
  float best = 1.5f;
  // Later ones are painted on top, so on a tie they win.
  for (const TimelineBlock& b : blocks) {
    const float distance = std::max({b.x0 - px, px - b.x1, 0.0f});
    if (distance <= best) {
      best = distance;
      nearest = &b;
    }
  }
  return nearest;
}

std::vector<TimelineRange> index_counter(const TimelinePoints& points) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<TimelineRange> blocks;
  blocks.reserve((points.size() + counter_block - 1) / counter_block);
  for (std::size_t i = 0; i < points.size(); i += counter_block) {
    TimelineRange range{infinity, -infinity, 0, 0};
    for (std::size_t k = i; k < std::min(i + counter_block, points.size()); ++k) {
      const TimelinePoint p = points[k];
      range.last_ns = p.time_ns, range.last = p.value;
      if (!std::isfinite(p.value)) continue;
      range.low = std::min(range.low, p.value);
      range.high = std::max(range.high, p.value);
    }
    blocks.push_back(range);
  }
  return blocks;
}

namespace {

/// Walks the points of a counter and writes its line, of each column of pixels its extremes and its last value.
class CounterLine {
 public:
  CounterLine(const TimelinePoints& points, const TimelineViewport& viewport, const CounterPlace& place,
              std::span<const TimelineRange> blocks, std::vector<TimelineVertex>& out)
      : points_(points),
        viewport_(viewport),
        place_(place),
        blocks_(blocks),
        out_(out),
        left_(viewport.x),
        right_(viewport.x + viewport.width) {}

  void run() {
    find_part();
    for (; at_ < end_; ++at_) {
      skip_blocks();
      add(points_[at_]);
    }
    close();
    if (place_.steps && !out_.empty() && out_.back().x < right_) out_.push_back({right_, y_last_});
  }

 private:
  /// The points in view, with the value on entry and the slope on exit.
  void find_part() {
    const auto first_at = [&](std::size_t first, std::int64_t t) {
      return first_place(first, points_.size(), [&](std::size_t i) { return points_[i].time_ns >= t; });
    };
    const double start_s = viewport_.start_s;
    at_ = first_at(0, offset_ns(viewport_.origin_ns, std::floor(start_s * ns_per_s)));
    if (at_ > 0) --at_;
    end_ = first_at(at_, offset_ns(viewport_.origin_ns, std::ceil((start_s + viewport_.duration_s) * ns_per_s)));
    if (end_ < points_.size()) ++end_;
  }

  float y_of(double v) const {
    const double share = std::clamp((v - place_.low) / (place_.high - place_.low), 0.0, 1.0);
    return place_.bottom + static_cast<float>(share) * (place_.top - place_.bottom);
  }

  /// Whole blocks that end in the column that is open: their extremes and their last value are all that shows.
  void skip_blocks() {
    for (; open_ && at_ % counter_block == 0 && at_ / counter_block < blocks_.size() && end_ - at_ > counter_block;
         at_ += counter_block) {
      const TimelineRange& range = blocks_[at_ / counter_block];
      if (!std::isfinite(range.last) || !(viewport_.x_of(range.last_ns) - column_ < 1.0f)) break;
      y_least_ = std::min(y_least_, y_of(range.high));
      y_most_ = std::max(y_most_, y_of(range.low));
      y_last_ = y_of(range.last);
    }
  }

  void add(const TimelinePoint& p) {
    if (!std::isfinite(p.value)) return;
    const float x = viewport_.x_of(p.time_ns), y = y_of(p.value);
    if (open_ && x - column_ < 1.0f) {
      y_least_ = std::min(y_least_, y);
      y_most_ = std::max(y_most_, y);
      y_last_ = y;
      return;
    }
    close();
    const float draw_x = std::clamp(x, left_, right_), draw_y = y_at_edge(x, y);
    if (place_.steps && open_) out_.push_back({draw_x, y_last_});
    if (!(place_.steps && x > right_)) out_.push_back({draw_x, draw_y});
    column_ = draw_x;
    y_least_ = y_most_ = y_last_ = draw_y;
    open_ = true;
  }

  /// Where the line enters or leaves the view, for a point that lies outside of it; else the point's own y.
  float y_at_edge(float x, float y) const {
    if (x < left_ && at_ + 1 < end_) {
      const TimelinePoint next = points_[at_ + 1];
      const float next_x = viewport_.x_of(next.time_ns);
      if (!place_.steps && next_x > x && std::isfinite(next.value))
        return y + (y_of(next.value) - y) * (left_ - x) / (next_x - x);
    } else if (x > right_ && !out_.empty() && !place_.steps) {
      return y_last_ + (y - y_last_) * (right_ - column_) / (x - column_);
    }
    return y;
  }

  /// The rest of a column: its extremes, then where it ends.
  void close() {
    if (!open_ || !(y_least_ < y_most_)) return;
    out_.push_back({column_, y_least_});
    out_.push_back({column_, y_most_});
    out_.push_back({column_, y_last_});
  }

  const TimelinePoints& points_;
  const TimelineViewport& viewport_;
  const CounterPlace& place_;
  std::span<const TimelineRange> blocks_;
  std::vector<TimelineVertex>& out_;
  float left_, right_;
  std::size_t at_ = 0, end_ = 0;
  float column_ = -1e30f, y_least_ = 0, y_most_ = 0, y_last_ = 0;  ///< the open column of pixels
  bool open_ = false;
};

}  // namespace

void layout_counter(const TimelinePoints& points, const TimelineViewport& viewport, const CounterPlace& place,
                    std::vector<TimelineVertex>& out, std::span<const TimelineRange> blocks) {
  out.clear();
  if (!(viewport.width > 0) || !(viewport.duration_s > 0) || !(place.high > place.low)) return;
  CounterLine(points, viewport, place, blocks, out).run();
}

TimelineWindow fit_window(double first_s, double last_s) {
  if (!std::isfinite(first_s) || !std::isfinite(last_s) || !(last_s > first_s))
    return {std::isfinite(first_s) ? first_s : 0.0, 1.0};
  return {first_s, last_s - first_s};
}

TimelineWindow limit_window(TimelineWindow w, double first_s, double last_s) {
  const TimelineWindow whole = fit_window(first_s, last_s);
  if (!std::isfinite(w.start_s) || !std::isfinite(w.duration_s) || !(w.duration_s > 0)) return whole;
  const double longest = std::max(4 * whole.duration_s, 1e-9), duration = std::clamp(w.duration_s, 1e-9, longest);
  w.start_s += (w.duration_s - duration) / 2;
  w.duration_s = duration;
  // At least a tenth of the window stays over the data.
  w.start_s = std::clamp(w.start_s, whole.start_s - 0.9 * duration, whole.start_s + whole.duration_s - 0.1 * duration);
  return w;
}

TimelineWindow zoom_window(TimelineWindow w, double factor, double at_s) {
  if (!(factor > 0) || !std::isfinite(factor) || !std::isfinite(at_s)) return w;
  const double duration = w.duration_s / factor;
  return {at_s - (at_s - w.start_s) / factor, duration};
}

TimelineWindow pan_window(TimelineWindow w, double by_s) {
  return {std::isfinite(by_s) ? w.start_s + by_s : w.start_s, w.duration_s};
}

}  // namespace widgets
