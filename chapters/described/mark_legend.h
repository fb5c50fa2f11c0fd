#pragma once
#include <imgui.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/base/parts.h"

/// A row of small marks over a picture, each with what it means: for pictures whose marks are no series of a plot.
namespace chapters {

enum class LegendMark : std::uint8_t {
  shades,   ///< three of a ramp
  wanted,   ///< accent in a frame
  padding,  ///< empty with a stroke
  row,      ///< accent in a row of its own
  button,   ///< a pressed bit
  thread,   ///< a line from point to point
  held,     ///< a dashed frame
  tower,    ///< blocks on each other
  number,   ///< a digit in a cell
  copies,   ///< four cells parted by thick lines
};
struct MarkEntry {
  std::string_view label;
  LegendMark mark;
};
/// Draws them at `at`, in rows of at most `width` px, and returns their height in px; `placed` is kept by the View.
float draw_mark_legend(std::span<const MarkEntry> entries, ImVec2 at, float width,
                       std::vector<widgets::PlacedLegend>& placed);

}  // namespace chapters
