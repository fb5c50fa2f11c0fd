#include <algorithm>
#include <cmath>

#include "widgets/charts/ecdf.h"

namespace widgets {
namespace {

bool fits_ecdf(double v, AxisKind kind) { return std::isfinite(v) && (!is_log(kind) || v > 0); }

void sort_curve(const EcdfSeries& s, const EcdfOptions& o, EcdfCurve& c) {
  c.sorted.clear();
  for (const double v : s.values)
    if (fits_ecdf(v, o.axis)) c.sorted.push_back(v);
  std::sort(c.sorted.begin(), c.sorted.end());
  c.p50 = quantile_of_sorted(c.sorted, 0.5);
  c.p99 = quantile_of_sorted(c.sorted, 0.99);
  c.beyond = std::numeric_limits<double>::quiet_NaN();
  if (c.sorted.empty() || !std::isfinite(o.limit)) return;
  const auto above = c.sorted.end() - std::upper_bound(c.sorted.begin(), c.sorted.end(), o.limit);
  c.beyond = static_cast<double>(above) / static_cast<double>(c.sorted.size());
}

/// A step at each value; values of one column of pixels make one step.
void trace_curve(const EcdfLayout& l, double band, EcdfCurve& c) {
  c.line.clear();
  c.upper.clear();
  c.lower.clear();
  if (c.sorted.empty()) return;
  const double n = static_cast<double>(c.sorted.size());
  const auto y = [&](double share) { return static_cast<float>(l.y_map.pixel(std::clamp(share, 0.0, 1.0))); };
  const auto add = [&](float x, double share) {
    c.line.push_back({x, y(share)});
    if (!(band > 0)) return;
    c.upper.push_back({x, y(share + band)});
    c.lower.push_back({x, y(share - band)});
  };
  double share = 0;
  add(l.plot.min.x, 0);
  for (std::size_t i = 0; i < c.sorted.size();) {
    const auto x = std::clamp(static_cast<float>(l.x_map.pixel(c.sorted[i])), l.plot.min.x, l.plot.max.x);
    std::size_t end = i + 1;
    while (end < c.sorted.size() && static_cast<float>(l.x_map.pixel(c.sorted[end])) < x + 1) ++end;
    add(x, share);
    share = static_cast<double>(end) / n;
    add(x, share);
    i = end;
  }
  add(l.plot.max.x, 1);
  c.p50_px = {std::clamp(static_cast<float>(l.x_map.pixel(c.p50)), l.plot.min.x, l.plot.max.x), y(0.5)};
  c.p99_px = {std::clamp(static_cast<float>(l.x_map.pixel(c.p99)), l.plot.min.x, l.plot.max.x), y(0.99)};
}

bool rects_meet(const Rect& a, const Rect& b) {
  constexpr float gap = 6;  // pixels between figures on one line
  return a.min.x < b.max.x + gap && b.min.x < a.max.x + gap && a.min.y < b.max.y && b.min.y < a.max.y;
}

/// Does any curve run through this rectangle?
bool crossed(const Rect& r, const EcdfLayout& l) {
  for (const EcdfCurve& c : l.curves)
    for (std::size_t i = 1; i < c.line.size(); ++i) {
      const ImVec2 a = c.line[i - 1], b = c.line[i];  // steps: each piece is level or upright
      if (std::min(a.x, b.x) <= r.max.x && std::max(a.x, b.x) >= r.min.x && std::min(a.y, b.y) <= r.max.y &&
          std::max(a.y, b.y) >= r.min.y)
        return true;
    }
  return l.has_limit && l.limit_px >= r.min.x - 4 && l.limit_px <= r.max.x + 4;
}

/// Figures at p99 and p50, the first series first, each in the first place of four that is clear.
void place_ecdf_labels(std::span<const EcdfSeries> series, const EcdfOptions& o, Measure measure, EcdfLayout& out) {
  const Theme& t = theme();
  const float h = t.type(Type::small), gap = t.px(7);
  for (const bool tail : {true, false})
    for (std::size_t s = 0; s < series.size(); ++s) {
      const EcdfCurve& c = out.curves[s];
      if (c.line.empty()) continue;
      const ImVec2 at = tail ? c.p99_px : c.p50_px;
      EcdfLabel label{.series = s, .text = format(tail ? c.p99 : c.p50, o.unit)};
      const float w = measure(label.text, Type::small);
      const ImVec2 places[] = {{at.x + gap, at.y + gap / 2},
                               {at.x + gap, at.y - h - gap / 2},
                               {at.x - gap - w, at.y - h - gap / 2},
                               {at.x - gap - w, at.y + gap / 2}};
      for (const ImVec2 from : places) {
        label.rect = {from, {from.x + w, from.y + h}};
        const bool inside = from.x >= out.plot.min.x && label.rect.max.x <= out.plot.max.x &&
                            from.y >= out.plot.min.y && label.rect.max.y <= out.plot.max.y;
        if (!inside || crossed(label.rect, out)) continue;
        if (std::any_of(out.labels.begin(), out.labels.end(),
                        [&](const EcdfLabel& other) { return rects_meet(other.rect, label.rect); }))
          continue;
        out.labels.push_back(label);
        break;
      }
    }
}

/// The legend, of so many rows as leave the curves room, and whether the limit has a name.
void place_ecdf_legend(Rect area, Measure measure, EcdfLayout& out) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  out.legend_left_out = 0;
  out.legend_height = layout_legend(out.legend, area.width(), small + t.px(6), measure, out.placed_legend);
  while (!out.placed_legend.empty() && out.placed_legend.back().at.y > 0 &&
         out.legend_height > area.height() * 0.2f) {  // the first row stays
    const float last = out.placed_legend.back().at.y;
    while (!out.placed_legend.empty() && out.placed_legend.back().at.y == last) {
      out.placed_legend.pop_back();
      ++out.legend_left_out;
    }
    out.legend_height = last;
  }
  out.limit_named = out.has_limit && area.height() >= 4 * small;
  if (area.height() < 6 * small) {  // the curves stay longest
    out.placed_legend.clear();
    out.legend_height = 0;
    out.legend_left_out = 0;
  }
}

/// The plot between legend, axis and the words beside it, and its two maps.
void place_ecdf_plot(const EcdfOptions& o, Rect area, Measure measure, EcdfLayout& out) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  const float head = out.legend_height + (out.legend_left_out > 0 ? small + t.px(2) : 0.0f) +
                     (out.limit_named ? small + t.px(5) : t.px(4));
  const float gutter =
      std::min(std::max(measure("100 %", Type::small), measure("p99", Type::small)) + t.px(8), area.width() * 0.3f);
  out.axis_lines =
      row_axis_lines(area.height() - head, 2 * (small + t.px(2)), !o.axis_label.empty() || !o.unit.empty());
  const float foot =
      row_axis_height(out.axis_lines) + (out.problem.length > 0 && out.axis_lines > 0 ? small + t.px(2) : 0.0f);
  out.plot = {{area.min.x + gutter, area.min.y + head}, {area.max.x - t.px(2), area.max.y - foot}};
  out.plot.max.x = std::max(out.plot.max.x, out.plot.min.x + 1);
  out.plot.max.y = std::max(out.plot.max.y, out.plot.min.y + 1);
  out.x_map = AxisMap(o.axis, out.range, static_cast<double>(out.plot.min.x), static_cast<double>(out.plot.max.x));
  out.y_map = AxisMap(AxisKind::linear, {0, 1}, static_cast<double>(out.plot.max.y),
                      static_cast<double>(out.plot.min.y) + static_cast<double>(t.px(3)));
}

}  // namespace

