#include <imgui_internal.h>

#include <algorithm>
#include <cstring>

#include "app/scenario/link.h"
#include "app/shell/shell.h"
#include "app/shell/stage_area.h"
#include "app/shell/ui.h"
#include "chapters/mechanism/registry.h"

namespace app {
namespace {

/// How well `query` fits as a subsequence of `text`, ignoring case: higher is better, -1 when it does not. Runs and
/// word starts count more.
int fit(std::string_view text, std::string_view query) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  int score = 0, run = 0;
  std::size_t q = 0;
  for (std::size_t i = 0; i < text.size() && q < query.size(); ++i) {
    if (lower(text[i]) != lower(query[q])) {
      run = 0;
      continue;
    }
    ++q;
    score += 1 + 3 * run++ + (i == 0 || text[i - 1] == ' ' || text[i - 1] == '/' ? 4 : 0);
  }
  return q == query.size() ? score * 8 - static_cast<int>(text.size()) : -1;
}

/// Letters that arrive before the box has the keyboard, a frame or two after the palette opened.
void take_early_letters(PaletteState& state) {
  for (const ImWchar c : ImGui::GetIO().InputQueueCharacters) {
    const std::size_t n = std::strlen(state.query);
    if (c >= 32 && c < 127 && n + 1 < sizeof state.query) state.query[n] = static_cast<char>(c);
  }
}

/// Finds what fits the query, best first.
void match(PaletteState& state) {
  state.matched = state.query;
  state.hits.clear();
  if (std::string_view(state.query).starts_with("ridgeline://")) {
    if (state.commands.empty() || state.commands.back().shortcut != "link")
      state.commands.push_back({"Open this link", "link", 0, {}});
    state.commands.back().run = [link = std::string(state.query)](Shell& s) {
      s.workspace.say_failure(s.workspace.open_link(link));
    };
    state.hits.push_back({0, state.commands.size() - 1});
    return;
  }
  for (std::size_t i = 0; i < state.commands.size(); ++i)
    if (const int score = fit(state.commands[i].label, state.query); score >= 0 || !state.query[0])
      state.hits.push_back({state.query[0] ? score + state.commands[i].rank : 0, i});
  std::stable_sort(state.hits.begin(), state.hits.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  if (state.hits.size() > 60) state.hits.resize(60);
}

/// " (The roofline)" for the lesson of a chapter.
std::string chapter_of_lesson(const Shell& shell, std::string_view id) {
  for (const CurriculumChapter& chapter : shell.workspace.content.curriculum)
    if (id == chapter.slug || (id.starts_with(chapter.slug) && id[chapter.slug.size()] == '-'))
      return " (" + chapter.title + ")";
  return {};
}

}  // namespace

void ask_export(Shell& s, ExportKind kind, const char* extension, ImGuiID panel) {
  std::string name(s.workspace.lab().info().id);
  std::replace(name.begin(), name.end(), '/', '-');
  s.export_panel = panel;
  ask_where(s, kind, name + extension);
}

std::vector<Command> all_commands(Shell& shell) {
  std::vector<Command> out;
  for (const auto& entry : chapters::all_labs()) {
    const std::string title = shell.workspace.title_of(entry.id);
    out.push_back(
        {title + "  (" + std::string(entry.id) + ")", "lab", 0, [id = entry.id](Shell& s) { s.workspace.open(id); }});
  }
  for (const auto& [lab, content] : shell.workspace.content.labs)
    for (const Preset& preset : content.presets)
      out.push_back({shell.workspace.title_of(lab) + ": " + preset.name, "preset", 0, [lab = lab, preset](Shell& s) {
                       s.workspace.open(lab);
                       s.workspace.say_failure(s.workspace.apply_preset(preset));
                     }});
  for (const auto& past : shell.workspace.recent.all())
    out.push_back({past.title, "recent", 0, [scenario = past.scenario](Shell& s) {
                     s.workspace.say_failure(s.workspace.open_scenario(scenario));
                   }});
  for (std::size_t i = 0; i < shell.workspace.content.lessons.size(); ++i)
    out.push_back({.label = "Play lesson: " + shell.workspace.content.lessons[i].title +
                            chapter_of_lesson(shell, shell.workspace.content.lessons[i].id),
                   .shortcut = "lesson",
                   .run = [i](Shell& s) { lesson_go(s, i, 0); },
                   .rank = 40});
  for (const Command& c : shortcut_commands())
    if (!c.can || c.can(shell)) out.push_back(c);
  out.push_back({"Glossary", "page", 0, [](Shell& s) { open_glossary(s, ""); }});
  out.push_back({"Export picture (SVG)", "", 0, [](Shell& s) { ask_export(s, ExportKind::svg, ".svg"); }});
  out.push_back({"Export data (CSV)", "", 0, [](Shell& s) { ask_export(s, ExportKind::csv, ".csv"); }});
  out.push_back({"Export scenario (JSON)", "", 0, [](Shell& s) { ask_export(s, ExportKind::scenario, ".json"); }});
  if (const auto document = shell.workspace.lab().info().document; !document.empty())
    out.push_back({"Export " + std::string(document) + " (JSON)", "", 0,
                   [](Shell& s) { ask_export(s, ExportKind::document, "-data.json"); }});
  out.push_back({"Keep my scenario from lab to lab", "", 0,
                 [](Shell& s) { s.workspace.settings.keep_my_scenario = !s.workspace.settings.keep_my_scenario; }});
  for (const Term& term : shell.workspace.content.glossary)
    out.push_back(
        {term.term + ": " + term.meaning, "term", 0, [name = term.term](Shell& s) { open_glossary(s, name); }});
  return out;
}

void draw_palette(Shell& shell) {
  PaletteState& state = shell.palette;
  if (!state.open) return;
  const auto& t = theme();
  const bool gather = state.just_opened;
  if (gather) state.commands = all_commands(shell);
  if (gather || state.matched != state.query) match(state);
  const auto& commands = state.commands;
  const auto& hits = state.hits;

  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({screen.x / 2, screen.y * 0.16f}, ImGuiCond_Always, {0.5f, 0});
  ImGui::SetNextWindowSize({std::min(t.px(620), screen.x - t.px(40)), std::min(t.px(440), screen.y * 0.7f)});
  if (state.just_opened) ImGui::OpenPopup("palette");
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {t.px(12), t.px(12)});
  bool open = true;
  if (ImGui::BeginPopupModal(
          "palette", &open,
          ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings)) {
    if (state.just_opened) ImGui::SetKeyboardFocusHere();
    state.just_opened = false;
    if (!state.active) take_early_letters(state);
    ImGui::SetNextItemWidth(-1);
    if (ImGui::InputTextWithHint("##query", "a lab, a preset, a command, a term, a link", state.query,
                                 sizeof state.query))
      state.selected = 0;
    if (ImGui::IsItemActive() && !state.active) {
      state.active = true;
      // Focus by the keyboard selects everything, so that the next letter would replace those that came early.
      if (state.query[0])
        if (ImGuiInputTextState* box = ImGui::GetInputTextState(ImGui::GetItemID())) box->ReloadUserBufAndMoveToEnd();
    }
    if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) ++state.selected;
    if (ImGui::IsKeyPressed(ImGuiKey_UpArrow)) --state.selected;
    state.selected = std::clamp(state.selected, 0, std::max(0, static_cast<int>(hits.size()) - 1));
    int run = ImGui::IsKeyPressed(ImGuiKey_Enter) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter) ? state.selected : -1;
    if (hits.empty()) ui::text("Nothing of that name.", t.muted);
    if (ImGui::BeginChild("hits", {0, 0}, ImGuiChildFlags_None)) {
      for (int i = 0; i < static_cast<int>(hits.size()); ++i) {
        const Command& c = commands[hits[static_cast<std::size_t>(i)].index];
        ImGui::PushID(i);
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float width = ImGui::GetContentRegionAvail().x;
        if (ImGui::Selectable(c.label.c_str(), i == state.selected, ImGuiSelectableFlags_NoAutoClosePopups,
                              {width - t.px(110), 0}))
          run = i;
        if (i == state.selected && (ImGui::IsKeyPressed(ImGuiKey_DownArrow) || ImGui::IsKeyPressed(ImGuiKey_UpArrow)))
          ImGui::SetScrollHereY();
        Painter::window().text({at.x + width - t.px(4), at.y}, c.shortcut, t.muted, Type::small, Font::mono,
                               widgets::Align::right);
        ImGui::PopID();
      }
    }
    ImGui::EndChild();
    const bool leave = ImGui::IsKeyPressed(ImGuiKey_Escape);
    if (run >= 0 || leave) {
      state.open = false;
      ImGui::CloseCurrentPopup();
    }
    if (run >= 0 && static_cast<std::size_t>(run) < hits.size()) {
      const auto command =
          commands[hits[static_cast<std::size_t>(run)].index].run;  // a copy: it may open the palette anew
      command(shell);
    }
    ImGui::EndPopup();
  } else {
    state.open = false;
  }
  ImGui::PopStyleVar();
}

}  // namespace app
