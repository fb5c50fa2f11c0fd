#include <algorithm>
#include <cmath>

#include "chapters/interview/drills/draw_parts.h"
#include "widgets/base/parts.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/plot/axis.h"

/// What stands on the card after an answer: the verdict, the answer on a ruler, and the steps.
namespace chapters::interview::drills {

using widgets::Align, widgets::Font, widgets::Painter, widgets::theme, widgets::Type;

void paint_ruler(const Painter& p, ImVec2 at, float width, const Ruler& r, bool right) {
  const auto& t = theme();
  const float y = at.y + t.px(34), half = t.px(6);
  const widgets::AxisMap map(widgets::AxisKind::log10, {r.lo, r.hi}, static_cast<double>(at.x),
                             static_cast<double>(at.x + width));
  const auto px = [&](double v) { return std::clamp(static_cast<float>(map.pixel(v)), at.x, at.x + width); };
  p.line({at.x, y}, {at.x + width, y}, t.line, t.px(2));
  // What was said is named under the line; ticks are, where they keep clear of it and of each other.
  widgets::Line said;
  said.add("you said ").add(r.said_text);
  const float said_wide = widgets::text_size(said.view(), Type::small).x,
              said_left = std::clamp(px(r.said) - said_wide / 2, at.x, at.x + std::max(width - said_wide, 0.0f));
  float taken = at.x;
  for (const Ruler::Tick& tick : r.ticks) {
    const float x = px(tick.value), wide = widgets::text_size(tick.text, Type::small).x, left = x - wide / 2;
    p.line({x, y - t.px(tick.decade ? 6 : 4)}, {x, y + t.px(tick.decade ? 6 : 4)}, t.muted, 1);
    const bool clear = left > said_left + said_wide + t.px(10) || left + wide < said_left - t.px(10);
    if (!clear || left < taken || left + wide > at.x + width) continue;
    p.text({left, y + t.px(15)}, tick.text, t.muted, Type::small);
    taken = left + wide + t.px(14);
  }
  const float from = px(r.from), to = std::max(px(r.to), px(r.from) + t.px(3));
  p.rect({from, y - half}, {to, y + half}, widgets::with_alpha(t.good, 0.35f), t.px(3));
  p.line({px(r.answer), y - t.px(11)}, {px(r.answer), y + t.px(11)}, t.good, t.px(2.5f));
  for (const Ruler::Slip& slip : r.slips) p.ring({px(slip.value), y}, t.px(4), t.warning, t.px(1.5f));
  const float mine = px(r.said);
  p.circle({mine, y}, t.px(6), t.background);
  p.circle({mine, y}, t.px(5), t.accent);
  widgets::Line answer;
  answer.add("answer ").add(r.answer_text);
  const float wide = widgets::text_size(answer.view(), Type::small).x;
  if (wide <= width)
    p.text({std::clamp(px(r.answer) - wide / 2, at.x, at.x + width - wide), at.y}, answer.view(), t.good, Type::small);
  if (said_wide <= width) p.text({said_left, y + t.px(15)}, said.view(), right ? t.good : t.accent, Type::small);
}

float paint_solution(const Painter& p, ImVec2 at, float width, float room, const Shown& s, const Ruler& ruler,
                     bool paint, ImVec2& link_at) {
  const auto& t = theme();
  const float pad = t.px(16), inner = width - 2 * pad;
  float y = pad * 0.8f;
  const ImVec2 text_at{at.x + pad, at.y};
  if (s.mark) {
    const ImU32 colour = s.mark->right ? t.good : s.mark->late || s.mark->near ? t.warning : t.bad;
    const std::string_view sign = s.mark->right ? "\xE2\x9C\x93" : s.mark->near ? "\xE2\x89\x88" : "\xC3\x97";
    if (paint) p.text({text_at.x, at.y + y}, sign, colour, Type::body, Font::bold);
    y += widgets::wrapped_text(p, {text_at.x + t.px(22), at.y + y}, s.mark->verdict, inner - t.px(22), colour,
                               {.type = Type::body, .font = Font::bold, .paint = paint}) +
         t.px(8);
  }
  if (s.mark && ruler.drawn && y + t.px(ruler_px) + t.px(26) <= room) {
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
