#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include "widgets/base/marker.h"
#include "widgets/base/painter.h"
#include "widgets/plot/axis.h"
#include "widgets/plot/plot_layout.h"

/// Plots while a question is open: the hatch of the veil with the axes' names and the grid, ticks where the question
/// gives the axis, and what it gives as a mark or as points. Nothing else of the data is drawn, and no range comes from
/// it.
namespace widgets {

/// An input as the question sets it. An axis of this name and unit runs over its range and marks its value.
struct GivenAxis {
  std::string_view label, unit;
  Range range{};
  double value = 0;
};

/// While this lives, plots paint nothing and leave the place and the names of their axes instead.
class VeilPlots {
 public:
  VeilPlots();
  ~VeilPlots();
  VeilPlots(const VeilPlots&) = delete;
  VeilPlots& operator=(const VeilPlots&) = delete;
};

/// Whether plots are veiled; then the plot at `outer` is noted. A plot inside a GivenMarks is not.
bool veil_plot(const Box& outer, const AxisSpec& x, const AxisSpec& y, bool x_axis);
/// Points of the plot noted last that a question gives: they stay under the veil, and an axis that no input gives runs
/// over them. Copied; what is not finite, or not positive on a logarithm, is left out. `radius` in design pixels.
void veil_points(std::span<const double> xs, std::span<const double> ys, Marker marker, float radius, ImU32 colour);
/// A line of the plot noted last that a question gives, likewise. `width` in design pixels.
void veil_line(std::span<const double> xs, std::span<const double> ys, float width, ImU32 colour);
/// How many plots were noted since the last VeilPlots began; at most twelve.
std::size_t veiled_plots();
/// Paints those: plate, hatch, grid, axes, and what is given.
void paint_veiled_plots(const Painter& painter, std::span<const GivenAxis> given);

}  // namespace widgets
