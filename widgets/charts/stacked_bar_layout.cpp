#include <algorithm>
#include <cmath>

#include "widgets/charts/stacked_bar.h"

namespace widgets {
namespace {

double shown_value(const BarSegment& s) { return std::isfinite(s.value) && s.value > 0 ? s.value : 0.0; }

void note_problem(Line& problem, const StackedBar& bar, const BarSegment& s) {
  if (problem.length > 0 || (std::isfinite(s.value) && s.value >= 0)) return;
  problem.add("\"")
      .add(s.label)
      .add("\" of \"")
      .add(bar.label)
      .add(std::isfinite(s.value) ? "\" is negative" : "\" is not a finite number");
  problem.add(" and is left out: a stack adds up finite amounts from 0.");
}

/// With a legend the colour already says the name, so the value comes first.
BarCaption caption_for(const BarSegment& s, const StackedBarOptions& o, float width, float height, const Theme& t,
                       Measure measure) {
  const float room = width - t.px(8);
  if (height < t.type(Type::small) + t.px(1)) return BarCaption::none;
  const float name = measure(s.label, Type::small), value = measure(format(s.value, o.unit), Type::small);
  if (!s.label.empty() && name + t.px(6) + value <= room) return BarCaption::name_and_value;
  if (o.legend && value <= room) return BarCaption::value;
  if (!s.label.empty() && name <= room) return BarCaption::name;
  if (value <= room) return BarCaption::value;
  return letter(s.tint, t) && t.type(Type::small) <= width ? BarCaption::letter : BarCaption::none;
}

/// The same of a segment that is all of a bar whose total stands behind it: no amount is written twice, and no name
/// that the bar has.
BarCaption caption_alone(const BarSegment& s, std::string_view bar, float width, float height, const Theme& t,
                         Measure measure) {
  const bool fits = height >= t.type(Type::small) + t.px(1) && measure(s.label, Type::small) <= width - t.px(8);
  return fits && !s.label.empty() && s.label != bar ? BarCaption::name : BarCaption::none;
}

/// The largest part of a piece that the lines at `a` and `b` do not cross.
Rect widest_stretch(const Rect& rect, bool vertical, float a, float b) {
  const float from = vertical ? rect.min.y : rect.min.x, to = vertical ? rect.max.y : rect.max.x;
  const float first = std::clamp(std::min(a, b), from, to), second = std::clamp(std::max(a, b), from, to);
  float best_from = from, best_to = first;
  if (second - first > best_to - best_from) best_from = first, best_to = second;
  if (to - second > best_to - best_from) best_from = second, best_to = to;
  return vertical ? Rect{{rect.min.x, best_from}, {rect.max.x, best_to}}
                  : Rect{{best_from, rect.min.y}, {best_to, rect.max.y}};
}

/// The plot between legend, names, totals and axis, and its map. `labels`, `totals`: pixels of the widest.
void place_bar_plot(const StackedBarOptions& options, Rect area, float labels, float totals, StackedBarLayout& out) {
  const Theme& t = theme();
  const float small = t.type(Type::small),
              axis_px = small + t.px(8) + (options.axis_label.empty() ? 0.0f : small + t.px(2));
  const float top = area.min.y + (out.legend_height > 0 ? out.legend_height + t.px(4) : 0.0f);
  const float mark = std::isfinite(options.limit) ? small + t.px(3) : 0.0f;
  if (options.vertical) {
    const float head = options.totals ? small + t.px(4) : t.px(2);
    out.plot = {{area.min.x + t.px(48), top + std::max(head, mark)}, {area.max.x, area.max.y - small - t.px(6)}};
  } else {
    const float left = std::min(labels + (labels > 0 ? t.px(10) : 0.0f), area.width() * 0.35f);
    // Without totals half of the last tick's label stands right of the bars.
    const float right = options.totals ? std::min(totals + t.px(10), area.width() * 0.4f) : small;
    out.plot = {{area.min.x + left, top + mark}, {area.max.x - right, area.max.y - axis_px}};
  }
  out.plot.max.x = std::max(out.plot.max.x, out.plot.min.x + 1);
  out.plot.max.y = std::max(out.plot.max.y, out.plot.min.y + 1);
  const Rect& p = out.plot;
  out.map = options.vertical
                ? AxisMap(options.axis, out.range, static_cast<double>(p.max.y), static_cast<double>(p.min.y))
                : AxisMap(options.axis, out.range, static_cast<double>(p.min.x), static_cast<double>(p.max.x));
}

/// Sums of the bars, their legend, the first that is wrong with them, and what the widest words ask for.
struct BarExtent {
  double most = 0;
  float labels = 0, totals = 0;
};
BarExtent sum_bars(std::span<const StackedBar> bars, const StackedBarOptions& options, Measure measure,
                   StackedBarLayout& out) {
  double most = std::max(std::isfinite(options.limit) ? options.limit : 0.0, options.axis_least);
  float labels = 0, totals = 0;
  for (const StackedBar& bar : bars) {
    PlacedBar placed;
    for (const BarSegment& s : bar.segments) {
      note_problem(out.problem, bar, s);
      placed.total += shown_value(s);
      const auto known =
          std::find_if(out.legend.begin(), out.legend.end(), [&](const LegendEntry& e) { return e.label == s.label; });
      if (known == out.legend.end() && !s.label.empty()) out.legend.push_back({s.label, s.tint});
    }
    placed.has_measured = std::isfinite(bar.measured) && bar.measured >= 0;
    most = std::max({most, placed.total, placed.has_measured ? bar.measured : 0.0});
    labels = std::max(labels, measure(bar.label, Type::small));
    if (options.totals) totals = std::max(totals, measure(total_text(placed, bar, options.unit).view(), Type::small));
    out.bars.push_back(placed);
  }
  return {most, labels, totals};
}

}  // namespace

double residual_of(double predicted, double measured) {
  return std::isfinite(predicted) && std::isfinite(measured) && measured > 0 ? (predicted - measured) / measured
                                                                             : std::numeric_limits<double>::quiet_NaN();
}

Line total_text(const PlacedBar& placed, const StackedBar& bar, std::string_view unit) {
  Line text;
  text.add(format(placed.total, unit));
  if (!placed.has_measured) return text;
  text.add(", measured ").add(format(bar.measured, unit));
  const double residual = residual_of(placed.total, bar.measured);
  if (std::isfinite(residual)) text.add(residual >= 0 ? " (+" : " (").add(format(100 * residual, "%", 2)).add(")");
  return text;
}

void layout_stacked_bars(std::span<const StackedBar> bars, const StackedBarOptions& options, Rect area, Measure measure,
                         StackedBarLayout& out) {
  const Theme& t = theme();
  out.pieces.clear();
  out.bars.clear();
  out.legend.clear();
  out.problem = {};
  auto [most, labels, totals] = sum_bars(bars, options, measure, out);
  out.legend_height = options.legend ? layout_legend(out.legend, area.width(), t.type(Type::small) + t.px(6), measure,
                                                     out.placed_legend)
                                     : 0.0f;
  if (!options.legend) out.placed_legend.clear();

  // Sums of finite values may still overflow; the axis must not.
  if (!std::isfinite(most)) most = 1e300;
  out.range = {0, std::isfinite(options.axis_max) && options.axis_max > 0 ? options.axis_max
                  : most > 0                                              ? most * 1.02
                                                                          : 1.0};
  place_bar_plot(options, area, labels, totals, out);
  const Rect& p = out.plot;
  const float slot =
      (options.vertical ? p.width() : p.height()) / static_cast<float>(std::max<std::size_t>(bars.size(), 1));
  const float thick = std::max(1.0f, std::floor(std::min(t.px(options.bar_px), slot * 0.72f)));
  const auto along = [&](double value) {
    const double px =
        std::clamp(out.map.pixel(value), options.vertical ? static_cast<double>(p.min.y) : out.map.start(),
                   options.vertical ? out.map.start() : static_cast<double>(p.max.x));
    return static_cast<float>(std::round(px));
  };
  const auto box = [&](float across, float from, float to) {
    return options.vertical ? Rect{{across, std::min(from, to)}, {across + thick, std::max(from, to)}}
                            : Rect{{std::min(from, to), across}, {std::max(from, to), across + thick}};
  };
  for (std::size_t b = 0; b < bars.size(); ++b) {
    const float across =
        std::floor((options.vertical ? p.min.x : p.min.y) + slot * (static_cast<float>(b) + 0.5f) - thick / 2);
    PlacedBar& placed = out.bars[b];
    placed.rect = box(across, along(0), along(placed.total));
    if (placed.has_measured) placed.measured_px = static_cast<double>(along(bars[b].measured));
    double sum = 0;
    for (std::size_t s = 0; s < bars[b].segments.size(); ++s) {
      const BarSegment& segment = bars[b].segments[s];
      const float from = along(sum);
      sum += shown_value(segment);
      const Rect rect = box(across, from, along(sum));
      if (!((options.vertical ? rect.height() : rect.width()) >= 0.5f)) continue;
      const bool alone = options.totals && shown_value(segment) == placed.total;
      const auto cut_at = [&](bool is, double px) { return is ? static_cast<float>(px) : -1e9f; };
      const Rect clear = widest_stretch(rect, options.vertical, cut_at(placed.has_measured, placed.measured_px),
                                        cut_at(std::isfinite(options.limit), out.map.pixel(options.limit)));
      out.pieces.push_back({b,
                            s,
                            rect,
                            alone ? caption_alone(segment, bars[b].label, clear.width(), clear.height(), t, measure)
                                  : caption_for(segment, options, clear.width(), clear.height(), t, measure),
                            {(clear.min.x + clear.max.x) / 2, (clear.min.y + clear.max.y) / 2}});
    }
  }
}

}  // namespace widgets
