#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "models/numerics/float_format.h"

/// Where the values of a format lie on a line, for any stretch of it: counted exactly, listed where they are few.
namespace models {

enum class LineAxis : std::uint8_t {
  log2,     ///< log2 of the magnitude; the negative half is its mirror image
  linear,   ///< the value
  ordinal,  ///< the place among the format's finite values, as a share of the largest one's: 0 is zero, 1 the largest
};

/// The value at a place of the axis. Ordinal: of the value at or below that place.
double value_at(const FloatFormat& format, LineAxis axis, double coordinate);
/// The place of a value: log2 of 0 is -infinity.
double coordinate_of(const FloatFormat& format, LineAxis axis, double value);

struct LineStretch {
  double lo = 0, hi = 1;
};
/// All of the finite values, with a little room: what a first look shows.
LineStretch whole_line(std::span<const FloatFormat* const> formats, LineAxis axis);
/// The stretch that shows about `count` values on each side of x.
LineStretch around(const FloatFormat& format, LineAxis axis, double x, int count);
/// No closer than doubles can tell apart.
double min_span(LineAxis axis, double center);

/// How many values lie in each of `counts.size()` equal columns of the stretch: above the column's low edge, up to its
/// high edge. A count is exact up to 2^53. Returns the sum.
double count_columns(const FloatFormat& format, LineAxis axis, LineStretch stretch, std::span<double> counts);

struct LineValue {
  std::int64_t ordinal = 0;
  double value = 0, coordinate = 0;
};
/// The values of the stretch, at most `most`; empty when there are more.
std::vector<LineValue> values_in(const FloatFormat& format, LineAxis axis, LineStretch stretch, std::size_t most);

/// The value of a format that is nearest to a number; past the ends the largest and the lowest.
struct NearestValue {
  std::uint64_t code = 0;
  double value = 0;
  double step = 0;  ///< the spacing of values there (ulp)
  ValueKind kind = ValueKind::zero;
};
NearestValue nearest_value(const FloatFormat& format, double x);

enum class ValueSpread : std::uint8_t { none, normal, heavy, gradients, tensor };

/// Numbers that a tensor holds, as a distribution; symmetric about 0 but for `tensor`.
struct Tensor {
  ValueSpread spread = ValueSpread::normal;
  double size = 1;     ///< standard deviation (normal), scale of Student's t with 3 degrees of freedom (heavy), median
                       ///< magnitude (gradients)
  double octaves = 3;  ///< gradients: standard deviation of log2 of the magnitude
  double scale = 1;    ///< multiplies every number
  std::span<const float> sorted{};  ///< tensor: its numbers in ascending order
};
/// Share of the numbers that are <= x; of magnitudes that are <= m.
double share_below(const Tensor& tensor, double x);
double share_of_magnitudes_below(const Tensor& tensor, double m);

/// What becomes of the numbers when they are rounded to nearest. Shares, their sum is 1.
struct Fate {
  double underflow = 0, subnormal = 0, normal = 0, overflow = 0;
};
/// Underflow: not zero and rounded to zero, |x| <= smallest / 2. Overflow: |x| past half a step beyond the largest
/// value.
Fate fate_of(const FloatFormat& format, const Tensor& tensor);

}  // namespace models
