#pragma once
#include <cstdint>
#include <string>

#include "models/numerics/float_format.h"

/// One rounding, laid open: which two values compete, where x lies between them, and which rule decides.
namespace models {

enum class RoundingRule : std::uint8_t {
  exact,         ///< x is a value of the format
  nearer,        ///< one neighbour is nearer
  tie,           ///< exactly between: the even code (NF4: the lower value, E8M0: the upper)
  truncated,     ///< toward zero
  drawn,         ///< stochastic: one draw with probability x's distance from the lower neighbour
  saturated,     ///< too large: the largest value
  to_infinity,   ///< too large: infinity
  to_nan,        ///< too large, no infinity: NaN
  clamped_up,    ///< below all values of a format without zero or sign
  not_a_number,  ///< x is NaN, or negative in a format without a sign
};

struct RoundingStudy {
  std::uint64_t code = 0;
  double value = 0;
  RoundingRule rule = RoundingRule::exact;
  double lower = 0, upper = 0;  ///< the neighbours, lower <= x <= upper; infinite where there is none
  /// (lower + upper) / 2; of the format's next step where upper or lower is past the largest value.
  double midpoint = 0;
  double position = 0;  ///< (x - lower) / (upper - lower), 0 to 1; what stochastic rounding goes up with
  std::uint64_t lower_code = 0, upper_code = 0;
  bool lower_chosen = false, upper_chosen = false;  ///< the value is this neighbour; both where x is a value
  /// x lies beyond the largest magnitude: one neighbour is not a value, but where the next would be.
  bool past_end = false;
  bool past_highest = false, past_lowest = false;  ///< past_end by its side: upper or lower is that neighbour
  double error = 0;                                ///< value - x; NaN unless both are finite
  /// What rounds to the value, as places between its two neighbours: 0 is the next value below, 0.5 the value itself, 1
  /// the next value above. Nearest even captures half of the way on each side (the ties go as `tie` says), toward
  /// zero all of the way on the side away from zero, and zero both sides; stochastic may capture anything between the
  /// neighbours, the less likely the farther away it is.
  double captures_lo = 0.25, captures_hi = 0.75;
};

/// How encode(format, x, rounding, overflow, random_bits) comes about.
RoundingStudy study_rounding(const FloatFormat& format, double x, Rounding rounding, Overflow overflow,
                             std::uint64_t random_bits = 0);

/// The same of a value that is given by its code: it is exact and keeps its code, also where several codes stand for
/// one value (a negative zero, the codes of NaN).
RoundingStudy study_code(const FloatFormat& format, std::uint64_t code, Rounding rounding);

/// A number to the last digit, as far as `digits` significant ones go: "0.0999755859375"; "…" at the end of what was
/// cut.
std::string exact_decimal(double x, int digits = 24);

}  // namespace models
