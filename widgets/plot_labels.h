#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "widgets/plot_layout.h"

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

 private:
  static constexpr float cell_px = 3;
  void block_cells(float x0, float y0, float x1, float y1);
  Box area_;
  int columns_ = 0, rows_ = 0;
  std::vector<std::uint8_t> taken_;
};

/// Each finds a box of `size`, takes it, and returns it; nothing when there is no room near enough.
/// Beside a dot of that radius: right, left, above, below, the corners, then once more further out.
std::optional<Box> place_by_point(Occupancy& room, ImVec2 at, float radius, ImVec2 size);
/// Along a line, above it if possible, starting at its right end.
std::optional<Box> place_along_line(Occupancy& room, std::span<const ImVec2> line, ImVec2 size, float gap);
/// Along a straight part of a steep line, turned with it and above it: where its top left goes and by how much it turns clockwise.
struct Slanted {
  ImVec2 at{};
  float degrees = 0;
};
std::optional<Slanted> place_on_slope(Occupancy& room, std::span<const ImVec2> line, ImVec2 size, float gap);
/// Beside a vertical line, from the bottom up.
std::optional<Box> place_by_vertical(Occupancy& room, float x, const Box& area, ImVec2 size, float gap);

}  // namespace widgets
