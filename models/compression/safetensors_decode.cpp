#include <algorithm>
#include <bit>

#include "models/compression/safetensors.h"
#include "models/numerics/float_format.h"

namespace models {
namespace {

/// Bits [first, first + bits) of a little-endian string, low bits first.
std::uint64_t bits_at(std::string_view bytes, std::size_t first, int bits) {
  std::uint64_t out = 0;
  for (int i = 0; i < bits;) {
    const std::size_t bit = first + static_cast<std::size_t>(i);
    const int offset = static_cast<int>(bit % 8), take = std::min(8 - offset, bits - i);
    const std::uint64_t part =
        (static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[bit / 8])) >> offset) & ((1u << take) - 1);
    out |= part << i;
    i += take;
  }
  return out;
}

/// The format of a floating-point type; null for integers.
const FloatFormat* format_of(TensorType type) {
  switch (type) {
    case TensorType::f4:
      return find_float_format("e2m1");
    case TensorType::f6_e2m3:
      return find_float_format("e2m3");
    case TensorType::f6_e3m2:
      return find_float_format("e3m2");
    case TensorType::f8_e5m2:
      return find_float_format("e5m2");
    case TensorType::f8_e4m3:
      return find_float_format("e4m3fn");
    case TensorType::f8_e4m3fnuz:
      return find_float_format("e4m3fnuz");
    case TensorType::f8_e5m2fnuz:
      return find_float_format("e5m2fnuz");
    case TensorType::f8_e8m0:
      return find_float_format("e8m0");
    case TensorType::f16:
      return find_float_format("fp16");
    case TensorType::bf16:
      return find_float_format("bf16");
    default:
      return nullptr;
  }
}

double integer_or_wide(TensorType type, std::uint64_t code) {
  switch (type) {
    case TensorType::boolean:
      return code != 0;
    case TensorType::i8:
      return static_cast<double>(static_cast<std::int8_t>(code));
    case TensorType::i16:
      return static_cast<double>(static_cast<std::int16_t>(code));
    case TensorType::i32:
      return static_cast<double>(static_cast<std::int32_t>(code));
    case TensorType::i64:
      return static_cast<double>(static_cast<std::int64_t>(code));
    case TensorType::f32:
    case TensorType::c64:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(code)));
    case TensorType::f64:
      return std::bit_cast<double>(code);
    default:
      return static_cast<double>(code);
  }
}

}  // namespace

std::size_t decode_tensor(TensorType type, std::string_view bytes, std::span<double> out) {
  const int bits = tensor_type_bits(type);
  const std::size_t stride = static_cast<std::size_t>(bits),
                    there = bytes.size() / stride * 8 + bytes.size() % stride * 8 / stride;
  const std::size_t n = std::min(out.size(), there);
  const FloatFormat* format = format_of(type);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t code = bits_at(bytes, i * stride, bits);
    out[i] = format ? decode(*format, code) : integer_or_wide(type, code);
  }
  return n;
}

}  // namespace models
