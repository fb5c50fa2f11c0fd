#include <algorithm>

#include "chapters/interview/drills/draw_parts.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/controls/button.h"

namespace chapters::interview::drills {

using widgets::Painter, widgets::theme, widgets::Type;

bool draw_round_end(const Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = std::min(size.x, t.px(760)), pad = std::min(t.px(28), width * 0.05f), box = t.px(40);
  const ImVec2 corner{at.x + (size.x - width) / 2, at.y};
  p.rect(corner, {corner.x + width, corner.y + size.y}, t.panel, t.px(12));
  p.frame(corner, {corner.x + width, corner.y + size.y}, t.line, 1, t.px(12));
  const ImVec2 words{corner.x + pad, corner.y + pad};
  const float inner = width - 2 * pad, bottom = corner.y + size.y - pad - box - t.px(12);
  if (picture.version == view.answered_version) return false;  // the last answer is not counted yet
  float y = words.y;
  p.text({words.x, y}, "End of the round of " + std::to_string(in.questions), t.muted, Type::small);
  y += t.px(26);
  y += widgets::wrapped_text(p, {words.x, y}, picture.round_end.title, inner, t.text, {.type = Type::title}) + t.px(12);
  const auto line = [&](std::string_view text, ImU32 color) {
    const float high = widgets::wrapped_text(p, {}, text, inner, color, {.paint = false});
    if (y + high > bottom) return;
    widgets::wrapped_text(p, {words.x, y}, text, inner, color);
    y += high + t.px(10);
  };
  if (view.furthest.miss > 0) line("Furthest off: " + view.furthest.words, t.text);
  for (const std::string& text : picture.round_end.lines) line(text, t.muted);
  ImGui::SetCursorScreenPos({words.x, std::min(y + t.px(6), bottom + t.px(12))});
  const bool next = widgets::button("Next round", true, {t.px(150), box});
  if (!view.furthest.link.empty()) {
    ImGui::SameLine(0, t.px(12));
    if (widgets::button("Open it in the lab", false, {t.px(190), box})) view.requests.open_link = view.furthest.link;
  }
  return next || (ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows) && ImGui::IsKeyPressed(ImGuiKey_Enter, false));
}

}  // namespace chapters::interview::drills
