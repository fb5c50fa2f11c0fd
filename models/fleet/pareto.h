#pragma once
#include <cstddef>
#include <span>
#include <vector>

/// Pareto fronts, and the ruler that finds the best point of one for an exchange rate.
namespace models::fleet {

/// One column of a front: what each point has, and whether more of it is better.
struct ParetoAxis {
  std::span<const double> values;
  bool high = true;
};

/// Those of `candidates` (indices of points) that no other dominates, in their order: another dominates where it is at
/// least as good on every axis and better on one, so that equal points stay together. Points that lack an axis (NaN)
/// are left out. At least one axis.
std::vector<std::size_t> pareto_front(std::span<const ParetoAxis> axes, std::span<const std::size_t> candidates);

/// A point as the ruler sees it: how good it is on two axes in steps, more is better. A step is a doubling or a unit.
struct RulerPoint {
  double across = 0, up = 0;
};

/// Where a ruler touches first that comes down on the points with a slope: `slope` steps up are given for one across.
struct RulerTouch {
  std::size_t point = 0;  ///< index; of several that are touched the first
  double from = 0;        ///< the slope may be as small as this, and the same point is touched
  double to = 0;          ///< and as large; infinite: no slope is too large
  std::size_t below = 0;  ///< which wins below `from`; the point itself where none does
  std::size_t above = 0;  ///< and above `to`
  double value = 0;       ///< slope x across + up
};
/// At least one point; slope >= 0.
RulerTouch touch_with_ruler(std::span<const RulerPoint> points, double slope);

/// A stretch of slopes in which one point wins.
struct RulerReign {
  std::size_t point = 0;
  double from = 0, to = 0;
};
/// Who wins from slope 0 to infinity, each point once: the corners of the upper hull. Other points of a front are
/// touched by no ruler.
std::vector<RulerReign> reigns_of(std::span<const RulerPoint> points);

}  // namespace models::fleet
