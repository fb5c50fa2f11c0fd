#pragma once
#include <imgui.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "widgets/plot/axis.h"

/// Where the parts of a plot go. Pure; pixels only.
namespace widgets {

struct Box {
  ImVec2 min{}, max{};
  float width() const { return max.x - min.x; }
  float height() const { return max.y - min.y; }
  bool empty() const { return !(max.x > min.x) || !(max.y > min.y); }
  bool contains(ImVec2 p) const { return p.x >= min.x && p.x <= max.x && p.y >= min.y && p.y <= max.y; }
  bool overlaps(const Box& o) const { return min.x < o.max.x && o.min.x < max.x && min.y < o.max.y && o.min.y < max.y; }
};

/// A value to draw. `y2` is the other end of an area, a bar or an error bar. NaN breaks a line.
struct PlotPoint {
  double x = 0, y = 0, y2 = 0;
};

/// Cuts the segment to the box; false when nothing of it is inside or an end is not a number.
bool clip_segment(double& ax, double& ay, double& bx, double& by, const Box& box);

/// Differs whenever the values do, but for an accident of one in 2^64.
std::uint64_t fingerprint(std::span<const double> values);

/// At most four points a column: first, lowest, highest and last of each run that falls into it, in their order, so
/// that the picture is the one that all points would give. Not-a-number points stay as breaks. `xs` need not be sorted.
void decimate(std::span<const double> xs, std::span<const double> ys, const AxisMap& x, int columns,
              std::vector<PlotPoint>& out);
/// One point a column with the highest `upper` and the lowest `lower`.
void decimate_band(std::span<const double> xs, std::span<const double> upper, std::span<const double> lower,
                   const AxisMap& x, int columns, std::vector<PlotPoint>& out);

/// Grows a range by the finite values (on a log axis the positive ones). Starts empty: lo > hi.
struct RangeFinder {
  double lo = HUGE_VAL, hi = -HUGE_VAL;
  bool positive_only = false;
  void add(double v) {
    if (!(v > -HUGE_VAL && v < HUGE_VAL) || (positive_only && !(v > 0))) return;
    if (v < lo) lo = v;
    if (v > hi) hi = v;
  }
  bool any() const { return lo <= hi; }
};

/// The part of a plot that shows data, and the ticks around it.
struct PlotFrame {
  Box area;
  AxisMap x, y;
  AxisTicks x_ticks, y_ticks;
  NumberText x_title, y_title;
};
/// What else takes room around the data, in pixels.
struct FrameRoom {
  float above_px = 0;         ///< for title and legend
  float least_gutter_px = 0;  ///< left of the data, for plots that stand under each other
  float right_px = 0;         ///< for names at the ends of lines
  bool x_axis = true;         ///< false: another plot below draws it
};
/// Leaves room for the labels that the ranges need. The y axis is named on a line of its own above the frame.
void layout_frame(const Box& outer, const FrameRoom& room, const AxisSpec& x, const AxisSpec& y, Range x_range,
                  Range y_range, float (*width_px)(std::string_view), float line_px, PlotFrame& out);
/// Where texts of `line_px` height go that want their middles at `wanted` (ascending): in order, `gap_px` between them,
/// within [lo, hi] where they fit there at all, as near as that allows. Writes over `wanted`.
void spread_labels(std::span<float> wanted, float line_px, float gap_px, float lo, float hi);

/// The point of segment ab that is nearest to p; squared distance in pixels.
float nearest_on_segment(ImVec2 p, ImVec2 a, ImVec2 b, ImVec2& at);

}  // namespace widgets
