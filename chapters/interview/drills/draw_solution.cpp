#include <algorithm>
#include <cmath>

#include "chapters/interview/drills/draw_parts.h"
#include "widgets/base/parts.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/plot/axis.h"

/// What stands on the card after an answer: the verdict, the answer on a ruler, and the steps.
namespace chapters::interview::drills {
namespace {

using widgets::Align;
using widgets::Font;
using widgets::Painter;
using widgets::theme;
using widgets::Type;

constexpr float ruler_px = 74;

/// The answer in the middle of what counts as right, your mark, and the slips that people make, on a log axis.
void paint_ruler(const Painter& p, ImVec2 at, float width, const Ruler& r, bool right) {
  const auto& t = theme();
  const float y = at.y + t.px(34), half = t.px(6);
  const widgets::AxisMap map(widgets::AxisKind::log10, {r.lo, r.hi}, static_cast<double>(at.x),
                             static_cast<double>(at.x + width));
  const auto px = [&](double v) { return std::clamp(static_cast<float>(map.pixel(v)), at.x, at.x + width); };
  p.line({at.x, y}, {at.x + width, y}, t.line, t.px(2));
  // Ticks at 1, 2 and 5 times each power of ten.
  for (double decade = std::pow(10.0, std::floor(std::log10(r.lo))); decade <= r.hi; decade *= 10)
    for (const double step : {1.0, 2.0, 5.0})
      if (const double v = step * decade; v >= r.lo && v <= r.hi)
        p.line({px(v), y - t.px(step == 1.0 ? 5 : 3)}, {px(v), y + t.px(step == 1.0 ? 5 : 3)}, t.muted, 1);
  const float from = px(r.from), to = std::max(px(r.to), px(r.from) + t.px(3));
  p.rect({from, y - half}, {to, y + half}, widgets::with_alpha(t.good, 0.35f), t.px(3));
  p.line({px(r.answer), y - t.px(11)}, {px(r.answer), y + t.px(11)}, t.good, t.px(2.5f));
  for (const Ruler::Slip& slip : r.slips) p.ring({px(slip.value), y}, t.px(4), t.warning, t.px(1.5f));
  const float mine = px(r.said);
  p.circle({mine, y}, t.px(6), t.background);
  p.circle({mine, y}, t.px(5), t.accent);
  // The answer is named above the line, what was said below, each within the ruler.
  const auto name = [&](float x, float top, std::string_view before, std::string_view value, ImU32 ink) {
    widgets::Line line;
    line.add(before).add(value);
    const float wide = widgets::text_size(line.view(), Type::small).x;
    if (wide > width) return;
    p.text({std::clamp(x - wide / 2, at.x, at.x + width - wide), top}, line.view(), ink, Type::small);
  };
  name(px(r.answer), at.y, "answer ", r.answer_text, t.good);
  name(mine, y + t.px(15), "you said ", r.said_text, right ? t.good : t.accent);
}

}  // namespace

float paint_solution(const Painter& p, ImVec2 at, float width, float room, const Shown& s, const Ruler& ruler,
                     bool paint, ImVec2& link_at) {
  const auto& t = theme();
  const float pad = t.px(16), inner = width - 2 * pad;
  float y = pad * 0.8f;
  const ImVec2 text_at{at.x + pad, at.y};
  if (s.mark) {
    const ImU32 colour = s.mark->right ? t.good : s.mark->late ? t.warning : t.bad;
    const std::string_view sign = s.mark->right ? "\xE2\x9C\x93" : "\xC3\x97";
    if (paint) p.text({text_at.x, at.y + y}, sign, colour, Type::body, Font::bold);
    y += widgets::wrapped_text(p, {text_at.x + t.px(22), at.y + y}, s.mark->verdict, inner - t.px(22), colour,
                               {.type = Type::body, .font = Font::bold, .paint = paint}) +
         t.px(8);
  }
  float steps = 0;
  for (const auto& step : s.card.steps)
    steps += widgets::wrapped_text(p, {}, step, inner, t.text, {.font = Font::mono, .paint = false}) + t.px(3);
  if (s.mark && ruler.drawn && y + t.px(ruler_px) + steps + t.px(30) <= room) {
    if (paint) paint_ruler(p, {text_at.x + t.px(4), at.y + y}, inner - t.px(8), ruler, s.mark->right);
    y += t.px(ruler_px);
  }
  for (const auto& step : s.card.steps) {
    const float high = widgets::wrapped_text(p, {}, step, inner, t.text, {.font = Font::mono, .paint = false});
    if (y + high + t.px(26) > room) break;
    if (paint) widgets::wrapped_text(p, {text_at.x, at.y + y}, step, inner, t.text, {.font = Font::mono});
    y += high + t.px(3);
  }
  link_at = {at.x + width - pad, at.y + y};
  return y + t.px(28);
}

}  // namespace chapters::interview::drills
