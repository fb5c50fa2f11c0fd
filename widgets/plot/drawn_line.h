#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "widgets/plot/axis.h"

/// A line that a person draws from left to right, one value a sample. Pure.
namespace widgets {

class DrawnLine {
 public:
  /// An empty line over `samples` places, whose values stay in `range` of an axis of that kind.
  void begin(std::size_t samples, AxisKind kind, Range range);

  /// The pen is at a sample and a value; everything between it and where the pen was becomes a straight stretch on the
  /// axis. A pen that comes down beyond the end of the line is joined to it; one that comes down on the line goes over
  /// what is there.
  void draw_to(std::size_t sample, double value);
  void lift() { down_ = false; }

  /// Moves the cursor by a sixteenth of the samples (at least one); past the end of the line it draws on, level.
  void step(int direction);
  /// Raises the line at the cursor by a share of the axis, below 0: lowers it. The stretches on both sides follow.
  void raise(double share);

  std::span<const double> values() const { return values_; }  ///< NaN where nothing is drawn
  std::size_t reach() const { return reach_; }                ///< samples drawn, from the first on
  std::size_t cursor() const { return cursor_; }
  bool whole() const { return reach_ > 0 && reach_ == values_.size(); }
  bool drawing() const { return down_; }

 private:
  double between(double a, double b, double share) const;
  void stretch(std::size_t from, double from_value, std::size_t to, double to_value);
  std::size_t stride() const;

  std::vector<double> values_;
  AxisKind kind_ = AxisKind::linear;
  Range range_;
  std::size_t reach_ = 0, cursor_ = 0, pen_ = 0;
  bool down_ = false;
};

}  // namespace widgets
