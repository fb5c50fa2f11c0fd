#include <algorithm>
#include <cstring>

#include "app/shell/pages/pages.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"

namespace app {
namespace {

bool contains(std::string_view text, std::string_view part) {
  const auto low = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [&](char a, char b) { return low(a) == low(b); }) != text.end();
}

bool called(const Term& term, std::string_view part) {
  return contains(term.term, part) ||
         std::any_of(term.also.begin(), term.also.end(), [&](const std::string& s) { return contains(s, part); });
}

const Term* term_of(const Shell& shell, std::string_view target) {
  if (!target.starts_with("term:")) return nullptr;
  target.remove_prefix(5);
  const auto& all = shell.workspace.content.glossary;
  const auto at = std::find_if(all.begin(), all.end(), [&](const Term& term) { return term.term == target; });
  return at == all.end() ? nullptr : &*at;
}

/// "Also: matmul, matrix product".
void draw_other_words(const Term& term) {
  widgets::Line line;
  for (const std::string& other : term.also) line.add(line.view().empty() ? "Also: " : ", ").add(other);
  ui::text(line.view(), theme().muted, Type::small);
}

void draw_term(Shell& shell, const Term& term, float width) {
  const auto& t = theme();
  const bool wide = width > t.px(640);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float indent = wide ? t.px(230) : 0, reads = std::min(width - indent, t.px(720));
  Painter::window().text_fit(at, term.term, wide ? indent - t.px(16) : width, t.text, Type::body, Font::bold);
  ImGui::SetCursorScreenPos({at.x + indent, wide ? at.y : at.y + t.px(22)});
  ImGui::BeginGroup();
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + reads);
  ui::text(term.meaning, t.text);
  if (!term.also.empty()) draw_other_words(term);
  ImGui::PopTextWrapPos();
  if (!term.lab.empty()) {
    const std::string& title = shell.workspace.title_of(term.lab);
    const ImVec2 here = ImGui::GetCursorScreenPos();
    const ImVec2 size = widgets::text_size(title, Type::small);
    ImGui::PushID(term.term.c_str());
    if (widgets::press_area(title.c_str(), {size.x + t.px(16), size.y + t.px(2)})) shell.workspace.open(term.lab);
    const bool hovered = ImGui::IsItemHovered();
    ui::focus_ring(t.px(4));
    ImGui::PopID();
    Painter::window().text(here, title, t.accent, Type::small);
    if (hovered) Painter::window().line({here.x, here.y + size.y}, {here.x + size.x, here.y + size.y}, t.accent);
  }
  ImGui::EndGroup();
  ui::spacing(8);
}

}  // namespace

void open_glossary(Shell& shell, std::string_view query) {
  shell.presentation = false;
  shell.page = Page::glossary;
  shell.openings_seen = shell.workspace.openings();
  const std::size_t n = std::min(query.size(), sizeof shell.glossary.query - 1);
  std::memcpy(shell.glossary.query, query.data(), n);
  shell.glossary.query[n] = '\0';
  shell.glossary.just_opened = true;
}

bool serve_terms(Shell& shell, std::string_view hovered, std::string_view clicked) {
  if (const Term* term = term_of(shell, hovered); term && ImGui::BeginTooltip()) {
    ImGui::PushTextWrapPos(theme().px(360));
    ui::text(term->term, theme().text, Type::small, Font::bold);
    ui::text(term->meaning, theme().text, Type::small);
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }
  const Term* term = term_of(shell, clicked);
  if (term) open_glossary(shell, term->term);
  return term != nullptr;
}

void draw_glossary(Shell& shell, ImVec2 screen) {
  const auto& t = theme();
  GlossaryState& state = shell.glossary;
  const float top = draw_page_bar(shell, "Glossary", screen.x);
  ImGui::SetCursorScreenPos({0, top});
  const float side = screen.x / t.scale >= 1000 ? 40.0f : 20.0f;
  if (ui::begin_panel("glossary", {screen.x, screen.y - top}, t.background, {side, 18},
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse)) {
    if (state.just_opened) ImGui::SetKeyboardFocusHere();
    state.just_opened = false;
    ImGui::SetNextItemWidth(std::min(t.px(420), ImGui::GetContentRegionAvail().x));
    ImGui::InputTextWithHint("##terms", "a term, or a word of its meaning", state.query, sizeof state.query);
    const auto& all = shell.workspace.content.glossary;
    const auto fits = [&](const Term& term) {
      return called(term, state.query) || contains(term.meaning, state.query);
    };
    const auto found = static_cast<int>(std::count_if(all.begin(), all.end(), fits));
    char count[64];
    std::snprintf(count, sizeof count, "%d of %d terms", found, static_cast<int>(all.size()));
    ui::text(count, t.muted, Type::small);
    ui::spacing(4);
    if (ImGui::BeginChild("terms", {0, 0}, ImGuiChildFlags_NavFlattened)) {
      const float width = ImGui::GetContentRegionAvail().x;
      if (found == 0) ui::text("No term has these letters, and no meaning either.", t.muted);
      // What is called so comes before what is explained with it.
      for (const Term& term : all)
        if (called(term, state.query)) draw_term(shell, term, width);
      for (const Term& term : all)
        if (!called(term, state.query) && fits(term)) draw_term(shell, term, width);
    }
    ImGui::EndChild();
  }
  ImGui::EndChild();
}

}  // namespace app
