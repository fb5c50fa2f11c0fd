#include "chapters/interview/shared/word_link.h"

#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/theme.h"

namespace chapters::interview {

bool word_link(const widgets::Painter& p, const char* id, std::string_view words, ImVec2 at) {
  const auto& t = widgets::theme();
  const ImVec2 size = widgets::text_size(words, widgets::Type::small);
  ImGui::SetCursorScreenPos(at);
  const bool pressed = widgets::press_area(id, {size.x, size.y + t.px(4)});
  p.text(at, words, t.accent, widgets::Type::small);
  if (ImGui::IsItemHovered() || ImGui::IsItemFocused())
    p.line({at.x, at.y + size.y}, {at.x + size.x, at.y + size.y}, t.accent);
  return pressed;
}

bool right_link(const widgets::Painter& p, const char* id, std::string_view words, ImVec2 end) {
  return word_link(p, id, words, {end.x - widgets::text_size(words, widgets::Type::small).x, end.y});
}

}  // namespace chapters::interview
