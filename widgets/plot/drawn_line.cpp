#include "widgets/plot/drawn_line.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widgets {

void DrawnLine::begin(std::size_t samples, AxisKind kind, Range range) {
  values_.assign(samples, std::numeric_limits<double>::quiet_NaN());
  kind_ = kind;
  range_ = range;
  reach_ = cursor_ = pen_ = 0;
  down_ = false;
}

double DrawnLine::between(double a, double b, double share) const {
  return share >= 1
             ? b
             : axis_inverse(kind_, axis_forward(kind_, a) + share * (axis_forward(kind_, b) - axis_forward(kind_, a)));
}

void DrawnLine::stretch(std::size_t from, double from_value, std::size_t to, double to_value) {
  const std::size_t lo = std::min(from, to), hi = std::max(from, to);
  const double a = from <= to ? from_value : to_value, b = from <= to ? to_value : from_value;
  for (std::size_t i = lo; i <= hi; ++i)
    values_[i] = hi == lo ? to_value : between(a, b, static_cast<double>(i - lo) / static_cast<double>(hi - lo));
  reach_ = std::max(reach_, hi + 1);
}

std::size_t DrawnLine::stride() const { return values_.size() > 24 ? (values_.size() - 1) / 16 : std::size_t{1}; }

void DrawnLine::draw_to(std::size_t sample, double value) {
  if (values_.empty() || !std::isfinite(value)) return;
  sample = std::min(sample, values_.size() - 1);
  value = std::clamp(value, range_.lo, range_.hi);
  if (down_)
    stretch(pen_, values_[pen_], sample, value);
  else if (reach_ == 0)
    stretch(0, value, sample, value);
  else if (sample >= reach_)
    stretch(reach_ - 1, values_[reach_ - 1], sample, value);
  else
    values_[sample] = value;
  pen_ = cursor_ = sample;
  down_ = true;
}

void DrawnLine::step(int direction) {
  if (values_.empty()) return;
  down_ = false;
  if (reach_ == 0) {
    stretch(0, between(range_.lo, range_.hi, 0.5), 0, between(range_.lo, range_.hi, 0.5));
    cursor_ = 0;
  }
  const std::size_t by = stride();
  const std::size_t to = direction < 0 ? cursor_ - std::min(cursor_, by) : std::min(cursor_ + by, values_.size() - 1);
  if (to >= reach_) stretch(reach_ - 1, values_[reach_ - 1], to, values_[reach_ - 1]);
  cursor_ = to;
}

void DrawnLine::raise(double share) {
  if (values_.empty()) return;
  if (reach_ == 0) step(-1);
  const double from = axis_forward(kind_, range_.lo), to = axis_forward(kind_, range_.hi);
  const double value = std::clamp(axis_inverse(kind_, axis_forward(kind_, values_[cursor_]) + share * (to - from)),
                                  range_.lo, range_.hi);
  const std::size_t by = stride();
  const std::size_t left = cursor_ - std::min(cursor_, by), right = std::min(cursor_ + by, reach_ - 1);
  const double left_value = values_[left], right_value = values_[right];
  values_[cursor_] = value;
  if (left < cursor_) stretch(left, left_value, cursor_, value);
  if (right > cursor_) stretch(cursor_, value, right, right_value);
}

}  // namespace widgets
