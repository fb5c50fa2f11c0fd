#pragma once
#include <imgui.h>

#include "chapters/roofline/hierarchy/lab.h"

namespace chapters::roofline::hierarchy {

/// Rows of levels with their figures as bars on log axes. A click on a row chooses its level.
/// `at` and `size` are screen pixels; every row is an item labelled with its level's name.
void draw_ladder(Inputs& inputs, const Outputs& outputs, const Picture& picture, ImVec2 at, ImVec2 size);

/// Colour of a level, the same in all parts of the picture.
ImU32 level_colour(const LevelRow& row);
/// A bar whose fill says how the figure is known: measured solid, specified solid with an end cap, computed hatched,
/// assumed outlined.
void basis_bar(ImVec2 min, ImVec2 max, ImU32 colour, models::Basis basis);
/// Swatches and names of the four kinds of fill, ending at `right`.
void basis_legend(float right, float y);
float basis_legend_width();

}  // namespace chapters::roofline::hierarchy
