// What the device's fills write is what the host holds it against: bit for bit, for every kind of element.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <span>
#include <vector>

#include "kernels/cuda/operation.h"
#include "tests/kernels/cuda_emulator.h"

using namespace kernels::cuda;

namespace {

constexpr std::int64_t elements = 1003;
std::int64_t count_of(std::int64_t) { return elements; }

Operation of_input(Array array) {
  array.count = count_of;
  Operation o;
  o.inputs = {array};
  return o;
}

/// The array as a fill of instruments.cu makes it, in the emulation.
template <class... A>
std::vector<std::byte> filled(const char* kernel, std::int64_t bytes, unsigned long long n, std::uint32_t seed,
                              A... more) {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(bytes + 3) / 4 + 1);
  std::uint32_t* out = words.data();
  void* arguments[] = {&out, &n, &seed, &more...};
  cuda_emulator::launch(kernel, {.grid_x = 3, .block_x = 64}, arguments);
  const auto all = std::as_bytes(std::span(words));
  return {all.begin(), all.begin() + bytes};
}

}  // namespace

TEST_CASE("every kind of element is the same on the device and on the host") {
  const std::uint32_t own = input_seed(9, 0);
  const auto same = [&](const Array& array, const std::vector<std::byte>& device) {
    const Operation o = of_input(array);
    CHECK(input_bytes(o, 0, 9, 0) == device);
    CHECK(bytes_of_input(o, 0, 0) == static_cast<std::int64_t>(device.size()));
  };
  same({.element = Element::f32, .lo = -1, .scale = 2}, filled("fill_uniform", 4012, 1003, own, -1.0f, 2.0f));
  // Small enough that some are below 2^-14, where f16 has no full mantissa.
  for (const float scale : {2.0f, 2e-4f, 60000.0f}) {
    same({.element = Element::f16, .lo = -scale / 2, .scale = scale},
         filled("fill_halves", 2006, 1003, own, -scale / 2, scale, 0u));
    same({.element = Element::bf16, .lo = -scale / 2, .scale = scale},
         filled("fill_halves", 2006, 1003, own, -scale / 2, scale, 1u));
  }
  same({.element = Element::i8}, filled("fill_bytes", 1003, 251, own, 1u));
  same({.element = Element::e4m3}, filled("fill_bytes", 1003, 251, own, 2u));
  same({.element = Element::u4}, filled("fill_bytes", 502, 126, own, 0u));
  same({.element = Element::u32, .below = 300}, filled("fill_below", 4012, 1003, own, 300u));
}

// The compiler's own half precision is the reference: _Float16 and a bf16 by the nearest of its two neighbours.
TEST_CASE("16-bit elements are the nearest ones") {
  const Operation wide = of_input({.element = Element::f32, .lo = -1, .scale = 2});
  const Operation half = of_input({.element = Element::f16, .lo = -1, .scale = 2});
  const Operation brain = of_input({.element = Element::bf16, .lo = -1, .scale = 2});
  for (std::int64_t i = 0; i < elements; ++i) {
    const double exact = input_value(wide, 4, 0, i);
    CHECK(input_value(half, 4, 0, i) == static_cast<double>(static_cast<_Float16>(static_cast<float>(exact))));
    CHECK(std::abs(input_value(brain, 4, 0, i) - exact) <= std::abs(exact) * 0x1p-8);
  }
}

TEST_CASE("values of integer elements and of FP8 stay in their ranges and reach the ends") {
  const Operation i8 = of_input({.element = Element::i8}), u4 = of_input({.element = Element::u4}),
                  e4m3 = of_input({.element = Element::e4m3}), u32 = of_input({.element = Element::u32, .below = 7});
  double lowest[4] = {}, highest[4] = {};
  for (std::int64_t i = 0; i < 40000; ++i) {
    const double values[] = {input_value(i8, 1, 0, i), input_value(u4, 1, 0, i), input_value(e4m3, 1, 0, i),
                             input_value(u32, 1, 0, i)};
    for (int k = 0; k < 4; ++k) {
      REQUIRE(values[k] == values[k]);
      lowest[k] = std::min(lowest[k], values[k]);
      highest[k] = std::max(highest[k], values[k]);
    }
  }
  CHECK((lowest[0] == -127 && highest[0] == 127));
  CHECK((lowest[1] == 0 && highest[1] == 15));
  CHECK((lowest[2] == -448 && highest[2] == 448));
  CHECK((lowest[3] == 0 && highest[3] == 6));
}
