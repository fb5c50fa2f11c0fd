#pragma once
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/base/motion.h"
#include "widgets/base/parts.h"
#include "widgets/plot/axis.h"

namespace widgets {

struct BarSegment {
  std::string_view label;
  double value = 0;  ///< in the chart's unit; what is negative or not finite is left out, and said so
  Tint tint{};
  std::string_view info{};  ///< formula and source, for the hover
  bool hatched = false;     ///< a second mark beside the colour: overlapped, estimated, optional
};

struct StackedBar {
  std::string_view label;
  std::span<const BarSegment> segments;  ///< empty: there is no value, which is not a total of 0, and none is written
  double measured = std::numeric_limits<double>::quiet_NaN();  ///< drawn beside the prediction; NaN: none
  std::string_view measured_source{};
};

struct StackedBarOptions {
  std::string_view unit{}, axis_label{};
  ImVec2 size{0, 0};  ///< pixels; 0: the width left, and the height that the bars need
  bool vertical = false, legend = true, totals = true;
  float bar_px = 30;                                        ///< design pixels across a bar, at most
  double limit = std::numeric_limits<double>::quiet_NaN();  ///< a marked value, such as a capacity
  std::string_view limit_label{};
  double axis_max = std::numeric_limits<double>::quiet_NaN();  ///< NaN: what the bars need
  double axis_least = 0;                                       ///< the axis reaches this far at least
  AxisKind axis = AxisKind::linear;                            ///< linear, time or bytes; a stack has no logarithm
};

/// What is written inside a segment, by the room that it has.
enum class BarCaption : std::uint8_t { none, letter, value, name, name_and_value };

struct BarPiece {
  std::size_t bar = 0, segment = 0;
  Rect rect{};
  BarCaption caption = BarCaption::none;
  ImVec2 caption_centre{};  ///< clear of the lines of limit and measurement
};
struct PlacedBar {
  Rect rect{};  ///< The place of all its segments; empty but in place when the total is 0.
  double total = 0;
  double measured_px = 0;  ///< along the axis; meaningful with has_measured
  bool has_measured = false;
};
struct StackedBarLayout {
  Rect plot{};
  Range range{0, 1};
  AxisMap map;
  std::vector<BarPiece> pieces;  ///< those at least half a pixel long, in order
  std::vector<PlacedBar> bars;
  std::vector<LegendEntry> legend;  ///< each label once, in order of appearance
  std::vector<PlacedLegend> placed_legend;
  float legend_height = 0;
  Line problem;  ///< one sentence about values that could not be shown; empty when all could
};

/// Bars in `area` on one axis from 0. Pieces of a bar touch, and their lengths add up to the bar's to the pixel.
void layout_stacked_bars(std::span<const StackedBar> bars, const StackedBarOptions& options, Rect area, Measure measure,
                         StackedBarLayout& out);

/// (total - measured) / measured: by how much the model is over. NaN when there is nothing to compare.
double residual_of(double predicted, double measured);
/// "11.8 ms, measured 12.3 ms (-4.1 %)".
Line total_text(const PlacedBar& placed, const StackedBar& bar, std::string_view unit);

struct StackedBarView {
  std::int64_t bar = -1, segment = -1;  ///< selected by click; -1: none
  StackedBarLayout layout;
  EasedValues eased;  ///< ends of pieces and bars on their way, as shares of the plot
  std::vector<double> ends;
};

/// Returns true when a click changed the selection.
bool draw_stacked_bars(const char* label, std::span<const StackedBar> bars, StackedBarView& view,
                       const StackedBarOptions& options = {});

}  // namespace widgets
