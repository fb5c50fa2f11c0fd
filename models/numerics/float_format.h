#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

/// Number formats of machine learning, bit by bit: one description serves them all, from FP64 to a table of sixteen
/// values.
namespace models {

enum class FormatFamily : std::uint8_t {
  binary,   ///< sign, exponent, mantissa
  integer,  ///< two's complement, worth its integer
  table,    ///< code k is worth table[k], ascending
};

/// Which codes of a binary format are not finite.
enum class Specials : std::uint8_t {
  ieee,   ///< the top exponent: mantissa 0 is inf, all others NaN (IEEE 754)
  fn,     ///< no inf; only the code of all ones is NaN (OCP OFP8 E4M3)
  fnuz,   ///< no inf, no -0; the code of -0 is the only NaN (AMD CDNA3)
  none,   ///< every code is finite (OCP MX elements)
  scale,  ///< no sign, no zero; all ones is NaN (OCP MX E8M0)
};

enum class ValueKind : std::uint8_t { zero, subnormal, normal, inf, nan };
enum class Rounding : std::uint8_t { nearest_even, toward_zero, stochastic };
enum class Overflow : std::uint8_t {
  saturate,  ///< what is too large becomes the largest finite value, infinity too
  ieee,  ///< what is too large becomes inf, or NaN where there is no inf; formats that have neither saturate all the
         ///< same
};

struct FloatFormat {
  std::string_view id;        ///< "e4m3fn"
  std::string_view name;      ///< "E4M3FN"
  std::string_view standard;  ///< who defines it
  FormatFamily family = FormatFamily::binary;
  Specials specials = Specials::ieee;
  int bits = 0, sign_bits = 1, exponent_bits = 0, mantissa_bits = 0, bias = 0;
  std::span<const double> table{};

  int emin() const { return specials == Specials::scale ? -bias : 1 - bias; }  ///< exponent of the smallest normal
  std::uint64_t code_mask() const { return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }
  std::uint64_t sign_mask() const { return sign_bits ? std::uint64_t{1} << (bits - 1) : 0; }
  bool has_inf() const { return family == FormatFamily::binary && specials == Specials::ieee; }
  bool has_nan() const { return family == FormatFamily::binary && specials != Specials::none; }
  bool has_negative_zero() const { return family == FormatFamily::binary && sign_bits && specials != Specials::fnuz; }
};

/// FP64, FP32, TF32, FP16, BF16, the FP8s, FP6s and FP4, E8M0, NF4, INT8, INT4: wide ones first.
std::span<const FloatFormat> float_formats();
/// Null when there is no such id.
const FloatFormat* find_float_format(std::string_view id);

/// The value of a code (bits above the format's are ignored): exact for every format. NaN and infinities are those of
/// double.
double decode(const FloatFormat& format, std::uint64_t code);
ValueKind classify(const FloatFormat& format, std::uint64_t code);
std::string_view kind_text(ValueKind kind);  ///< "subnormal"

/// The code nearest to x, or as `rounding` says; ties go to the even code (NF4: to the lower value, as bitsandbytes
/// does; E8M0: to the upper one, since the implied bit is the last and is odd, as ml_dtypes and PyTorch do).
/// Stochastic: up with probability (x - lower) / (upper - lower), decided by `random_bits`, 64 uniform bits. Toward
/// zero never overflows from a finite x (IEEE 754-2019, 7.4). NaN becomes NaN where there is one; otherwise the largest
/// finite value (E3M2, E2M3, E2M1: PTX ISA, cvt), 0 for integers and NF4. E8M0: 0 becomes the smallest (as in PyTorch;
/// ml_dtypes makes it NaN), less than 0 NaN (as in ml_dtypes; PyTorch drops the sign), and between the two smallest
/// the nearer is taken, where both libraries go up.
std::uint64_t encode(const FloatFormat& format, double x, Rounding rounding = Rounding::nearest_even,
                     Overflow overflow = Overflow::ieee, std::uint64_t random_bits = 0);

/// The finite values in order, as integers: code magnitude with its sign for binary formats (both zeros are 0), the
/// value for integers, the index for tables and E8M0. Meaningful for finite codes.
std::int64_t ordinal(const FloatFormat& format, std::uint64_t code);
std::int64_t first_ordinal(const FloatFormat& format);                   ///< ordinal of the lowest finite value
std::int64_t last_ordinal(const FloatFormat& format);                    ///< ordinal of the highest finite value
std::uint64_t code_at(const FloatFormat& format, std::int64_t ordinal);  ///< within first..last; 0 gives +0
/// The largest ordinal whose value is <= x; first - 1 when x lies below all, or is NaN.
std::int64_t ordinal_at_or_below(const FloatFormat& format, double x);
/// Distinct finite values v with lo <= v <= hi.
std::uint64_t values_between(const FloatFormat& format, double lo, double hi);

/// The neighbouring code (IEEE 754 nextUp, nextDown): beyond the largest comes inf where there is one. Nothing past the
/// end, nor for NaN.
std::optional<std::uint64_t> next_up(const FloatFormat& format, std::uint64_t code);
std::optional<std::uint64_t> next_down(const FloatFormat& format, std::uint64_t code);
/// The spacing of values around a finite code: 2^(exponent - mantissa bits), at least the smallest subnormal; 1 for
/// integers; the gap away from zero for tables (toward zero at the ends). NaN for inf and NaN.
double ulp(const FloatFormat& format, std::uint64_t code);

struct FormatLimits {
  double max_finite = 0, lowest = 0;
  double min_normal = 0, max_subnormal = 0, min_positive = 0;  ///< subnormal: 0 where there are none
  double epsilon = 0;                                          ///< spacing just above 1
  double unit_roundoff = 0;                                    ///< epsilon / 2
  /// What |x| must exceed (or reach, where `overflow_at_tie`) to overflow under nearest even.
  double overflow_threshold = 0;
  bool overflow_at_tie = false;
  double underflow_threshold =
      0;             ///< up to this |x| rounds to zero under nearest even: half the smallest; 0 where there is no zero
  double codes = 0;  ///< 2^bits
  std::uint64_t finite_codes = 0, distinct_finite = 0, zero_codes = 0, subnormal_codes = 0, normal_codes = 0,
                inf_codes = 0, nan_codes = 0;
};
FormatLimits limits(const FloatFormat& format);

}  // namespace models
