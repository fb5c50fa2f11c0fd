#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/charts/rows.h"

namespace widgets {

/// By how much the output changes at the low and at the high end, in the output's unit; either may be negative. A
/// switch has one change and 0. Not finite: not known.
struct TornadoSpan {
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;
};
struct TornadoRow {
  std::string_view label;
  TornadoSpan alone;     ///< everything else as it is
  TornadoSpan on_top{};  ///< everything else changed before; drawn hatched under the first
  std::string_view info{};
};

struct TornadoOptions {
  double base = 0;  ///< the output as it is, in its unit: the line about which the bars lie
  std::string_view base_label = "as it is", unit{}, axis_label{};
  ImVec2 size{0, 0};  ///< pixels; 0: the width left, and the height that the rows need
  float row_px = 26;  ///< design pixels a row
  bool sorted = true;
};

/// One bar about the base line; a side without length is empty at the line.
struct TornadoBar {
  Rect fall{}, rise{};
  double low = 0, high = 0;  ///< the ends as changes: low <= 0 <= high
  bool known = false;
};
struct TornadoPlace {
  std::size_t row = 0;  ///< The row of the data.
  TornadoBar alone, on_top;
};
struct TornadoLayout {
  Rect plot{};  ///< Where rows and grid lie.
  Range range{0, 1};
  AxisMap map;        ///< from values of the output to screen x
  float base_px = 0;  ///< screen x of the base line
  RowStack stack;
  std::vector<TornadoPlace> rows;  ///< shown ones, the largest first where sorted
  float head = 0;                  ///< pixels above the rows: legend and the base line's label
  bool values = false;             ///< the ends have room for their values
  bool has_on_top = false;
  bool compact = false;  ///< both bars share one line of text; the values are those of the first
  int axis_lines = 0;    ///< as row_axis_lines says
  bool legend = false;
  UnitScale unit;  ///< one multiple for all values
  Line problem;    ///< one sentence about what could not be shown
  std::vector<std::size_t> order;
};

/// "+3.1 ms" in the layout's multiple.
Line tornado_text(double change, const UnitScale& unit);
/// Bars of all rows in `area` on one axis of the output.
void layout_tornado(std::span<const TornadoRow> rows, const TornadoOptions& options, Rect area, Measure measure,
                    TornadoLayout& out);

struct TornadoView {
  std::int64_t selected = -1;  ///< row of the data, chosen by click; -1: none
  TornadoLayout layout;
};
/// Which change moves one output most. Returns true when a click changed the selection.
bool draw_tornado(const char* label, std::span<const TornadoRow> rows, TornadoView& view,
                  const TornadoOptions& options = {});

}  // namespace widgets
