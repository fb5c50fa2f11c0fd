#include <imgui_internal.h>
#include <algorithm>

#include "app/scenario/hand_on.h"
#include "app/scenario/link.h"
#include "app/shell/shell.h"
#include "app/shell/stage_area.h"
#include "app/shell/ui.h"
#include "chapters/mechanism/registry.h"

/// Every key of the program, in one table: the keys are handled by it, the palette offers it and help lists it.
namespace app {
namespace {

void zoom(Shell& s, double factor) {
  auto& scale = s.workspace.settings.scale;
  scale = std::clamp((scale > 0 ? scale : static_cast<double>(theme().scale)) * factor, 0.5, 4.0);
}

void walk_labs(Shell& s, int by) {
  const auto labs = chapters::all_labs();
  const auto at =
      std::find_if(labs.begin(), labs.end(), [&](const auto& e) { return e.id == s.workspace.lab().info().id; });
  const auto n = static_cast<int>(labs.size());
  for (int i = static_cast<int>(at - labs.begin()) + by; i >= 0 && i < n; i += by)
    if (!labs[static_cast<std::size_t>(i)].make()->info().hidden) {
      s.workspace.open(labs[static_cast<std::size_t>(i)].id);
      return;
    }
}

void lesson_step(Shell& s, int by) {
  if (!s.lesson.playing) return;
  if (by > 0) return lesson_next(s);
  const auto next = static_cast<std::ptrdiff_t>(s.lesson.step) + by;
  if (next >= 0) lesson_go(s, s.lesson.lesson, static_cast<std::size_t>(next));
}

void fold_rail(Shell& s) {
  const bool folded = rail_width(s, ImGui::GetIO().DisplaySize) < theme().px(100);
  s.workspace.settings.rail = folded ? store::Settings::Rail::open : store::Settings::Rail::folded;
}

bool on_lab(const Shell& s) { return s.page == Page::lab; }
bool can_ask(const Shell& s) { return on_lab(s) && !question_open(s); }
bool plays(const Shell& s) { return s.lesson.playing; }
bool has_pages(const Shell& s) { return s.lesson.playing || s.presentation; }
bool can_go_back(const Shell& s) { return s.workspace.can_go(-1); }
bool can_go_forward(const Shell& s) { return s.workspace.can_go(1); }
bool can_undo(const Shell& s) { return on_lab(s) && s.workspace.can_undo(); }
bool can_redo(const Shell& s) { return on_lab(s) && s.workspace.can_redo(); }
/// While a question is open the key is its own: it shows the answer without a guess.
bool can_leave(const Shell& s) {
  if (s.page != Page::lab) return true;
  return (s.presentation || s.lesson.playing) && !question_open(s);
}

/// What is outermost goes first: presentation, then the lesson, then home and the glossary back to the lab.
void leave(Shell& s) {
  if (s.presentation)
    s.presentation = false;
  else if (s.page == Page::glossary)
    s.page = Page::lab;
  else if (s.page == Page::chapter_test)
    go_home(s);
  else if (s.page == Page::lab && s.lesson.playing)
    lesson_leave(s);
  else if (s.page == Page::home && !s.workspace.first_start())
    s.workspace.open(s.workspace.lab().info().id);
}

/// Panels in the order in which F6 goes round: from the stage, where the lab is, to what stands around it.
constexpr const char* panels[] = {"canvas", "inputs", "outputs", "drawer", "lesson", "rail", "top"};

void walk_panels(Shell&, int by) {
  const auto is = [](const char* panel, std::string_view window) {
    const std::string_view name(panel);
    for (auto at = window.find(name); at != std::string_view::npos; at = window.find(name, at + 1))
      if (at > 0 && window[at - 1] == '/' && at + name.size() < window.size() && window[at + name.size()] == '_')
        return true;
    return false;
  };
  const ImGuiContext& g = *ImGui::GetCurrentContext();
  constexpr int n = std::size(panels);
  // Where nothing shows that the keyboard is in a panel, it is in none, whichever was pressed with the mouse last.
  const bool shown = g.NavCursorVisible || g.ActiveId != 0;
  int at = by > 0 ? -1 : n;
  for (int i = 0; i < n; ++i)
    if (shown && g.NavWindow && is(panels[i], g.NavWindow->Name)) at = i;
  for (int i = 1; i <= n; ++i) {
    const char* panel = panels[((at + by * i) % n + n) % n];
    for (const ImGuiWindow* window : g.Windows)
      if (window->WasActive && is(panel, window->Name))
        return panel == panels[0] ? ui::focus_strong_button(panel) : ui::focus_panel(panel);
  }
}

}  // namespace

const std::vector<Command>& shortcut_commands() {
  static const std::vector<Command> commands = {
      {"Help: every key", "F1", ImGuiKey_F1, [](Shell& s) { s.help_open = true; }, "Everywhere"},
      {"Home", "Ctrl+H", ImGuiMod_Ctrl | ImGuiKey_H, go_home, "Everywhere"},
      {"Command palette", "Ctrl+K", ImGuiMod_Ctrl | ImGuiKey_K, open_palette, "Everywhere"},
      {"Leave presentation, lesson or page", "Escape", ImGuiKey_Escape, leave, "Everywhere", can_leave},
      {"Full screen", "F11", ImGuiKey_F11,
       [](Shell& s) {
         if (s.host.toggle_fullscreen) s.host.toggle_fullscreen();
       },
       "Everywhere"},
      {"Light or dark",
       "Ctrl+T",
       ImGuiMod_Ctrl | ImGuiKey_T,
       [](Shell& s) { s.workspace.settings.light = !s.workspace.settings.light; },
       "Everywhere",
       nullptr,
       0,
       0,
       FoundKind::command,
       {},
       {"settings", "theme", "contrast"}},
      {"Larger interface",
       "Ctrl++",
       ImGuiMod_Ctrl | ImGuiKey_Equal,
       [](Shell& s) { zoom(s, 1.1); },
       "Everywhere",
       nullptr,
       ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_Equal,
       ImGuiMod_Ctrl | ImGuiKey_KeypadAdd,
       FoundKind::command,
       {},
       {"settings", "zoom in", "text size"}},
      {"Smaller interface", "Ctrl+-", ImGuiMod_Ctrl | ImGuiKey_Minus, [](Shell& s) { zoom(s, 1 / 1.1); }, "Everywhere",
       nullptr, ImGuiMod_Ctrl | ImGuiKey_KeypadSubtract},
      {"Interface scale from the monitor", "Ctrl+0", ImGuiMod_Ctrl | ImGuiKey_0,
       [](Shell& s) { s.workspace.settings.scale = 0; }, "Everywhere"},
      {"Quit", "Ctrl+Q", ImGuiMod_Ctrl | ImGuiKey_Q,
       [](Shell& s) {
         if (s.host.quit) s.host.quit();
       },
       "Everywhere"},
      {"Next panel", "F6", ImGuiKey_F6, [](Shell& s) { walk_panels(s, 1); }, "Move", on_lab},
      {"Previous panel", "Shift+F6", ImGuiMod_Shift | ImGuiKey_F6, [](Shell& s) { walk_panels(s, -1); }, "Move",
       on_lab},
      {"Back to the lab before", "Alt+Left", ImGuiMod_Alt | ImGuiKey_LeftArrow, [](Shell& s) { s.workspace.go(-1); },
       "Move", can_go_back, ImGuiKey_MouseX1},
      {"Forward again", "Alt+Right", ImGuiMod_Alt | ImGuiKey_RightArrow, [](Shell& s) { s.workspace.go(1); }, "Move",
       can_go_forward, ImGuiKey_MouseX2},
      {"Next lab", "Ctrl+]", ImGuiMod_Ctrl | ImGuiKey_RightBracket, [](Shell& s) { walk_labs(s, 1); }, "Move"},
      {"Previous lab", "Ctrl+[", ImGuiMod_Ctrl | ImGuiKey_LeftBracket, [](Shell& s) { walk_labs(s, -1); }, "Move"},
      {"Fold or open the rail", "Ctrl+B", ImGuiMod_Ctrl | ImGuiKey_B, fold_rail, "Move", on_lab},
      {"Fold or open the drawer", "Ctrl+J", ImGuiMod_Ctrl | ImGuiKey_J,
       [](Shell& s) {
         s.drawer_open = !s.drawer_open;
         s.workspace.settings.drawer_chosen = true;
       },
       "Move", on_lab},
      {"Open a file...", "Ctrl+O", ImGuiMod_Ctrl | ImGuiKey_O, [](Shell& s) { ask_for_file(s); }, "Everywhere", {}},
      {"Undo", "Ctrl+Z", ImGuiMod_Ctrl | ImGuiKey_Z, [](Shell& s) { s.workspace.undo(); }, "This lab", can_undo},
      {"Redo", "Ctrl+Y", ImGuiMod_Ctrl | ImGuiKey_Y, [](Shell& s) { s.workspace.redo(); }, "This lab", can_redo},
      {"Unfold or fold all groups", "Ctrl+G", ImGuiMod_Ctrl | ImGuiKey_G,
       [](Shell& s) { s.unfold_groups = !s.unfold_groups; }, "This lab", on_lab},
      {"Reset this lab", "Ctrl+R", ImGuiMod_Ctrl | ImGuiKey_R, [](Shell& s) { s.workspace.reset(); }, "This lab",
       on_lab},
      {"Copy as command", "Ctrl+Shift+C", ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_C,
       [](Shell& s) {
         if (s.host.copy) s.host.copy(command_line_of(s.workspace.lab()));
         s.workspace.say("The command for this scenario is on the clipboard.");
       },
       "This lab", on_lab},
      {"Copy link to this scenario", "Ctrl+L", ImGuiMod_Ctrl | ImGuiKey_L,
       [](Shell& s) {
         HandedOn link = link_to_hand_on(s.workspace.lab());
         if (s.host.copy) s.host.copy(link.text);
         s.workspace.say("A link to this scenario is on the clipboard.");
         s.workspace.say_failure(std::move(link.notice));
       },
       "This lab", on_lab},
      {"Export picture (PNG)", "Ctrl+E", ImGuiMod_Ctrl | ImGuiKey_E,
       [](Shell& s) { ask_export(s, ExportKind::png, ".png"); }, "This lab", on_lab},
      {"Presentation mode", "F5", ImGuiKey_F5, [](Shell& s) { s.presentation = !s.presentation; },
       "Lessons and presentation", on_lab},
      {"Next panel or lesson step", "Page Down", ImGuiKey_PageDown,
       [](Shell& s) { s.presentation ? turn_page(s, 1) : lesson_step(s, 1); }, "Lessons and presentation", has_pages},
      {"Previous panel or lesson step", "Page Up", ImGuiKey_PageUp,
       [](Shell& s) { s.presentation ? turn_page(s, -1) : lesson_step(s, -1); }, "Lessons and presentation", has_pages},
      {"Back to the lesson's step", "F8", ImGuiKey_F8, [](Shell& s) { lesson_step(s, 0); }, "Lessons and presentation",
       plays},
      {"Ask this output: veil it until it is predicted",
       "F7",
       ImGuiKey_F7,
       [](Shell& s) { pick_output(s, false); },
       "Lessons and presentation",
       can_ask,
       0,
       0,
       FoundKind::command,
       "Ask this output",
       {"lecture", "veil"}},
      {"Draw this output: its curve over an input",
       "Shift+F7",
       ImGuiMod_Shift | ImGuiKey_F7,
       [](Shell& s) { pick_output(s, true); },
       "Lessons and presentation",
       can_ask,
       0,
       0,
       FoundKind::command,
       "Draw this output",
       {"curve", "lecture"}},
      {"Record lesson step", "F9", ImGuiKey_F9, lesson_record_step, "Lessons and presentation", on_lab},
  };
  return commands;
}

void handle_shortcuts(Shell& shell) {
  if (shell.palette.open || shell.ask_picker.open || shell.help_open || shell.closing.open || shell.open_panel.open ||
      shell.workspace.opening.asks())
    return;
  const bool typing = ImGui::GetIO().WantTextInput;
  const bool busy = typing || ImGui::IsAnyItemActive() || ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
  for (const Command& c : shortcut_commands()) {
    if (typing && (c.chord == (ImGuiMod_Ctrl | ImGuiKey_Z) || c.chord == (ImGuiMod_Ctrl | ImGuiKey_Y)))
      continue;                                        // the text box's own
    if (busy && c.chord == ImGuiKey_Escape) continue;  // first out of what has the keyboard
    const bool pressed = ImGui::IsKeyChordPressed(c.chord) || (c.also && ImGui::IsKeyChordPressed(c.also)) ||
                         (c.and_also && ImGui::IsKeyChordPressed(c.and_also));
    if (pressed && (!c.can || c.can(shell))) c.run(shell);
  }
}

}  // namespace app
