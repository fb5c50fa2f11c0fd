#pragma once
#include <string_view>

#include "widgets/base/painter.h"

/// Bars and colours of shares on the canvas of the interview labs.
namespace chapters::interview {

/// A share from 0 to 1 as a bar with its label above and its figure on the right; `mark` is a thin line at the goal,
/// below 0 for none.
void share_bar(const widgets::Painter& painter, ImVec2 at, float width, std::string_view label, double share,
               double mark, bool known);

/// Green, amber or red, as far as the share is from the goal.
ImU32 share_colour(double share, double goal);

}  // namespace chapters::interview
