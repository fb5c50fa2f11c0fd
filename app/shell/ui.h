#pragma once
#include <imgui.h>

#include <string_view>

#include "chapters/mechanism/field.h"
#include "widgets/base/painter.h"
#include "widgets/base/theme.h"
#include "widgets/controls/button.h"
#include "widgets/controls/tab.h"

namespace app {

/// What the shell's sources write without its namespace.
using chapters::Field;
using chapters::Kind;
using widgets::Font;
using widgets::Painter;
using widgets::theme;
using widgets::Type;

}  // namespace app

/// Small pieces that the shell's panels share, over Dear ImGui items so that keyboard and tests reach them by label.
namespace app::ui {

/// Pushes one of the theme's fonts and sizes for as long as it lives.
class ScopedType {
 public:
  explicit ScopedType(widgets::Type type, widgets::Font font = widgets::Font::sans);
  ~ScopedType();
  ScopedType(const ScopedType&) = delete;
  ScopedType& operator=(const ScopedType&) = delete;
};

void text(std::string_view s, ImU32 colour, widgets::Type type = widgets::Type::body,
          widgets::Font font = widgets::Font::sans);
void wrapped(std::string_view s, ImU32 colour, widgets::Type type = widgets::Type::body);
/// Small capital heading over a group.
void section(std::string_view label);
void spacing(float design_pixels);

using widgets::button;
using widgets::tab;
/// A pill that is on or off.
bool pill(const char* label, bool on);
/// A switch with its label on the left, over the full width.
bool toggle(const char* label, bool& value, float width);
/// Looks like a combo box; opens the popup of the same name when pressed. True when pressed.
bool drop_down(const char* label, std::string_view shown, float width);
/// Keyboard focus ring around the last item when it has focus by keyboard.
void focus_ring(float rounding);
/// A tooltip for the last item, wrapped.
void hint(std::string_view s);

/// A thin bar, filled from 0 to 1.
void bar(ImVec2 at, float width, double fraction, ImU32 colour);

/// A bar, and beside it what is being worked out.
void working(std::string_view what, double fraction);

/// Opens the window beneath all panels, which fills the screen; end with ImGui::End().
void begin_screen(ImVec2 screen);
/// The next panel of that name gives the keyboard to its first control.
void focus_panel(const char* id);
/// The same of a panel in which one thing is to do next: its strong button comes first, where it has one. Call
/// end_focused_panel before the panel ends.
void focus_strong_button(const char* panel);
void end_focused_panel(const char* id);
/// Opens and styles a child panel with its background; end with ImGui::EndChild().
bool begin_panel(const char* id, ImVec2 size, ImU32 background, ImVec2 padding, ImGuiWindowFlags flags = 0);

}  // namespace app::ui
