#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/charts/rows.h"

namespace widgets {

struct EventRugOptions {
  double lo = std::numeric_limits<double>::quiet_NaN(), hi = lo;        ///< ends of the axis; NaN: of the events
  double expected_per_unit = std::numeric_limits<double>::quiet_NaN();  ///< events a unit of the axis; NaN: not known
  std::string_view label = "events", unit{}, axis_label{};
  std::string_view expected_words = "expected";  ///< after the number that `expected_per_unit` gives
  Tint tint = Tint::series(0);
  ImVec2 size{0, 0};  ///< pixels; 0: the width left, 64 design pixels high
  /// Pixels kept free at the left and right, so that the rug stands under a plot with these gutters.
  float left_px = 0, right_px = 0;
  bool axis = true;
};

struct EventBin {
  float from = 0, to = 0;  ///< screen x
  std::size_t count = 0;
  float top = 0;  ///< screen y of the bar's top
};
struct EventRugLayout {
  Rect strip{};  ///< Where ticks or bars stand.
  Range range{0, 1};
  AxisMap map;
  int axis_lines = 0;          ///< as row_axis_lines says
  bool dense = false;          ///< more than one event a 3 px: bars a bin instead of ticks
  std::vector<float> ticks;    ///< screen x of each event; empty when dense
  std::vector<EventBin> bins;  ///< bins of equal width, empty ones too; none when sparse
  double bin_width = 0;        ///< The width of a bin in the axis's unit.
  double expected = std::numeric_limits<double>::quiet_NaN();  ///< events over the whole range
  float expected_y = 0;                           ///< screen y of the expected count a bin; 0: none or beyond the strip
  std::size_t inside = 0, outside = 0, most = 0;  ///< events in and out of the range; the fullest bin
};
/// Ticks while they can be told apart, else a histogram that is as high as the strip.
void layout_event_rug(std::span<const double> events, const EventRugOptions& options, Rect area, EventRugLayout& out);

struct EventRugView {
  EventRugLayout layout;
};
/// Events on an axis: when they happened and how often. Events that are not finite are left out.
void draw_event_rug(const char* label, std::span<const double> events, EventRugView& view,
                    const EventRugOptions& options = {});

}  // namespace widgets
