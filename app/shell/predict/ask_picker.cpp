#include "app/shell/predict/ask_picker.h"

#include <algorithm>
#include <cmath>

#include "app/content/own_question.h"
#include "app/shell/pages/palette_search.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"

namespace app {
namespace {

void offer(AskPicker& picker, const Field& f) {
  picker.keys.emplace_back(f.key);
  picker.labels.emplace_back(f.spec.label);
}

/// Headline figures first, then the others as they are described.
void offer_outputs(AskPicker& picker, const chapters::Lab& lab) {
  for (const bool headline : {true, false})
    for (const Field& f : lab.outputs()) {
      const bool number = f.is_number();
      const bool asked = can_be_asked(f) && (number || !picker.draws) && chapters::holds(f.spec.when, lab.inputs());
      if (asked && f.spec.headline == headline && f.spec.absent.empty() && std::isfinite(f.number())) offer(picker, f);
    }
}

void offer_inputs(AskPicker& picker, const chapters::Lab& lab) {
  for (const bool headline : {true, false})
    for (const Field& f : lab.inputs())
      if (f.spec.headline == headline && f.spec.origin == chapters::Origin::set && can_be_drawn_over(f) &&
          chapters::holds(f.spec.when, lab.inputs()))
        offer(picker, f);
}

void find_hits(AskPicker& picker) {
  picker.matched = picker.query;
  picker.hits.clear();
  picker.selected = 0;
  for (std::size_t i = 0; i < picker.labels.size(); ++i)
    if (picker.matched.empty() || best_fit(picker.labels[i], {picker.keys[i]}, picker.matched) != NameFit::none)
      picker.hits.push_back(i);
}

/// What can be chosen, one below the other. Returns which was, by its place in `keys`; -1: none.
int draw_choices_to_ask(AskPicker& picker) {
  const bool down = ImGui::IsKeyPressed(ImGuiKey_DownArrow), up = ImGui::IsKeyPressed(ImGuiKey_UpArrow);
  const int last = static_cast<int>(picker.hits.size()) - 1;
  picker.selected = std::clamp(picker.selected + int{down} - int{up}, 0, std::max(last, 0));
  const bool enter = ImGui::IsKeyPressed(ImGuiKey_Enter, false) || ImGui::IsKeyPressed(ImGuiKey_KeypadEnter, false);
  int chosen = enter && last >= 0 && !ImGui::IsWindowAppearing() ? picker.selected : -1;
  if (last < 0) ui::text("Nothing of that name.", theme().muted);
  if (ImGui::BeginChild("to ask", {0, 0}, ImGuiChildFlags_None))
    for (int i = 0; i <= last; ++i) {
      ImGui::PushID(i);
      const std::string& label = picker.labels[picker.hits[static_cast<std::size_t>(i)]];
      if (ImGui::Selectable(label.c_str(), i == picker.selected, ImGuiSelectableFlags_NoAutoClosePopups)) chosen = i;
      if (i == picker.selected && (down || up)) ImGui::SetScrollHereY();
      ImGui::PopID();
    }
  ImGui::EndChild();
  return chosen < 0 ? -1 : static_cast<int>(picker.hits[static_cast<std::size_t>(chosen)]);
}

/// An output was chosen, or the input of its curve.
void take_choice(Shell& shell, std::size_t chosen) {
  AskPicker& picker = shell.ask_picker;
  const chapters::Lab& lab = shell.workspace.lab();
  const std::string key = picker.keys[chosen];
  if (picker.draws && picker.output.empty()) {
    picker = {.open = true, .just_opened = true, .draws = true, .output = key};
    offer_inputs(picker, lab);
    find_hits(picker);
    return;
  }
  picker.open = false;
  shell.workspace.say_failure(
      ask_about_scenario(shell, picker.draws ? ask_curve(lab, picker.output, key) : ask_output(lab, key)));
}

}  // namespace

void pick_output(Shell& shell, bool draws) {
  const chapters::Lab& lab = shell.workspace.lab();
  if (!lab.reason().empty()) return shell.workspace.say("There is no figure to ask for: " + lab.reason());
  AskPicker picker{.open = true, .just_opened = true, .draws = draws};
  offer_outputs(picker, lab);
  if (picker.keys.empty()) return shell.workspace.say("This lab has no output that can be asked for.");
  find_hits(picker);
  shell.ask_picker = std::move(picker);
}

void draw_ask_picker(Shell& shell) {
  AskPicker& picker = shell.ask_picker;
  if (!picker.open) return;
  const auto& t = theme();
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({screen.x / 2, screen.y * 0.16f}, ImGuiCond_Always, {0.5f, 0});
  ImGui::SetNextWindowSize({std::min(t.px(480), screen.x - t.px(40)), std::min(t.px(400), screen.y * 0.7f)});
  if (!ImGui::IsPopupOpen("ask")) ImGui::OpenPopup("ask");
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {t.px(16), t.px(14)});
  if (ImGui::BeginPopupModal(
          "ask", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings)) {
    ui::text(!picker.draws           ? "Which output shall be predicted?"
             : picker.output.empty() ? "Which output shall be drawn?"
                                     : "Over which input?",
             t.text, Type::body, Font::bold);
    if (picker.just_opened) ImGui::SetKeyboardFocusHere();
    picker.just_opened = false;
    ImGui::SetNextItemWidth(-1);
    ImGui::InputTextWithHint("##to ask", "type to find one", picker.query, sizeof picker.query);
    if (picker.matched != picker.query) find_hits(picker);
    const int chosen = draw_choices_to_ask(picker);
    if (chosen >= 0) take_choice(shell, static_cast<std::size_t>(chosen));
    if (ImGui::IsKeyPressed(ImGuiKey_Escape)) picker.open = false;
    if (!picker.open) ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
  } else {
    picker.open = false;
  }
  ImGui::PopStyleVar();
}

}  // namespace app
