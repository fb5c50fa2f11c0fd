#pragma once
#include <imgui.h>

#include <string_view>

#include "widgets/parts.h"

namespace chapters::precision {

/// The name of a picture, and a quieter line below it where there is something to add.
inline void heading(std::string_view title, std::string_view more, float width) {
  const auto& t = widgets::theme();
  const auto painter = widgets::Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  widgets::fit_text(painter, at, title, width, t.text, widgets::Type::body, widgets::Font::bold);
  float height = t.type(widgets::Type::body) + t.px(5);
  if (!more.empty()) {
    widgets::fit_text(painter, {at.x, at.y + height}, more, width, t.muted, widgets::Type::small);
    height += t.type(widgets::Type::small) + t.px(6);
  }
  ImGui::Dummy({width, height});
}

}  // namespace chapters::precision
