#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "widgets/number/number.h"

/// One axis of a picture: where values lie and which of them are named. Pure; pixels are doubles.
namespace widgets {

/// How values are spread over an axis and which of them are named.
enum class AxisKind : std::uint8_t {
  linear,       ///< even steps, named at 1, 2 and 5 times a power of ten
  log10,        ///< even factors, named at powers of ten
  log2,         ///< even factors, named at powers of two; bytes get binary prefixes: the axis for sizes that double
  time,         ///< even steps of seconds, named at 15 s, 5 min, 6 h and so on
  linear_bytes  ///< even steps of bytes, named at powers of two with binary prefixes; the axis itself is linear
};

struct AxisSpec {
  AxisKind kind = AxisKind::linear;
  /// First view, in the SI unit; NaN: what the data needs.
  double lo = std::numeric_limits<double>::quiet_NaN(), hi = std::numeric_limits<double>::quiet_NaN();
  std::string_view label{}, unit{};
  /// Names for the values 0, 1, 2...: the axis of a bar chart. Linear axes only.
  std::span<const std::string_view> categories{};
};

struct Range {
  double lo = 0, hi = 1;
};

bool is_log(AxisKind kind);
/// From a value into the space in which the axis is even (logarithm or itself), and back. Not positive on a log axis:
/// -infinity.
double axis_forward(AxisKind kind, double value);
double axis_inverse(AxisKind kind, double position);

/// A range that can be drawn: finite, lo < hi, positive on a log axis, wide enough for double to tell its ticks apart.
Range sane_range(AxisKind kind, Range range);
/// Zooms by `factor` (below 1: closer) with `about` staying where it is.
Range zoom_range(AxisKind kind, Range range, double about, double factor);
/// Moves by a fraction of the visible width, positive towards higher values.
Range pan_range(AxisKind kind, Range range, double fraction);
/// The range that shows the data with `padding` (a fraction of its width in axis space) on both sides.
Range fit_range(AxisKind kind, Range data, double padding);

/// Value to pixel and back. `start` may be above `end` (a y axis grows upwards).
class AxisMap {
 public:
  AxisMap() = default;
  AxisMap(AxisKind kind, Range range, double start_px, double end_px);
  double pixel(double value) const { return start_ + (axis_forward(kind_, value) - from_) * px_per_unit_; }
  double value(double pixel) const { return axis_inverse(kind_, from_ + (pixel - start_) / px_per_unit_); }
  AxisKind kind() const { return kind_; }
  double start() const { return start_; }
  double end() const { return end_; }

 private:
  AxisKind kind_ = AxisKind::linear;
  double start_ = 0, end_ = 1, from_ = 0, px_per_unit_ = 1;
};

struct Tick {
  double value = 0, pixel = 0;
  NumberText label;
};

/// Fixed room, so that laying out an axis allocates nothing.
struct AxisTicks {
  std::array<Tick, 64> major_room;
  std::array<double, 256> minor_room;  ///< pixels
  std::size_t major_count = 0, minor_count = 0;
  NumberText unit;  ///< what the numbers are in: "TFLOP/s"; empty when every label names its own
  std::span<const Tick> major() const { return {major_room.data(), major_count}; }
  std::span<const double> minor() const { return {minor_room.data(), minor_count}; }
};

/// How much of the axis a label takes, in pixels: its width on an x axis, the line height on a y axis.
struct LabelMeasure {
  float (*width_px)(std::string_view) = nullptr;
  float line_px = 14;
  bool vertical = false;
  float extent(std::string_view s) const { return vertical ? line_px : width_px(s); }
  float gap() const { return vertical ? line_px * 0.9f : line_px * 1.2f; }
};

/// Round ticks whose labels keep clear of each other.
void layout_ticks(const AxisSpec& spec, Range range, const AxisMap& map, const LabelMeasure& measure, AxisTicks& out);
/// "attainable (TFLOP/s)": the axis's name with what its numbers are in.
NumberText axis_title(const AxisSpec& spec, const AxisTicks& ticks);
/// A value on this axis as hover shows it, unit included.
NumberText axis_value(const AxisSpec& spec, double value, int significant = 4);

}  // namespace widgets
