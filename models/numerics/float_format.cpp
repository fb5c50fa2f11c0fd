#include "models/numerics/float_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace models {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// bitsandbytes, functional.py get_4bit_type("nf4") @95f9af3; QLoRA, arXiv:2305.14314
constexpr std::array<double, 16> nf4_values = {-1.0,
                                               -0.6961928009986877,
                                               -0.5250730514526367,
                                               -0.39491748809814453,
                                               -0.28444138169288635,
                                               -0.18477343022823334,
                                               -0.09105003625154495,
                                               0.0,
                                               0.07958029955625534,
                                               0.16093020141124725,
                                               0.24611230194568634,
                                               0.33791524171829224,
                                               0.44070982933044434,
                                               0.5626170039176941,
                                               0.7229568362236023,
                                               1.0};

constexpr FloatFormat formats[] = {
    {"fp64", "FP64", "IEEE 754 binary64", FormatFamily::binary, Specials::ieee, 64, 1, 11, 52, 1023},
    {"fp32", "FP32", "IEEE 754 binary32", FormatFamily::binary, Specials::ieee, 32, 1, 8, 23, 127},
    {"tf32", "TF32", "NVIDIA Ampere, inputs of tensor cores", FormatFamily::binary, Specials::ieee, 19, 1, 8, 10, 127},
    {"fp16", "FP16", "IEEE 754 binary16", FormatFamily::binary, Specials::ieee, 16, 1, 5, 10, 15},
    {"bf16", "BF16", "bfloat16: the upper half of FP32", FormatFamily::binary, Specials::ieee, 16, 1, 8, 7, 127},
    {"e5m2", "E5M2", "OCP OFP8", FormatFamily::binary, Specials::ieee, 8, 1, 5, 2, 15},
    {"e4m3fn", "E4M3FN", "OCP OFP8", FormatFamily::binary, Specials::fn, 8, 1, 4, 3, 7},
    {"e5m2fnuz", "E5M2FNUZ", "AMD CDNA3", FormatFamily::binary, Specials::fnuz, 8, 1, 5, 2, 16},
    {"e4m3fnuz", "E4M3FNUZ", "AMD CDNA3", FormatFamily::binary, Specials::fnuz, 8, 1, 4, 3, 8},
    {"e3m2", "E3M2", "OCP MX v1.0, FP6", FormatFamily::binary, Specials::none, 6, 1, 3, 2, 3},
    {"e2m3", "E2M3", "OCP MX v1.0, FP6", FormatFamily::binary, Specials::none, 6, 1, 2, 3, 1},
    {"e2m1", "E2M1", "OCP MX v1.0, FP4", FormatFamily::binary, Specials::none, 4, 1, 2, 1, 1},
    {"e8m0", "E8M0", "OCP MX v1.0, shared scale", FormatFamily::binary, Specials::scale, 8, 0, 8, 0, 127},
    {"nf4", "NF4", "QLoRA: quantiles of a normal", FormatFamily::table, Specials::none, 4, 0, 0, 0, 0, nf4_values},
    {"int8", "INT8", "two's complement", FormatFamily::integer, Specials::none, 8, 1, 0, 7, 0},
    {"int4", "INT4", "two's complement", FormatFamily::integer, Specials::none, 4, 1, 0, 3, 0},
};

/// The largest magnitude code that is finite.
std::uint64_t last_magnitude(const FloatFormat& f) {
  const std::uint64_t all = f.code_mask() & ~f.sign_mask();
  switch (f.specials) {
    case Specials::ieee:
      return (all >> f.mantissa_bits << f.mantissa_bits) - 1;
    case Specials::fn:
    case Specials::scale:
      return all - 1;
    default:
      return all;
  }
}

std::uint64_t nan_code(const FloatFormat& f) {
  if (f.specials == Specials::fnuz) return f.sign_mask();
  const std::uint64_t all = f.code_mask() & ~f.sign_mask();
  // The quiet NaN without payload in IEEE formats
  if (f.specials == Specials::ieee)
    return (all >> f.mantissa_bits << f.mantissa_bits) | (std::uint64_t{1} << (f.mantissa_bits - 1));
  return all;
}

