#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

/// A second implementation of number formats, for the tests alone: it lists every code as an integer times a power of
/// two, read straight off the standards, and rounds by looking for the neighbours and comparing with their midpoint in
/// 128-bit integers.
namespace exact {

__extension__ using Wide = unsigned __int128;

/// magnitude x 2^exponent, exactly.
struct Number {
  Wide magnitude = 0;
  int exponent = 0;
};

/// -1, 0, 1. Both magnitudes below 2^64.
inline int compare(Number a, Number b) {
  const auto width = [](Wide w) {
    int n = 0;
    while (w) ++n, w >>= 1;
    return n;
  };
  if (a.magnitude == 0 || b.magnitude == 0) return (a.magnitude != 0) - (b.magnitude != 0);
  const int top_a = width(a.magnitude) + a.exponent, top_b = width(b.magnitude) + b.exponent;
  if (top_a != top_b) return top_a < top_b ? -1 : 1;
  // The same leading power: what must be shifted is shorter than 64 bits
  const int shift = a.exponent - b.exponent;
  if (shift >= 0)
    a.magnitude <<= shift;
  else
    b.magnitude <<= -shift;
  return a.magnitude < b.magnitude ? -1 : a.magnitude > b.magnitude;
}

/// Half of the sum; the two are neighbours in a format, so their exponents are close.
inline Number midpoint(Number a, Number b) {
  const int least = std::min(a.exponent, b.exponent);
  return {(a.magnitude << (a.exponent - least)) + (b.magnitude << (b.exponent - least)), least - 1};
}

inline Number of_double(double x) {
  int e = 0;
  const double fraction = std::frexp(std::abs(x), &e);
  return {static_cast<Wide>(std::ldexp(fraction, 53)), e - 53};
}

enum class Special { finite, inf, nan };
struct Code {
  Special special = Special::finite;
  bool negative = false;
  Number value;
};

/// One format as its standard words it.
struct Layout {
  std::string_view id;
  int exponent_bits, mantissa_bits, bias;
  char kind;  ///< 'i' IEEE, 'f' only all ones is NaN, 'z' only 1000... is NaN, 'n' no special codes
};
inline constexpr Layout layouts[] = {{"fp16", 5, 10, 15, 'i'}, {"bf16", 8, 7, 127, 'i'},    {"e5m2", 5, 2, 15, 'i'},
                                     {"e4m3fn", 4, 3, 7, 'f'}, {"e5m2fnuz", 5, 2, 16, 'z'}, {"e4m3fnuz", 4, 3, 8, 'z'},
                                     {"e3m2", 3, 2, 3, 'n'},   {"e2m3", 2, 3, 1, 'n'},      {"e2m1", 2, 1, 1, 'n'}};

inline std::vector<Code> all_codes(const Layout& l) {
  const int sign_at = l.exponent_bits + l.mantissa_bits;
  std::vector<Code> out;
  for (unsigned negative = 0; negative < 2; ++negative)
    for (unsigned exponent = 0; exponent < 1u << l.exponent_bits; ++exponent)
      for (unsigned mantissa = 0; mantissa < 1u << l.mantissa_bits; ++mantissa) {
        Code c{Special::finite, negative == 1, {}};
        const bool top = exponent == (1u << l.exponent_bits) - 1, ones = mantissa == (1u << l.mantissa_bits) - 1;
        if (l.kind == 'i' && top) c.special = mantissa == 0 ? Special::inf : Special::nan;
        if (l.kind == 'f' && top && ones) c.special = Special::nan;
        if (l.kind == 'z' && negative && exponent == 0 && mantissa == 0) c.special = Special::nan;
        c.value = exponent == 0 ? Number{mantissa, 1 - l.bias - l.mantissa_bits}
                                : Number{mantissa + (1u << l.mantissa_bits),
                                         static_cast<int>(exponent) - l.bias - l.mantissa_bits};
        out.push_back(c);
      }
  return static_cast<int>(std::bit_width(out.size())) == sign_at + 2 ? out : std::vector<Code>{};
}

/// The double nearest to a number of few bits: exact.
inline double to_double(const Code& c) {
  if (c.special == Special::nan) return std::nan("");
  const double magnitude =
      c.special == Special::inf
          ? HUGE_VAL
          : std::ldexp(static_cast<double>(static_cast<std::uint64_t>(c.value.magnitude)), c.value.exponent);
  return c.negative ? -magnitude : magnitude;
}

}  // namespace exact
