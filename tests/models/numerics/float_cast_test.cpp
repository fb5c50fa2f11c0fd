#include "models/numerics/float_cast.h"

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace models;

namespace {

/// Floats of every exponent, and around every value and midpoint of a format of up to 8 bits.
std::vector<float> probes(const FloatFormat& f) {
  std::vector<float> out{
      0.0f,          -0.0f,         std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
      std::nanf(""), -std::nanf("")};
  for (std::uint64_t i = 0; i < 5000; ++i)
    out.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random_bits_at(3, i))));
  const std::uint64_t stride = f.bits > 8 ? 149 : 1;
  for (std::uint64_t c = 0; f.bits <= 19 && c <= f.code_mask(); c += stride) {
    const auto up = next_up(f, c);
    if (!up) continue;
    const auto middle = static_cast<float>((decode(f, c) + decode(f, *up)) / 2);
    for (const float x : {static_cast<float>(decode(f, c)), middle})
      for (const float y : {x, std::nextafter(x, 1e38f), std::nextafter(x, -1e38f)}) out.push_back(y);
  }
  return out;
}

}  // namespace

TEST_CASE("casts in bulk give the codes and values that encode gives one by one, in every mode") {
  for (const FloatFormat& f : float_formats()) {
    if (f.bits > 32) continue;
    const auto in = probes(f);
    std::vector<std::uint32_t> codes(in.size());
    std::vector<float> rounded(in.size());
    for (const Rounding r : {Rounding::nearest_even, Rounding::toward_zero, Rounding::stochastic})
      for (const Overflow o : {Overflow::saturate, Overflow::ieee}) {
        encode_all(f, in, std::span(codes), r, o, 5);
        round_to(f, in, rounded, r, o, 5);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < in.size(); ++i) {
          const auto code = encode(f, static_cast<double>(in[i]), r, o, random_bits_at(5, i));
          const auto value = static_cast<float>(decode(f, code));
          wrong += codes[i] != code;
          wrong +=
              std::memcmp(&value, &rounded[i], sizeof value) != 0 && !(std::isnan(value) && std::isnan(rounded[i]));
        }
        INFO(f.name << " rounding " << static_cast<int>(r) << " overflow " << static_cast<int>(o));
        CHECK(wrong == 0);
      }
  }
}

TEST_CASE("codes of one and two bytes hold what four bytes hold, and a shorter span ends the cast") {
  const std::vector<float> in{0.1f, -2.5f, 1e6f};
  std::vector<std::uint8_t> bytes(2, 0);
  std::vector<std::uint16_t> halves(3, 0);
  encode_all(*find_float_format("e4m3fn"), in, std::span(bytes));
  CHECK(bytes == std::vector<std::uint8_t>{0x1D, 0xC2});  // 0.1015625; -2.5
  encode_all(*find_float_format("fp16"), in, std::span(halves));
  CHECK(halves == std::vector<std::uint16_t>{0x2E66, 0xC100, 0x7C00});
}

TEST_CASE("a stream of random bits is the same for the same seed and differs from its neighbours") {
  CHECK(random_bits_at(1, 7) == random_bits_at(1, 7));
  CHECK(random_bits_at(1, 7) != random_bits_at(1, 8));
  CHECK(random_bits_at(1, 7) != random_bits_at(2, 7));
  double mean = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) mean += static_cast<double>(random_bits_at(1, i) >> 11) * 0x1p-53 / 10000;
  CHECK(std::abs(mean - 0.5) <= 4 * 0.2887 / 100);  // four standard errors of a uniform
}