double magnitude_value(const FloatFormat& f, std::uint64_t magnitude) {
  const int m = f.mantissa_bits;
  if (f.specials == Specials::scale) return std::ldexp(1.0, static_cast<int>(magnitude) - f.bias);
  const int exponent = static_cast<int>(magnitude >> m);
  const std::uint64_t fraction = magnitude & ((std::uint64_t{1} << m) - 1);
  const std::uint64_t significand = exponent == 0 ? fraction : fraction | (std::uint64_t{1} << m);
  return std::ldexp(static_cast<double>(significand), std::max(exponent, 1) - f.bias - m);
}

/// One unit away from zero or not: `rest` of 2^shift was cut off, `odd` says that the code without it is odd.
bool rounds_away(bool odd, std::uint64_t rest, int shift, Rounding rounding, std::uint64_t random_bits) {
  if (rest == 0) return false;
  switch (rounding) {
    case Rounding::nearest_even: {
      if (shift > 63) return false;
      const std::uint64_t half = std::uint64_t{1} << (shift - 1);
      return rest > half || (rest == half && odd);
    }
    case Rounding::toward_zero:
      return false;
    case Rounding::stochastic:
      if (shift <= 64) return (random_bits >> (64 - shift)) < rest;
      return shift < 128 && random_bits < (rest >> (shift - 64));
  }
  return false;
}

std::uint64_t encode_binary(const FloatFormat& f, double x, Rounding rounding, Overflow overflow,
                            std::uint64_t random_bits) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t last = last_magnitude(f);
  const bool negative = bits >> 63;
  if (std::isnan(x))
    return f.has_nan() ? nan_code(f) | (f.specials == Specials::fnuz || !negative ? 0 : f.sign_mask()) : last;
  if (f.specials == Specials::scale && negative && x < 0) return nan_code(f);
  const std::uint64_t sign = negative ? f.sign_mask() : 0;
  const int raw_exponent = static_cast<int>(bits >> 52 & 0x7FF);
  const std::uint64_t fraction = bits & 0xFFFFFFFFFFFFF;

  bool too_large = raw_exponent == 0x7FF;
  std::uint64_t magnitude = last;
  if (!too_large) {
    // |x| = significand x 2^(exponent - 52); a subnormal double needs no normalising: every narrower format rounds it
    // below its emin
    const std::uint64_t significand = raw_exponent == 0 ? fraction : fraction | (std::uint64_t{1} << 52);
    const int exponent = std::max(raw_exponent, 1) - 1023;
    const int shift = 52 - f.mantissa_bits + std::max(f.emin() - exponent, 0);
    const std::uint64_t kept = shift > 63 ? 0 : significand >> shift;
    const std::uint64_t rest = shift > 63 ? significand : significand & ((std::uint64_t{1} << shift) - 1);
    // E8M0 stores no mantissa, so that the last bit kept is the implied one: it is odd, and a tie goes up
    magnitude = kept + (rounds_away(kept & 1, rest, shift, rounding, random_bits) ? 1 : 0) +
                (static_cast<std::uint64_t>(std::max(exponent - f.emin(), 0)) << f.mantissa_bits);
    // Without a zero the codes start at the hidden bit: 2^emin is code 0
    if (f.specials == Specials::scale) magnitude = magnitude == 0 ? 0 : magnitude - 1;
    too_large = magnitude > last;
    if (too_large && rounding == Rounding::toward_zero) return last | sign;
  }
  if (too_large) {
    if (overflow == Overflow::saturate || !f.has_nan()) return last | sign;
    return f.has_inf() ? (last + 1) | sign : f.specials == Specials::fnuz ? nan_code(f) : nan_code(f) | sign;
  }
  return f.specials == Specials::fnuz && magnitude == 0 ? 0 : magnitude | sign;
}

