#pragma once
#include <imgui.h>

#include "chapters/roofline/hierarchy/lab.h"
#include "widgets/base/painter.h"

namespace chapters::roofline::hierarchy {

/// Rows of levels with their figures as dots on log axes, from the cursor in `size` pixels. A click on a row chooses
/// its level; every row is an item labelled with its level's name. Where there is no room, energy goes first, then
/// time, then capacity.
void draw_ladder(Inputs& inputs, const Outputs& outputs, const Picture& picture, ImVec2 size);

/// Into the record, where there is one: every figure of every level with its source.
void record_levels(const Outputs& outputs, const Picture& picture);

/// A dot whose shape says how the figure is known: specified filled, measured a filled diamond, computed hollow,
/// assumed thin with a point in it.
void basis_dot(const widgets::Painter& painter, ImVec2 at, ImU32 colour, models::Basis basis);

}  // namespace chapters::roofline::hierarchy
