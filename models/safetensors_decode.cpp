#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "models/safetensors.h"

namespace models {
namespace {

/// Bits [first, first + bits) of a little-endian string, low bits first.
std::uint64_t bits_at(std::string_view bytes, std::size_t first, int bits) {
  std::uint64_t out = 0;
  for (int i = 0; i < bits;) {
    const std::size_t bit = first + static_cast<std::size_t>(i);
    const int offset = static_cast<int>(bit % 8), take = std::min(8 - offset, bits - i);
    const std::uint64_t part = (static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[bit / 8])) >> offset) & ((1u << take) - 1);
    out |= part << i;
    i += take;
  }
  return out;
}

/// What the codes at the top of the range mean.
enum class Top { inf_nan, nan_only, finite, fnuz };

/// sign, `e` exponent bits, `m` mantissa bits, bias.
double small_float(std::uint64_t code, int e, int m, int bias, Top top) {
  const bool negative = (code >> (e + m)) & 1;
  const int exponent = static_cast<int>((code >> m) & ((1u << e) - 1));
  const std::uint64_t fraction = code & ((std::uint64_t{1} << m) - 1);
  const int last = (1 << e) - 1;
  if (top == Top::fnuz && negative && exponent == 0 && fraction == 0) return std::numeric_limits<double>::quiet_NaN();
  if (top == Top::inf_nan && exponent == last) return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : negative ? -HUGE_VAL : HUGE_VAL;
  if (top == Top::nan_only && exponent == last && fraction == (std::uint64_t{1} << m) - 1) return std::numeric_limits<double>::quiet_NaN();
  const double significand = static_cast<double>(fraction) + (exponent > 0 ? std::ldexp(1, m) : 0);
  const double value = std::ldexp(significand, std::max(exponent, 1) - bias - m);
  return negative ? -value : value;
}

double value_of(TensorType type, std::uint64_t code) {
  switch (type) {
    case TensorType::boolean: return code != 0;
    case TensorType::f4: return small_float(code, 2, 1, 1, Top::finite);
    case TensorType::f6_e2m3: return small_float(code, 2, 3, 1, Top::finite);
    case TensorType::f6_e3m2: return small_float(code, 3, 2, 3, Top::finite);
    case TensorType::u8:
    case TensorType::u16:
    case TensorType::u32:
    case TensorType::u64: return static_cast<double>(code);
    case TensorType::i8: return static_cast<double>(static_cast<std::int8_t>(code));
    case TensorType::i16: return static_cast<double>(static_cast<std::int16_t>(code));
    case TensorType::i32: return static_cast<double>(static_cast<std::int32_t>(code));
    case TensorType::i64: return static_cast<double>(static_cast<std::int64_t>(code));
    case TensorType::f8_e5m2: return small_float(code, 5, 2, 15, Top::inf_nan);
    case TensorType::f8_e4m3: return small_float(code, 4, 3, 7, Top::nan_only);
    case TensorType::f8_e4m3fnuz: return small_float(code, 4, 3, 8, Top::fnuz);
    case TensorType::f8_e5m2fnuz: return small_float(code, 5, 2, 16, Top::fnuz);
    case TensorType::f8_e8m0: return code == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1, static_cast<int>(code) - 127);
    case TensorType::f16: return small_float(code, 5, 10, 15, Top::inf_nan);
    case TensorType::bf16: return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(code << 16)));
    case TensorType::f32:
    case TensorType::c64: return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(code)));
    case TensorType::f64: return std::bit_cast<double>(code);
  }
  return 0;
}

}  // namespace

std::size_t decode_tensor(TensorType type, std::string_view bytes, std::span<double> out) {
  const int bits = tensor_type_bits(type);
  const std::size_t stride = static_cast<std::size_t>(bits), there = bytes.size() / stride * 8 + bytes.size() % stride * 8 / stride;
  const std::size_t n = std::min(out.size(), there);
  for (std::size_t i = 0; i < n; ++i) out[i] = value_of(type, bits_at(bytes, i * stride, bits));
  return n;
}

}  // namespace models
