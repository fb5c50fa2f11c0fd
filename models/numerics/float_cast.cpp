#include "models/numerics/float_cast.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace models {
namespace {

constexpr std::uint32_t float_inf = 0x7F800000, float_sign = 0x80000000;

/// What one binary format needs to round a float's bits: all of it decided before the loop.
struct Plan {
  int shift = 0;                      ///< float mantissa bits that are cut
  std::uint32_t odd_mask = 0;         ///< 1 where ties look at the last bit that is kept
  std::uint32_t round_add = 0;        ///< half a unit, less one
  std::uint32_t rebias = 0;           ///< taken from the shifted bits
  std::uint32_t subnormal_below = 0;  ///< float bits of the smallest normal; 0 where float's own subnormals line up
  float magic = 0;                    ///< its spacing is the smallest subnormal: adding it rounds to that
  float scale = 0;                    ///< 1 / smallest subnormal
  std::uint32_t last = 0, over_finite = 0, over_inf = 0, nan = 0;  ///< magnitude codes
  std::uint32_t signed_special = 0;                                ///< all ones: inf and NaN carry the sign
  std::uint32_t signed_zero = 0;                                   ///< all ones: there is a -0
  int sign_shift = 0;                                              ///< from float's sign bit down to the format's
};

Plan plan_of(const FloatFormat& f, Rounding rounding, Overflow overflow) {
  Plan p;
  p.shift = 23 - f.mantissa_bits;
  if (rounding == Rounding::nearest_even && p.shift > 0) {
    p.odd_mask = 1;
    p.round_add = (1U << (p.shift - 1)) - 1;
  }
  p.rebias = static_cast<std::uint32_t>(127 - f.bias) << f.mantissa_bits;
  if (f.bias != 127) p.subnormal_below = std::bit_cast<std::uint32_t>(std::ldexp(1.0f, f.emin()));
  p.magic = std::ldexp(1.0f, std::max(f.emin() - f.mantissa_bits + 23, -126));
  p.scale = std::ldexp(1.0f, std::min(f.mantissa_bits - f.emin(), 127));
  const double inf = HUGE_VAL;
  p.last = static_cast<std::uint32_t>(last_ordinal(f));
  p.over_inf = static_cast<std::uint32_t>(encode(f, inf, rounding, overflow));
  p.over_finite = rounding == Rounding::toward_zero ? p.last : p.over_inf;
  p.nan = static_cast<std::uint32_t>(encode(f, std::nan(""), rounding, overflow));
  const bool unsigned_nan = f.specials == Specials::fnuz;
  p.signed_special = unsigned_nan ? 0 : ~0U;
  p.signed_zero = f.has_negative_zero() ? ~0U : 0;
  p.sign_shift = 32 - f.bits;
  return p;
}

/// All ones where `condition` holds: choosing by mask keeps the loops free of branches.
constexpr std::uint32_t mask_if(bool condition) { return 0U - static_cast<std::uint32_t>(condition); }
constexpr std::uint32_t choose(std::uint32_t mask, std::uint32_t yes, std::uint32_t no) {
  return no ^ ((yes ^ no) & mask);
}

/// `aligned`: the format has float's own exponents (BF16, TF32), so that subnormals need nothing of their own.
template <bool truncate, bool aligned, class Out>
void cast_binary(const Plan plan, const float* in, Out* out, std::size_t n) {
  const Plan p = plan;  // a local copy: `out` may be bytes, which alias everything
  [[maybe_unused]] const std::uint32_t magic_bits = std::bit_cast<std::uint32_t>(p.magic),
                                       nan_sign = mask_if(p.nan > p.last);
  for (std::size_t i = 0; i < n; ++i) {
    const auto u = std::bit_cast<std::uint32_t>(in[i]);
    const std::uint32_t bits = u & ~float_sign;
    const std::uint32_t normal = ((bits + ((bits >> p.shift) & p.odd_mask) + p.round_add) >> p.shift) - p.rebias;
    const std::uint32_t is_nan = mask_if(bits > float_inf);
    std::uint32_t code = normal;
    if constexpr (!aligned) {
      const std::uint32_t is_small = mask_if(bits < p.subnormal_below);
      const float magnitude =
          std::bit_cast<float>(bits & is_small);  // masked, so that the conversion stays in an integer's range
      std::uint32_t small = 0;
      if constexpr (truncate)
        small = static_cast<std::uint32_t>(static_cast<std::int32_t>(magnitude * p.scale));
      else
        small = std::bit_cast<std::uint32_t>(magnitude + p.magic) - magic_bits;
      code = choose(is_small, small, normal);
    }
    const std::uint32_t over = choose(mask_if(bits == float_inf), p.over_inf, p.over_finite);
    code = choose(mask_if(code > p.last), over, code);
    code = choose(is_nan, p.nan, code);
    const std::uint32_t sign = (u & float_sign) >> p.sign_shift;
    std::uint32_t keep_sign = choose(mask_if(code > p.last), p.signed_special, ~0U);
    keep_sign = choose(mask_if(code == 0), p.signed_zero, keep_sign);
    // Formats without NaN answer a NaN with their largest value, positive
    out[i] = static_cast<Out>(code | (sign & keep_sign & (~is_nan | nan_sign)));
  }
}

template <bool truncate>
void round_binary(const Plan plan, const FloatFormat& f, Overflow overflow, Rounding rounding, const float* in,
                  float* out, std::size_t n) {
  const Plan p = plan;
  const auto value_bits = [&](double x) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(decode(f, encode(f, x, rounding, overflow)))) & ~float_sign;
  };
  const std::uint32_t last = std::bit_cast<std::uint32_t>(static_cast<float>(decode(f, code_at(f, last_ordinal(f)))));
  const std::uint32_t over_inf = value_bits(HUGE_VAL), over_finite = truncate ? last : over_inf;
  const std::uint32_t nan = value_bits(std::nan("")), keep = ~((1U << p.shift) - 1), nan_sign = mask_if(nan > last);
  const float unscale = 1.0f / p.scale;
  for (std::size_t i = 0; i < n; ++i) {
    const auto u = std::bit_cast<std::uint32_t>(in[i]);
    const std::uint32_t bits = u & ~float_sign;
    const std::uint32_t normal = (bits + ((bits >> p.shift) & p.odd_mask) + p.round_add) & keep;
    const std::uint32_t is_small = mask_if(bits < p.subnormal_below), is_nan = mask_if(bits > float_inf);
    const float magnitude = std::bit_cast<float>(bits & is_small);
    float small = 0;
    if constexpr (truncate)
      small = static_cast<float>(static_cast<std::int32_t>(magnitude * p.scale)) * unscale;
    else
      small = (magnitude + p.magic) - p.magic;
    std::uint32_t value = choose(is_small, std::bit_cast<std::uint32_t>(small), normal);
    const std::uint32_t over = choose(mask_if(bits == float_inf), over_inf, over_finite);
    value = choose(mask_if(value > last), over, value);
    value = choose(is_nan, nan, value);
    const std::uint32_t keep_sign = choose(mask_if(value == 0), p.signed_zero, ~0U);
    out[i] = std::bit_cast<float>(value | (u & float_sign & keep_sign & (~is_nan | nan_sign)));
  }
}

