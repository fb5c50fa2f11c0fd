#pragma once
#include <imgui.h>

#include "chapters/roofline/hierarchy/lab.h"

namespace chapters::roofline::hierarchy {

/// The figures of the chosen level, each with how it is known and its source in full, from the cursor in `size` pixels.
void draw_facts(const Outputs& out, const Picture& pic, ImVec2 size);
/// Watts of memory traffic before and after fusion, on an axis that ends at the TDP of all chips.
void draw_power(const Outputs& out, const Picture& pic, ImVec2 size);

}  // namespace chapters::roofline::hierarchy
