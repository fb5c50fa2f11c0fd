#pragma once
#include "app/shell/shell.h"

/// Question, answer, presets and panels of the open lab: the same drawing for the window and for presentation.
namespace app {

/// Interface scale in presentation, of that outside it.
constexpr double presentation_scale = 1.5;

/// The stage view of the open lab.
widgets::StageView& stage_view(Shell& shell);

/// Draws from the cursor in `size` px: the two fixed lines, then presets (not in presentation), then the panels.
void draw_stage_area(Shell& shell, ImVec2 size);

/// The whole screen while presenting: the stage, a strip of at most three inputs, dots for the panels.
void draw_presentation(Shell& shell, ImVec2 at, ImVec2 size);

/// While presenting: to the next or the previous panel; past the last one, to the step of the lesson that plays.
void turn_page(Shell& shell, int steps);

}  // namespace app
