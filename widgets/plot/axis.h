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
  linear,        ///< even steps, named at 1, 2 and 5 times a power of ten
  log10,         ///< even factors, named at powers of ten
  log2,          ///< even factors, named 2^k; bytes get binary prefixes; a range within 1 to 1,024 is named in full
  time,          ///< even steps of seconds, named at 15 s, 5 min, 6 h and so on
  linear_bytes,  ///< even steps of bytes, named at powers of two with binary prefixes; the axis itself is linear
  category       ///< the positions 0, 1, 2... with a word each (AxisSpec::categories), nothing between them
};

struct AxisSpec {
  AxisKind kind = AxisKind::linear;
  /// First view, in the SI unit; NaN: what the data needs.
  double lo = std::numeric_limits<double>::quiet_NaN(), hi = std::numeric_limits<double>::quiet_NaN();
  std::string_view label{}, unit{};
  /// Names for the values 0, 1, 2...: the axis of a bar chart. Makes a linear axis one of categories.
  std::span<const std::string_view> categories{};
  /// On a log axis: a band beyond its low end where zeros stand under this word ("exact"); empty: zeros are left out.
  std::string_view zero_word{};
  /// Binary prefixes: 64 Gi of what the unit counts, on any kind of axis.
  bool binary = false;
  /// Data further than so many decades beyond the fixed or marked window [window_lo, window_hi] stands at the edge with
  /// an arrow instead of stretching a log axis. NaN: no window.
  double window_lo = std::numeric_limits<double>::quiet_NaN(), window_hi = std::numeric_limits<double>::quiet_NaN();
  double window_decades = 3;
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
  /// With a band for zeros of `band_px` before the start of the scale.
  AxisMap(AxisKind kind, Range range, double start_px, double end_px, double band_px);
  double pixel(double value) const {
    if (has_zero_ && value == 0) return zero_px_;
    return start_ + (axis_forward(kind_, value) - from_) * px_per_unit_;
  }
  double value(double pixel) const {
    if (has_zero_ && (pixel - start_) * px_per_unit_ < 0) return 0;
    return axis_inverse(kind_, from_ + (pixel - start_) / px_per_unit_);
  }
  bool has_zero() const { return has_zero_; }
  double zero_pixel() const { return zero_px_; }  ///< the middle of the band
  AxisKind kind() const { return kind_; }
  double start() const { return start_; }
  double end() const { return end_; }

 private:
  AxisKind kind_ = AxisKind::linear;
  double start_ = 0, end_ = 1, from_ = 0, px_per_unit_ = 1, zero_px_ = 0;
  bool has_zero_ = false;
};
/// The map of an axis drawn from `start_px` to `end_px`: with the band for zeros where the spec has a word for them.
AxisMap axis_map(const AxisSpec& spec, Range range, double start_px, double end_px, double line_px);
/// Whether positions are categories: whole numbers with words.
inline bool is_category(const AxisSpec& spec) {
  return spec.kind == AxisKind::category || (!spec.categories.empty() && !is_log(spec.kind));
}

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
