#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/charts/rows.h"

namespace widgets {

/// A port, unit or link: what is asked of it against what it can give, both in `unit`.
struct PortRow {
  std::string_view label;
  double demand = 0, supply = 0;  ///< not negative; a supply of 0 under a demand is infinitely tight
  std::string_view unit{};
  std::string_view info{};
};

struct PortBarOptions {
  std::string_view axis_label = "share of what it can give";
  ImVec2 size{0, 0};  ///< pixels; 0: the width left, and the height that the rows need
  float row_px = 26;  ///< design pixels a row
};

struct PortPlace {
  std::size_t row = 0;  ///< The row of the data.
  double load = 0;      ///< demand / supply; infinite without supply, NaN where either is no finite amount
  Rect track{};         ///< supply: from 0 to 100 %
  Rect bar{};           ///< demand up to the supply
  Rect over{};          ///< demand beyond it, up to the end of the axis; empty when there is none
  bool beyond_axis = false;
};
struct PortBarLayout {
  Rect plot{};
  Range range{0, 1};  ///< What the axis of loads spans, in percent.
  AxisMap map;
  RowStack stack;
  std::vector<PortPlace> rows;
  std::int64_t tightest = -1;               ///< row of the data with the highest load above 0; -1: none
  float load_right = 0, figures_right = 0;  ///< right ends of the columns of figures; 0: no room for that column
  int axis_lines = 0;                       ///< as row_axis_lines says
  Line problem;
};
/// Loads on one axis of percent, up to 200 % where some exceed their supply. The percentage stays longer than the
/// figures of demand and supply. A tightest row that folds away takes the last shown place.
void layout_port_bars(std::span<const PortRow> rows, const PortBarOptions& options, Rect area, Measure measure,
                      PortBarLayout& out);
/// "24 of 32 B/cycle".
Line port_figures(const PortRow& row);

struct PortBarView {
  std::int64_t selected = -1;
  PortBarLayout layout;
};
/// Demand against supply of each port, the tightest one marked. Returns true when a click changed the selection.
bool draw_port_bars(const char* label, std::span<const PortRow> rows, PortBarView& view,
                    const PortBarOptions& options = {});

}  // namespace widgets
