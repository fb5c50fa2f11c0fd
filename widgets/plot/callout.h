#pragma once
#include <string_view>

#include "widgets/base/painter.h"
#include "widgets/plot/plot_labels.h"

namespace widgets {

/// Pixels that a callout of these two lines takes, its border and air included; `words` may be empty.
ImVec2 callout_size(std::string_view bold, std::string_view words);
/// A bordered box with a leader to `anchor`, placed within `area` where it covers least of what `room` holds
/// (place_callout). Returns its box, which the caller may block for what comes after.
Box draw_callout(const Painter& painter, const Occupancy& room, ImVec2 anchor, const Box& area, std::string_view bold,
                 std::string_view words, ImU32 colour);

}  // namespace widgets
