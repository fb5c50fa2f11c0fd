#include "widgets/plot/plot_layout.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace widgets {
namespace {

/// Which column a value falls in, remembered as an interval of values: most points then need no logarithm.
class Columns {
 public:
  Columns(const AxisMap& map, int count) : map_(map), count_(count) {}
  /// True when `x` starts another column than the point before it.
  bool enter(double x) {
    if (x >= lo_ && x < hi_) return false;
    const double width = (map_.end() - map_.start()) / count_;
    const double at = std::floor((map_.pixel(x) - map_.start()) / width);
    const double column = std::clamp(at, -1.0, static_cast<double>(count_));
    lo_ = column < 0 ? -HUGE_VAL : map_.value(map_.start() + column * width);
    hi_ = column >= count_ ? HUGE_VAL : map_.value(map_.start() + (column + 1) * width);
    // Rounding may leave x just outside its own column; it still belongs there.
    lo_ = std::min(lo_, x);
    if (!(hi_ > x)) hi_ = std::nextafter(x, HUGE_VAL);
    return true;
  }
  void leave() { lo_ = hi_ = 0; }
  double lo() const { return lo_; }
  double hi() const { return hi_; }

 private:
  const AxisMap& map_;
  int count_;
  double lo_ = 0, hi_ = 0;
};

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

void add_break(std::vector<PlotPoint>& out) {
  if (!out.empty() && !std::isnan(out.back().y)) out.push_back({not_a_number, not_a_number, not_a_number});
}

}  // namespace

std::uint64_t fingerprint(std::span<const double> values) {
  // Four independent chains, so that a million values take less than a millisecond.
  std::uint64_t h[4] = {0x9E3779B97F4A7C15u, 0xC2B2AE3D27D4EB4Fu, 0x165667B19E3779F9u, values.size()};
  const auto mix = [](std::uint64_t a, double v) {
    return (a ^ std::bit_cast<std::uint64_t>(v)) * 0x100000001B3u + (a >> 29);
  };
  std::size_t i = 0;
  for (; i + 4 <= values.size(); i += 4)
    for (std::size_t k = 0; k < 4; ++k) h[k] = mix(h[k], values[i + k]);
  for (; i < values.size(); ++i) h[0] = mix(h[0], values[i]);
  return h[0] ^ std::rotl(h[1], 17) ^ std::rotl(h[2], 31) ^ std::rotl(h[3], 47);
}

bool clip_segment(double& ax, double& ay, double& bx, double& by, const Box& box) {
  const double dx = bx - ax, dy = by - ay;
  if (!std::isfinite(dx) || !std::isfinite(dy)) return false;
  double from = 0, to = 1;
  const auto cut = [&](double towards, double room) {  // Liang-Barsky: t * towards <= room
    if (towards == 0) return room >= 0;
    const double t = room / towards;
    if (towards < 0)
      from = std::max(from, t);
    else
      to = std::min(to, t);
    return from <= to;
  };
  if (!cut(-dx, ax - static_cast<double>(box.min.x)) || !cut(dx, static_cast<double>(box.max.x) - ax)) return false;
  if (!cut(-dy, ay - static_cast<double>(box.min.y)) || !cut(dy, static_cast<double>(box.max.y) - ay)) return false;
  bx = ax + to * dx;
  by = ay + to * dy;
  ax += from * dx;
  ay += from * dy;
  return true;
}

void decimate(std::span<const double> xs, std::span<const double> ys, const AxisMap& x, int columns,
              std::vector<PlotPoint>& out) {
  out.clear();
  const std::size_t n = std::min(xs.size(), ys.size());
  columns = std::max(columns, 1);
  if (n <= static_cast<std::size_t>(columns) * 4) {
    for (std::size_t i = 0; i < n; ++i) out.push_back({xs[i], ys[i], 0});
    return;
  }
  Columns column(x, columns);
  for (std::size_t i = 0; i < n;) {
    if (!std::isfinite(ys[i]) || !std::isfinite(xs[i])) {
      column.leave();
      add_break(out);
      ++i;
      continue;
    }
    column.enter(xs[i]);
    const double from = column.lo(), to = column.hi();
    const std::size_t first = i;
    std::size_t low = i, high = i;
    double least = ys[i], most = ys[i];
    for (++i; i < n; ++i) {  // the only loop that sees every point
      const double v = ys[i];
      if (!(xs[i] >= from && xs[i] < to) || !(std::abs(v) < HUGE_VAL)) break;
      if (v < least) {
        least = v;
        low = i;
      } else if (v > most) {
        most = v;
        high = i;
      }
    }
    const std::size_t kept[4] = {first, std::min(low, high), std::max(low, high), i - 1};
    for (int k = 0; k < 4; ++k)
      if (k == 0 || kept[k] != kept[k - 1]) out.push_back({xs[kept[k]], ys[kept[k]], 0});
  }
}

