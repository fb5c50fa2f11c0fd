#pragma once
#include <imgui.h>

#include "chapters/roofline/hierarchy/lab.h"

namespace chapters::roofline::hierarchy {

/// The figures of the chosen level, each with how it is known and, where there is room, its source.
void draw_facts(const Outputs& out, const Picture& pic, ImVec2 at, ImVec2 size);
/// Watts of memory traffic before and after fusion, on an axis that ends at the TDP of all chips.
void draw_power(const Outputs& out, const Picture& pic, ImVec2 at, float width, bool scale);

}  // namespace chapters::roofline::hierarchy
