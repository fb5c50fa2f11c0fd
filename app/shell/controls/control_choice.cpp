#include <algorithm>
#include <utility>

#include "app/shell/controls/control_kinds.h"
#include "app/shell/ui.h"

namespace app {
namespace {

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [&](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

bool offered(const chapters::Choice& option, const ControlState& state) {
  return !state.inputs || chapters::holds(option.when, *state.inputs);
}

/// Adds an id to those chosen or takes it out; false when there is no room for one more.
bool flip_choice(std::vector<std::string>& ids, const std::string& id, std::size_t max_items) {
  const auto at = std::find(ids.begin(), ids.end(), id);
  if (at != ids.end())
    ids.erase(at);
  else if (ids.size() < max_items)
    ids.push_back(id);
  else
    return false;
  return true;
}

}  // namespace

int draw_option_list(const chapters::Choices& options, ControlState& state,
                     const std::function<bool(std::size_t)>& chosen) {
  const bool searchable = options.size() > 8;
  bool take_first = false;  // Enter in the box takes the first that is left
  if (searchable) {
    if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-1);
    take_first = ImGui::InputTextWithHint("##search", "search", state.search, sizeof state.search,
                                          ImGuiInputTextFlags_EnterReturnsTrue);
  }
  int result = -1;
  if (searchable) ImGui::BeginChild("list", {0, theme().px(330)}, ImGuiChildFlags_NavFlattened);
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto& o = options[i];
    if (searchable && !contains_ignoring_case(o.label, state.search) && !contains_ignoring_case(o.id, state.search))
      continue;
    const bool on = chosen(i);
    if (!on && !offered(o, state)) continue;
    ImGui::PushID(static_cast<int>(i));  // two chips of one's own may have one name
    if (ImGui::Selectable(o.label.c_str(), on, ImGuiSelectableFlags_NoAutoClosePopups)) result = static_cast<int>(i);
    if (std::exchange(take_first, false)) result = static_cast<int>(i);
    ImGui::PopID();
    if (on && ImGui::IsWindowAppearing()) ImGui::SetScrollHereY();
    ui::hint(o.help);
  }
  if (searchable) ImGui::EndChild();
  return result;
}

bool choice_control(const Field& f, ControlState& state, float width) {
  const auto& t = theme();
  const double now = f.number();
  const std::string_view shown =
      now >= 0 ? std::string_view((*f.options)[static_cast<std::size_t>(now)].label) : f.choice_id();
  // One line where the label and the option both have their room.
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float label_width = widgets::text_size(f.spec.label, Type::small).x + t.px(10);
  const float box_width = widgets::text_size(shown, Type::body).x + t.px(40),
              label_column = std::max(width * 0.38f, label_width);
  const bool one_line = label_column + box_width <= width;
  Painter::window().text_fit({at.x, at.y + (one_line ? t.px(7) : t.px(1))}, f.spec.label, width, t.muted, Type::small);
  ImGui::SetCursorScreenPos({one_line ? at.x + label_column : at.x, one_line ? at.y : at.y + t.px(20)});
  if (ui::drop_down(control_label(f), shown, one_line ? width - label_column : width)) {
    state.search[0] = '\0';
    ImGui::OpenPopup(f.key.data());
  }
  bool changed = false;
  ImGui::SetNextWindowSizeConstraints({width, 0}, {width * 1.6f, theme().px(420)});
  if (ImGui::BeginPopup(f.key.data())) {
    const int chosen =
        draw_option_list(*f.options, state, [&](std::size_t i) { return static_cast<double>(i) == now; });
    if (chosen >= 0) {
      f.set_number(chosen);
      changed = chosen != static_cast<int>(now);
      ImGui::CloseCurrentPopup();
    }
    ImGui::EndPopup();
  }
  return changed;
}

bool choices_control(const Field& f, ControlState& state, float width) {
  const auto& t = theme();
  ui::text(f.spec.label, t.muted, Type::small);
  auto& ids = f.chosen();
  bool changed = false;
  const bool all = f.options->size() <= 8;
  const float right = ImGui::GetCursorScreenPos().x + width;
  float x = 0;
  ImGui::PushID(f.key.data());
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {t.px(6), t.px(6)});
  const auto place = [&](std::string_view label) {
    const float w = widgets::text_size(label, Type::small).x + t.px(20);
    if (x > 0 && x + t.px(6) + w <= right) ImGui::SameLine();
    x = ImGui::GetCursorScreenPos().x + w;
  };
  for (const auto& o : *f.options) {
    const bool on = std::find(ids.begin(), ids.end(), o.id) != ids.end();
    if (!on && (!all || !offered(o, state))) continue;
    place(o.label);
    if (ui::pill(o.label.c_str(), on)) changed |= flip_choice(ids, o.id, f.spec.max_items);
  }
  if (!all) {
    place("more");
    if (ui::pill("more", false)) {
      state.search[0] = '\0';
      ImGui::OpenPopup("options");
    }
    ImGui::SetNextWindowSizeConstraints({width, 0}, {width * 1.6f, t.px(420)});
    if (ImGui::BeginPopup("options")) {
      const int chosen = draw_option_list(*f.options, state, [&](std::size_t i) {
        return std::find(ids.begin(), ids.end(), (*f.options)[i].id) != ids.end();
      });
      if (chosen >= 0) changed |= flip_choice(ids, (*f.options)[static_cast<std::size_t>(chosen)].id, f.spec.max_items);
      ImGui::EndPopup();
    }
  }
  ImGui::PopStyleVar();
  ImGui::PopID();
  return changed;
}

}  // namespace app
