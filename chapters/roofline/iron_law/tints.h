#pragma once
#include "models/machine/iron_law_effects.h"
#include "widgets/base/parts.h"
#include "widgets/table/table.h"

namespace chapters::roofline::iron_law {

/// The colour of a part of the time, the same in all parts of the picture.
inline widgets::Tint tint_of(models::IronPart part) {
  using widgets::Meaning;
  return part == models::IronPart::memory    ? Meaning::memory_bound
         : part == models::IronPart::compute ? Meaning::compute_bound
                                             : Meaning::launch_bound;
}

/// Its mark, which tells it without colour.
inline void part_mark(const widgets::Painter& painter, ImVec2 centre, std::size_t part) {
  using widgets::Marker;
  constexpr Marker shapes[] = {Marker::circle, Marker::square, Marker::triangle};
  const ImU32 colour = widgets::colour(tint_of(static_cast<models::IronPart>(part)), widgets::theme());
  widgets::paint_row_mark(painter, {shapes[part], colour}, centre, widgets::theme().px(4.5f));
}

}  // namespace chapters::roofline::iron_law
