#pragma once
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/base/parts.h"
#include "widgets/plot/axis.h"

namespace widgets {

enum class WaterfallRule : std::uint8_t {
  add,      ///< a step's value is added to what came before
  multiply  ///< what came before is multiplied by a step's value: losses of a peak
};

struct WaterfallStep {
  std::string_view label;
  double value = 0;
  Tint tint{};
  std::string_view info{};
};

struct WaterfallOptions {
  WaterfallRule rule = WaterfallRule::add;
  std::string_view start_label = "start", end_label = "end", unit{};
  Tint start_tint{}, end_tint{};
  ImVec2 size{0, 0};  ///< pixels; 0: what is left, and the height that the rows need
  float row_px = 34;  ///< design pixels of a row
  double measured = std::numeric_limits<double>::quiet_NaN();  ///< beside the end; NaN: none
  std::string_view measured_source{};
  AxisKind axis = AxisKind::linear;
};

struct WaterfallRow {
  double before = 0, after = 0;  ///< running values; start and end rows go from 0
  Rect bar{};                    ///< between the two, at least a pixel long
  float row_top = 0, row_bottom = 0;
  bool rises = false;
};
struct WaterfallLayout {
  Rect plot{};
  Range range{0, 1};
  AxisMap map;
  std::vector<WaterfallRow> rows;  ///< start, one per step, end
  Line problem;
};

/// One row a value, from the top: the start, each step from where the last ended, and the end. A step that is not
/// finite changes nothing and is named in `problem`.
void layout_waterfall(double start, std::span<const WaterfallStep> steps, const WaterfallOptions& options, Rect area,
                      Measure measure, WaterfallLayout& out);
/// "-12.4 ms" for an added step, "x 0.83" for a factor.
Line step_text(const WaterfallStep& step, const WaterfallOptions& options);

struct WaterfallView {
  std::int64_t selected = -1;  ///< row; -1: none
  WaterfallLayout layout;
};

/// Returns the end value.
double draw_waterfall(const char* label, double start, std::span<const WaterfallStep> steps, WaterfallView& view,
                      const WaterfallOptions& options = {});

}  // namespace widgets