double quantile_of_sorted(std::span<const double> sorted, double q) {
  if (sorted.empty() || !(q >= 0 && q <= 1)) return std::numeric_limits<double>::quiet_NaN();
  const double n = static_cast<double>(sorted.size());
  const auto rank = static_cast<std::size_t>(std::max(1.0, std::ceil(q * n - 1e-9)));
  return sorted[std::min(rank, sorted.size()) - 1];
}

double dkw_half_width(std::size_t n, double confidence) {
  if (n == 0 || !(confidence > 0 && confidence < 1)) return 0;
  return std::min(1.0, std::sqrt(std::log(2 / (1 - confidence)) / (2 * static_cast<double>(n))));
}

void layout_ecdf(std::span<const EcdfSeries> series, const EcdfOptions& o, Rect area, Measure measure,
                 EcdfLayout& out) {
  out.labels.clear();
  out.problem = {};
  out.curves.resize(series.size());
  out.words.clear();
  out.legend.clear();
  double lo = 0, hi = 0;
  bool any = false;
  std::size_t dropped = 0;
  const auto take = [&](double v) {
    lo = any ? std::min(lo, v) : v;
    hi = any ? std::max(hi, v) : v;
    any = true;
  };
  for (std::size_t s = 0; s < series.size(); ++s) {
    EcdfCurve& c = out.curves[s];
    sort_curve(series[s], o, c);
    dropped += series[s].values.size() - c.sorted.size();
    if (!c.sorted.empty()) {
      take(c.sorted.front());
      take(c.sorted.back());
    }
    Line words;
    words.add(series[s].label);
    if (std::isfinite(c.beyond)) words.add(": ").add(format(100 * c.beyond, "%")).add(" beyond");
    if (c.sorted.empty()) words.add(": no values");
    out.words.push_back(words);
  }
  for (std::size_t s = 0; s < series.size(); ++s) out.legend.push_back({out.words[s].view(), series[s].tint});
  if (dropped > 0)
    out.problem.add_integer(static_cast<std::int64_t>(dropped))
        .add(dropped == 1 ? " value has no place on this axis and is left out."
                          : " values have no place on this axis and are left out.");
  out.has_limit = fits_ecdf(o.limit, o.axis);
  if (out.has_limit) take(o.limit);
  if (!any) {
    lo = is_log(o.axis) ? 1 : 0;
    hi = is_log(o.axis) ? 10 : 1;
  }
  if (!is_log(o.axis) && lo > 0 && lo < 0.5 * hi) lo = 0;
  out.range = fit_range(o.axis, sane_range(o.axis, {lo, hi}), 0.03);
  if (lo == 0 && !is_log(o.axis)) out.range.lo = 0;

  place_ecdf_legend(area, measure, out);
  place_ecdf_plot(o, area, measure, out);
  out.limit_px = out.has_limit ? std::round(static_cast<float>(out.x_map.pixel(o.limit))) : 0.0f;
  for (EcdfCurve& c : out.curves) trace_curve(out, dkw_half_width(c.sorted.size(), o.confidence), c);
  place_ecdf_labels(series, o, measure, out);
}

}  // namespace widgets
