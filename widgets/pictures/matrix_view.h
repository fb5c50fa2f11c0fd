#pragma once
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "widgets/charts/rows.h"

namespace widgets {

/// A matrix by its cells; NaN: no value. `revision` must change when the values do.
struct MatrixData {
  std::size_t rows = 0, cols = 0;
  double (*at)(const void* context, std::size_t row, std::size_t col) = nullptr;
  const void* context = nullptr;
  std::uint64_t revision = 0;
};

struct MatrixOptions {
  std::string_view row_title = "row", col_title = "column", value_title = "value", unit{};
  std::size_t group_rows = 0,
              group_cols = 0;  ///< cells of a group, such as 1 x 4; 0: an eighth of the side, at least 1
  double lo = std::numeric_limits<double>::quiet_NaN(), hi = lo;  ///< ends of the ramp; NaN: of the values
  bool blank_zero = false;                                        ///< an exact 0 has no colour: masks, pruned weights
  ImVec2 size{0, 0};                                              ///< pixels; 0: what is left, 260 design pixels high
};

/// One pane: the whole matrix folded into cells that can be seen, or one group.
struct MatrixPane {
  Rect grid{};
  std::size_t first_row = 0, first_col = 0, data_rows = 0, data_cols = 0;  ///< Which part of the data it shows.
  std::size_t rows = 0, cols = 0;                                          ///< shown cells, at most 10,000
  std::vector<double> cells;  ///< mean of the finite values that a shown cell stands for; NaN: it has none
  bool numbers = false;
  Rect cell(std::size_t row, std::size_t col) const;  ///< The place of a shown cell.
  /// Middle of a data row or column on the screen; the pane shows it.
  float row_px(std::int64_t row) const;
  float col_px(std::int64_t col) const;
  bool shows(std::int64_t row, std::int64_t col) const;
};
struct MatrixLayout {
  MatrixPane whole, zoom;  ///< `zoom` has no cells while nothing is chosen
  Rect group{};            ///< The chosen group in the whole; empty: none is chosen.
  std::size_t group_rows = 1, group_cols = 1;
  Range range{0, 1};
  float title_y = 0;  ///< screen y of the words under the panes
  Line problem;
};

/// What the pointer and the other pictures of a lab say about one matrix. Copy `cursor_row` and `cursor_col` between
/// Views to link pictures.
struct MatrixView {
  std::int64_t cursor_row = -1, cursor_col = -1;  ///< cell of the data; -1: none
  std::int64_t zoom_row = -1, zoom_col = -1;      ///< first cell of the chosen group; -1: none
  MatrixLayout layout;
  std::uint64_t layout_of = 0;
};

/// The matrix and, where a group is chosen, that group beside it. Reads every cell once, so call it once a change.
void layout_matrix(const MatrixData& data, const MatrixOptions& options, std::int64_t zoom_row, std::int64_t zoom_col,
                   Rect area, Measure measure, MatrixLayout& out);
/// Draws it; the pointer moves the cursor, a click zooms into a group and out again. Returns true when either changed.
bool draw_matrix(const char* label, const MatrixData& data, MatrixView& view, const MatrixOptions& options = {});

}  // namespace widgets
