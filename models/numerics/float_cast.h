#pragma once
#include <cstdint>
#include <span>

#include "models/base/counter_random.h"
#include "models/numerics/float_format.h"

/// Casts of many floats at a time: integer arithmetic without branches, which compilers vectorize.
namespace models {

/// The codes of `in`, as `encode` gives them, in the low bits of each element of `out`; as many as the shorter span
/// holds. Formats of up to 8, 16 and 32 bits. Stochastic rounding takes element i's random bits from
/// `random_bits_at(seed, i)`.
void encode_all(const FloatFormat& format, std::span<const float> in, std::span<std::uint8_t> out,
                Rounding rounding = Rounding::nearest_even, Overflow overflow = Overflow::ieee, std::uint64_t seed = 0);
void encode_all(const FloatFormat& format, std::span<const float> in, std::span<std::uint16_t> out,
                Rounding rounding = Rounding::nearest_even, Overflow overflow = Overflow::ieee, std::uint64_t seed = 0);
void encode_all(const FloatFormat& format, std::span<const float> in, std::span<std::uint32_t> out,
                Rounding rounding = Rounding::nearest_even, Overflow overflow = Overflow::ieee, std::uint64_t seed = 0);

/// Each float as the format keeps it: decode(encode(x)), as a float. `in` and `out` may be the same memory.
void round_to(const FloatFormat& format, std::span<const float> in, std::span<float> out,
              Rounding rounding = Rounding::nearest_even, Overflow overflow = Overflow::ieee, std::uint64_t seed = 0);

/// 64 uniform bits for element `index` of the stream `seed`: the same for the same pair, whatever the order of asking.
constexpr std::uint64_t random_bits_at(std::uint64_t seed, std::uint64_t index) {
  return counter_hash(seed * 0xD1342543DE82EF95, index);
}

}  // namespace models
