#include <algorithm>
#include <array>

#include "chapters/fleet/scaling_tax/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/theme.h"

/// Staircases of other runs next to yours, all on one axis.
namespace chapters::fleet::scaling_tax {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

/// A run in a column of its own; names of treads stand under its last one.
void paint_other(const Painter& p, const OtherStairs& stairs, ImVec2 min, ImVec2 max) {
  const auto& t = widgets::theme();
  const float line = t.type(Type::small) + t.px(3), room = max.x - min.x;
  p.text_fit(min, stairs.name, room, stairs.yours ? t.accent : t.text, Type::small, Font::bold);
  p.text_fit({min.x, min.y + line}, stairs.note, room, t.muted, Type::small);
  const ImVec2 from{min.x, min.y + 2 * line + t.px(2)};
  const float names = static_cast<float>(stairs.steps.size()) * line + t.px(4);
  const bool named = max.y - from.y - names > t.px(70);
  const float foot = max.y - (named ? names : 0);
  const float column = room / static_cast<float>(stairs.steps.size());
  const ImU32 edge = stairs.yours ? t.accent : t.text, fill = widgets::with_alpha(edge, 0.12f);
  const auto y_of = [&](double mfu) { return foot - static_cast<float>(mfu / 100) * (foot - from.y); };
  p.line({min.x, foot}, {max.x, foot}, t.line, t.px(1));
  float before = y_of(100);
  for (std::size_t i = 0; i < stairs.steps.size(); ++i) {
    const OtherStairs::Step& s = stairs.steps[i];
    const float left = min.x + static_cast<float>(i) * column, right = left + column, y = y_of(s.mfu);
    p.rect({left, y}, {right, foot}, fill);
    if (y > before) {
      p.rect({left, before}, {right, y}, widgets::with_alpha(t.muted, 0.15f));
      widgets::hatch(p, {{left, before}, {right, y}}, widgets::with_alpha(t.muted, 0.6f), t.px(6));
    }
    p.line({left, before}, {left, y}, edge, t.px(1.5f));
    if (s.at_least)
      p.dashed_line({left, y}, {right, y}, edge, t.px(1.5f));
    else
      p.line({left, y}, {right, y}, edge, t.px(1.5f));
    if (!named || widgets::text_size(s.text, Type::small, Font::mono).x < column)
      p.text_fit({(left + right) / 2, y + t.px(3)}, s.text, column - t.px(2), t.text, Type::small, Font::mono,
                 Align::center);
    before = y;
    if (!named) continue;
    const float at = foot + t.px(4) + static_cast<float>(i) * line;
    p.text_fit({min.x, at}, s.name, room - t.px(44), t.muted, Type::small);
    p.text_fit({max.x, at}, s.text, t.px(42), t.muted, Type::small, Font::mono, Align::right);
  }
}

}  // namespace

void draw_others(const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  if (picture.others.empty() || widgets::veiled()) {
    ImGui::Dummy(size);
    return;
  }
  const Painter p = Painter::window();
  const float gap = t.px(18), least = t.px(150);
  // What has no room stays out, the last first.
  const auto fit = static_cast<std::size_t>(std::max(1.0f, (size.x + gap) / (least + gap)));
  const std::size_t count = std::min(fit, picture.others.size());
  const float width = (size.x - gap * static_cast<float>(count - 1)) / static_cast<float>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const float x = corner.x + static_cast<float>(i) * (width + gap);
    paint_other(p, picture.others[i], {x, corner.y}, {x + width, corner.y + size.y});
  }
  ImGui::Dummy(size);
}

}  // namespace chapters::fleet::scaling_tax
