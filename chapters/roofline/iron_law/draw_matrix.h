#pragma once
#include <array>
#include <span>

#include "chapters/roofline/iron_law/lab.h"

namespace chapters::roofline::iron_law {

/// Techniques down, quantities across: what each press moves, by how much, and what it is worth. Under them, the
/// speedup if a part took no time. Every row is an item with the technique's label. Returns the row pressed, or -1.
int draw_technique_matrix(std::span<const TechniqueRow> rows,
                          const std::array<double, models::iron_part_count>& bounds);

}  // namespace chapters::roofline::iron_law
