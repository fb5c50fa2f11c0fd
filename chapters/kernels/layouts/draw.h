#pragma once
#include "chapters/kernels/layouts/lab.h"

/// The parts of the picture; each draws at the cursor in a box of this size.
namespace chapters::kernels::layouts {

/// Three maps of the same cells, and under each the held column over its 32 banks.
void draw_maps(Inputs& in, const Picture& pic, View& view, ImVec2 size);
/// A and what was made of it, tinted by the parts of A.
void draw_sides(const Picture& pic, ImVec2 size);
/// Operands, result, and its elements next to what is promised.
void draw_algebra(const Outputs& out, const Picture& pic, View& view, ImVec2 size);
/// Which thread holds which element of an operand.
void draw_fragment(Inputs& in, const Picture& pic, ImVec2 size);

/// The i-th of so many cells in a row of `room` px.
struct CellGrid {
  ImVec2 at{};
  float step = 0;
  int rows = 0, columns = 0;

  CellGrid(ImVec2 corner, ImVec2 room, int rows, int columns);
  ImVec2 min(int row, int column) const {
    return {at.x + step * static_cast<float>(column), at.y + step * static_cast<float>(row)};
  }
  float gap() const { return step > 7 ? 1.0f : 0.0f; }
  float width() const { return step * static_cast<float>(columns); }
  float height() const { return step * static_cast<float>(rows); }
  /// Under the pointer; -1: none.
  int row_at(ImVec2 p) const;
  int column_at(ImVec2 p) const;
};

/// Lines where one part of A ends and another begins.
void paint_part_lines(const PartsMap& map, const CellGrid& grid);

}  // namespace chapters::kernels::layouts
