#pragma once
#include "chapters/roofline/iron_law/lab.h"

namespace chapters::roofline::iron_law {

/// One bar a row on one axis, cut into the three parts: before, after each technique with what it took off, and now.
/// In `size` pixels at the cursor; rows without room are counted in words.
void draw_waterfall_rows(const Outputs& out, const Picture& picture, const View& view, ImVec2 size);

}  // namespace chapters::roofline::iron_law
