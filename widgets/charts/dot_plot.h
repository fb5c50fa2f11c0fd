#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/charts/rows.h"

namespace widgets {

struct DotRow {
  std::string_view label;
  double bound = std::numeric_limits<double>::quiet_NaN();     ///< what a model allows: a hollow dot; NaN: none
  double measured = std::numeric_limits<double>::quiet_NaN();  ///< a filled dot; NaN: none
  Tint tint{};
  std::string_view info{};  ///< source, for the hover
};

struct DotPlotOptions {
  std::string_view unit{}, axis_label{};
  std::string_view bound_label = "bound", measured_label = "measured";
  AxisKind axis = AxisKind::linear;  ///< a linear axis starts at 0, a logarithmic one near the least value
  ImVec2 size{0, 0};                 ///< pixels; 0: the width left, and the height that the rows need
  float row_px = 24;                 ///< design pixels a row
};

/// Where a value stands: off the scale is at the edge, as an arrow.
struct DotMark {
  float x = 0;
  bool shown = false, off_scale = false;
};
struct DotRowPlace {
  DotMark bound, measured;
  double share = std::numeric_limits<double>::quiet_NaN();  ///< measured / bound
};
struct DotPlotLayout {
  Rect plot{};
  Range range{0, 1};
  AxisMap map;
  RowStack stack;
  std::vector<DotRowPlace> rows;            ///< shown ones, in the data's order
  float values_right = 0, share_right = 0;  ///< right ends of the columns of figures; 0: no room for that column
  float head = 0;                           ///< pixels of legend and column heads above the rows
  int axis_lines = 0;                       ///< as row_axis_lines says
  Line problem;
};
/// One row a category on one axis, figures at the right: the share of the bound stays longest, then the measured value.
void layout_dot_plot(std::span<const DotRow> rows, const DotPlotOptions& options, Rect area, Measure measure,
                     DotPlotLayout& out);

struct DotPlotView {
  std::int64_t selected = -1;  ///< row, chosen by click; -1: none
  DotPlotLayout layout;
};
/// Bound beside measured, with what is lost between them drawn. Returns true when a click changed the selection.
bool draw_dot_plot(const char* label, std::span<const DotRow> rows, DotPlotView& view,
                   const DotPlotOptions& options = {});

}  // namespace widgets
