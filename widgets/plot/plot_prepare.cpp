#include <algorithm>
#include <cmath>

#include "widgets/plot/plot_paint.h"

/// From series to what is drawn: ranges and reduced points, remembered while nothing changes.
namespace widgets {
namespace {

/// Above this a scatter plot's dots cover each other: one dot a small cell is the same picture.
constexpr std::size_t many_dots = 20000;

double spacing(std::span<const double> xs) {
  double least = HUGE_VAL;
  for (std::size_t i = 1; i < xs.size(); ++i) {
    const double d = std::abs(xs[i] - xs[i - 1]);
    if (d > 0) least = std::min(least, d);
  }
  return std::isfinite(least) ? least : 1;
}

void find_ranges(const PlotEnd& plot, const PlotSeries& series, PlotCache& cache) {
  const PlotScratch& s = plot.scratch();
  const auto xs = values_of(s, series, 0), ys = values_of(s, series, 1), y2 = values_of(s, series, 2);
  if (series.version != 0 && cache.range_version == series.version && cache.range_x == xs.data() &&
      cache.range_y == ys.data() && cache.range_n == series.n)
    return;
  cache.x_range = {.positive_only = is_log(plot.options.x.kind)};
  cache.y_range = {.positive_only = is_log(plot.options.y.kind)};
  for (std::size_t i = 0; i < series.n; ++i) {
    if (!std::isfinite(ys[i])) continue;
    cache.x_range.add(xs[i]);
    cache.y_range.add(ys[i]);
    if (!y2.empty()) cache.y_range.add(y2[i]);
  }
  if (series.kind == PlotSeries::Kind::bars && series.n > 0 && !is_log(plot.options.x.kind)) {
    const double half = spacing(xs) * 0.6;
    cache.x_range.add(cache.x_range.lo - half);
    cache.x_range.add(cache.x_range.hi + half);
  }
  if (y2.empty() && (series.kind == PlotSeries::Kind::bars || series.kind == PlotSeries::Kind::area))
    cache.y_range.add(0);
  cache.range_x = xs.data();
  cache.range_y = ys.data();
  cache.range_n = series.n;
  cache.range_version = series.version;
}

/// The first dot of each small cell of the area.
void thin_out(std::span<const double> xs, std::span<const double> ys, const PlotFrame& f,
              std::vector<std::uint8_t>& seen, std::vector<PlotPoint>& out) {
  constexpr double cell_px = 2;
  const auto wide = static_cast<std::size_t>(static_cast<double>(f.area.width()) / cell_px) + 1;
  const auto high = static_cast<std::size_t>(static_cast<double>(f.area.height()) / cell_px) + 1;
  seen.assign(wide * high, 0);
  for (std::size_t k = 0; k < xs.size(); ++k) {
    const double px = (f.x.pixel(xs[k]) - f.x.start()) / cell_px, py = (f.y.pixel(ys[k]) - f.y.end()) / cell_px;
    if (!(px >= 0) || !(py >= 0) || !(px < static_cast<double>(wide)) || !(py < static_cast<double>(high))) continue;
    auto& taken = seen[static_cast<std::size_t>(py) * wide + static_cast<std::size_t>(px)];
    if (!taken) out.push_back({xs[k], ys[k], 0});
    taken = 1;
  }
}

Range axis_range(const AxisSpec& spec, const RangeFinder& found, bool from_zero_down_to_data, double padding) {
  Range data = found.any() ? Range{found.lo, found.hi} : is_log(spec.kind) ? Range{1, 10} : Range{0, 1};
  Range range = fit_range(spec.kind, data, padding);
  if (!is_log(spec.kind) && from_zero_down_to_data && data.lo >= 0 && data.lo <= data.hi / 2) range.lo = 0;
  if (!is_log(spec.kind) && from_zero_down_to_data && data.hi <= 0 && data.hi >= data.lo / 2) range.hi = 0;
  if (!spec.categories.empty()) range = {-0.6, static_cast<double>(spec.categories.size()) - 0.4};
  if (is_log(spec.kind) && spec.window_decades >= 0) {
    const double reach = std::pow(10.0, spec.window_decades);
    if (spec.window_lo > 0) range.lo = std::max(range.lo, spec.window_lo / reach);
    if (spec.window_hi > 0) range.hi = std::min(range.hi, spec.window_hi * reach);
  }
  if (std::isfinite(spec.lo)) range.lo = spec.lo;
  if (std::isfinite(spec.hi)) range.hi = spec.hi;
  return sane_range(spec.kind, range);
}

}  // namespace

std::string_view text_of(const PlotScratch& s, PlotText t) { return {s.text.data() + t.at, t.length}; }

std::span<const double> values_of(const PlotScratch& s, const PlotSeries& series, int which) {
  if (which == 2 && !series.has_y2) return {};
  const auto k = static_cast<std::size_t>(which);
  return {series.outside[k] ? series.outside[k] : s.data.data() + series.inside[k], series.n};
}

float bar_half_px(const PlotScratch& s, const PlotSeries& series, const PlotFrame& frame) {
  const auto xs = values_of(s, series, 0);
  if (xs.size() < 2) {
    const double one = std::abs(frame.x.pixel(xs.empty() ? 1 : xs[0] + 1) - frame.x.pixel(xs.empty() ? 0 : xs[0]));
    return static_cast<float>(std::clamp(one * static_cast<double>(series.width) / 2, 0.5, 200.0));
  }
  double least = HUGE_VAL;
  for (std::size_t i = 1; i < xs.size(); ++i) {
    const double d = std::abs(frame.x.pixel(xs[i]) - frame.x.pixel(xs[i - 1]));
    if (d > 0) least = std::min(least, d);
  }
  return static_cast<float>(
      std::clamp(std::isfinite(least) ? least * static_cast<double>(series.width) / 2 : 8.0, 0.5, 1e4));
}

void follow_data(const PlotEnd& plot) {
  PlotScratch& s = plot.scratch();
  if (s.caches.size() < s.series.size()) s.caches.resize(s.series.size());
  PlotView& view = plot.view;
  PlotLink* const link = plot.options.link;
  const bool drawable = view.x_lo < view.x_hi && view.y_lo < view.y_hi;
  // While a handle is held the ground must not move under it.
  if (drawable && (view.zoomed || s.handle_active)) {
    if (link) link->need_x({view.x_lo, view.x_hi});
    return;
  }
  RangeFinder x{.positive_only = is_log(plot.options.x.kind)}, y{.positive_only = is_log(plot.options.y.kind)};
  for (std::size_t i = 0; i < s.series.size(); ++i) {
    if (s.series[i].hidden) continue;
    find_ranges(plot, s.series[i], s.caches[i]);
    for (const double v : {s.caches[i].x_range.lo, s.caches[i].x_range.hi}) x.add(v);
    for (const double v : {s.caches[i].y_range.lo, s.caches[i].y_range.hi}) y.add(v);
  }
  for (const PlotMark& m : s.marks) {
    if (m.kind == PlotMark::Kind::vertical || m.kind == PlotMark::Kind::handle || m.kind == PlotMark::Kind::handle_x)
      x.add(m.x);
    if (m.kind == PlotMark::Kind::horizontal || m.kind == PlotMark::Kind::handle || m.kind == PlotMark::Kind::handle_y)
      y.add(m.y);
  }
  const Range rx = axis_range(plot.options.x, x, false, is_log(plot.options.x.kind) ? 0.03 : 0.02);
  const Range ry = axis_range(plot.options.y, y, true, 0.07);
  view.x_lo = rx.lo;
  view.x_hi = rx.hi;
  if (link) {
    link->need_x(rx);
    if (link->ready()) {
      view.x_lo = link->x.lo;
      view.x_hi = link->x.hi;
    }
  }
  view.y_lo = ry.lo;
  view.y_hi = ry.hi;
  view.zoomed = false;
}

namespace {

std::uint64_t name_of(const PlotScratch& s, const PlotSeries& series) {
  std::uint64_t h = 0xCBF29CE484222325u + static_cast<std::uint64_t>(series.kind);
  for (const char c : text_of(s, series.label)) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return h;
}

/// Before the points of a series are made anew: what they were stays as the ghost. While a control is held, the ghost
/// is the state from before it was taken. True when there is a new ghost.
bool keep_ghost(const PlotEnd& plot, const PlotSeries& series, PlotCache& c) {
  PlotScratch& s = plot.scratch();
  const std::uint64_t name = name_of(s, series);
  const bool same_thing = c.name == name;
  c.name = name;
  if (!plot.options.ghost || series.version == 0 || !same_thing) {
    c.ghost.clear();
    return false;
  }
  if (c.version == 0 || c.version == series.version || s.ghost_held) return false;
  c.ghost.swap(c.points);
  return true;
}

bool same_points(const std::vector<PlotPoint>& a, const std::vector<PlotPoint>& b) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const PlotPoint& p, const PlotPoint& q) {
    return same(p.x, q.x) && same(p.y, q.y) && same(p.y2, q.y2);
  });
}

}  // namespace

