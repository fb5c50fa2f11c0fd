#include <imgui_internal.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/shell/shell.h"
#include "app/shell/ui.h"
#include "widgets/number/number.h"

namespace app {
namespace {

/// Letters that arrive before the box has the keyboard, a frame or two after the palette opened.
void take_early_letters(PaletteState& state) {
  for (const ImWchar c : ImGui::GetIO().InputQueueCharacters) {
    const std::size_t n = std::strlen(state.query);
    if (c >= 32 && c < 127 && n + 1 < sizeof state.query) state.query[n] = static_cast<char>(c);
  }
}

/// One entry that opens the link which was typed or pasted.
void offer_link(PaletteState& state) {
  if (state.commands.empty() || state.commands.back().shortcut != "link")
    state.commands.push_back({.label = "Open this link", .shortcut = "link"});
  state.commands.back().run = [link = std::string(state.query)](Shell& s) {
    s.workspace.say_failure(s.workspace.open_link(link));
  };
  state.hits = {state.commands.size() - 1};
}

/// Entries for the labs' figures that read as what was typed, before all others: who types a value with its unit looks
/// for where it comes from.
void offer_figures(Shell& shell) {
  PaletteState& state = shell.palette;
  if (!shell.figure_search.known) return;
  for (const KnownFigure* figure : figures_that_read(*shell.figure_search.figures, state.query)) {
    const std::string value = widgets::format_text(figure->value, figure->unit, 4);
    state.commands.push_back(
        {.label = figure->label + ", " + value + "  (" + shell.workspace.title_of(figure->lab) + " as it opens)",
         .shortcut = "figure",
         .run =
             [lab = figure->lab, key = figure->key](Shell& s) {
               s.workspace.say_failure(s.workspace.open_with(lab, Json::object(), Json::object()));
               seek_field(s, lab, key);
             },
         .kind = FoundKind::output});
    state.hits.push_back(state.commands.size() - 1);
  }
}

/// A value is looked for among what the labs say: a job works that out once, when the first one is typed.
void work_out_figures(Shell& shell) {
  FigureSearch& search = shell.figure_search;
  if (search.figures && search.catalogs != shell.workspace.catalogs()) {
    search = {};
    shell.palette.matched.clear();
  }
  if (search.job.ended()) {
    search.known = search.job.done();
    search.job = {};
    shell.palette.matched.clear();
  }
  const bool value = std::isdigit(static_cast<unsigned char>(shell.palette.query[0])) != 0;
  if (!value || search.known || search.job) return;
  search.figures = std::make_shared<std::vector<KnownFigure>>();
  search.catalogs = shell.workspace.catalogs();
  search.job = shell.workspace.jobs.submit(
      "figures", [to = search.figures](chapters::Progress& progress) { *to = known_figures(progress); });
}

/// Finds what fits the query, best first.
void match(Shell& shell) {
  constexpr std::size_t most = 60;
  PaletteState& state = shell.palette;
  state.matched = state.query;
  state.hits.clear();
  state.commands.resize(state.offered);
  if (std::string_view(state.query).starts_with("ridgeline://")) return offer_link(state);
  offer_figures(shell);
  if (!state.query[0]) {  // nothing typed: labs and commands, which are not many
    for (std::size_t i = 0; i < state.offered && state.hits.size() < most; ++i) state.hits.push_back(i);
    return;
  }
  struct Hit {
    NameFit fit;
    FoundKind kind;
    std::size_t index;
  };
  std::vector<Hit> hits;
  for (std::size_t i = 0; i < state.offered; ++i) {
    const Command& c = state.commands[i];
    const NameFit fit = best_fit(c.name.empty() ? c.label : c.name, c.known_as, state.query);
    if (fit != NameFit::none) hits.push_back({fit, c.kind, i});
  }
  std::stable_sort(hits.begin(), hits.end(),
                   [](const Hit& a, const Hit& b) { return std::pair(a.fit, a.kind) < std::pair(b.fit, b.kind); });
  for (const Hit& hit : hits)
    if (state.hits.size() < most) state.hits.push_back(hit.index);
}

/// The box that is typed into.
void draw_query(PaletteState& state) {
  if (state.just_opened) ImGui::SetKeyboardFocusHere();
  state.just_opened = false;
  if (!state.active) take_early_letters(state);
  ImGui::SetNextItemWidth(-1);
  if (ImGui::InputTextWithHint("##query", "a lab, a command, a figure or its value, a term, a link", state.query,
                               sizeof state.query))
    state.selected = 0;
  if (!ImGui::IsItemActive() || state.active) return;
  state.active = true;
  // Focus by the keyboard selects everything, so that the next letter would replace those that came early.
  if (state.query[0])
    if (ImGuiInputTextState* box = ImGui::GetInputTextState(ImGui::GetItemID())) box->ReloadUserBufAndMoveToEnd();
}

/// What was found, one below the other. Returns which was chosen, by its place; -1: none.
int draw_hits(PaletteState& state, const FigureSearch& search) {
  const auto& t = theme();
  const auto down = ImGui::IsKeyPressed(ImGuiKey_DownArrow), up = ImGui::IsKeyPressed(ImGuiKey_UpArrow);
  state.selected += int{down} - int{up};
  state.selected = std::clamp(state.selected, 0, std::max(0, static_cast<int>(state.hits.size()) - 1));
  int run = ImGui::IsKeyPressed(ImGuiKey_Enter) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter) ? state.selected : -1;
  if (search.job)
    ui::working("Working out the labs' figures", search.job.fraction());
  else if (state.hits.empty())
    ui::text("Nothing of that name.", t.muted);
  if (ImGui::BeginChild("hits", {0, 0}, ImGuiChildFlags_None)) {
    for (int i = 0; i < static_cast<int>(state.hits.size()); ++i) {
      const Command& c = state.commands[state.hits[static_cast<std::size_t>(i)]];
      ImGui::PushID(i);
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float width = ImGui::GetContentRegionAvail().x;
      if (ImGui::Selectable(c.label.c_str(), i == state.selected, ImGuiSelectableFlags_NoAutoClosePopups,
                            {width - t.px(110), 0}))
        run = i;
      if (i == state.selected && (down || up)) ImGui::SetScrollHereY();
      Painter::window().text({at.x + width - t.px(4), at.y}, c.shortcut, t.muted, Type::small, Font::mono,
                             widgets::Align::right);
      ImGui::PopID();
    }
  }
  ImGui::EndChild();
  return run;
}

}  // namespace

