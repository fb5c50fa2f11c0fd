#include "widgets/base/heading.h"

#include "widgets/base/parts.h"

namespace widgets {

HeadingLayout layout_heading(float title_px, float more_px, float width, HeadingMore place) {
  const Theme& t = theme();
  const float line = t.type(Type::body) + t.px(5), behind = title_px + t.px(12);
  if (!(more_px > 0)) return {{0, line}, line};
  // Smaller type stands on the title's baseline.
  if (place == HeadingMore::beside && behind + more_px <= width)
    return {{behind, t.type(Type::body) - t.type(Type::small)}, line};
  return {{0, line}, line + t.type(Type::small) + t.px(6)};
}

void heading(std::string_view title, std::string_view more, float width, HeadingMore place) {
  const Theme& t = theme();
  const Painter painter = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const auto width_of = [](std::string_view s, Font font, Type type) {
    return s.empty() ? 0.0f : text_size(s, type, font).x;
  };
  const HeadingLayout l =
      layout_heading(width_of(title, Font::bold, Type::body), width_of(more, Font::sans, Type::small), width, place);
  fit_text(painter, at, title, width, t.text, Type::body, Font::bold);
  fit_text(painter, {at.x + l.more_at.x, at.y + l.more_at.y}, more, width - l.more_at.x, t.muted, Type::small);
  ImGui::Dummy({width, l.height});
}

}  // namespace widgets