/// E8M0: the float's own exponent, rounded, ties up; below 2^-126 the only other value is 2^-127.
template <class Out>
void encode_scale(const float* in, Out* out, std::size_t n, Rounding rounding, Overflow overflow) {
  const bool nearest = rounding == Rounding::nearest_even;
  const std::uint32_t round_add = nearest ? 0x400000 : 0, last_below = nearest ? 0x5FFFFF : ~0U;
  const std::uint32_t over_inf = overflow == Overflow::saturate ? 254 : 255, over_finite = nearest ? over_inf : 254;
  for (std::size_t i = 0; i < n; ++i) {
    const auto u = std::bit_cast<std::uint32_t>(in[i]);
    const std::uint32_t bits = u & ~float_sign;
    const std::uint32_t normal = (bits + round_add) >> 23;
    std::uint32_t code = choose(mask_if(bits < 0x800000), mask_if(bits > last_below) & 1U, normal);
    code = choose(mask_if(code > 254), choose(mask_if(bits == float_inf), over_inf, over_finite), code);
    out[i] = static_cast<Out>(code | ((mask_if(bits > float_inf) | mask_if(u > float_sign)) & 255U));
  }
}

/// Integers: a float of 1.5 x 2^23 added leaves the rounded integer in the low bits, in two's complement.
template <class Out>
void cast_integer(const FloatFormat& f, const float* in, Out* out, std::size_t n, Rounding rounding) {
  const auto lo = static_cast<float>(first_ordinal(f)), hi = static_cast<float>(last_ordinal(f));
  const auto mask = static_cast<std::uint32_t>(f.code_mask());
  const bool nearest = rounding == Rounding::nearest_even;
  for (std::size_t i = 0; i < n; ++i) {
    const float x = in[i] == in[i] ? std::min(std::max(in[i], lo), hi) : 0.0f;
    const std::uint32_t cut = static_cast<std::uint32_t>(static_cast<std::int32_t>(x));
    out[i] = static_cast<Out>((nearest ? std::bit_cast<std::uint32_t>(x + 12582912.0f) : cut) & mask);
  }
}

