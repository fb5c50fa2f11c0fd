#include "app/shell/ui.h"
#include "widgets/base/press_area.h"

#include <imgui_internal.h>

#include <algorithm>

namespace app::ui {

ScopedType::ScopedType(Type type, Font font) { ImGui::PushFont(widgets::font_of(font), theme().type(type)); }
ScopedType::~ScopedType() { ImGui::PopFont(); }

void text(std::string_view s, ImU32 colour, Type type, Font font) {
  const ScopedType scoped(type, font);
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  ImGui::TextUnformatted(s.data(), s.data() + s.size());
  ImGui::PopStyleColor();
}

void wrapped(std::string_view s, ImU32 colour, Type type) {
  ImGui::PushTextWrapPos(0.0f);
  text(s, colour, type);
  ImGui::PopTextWrapPos();
}

void section(std::string_view label) {
  spacing(4);
  text(label, theme().muted, Type::small, Font::bold);
}

void spacing(float design_pixels) { ImGui::Dummy({0, theme().px(design_pixels)}); }

void focus_ring(float rounding) {
  if (!ImGui::IsItemFocused() || !ImGui::GetIO().NavVisible) return;
  ImGui::GetWindowDrawList()->AddRect(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), theme().accent, rounding, 0,
                                      theme().px(2));
}

void hint(std::string_view s) {
  if (s.empty() || !ImGui::IsItemHovered(ImGuiHoveredFlags_DelayShort)) return;
  if (!ImGui::BeginTooltip()) return;
  ImGui::PushTextWrapPos(theme().px(360));
  text(s, theme().text, Type::small);
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

bool pill(const char* label, bool on) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const std::string_view words(label, static_cast<std::size_t>(ImGui::FindRenderedTextEnd(label) - label));
  const ImVec2 size = widgets::text_size(words, Type::small);
  const ImVec2 box{size.x + t.px(20), size.y + t.px(9)};
  const bool pressed = widgets::press_area(label, box);
  const Painter p = Painter::window();
  const ImVec2 end{at.x + box.x, at.y + box.y};
  if (on) p.rect(at, end, widgets::with_alpha(t.accent, 0.16f), box.y / 2);
  p.frame(at, end, on ? t.accent : ImGui::IsItemHovered() ? t.muted : t.line, 1, box.y / 2);
  p.text({at.x + t.px(10), at.y + t.px(4.5f)}, words, on ? t.text : t.muted, Type::small);
  focus_ring(box.y / 2);
  return pressed;
}

bool toggle(const char* label, bool& value, float width) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = t.px(24), track_w = t.px(32), track_h = t.px(17);
  const bool pressed = widgets::press_area(label, {width, height});
  if (pressed) value = !value;
  const Painter p = Painter::window();
  p.text_fit({at.x, at.y + t.px(4)}, label, width - track_w - t.px(8), ImGui::IsItemHovered() ? t.text : t.muted,
             Type::small);
  const ImVec2 a{at.x + width - track_w, at.y + (height - track_h) / 2}, b{at.x + width, a.y + track_h};
  p.rect(a, b, value ? t.accent : t.line, track_h / 2);
  p.circle({value ? b.x - track_h / 2 : a.x + track_h / 2, a.y + track_h / 2}, track_h / 2 - t.px(2.5f),
           value ? t.panel : t.muted);
  focus_ring(t.px(4));
  return pressed;
}

bool drop_down(const char* label, std::string_view shown, float width) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 box{width, t.type(Type::body) + t.px(13)};
  const bool pressed = widgets::press_area(label, box);
  const Painter p = Painter::window();
  const ImVec2 end{at.x + box.x, at.y + box.y};
  p.rect(at, end, t.card, t.px(6));
  p.frame(at, end, ImGui::IsItemHovered() || ImGui::IsItemActive() ? t.accent : t.line, 1, t.px(6));
  p.text_fit({at.x + t.px(10), at.y + t.px(5)}, shown, width - t.px(34), t.text);
  const float cx = end.x - t.px(14), cy = at.y + box.y / 2;
  const ImVec2 arrow[] = {{cx - t.px(4), cy - t.px(2)}, {cx + t.px(4), cy - t.px(2)}, {cx, cy + t.px(3)}};
  p.polygon(arrow, t.muted);
  focus_ring(t.px(6));
  return pressed;
}

void bar(ImVec2 at, float width, double fraction, ImU32 colour) {
  const auto& t = theme();
  const float h = t.px(2);
  const Painter p = Painter::window();
  p.rect(at, {at.x + width, at.y + h}, t.line, h / 2);
  const auto f = static_cast<float>(std::clamp(fraction, 0.0, 1.0));
  if (f > 0) p.rect(at, {at.x + std::max(width * f, h), at.y + h}, colour, h / 2);
}

namespace {
const char* wanted_panel = nullptr;
bool wants_strong = false;
}  // namespace

void focus_panel(const char* id) {
  wanted_panel = id;
  wants_strong = false;
}

void focus_strong_button(const char* panel) {
  wanted_panel = panel;
  wants_strong = true;
}

void end_focused_panel(const char* id) {
  if (widgets::end_seeking_strong_button()) focus_panel(id);  // with the next frame, its first control
}

void working(std::string_view what, double fraction) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  bar({at.x, at.y + t.px(6)}, t.px(150), fraction, t.accent);
  ImGui::SetCursorScreenPos({at.x + t.px(166), at.y});
  text(what, t.muted);
}

void begin_screen(ImVec2 screen) {
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(screen);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::Begin("Ridgeline", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoBringToFrontOnFocus |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
}

bool begin_panel(const char* id, ImVec2 size, ImU32 background, ImVec2 padding, ImGuiWindowFlags flags) {
  ImGui::PushStyleColor(ImGuiCol_ChildBg, background);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {theme().px(padding.x), theme().px(padding.y)});
  const bool open =
      ImGui::BeginChild(id, size, ImGuiChildFlags_AlwaysUseWindowPadding | ImGuiChildFlags_NavFlattened, flags);
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
  if (wanted_panel && std::string_view(wanted_panel) == id) {
    wanted_panel = nullptr;
    ImGui::GetCurrentContext()->NavId = 0;  // drawn later in this frame, it would take the focus back to its window
    if (wants_strong)
      widgets::seek_strong_button();
    else
      ImGui::SetKeyboardFocusHere();
    ImGui::SetNavCursorVisible(true);
  }
  return open;
}

}  // namespace app::ui