void open_palette(Shell& shell) { shell.palette = {.open = true, .just_opened = true}; }

void draw_palette(Shell& shell) {
  PaletteState& state = shell.palette;
  if (!state.open) return;
  const auto& t = theme();
  const bool gather = state.just_opened;
  if (gather) {
    state.commands = all_commands(shell);
    state.offered = state.commands.size();
  }
  work_out_figures(shell);
  if (shell.figure_search.job) shell.animating = true;
  if (gather || state.matched != state.query) match(shell);

  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({screen.x / 2, screen.y * 0.16f}, ImGuiCond_Always, {0.5f, 0});
  ImGui::SetNextWindowSize({std::min(t.px(620), screen.x - t.px(40)), std::min(t.px(440), screen.y * 0.7f)});
  if (state.just_opened) ImGui::OpenPopup("palette");
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {t.px(12), t.px(12)});
  bool open = true;
  if (ImGui::BeginPopupModal(
          "palette", &open,
          ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings)) {
    draw_query(state);
    const int run = draw_hits(state, shell.figure_search);
    if (run >= 0 || ImGui::IsKeyPressed(ImGuiKey_Escape)) {
      state.open = false;
      ImGui::CloseCurrentPopup();
    }
    if (run >= 0 && static_cast<std::size_t>(run) < state.hits.size()) {
      const auto command =
          state.commands[state.hits[static_cast<std::size_t>(run)]].run;  // it may open the palette anew
      command(shell);
    }
    ImGui::EndPopup();
  } else {
    state.open = false;
  }
  ImGui::PopStyleVar();
}

}  // namespace app