/// Tables: how many decision thresholds lie below x.
template <class Out>
void cast_table(const FloatFormat& f, const float* in, Out* out, std::size_t n) {
  std::array<float, 15> above{};
  for (std::size_t k = 0; k < above.size(); ++k) {
    const double middle = (f.table[k] + f.table[k + 1]) / 2;
    const auto nearest = static_cast<float>(middle);
    above[k] = static_cast<double>(nearest) > middle ? std::nextafter(nearest, -2.0f)
                                                     : nearest;  // x > middle exactly when x > this float
  }
  for (std::size_t i = 0; i < n; ++i) {
    const float x = in[i] == in[i] ? in[i] : 0.0f;
    std::uint32_t code = 0;
    for (std::size_t k = 0; k < above.size(); ++k) code += x > above[k] ? 1U : 0U;
    out[i] = static_cast<Out>(code);
  }
}

template <class Out>
void encode_any(const FloatFormat& f, std::span<const float> in, std::span<Out> out, Rounding rounding,
                Overflow overflow, std::uint64_t seed) {
  const std::size_t n = std::min(in.size(), out.size());
  const bool one_by_one = rounding == Rounding::stochastic || f.bits > 32 ||
                          (f.family == FormatFamily::table && rounding != Rounding::nearest_even);
  if (one_by_one) {
    for (std::size_t i = 0; i < n; ++i)
      out[i] = static_cast<Out>(encode(f, static_cast<double>(in[i]), rounding, overflow, random_bits_at(seed, i)));
  } else if (f.family == FormatFamily::integer) {
    cast_integer(f, in.data(), out.data(), n, rounding);
  } else if (f.family == FormatFamily::table) {
    cast_table(f, in.data(), out.data(), n);
  } else if (f.specials == Specials::scale) {
    encode_scale(in.data(), out.data(), n, rounding, overflow);
  } else {
    const Plan plan = plan_of(f, rounding, overflow);
    const bool truncate = rounding == Rounding::toward_zero, aligned = f.bias == 127;
    if (truncate && aligned)
      cast_binary<true, true>(plan, in.data(), out.data(), n);
    else if (truncate)
      cast_binary<true, false>(plan, in.data(), out.data(), n);
    else if (aligned)
      cast_binary<false, true>(plan, in.data(), out.data(), n);
    else
      cast_binary<false, false>(plan, in.data(), out.data(), n);
  }
}

}  // namespace

void encode_all(const FloatFormat& f, std::span<const float> in, std::span<std::uint8_t> out, Rounding rounding,
                Overflow overflow, std::uint64_t seed) {
  encode_any(f, in, out, rounding, overflow, seed);
}
void encode_all(const FloatFormat& f, std::span<const float> in, std::span<std::uint16_t> out, Rounding rounding,
                Overflow overflow, std::uint64_t seed) {
  encode_any(f, in, out, rounding, overflow, seed);
}
void encode_all(const FloatFormat& f, std::span<const float> in, std::span<std::uint32_t> out, Rounding rounding,
                Overflow overflow, std::uint64_t seed) {
  encode_any(f, in, out, rounding, overflow, seed);
}

void round_to(const FloatFormat& f, std::span<const float> in, std::span<float> out, Rounding rounding,
              Overflow overflow, std::uint64_t seed) {
  const std::size_t n = std::min(in.size(), out.size());
  const bool fast = f.family == FormatFamily::binary && f.specials != Specials::scale && f.bits <= 32 &&
                    rounding != Rounding::stochastic;
  if (fast) {
    const Plan plan = plan_of(f, rounding, overflow);
    if (rounding == Rounding::toward_zero)
      round_binary<true>(plan, f, overflow, rounding, in.data(), out.data(), n);
    else
      round_binary<false>(plan, f, overflow, rounding, in.data(), out.data(), n);
    return;
  }
  for (std::size_t i = 0; i < n; ++i)
    out[i] = static_cast<float>(
        decode(f, encode(f, static_cast<double>(in[i]), rounding, overflow, random_bits_at(seed, i))));
}

}  // namespace models
