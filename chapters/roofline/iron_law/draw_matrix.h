#pragma once
#include "chapters/roofline/iron_law/lab.h"

namespace chapters::roofline::iron_law {

/// Techniques down, quantities across, in `size` pixels at the cursor: what each press moves, by how much, and what it
/// is worth. Under them, the speedup if a part took no time. Every row is an item with the technique's label; the view
/// is told which one is under the pointer. Returns the row of Outputs::rows that was pressed, or -1.
int draw_technique_matrix(const Outputs& out, const Picture& picture, View& view, ImVec2 size);

}  // namespace chapters::roofline::iron_law
