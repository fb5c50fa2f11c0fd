#include <cstdio>

#include "app/shell/open/open_panel.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"

namespace app {

float draw_opening(Shell& shell, ImVec2 corner) {
  FileOpening& opening = shell.workspace.opening;
  shell.opening_frames = opening.busy() ? shell.opening_frames + 1 : 0;
  if (opening.busy()) shell.animating = true;
  constexpr int blink = 8;
  if (shell.opening_frames <= blink) return 0;
  const auto& t = theme();
  const ImVec2 pad{t.px(14), t.px(8)}, size{std::min(t.px(420), corner.x - t.px(16)), t.px(48)};
  ImGui::SetNextWindowPos(corner, ImGuiCond_Always, {1, 1});
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, t.card);
  ImGui::PushStyleColor(ImGuiCol_Border, t.accent);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, t.px(1));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, t.px(6));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, pad);
  if (ImGui::Begin("opening", nullptr,
                   ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoMove |
                       ImGuiWindowFlags_NoFocusOnAppearing)) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float stop = widgets::button_size("Stop").x, room = size.x - 2 * pad.x - stop - t.px(14);
    char percent[16];
    std::snprintf(percent, sizeof percent, "%.0f %%", 100 * opening.fraction());
    const Painter p = Painter::window();
    const float opens = p.text(at, "Opening ", t.muted, Type::small);
    p.text_fit({at.x + opens, at.y}, opening.name(), room - opens - t.px(48), t.text, Type::small);
    p.text({at.x + room, at.y}, percent, t.muted, Type::small, Font::mono, widgets::Align::right);
    ui::bar({at.x, at.y + t.px(24)}, room, opening.fraction(), t.accent);
    ImGui::SetCursorScreenPos({at.x + room + t.px(14), at.y});
    if (ui::button("Stop")) opening.stop();
  }
  ImGui::End();
  ImGui::PopStyleVar(3);
  ImGui::PopStyleColor(2);
  return size.y + t.px(6);
}

}  // namespace app
