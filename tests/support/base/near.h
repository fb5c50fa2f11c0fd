#pragma once
#include <cmath>

namespace support {

/// Is `value` within `relative` of `expected`, as a share of `expected`? Not a number is near nothing; near 0 is 0
/// alone.
inline bool near(double value, double expected, double relative) {
  return std::abs(value - expected) <= relative * std::abs(expected);
}

/// The same up to the rounding of a few operations in double precision.
inline bool near(double value, double expected) { return near(value, expected, 1e-12); }

}  // namespace support
