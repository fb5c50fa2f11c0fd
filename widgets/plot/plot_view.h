#pragma once
#include <imgui.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "widgets/base/marker.h"
#include "widgets/plot/plot_labels.h"
#include "widgets/plot/plot_layout.h"

/// What a plot remembers between frames. A lab keeps one PlotView per plot in its View.
namespace widgets {

/// Text kept in PlotScratch::text.
struct PlotText {
  std::uint32_t at = 0, length = 0;
};

struct PlotSeries {
  enum class Kind : std::uint8_t { line, steps, area, scatter, bars, errors } kind{};
  PlotText label, info;
  ImU32 colour = 0;
  float width = 2, radius = 5, alpha = 1, offset = 0;
  bool dashed = false, label_line = false;
  Marker marker = Marker::circle;
  int legend_index = -1;  ///< bit in PlotView::hidden; -1: not in the legend
  bool hidden = false;
  const double* outside[3] = {};  ///< x, y, y2 of data that was too long to copy; else null
  std::size_t inside[3] = {};     ///< where the copies start in PlotScratch::data
  bool has_y2 = false;
  std::size_t n = 0;
  std::uint64_t version = 0;
  std::size_t first_point_label = 0, point_labels = 0;
};

struct PlotMark {
  enum class Kind : std::uint8_t { vertical, horizontal, arrow, text, handle, handle_x, handle_y } kind{};
  PlotText label;
  ImU32 colour = 0;
  double x = 0, y = 0, x2 = 0, y2 = 0;
  bool dashed = false, hot = false;
  Marker marker = Marker::circle;
};

/// A series reduced to what the pixels can show, kept while neither the data (by version) nor the view changes.
struct PlotCache {
  const double *x = nullptr, *y = nullptr;
  std::size_t n = 0;
  std::uint64_t version = 0;
  AxisKind kind{}, y_kind{};
  double lo = 0, hi = 0, y_lo = 0, y_hi = 0;
  float width = 0, height = 0;
  std::vector<PlotPoint> points;
  const double *range_x = nullptr, *range_y = nullptr;
  std::size_t range_n = 0;
  std::uint64_t range_version = 0;
  RangeFinder x_range, y_range;
};

/// Room that is reused from frame to frame, so that a steady frame allocates nothing. Not to be saved.
struct PlotScratch {
  std::vector<char> text;
  std::vector<double> data;
  std::vector<PlotSeries> series;
  std::vector<PlotMark> marks;
  std::vector<PlotText> point_labels;
  std::vector<PlotCache> caches;
  std::vector<ImVec2> points, other_points;
  std::vector<std::uint8_t> seen;
  Occupancy room;
  std::vector<Box> placed;  ///< names written this frame
  PlotFrame frame;
  Box area_from_corner;  ///< last frame's area, relative to the plot's corner: where handles are offered this frame
  bool boxing = false, handle_active = false;
  ImVec2 box_from{}, grab{};
};

struct PlotView {
  double x_lo = 0, x_hi = 0, y_lo = 0, y_hi = 0;  ///< what is shown, in the axes' units
  bool zoomed = false;                            ///< false: the view follows the data
  std::uint64_t hidden = 0;                       ///< one bit a legend entry, in order
  PlotScratch scratch;

  /// Where the plot showed its data when it was last drawn, in screen pixels; empty before the first frame.
  const Box& data_area() const { return scratch.frame.area; }
  /// Screen pixels of a value in that area's axes; outside what is shown, it lies outside the area.
  float x_pixel(double x) const { return static_cast<float>(scratch.frame.x.pixel(x)); }
  float y_pixel(double y) const { return static_cast<float>(scratch.frame.y.pixel(y)); }
};

}  // namespace widgets
