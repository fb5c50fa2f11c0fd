#include <algorithm>
#include <array>
#include <cstring>

#include "app/shell/shell.h"
#include "app/shell/ui.h"

/// F1: every key, from the table that the keys themselves are handled by, and what the pointer can do.
namespace app {
namespace {

/// What is no command of ours: Dear ImGui's own keys, and the pointer.
struct Gesture {
  const char *keys, *does;
};
constexpr std::array<Gesture, 10> gestures{{
    {"drag a dot or a handle", "changes the input that it stands for"},
    {"drag a slider", "changes it; the figure follows"},
    {"click a figure", "type a value with its unit: 2 GB, 310 ms"},
    {"wheel over a plot", "zooms; double click shows everything again"},
    {"hover", "what it is, its formula and where it comes from"},
    {"right click a figure", "copies it with its unit (Ctrl+C too)"},
    {"Tab, Shift+Tab", "the next or previous control"},
    {"arrow keys", "move between controls; change a slider"},
    {"Enter, Space", "press what has the ring"},
    {"drop a file", "opens it in the lab that reads it"},
}};

void row(const char* keys, const char* does, float width, float keys_width) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Painter p = Painter::window();
  p.text_fit(at, keys, keys_width - t.px(12), t.text, Type::small, Font::mono);
  p.text_fit({at.x + keys_width, at.y}, does, width - keys_width, t.muted, Type::small);
  ImGui::Dummy({width, t.px(20)});
}

void section(const char* name, float width) {
  ui::section(name);
  for (const Command& c : shortcut_commands())
    if (std::strcmp(c.section, name) == 0) row(c.shortcut.c_str(), c.label.c_str(), width, theme().px(120));
}

}  // namespace

void draw_help(Shell& shell) {
  if (!shell.help_open) return;
  const auto& t = theme();
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float width = std::min(t.px(960), screen.x - t.px(24));
  if (!ImGui::IsPopupOpen("help")) ImGui::OpenPopup("help");
  ImGui::SetNextWindowPos({screen.x / 2, screen.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
  ImGui::SetNextWindowSize({width, std::min(t.px(770), screen.y - t.px(24))});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {t.px(24), t.px(18)});
  if (ImGui::BeginPopupModal(
          "help", nullptr,
          ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings)) {
    ui::text("Help", t.text, Type::title, Font::bold);
    ImGui::SameLine(width - t.px(110));
    const bool close = ui::button("Close");
    ui::wrapped(
        "A lab is a picture that computes: change an input at the right and watch. The drawer below explains it, asks "
        "you to predict, and checks what others claim. Lessons walk through it step by step.",
        t.muted, Type::small);
    if (ui::button("Home")) {
      shell.help_open = false;
      go_home(shell);
    }
    ImGui::SameLine();
    if (ui::button("Start a lesson")) {
      shell.help_open = false;
      lesson_resume(shell, next_lesson(shell));
    }
    ImGui::SameLine();
    if (ui::button("Glossary")) {
      shell.help_open = false;
      open_glossary(shell, "");
    }
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {t.px(8), t.px(1)});
    if (ImGui::BeginChild("keys", {0, 0}, ImGuiChildFlags_NavFlattened)) {
      const float inner = ImGui::GetContentRegionAvail().x;
      const bool two = inner > t.px(600);
      const float column = two ? (inner - t.px(24)) / 2 : inner;
      ImGui::BeginGroup();
      section("Everywhere", column);
      section("Move", column);
      ImGui::EndGroup();
      if (two) ImGui::SameLine(0, t.px(24));
      ImGui::BeginGroup();
      section("This lab", column);
      section("Lessons and presentation", column);
      ui::section("Pointer and controls");
      for (const Gesture& g : gestures) row(g.keys, g.does, column, t.px(170));
      ImGui::EndGroup();
    }
    ImGui::EndChild();
    ImGui::PopStyleVar();
    if (close || ImGui::IsKeyPressed(ImGuiKey_Escape) || ImGui::IsKeyPressed(ImGuiKey_F1, false))
      shell.help_open = shell.help_open && ImGui::IsWindowAppearing();
    if (!shell.help_open) ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

}  // namespace app
