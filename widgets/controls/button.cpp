#include "widgets/controls/button.h"

#include <imgui_internal.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "widgets/base/painter.h"
#include "widgets/base/press_area.h"

namespace widgets {
namespace {

constexpr float button_pad_x = 11, button_pad_y = 6, button_rounding = 6, button_gap = 6;  // design pixels

std::string_view shown_label(const char* label) {
  return {label, static_cast<std::size_t>(ImGui::FindRenderedTextEnd(label) - label)};
}

bool seeks_strong = false;

/// Dear ImGui lowers the alpha of its style while items are disabled.
ImU32 button_colour(ImU32 colour) { return ImGui::GetColorU32(colour); }

}  // namespace

ImVec2 button_size(const char* label) {
  const Theme& t = theme();
  const ImVec2 text = text_size(shown_label(label), Type::body);
  return {text.x + t.px(2 * button_pad_x), text.y + t.px(2 * button_pad_y)};
}

bool button(const char* label, bool strong, ImVec2 least_size) {
  const Theme& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos(), fitting = button_size(label);
  const ImVec2 box{std::max(fitting.x, least_size.x), std::max(fitting.y, least_size.y)};
  const bool disabled = (ImGui::GetCurrentContext()->CurrentItemFlags & ImGuiItemFlags_Disabled) != 0;
  if (strong && !disabled && std::exchange(seeks_strong, false)) ImGui::SetKeyboardFocusHere();
  const bool pressed = press_area(label, box);
  const bool hovered = ImGui::IsItemHovered(), held = ImGui::IsItemActive();
  const Painter p = Painter::window();
  const ImVec2 end{at.x + box.x, at.y + box.y};
  const ImU32 fill = strong ? with_alpha(t.accent, held ? 0.75f : hovered ? 0.9f : 1.0f) : t.card;
  p.rect(at, end, button_colour(fill), t.px(button_rounding));
  if (!strong) p.frame(at, end, button_colour(hovered || held ? t.accent : t.line), 1, t.px(button_rounding));
  const ImU32 on_accent = t.mode == Mode::dark ? t.on_colour : t.panel;
  p.text({at.x + box.x / 2, at.y + t.px(button_pad_y) + (box.y - fitting.y) / 2}, shown_label(label),
         button_colour(strong ? on_accent : t.text), Type::body, Font::sans, Align::center);
  if (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible)
    ImGui::GetWindowDrawList()->AddRect(at, end, t.accent, t.px(button_rounding), 0, t.px(2));
  return pressed;
}

void seek_strong_button() { seeks_strong = true; }
bool end_seeking_strong_button() { return std::exchange(seeks_strong, false); }

void next_button(const char* label, float right) {
  ImGui::SameLine(0, theme().px(button_gap));
  if (ImGui::GetCursorScreenPos().x + button_size(label).x > right) ImGui::NewLine();
}

}  // namespace widgets
