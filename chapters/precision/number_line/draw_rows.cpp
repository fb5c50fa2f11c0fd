#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/precision/number_line/lab.h"

namespace chapters::precision::number_line {
namespace {

using models::LineAxis, widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

ImU32 value_colour(bool subnormal) { return colour_of(subnormal ? Fate::subnormal : Fate::normal); }

/// The part of [from, to] that is on screen, as a rectangle; nothing when it is empty.
bool on_screen(const Frame& frame, double from, double to, float& x0, float& x1) {
  const auto clamped = [&](double c) {
    return std::isnan(c) ? frame.left : frame.x(std::clamp(c, frame.stretch.lo, frame.stretch.hi));
  };
  x0 = clamped(from);
  x1 = clamped(to);
  return x1 > x0 + 0.5f;
}

void zone(const Painter& p, const Frame& frame, double from, double to, float top, float bottom, ImU32 colour,
          std::string_view label, bool at_right) {
  const auto& t = widgets::theme();
  float x0 = 0, x1 = 0;
  if (!on_screen(frame, from, to, x0, x1)) return;
  p.rect({x0, top}, {x1, bottom}, widgets::with_alpha(colour, 0.26f), t.px(2));
  if (widgets::text_size(label, Type::small).x + t.px(14) < x1 - x0 && bottom - top >= t.type(Type::small))
    p.text({at_right ? x1 - t.px(7) : x0 + t.px(7), (top + bottom - t.type(Type::small)) / 2 - t.px(1)}, label, t.text,
           Type::small, Font::sans, at_right ? Align::right : Align::left);
}

void paint_zones(const Painter& p, const Row& r, const RowPicture& picture, const Frame& frame, float top,
                 float bottom) {
  const ImU32 lost = colour_of(Fate::zero), over = colour_of(Fate::overflow);
  const double edge = r.limits.overflow_threshold, small = r.limits.underflow_threshold;
  if (frame.axis == LineAxis::log2) {
    if (small > 0) zone(p, frame, -HUGE_VAL, std::log2(small), top, bottom, lost, picture.underflow_text, false);
    zone(p, frame, std::log2(edge), HUGE_VAL, top, bottom, over, picture.overflow_text, true);
  } else if (frame.axis == LineAxis::linear) {
    zone(p, frame, -small, small, top, bottom, lost, {}, false);
    zone(p, frame, edge, HUGE_VAL, top, bottom, over, picture.overflow_text, true);
    zone(p, frame, -HUGE_VAL, r.limits.lowest < 0 ? -edge : 0, top, bottom, over, {}, false);
  }
}

/// A text on a ground of its own, `centre` in the middle of a row.
void plate(const Painter& p, float centre, float top, float bottom, std::string_view text) {
  const auto& t = widgets::theme();
  const float width = widgets::text_size(text, Type::small).x, y = (top + bottom - t.type(Type::small)) / 2 - t.px(1);
  p.rect({centre - width / 2 - t.px(7), std::max(top, y - t.px(2))},
         {centre + width / 2 + t.px(7), std::min(bottom, y + t.type(Type::small) + t.px(4))},
         widgets::with_alpha(t.background, 0.92f), t.px(8));
  p.text({centre, y}, text, t.text, Type::small, Font::sans, Align::center);
}

/// Where a row's values go on beyond what is shown, it fades out and says how far they go. Returns the width that the
/// words at one side take, 0 where there are none.
float fading_end(const Painter& p, const Frame& frame, bool right, std::string_view words, float top, float bottom) {
  const auto& t = widgets::theme();
  const float fade = t.px(46), step = t.px(2), side = right ? frame.right : frame.left;
  for (float away = 0; away < fade; away += step) {
    const float x0 = right ? side - away - step : side + away;
    p.rect({x0, top}, {x0 + step, bottom}, widgets::with_alpha(t.background, 0.95f * (1 - away / fade)));
  }
  const float wide = widgets::text_size(words, Type::small).x + t.px(14);
  if (bottom - top < t.type(Type::small) + t.px(2)) return fade;
  plate(p, right ? side - wide / 2 : side + wide / 2, top, bottom, words);
  return std::max(wide, fade);
}

/// How many values share this stretch, where nothing else is written.
void caption(const Painter& p, const RowCache& c, const Frame& frame, float top, float bottom, float ends) {
  const auto& t = widgets::theme();
  const float width = widgets::text_size(c.count_text, Type::small).x;
  if (bottom - top < t.type(Type::small) + t.px(2)) return;
  std::size_t first = 0, last = c.counts.size();
  while (first < last && c.counts[first] < 0.5) ++first;
  while (last > first && c.counts[last - 1] < 0.5) --last;
  if (static_cast<float>(last - first) < width + t.px(60) + 2 * ends) return;
  plate(p, frame.left + static_cast<float>(first + last) / 2, top, bottom, c.count_text);
}

/// Values so near to each other that their labels take turns above and below a row of ticks.
void staggered(const Painter& p, const RowCache& c, const Frame& frame, float top, float height) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), tick_top = top + small + t.px(3),
              tick_bottom = top + height - small - t.px(3);
  std::array<float, 2> clear{frame.left, frame.left};
  for (std::size_t i = 0; i < c.values.size(); ++i) {
    const float x = frame.x(c.values[i].coordinate);
    const bool subnormal = c.subnormal[i] != 0;
    p.line({x, tick_top}, {x, tick_bottom}, value_colour(subnormal), t.px(1.6f));
    const std::string& label = c.short_labels[i];
    const float wide = widgets::text_size(label, Type::small, Font::mono).x;
    const float from = std::clamp(x - wide / 2, frame.left, std::max(frame.left, frame.right - wide));
    if (from < clear[i % 2]) continue;
    p.text({from, i % 2 == 0 ? top : tick_bottom + t.px(2)}, label, t.text, Type::small, Font::mono);
    clear[i % 2] = from + wide + t.px(5);
  }
}

}  // namespace

