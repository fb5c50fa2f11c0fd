#pragma once
#include <cstddef>

#include "widgets/base/parts.h"

/// Where the parts of the answering picture stand: the steps as a trace, the slab of a step's time beside them, and the
/// table of what each change takes below.
namespace chapters::profiling::step_trace {

struct HeroNeeds {
  float steps_height = 0;  ///< px that the trace needs with rows that can be read
  std::size_t bars = 0;    ///< in the slab
  std::size_t fixes = 0;   ///< rows of the table; 0: there is none
};

struct HeroPlan {
  widgets::Rect steps{}, slab{}, table{};
  bool has_slab = false, has_table = false;
};

/// Inside of `area`, without overlap. The trace always has a place; the table goes first where there is no room, then
/// the slab. `scale` is px a design pixel.
HeroPlan plan_hero(widgets::Rect area, const HeroNeeds& needs, float scale);

/// Height of the table for so many changes, design pixels: a head, the rows, and the sentence under them.
constexpr float order_table_height(std::size_t fixes) {
  return 22.0f + 21.0f * static_cast<float>(fixes) + (fixes > 1 ? 22.0f : 0.0f);
}

}  // namespace chapters::profiling::step_trace
