#include "models/base/adam.h"

#include <array>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

using Catch::Approx;
using models::Adam;

TEST_CASE("Adam's first step is the rate against the sign, whatever the slope's size") {
  std::array<float, 6> weights{};  // four at once, and two by themselves
  const std::array<float, 6> slope{3, -0.001f, 40, -7, 0.5f, -2};
  Adam adam(weights.size());
  adam.step(weights, slope, 0.01);
  for (std::size_t i = 0; i < weights.size(); ++i)
    CHECK(weights[i] == Approx(slope[i] > 0 ? -0.01 : 0.01).epsilon(1e-4));
}

TEST_CASE("Adam's third step follows from its two means, in the lanes and in the rest alike") {
  const std::array<double, 3> slopes{2, -1, 0.5};
  double mean = 0, square = 0, expected = 1;
  for (std::size_t t = 0; t < slopes.size(); ++t) {
    mean = 0.9 * mean + 0.1 * slopes[t];
    square = 0.99 * square + 0.01 * slopes[t] * slopes[t];
    const double n = static_cast<double>(t + 1);
    expected *= 1 - 0.1 * 0.02;  // AdamW: decay times rate
    expected -= 0.02 * (mean / (1 - std::pow(0.9, n))) / (std::sqrt(square / (1 - std::pow(0.99, n))) + 1e-8);
  }
  std::array<float, 5> weights{1, 1, 1, 1, 1};
  Adam adam(weights.size(), {.square = 0.99f, .decay = 0.1});
  for (const double slope : slopes) {
    std::array<float, 5> gradient;
    gradient.fill(static_cast<float>(slope));
    adam.step(weights, gradient, 0.02);
  }
  for (const float w : weights) CHECK(w == Approx(expected).epsilon(1e-5));
  CHECK(weights[0] == weights[4]);
}
