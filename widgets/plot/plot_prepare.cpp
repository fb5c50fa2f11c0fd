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
  if (const PlotReference::Entry* other = reference_shown(s.key)) {
    for (const double v : {other->x_lo, other->x_hi}) x.add(v);
    for (const double v : {other->y_lo, other->y_hi}) y.add(v);
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

std::uint64_t name_of(const PlotScratch& s, const PlotSeries& series) {
  std::uint64_t h = 0xCBF29CE484222325u + static_cast<std::uint64_t>(series.kind);
  for (const char c : text_of(s, series.label)) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return h;
}

namespace {

bool same_points(const std::vector<PlotPoint>& a, const std::vector<PlotPoint>& b) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const PlotPoint& p, const PlotPoint& q) {
    return same(p.x, q.x) && same(p.y, q.y) && same(p.y2, q.y2);
  });
}

/// The y of a line at x, along its points in axis space; NaN beyond its ends. `k` goes up with x from call to call.
double line_at(const std::vector<PlotPoint>& line, const PlotFrame& f, double x, std::size_t& k) {
  while (k + 1 < line.size() && line[k + 1].x < x) ++k;
  if (k + 1 >= line.size() || x < line[k].x) return std::nan("");
  const double a = f.x.pixel(line[k].x), b = f.x.pixel(line[k + 1].x), at = f.x.pixel(x);
  const double share = b > a ? (at - a) / (b - a) : 1;
  const double y = f.y.pixel(line[k].y);
  return f.y.value(y + share * (f.y.pixel(line[k + 1].y) - y));
}

/// The points of a change that is under way. Points keep their order; a line whose number of points has changed moves
/// up and down where it stands, and a cloud whose number has changed is drawn as it will be.
void blend_points(const PlotSeries& series, const PlotFrame& f, double share, PlotCache& c) {
  const auto between = [&](const AxisMap& axis, double a, double b) {
    const double from = axis.pixel(a), to = axis.pixel(b);
    if (!std::isfinite(from) || !std::isfinite(to) || a == b) return b;
    return axis.value(from + share * (to - from));
  };
  c.points.assign(c.target.begin(), c.target.end());
  if (share >= 1) return;  // to the last bit: a way there and back through pixels would round
  const bool line = series.kind == PlotSeries::Kind::line || series.kind == PlotSeries::Kind::steps;
  if (c.from.size() == c.target.size()) {
    for (std::size_t i = 0; i < c.points.size(); ++i) {
      PlotPoint& p = c.points[i];
      p = {between(f.x, c.from[i].x, p.x), between(f.y, c.from[i].y, p.y), between(f.y, c.from[i].y2, p.y2)};
    }
  } else if (line) {
    std::size_t k = 0;
    for (PlotPoint& p : c.points) {
      const double was = line_at(c.from, f, p.x, k);
      if (std::isfinite(was)) p.y = between(f.y, was, p.y);
    }
  }
}

}  // namespace

void ease_marks(const PlotEnd& plot) {
  PlotScratch& s = plot.scratch();
  if (!motion().on) return;
  const AxisKind kinds[] = {plot.options.x.kind, plot.options.y.kind};
  s.mark_places.clear();
  for (const PlotMark& m : s.marks)
    for (const double place : {axis_forward(kinds[0], m.x), axis_forward(kinds[1], m.y), axis_forward(kinds[0], m.x2),
                               axis_forward(kinds[1], m.y2)})
      s.mark_places.push_back(place);
  const auto places = s.marks_eased.towards(s.mark_places);
  if (!s.marks_eased.running()) return;
  for (std::size_t i = 0; i < s.marks.size(); ++i) {
    PlotMark& m = s.marks[i];
    double* const values[] = {&m.x, &m.y, &m.x2, &m.y2};
    for (std::size_t k = 0; k < 4; ++k)
      if (std::isfinite(places[4 * i + k])) *values[k] = axis_inverse(kinds[k % 2], places[4 * i + k]);
  }
}

