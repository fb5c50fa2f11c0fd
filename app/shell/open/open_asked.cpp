#include <algorithm>
#include <filesystem>

#include "app/scenario/sentences.h"
#include "app/shell/open/open_panel.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"

/// Before files are touched that somebody else's document names.
namespace app {

void draw_asked_files(Shell& shell) {
  Workspace& w = shell.workspace;
  if (!w.opening.asked() || shell.open_panel.open || shell.palette.open || shell.help_open) return;
  const auto& t = theme();
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({screen.x / 2, screen.y * 0.2f}, ImGuiCond_Always, {0.5f, 0});
  const auto files = static_cast<float>(w.opening.asked()->files.size());
  ImGui::SetNextWindowSize(
      {std::min(t.px(680), screen.x - t.px(24)), std::min(t.px(150 + 24 * files), screen.y * 0.7f)});
  if (!ImGui::IsPopupOpen("asked files")) ImGui::OpenPopup("asked files");
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {t.px(16), t.px(14)});
  if (ImGui::BeginPopupModal(
          "asked files", nullptr,
          ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings)) {
    const AskedFiles& asked = *w.opening.asked();
    const bool one = asked.files.size() == 1;
    ui::wrapped(asked.origin + (one ? " names a file on this machine." : " names files on this machine.") +
                    (one ? " Open it only if you know it:" : " Open them only if you know them:"),
                t.text);
    ui::spacing(4);
    if (ImGui::BeginChild("named", {0, std::max(t.px(40), ImGui::GetContentRegionAvail().y - t.px(50))}))
      for (const auto& file : asked.files) {
        std::error_code none;
        ui::text(excerpt(file, 300), t.text, Type::small, Font::mono);
        if (!std::filesystem::exists(file, none)) {
          ImGui::SameLine();
          ui::text("is not there", t.warning, Type::small);
        }
      }
    ImGui::EndChild();
    const bool with = ui::button(one ? "Open it" : "Open them");
    ImGui::SameLine();
    const bool without = ui::button(one ? "Open without it" : "Open without them", true);
    ImGui::SameLine();
    // The Escape that closed what stood before this question is no answer to it.
    const bool escaped = !ImGui::IsWindowAppearing() && ImGui::IsKeyPressed(ImGuiKey_Escape);
    const bool cancel = ui::button("Cancel") || escaped;
    if (with || without || cancel) {
      ImGui::CloseCurrentPopup();
      w.opening.answer(with ? FilesAnswer::open : without ? FilesAnswer::leave_out : FilesAnswer::cancel);
    }
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

}  // namespace app
