#pragma once
#include <array>

#include "chapters/kernels/bank_conflicts/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/wrapped_text.h"

/// The parts of the hero and where they stand, in screen pixels.
namespace chapters::kernels::bank_conflicts {

/// One of the three: words, a place for the hand, the tile over its banks, what hangs under it.
struct ColumnLayout {
  float left = 0, width = 0, gutter = 0, cell_w = 1, cell_h = 1;
  float title_y = 0, cost_y = 0, axis_y = 0, count_y = 0, hang_y = 0, bottom = 0;
  widgets::Rect control{}, grid{};

  float row_y(int row) const { return grid.min.y + static_cast<float>(row) * cell_h; }
  widgets::Rect cell(int row, int bank) const;     ///< in the tile
  widgets::Rect hanging(int row, int bank) const;  ///< in the wavefronts, counted over all phases
};
struct BanksLayout {
  std::array<ColumnLayout, 3> columns;
  bool told = true;  ///< there is room for a sentence under the wavefronts
};
/// For tiles of so many lines of memory and so many wavefronts under them.
BanksLayout layout_banks(int lines, int wavefronts, ImVec2 at, ImVec2 size);

/// What the hand takes: the column or row that is read, the end of the padded row, the bits of the XOR.
void draw_handles(Inputs& in, const Outputs& out, const Picture& pic, const BanksLayout& layout);

}  // namespace chapters::kernels::bank_conflicts