std::uint64_t encode_integer(const FloatFormat& f, double x, Rounding rounding, std::uint64_t random_bits) {
  if (std::isnan(x)) return 0;
  const double whole = std::floor(x), rest = x - whole;
  double v = whole;
  switch (rounding) {
    case Rounding::nearest_even:
      v = std::nearbyint(x);
      break;
    case Rounding::toward_zero:
      v = std::trunc(x);
      break;
    case Rounding::stochastic:
      v = whole + (static_cast<double>(random_bits >> 11) * 0x1p-53 < rest ? 1 : 0);
      break;
  }
  v = std::clamp(v, static_cast<double>(first_ordinal(f)), static_cast<double>(last_ordinal(f)));
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(v)) & f.code_mask();
}

std::uint64_t encode_table(const FloatFormat& f, double x, Rounding rounding, std::uint64_t random_bits) {
  if (std::isnan(x)) x = 0;
  const std::int64_t below = ordinal_at_or_below(f, x), last = last_ordinal(f);
  if (below < 0) return 0;
  if (below >= last) return static_cast<std::uint64_t>(last);
  const double lo = f.table[static_cast<std::size_t>(below)], hi = f.table[static_cast<std::size_t>(below) + 1];
  bool up = false;
  switch (rounding) {
    case Rounding::nearest_even:
      up = x > (lo + hi) / 2;
      break;
    case Rounding::toward_zero:
      up = x < 0 && x > lo;
      break;
    case Rounding::stochastic:
      up = static_cast<double>(random_bits >> 11) * 0x1p-53 < (x - lo) / (hi - lo);
      break;
  }
  return static_cast<std::uint64_t>(below + (up ? 1 : 0));
}

}  // namespace

std::span<const FloatFormat> float_formats() { return formats; }

const FloatFormat* find_float_format(std::string_view id) {
  const auto* at =
      std::find_if(std::begin(formats), std::end(formats), [&](const FloatFormat& f) { return f.id == id; });
  return at == std::end(formats) ? nullptr : at;
}

double decode(const FloatFormat& f, std::uint64_t code) {
  code &= f.code_mask();
  switch (f.family) {
    case FormatFamily::integer:
      return static_cast<double>(ordinal(f, code));
    case FormatFamily::table:
      return f.table[static_cast<std::size_t>(code)];
    case FormatFamily::binary:
      break;
  }
  switch (classify(f, code)) {
    case ValueKind::nan:
      return not_a_number;
    case ValueKind::inf:
      return code & f.sign_mask() ? -infinity : infinity;
    default:
      break;
  }
  const double magnitude = magnitude_value(f, code & ~f.sign_mask());
  return code & f.sign_mask() ? -magnitude : magnitude;
}

ValueKind classify(const FloatFormat& f, std::uint64_t code) {
  code &= f.code_mask();
  if (f.family == FormatFamily::integer) return code == 0 ? ValueKind::zero : ValueKind::normal;
  if (f.family == FormatFamily::table) return decode(f, code) == 0 ? ValueKind::zero : ValueKind::normal;
  if (f.specials == Specials::fnuz && code == f.sign_mask()) return ValueKind::nan;
  const std::uint64_t magnitude = code & ~f.sign_mask(), last = last_magnitude(f);
  if (magnitude > last) return f.has_inf() && magnitude == last + 1 ? ValueKind::inf : ValueKind::nan;
  if (f.specials == Specials::scale) return ValueKind::normal;
  if (magnitude == 0) return ValueKind::zero;
  return magnitude >> f.mantissa_bits ? ValueKind::normal : ValueKind::subnormal;
}

std::string_view kind_text(ValueKind kind) {
  static constexpr std::string_view texts[] = {"zero", "subnormal", "normal", "inf", "nan"};
  static_assert(std::size(texts) == static_cast<std::size_t>(ValueKind::nan) + 1);
  return texts[static_cast<std::size_t>(kind)];
}

