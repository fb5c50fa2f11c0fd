#include "chapters/distributed/planner/lab.h"
#include "widgets/base/parts.h"

/// What this does not know, under the table of plans.
namespace chapters::distributed::planner {

using widgets::Type;

float unknown_height(const Picture& picture) {
  const auto& t = widgets::theme();
  return static_cast<float>(picture.unknown.size() + 1) * (t.type(Type::small) + t.px(4)) + t.px(8);
}

void draw_unknown(const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const auto painter = widgets::Painter::window();
  const float line = t.type(Type::small) + t.px(4);
  float y = at.y + t.px(6);
  painter.line({at.x, at.y}, {at.x + size.x, at.y}, t.line, t.px(1));
  widgets::fit_text(painter, {at.x, y}, "What this does not know", size.x, t.text, Type::small, widgets::Font::bold);
  for (const std::string& words : picture.unknown) {
    y += line;
    widgets::fit_text(painter, {at.x, y}, words, size.x, t.muted, Type::small);
  }
  ImGui::Dummy(size);
}

}  // namespace chapters::distributed::planner