void decimate_band(std::span<const double> xs, std::span<const double> upper, std::span<const double> lower,
                   const AxisMap& x, int columns, std::vector<PlotPoint>& out) {
  out.clear();
  const std::size_t n = std::min({xs.size(), upper.size(), lower.size()});
  columns = std::max(columns, 1);
  const bool all = n <= static_cast<std::size_t>(columns) * 2;
  Columns column(x, columns);
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(xs[i]) || !std::isfinite(upper[i]) || !std::isfinite(lower[i])) {
      column.leave();
      add_break(out);
      continue;
    }
    if (all || column.enter(xs[i]) || out.empty() || std::isnan(out.back().x)) {
      out.push_back({xs[i], upper[i], lower[i]});
    } else {
      out.back().y = std::max(out.back().y, upper[i]);
      out.back().y2 = std::min(out.back().y2, lower[i]);
    }
  }
}

void layout_frame(const Box& outer, const FrameRoom& room, const AxisSpec& x, const AxisSpec& y, Range x_range,
                  Range y_range, float (*width_px)(std::string_view), float line_px, PlotFrame& out) {
  const float pad = std::floor(line_px * 0.4f);
  const bool x_named = room.x_axis && (!x.label.empty() || !x.unit.empty()),
             y_named = !y.label.empty() || !y.unit.empty();
  Box& area = out.area;
  area.min.y = std::floor(outer.min.y + room.above_px + line_px * 0.6f + (y_named ? line_px + pad : 0.0f));
  const float below = room.x_axis ? line_px + pad + (x_named ? line_px + pad : 0.0f) : line_px * 0.6f;
  area.max.y = std::max(std::floor(outer.max.y - below), area.min.y + 8);
  const auto line = static_cast<double>(line_px);
  out.y = axis_map(y, y_range, static_cast<double>(area.max.y), static_cast<double>(area.min.y), line);
  layout_ticks(y, y_range, out.y, {width_px, line_px, true}, out.y_ticks);
  float widest = 0;
  for (const Tick& t : out.y_ticks.major()) widest = std::max(widest, width_px(t.label));
  area.min.x = std::floor(outer.min.x + std::max(widest + pad + 2, room.least_gutter_px));
  area.max.x = std::max(std::floor(outer.max.x - std::max(line_px * 1.8f, room.right_px)), area.min.x + 8);
  out.x = axis_map(x, x_range, static_cast<double>(area.min.x), static_cast<double>(area.max.x), line);
  layout_ticks(x, x_range, out.x, {width_px, line_px, false}, out.x_ticks);
  out.x_title = axis_title(x, out.x_ticks);
  out.y_title = axis_title(y, out.y_ticks);
}

void spread_labels(std::span<float> wanted, float line_px, float gap_px, float lo, float hi) {
  const float step = line_px + gap_px;
  lo += line_px / 2;
  hi -= line_px / 2;
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = std::max(wanted[i], i == 0 ? lo : wanted[i - 1] + step);
  float most = hi;
  for (std::size_t i = wanted.size(); i-- > 0; most = wanted[i] - step) {
    if (wanted[i] <= most) break;
    wanted[i] = most;
  }
}

float nearest_on_segment(ImVec2 p, ImVec2 a, ImVec2 b, ImVec2& at) {
  const float dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
  const float t = length2 > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length2, 0.0f, 1.0f) : 0.0f;
  at = {a.x + t * dx, a.y + t * dy};
  return (p.x - at.x) * (p.x - at.x) + (p.y - at.y) * (p.y - at.y);
}

}  // namespace widgets
