#pragma once
#include <imgui.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "widgets/base/marker.h"
#include "widgets/base/motion.h"
#include "widgets/plot/plot_labels.h"
#include "widgets/plot/plot_layout.h"
#include "widgets/plot/plot_reference.h"

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
  bool dashed = false, label_line = false, lit = false, given = false;
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
  enum class Kind : std::uint8_t {
    vertical,
    horizontal,
    arrow,
    text,
    handle,
    handle_x,
    handle_y,
    tag_x,
    tag_y,
    bracket,
    callout
  } kind{};
  PlotText label, note;
  ImU32 colour = 0;
  double x = 0, y = 0, x2 = 0, y2 = 0;
  bool dashed = false, hot = false, lit = false;
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
  std::vector<PlotPoint> ghost;  ///< what stood here before the data changed; empty: nothing else did
  Ease ease;                     ///< while it runs, `points` are on their way from `from` to `target`
  std::vector<PlotPoint> from, target;
  std::uint64_t name = 0;  ///< The series whose points these are.
};

/// Room that is reused from frame to frame, so that a steady frame allocates nothing. Not to be saved.
struct PlotScratch {
  std::uint64_t key = 0;  ///< The plot's key for PlotReference.
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
  bool ghost_held = false;       ///< a control is held: the ghost is the state from before it
  std::vector<PlotPoint> fresh;  ///< a series made anew, before it is taken over
  EasedValues marks_eased;       ///< places of marks in axis space, on their way
  std::vector<double> mark_places;
  ImVec2 box_from{}, grab{};
};

/// What plots of a group share: the width left of their data, the range of x, and the cursor. The lab's View holds one
/// and gives it to each of the group's plots; the lowest of them draws the axis (PlotOptions::x_axis).
struct PlotLink {
  Range x{};            ///< what all of them show, once every one of them was drawn
  bool zoomed = false;  ///< by the user, in any of them
  float gutter_px = 0;  ///< the widest that any of them needed in the frame before
  double cursor_x = std::numeric_limits<double>::quiet_NaN();  ///< where the mouse is over one of them; NaN: nowhere

  /// A plot of the group starts to be drawn in this frame: the first of a frame takes over what the last one gathered.
  void begin(int frame);
  void need_gutter(float px);
  void need_x(Range needed);
  bool ready() const { return x.lo < x.hi; }
  void point_at(double value) { next_cursor_ = value; }

 private:
  int frame_ = -1;
  float next_gutter_ = 0;
  RangeFinder next_x_;
  double next_cursor_ = std::numeric_limits<double>::quiet_NaN();
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
