#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "models/machine/iron_law_effects.h"

namespace chapters::roofline::iron_law {

/// One technique beside the six quantities of the law.
struct MatrixRow {
  std::string_view label, why;
  bool on = false, overlaps = false;
  std::array<double, models::iron_term_count> factor{1, 1, 1, 1, 1, 1};
  double alone = 1;  ///< speedup of this technique alone
  double now = 1;    ///< speedup it adds to what is on, or that would be lost without it
};

/// Techniques down, quantities across: what each press moves, by how much, and what it is worth. Under them, the
/// speedup if a part took no time. Every row is an item with the technique's label. Returns the row pressed, or -1.
int draw_technique_matrix(std::span<const MatrixRow> rows, const std::array<double, models::iron_part_count>& bounds);

}  // namespace chapters::roofline::iron_law
