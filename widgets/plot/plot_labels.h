#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "widgets/plot/plot_layout.h"

/// Finds room for labels, so that none crosses a line, a dot, another label or the frame. Pure.
namespace widgets {

/// What is already taken, on a grid of small cells: cheap however many lines there are. A free box is truly free.
class Occupancy {
 public:
  void reset(const Box& area);
  void block(const Box& box);
  void block_segment(ImVec2 a, ImVec2 b, float half_width);
  /// True when the whole box lies inside the area on free cells.
  bool is_free(const Box& box) const;
  bool is_free(ImVec2 point) const;
  /// True when no cell under the line from a to b is taken; `skip_px` of its start do not count (its own dot).
  bool is_clear(ImVec2 a, ImVec2 b, float skip_px) const;
  /// How many cells of the box are taken, looking at every second one each way.
  int taken_in(const Box& box) const;

 private:
  static constexpr float cell_px = 3;
  void block_cells(float x0, float y0, float x1, float y1);
  Box area_;
  int columns_ = 0, rows_ = 0;
  std::vector<std::uint8_t> taken_;
};

/// Text that reads along a slope: `at` is where its top left corner goes, turned by `degrees` clockwise about it.
struct SlopedPlace {
  ImVec2 at{};
  float degrees = 0;
};

/// Each finds a place for `size`, takes it, and returns it; nothing when there is no room near enough.
/// Beside a dot of that radius: right, left, above, below, the corners, then the same further out. What is far needs a
/// leader (leader_needed), which crosses neither what is taken nor the boxes in `placed`.
std::optional<Box> place_by_point(Occupancy& room, ImVec2 at, float radius, ImVec2 size,
                                  std::span<const Box> placed = {});
/// Along a line, above it if possible, starting at its right end.
std::optional<Box> place_along_line(Occupancy& room, std::span<const ImVec2> line, ImVec2 size, float gap);
/// Along a straight stretch of a line that is too steep for level text.
std::optional<SlopedPlace> place_along_slope(Occupancy& room, std::span<const ImVec2> line, ImVec2 size, float gap);
/// Beside a vertical line, from the bottom up.
std::optional<Box> place_by_vertical(Occupancy& room, float x, const Box& area, ImVec2 size, float gap);
/// Where a box of `size` covers least of what is taken, near the anchor but `clear_px` away from it, with a leader that
/// crosses least. Always within the area; takes nothing.
Box place_callout(const Occupancy& room, ImVec2 anchor, const Box& area, ImVec2 size, float clear_px);
/// Where a thin line from the dot should end at its label; nothing while the label is beside the dot.
std::optional<ImVec2> leader_needed(ImVec2 at, float radius, const Box& label);

}  // namespace widgets
