#include <algorithm>
#include <array>

#include "chapters/interview/drills/draw_parts.h"
#include "widgets/base/parts.h"
#include "widgets/base/wrapped_text.h"

/// What a question leads to, shown before the clock starts.
namespace chapters::interview::drills {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::theme, widgets::Type;

/// A ruler without numbers: nothing was answered yet.
void paint_form(const Painter& p, ImVec2 at, float width) {
  const auto& t = theme();
  const float y = at.y + t.px(34), answer = at.x + width * 0.5f, said = at.x + width * 0.72f,
              slip = at.x + width * 0.24f;
  p.line({at.x, y}, {at.x + width, y}, t.line, t.px(2));
  p.rect({at.x + width * 0.43f, y - t.px(6)}, {at.x + width * 0.57f, y + t.px(6)}, widgets::with_alpha(t.good, 0.25f),
         t.px(3));
  p.dashed_line({answer, y - t.px(11)}, {answer, y + t.px(11)}, t.good, t.px(2), t.px(3));
  p.ring({said, y}, t.px(6), t.accent, t.px(1.5f));
  p.ring({slip, y}, t.px(4), t.warning, t.px(1.5f));
  const float room = width * 0.22f;
  p.text({answer, at.y}, "the answer", t.good, Type::small, Font::sans, Align::center);
  const std::array<std::pair<float, std::string_view>, 3> under{
      {{slip, "a known slip"}, {answer, "counts as right"}, {said, "what you said"}}};
  for (const auto& [x, words] : under)
    widgets::fit_text(p, {x, y + t.px(15)}, words, room, t.muted, Type::small, Font::sans, Align::center);
}

}  // namespace

void paint_promise(const Painter& p, ImVec2 at, float width, float bottom, const Picture& picture) {
  const auto& t = theme();
  const float pad = t.px(16), inner = width - 2 * pad;
  const float words = widgets::wrapped_text(p, {}, picture.promise, inner, t.muted, {.paint = false});
  const float needed = t.px(ruler_px) + 2 * pad;
  if (at.y + needed > bottom) return;
  const bool worded = at.y + needed + words + t.px(8) <= bottom;
  const float high = needed + (worded ? words + t.px(8) : 0);
  p.rect(at, {at.x + width, at.y + high}, t.card, t.px(8));
  float y = at.y + pad;
  if (worded) y += widgets::wrapped_text(p, {at.x + pad, y}, picture.promise, inner, t.muted) + t.px(8);
  if (picture.last.drawn)
    paint_ruler(p, {at.x + pad, y}, inner, picture.last, picture.last_right);
  else
    paint_form(p, {at.x + pad, y}, inner);
}

}  // namespace chapters::interview::drills
