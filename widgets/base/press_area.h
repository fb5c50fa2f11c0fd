#pragma once
#include <imgui.h>

namespace widgets {

/// A place at the cursor that is pressed, hovered and focused and draws nothing itself: what Dear ImGui calls an
/// invisible button, whose sides may be of any size here. It asserts that none is zero, which a canvas in a window a
/// few pixels wide comes to; this one is a pixel a side at least. True when pressed.
bool press_area(const char* label, ImVec2 size, ImGuiButtonFlags flags = ImGuiButtonFlags_EnableNav);

}  // namespace widgets