namespace {

/// What the pixels can show of a series.
void reduce(const PlotEnd& plot, const PlotSeries& series, std::vector<PlotPoint>& out) {
  PlotScratch& s = plot.scratch();
  const PlotFrame& f = plot.frame();
  const int columns = static_cast<int>(f.area.width());
  const auto xs = values_of(s, series, 0), ys = values_of(s, series, 1), y2 = values_of(s, series, 2);
  out.clear();
  switch (series.kind) {
    case PlotSeries::Kind::line:
    case PlotSeries::Kind::steps:
      decimate(xs, ys, f.x, columns, out);
      break;
    case PlotSeries::Kind::area:
      // Without a lower edge the band goes down to zero; on a log axis the painter stops it at the frame.
      if (y2.empty()) {
        decimate(xs, ys, f.x, columns / 2, out);
      } else {
        decimate_band(xs, ys, y2, f.x, columns, out);
      }
      break;
    case PlotSeries::Kind::bars:
    case PlotSeries::Kind::errors:
      for (std::size_t k = 0; k < series.n; ++k) out.push_back({xs[k], ys[k], y2.empty() ? 0 : y2[k]});
      break;
    case PlotSeries::Kind::scatter:
      if (series.n > many_dots && series.point_labels == 0) {
        thin_out(xs, ys, f, s.seen, out);
        break;
      }
      for (std::size_t k = 0; k < series.n; ++k) out.push_back({xs[k], ys[k], 0});
      break;
  }
}

/// Whether the data are what was reduced last, and are seen the same way.
bool is_kept(const PlotEnd& plot, const PlotSeries& series, const PlotCache& c) {
  const PlotView& v = plot.view;
  const Box& area = plot.frame().area;
  return series.version != 0 && c.version == series.version && c.x == values_of(plot.scratch(), series, 0).data() &&
         c.y == values_of(plot.scratch(), series, 1).data() && c.n == series.n && c.kind == plot.options.x.kind &&
         c.y_kind == plot.options.y.kind && c.lo == v.x_lo && c.hi == v.x_hi && c.width == area.width() &&
         (series.kind != PlotSeries::Kind::scatter ||
          (c.y_lo == v.y_lo && c.y_hi == v.y_hi && c.height == area.height()));
}

void note_kept(const PlotEnd& plot, const PlotSeries& series, PlotCache& c) {
  const PlotView& v = plot.view;
  const Box& area = plot.frame().area;
  c.version = series.version;
  c.x = values_of(plot.scratch(), series, 0).data();
  c.y = values_of(plot.scratch(), series, 1).data();
  c.n = series.n;
  c.kind = plot.options.x.kind;
  c.y_kind = plot.options.y.kind;
  c.lo = v.x_lo;
  c.hi = v.x_hi;
  c.y_lo = v.y_lo;
  c.y_hi = v.y_hi;
  c.width = area.width();
  c.height = area.height();
}

/// Takes over a series' points made anew, `fresh`, and leaves others in it. What stood here before becomes the ghost
/// where the data have changed, and while no control is held the new points ease in. True when there is a new ghost.
bool take_points(const PlotEnd& plot, const PlotSeries& series, PlotCache& c, std::vector<PlotPoint>& fresh) {
  PlotScratch& s = plot.scratch();
  if (series.version == 0 && !motion().on) {  // neither a ghost nor a change to follow
    c.ease = {};
    c.ghost.clear();
    c.points.assign(fresh.begin(), fresh.end());  // swapped, every series would grow every buffer
    return false;
  }
  const std::uint64_t name = name_of(s, series);
  const bool same_thing = c.name == name && plot.options.ghost && c.n > 0;
  const bool same_view = c.lo == plot.view.x_lo && c.hi == plot.view.x_hi && c.width == plot.frame().area.width();
  const bool versions = series.version != 0 && c.version != 0;
  c.name = name;
  std::vector<PlotPoint>& settled = c.ease.running() ? c.target : c.points;
  const bool moved = !same_points(settled, fresh);
  // Copied numbers have no version: they have changed where other points come of them in the same view.
  const bool changed = same_thing && (versions ? c.version != series.version : same_view && moved);
  const bool new_ghost = changed && versions && !s.ghost_held;
  if (new_ghost) c.ghost.assign(settled.begin(), settled.end());
  if (!same_thing || series.version == 0) c.ghost.clear();
  if (same_points(c.ghost, fresh)) c.ghost.clear();
  if (changed && moved) c.ease.change();
  if (!moved && c.ease.running()) {
    blend_points(series, plot.frame(), static_cast<double>(c.ease.step()), c);
  } else if (changed && moved && c.ease.running()) {
    c.from.swap(c.points);
    c.target.swap(fresh);
    blend_points(series, plot.frame(), static_cast<double>(c.ease.step()), c);
  } else {
    c.ease = {};
    c.points.assign(fresh.begin(), fresh.end());
  }
  return new_ghost;
}

}  // namespace

void reduce_series(const PlotEnd& plot) {
  PlotScratch& s = plot.scratch();
  const bool held = ImGui::IsAnyItemActive();
  bool changed = false;
  s.ghost_held = s.ghost_held && held;
  for (std::size_t i = 0; i < s.series.size(); ++i) {
    const PlotSeries& series = s.series[i];
    PlotCache& c = s.caches[i];
    if (series.hidden) continue;
    if (is_kept(plot, series, c)) {
      if (c.ease.running()) blend_points(series, plot.frame(), static_cast<double>(c.ease.step()), c);
      continue;
    }
    reduce(plot, series, s.fresh);
    if (take_points(plot, series, c, s.fresh)) changed = true;
    note_kept(plot, series, c);
  }
  s.ghost_held = s.ghost_held || (held && changed);
}

void leave_reference(const PlotEnd& plot) {
  PlotReference* const into = reference_gathered();
  if (!into) return;
  PlotScratch& s = plot.scratch();
  PlotReference::Entry entry{
      .x_lo = plot.view.x_lo, .x_hi = plot.view.x_hi, .y_lo = plot.view.y_lo, .y_hi = plot.view.y_hi};
  for (std::size_t i = 0; i < s.series.size(); ++i)
    if (!s.series[i].hidden) entry.series.push_back({name_of(s, s.series[i]), s.caches[i].points});
  for (const PlotMark& m : s.marks)
    if (m.kind == PlotMark::Kind::handle) entry.handles.push_back({m.x, m.y, 0});
  if (!into->plots.emplace(s.key, std::move(entry)).second) ++into->clashes;
}

}  // namespace widgets
