#pragma once
#include "models/machine/iron_law_effects.h"
#include "widgets/base/parts.h"

namespace chapters::roofline::iron_law {

/// The colour of a part of the time, the same in all parts of the picture.
inline widgets::Tint tint_of(models::IronPart part) {
  using widgets::Meaning;
  return part == models::IronPart::memory    ? Meaning::memory_bound
         : part == models::IronPart::compute ? Meaning::compute_bound
                                             : Meaning::launch_bound;
}

}  // namespace chapters::roofline::iron_law
