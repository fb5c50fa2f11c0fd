#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/charts/rows.h"

namespace widgets {

struct IntervalRow {
  std::string_view label;
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;  ///< the interval; NaN: not known
  double value = std::numeric_limits<double>::quiet_NaN();            ///< the estimate: a dot; NaN: none
  double goal = std::numeric_limits<double>::quiet_NaN();             ///< what is aimed at; NaN: none
  std::int64_t n = -1;                                                ///< observations behind it; -1: not said
  std::string_view info{};
};

struct IntervalBarOptions {
  double lo = 0, hi = 1;  ///< ends of the axis, in the unit
  std::string_view unit{}, axis_label{}, goal_label = "goal";
  ImVec2 size{0, 0};  ///< pixels; 0: the width left, and the height that the rows need
  float row_px = 24;  ///< design pixels a row
  bool axis = true;
};

struct IntervalPlace {
  Rect bar{};  ///< The interval's bar; empty where it is not known.
  float value_px = 0, goal_px = 0;
  bool has_interval = false, has_value = false, has_goal = false;
};
struct IntervalBarLayout {
  Rect plot{};
  AxisMap map;
  RowStack stack;
  std::vector<IntervalPlace> rows;
  float n_right = 0, value_right = 0;  ///< right ends of the columns of figures; 0: no room for that column
  int axis_lines = 0;                  ///< as row_axis_lines says
  Line problem;
};
/// Rows on one axis from `lo` to `hi`; what lies beyond ends at the edge. The value's column stays longer than that of
/// n.
void layout_interval_bars(std::span<const IntervalRow> rows, const IntervalBarOptions& options, Rect area,
                          Measure measure, IntervalBarLayout& out);

struct IntervalBarView {
  std::int64_t selected = -1;
  IntervalBarLayout layout;
};
/// How far an estimate and its interval are from a goal. Returns true when a click changed the selection.
bool draw_interval_bars(const char* label, std::span<const IntervalRow> rows, IntervalBarView& view,
                        const IntervalBarOptions& options = {});

}  // namespace widgets
