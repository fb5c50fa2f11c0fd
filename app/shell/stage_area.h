#pragma once
#include <algorithm>

#include "app/shell/shell.h"

/// Question, answer, presets and panels of the open lab: the same drawing for the window and for presentation.
namespace app {

/// Interface scale in presentation, of that outside it: type grows with the screen, whose height is in design pixels,
/// and is never smaller than a class can read from its seats.
inline double presentation_scale(double height) { return 1.5 * std::clamp(height / 1080, 0.85, 2.0); }

/// Pixels a design pixel: `chosen` outside presentation, more in it. `height_px` is the window's.
inline float interface_scale(bool presentation, double chosen, double height_px) {
  return static_cast<float>(chosen * (presentation ? presentation_scale(height_px / chosen) : 1.0));
}

/// Is the drawer open when the program starts? Until the person has chosen, only where the window is high enough for a
/// whole picture above it. `height` is in design pixels.
inline bool opens_drawer(const store::Settings& settings, float height) {
  return settings.drawer_open && (settings.drawer_chosen || height >= 1200);
}

/// The stage view of the open lab.
widgets::StageView& stage_view(Shell& shell);

/// Draws from the cursor in `size` px: the two fixed lines, then presets (not in presentation), then the panels.
void draw_stage_area(Shell& shell, ImVec2 size);

/// The scenario that the open lab is compared with; null: none.
const chapters::Lab* compared_with(const Shell& shell);

/// The whole screen while presenting: the stage, a strip of at most three inputs, dots for the panels.
void draw_presentation(Shell& shell, ImVec2 at, ImVec2 size);

/// While presenting: to the next or the previous panel; past the last one, to the step of the lesson that plays.
void turn_page(Shell& shell, int steps);

}  // namespace app
