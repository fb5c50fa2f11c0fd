// The elements of inputs and outputs: what the device's fill_* of rungs/instruments.cu writes, made again on the host.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/cuda/operation.h"

namespace kernels::cuda {
namespace {

std::uint32_t hash(std::uint32_t seed, std::int64_t index) {
  std::uint32_t h = static_cast<std::uint32_t>(index) * 0x9e3779b9u + seed;
  h = (h ^ (h >> 16)) * 0x7feb352du;
  h = (h ^ (h >> 15)) * 0x846ca68bu;
  return h ^ (h >> 16);
}

/// The nearest bf16, ties to the even one; the values that are made are finite.
std::uint16_t bf16_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float float_of_bf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

/// The nearest f16, ties to the even one, for magnitudes below 65,520.
std::uint16_t f16_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude < 0x38800000u) {  // below 2^-14: a whole number of steps of 2^-24
    const float steps = std::bit_cast<float>(magnitude) * 0x1p24f;
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(std::nearbyint(steps)));
  }
  const std::uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

float float_of_f16(std::uint16_t bits) {
  const std::uint32_t exponent = bits >> 10 & 31u, fraction = bits & 0x3ffu;
  float magnitude = 0;
  if (exponent == 0)
    magnitude = static_cast<float>(fraction) * 0x1p-24f;
  else if (exponent == 31)
    magnitude = fraction ? NAN : INFINITY;
  else
    magnitude = std::bit_cast<float>(((exponent + 112u) << 23) | (fraction << 13));
  return bits & 0x8000u ? -magnitude : magnitude;
}

float float_of_e4m3(std::uint8_t bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  const float magnitude = exponent == 0 ? static_cast<float>(fraction) * 0x1p-9f
                                        : std::ldexp(1.0f + static_cast<float>(fraction) / 8.0f, exponent - 7);
  return bits & 0x80 ? -magnitude : magnitude;
}

float uniform(const Array& array, std::uint32_t seed, std::int64_t index) {
  return array.lo + array.scale * (static_cast<float>(hash(seed, index) >> 8) * 0x1p-24f);
}

/// Byte `index` of an input of bytes: fill_bytes takes four from each hash.
std::uint8_t byte_at(Element element, std::uint32_t seed, std::int64_t index) {
  auto byte = static_cast<std::uint8_t>(hash(seed, index / 4) >> (8 * (index % 4)));
  if (element == Element::i8 && byte == 0x80) byte = 0x81;                     // -128 has no opposite
  if (element == Element::e4m3 && (byte & 0x7f) == 0x7f) byte = byte & 0xfeu;  // 448 in the place of NaN
  return byte;
}

template <class T>
void append(std::vector<std::byte>& out, T value) {
  std::array<std::byte, sizeof(T)> bytes{};
  std::memcpy(bytes.data(), &value, sizeof value);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

int bits_of(Element element) {
  switch (element) {
    case Element::f32:
    case Element::u32:
      return 32;
    case Element::f16:
    case Element::bf16:
      return 16;
    case Element::u4:
      return 4;
    default:
      return 8;
  }
}

std::int64_t bytes_of_input(const Operation& operation, std::int64_t size, int which) {
  const Array& array = operation.inputs[static_cast<std::size_t>(which)];
  return (array.count(size) * bits_of(array.element) + 7) / 8;
}

double input_value(const Operation& operation, std::uint32_t seed, int which, std::int64_t index) {
  const Array& array = operation.inputs[static_cast<std::size_t>(which)];
  const std::uint32_t own = input_seed(seed, which);
  switch (array.element) {
    case Element::f32:
      return static_cast<double>(uniform(array, own, index));
    case Element::f16:
      return static_cast<double>(float_of_f16(f16_of(uniform(array, own, index))));
    case Element::bf16:
      return static_cast<double>(float_of_bf16(bf16_of(uniform(array, own, index))));
    case Element::i8:
      return static_cast<std::int8_t>(byte_at(array.element, own, index));
    case Element::u4:
      return byte_at(array.element, own, index / 2) >> (4 * (index % 2)) & 15;
    case Element::e4m3:
      return static_cast<double>(float_of_e4m3(byte_at(array.element, own, index)));
    case Element::u32:
      return hash(own, index) % array.below;
    case Element::made:
      break;
  }
  return NAN;
}

std::vector<std::byte> input_bytes(const Operation& operation, std::int64_t size, std::uint32_t seed, int which) {
  const Array& array = operation.inputs[static_cast<std::size_t>(which)];
  const std::uint32_t own = input_seed(seed, which);
  const std::int64_t count = array.count(size);
  std::vector<std::byte> out;
  if (array.element == Element::made) {
    out.resize(static_cast<std::size_t>(count));
    array.make(size, own, out.data());
    return out;
  }
  const std::int64_t bytes = bytes_of_input(operation, size, which);
  out.reserve(static_cast<std::size_t>(bytes));
  for (std::int64_t i = 0; i < count; ++i) switch (array.element) {
      case Element::f32:
        append(out, uniform(array, own, i));
        break;
      case Element::f16:
        append(out, f16_of(uniform(array, own, i)));
        break;
      case Element::bf16:
        append(out, bf16_of(uniform(array, own, i)));
        break;
      case Element::u32:
        append(out, hash(own, i) % array.below);
        break;
      case Element::u4:
        if (i % 2 == 0) append(out, byte_at(array.element, own, i / 2));
        break;
      default:
        append(out, byte_at(array.element, own, i));
    }
  return out;
}

std::span<const float> floats_of(const Outcome& outcome) {
  return {reinterpret_cast<const float*>(outcome.out.data()), outcome.out.size() / sizeof(float)};
}

std::span<const std::uint32_t> words_of(const Outcome& outcome) {
  return {reinterpret_cast<const std::uint32_t*>(outcome.out.data()), outcome.out.size() / sizeof(std::uint32_t)};
}

namespace {

std::uint16_t half_at(const Outcome& outcome, std::int64_t index) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, outcome.out.data() + 2 * index, sizeof bits);
  return bits;
}

}  // namespace

double f16_at(const Outcome& outcome, std::int64_t index) {
  return static_cast<double>(float_of_f16(half_at(outcome, index)));
}

double bf16_at(const Outcome& outcome, std::int64_t index) {
  return static_cast<double>(float_of_bf16(half_at(outcome, index)));
}

}  // namespace kernels::cuda
