#pragma once
#include <optional>
#include <string>
#include <string_view>

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

/// The decimal that a text writes, to its last digit: a sign, digits with or without a point, an exponent ("-0.1",
/// "9007199254740993", "6.02e23"), at most 80 digits. Nothing when it is written otherwise, and when its nearest double
/// is infinite, or 0 though the decimal is not.
std::optional<TypedDecimal> read_decimal(std::string_view text);

/// study_rounding of the decimal itself, not of the double next to it: 0.1 lies between two values of FP64 as well, and
/// what is a tie of the double may be none of the decimal.
RoundingStudy study_decimal(const FloatFormat& format, const TypedDecimal& x, Rounding rounding, Overflow overflow,
                            std::uint64_t random_bits = 0);

}  // namespace models
