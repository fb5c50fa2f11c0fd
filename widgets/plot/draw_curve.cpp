#include "widgets/plot/draw_curve.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "widgets/base/parts.h"

namespace widgets {
namespace {

ImVec2 pixel_at(const PlotFrame& f, double x, double y) {
  return {static_cast<float>(f.x.pixel(x)), static_cast<float>(f.y.pixel(y))};
}

float tick_px(double pixel) { return std::floor(static_cast<float>(pixel)) + 0.5f; }

float body_width_px(std::string_view s) { return text_size(s, Type::small).x; }

/// Whether a line of values passes through a box.
bool passes(const PlotFrame& f, std::span<const double> xs, std::span<const double> ys, const Box& box) {
  for (std::size_t i = 1; i < std::min(xs.size(), ys.size()); ++i) {
    const ImVec2 a = pixel_at(f, xs[i - 1], ys[i - 1]), b = pixel_at(f, xs[i], ys[i]);
    double ax = static_cast<double>(a.x), ay = static_cast<double>(a.y), bx = static_cast<double>(b.x),
           by = static_cast<double>(b.y);
    if (std::isfinite(ay) && std::isfinite(by) && clip_segment(ax, ay, bx, by, box)) return true;
  }
  return false;
}

/// What the names of given points keep clear of: all below `floor`, and lines over the same places.
struct GivenRoom {
  float floor = HUGE_VALF;
  std::span<const double> drawn = {}, computed = {};
};

/// A square at its place, its name beside it where the frame has room, above the middle below it and below above it. A
/// name that a line would pass through is on the other side, or nowhere.
void paint_given_point(const Painter& p, const PlotFrame& f, const DrawCurveSpec& spec, const GivenMark& g,
                       ImU32 colour, const GivenRoom& room) {
  const Theme& t = theme();
  const ImVec2 at = pixel_at(f, g.at, g.value);
  if (!(at.x >= f.area.min.x - 1 && at.x <= f.area.max.x + 1)) return;
  const float half = t.px(6), line = t.type(Type::small), width = body_width_px(g.label);
  p.rect({at.x - half - t.px(2), at.y - half - t.px(2)}, {at.x + half + t.px(2), at.y + half + t.px(2)}, t.text);
  p.rect({at.x - half, at.y - half}, {at.x + half, at.y + half}, colour);
  const bool left = at.x + half + t.px(8) + width > f.area.max.x;
  const float x = left ? std::max(at.x - half - t.px(8) - width, f.area.min.x + t.px(4)) : at.x + half + t.px(8);
  const bool below = at.y - half - line < f.area.min.y + t.px(4);
  const float under = at.y + half + t.px(4), over = std::min(at.y - half, room.floor - t.px(4)) - line;
  const auto is_clear = [&](float top) {
    const Box box{{x, top}, {x + width, top + line}};
    return top + line <= f.area.max.y && !passes(f, spec.xs, room.drawn, box) &&
           !passes(f, spec.xs, room.computed, box);
  };
  const float y = is_clear(below ? under : over) ? (below ? under : over) : below ? over : under;
  if (!is_clear(y)) return;
  p.plate({x, y}, g.label, t.panel, Type::small);
  p.text_fit({x, y}, g.label, f.area.max.x - x, t.text, Type::small);
}

/// A level's name stands at its left end, or at its right one where a line would go through it.
void paint_given(const Painter& p, const PlotFrame& f, const DrawCurveSpec& spec, const GivenRoom& room) {
  const Theme& t = theme();
  const ImU32 colour = t.of(Meaning::compute_bound);
  const float square = t.px(8);
  for (const GivenMark& g : spec.given) {
    const float y = static_cast<float>(f.y.pixel(g.value));
    if (!(y >= f.area.min.y && y <= f.area.max.y)) continue;
    if (std::isfinite(g.at)) {
      paint_given_point(p, f, spec, g, colour, room);
      continue;
    }
    p.line({f.area.min.x, y}, {f.area.max.x, y}, colour, t.px(2));
    const bool above = y - t.px(22) > f.area.min.y;
    ImVec2 at{f.area.min.x + t.px(10), above ? std::min(y - t.px(18), room.floor - t.px(16)) : y + t.px(6)};
    const float width = square + t.px(6) + body_width_px(g.label), right = f.area.max.x - t.px(10) - width;
    const auto hit = [&](float x) {
      const Box box{{x - t.px(3), at.y - t.px(1)}, {x + width + t.px(3), at.y + t.px(15)}};
      return passes(f, spec.xs, room.drawn, box) || passes(f, spec.xs, room.computed, box);
    };
    if (hit(at.x) && right > at.x && !hit(right)) at.x = right;
    p.rect({at.x, at.y + t.px(2)}, {at.x + square, at.y + t.px(2) + square}, colour);
    p.text_fit({at.x + square + t.px(6), at.y}, g.label, f.area.width() - t.px(40), t.text, Type::small);
  }
}

/// Calls emit with each unbroken stretch of a line, up to a screen x.
template <class Emit>
void stretches(const PlotFrame& f, std::span<const double> xs, std::span<const double> ys, float up_to, Emit emit) {
  static thread_local std::vector<ImVec2> points;
  points.clear();
  const auto flush = [&] {
    if (points.size() > 1) emit(std::span<const ImVec2>(points));
    points.clear();
  };
  for (std::size_t i = 0; i < std::min(xs.size(), ys.size()); ++i) {
    const ImVec2 at = pixel_at(f, xs[i], ys[i]);
    if (!std::isfinite(at.y) || !std::isfinite(at.x)) {
      flush();
      continue;
    }
    if (at.x > up_to) {
      if (!points.empty() && at.x > points.back().x) {
        const ImVec2 b = points.back();
        const float share = (up_to - b.x) / (at.x - b.x);
        points.push_back({up_to, b.y + share * (at.y - b.y)});
      }
      break;
    }
    points.push_back(at);
  }
  flush();
}

void paint_dots(const Painter& p, const PlotFrame& f, const DrawCurveSpec& spec, std::span<const double> ys,
                ImU32 colour, float up_to) {
  if (!spec.dots) return;
  for (std::size_t i = 0; i < std::min(spec.xs.size(), ys.size()); ++i)
    if (const ImVec2 at = pixel_at(f, spec.xs[i], ys[i]); std::isfinite(at.y) && at.x <= up_to)
      p.circle(at, theme().px(3.5f), colour);
}

void paint_mine(const Painter& p, const PlotFrame& f, const DrawCurveSpec& spec, std::span<const double> ys) {
  const Theme& t = theme();
  stretches(f, spec.xs, ys, f.area.max.x + 1, [&](std::span<const ImVec2> piece) {
    p.polyline(piece, with_alpha(t.accent, 0.16f), t.px(9));
    p.polyline(piece, t.accent, t.px(3));
  });
  paint_dots(p, f, spec, ys, t.accent, f.area.max.x + 1);
}

void paint_tag(const Painter& p, const Box& box, const NumberText& text) {
  const Theme& t = theme();
  if (box.empty()) return;
  p.rect(box.min, box.max, t.accent, t.px(3));
  const bool dark = contrast(t.on_colour, t.accent) >= contrast(0xffffffff, t.accent);
  p.text({(box.min.x + box.max.x) / 2, (box.min.y + box.max.y) / 2 - t.type(Type::small) * 0.55f}, text,
         dark ? t.on_colour : 0xffffffff, Type::small, Font::mono, Align::center);
}

/// The area between two lines, in strips that both of them cross.
void paint_gap(const Painter& p, const PlotFrame& f, const DrawCurveSpec& spec, std::span<const double> drawn,
               std::span<const double> computed, float up_to) {
  static thread_local std::vector<ImVec2> upper, lower;
  upper.clear();
  lower.clear();
  const auto flush = [&] {
    if (upper.size() > 1) p.band(upper, lower, with_alpha(theme().accent, 0.18f));
    upper.clear();
    lower.clear();
  };
  for (std::size_t i = 0; i < std::min({spec.xs.size(), drawn.size(), computed.size()}); ++i) {
    const ImVec2 mine = pixel_at(f, spec.xs[i], drawn[i]), theirs = pixel_at(f, spec.xs[i], computed[i]);
    if (!std::isfinite(mine.y) || !std::isfinite(theirs.y) || mine.x > up_to) {
      flush();
      continue;
    }
    upper.push_back({mine.x, std::min(mine.y, theirs.y)});
    lower.push_back({mine.x, std::max(mine.y, theirs.y)});
  }
  flush();
}

void paint_card(const Painter& p, const Box& box, const RevealText& text) {
  const Theme& t = theme();
  p.rect(box.min, box.max, t.card, t.px(8));
  p.frame(box.min, box.max, t.line, 1, t.px(8));
  const float x = box.min.x + t.px(16), right = box.max.x - t.px(16);
  float y = box.min.y + t.px(12);
  const float width = p.text({x, y}, text.score, t.accent, Type::title, Font::mono);
  p.text({x + width + t.px(8), y + t.type(Type::title) - t.type(Type::body) - t.px(1)}, "of 100", t.text, Type::body,
         Font::bold);
  y += t.type(Type::title) + t.px(10);
  p.rect({x, y}, {right, y + t.px(4)}, t.line, t.px(2));
  if (text.share > 0.01)
    p.rect({x, y}, {x + (right - x) * static_cast<float>(std::min(text.share, 1.0)), y + t.px(4)}, t.accent, t.px(2));
  y += t.px(14);
  p.text_fit({x, y}, text.typical, right - x, t.text, Type::small);
  p.text_fit({x, y + t.type(Type::small) + t.px(5)}, text.up_to, right - x, t.muted, Type::small);
}

ImVec2 card_size(const RevealText& text) {
  const Theme& t = theme();
  const float words = std::max({body_width_px(text.typical), body_width_px(text.up_to), t.px(150)});
  return {words + t.px(34), t.type(Type::title) + 2 * t.type(Type::small) + t.px(54)};
}

}  // namespace

float tick_width_px(std::string_view s) { return text_size(s, Type::small, Font::mono).x; }

void paint_curve_frame(const Painter& p, const PlotFrame& f, const DrawCurveSpec& spec, const Box& value_tag,
                       const Box& place_tag) {
  const Theme& t = theme();
  const Box& a = f.area;
  const float line = t.type(Type::small), pad = std::floor(line * 0.4f);
  for (const Tick& tick : f.x_ticks.major()) {
    const float px = tick_px(tick.pixel), half = tick_width_px(tick.label) / 2 + pad;
    if (spec.x.categories.empty()) p.line({px, a.min.y}, {px, a.max.y}, t.grid);
    if (!spec.x_axis) continue;
    if (place_tag.empty() || px + half < place_tag.min.x || px - half > place_tag.max.x)
      p.text({px, a.max.y + pad}, tick.label, t.muted, Type::small, Font::mono, Align::center);
  }
  for (const Tick& tick : f.y_ticks.major()) {
    const float px = tick_px(tick.pixel);
    p.line({a.min.x, px}, {a.max.x, px}, t.grid);
    const bool behind = std::any_of(spec.given.begin(), spec.given.end(), [&](const GivenMark& g) {
      const ImVec2 at = pixel_at(f, g.at, g.value);
      return std::abs(at.x - a.min.x) < t.px(12) && std::abs(at.y - px) < line;
    });
    if (behind) continue;
    if (value_tag.empty() || value_tag.min.x >= a.min.x || px + line < value_tag.min.y || px - line > value_tag.max.y)
      p.text({a.min.x - pad, px - line / 2}, tick.label, t.muted, Type::small, Font::mono, Align::right);
  }
  p.frame(a.min, a.max, t.line);
  p.text_fit({a.min.x, a.min.y - line - pad}, f.y_title, a.width(), t.muted, Type::small);
  if (!spec.x_axis) return;
  p.text_fit({(a.min.x + a.max.x) / 2, a.max.y + pad + line + pad}, f.x_title, a.width(), t.muted, Type::small,
             Font::sans, Align::center);
}

void paint_veil(const Painter& p, const Box& box, float rounding) {
  if (box.empty()) return;
  const Theme& t = theme();
  p.rect(box.min, box.max, with_alpha(t.panel, 0.55f), rounding);
  hatch(p, {box.min, box.max}, with_alpha(t.line, 0.55f), t.px(9));
}

void paint_below(const Painter& p, const DrawCurveSpec& spec, const AxisSpec& y, std::span<const double> ys,
                 std::span<const double> computed, const DrawCurveLayout& above, const PlotFrame& below,
                 std::size_t worst) {
  const Theme& t = theme();
  DrawCurveSpec own = spec;
  own.y = y;
  own.x_axis = true;
  const bool marked = worst < spec.xs.size() && spec.x.categories.empty();
  const float x = marked ? static_cast<float>(below.x.pixel(spec.xs[worst])) : 0;
  Box tag;
  NumberText place;
  if (marked) {
    place = axis_value(spec.x, spec.xs[worst], 3);
    const float line = t.type(Type::small), half = tick_width_px(place) / 2 + line * 0.5f;
    const float middle = std::clamp(x, below.area.min.x + half - line, below.area.max.x - half + line);
    tag = {{middle - half, below.area.max.y + line * 0.15f}, {middle + half, below.area.max.y + line * 1.65f}};
  }
  paint_curve_frame(p, below, own, {}, tag);
  if (marked) {
    const double at = worst < computed.size() ? above.frame.y.pixel(computed[worst]) : HUGE_VAL;
    if (std::isfinite(at))
      p.dashed_line({x, static_cast<float>(at)}, {x, above.frame.area.max.y}, t.accent, t.px(1.5f), t.px(4));
    p.dashed_line({x, below.area.min.y}, {x, below.area.max.y}, t.accent, t.px(1.5f), t.px(4));
    paint_tag(p, tag, place);
  }
  stretches(below, spec.xs, ys, below.area.max.x + 1,
            [&](std::span<const ImVec2> piece) { p.polyline(piece, t.text, t.px(2.5f)); });
  paint_dots(p, below, spec, ys, t.text, below.area.max.x + 1);
  if (marked && worst < ys.size() && std::isfinite(ys[worst]))
    p.circle({x, static_cast<float>(below.y.pixel(ys[worst]))}, t.px(5), t.text);
}

void paint_draw_curve(const Painter& p, const DrawCurveSpec& spec, const DrawCurveLayout& layout, const DrawnLine& line,
                      std::string_view hint) {
  const Theme& t = theme();
  const PlotFrame& f = layout.frame;
  paint_veil(p, f.area);
  paint_curve_frame(p, f, spec, line.reach() > 0 ? layout.value_tag : Box{}, layout.place_tag);
  if (const Box& rest = layout.still_to_draw; !rest.empty()) {
    p.rect(rest.min, rest.max, with_alpha(t.accent, 0.10f));
    const float y = (rest.min.y + rest.max.y) / 2, tip = rest.max.x - t.px(12);
    constexpr std::string_view words = "still to draw";
    const float half = body_width_px(words) / 2 + t.px(10), middle = (rest.min.x + rest.max.x) / 2;
    if (rest.width() > 2 * half + t.px(60)) {
      p.dashed_line({rest.min.x + t.px(8), y}, {middle - half, y}, t.accent, t.px(1.5f), t.px(4));
      p.dashed_line({middle + half, y}, {tip, y}, t.accent, t.px(1.5f), t.px(4));
      p.text({middle, y - t.type(Type::small) * 0.6f}, words, t.text, Type::small, Font::sans, Align::center);
    }
    if (rest.width() > t.px(24)) {
      const ImVec2 head[] = {{tip - t.px(6), y - t.px(5)}, {tip, y}, {tip - t.px(6), y + t.px(5)}};
      p.polyline(head, t.accent, t.px(1.5f));
    }
  }
  paint_given(p, f, spec, {.floor = layout.still_to_draw.empty() ? HUGE_VALF : layout.still_to_draw.min.y});
  paint_mine(p, f, spec, line.values());
  const ImVec2 pen = layout.pen;
  if (line.reach() > 0) {
    p.dashed_line({f.area.min.x, pen.y}, pen, t.accent, t.px(1.5f), t.px(4));
    p.dashed_line(pen, {pen.x, f.area.max.y}, t.accent, t.px(1.5f), t.px(4));
    paint_tag(p, layout.value_tag, axis_value(spec.y, line.values()[line.cursor()], 3));
    if (spec.x.categories.empty()) paint_tag(p, layout.place_tag, axis_value(spec.x, spec.xs[line.cursor()], 3));
  }
  p.circle(pen, t.px(8), t.text);
  p.circle(pen, t.px(6), t.accent);
  if (hint.empty()) return;
  const float width = body_width_px(hint) + t.px(20);
  const bool left = pen.x + t.px(26) + width > f.area.max.x;
  const ImVec2 at{left ? pen.x - t.px(20) - width : pen.x + t.px(20),
                  std::clamp(pen.y + t.px(8), f.area.min.y + t.px(4), layout.frame.area.max.y - t.px(64))};
  p.rect(at, {at.x + width, at.y + t.type(Type::small) + t.px(12)}, t.panel, t.px(5));
  p.text({at.x + t.px(10), at.y + t.px(5)}, hint, t.text, Type::small);
}

void paint_revealed_curve(const Painter& p, const DrawCurveSpec& spec, const DrawCurveLayout& layout,
                          std::span<const double> drawn, std::span<const double> computed, const RevealText& text,
                          double progress, RevealView& view) {
  const Theme& t = theme();
  const PlotFrame& f = layout.frame;
  const Box& a = f.area;
  const float up_to = a.min.x + static_cast<float>(progress) * (a.width() + 1);
  paint_curve_frame(p, f, spec, {}, {});
  paint_given(p, f, spec, {.drawn = drawn, .computed = computed});
  paint_gap(p, f, spec, drawn, computed, up_to);
  paint_mine(p, f, spec, drawn);
  stretches(f, spec.xs, computed, up_to, [&](std::span<const ImVec2> piece) { p.polyline(piece, t.text, t.px(4)); });
  paint_dots(p, f, spec, computed, t.text, up_to);
  if (progress < 1) return;
  const bool guessed = !drawn.empty();
  constexpr std::string_view mine = "yours", theirs = "computed";
  const float lines_px = t.type(Type::small) * 1.4f;
  const WrappedLines wrapped = wrap_lines(text.explanation, std::min(t.px(380), a.width() * 0.5f), body_width_px);
  const float heading_width = text_size(text.heading, Type::body, Font::bold).x;
  const float heading_px = text.heading.empty() ? 0 : t.type(Type::body) * 1.5f;
  const RevealSizes sizes{.card = card_size(text),
                          .explanation = {std::max(wrapped.width, heading_width) + t.px(8),
                                          heading_px + lines_px * static_cast<float>(wrapped.count) + t.px(6)},
                          .yours = text_size(mine, Type::body, Font::bold),
                          .computed = text_size(theirs, Type::body, Font::bold)};
  const auto same = [](ImVec2 l, ImVec2 r) { return l.x == r.x && l.y == r.y; };
  if (view.area.empty() || !same(view.area.min, a.min) || !same(view.area.max, a.max)) {
    view.places = place_reveal(layout, spec, drawn, computed, guessed ? text.worst : spec.xs.size(), sizes, view.room);
    view.area = a;
  }
  const RevealPlaces& places = view.places;
  if (guessed && text.worst < drawn.size() && std::isfinite(computed[text.worst])) {
    const ImVec2 from = pixel_at(f, spec.xs[text.worst], drawn[text.worst]),
                 to = pixel_at(f, spec.xs[text.worst], computed[text.worst]);
    p.line(from, to, t.text, t.px(1.5f));
    p.circle(from, t.px(7), t.text);
    p.circle(from, t.px(5), t.accent);
    p.circle(to, t.px(6), t.text);
  }
  if (places.explanation) {
    ImVec2 at{places.explanation->min.x + t.px(4), places.explanation->min.y + t.px(3)};
    p.text(at, text.heading, t.text, Type::body, Font::bold);
    at.y += heading_px;
    for (std::size_t i = 0; i < wrapped.count; ++i, at.y += lines_px) p.text(at, wrapped.lines[i], t.text, Type::small);
  }
  if (guessed && places.card) paint_card(p, *places.card, text);
  if (guessed && places.yours) p.text(places.yours->min, mine, t.accent, Type::body, Font::bold);
  if (places.computed) p.text(places.computed->min, theirs, t.text, Type::body, Font::bold);
}

}  // namespace widgets
