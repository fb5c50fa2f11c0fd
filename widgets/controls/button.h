#pragma once
#include <imgui.h>

/// The one button of the program: of the shell, of its panels and of the labs.
namespace widgets {

/// Pixels that `button` takes for this label when it is not asked to be larger; what follows "##" is not shown.
ImVec2 button_size(const char* label);

/// A rounded button at the cursor; true in the frame in which it is pressed, by pointer or keyboard. `strong` fills it
/// with the accent: the one thing to do next. `least_size` is in pixels. Inside ImGui::BeginDisabled it is dimmed.
bool button(const char* label, bool strong = false, ImVec2 least_size = {0, 0});

/// The next strong button that can be pressed gets the keyboard: the one thing to do next, in one step.
void seek_strong_button();
/// Gives up seeking; true where none was drawn since.
bool end_seeking_strong_button();

/// Places the next button behind the last item, or on a new line where it would cross `right`, a screen x in pixels.
void next_button(const char* label, float right);

}  // namespace widgets
