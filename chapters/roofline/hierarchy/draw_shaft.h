#pragma once
#include <imgui.h>

#include "chapters/roofline/hierarchy/lab.h"

namespace chapters::roofline::hierarchy {

/// The levels down a shaft whose depth is latency, on one log axis with human times at its left and true ones at its
/// right; roads are as wide as their bandwidth. Beside it hangs the fetch from the chosen level, asked for in three
/// ways. From the cursor in `size` pixels; a click on a station chooses its level.
void draw_shaft(Inputs& inputs, const Outputs& outputs, const Picture& picture, ImVec2 size);

}  // namespace chapters::roofline::hierarchy
