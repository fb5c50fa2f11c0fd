#include "chapters/interview/shared/paper.h"

#include <algorithm>
#include <cmath>

#include "widgets/number/number.h"

namespace chapters::interview {

using widgets::Font;
using widgets::theme;
using widgets::Type;

ImU32 share_colour(double share, double goal) {
  const auto& t = theme();
  return share >= goal ? t.good : share >= 0.5 * goal ? t.warning : t.bad;
}

void share_bar(const widgets::Painter& p, ImVec2 at, float width, std::string_view label, double share, double mark,
               bool known) {
  const auto& t = theme();
  const float height = t.px(5), top = at.y + t.px(21);
  const auto figure = widgets::format(std::round(share * 100), "", 3);
  const std::string_view shown = known ? figure.view() : std::string_view("\xE2\x80\x94");
  const float taken = widgets::text_size(shown, Type::small, Font::mono).x;
  p.text_fit(at, label, width - taken - t.px(8), t.text, Type::small);
  p.text({at.x + width, at.y}, shown, known ? t.text : t.muted, Type::small, Font::mono, widgets::Align::right);
  p.rect({at.x, top}, {at.x + width, top + height}, t.line, height / 2);
  const float filled = width * static_cast<float>(std::clamp(share, 0.0, 1.0));
  if (filled >= height)
    p.rect({at.x, top}, {at.x + filled, top + height}, share_colour(share, mark > 0 ? mark : 0.8), height / 2);
  if (mark >= 0) {
    const float x = at.x + width * static_cast<float>(std::min(mark, 1.0));
    p.line({x, top - t.px(3)}, {x, top + height + t.px(3)}, t.text, t.px(1.5f));
  }
}

}  // namespace chapters::interview
