#include "widgets/plot/plot_paint.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/base/guess.h"
#include "widgets/base/parts.h"
#include "widgets/plot/plot_veil.h"

namespace widgets {
namespace {

/// A dot whose place lies beyond the edge: an arrow against the edge, hollow at its foot.
void paint_beyond(const Painter& painter, const DotPlace& dot, float r, ImU32 colour) {
  const float length = std::hypot(dot.beyond.x, dot.beyond.y);
  const ImVec2 u{dot.beyond.x / length, dot.beyond.y / length}, n{-u.y, u.x};
  const ImVec2 foot{dot.at.x - u.x * r * 1.8f, dot.at.y - u.y * r * 1.8f};
  const ImVec2 tip[] = {dot.at, {foot.x + n.x * r, foot.y + n.y * r}, {foot.x - n.x * r, foot.y - n.y * r}};
  painter.polygon(tip, colour);
  painter.ring({foot.x - u.x * r * 0.9f, foot.y - u.y * r * 0.9f}, r * 0.6f, colour, theme().px(1.5f));
}

/// Beyond this a cloud's ghost is a second cloud.
constexpr std::size_t max_ghost_dots = 400;

float small_width(std::string_view s) { return text_size(s, Type::small).x; }

void paint_bars(const PlotEnd& plot, const Painter& painter, const PlotSeries& series,
                const std::vector<PlotPoint>& points) {
  const PlotFrame& f = plot.frame();
  const float half = bar_half_px(plot.scratch(), series, f), shift = series.offset * half * 2;
  for (const PlotPoint& p : points) {
    const double x = f.x.pixel(p.x), y = f.y.pixel(p.y), base = f.y.pixel(p.y2);
    if (!std::isfinite(x) || std::isnan(y) || std::isnan(base)) continue;
    const auto clamped = [&](double v) { return static_cast<float>(std::clamp(v, f.y.end() - 2, f.y.start() + 2)); };
    const float centre = static_cast<float>(std::clamp(x, f.x.start() - 1e4, f.x.end() + 1e4)) + shift;
    if (centre + half < f.area.min.x || centre - half > f.area.max.x) continue;
    const float a = clamped(y), b = clamped(base);
    if (std::abs(a - b) < 0.5f) continue;
    painter.rect({centre - half, std::min(a, b)}, {centre + half, std::max(a, b)},
                 with_alpha(series.colour, series.alpha));
  }
}

void paint_errors(const PlotEnd& plot, const Painter& painter, const PlotSeries& series,
                  const std::vector<PlotPoint>& points) {
  const PlotFrame& f = plot.frame();
  const float cap = theme().px(4);
  for (const PlotPoint& p : points) {
    const double x = f.x.pixel(p.x), hi = f.y.pixel(p.y), lo = f.y.pixel(p.y2);
    if (!(x >= f.x.start() - 20 && x <= f.x.end() + 20) || std::isnan(hi) || std::isnan(lo)) continue;
    const auto at = static_cast<float>(x);
    const auto clamped = [&](double v) { return static_cast<float>(std::clamp(v, f.y.end() - 10, f.y.start() + 10)); };
    const float top = clamped(hi), bottom = clamped(lo);
    painter.line({at, top}, {at, bottom}, series.colour, 1.5f);
    painter.line({at - cap, top}, {at + cap, top}, series.colour, 1.5f);
    painter.line({at - cap, bottom}, {at + cap, bottom}, series.colour, 1.5f);
  }
}

/// Points of a state that is not the present one: dashed lines, rings, outlines of bars.
void paint_pale(const PlotEnd& plot, const Painter& painter, const PlotSeries& series,
                const std::vector<PlotPoint>& points) {
  PlotScratch& s = plot.scratch();
  const PlotFrame& f = plot.frame();
  const Theme& t = theme();
  const ImU32 pale = with_alpha(series.colour, 0.5f);
  switch (series.kind) {
    case PlotSeries::Kind::line:
    case PlotSeries::Kind::steps:
    case PlotSeries::Kind::area:
      if (series.width > 0)
        for_pieces(points, f, series.kind == PlotSeries::Kind::steps, s.points,
                   [&](std::span<const ImVec2> piece) { painter.dashed_polyline(piece, pale, t.px(1), t.px(3)); });
      return;
    case PlotSeries::Kind::scatter:
      if (points.size() > max_ghost_dots) return;
      for (const PlotPoint& p : points) {
        const float x = static_cast<float>(f.x.pixel(p.x)), y = static_cast<float>(f.y.pixel(p.y));
        if (f.area.contains({x, y})) painter.ring({x, y}, t.px(series.radius), pale, t.px(1));
      }
      return;
    case PlotSeries::Kind::bars: {
      const float half = bar_half_px(s, series, f), shift = series.offset * half * 2;
      for (const PlotPoint& p : points) {
        const float x = static_cast<float>(f.x.pixel(p.x)) + shift, y = static_cast<float>(f.y.pixel(p.y));
        if (f.area.contains({x, y})) painter.dashed_line({x - half, y}, {x + half, y}, t.text, t.px(1.5f), t.px(3));
      }
      return;
    }
    case PlotSeries::Kind::errors:
      return;
  }
}

/// The scenario that was set aside, where one is compared with; else what stood here before the last change.
void paint_ghosts(const PlotEnd& plot, const Painter& painter) {
  PlotScratch& s = plot.scratch();
  const PlotFrame& f = plot.frame();
  const Theme& t = theme();
  const PlotReference::Entry* const other = reference_shown(s.key);
  for (std::size_t i = 0; i < s.series.size(); ++i) {
    const PlotSeries& series = s.series[i];
    if (series.hidden) continue;
    if (!other) {
      const bool bars = series.kind == PlotSeries::Kind::bars || series.kind == PlotSeries::Kind::area;
      if (!bars) paint_pale(plot, painter, series, s.caches[i].ghost);
      continue;
    }
    const std::uint64_t name = name_of(s, series);
    for (const PlotReference::Series& theirs : other->series)
      if (theirs.name == name) paint_pale(plot, painter, series, theirs.points);
  }
  if (!other) return;
  for (const PlotPoint& p : other->handles) {
    const ImVec2 at{static_cast<float>(f.x.pixel(p.x)), static_cast<float>(f.y.pixel(p.y))};
    if (!f.area.contains(at)) continue;
    painter.ring(at, t.px(7), with_alpha(t.accent, 0.7f), t.px(1.5f));
    painter.text({at.x + t.px(10), at.y - t.type(Type::small) / 2}, "A", t.accent, Type::small, Font::bold);
  }
}

/// What the frame clips: series and marks, then the handles, then labels, which may reach over the right edge.
void paint_in_frame(const PlotEnd& plot, const Painter& painter) {
  const PlotScratch& s = plot.scratch();
  const PlotLink* const link = plot.options.link;
  const Box& area = s.frame.area;
  painter.clip(area.min, area.max);
  paint_ghosts(plot, painter);
  paint_series(plot, painter);
  paint_marks(plot, painter);
  if (link && !plot.hovered && std::isfinite(link->cursor_x)) {
    const float x = static_cast<float>(s.frame.x.pixel(link->cursor_x));
    painter.dashed_line({x, area.min.y}, {x, area.max.y}, with_alpha(theme().muted, 0.6f), 1, theme().px(3));
  }
  painter.unclip();
  // A handle on the frame's edge is whole.
  const float reach = theme().px(14);
  painter.clip({area.min.x - reach, area.min.y - reach}, {area.max.x + reach, area.max.y + reach});
  paint_handles(plot, painter);
  painter.unclip();
  painter.clip(area.min, {plot.outer.max.x, area.max.y});
  paint_labels(plot, painter);
  paint_annotations(plot, painter);
  painter.unclip();
}

}  // namespace

/// What the learner committed to, as a line across the axis that shows the output.
static void paint_guess(const PlotEnd& plot, const Painter& p) {
  const ShownGuess* const guess = shown_guess();
  if (!guess) return;
  const PlotFrame& f = plot.frame();
  const Theme& t = theme();
  const auto shows = [&](const AxisSpec& axis) {
    return !is_category(axis) && axis.unit == guess->unit && same_letters(axis.label, guess->label);
  };
  const bool on_y = shows(plot.options.y), on_x = !on_y && plot.options.x_axis && shows(plot.options.x);
  if (!on_x && !on_y) return;
  const auto px = static_cast<float>(on_y ? f.y.pixel(guess->value) : f.x.pixel(guess->value));
  const float lo = on_y ? f.area.min.y : f.area.min.x, hi = on_y ? f.area.max.y : f.area.max.x;
  if (!std::isfinite(px)) return;
  const float at = std::clamp(px, lo, hi);
  const Line words =
      guess_words(axis_value(on_y ? plot.options.y : plot.options.x, guess->value, 3), px < lo || px > hi);
  const float width = text_size(words.view(), Type::small).x, height = t.type(Type::small);
  if (on_y)
    p.dashed_line({f.area.min.x, at}, {f.area.max.x, at}, t.accent, t.px(1.5f), t.px(4));
  else
    p.dashed_line({at, f.area.min.y}, {at, f.area.max.y}, t.accent, t.px(1.5f), t.px(4));
  const ImVec2 corner =
      on_y ? ImVec2{f.area.min.x + t.px(8), at - height - t.px(4) < lo ? at + t.px(4) : at - height - t.px(4)}
           : ImVec2{at + t.px(6) + width > hi ? at - t.px(6) - width : at + t.px(6), f.area.min.y + t.px(6)};
  paint_guess_words(p, corner, words.view());
}

void finish_plot(const PlotEnd& plot) {
  PlotScratch& s = plot.scratch();
  if (veil_plot(plot.outer, plot.options.x, plot.options.y, plot.options.x_axis)) {
    for (const PlotSeries& series : s.series) {
      if (!series.given) continue;
      if (series.kind == PlotSeries::Kind::line)
        veil_line(values_of(s, series, 0), values_of(s, series, 1), series.width, series.colour);
      else
        veil_points(values_of(s, series, 0), values_of(s, series, 1), series.marker, series.radius, series.colour);
    }
    return;
  }
  const Painter painter = Painter::window();
  const float title = plot.options.title.empty() ? 0.0f : theme().type(Type::body) * 1.5f;
  follow_data(plot);
  const float line = theme().type(Type::small);
  PlotLink* const link = plot.options.link;
  const auto lay_out = [&](float gutter) {
    const FrameRoom room{
        .above_px = title + legend(plot, plot.outer.min.y + title, nullptr),
        .least_gutter_px = gutter,
        .right_px = end_label_room(plot),
        .x_axis = plot.options.x_axis,
    };
    layout_frame(plot.outer, room, plot.options.x, plot.options.y, {plot.view.x_lo, plot.view.x_hi},
                 {plot.view.y_lo, plot.view.y_hi}, small_width, line, s.frame);
  };
  const float tags = tag_gutter(plot);
  lay_out(tags);
  if (link) {
    link->need_gutter(s.frame.area.min.x - plot.outer.min.x);
    if (link->gutter_px > s.frame.area.min.x - plot.outer.min.x) lay_out(link->gutter_px);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (plot.hovered && s.frame.area.contains(mouse)) link->point_at(s.frame.x.value(static_cast<double>(mouse.x)));
  }
  ease_marks(plot);
  displace_ticks(plot);
  const Box& area = s.frame.area;
  s.area_from_corner = {{area.min.x - plot.outer.min.x, area.min.y - plot.outer.min.y},
                        {area.max.x - plot.outer.min.x, area.max.y - plot.outer.min.y}};
  reduce_series(plot);
  leave_reference(plot);
  if (title > 0)
    painter.text_fit({area.min.x, plot.outer.min.y}, plot.options.title, plot.outer.max.x - area.min.x, theme().text,
                     Type::body, Font::bold);
  paint_axes(plot, painter);
  paint_in_frame(plot, painter);
  paint_tags(plot, painter);
  paint_lit(plot, painter);
  paint_guess(plot, painter);
  legend(plot, plot.outer.min.y + title, &painter);
  paint_hover(plot, painter);
  if (Record* record = painter.record()) record_tables(plot, *record);
}

void paint_axes(const PlotEnd& plot, const Painter& painter) {
  const PlotFrame& f = plot.frame();
  const Theme& t = theme();
  const Box& a = f.area;
  const float line = t.type(Type::small), pad = std::floor(line * 0.4f);
  for (const double px : f.x_ticks.minor())
    painter.line({static_cast<float>(px), a.min.y}, {static_cast<float>(px), a.max.y}, with_alpha(t.grid, 0.45f));
  for (const double px : f.y_ticks.minor())
    painter.line({a.min.x, static_cast<float>(px)}, {a.max.x, static_cast<float>(px)}, with_alpha(t.grid, 0.45f));
  const bool x_grid = !is_category(plot.options.x), y_grid = !is_category(plot.options.y);
  for (const Tick& tick : f.x_ticks.major()) {
    const float px = std::floor(static_cast<float>(tick.pixel)) + 0.5f;
    if (x_grid) painter.line({px, a.min.y}, {px, a.max.y}, t.grid);
    if (plot.options.x_axis)
      painter.text({px, a.max.y + pad}, tick.label, t.muted, Type::small, Font::sans, Align::center);
  }
  for (const Tick& tick : f.y_ticks.major()) {
    const float px = std::floor(static_cast<float>(tick.pixel)) + 0.5f;
    if (y_grid) painter.line({a.min.x, px}, {a.max.x, px}, t.grid);
    painter.text({a.min.x - pad, px - line / 2}, tick.label, t.muted, Type::small, Font::sans, Align::right);
  }
  painter.frame(a.min, a.max, t.line);
  if (f.y.has_zero()) {
    const float edge = std::floor(static_cast<float>(f.y.start())) + 0.5f;
    painter.rect({a.min.x, edge}, a.max, with_alpha(t.card, 0.6f));
    painter.line({a.min.x, edge}, {a.max.x, edge}, t.line);
  }
  if (f.x.has_zero()) {
    const float edge = std::floor(static_cast<float>(f.x.start())) + 0.5f;
    painter.rect(a.min, {edge, a.max.y}, with_alpha(t.card, 0.6f));
    painter.line({edge, a.min.y}, {edge, a.max.y}, t.line);
  }
  const float x_y = a.max.y + pad + line + pad;
  if (f.x_title.length > 0 && plot.options.x_axis)
    painter.text_fit({(a.min.x + a.max.x) / 2, x_y}, f.x_title, a.width(), t.muted, Type::small, Font::sans,
                     Align::center);
  if (f.y_title.length == 0) return;
  // Above the frame, from where the numbers start when it is longer than the frame is wide.
  const float title_y = a.min.y - pad - line, width = small_width(f.y_title), right = plot.outer.max.x;
  const float from = a.min.x + width <= right ? a.min.x : plot.outer.min.x;
  painter.text_fit({from, title_y}, from + width <= right || f.y_ticks.unit.length == 0 ? f.y_title : f.y_ticks.unit,
                   right - from, t.muted, Type::small);
}

bool dot_place(const PlotEnd& plot, const PlotPoint& p, DotPlace& out) {
  const PlotFrame& f = plot.frame();
  double x = f.x.pixel(p.x), y = f.y.pixel(p.y);
  if (std::isnan(x) || std::isnan(y)) return false;
  out = {};
  const double left = static_cast<double>(f.area.min.x), right = static_cast<double>(f.area.max.x);
  const double top = static_cast<double>(f.area.min.y), bottom = static_cast<double>(f.area.max.y);
  constexpr double slack = 0.5;
  if (plot.view.zoomed || (plot.options.link && plot.options.link->zoomed)) {
    if (!(x >= left - 10 && x <= right + 10 && y >= top - 10 && y <= bottom + 10)) return false;
  } else {
    if (!(x >= left - slack)) out.beyond.x = -1;
    if (!(x <= right + slack)) out.beyond.x = 1;
    if (!(y >= top - slack)) out.beyond.y = -1;
    if (!(y <= bottom + slack)) out.beyond.y = 1;
    x = std::clamp(x, left, right);
    y = std::clamp(y, top, bottom);
  }
  out.at = {static_cast<float>(x), static_cast<float>(y)};
  return true;
}

void paint_marker(const Painter& painter, ImVec2 at, Marker marker, float r, ImU32 colour) {
  switch (marker) {
    case Marker::none:
      return;
    case Marker::circle:
      painter.circle(at, r, colour);
      return;
    case Marker::square:
      painter.rect({at.x - r * 0.9f, at.y - r * 0.9f}, {at.x + r * 0.9f, at.y + r * 0.9f}, colour);
      return;
    case Marker::triangle: {
      const ImVec2 p[] = {
          {at.x, at.y - r * 1.1f}, {at.x + r * 1.05f, at.y + r * 0.8f}, {at.x - r * 1.05f, at.y + r * 0.8f}};
      painter.polygon(p, colour);
      return;
    }
    case Marker::diamond: {
      const ImVec2 p[] = {
          {at.x, at.y - r * 1.2f}, {at.x + r * 1.2f, at.y}, {at.x, at.y + r * 1.2f}, {at.x - r * 1.2f, at.y}};
      painter.polygon(p, colour);
      return;
    }
  }
}

void paint_series(const PlotEnd& plot, const Painter& painter) {
  PlotScratch& s = plot.scratch();
  const PlotFrame& f = plot.frame();
  const Theme& t = theme();
  using Kind = PlotSeries::Kind;
  // Fills lie under lines and lines under dots, whatever the order of the calls.
  for (const int pass : {0, 1, 2}) {
    for (std::size_t i = 0; i < s.series.size(); ++i) {
      const PlotSeries& series = s.series[i];
      const std::vector<PlotPoint>& points = s.caches[i].points;
      if (series.hidden) continue;
      if (pass == 0 && series.kind == Kind::area) paint_band(plot, painter, series, points);
      if (pass == 0 && series.kind == Kind::bars) paint_bars(plot, painter, series, points);
      if (pass == 1 && (series.kind == Kind::line || series.kind == Kind::steps || series.kind == Kind::area)) {
        if (series.width <= 0) continue;
        const float width = series.kind == Kind::area ? t.px(1) : t.px(series.width);
        for_pieces(points, f, series.kind == Kind::steps, s.points, [&](std::span<const ImVec2> piece) {
          if (series.dashed)
            painter.dashed_polyline(piece, series.colour, width, t.px(5));
          else
            painter.polyline(piece, series.colour, width);
        });
      }
      if (pass == 2 && series.kind == Kind::errors) paint_errors(plot, painter, series, points);
      if (pass == 2 && series.kind == Kind::scatter) {
        // Beyond one dot in three pixels they lie on each other: pale ones then add up to how many there are.
        const auto room = static_cast<double>(f.area.width()) / 3;
        const double crowd = room > 0 ? static_cast<double>(points.size()) / room : 1;
        const float own = static_cast<float>(series.colour >> IM_COL32_A_SHIFT & 255) / 255.0f;
        const ImU32 dot_colour =
            crowd > 1 ? with_alpha(series.colour, own * std::max(static_cast<float>(1 / std::sqrt(crowd)), 0.3f))
                      : series.colour;
        DotPlace dot;
        for (const PlotPoint& p : points) {
          if (!dot_place(plot, p, dot)) continue;
          const float r = t.px(series.radius);
          if (dot.beyond.x == 0 && dot.beyond.y == 0)
            paint_marker(painter, dot.at, series.marker, r, dot_colour);
          else
            paint_beyond(painter, dot, r, series.colour);
        }
      }
    }
  }
}

}  // namespace widgets
