#pragma once
#include <string_view>

#include "widgets/base/painter.h"

/// Words on the canvas of the interview labs.
namespace chapters::interview {

/// Paints text in lines no wider than `width` px and returns their height in px. `paint` off measures alone.
float flow(const widgets::Painter& painter, ImVec2 at, std::string_view text, float width, ImU32 colour,
           widgets::Type type, widgets::Font font = widgets::Font::sans, bool paint = true);

/// A share from 0 to 1 as a bar with its label above and its figure on the right; `mark` is a thin line at the goal,
/// below 0 for none.
void share_bar(const widgets::Painter& painter, ImVec2 at, float width, std::string_view label, double share,
               double mark, bool known);

/// Green, amber or red, as far as the share is from the goal.
ImU32 share_colour(double share, double goal);

}  // namespace chapters::interview