void paint_row(const Painter& p, const Row& r, const RowPicture& picture, const RowCache& c, const Frame& frame,
               float top, float height) {
  const auto& t = widgets::theme();
  const float bottom = top + height;
  p.rect({frame.left, top}, {frame.right, bottom}, t.card, t.px(2));
  paint_zones(p, r, picture, frame, top, bottom);
  if (c.values.empty() && c.total > 0) {  // So many share columns that brightness says how many.
    const std::size_t n = c.counts.size();
    for (std::size_t i = 0; i < n;) {
      std::size_t end = i + 1;
      while (end < n && c.levels[end] == c.levels[i]) ++end;
      const int level = c.levels[i] % subnormal_level;
      if (level > 0)
        p.rect({frame.left + static_cast<float>(i), top}, {frame.left + static_cast<float>(end), bottom},
               widgets::with_alpha(value_colour(c.levels[i] >= subnormal_level),
                                   0.35f + 0.065f * static_cast<float>(level)));
      i = end;
    }
    float ends = 0;
    if (frame.axis == LineAxis::log2 && picture.most_log2 > frame.stretch.hi + 0.5)
      ends = fading_end(p, frame, true, picture.above_text, top, bottom);
    if (frame.axis == LineAxis::log2 && picture.least_log2 < frame.stretch.lo - 0.5)
      ends = std::max(ends, fading_end(p, frame, false, picture.below_text, top, bottom));
    caption(p, c, frame, top, bottom, ends);
    return;
  }
  // They are few enough to stand alone: each has a line, and its value where the last label has ended.
  float clear_from = frame.left + t.px(2);
  // Labels stand only where they have room on the whole: a single one between crowded neighbours confuses.
  const float extent = c.values.size() < 2 ? frame.right - frame.left
                                           : frame.x(c.values.back().coordinate) - frame.x(c.values.front().coordinate);
  const float spaces = static_cast<float>(std::max<std::size_t>(c.values.size(), 2) - 1);
  const bool labelled = !c.labels.empty() && extent >= t.px(40) * spaces && height >= t.type(Type::small) + t.px(2);
  if (c.values.size() > 1 && !c.labels.empty() && extent >= t.px(14) * spaces && extent < t.px(130) * spaces &&
      height >= 2 * t.type(Type::small) + t.px(14)) {
    staggered(p, c, frame, top, height);
    return;
  }
  for (std::size_t i = 0; i < c.values.size(); ++i) {
    const models::LineValue& v = c.values[i];
    const float x = frame.x(v.coordinate);
    p.line({x, top}, {x, bottom}, value_colour(c.subnormal[i] != 0), t.px(c.values.size() > 120 ? 1.0f : 1.6f));
    if (!labelled || x < clear_from) continue;
    const float next =
                    std::min(i + 1 < c.values.size() ? frame.x(c.values[i + 1].coordinate) : frame.right, frame.right),
                room = next - x - t.px(7);
    const auto fits = [&](const std::string& s) { return widgets::text_size(s, Type::small, Font::mono).x <= room; };
    const std::string& label = fits(c.labels[i]) ? c.labels[i] : c.short_labels[i];
    if (!fits(label) || !fits(c.codes[i])) continue;
    const float wide = std::max(widgets::text_size(label, Type::small, Font::mono).x,
                                widgets::text_size(c.codes[i], Type::small, Font::mono).x);
    p.text({x + t.px(4), top + t.px(1)}, label, t.text, Type::small, Font::mono);
    // Zero stands on the ground of what is rounded to it.
    if (height >= t.px(32))
      p.text({x + t.px(4), top + t.px(16)}, c.codes[i], v.value == 0 ? t.text : t.muted, Type::small, Font::mono);
    clear_from = x + t.px(8) + wide;
  }
}

}  // namespace chapters::precision::number_line
