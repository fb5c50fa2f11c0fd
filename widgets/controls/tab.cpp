#include "widgets/controls/tab.h"

#include <imgui_internal.h>

#include <string_view>

#include "widgets/base/painter.h"
#include "widgets/base/press_area.h"

namespace widgets {

bool tab(const char* label, bool selected, bool underline) {
  const Theme& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Font font = selected && !underline ? Font::bold : Font::sans;
  const std::string_view words(label, static_cast<std::size_t>(ImGui::FindRenderedTextEnd(label) - label));
  const ImVec2 size = text_size(words, Type::body, font);
  const ImVec2 pad = underline ? ImVec2{0, t.px(8)} : ImVec2{t.px(12), t.px(8)};
  const ImVec2 box{size.x + 2 * pad.x, size.y + 2 * pad.y};
  const bool pressed = press_area(label, box);
  const bool hovered = ImGui::IsItemHovered();
  const Painter p = Painter::window();
  if (!underline && (selected || hovered))
    p.rect(at, {at.x + box.x, at.y + box.y}, selected ? t.card : with_alpha(t.card, 0.5f), t.px(7));
  p.text({at.x + pad.x, at.y + pad.y}, words, selected || hovered ? t.text : t.muted, Type::body, font);
  if (underline && selected) p.rect({at.x, at.y + box.y - t.px(2)}, {at.x + box.x, at.y + box.y}, t.accent);
  if (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible)
    p.frame(at, {at.x + box.x, at.y + box.y}, t.accent, t.px(2), t.px(7));
  return pressed;
}

}  // namespace widgets