void reduce_series(const PlotEnd& plot) {
  PlotScratch& s = plot.scratch();
  const bool held = ImGui::IsAnyItemActive();
  bool changed = false;
  s.ghost_held = s.ghost_held && held;
  const PlotFrame& f = plot.frame();
  const PlotView& v = plot.view;
  const int columns = static_cast<int>(f.area.width());
  for (std::size_t i = 0; i < s.series.size(); ++i) {
    const PlotSeries& series = s.series[i];
    PlotCache& c = s.caches[i];
    if (series.hidden) continue;
    const auto xs = values_of(s, series, 0), ys = values_of(s, series, 1), y2 = values_of(s, series, 2);
    const bool dots = series.kind == PlotSeries::Kind::scatter;
    const bool same = series.version != 0 && c.version == series.version && c.x == xs.data() && c.y == ys.data() &&
                      c.n == series.n && c.kind == plot.options.x.kind && c.y_kind == plot.options.y.kind &&
                      c.lo == v.x_lo && c.hi == v.x_hi && c.width == f.area.width() &&
                      (!dots || (c.y_lo == v.y_lo && c.y_hi == v.y_hi && c.height == f.area.height()));
    if (same) continue;
    if (keep_ghost(plot, series, c)) changed = true;
    c.version = series.version;
    c.x = xs.data();
    c.y = ys.data();
    c.n = series.n;
    c.kind = plot.options.x.kind;
    c.y_kind = plot.options.y.kind;
    c.lo = v.x_lo;
    c.hi = v.x_hi;
    c.y_lo = v.y_lo;
    c.y_hi = v.y_hi;
    c.width = f.area.width();
    c.height = f.area.height();
    switch (series.kind) {
      case PlotSeries::Kind::line:
      case PlotSeries::Kind::steps:
        decimate(xs, ys, f.x, columns, c.points);
        break;
      case PlotSeries::Kind::area:
        // Without a lower edge the band goes down to zero; on a log axis the painter stops it at the frame.
        if (y2.empty()) {
          decimate(xs, ys, f.x, columns / 2, c.points);
        } else {
          decimate_band(xs, ys, y2, f.x, columns, c.points);
        }
        break;
      case PlotSeries::Kind::bars:
      case PlotSeries::Kind::errors:
        c.points.clear();
        for (std::size_t k = 0; k < series.n; ++k) c.points.push_back({xs[k], ys[k], y2.empty() ? 0 : y2[k]});
        break;
      case PlotSeries::Kind::scatter:
        c.points.clear();
        if (series.n > many_dots && series.point_labels == 0) {
          thin_out(xs, ys, f, s.seen, c.points);
          break;
        }
        for (std::size_t k = 0; k < series.n; ++k) c.points.push_back({xs[k], ys[k], 0});
        break;
    }
    if (same_points(c.ghost, c.points)) c.ghost.clear();
  }
  s.ghost_held = s.ghost_held || (held && changed);
}

}  // namespace widgets
