#include <algorithm>
#include <filesystem>

#include "app/scenario/sentences.h"
#include "app/shell/open/open_panel.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"

/// Before files are touched that somebody else's document names, and before one is opened that several labs read.
namespace app {
namespace {

/// A button for each lab that reads the file.
void draw_asked_reader(Shell& shell) {
  FileOpening& opening = shell.workspace.opening;
  const auto& t = theme();
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({screen.x / 2, screen.y * 0.2f}, ImGuiCond_Always, {0.5f, 0});
  ImGui::SetNextWindowSize({std::min(t.px(680), screen.x - t.px(24)), t.px(130)});
  if (!ImGui::IsPopupOpen("asked reader")) ImGui::OpenPopup("asked reader");
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {t.px(16), t.px(14)});
  if (ImGui::BeginPopupModal(
          "asked reader", nullptr,
          ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings)) {
    const AskedReader& asked = *opening.asked_reader();
    const auto& readers = asked.found.readers;
    ui::wrapped(asked.found.looks_like.empty() ? "Several labs read these files as one set. Open it in:"
                                               : "\"" + asked.name + "\" looks like " + asked.found.looks_like +
                                                     ", which several labs read. Open it in:",
                t.text);
    ui::spacing(8);
    std::size_t chosen = readers.size();
    for (std::size_t i = 0; i < readers.size(); ++i) {
      if (ui::button(readers[i].title.c_str(), i == 0)) chosen = i;
      ImGui::SameLine();
    }
    const bool escaped = !ImGui::IsWindowAppearing() && ImGui::IsKeyPressed(ImGuiKey_Escape);
    if (ui::button("Cancel") || escaped || chosen < readers.size()) {
      ImGui::CloseCurrentPopup();
      opening.choose_reader(chosen);
    }
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

}  // namespace

void draw_asked_files(Shell& shell) {
  Workspace& w = shell.workspace;
  if (w.opening.asked_reader() && !shell.open_panel.open && !shell.palette.open && !shell.help_open)
    return draw_asked_reader(shell);
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
