#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/plot/plot_paint.h"

namespace widgets {
namespace {

/// A place on a band: both of its edges at an x. Pixels.
struct BandPlace {
  double x = 0, upper = 0, lower = 0;
};

/// Adds the part of a band from one place to the next that lies within the rims, to its edges. Where an edge leaves the
/// view above or below it is cut: bounding its far end alone would turn it.
void add_band_part(const BandPlace& a, const BandPlace& b, const BandPlace& least, const BandPlace& most,
                   PlotScratch& s) {
  const double from = std::max((least.x - a.x) / (b.x - a.x), 0.0), to = std::min((most.x - a.x) / (b.x - a.x), 1.0);
  const double top = least.upper, bottom = most.upper;
  const auto add = [&](double t) {
    const auto at = static_cast<float>(a.x + t * (b.x - a.x));
    s.points.push_back({at, static_cast<float>(std::clamp(a.upper + t * (b.upper - a.upper), top, bottom))});
    s.other_points.push_back({at, static_cast<float>(std::clamp(a.lower + t * (b.lower - a.lower), top, bottom))});
  };
  if (s.points.empty()) add(from);
  std::array<double, 5> cuts{};
  std::size_t n = 0;
  const auto cut = [&](double begin, double end, double rim) {
    if ((begin < rim) == (end < rim)) return;
    if (const double t = (rim - begin) / (end - begin); t > from && t < to) cuts[n++] = t;
  };
  for (const double rim : {top, bottom}) {
    cut(a.upper, b.upper, rim);
    cut(a.lower, b.lower, rim);
  }
  cuts[n++] = to;
  std::sort(cuts.begin(), cuts.begin() + static_cast<std::ptrdiff_t>(n));
  for (std::size_t i = 0; i < n; ++i) add(cuts[i]);
}

}  // namespace

void paint_band(const PlotEnd& plot, const Painter& painter, const PlotSeries& series,
                const std::vector<PlotPoint>& points) {
  PlotScratch& s = plot.scratch();
  const PlotFrame& f = plot.frame();
  const double left = static_cast<double>(f.area.min.x) - 2, right = static_cast<double>(f.area.max.x) + 2;
  const double top = static_cast<double>(f.area.min.y) - 2, bottom = static_cast<double>(f.area.max.y) + 2;
  std::vector<ImVec2>&upper = s.points, &lower = s.other_points;
  upper.clear();
  lower.clear();
  const auto flush = [&] {
    painter.band(upper, lower, with_alpha(series.colour, series.alpha));
    upper.clear();
    lower.clear();
  };
  // A place without end, as that of 0 on a log axis, has no slope to be cut by: it lies on the edge.
  const auto pixel_y = [&](double v) {
    const double y = f.y.pixel(v);
    return std::isinf(y) ? std::clamp(y, top, bottom) : std::isnan(y) ? y : std::clamp(y, -1e9, 1e9);
  };
  BandPlace before;
  bool open = false;
  for (const PlotPoint& p : points) {
    const BandPlace at{f.x.pixel(p.x), pixel_y(p.y), pixel_y(p.y2)};
    if (!std::isfinite(at.x) || std::isnan(at.upper) || std::isnan(at.lower)) {
      flush();
      open = false;
      continue;
    }
    if (open && at.x > before.x && at.x >= left && before.x <= right) {
      add_band_part(before, at, {left, top, top}, {right, bottom, bottom}, s);
    } else if (open && at.x == before.x && !upper.empty() && at.x <= right) {  // a step: straight up or down
      upper.push_back({static_cast<float>(at.x), static_cast<float>(std::clamp(at.upper, top, bottom))});
      lower.push_back({static_cast<float>(at.x), static_cast<float>(std::clamp(at.lower, top, bottom))});
    }
    before = at;
    open = true;
  }
  flush();
}

}  // namespace widgets