std::uint64_t encode(const FloatFormat& f, double x, Rounding rounding, Overflow overflow, std::uint64_t random_bits) {
  switch (f.family) {
    case FormatFamily::integer:
      return encode_integer(f, x, rounding, random_bits);
    case FormatFamily::table:
      return encode_table(f, x, rounding, random_bits);
    case FormatFamily::binary:
      break;
  }
  return encode_binary(f, x, rounding, overflow, random_bits);
}

std::int64_t ordinal(const FloatFormat& f, std::uint64_t code) {
  code &= f.code_mask();
  if (f.family == FormatFamily::integer)
    return code & f.sign_mask() ? static_cast<std::int64_t>(code) - (std::int64_t{1} << f.bits)
                                : static_cast<std::int64_t>(code);
  const auto magnitude = static_cast<std::int64_t>(code & ~f.sign_mask());
  return code & f.sign_mask() ? -magnitude : magnitude;
}

std::int64_t first_ordinal(const FloatFormat& f) {
  if (f.family == FormatFamily::integer) return -(std::int64_t{1} << (f.bits - 1));
  return f.sign_bits ? -last_ordinal(f) : 0;
}

std::int64_t last_ordinal(const FloatFormat& f) {
  if (f.family == FormatFamily::integer) return (std::int64_t{1} << (f.bits - 1)) - 1;
  if (f.family == FormatFamily::table) return static_cast<std::int64_t>(f.table.size()) - 1;
  return static_cast<std::int64_t>(last_magnitude(f));
}

std::uint64_t code_at(const FloatFormat& f, std::int64_t at) {
  if (f.family == FormatFamily::integer) return static_cast<std::uint64_t>(at) & f.code_mask();
  return at < 0 ? static_cast<std::uint64_t>(-at) | f.sign_mask() : static_cast<std::uint64_t>(at);
}

std::int64_t ordinal_at_or_below(const FloatFormat& f, double x) {
  const std::int64_t first = first_ordinal(f), last = last_ordinal(f);
  if (!(x >= decode(f, code_at(f, first)))) return first - 1;
  if (x >= decode(f, code_at(f, last))) return last;
  if (f.family == FormatFamily::table) {
    const auto above = std::upper_bound(f.table.begin(), f.table.end(), x);
    return static_cast<std::int64_t>(above - f.table.begin()) - 1;
  }
  if (f.family == FormatFamily::integer) return static_cast<std::int64_t>(std::floor(x));
  // Toward zero is down for x >= 0; below zero one further unless x is a value itself
  const std::int64_t cut = ordinal(f, encode_binary(f, x, Rounding::toward_zero, Overflow::saturate, 0));
  return decode(f, code_at(f, cut)) > x ? cut - 1 : cut;
}

std::uint64_t values_between(const FloatFormat& f, double lo, double hi) {
  if (!(lo <= hi)) return 0;
  const std::int64_t below_hi = ordinal_at_or_below(f, hi);
  std::int64_t from = ordinal_at_or_below(f, lo);
  if (from < first_ordinal(f) || decode(f, code_at(f, from)) < lo) ++from;
  return below_hi < from ? 0 : static_cast<std::uint64_t>(below_hi) - static_cast<std::uint64_t>(from) + 1;
}

std::optional<std::uint64_t> next_up(const FloatFormat& f, std::uint64_t code) {
  code &= f.code_mask();
  const ValueKind kind = classify(f, code);
  if (kind == ValueKind::nan || (kind == ValueKind::inf && !(code & f.sign_mask()))) return std::nullopt;
  if (kind == ValueKind::inf) return code - 1;
  const std::int64_t at = ordinal(f, code);
  if (at == last_ordinal(f)) return f.has_inf() ? std::optional(code + 1) : std::nullopt;
  if (at == -1 && f.has_negative_zero()) return f.sign_mask();
  return code_at(f, at + 1);
}

