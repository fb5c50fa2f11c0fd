#include "chapters/inference/state_space/hero_parts.h"

#include <algorithm>
#include <array>

#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/theme.h"

namespace chapters::inference::state_space {

using widgets::Font, widgets::Painter, widgets::Type;

void paint_words(const Painter& p, float room, float x, float top, float height, std::string_view first,
                 std::string_view second, ImU32 colour) {
  const auto& t = widgets::theme();
  const float line = t.type(Type::small) + t.px(2), both = second.empty() ? line : 2 * line;
  const float y = top + std::max(0.0f, (height - both) / 2);
  p.text_fit({x, y}, first, room, colour, Type::small, Font::bold);
  if (!second.empty() && height > 1.9f * line) p.text_fit({x, y + line}, second, room, t.muted, Type::small);
}

HandleState handle_at(const char* id, ImVec2 min, ImVec2 extent, ImGuiMouseCursor cursor) {
  ImGui::SetCursorScreenPos(min);
  widgets::press_area(id, extent);
  HandleState h;
  h.held = ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left);
  h.hot = h.held || ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  if (ImGui::IsItemFocused()) h.steps = widgets::play_keys().steps;
  if (h.hot) ImGui::SetMouseCursor(cursor);
  return h;
}

void paint_handle(const Painter& p, ImVec2 at, bool hot, bool across) {
  const auto& t = widgets::theme();
  p.circle(at, t.px(hot ? 11.0f : 9.0f), widgets::with_alpha(t.accent, 0.3f));
  p.circle(at, t.px(6), t.accent);
  p.ring(at, t.px(6), t.text, t.px(1.5f));
  for (const float way : {-1.0f, 1.0f}) {
    const float a = way * t.px(10), b = way * t.px(14), c = t.px(4);
    const std::array<ImVec2, 3> tip =
        across ? std::array<ImVec2, 3>{{{at.x + a, at.y - c}, {at.x + b, at.y}, {at.x + a, at.y + c}}}
               : std::array<ImVec2, 3>{{{at.x - c, at.y + a}, {at.x, at.y + b}, {at.x + c, at.y + a}}};
    p.polyline(tip, t.accent, t.px(1.5f));
  }
}

}  // namespace chapters::inference::state_space
