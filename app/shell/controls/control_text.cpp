#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>

#include "app/scenario/fields_json.h"
#include "app/scenario/file_mode.h"
#include "app/shell/controls/control_kinds.h"
#include "app/shell/ui.h"
#include "widgets/base/press_area.h"
#include "widgets/base/shorten.h"

namespace app {
namespace {

/// A list as it is typed, "[1,2,3]", cut where the buffer ends: the box shows its beginning, and a steady frame
/// allocates nothing.
std::string_view list_text(const std::vector<double>& values, std::span<char> buffer) {
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

}  // namespace

void start_typing(const Field& f, ControlState& state, std::string_view text) {
  state.editing = f.key;
  state.focus = true;
  const std::size_t n = std::min(text.size(), sizeof state.buffer - 1);
  std::memcpy(state.buffer, text.data(), n);
  state.buffer[n] = '\0';
}

bool take_typed(const Field& f, ControlState& state, std::string_view key) {
  const Field& taker = state.inputs ? taker_of(*state.inputs, f, state.buffer) : f;
  state.error = set_field_from_text(taker, state.buffer).error;
  state.error_key = key;
  if (state.error.empty() && state.inputs) choose_mode(*state.inputs, taker);
  return state.error.empty();
}

bool typing_box(const Field& f, ControlState& state, float width) {
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
  // What is shown is rounded: untouched, it must not replace the value.
  if (escaped || !edited) return false;
  return take_typed(f, state, f.key);
}

bool text_control(const Field& f, ControlState& state, float width) {
  const auto& t = theme();
  ui::text(f.spec.label, t.muted, Type::small);
  const bool clearable = f.kind == Kind::file && !f.file().path.empty();
  const float box = clearable ? width - t.px(60) : width;
  bool changed = false;
  if (state.editing == f.key) {
    changed = typing_box(f, state, box);
  } else {
    char numbers[256];
    const std::string_view value = f.kind == Kind::text   ? f.text()
                                   : f.kind == Kind::file ? std::string_view(f.file().path)
                                                          : list_text(f.reals(), numbers);
    const std::string_view shown = !value.empty()         ? value
                                   : f.kind == Kind::file ? "drop a file here or type its path"
                                                          : "type here";
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 end{at.x + box, at.y + t.type(Type::body) + t.px(13)};
    const bool pressed = widgets::press_area(control_label(f), {box, end.y - at.y});
    const Painter p = Painter::window();
    p.rect(at, end, t.card, t.px(6));
    p.frame(at, end, ImGui::IsItemHovered() ? t.accent : t.line, 1, t.px(6));
    const ImU32 ink = value.empty() ? t.muted : t.text;
    if (f.kind != Kind::reals && !value.empty())  // paths differ at their ends; of a long text its beginning is seen
      p.text({at.x + t.px(10), at.y + t.px(7)},
             widgets::shorten_middle(value.substr(0, value.find('\n')), box - t.px(20), Type::small).view(), ink,
             Type::small);
    else
      p.text_fit({at.x + t.px(10), at.y + t.px(7)}, shown, box - t.px(20), ink, Type::small);
    ui::focus_ring(t.px(6));
    if (pressed) start_typing(f, state, f.kind == Kind::reals ? to_text(field_to_json(f)) : std::string(value));
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

}  // namespace app
