#pragma once
#include <string>

#include "models/numerics/rounding.h"

/// Rounding of numbers that people type in decimal, which a double holds only nearly.
namespace models {

/// A finite double as the decimal that it was typed as: the shortest one that reads back as the same double, where that
/// has at most 15 significant digits (any decimal of so few survives being a double), otherwise the double itself.
struct TypedDecimal {
  double value = 0;      ///< the nearest double
  double remainder = 0;  ///< the decimal minus `value`: its sign is exact; 0 where the double is the decimal
  std::string text;      ///< the shortest decimal: "0.1"
};
TypedDecimal typed_decimal(double x);

/// study_rounding of the decimal itself, not of the double next to it: 0.1 lies between two values of FP64 as well, and
/// what is a tie of the double may be none of the decimal.
RoundingStudy study_decimal(const FloatFormat& format, const TypedDecimal& x, Rounding rounding, Overflow overflow,
                            std::uint64_t random_bits = 0);

}  // namespace models
