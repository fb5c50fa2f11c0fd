#include "app/shell/controls.h"

#include <imgui_internal.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>

#include "app/explore/explore.h"
#include "app/shell/ui.h"
#include "widgets/number/number.h"

namespace app {
namespace {

using chapters::Field;
using chapters::Kind;
using chapters::Scale;
using widgets::Painter;
using widgets::theme;
using widgets::Type;

/// Field labels are literals or catalog strings: both end in NUL, which Dear ImGui's ids want.
const char* label_of(const Field& f) { return f.spec.label.data(); }

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [&](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

/// A dragged value lands on round figures: three significant digits on a log scale, a thousandth of the range
/// otherwise.
double rounded(const Field& f, double v) {
  if (f.kind == Kind::integer) return std::round(v);
  if (f.spec.scale == Scale::step) return f.spec.lo + std::round((v - f.spec.lo) / f.spec.step) * f.spec.step;
  const double grain = f.spec.scale == Scale::log && v > 0
                           ? std::pow(10.0, std::floor(std::log10(v)) - 2)
                           : std::pow(10.0, std::floor(std::log10(f.spec.hi - f.spec.lo)) - 3);
  return std::clamp(std::round(v / grain) * grain, f.spec.lo, f.spec.hi);
}

/// Dear ImGui's slider behaviour (mouse, keyboard, gamepad) under our own paint: a thin track and a round knob.
bool slider(const Field& f, double& value, float width) {
  const auto& t = theme();
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  const ImGuiID id = window->GetID(label_of(f));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImRect box(at, {at.x + width, at.y + t.px(16)});
  ImGui::ItemSize(box.GetSize(), 0);
  if (!ImGui::ItemAdd(box, id, &box, ImGuiItemFlags_Inputable)) return false;
  ImGuiContext& g = *ImGui::GetCurrentContext();
  IMGUI_TEST_ENGINE_ITEM_INFO(id, label_of(f), g.LastItemData.StatusFlags | ImGuiItemStatusFlags_Inputable);
  const bool hovered = ImGui::ItemHoverable(box, id, g.LastItemData.ItemFlags);
  const bool clicked = hovered && ImGui::IsMouseClicked(0, ImGuiInputFlags_None, id);
  if (clicked || g.NavActivateId == id) {
    if (clicked) ImGui::SetKeyOwner(ImGuiKey_MouseLeft, id);
    ImGui::SetActiveID(id, window);
    ImGui::SetFocusID(id, window);
    ImGui::FocusWindow(window);
    g.ActiveIdUsingNavDirMask |= (1u << ImGuiDir_Left) | (1u << ImGuiDir_Right);
  }
  const bool log = f.spec.scale == Scale::log && f.spec.lo > 0;
  double v = value;
  ImRect grab;
  bool changed =
      ImGui::SliderBehavior(box, id, ImGuiDataType_Double, &v, &f.spec.lo, &f.spec.hi, "%.17g",
                            ImGuiSliderFlags_NoRoundToFormat | (log ? ImGuiSliderFlags_Logarithmic : 0), &grab);
  if (changed) {
    v = rounded(f, v);
    changed = v != value;
    value = v;
    ImGui::MarkItemEdited(id);
  }
  const Painter p = Painter::window();
  const float y = at.y + box.GetHeight() / 2, knob = (grab.Min.x + grab.Max.x) / 2,
              r = t.px(hovered || g.ActiveId == id ? 7.0f : 6.0f);
  p.rect({at.x, y - t.px(1.5f)}, {at.x + width, y + t.px(1.5f)}, t.line, t.px(1.5f));
  p.rect({at.x, y - t.px(1.5f)}, {knob, y + t.px(1.5f)}, t.accent, t.px(1.5f));
  p.circle({knob, y}, r, t.text);
  ui::focus_ring(t.px(4));
  return changed;
}

void start_typing(const Field& f, ControlState& state, std::string_view text) {
  state.editing = f.key;
  state.focus = true;
  const std::size_t n = std::min(text.size(), sizeof state.buffer - 1);
  std::memcpy(state.buffer, text.data(), n);
  state.buffer[n] = '\0';
}

/// The text box of a value being typed. Enter or leaving it sets the value; Escape keeps the old one.
bool typing(const Field& f, ControlState& state, float width) {
  ImGui::SetNextItemWidth(width);
  if (state.focus) ImGui::SetKeyboardFocusHere();
  ImGui::PushID(f.key.data());
  const bool entered = ImGui::InputText("##typed", state.buffer, sizeof state.buffer,
                                        ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  const bool left = ImGui::IsItemDeactivated(), edited = ImGui::IsItemDeactivatedAfterEdit();
  const bool escaped = left && ImGui::IsKeyPressed(ImGuiKey_Escape);
  ImGui::PopID();
  state.focus = false;
  if (!entered && !left) return false;
  state.editing.clear();
  if (escaped || !edited) return false;  // what is shown is rounded: untouched, it must not replace what it shows
  state.error = set_field_from_text(f, state.buffer);
  state.error_key = f.key;
  return state.error.empty();
}

bool number_control(const Field& f, ControlState& state, float width) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  double value = f.number();
  const auto shown =
      widgets::format(value, f.spec.unit, f.kind == Kind::integer ? 12 : 4,
                      f.kind == Kind::integer && f.spec.unit != "B" ? widgets::Prefix::none : widgets::Prefix::si);
  const float value_width = widgets::text_size(shown, Type::small, widgets::Font::mono).x + t.px(10);
  Painter::window().text_fit({at.x, at.y + t.px(2)}, f.spec.label, width - value_width - t.px(6), t.muted, Type::small);
  bool changed = false;
  if (state.editing == f.key) {
    const float box = std::max(value_width, width * 0.5f);
    ImGui::SetCursorScreenPos({at.x + width - box, at.y - t.px(4)});
    const ui::ScopedType mono(Type::small, widgets::Font::mono);
    changed = typing(f, state, box);
    value = f.number();  // the slider below goes on from what was typed
    ImGui::SetCursorScreenPos({at.x, at.y + t.px(22)});
  } else {
    ImGui::SetCursorScreenPos({at.x + width - value_width, at.y});
    ImGui::PushID(f.key.data());
    const bool pressed = ImGui::InvisibleButton("value", {value_width, t.px(20)}, ImGuiButtonFlags_EnableNav);
    ImGui::PopID();
    const bool hovered = ImGui::IsItemHovered();
    Painter::window().text({at.x + width - t.px(2), at.y + t.px(2)}, shown, hovered ? t.accent : t.text, Type::small,
                           widgets::Font::mono, widgets::Align::right);
    ui::focus_ring(t.px(4));
    if (pressed)
      start_typing(f, state,
                   widgets::format(value, f.kind == Kind::integer ? "" : f.spec.unit, 9,
                                   f.kind == Kind::integer ? widgets::Prefix::none : widgets::Prefix::si));
    ImGui::SetCursorScreenPos({at.x, at.y + t.px(20)});
  }
  if (f.spec.scale == Scale::step) {
    ImGui::PushID(f.key.data());
    const double step = f.spec.step;
    if (ui::button("-") && value > f.spec.lo) value = std::max(f.spec.lo, value - step);
    ImGui::SameLine();
    if (ui::button("+") && value < f.spec.hi) value = std::min(f.spec.hi, value + step);
    ImGui::PopID();
    ImGui::SameLine();
    slider(f, value, width - (ImGui::GetCursorScreenPos().x - at.x));
  } else if (f.spec.any_number) {
    // The knob rests at an end for what lies beyond it; only a drag changes the value
    const double rest = value >= f.spec.hi ? f.spec.hi : value >= f.spec.lo ? value : f.spec.lo;
    double dragged = rest;
    slider(f, dragged, width);
    if (dragged != rest) value = dragged;
  } else {
    slider(f, value, width);
  }
  if (value != f.number() && !std::isnan(value)) {
    f.set_number(value);
    changed = true;
  }
  return changed;
}

bool choice_control(const Field& f, ControlState& state, float width) {
  ui::text(f.spec.label, theme().muted, Type::small);
  const double now = f.number();
  const std::string_view shown =
      now >= 0 ? std::string_view((*f.options)[static_cast<std::size_t>(now)].label) : f.choice_id();
  if (ui::drop_down(label_of(f), shown, width)) {
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

bool flip(std::vector<std::string>& ids, const std::string& id, std::size_t most) {
  const auto at = std::find(ids.begin(), ids.end(), id);
  if (at != ids.end())
    ids.erase(at);
  else if (ids.size() < most)
    ids.push_back(id);
  else
    return false;
  return true;
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
    if (!on && !all) continue;
    place(o.label);
    if (ui::pill(o.label.c_str(), on)) changed |= flip(ids, o.id, f.spec.max_items);
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
      if (chosen >= 0) changed |= flip(ids, (*f.options)[static_cast<std::size_t>(chosen)].id, f.spec.max_items);
      ImGui::EndPopup();
    }
  }
  ImGui::PopStyleVar();
  ImGui::PopID();
  return changed;
}

/// A list as it is typed, "[1,2,3]", cut where the buffer ends: the box shows its beginning, and a steady frame
/// allocates nothing.
std::string_view listed(const std::vector<double>& values, std::span<char> buffer) {
  char *at = buffer.data(), *const end = at + buffer.size() - 1;
  *at++ = '[';
  for (const double v : values) {
    if (at != buffer.data() + 1 && at != end) *at++ = ',';
    const auto [next, ec] = std::to_chars(at, end, v);
    if (ec != std::errc()) break;
    at = next;
  }
  *at++ = ']';
  return {buffer.data(), at};
}

/// Texts, paths and lists share one box that shows the value and turns into a text input when pressed.
bool text_control(const Field& f, ControlState& state, float width) {
  const auto& t = theme();
  ui::text(f.spec.label, t.muted, Type::small);
  const bool clearable = f.kind == Kind::file && !f.file().path.empty();
  const float box = clearable ? width - t.px(60) : width;
  bool changed = false;
  if (state.editing == f.key) {
    changed = typing(f, state, box);
  } else {
    char numbers[256];
    const std::string_view value = f.kind == Kind::text   ? f.text()
                                   : f.kind == Kind::file ? std::string_view(f.file().path)
                                                          : listed(f.reals(), numbers);
    const std::string_view shown = !value.empty()         ? value
                                   : f.kind == Kind::file ? "drop a file here or type its path"
                                                          : "type here";
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 end{at.x + box, at.y + t.type(Type::body) + t.px(13)};
    const bool pressed = ImGui::InvisibleButton(label_of(f), {box, end.y - at.y}, ImGuiButtonFlags_EnableNav);
    const Painter p = Painter::window();
    p.rect(at, end, t.card, t.px(6));
    p.frame(at, end, ImGui::IsItemHovered() ? t.accent : t.line, 1, t.px(6));
    p.text_fit({at.x + t.px(10), at.y + t.px(7)}, shown, box - t.px(20), value.empty() ? t.muted : t.text, Type::small);
    ui::focus_ring(t.px(6));
    if (pressed) start_typing(f, state, f.kind == Kind::reals ? field_to_json(f).dump() : std::string(value));
  }
  if (clearable) {
    ImGui::SameLine();
    ImGui::PushID(f.key.data());
    if (ui::button("Clear")) {
      f.file() = {};
      changed = true;
    }
    ImGui::PopID();
  }
  return changed;
}

/// A cell at rest: its value, pressed to type another. Long texts show their beginning.
bool cell(const Field& c) {
  char shown[128];
  const auto write = [&](std::string_view text) {
    std::snprintf(shown, sizeof shown, "%.*s###cell", static_cast<int>(std::min<std::size_t>(text.size(), 100)),
                  text.data());
  };
  if (c.kind == Kind::text)
    write(c.text());
  else if (c.kind == Kind::real || c.kind == Kind::integer)
    write(widgets::format(c.number(), c.spec.unit, c.kind == Kind::integer ? 12 : 4));
  else
    write(display_text(c));
  return ImGui::Selectable(shown);
}

/// Design pixels in which a column of the kind can be read.
float column_px(const Field& c) {
  const float label = widgets::text_size(c.spec.label, Type::small).x + theme().px(10);
  switch (c.kind) {
    case Kind::toggle:
      return std::max(label, theme().px(34));
    case Kind::choice:
      return std::max(label, theme().px(94));
    case Kind::text:
      return std::max(label, theme().px(130));
    default:
      return std::max(label, theme().px(68));
  }
}

bool table_control(const Field& f, ControlState& state, float width) {
  const auto& t = theme();
  ui::text(f.spec.label, t.muted, Type::small);
  chapters::Fields& cells = state.cells;
  if (f.table_size() > 0)
    f.table_row(0, cells);
  else
    f.table_columns(cells);
  bool changed = false;
  int removed = -1;
  ImGui::PushID(f.key.data());
  const ui::ScopedType small(Type::small);
  // Many columns keep a width in which they can be read, and scroll sideways behind the first.
  float inner_width = t.px(22) + ImGui::GetStyle().CellPadding.x * 2 * static_cast<float>(cells.size() + 1);
  for (const Field& c : cells) inner_width += column_px(c);
  const bool scrolls = cells.size() > 5 && inner_width > width;
  const float row_height = ImGui::GetFrameHeight() + ImGui::GetStyle().CellPadding.y * 2;
  const float height = scrolls ? row_height * static_cast<float>(std::min<std::size_t>(f.table_size(), 8) + 1) +
                                     ImGui::GetStyle().ScrollbarSize
                               : 0.0f;
  ImGuiTableFlags flags = ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingStretchProp;
  if (scrolls) flags |= ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY;
  if (ImGui::BeginTable("rows", static_cast<int>(cells.size()) + 1, flags, {width, height},
                        scrolls ? inner_width : 0.0f)) {
    if (scrolls) ImGui::TableSetupScrollFreeze(1, 1);
    for (const Field& c : cells)
      ImGui::TableSetupColumn(c.spec.label.data(), ImGuiTableColumnFlags_WidthStretch, column_px(c));
    ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthFixed, t.px(22));
    ImGui::TableHeadersRow();
    for (std::size_t row = 0; row < f.table_size(); ++row) {
      f.table_row(row, cells);
      ImGui::TableNextRow();
      ImGui::PushID(static_cast<int>(row));
      for (const Field& c : cells) {
        ImGui::TableNextColumn();
        char key[160];
        std::snprintf(key, sizeof key, "%.*s.%zu.%.*s", static_cast<int>(f.key.size()), f.key.data(), row,
                      static_cast<int>(c.key.size()), c.key.data());
        ImGui::PushID(c.key.data());
        const float w = ImGui::GetContentRegionAvail().x;
        if (c.kind == Kind::choice) {
          ImGui::SetNextItemWidth(w);
          if (ImGui::BeginCombo("##cell", c.choice_id().data(), ImGuiComboFlags_NoArrowButton)) {
            const int i = draw_option_list(*c.options, state,
                                           [&](std::size_t k) { return static_cast<double>(k) == c.number(); });
            if (i >= 0) {
              c.set_number(i);
              changed = true;
            }
            ImGui::EndCombo();
          }
        } else if (c.kind == Kind::toggle) {
          changed |= ImGui::Checkbox("##cell", &c.toggle());
        } else if (state.editing == key) {
          ImGui::SetNextItemWidth(w);
          if (state.focus) ImGui::SetKeyboardFocusHere();
          state.focus = false;
          const bool entered =
              ImGui::InputText("##cell", state.buffer, sizeof state.buffer,
                               ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
          if (entered || ImGui::IsItemDeactivated()) {
            const bool keep = ImGui::IsKeyPressed(ImGuiKey_Escape) || !ImGui::IsItemDeactivatedAfterEdit();
            state.editing.clear();
            if (!keep) {
              state.error = set_field_from_text(c, state.buffer);
              state.error_key = f.key;
              changed |= state.error.empty();
            }
          }
        } else if (cell(c)) {
          start_typing(c, state, c.kind == Kind::text ? c.text() : display_text(c));
          state.editing = key;
        }
        ImGui::PopID();
      }
      ImGui::TableNextColumn();
      if (ImGui::SmallButton("x")) removed = static_cast<int>(row);
      ImGui::PopID();
    }
    ImGui::EndTable();
  }
  if (removed >= 0) {  // shift the rows above down by one through their JSON, then drop the last
    Json rows = field_to_json(f);
    rows.erase(static_cast<std::size_t>(removed));
    field_from_json(f, rows);
    changed = true;
  }
  if (f.table_size() < f.spec.max_items && ui::button("Add row")) {
    f.table_resize(f.table_size() + 1);
    changed = true;
  }
  ImGui::PopID();
  return changed;
}

}  // namespace

int draw_option_list(const chapters::Choices& options, ControlState& state,
                     const std::function<bool(std::size_t)>& chosen) {
  const bool searchable = options.size() > 8;
  if (searchable) {
    if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-1);
    ImGui::InputTextWithHint("##search", "search", state.search, sizeof state.search);
  }
  int result = -1;
  if (searchable) ImGui::BeginChild("list", {0, theme().px(330)}, ImGuiChildFlags_NavFlattened);
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto& o = options[i];
    if (searchable && !contains_ignoring_case(o.label, state.search) && !contains_ignoring_case(o.id, state.search))
      continue;
    const bool on = chosen(i);
    if (ImGui::Selectable(o.label.c_str(), on, ImGuiSelectableFlags_NoAutoClosePopups)) result = static_cast<int>(i);
    if (on && ImGui::IsWindowAppearing()) ImGui::SetScrollHereY();
    ui::hint(o.help);
  }
  if (searchable) ImGui::EndChild();
  return result;
}

bool draw_control(const Field& f, ControlState& state, float width) {
  ImGui::BeginGroup();
  bool changed = false;
  switch (f.kind) {
    case Kind::real:
    case Kind::integer:
      changed = number_control(f, state, width);
      break;
    case Kind::toggle:
      changed = ui::toggle(label_of(f), f.toggle(), width);
      break;
    case Kind::choice:
      changed = choice_control(f, state, width);
      break;
    case Kind::choices:
      changed = choices_control(f, state, width);
      break;
    case Kind::text:
    case Kind::file:
    case Kind::reals:
      changed = text_control(f, state, width);
      break;
    case Kind::table:
      changed = table_control(f, state, width);
      break;
  }
  if (changed && state.error_key == f.key) state.error.clear();
  if (state.error_key == f.key && !state.error.empty()) ui::wrapped(state.error, theme().warning, Type::small);
  ImGui::EndGroup();
  ui::hint(f.spec.help);
  return changed;
}

}  // namespace app