std::optional<std::uint64_t> next_down(const FloatFormat& f, std::uint64_t code) {
  code &= f.code_mask();
  const ValueKind kind = classify(f, code);
  if (kind == ValueKind::nan || (kind == ValueKind::inf && (code & f.sign_mask()))) return std::nullopt;
  if (kind == ValueKind::inf) return code - 1;
  const std::int64_t at = ordinal(f, code);
  if (at == first_ordinal(f)) return f.has_inf() ? std::optional(code + 1) : std::nullopt;
  return code_at(f, at - 1);
}

double ulp(const FloatFormat& f, std::uint64_t code) {
  code &= f.code_mask();
  const ValueKind kind = classify(f, code);
  if (kind == ValueKind::nan || kind == ValueKind::inf) return not_a_number;
  if (f.family == FormatFamily::integer) return 1;
  if (f.family == FormatFamily::table) {
    const auto last = f.table.size() - 1;
    auto at = static_cast<std::size_t>(code);
    if (f.table[at] < 0)
      at = at == 0 ? 0 : at - 1;  // away from zero is down
    else
      at = std::min(at, last - 1);
    return f.table[at + 1] - f.table[at];
  }
  if (f.specials == Specials::scale) return decode(f, code);
  const auto exponent = static_cast<int>((code & ~f.sign_mask()) >> f.mantissa_bits);
  return std::ldexp(1.0, std::max(exponent, 1) - f.bias - f.mantissa_bits);
}

FormatLimits limits(const FloatFormat& f) {
  FormatLimits l;
  l.codes = std::ldexp(1.0, f.bits);
  l.max_finite = decode(f, code_at(f, last_ordinal(f)));
  l.lowest = decode(f, code_at(f, first_ordinal(f)));
  l.distinct_finite = static_cast<std::uint64_t>(last_ordinal(f)) - static_cast<std::uint64_t>(first_ordinal(f)) + 1;
  l.zero_codes = f.specials == Specials::scale ? 0 : f.has_negative_zero() ? 2 : 1;
  l.finite_codes = l.distinct_finite + (l.zero_codes == 2 ? 1 : 0);
  if (f.family != FormatFamily::binary) {
    l.normal_codes = l.finite_codes - 1;
    const std::int64_t above = ordinal_at_or_below(f, 0) + 1;
    l.min_normal = l.min_positive = decode(f, code_at(f, above));
    l.epsilon = f.family == FormatFamily::integer ? 1 : ulp(f, code_at(f, last_ordinal(f)));
    l.unit_roundoff = l.epsilon / 2;
    l.overflow_threshold = l.max_finite;
    l.underflow_threshold = l.min_positive / 2;
    return l;
  }
  const std::uint64_t sides = f.sign_bits ? 2 : 1, fractions = std::uint64_t{1} << f.mantissa_bits;
  l.subnormal_codes = f.specials == Specials::scale ? 0 : sides * (fractions - 1);
  l.normal_codes = l.finite_codes - l.zero_codes - l.subnormal_codes;
  l.inf_codes = f.has_inf() ? 2 : 0;
  l.nan_codes = (f.code_mask() - l.finite_codes - l.inf_codes) + 1;
  l.min_normal = std::ldexp(1.0, f.emin());
  l.max_subnormal = l.subnormal_codes ? magnitude_value(f, fractions - 1) : 0;
  l.min_positive = l.subnormal_codes ? magnitude_value(f, 1) : l.min_normal;
  l.epsilon = std::ldexp(1.0, -f.mantissa_bits);
  l.unit_roundoff = l.epsilon / 2;
  // Half a step past the largest: the tie goes up where the largest code is odd, and always between scales
  const std::uint64_t top = last_magnitude(f);
  l.overflow_threshold = l.max_finite + ulp(f, top) / 2;
  l.overflow_at_tie = (top & 1) != 0 || f.specials == Specials::scale;
  l.underflow_threshold = l.zero_codes > 0 ? l.min_positive / 2 : 0;
  return l;
}

}  // namespace models
