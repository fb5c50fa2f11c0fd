#include <algorithm>
#include <cmath>

#include "widgets/base/lit_figure.h"
#include "widgets/base/tint.h"
#include "widgets/plot/callout.h"
#include "widgets/plot/plot_paint.h"

/// What is said about a plot beside its data: value tags, dimension lines and callouts.
namespace widgets {
namespace {

using NoteKind = PlotMark::Kind;

/// The tag's box on its axis; false when its value is not in view.
bool tag_box(const PlotEnd& plot, const PlotMark& m, Box& out) {
  const PlotFrame& f = plot.frame();
  const Theme& t = theme();
  const ImVec2 size = text_size(text_of(plot.scratch(), m.label), Type::small, Font::mono);
  const float line = t.type(Type::small), pad = std::floor(line * 0.4f), side = t.px(5);
  if (m.kind == NoteKind::tag_x) {
    const auto x = static_cast<float>(f.x.pixel(m.x));
    if (!(x >= f.area.min.x - 0.5f && x <= f.area.max.x + 0.5f)) return false;
    const float left = std::clamp(x - size.x / 2 - side, plot.outer.min.x, plot.outer.max.x - size.x - 2 * side);
    const float top = f.area.max.y + pad - t.px(2);
    out = {{left, top}, {left + size.x + 2 * side, top + line + t.px(4)}};
    return plot.options.x_axis;
  }
  const auto y = static_cast<float>(f.y.pixel(m.y));
  if (!(y >= f.area.min.y - 0.5f && y <= f.area.max.y + 0.5f)) return false;
  const float right = f.area.min.x - t.px(3), left = std::max(right - size.x - 2 * side, plot.outer.min.x);
  out = {{left, y - line / 2 - t.px(2)}, {std::max(right, left + size.x + 2 * side), y + line / 2 + t.px(2)}};
  return true;
}

void keep_clear(AxisTicks& ticks, const Box& tag, bool on_x) {
  const float gap = theme().px(4), half_line = theme().type(Type::small) / 2;
  for (std::size_t i = 0; i < ticks.major_count; ++i) {
    Tick& tick = ticks.major_room[i];
    const auto at = static_cast<float>(tick.pixel);
    const float half = on_x ? text_size(tick.label, Type::small).x / 2 : half_line;
    const float lo = on_x ? tag.min.x : tag.min.y, hi = on_x ? tag.max.x : tag.max.y;
    if (at + half + gap > lo && at - half - gap < hi) tick.label.length = 0;  // its grid line stays
  }
}

void paint_bracket(const PlotEnd& plot, const Painter& painter, const PlotMark& m) {
  const PlotFrame& f = plot.frame();
  const Theme& t = theme();
  const auto clamped = [&](double v) { return static_cast<float>(std::clamp(v, f.y.end(), f.y.start())); };
  const auto x = static_cast<float>(f.x.pixel(m.x));
  const float a = clamped(f.y.pixel(m.y)), b = clamped(f.y.pixel(m.y2)), foot = t.px(5);
  if (!(x >= f.area.min.x && x <= f.area.max.x) || !(std::abs(a - b) >= t.px(4))) return;
  const ImVec2 points[] = {{x + foot, a}, {x, a}, {x, b}, {x + foot, b}};
  painter.polyline(points, m.colour, t.px(1.5f));
  PlotScratch& s = plot.scratch();
  const std::string_view bold = text_of(s, m.label), words = text_of(s, m.note);
  const float line = t.type(Type::small), width = text_size(bold, Type::small, Font::bold).x,
              gap = words.empty() ? 0.0f : t.px(6), all = width + gap + text_size(words, Type::small).x;
  const ImVec2 at{x + t.px(12), (a + b) / 2 - line / 2};
  const Box box{at, {at.x + all, at.y + line}};
  if (!s.room.is_free(box)) return;
  s.room.block(box);
  painter.plate(at, bold, t.background, Type::small, Font::bold);
  painter.plate({at.x + width + gap, at.y}, words, t.background, Type::small);
  painter.text(at, bold, t.text, Type::small, Font::bold);
  painter.text({at.x + width + gap, at.y}, words, t.muted, Type::small);
}

}  // namespace

ImVec2 callout_size(std::string_view bold, std::string_view words) {
  const Theme& t = theme();
  const float line = t.type(Type::small) * 1.35f;
  const float width =
      std::max(text_size(bold, Type::small, Font::bold).x, words.empty() ? 0 : text_size(words, Type::small).x);
  // One pixel more than the words, since their place is rounded to whole pixels.
  return {std::ceil(width) + 1 + t.px(24), line * (words.empty() ? 1.0f : 2.0f) + t.px(14)};
}

Box draw_callout(const Painter& painter, const Occupancy& room, ImVec2 anchor, const Box& area, std::string_view bold,
                 std::string_view words, ImU32 colour) {
  const Theme& t = theme();
  const Box inner{{area.min.x + t.px(6), area.min.y + t.px(6)}, {area.max.x - t.px(6), area.max.y - t.px(6)}};
  const Box box = place_callout(room, anchor, inner, callout_size(bold, words), t.px(20));
  const ImVec2 end{std::clamp(anchor.x, box.min.x, box.max.x), std::clamp(anchor.y, box.min.y, box.max.y)};
  if (!box.contains(anchor)) painter.line(anchor, end, colour, t.px(1.5f));
  painter.rect(box.min, box.max, t.card, t.px(5));
  painter.frame(box.min, box.max, colour, t.px(1.2f), t.px(5));
  const float line = t.type(Type::small) * 1.35f, width = box.width() - t.px(24);
  const ImVec2 at{box.min.x + t.px(12), box.min.y + t.px(8)};
  painter.text_fit(at, bold, width, t.text, Type::small, Font::bold);
  painter.text_fit({at.x, at.y + line}, words, width, t.muted, Type::small);
  return box;
}

float tag_gutter(const PlotEnd& plot) {
  float widest = 0;
  for (const PlotMark& m : plot.scratch().marks)
    if (m.kind == NoteKind::tag_y)
      widest =
          std::max(widest, text_size(text_of(plot.scratch(), m.label), Type::small, Font::mono).x + theme().px(16));
  return widest;
}

void displace_ticks(const PlotEnd& plot) {
  Box box;
  for (const PlotMark& m : plot.scratch().marks)
    if ((m.kind == NoteKind::tag_x || m.kind == NoteKind::tag_y) && tag_box(plot, m, box))
      keep_clear(m.kind == NoteKind::tag_x ? plot.scratch().frame.x_ticks : plot.scratch().frame.y_ticks, box,
                 m.kind == NoteKind::tag_x);
}

void paint_tags(const PlotEnd& plot, const Painter& painter) {
  const Theme& t = theme();
  Box box;
  for (const PlotMark& m : plot.scratch().marks) {
    if ((m.kind != NoteKind::tag_x && m.kind != NoteKind::tag_y) || !tag_box(plot, m, box)) continue;
    painter.rect(box.min, box.max, m.colour, t.px(3));
    painter.text({(box.min.x + box.max.x) / 2, (box.min.y + box.max.y - t.type(Type::small)) / 2},
                 text_of(plot.scratch(), m.label), text_on(m.colour, t), Type::small, Font::mono, Align::center);
  }
}

void paint_annotations(const PlotEnd& plot, const Painter& painter) {
  PlotScratch& s = plot.scratch();
  const PlotFrame& f = plot.frame();
  for (const PlotMark& m : s.marks)
    if (m.kind == NoteKind::bracket) paint_bracket(plot, painter, m);
  for (const PlotMark& m : s.marks) {
    if (m.kind != NoteKind::callout) continue;
    const ImVec2 anchor{static_cast<float>(f.x.pixel(m.x)), static_cast<float>(f.y.pixel(m.y))};
    if (!f.area.contains(anchor)) continue;
    s.room.block(draw_callout(painter, s.room, anchor, f.area, text_of(s, m.label), text_of(s, m.note), m.colour));
  }
}

/// A line's or a level's light: wide and pale along it.
static void light_along(const Painter& painter, std::span<const ImVec2> points) {
  painter.polyline(points, with_alpha(theme().accent, 0.35f), theme().px(10));
}

static void light_mark(const PlotEnd& plot, const Painter& painter, const PlotMark& m) {
  const PlotFrame& f = plot.frame();
  const Box& a = f.area;
  Box tag;
  if (m.kind == NoteKind::tag_x || m.kind == NoteKind::tag_y) {
    if (tag_box(plot, m, tag)) paint_light(painter, tag.min, tag.max);
    return;
  }
  const auto x = static_cast<float>(f.x.pixel(m.x)), y = static_cast<float>(f.y.pixel(m.y));
  const auto place = [&](double v, double w) {
    return ImVec2{std::clamp(static_cast<float>(f.x.pixel(v)), a.min.x, a.max.x),
                  std::clamp(static_cast<float>(f.y.pixel(w)), a.min.y, a.max.y)};
  };
  switch (m.kind) {
    case NoteKind::vertical:
    case NoteKind::handle_x: {
      const ImVec2 whole[] = {{x, a.min.y}, {x, a.max.y}};
      if (x >= a.min.x && x <= a.max.x) light_along(painter, whole);
      return;
    }
    case NoteKind::horizontal:
    case NoteKind::handle_y: {
      const ImVec2 whole[] = {{a.min.x, y}, {a.max.x, y}};
      if (y >= a.min.y && y <= a.max.y) light_along(painter, whole);
      return;
    }
    case NoteKind::arrow:
    case NoteKind::bracket: {
      const ImVec2 whole[] = {place(m.x, m.y), place(m.x2, m.y2)};
      light_along(painter, whole);
      return;
    }
    default:
      if (a.contains({x, y})) painter.ring({x, y}, theme().px(14), theme().accent, theme().px(3));
  }
}

void paint_lit(const PlotEnd& plot, const Painter& painter) {
  PlotScratch& s = plot.scratch();
  const Theme& t = theme();
  for (std::size_t i = 0; i < s.series.size(); ++i) {
    const PlotSeries& series = s.series[i];
    if (!series.lit || series.hidden) continue;
    if (series.kind != PlotSeries::Kind::scatter) {
      for_pieces(s.caches[i].points, plot.frame(), series.kind == PlotSeries::Kind::steps, s.points,
                 [&](std::span<const ImVec2> piece) { light_along(painter, piece); });
      continue;
    }
    DotPlace dot;
    for (const PlotPoint& p : s.caches[i].points)
      if (dot_place(plot, p, dot)) painter.ring(dot.at, t.px(series.radius + 6), t.accent, t.px(2.5f));
  }
  for (const PlotMark& m : s.marks)
    if (m.lit) light_mark(plot, painter, m);
}

}  // namespace widgets
