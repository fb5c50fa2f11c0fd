#pragma once
#include <imgui.h>

namespace app {

struct Shell;

/// The lessons that the learner has recorded, opened or put into their folder, a button each, from `at` on in `width`
/// px. Returns their height in px; 0 where there are none.
float draw_own_lessons(Shell& shell, ImVec2 at, float width);

}  // namespace app
