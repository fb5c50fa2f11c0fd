#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/base/parts.h"
#include "widgets/plot/axis.h"

namespace widgets {

struct HeatData {
  std::span<const double>
      values;  ///< rows x cols, row by row; what is not finite (or not positive on a log scale) has no colour
  std::size_t rows = 0, cols = 0;
  std::span<const std::string_view> row_labels{}, col_labels{};  ///< empty: numbered from 0
  std::int64_t first_col = 0;  ///< number of the first column where col_labels is empty
  std::uint64_t revision = 0;  ///< raise it when more than 65,536 values change in place
};

enum class HeatFold : std::uint8_t { max, mean };

struct HeatMapOptions {
  std::string_view row_title{}, col_title{}, value_title{}, unit{};
  ImVec2 size{0, 0};  ///< pixels; 0: what is left, 300 design pixels high
  bool log = false;
  bool rows_up = false;                                           ///< row 0 at the bottom, as on a y axis
  bool numbers = true;                                            ///< in the cells, when all fit
  double lo = std::numeric_limits<double>::quiet_NaN(), hi = lo;  ///< ends of the ramp; NaN: of the data
  HeatFold fold = HeatFold::max;  ///< what stands for the cells that share one shown cell
};

struct HeatMapLayout {
  Rect grid{}, ramp{};
  std::size_t rows = 0, cols = 0;  ///< shown cells, at least 3 px a side, at most 10,000 of them
  std::vector<double> cells;       ///< rows x cols; NaN: no value
  Range range{0, 1};
  bool numbers = false, log = false, up = false;
  std::size_t row_label_stride = 1,
              col_label_stride = 1;  ///< data rows and columns from one label to the next: 1, 2, 5, 10, ...
  Line problem;

  Rect cell(std::size_t row, std::size_t col) const;
  /// The shown row or column that holds a data row of `of`.
  std::size_t shown_row(std::size_t row, std::size_t of) const { return ((row + 1) * rows - 1) / of; }
  std::size_t shown_col(std::size_t col, std::size_t of) const { return ((col + 1) * cols - 1) / of; }
  /// Position on the ramp, 0 to 1; NaN where there is no value.
  double position(double value) const;
};

/// Folds the matrix into cells that can be seen and places grid, ramp and labels.
void layout_heat_map(const HeatData& data, const HeatMapOptions& options, Rect area, Measure measure,
                     HeatMapLayout& out);

struct HeatMapView {
  std::int64_t row = -1, col = -1;  ///< selected by click, in the data's own rows and columns; -1: none
  HeatMapLayout layout;
  std::uint64_t layout_of = 0;
};

struct HeatMapEvents {
  std::int64_t row = -1, col = -1;  ///< under the pointer
  bool clicked = false;
};
HeatMapEvents draw_heat_map(const char* label, const HeatData& data, HeatMapView& view,
                            const HeatMapOptions& options = {});

}  // namespace widgets
