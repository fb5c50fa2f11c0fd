#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include "kernels/cuda/stopwatch.h"

using namespace kernels::cuda;
using Catch::Matchers::WithinRel;

TEST_CASE("median and interquartile range") {
  const Spread s = spread_of({5, 1, 4, 2, 3});
  CHECK(s.median_s == 3);
  CHECK(s.iqr_s == 2);  // 4 - 2
  CHECK(s.samples == 5);
  CHECK_THAT(spread_of({1, 2, 3, 4}).median_s, WithinRel(2.5));
  CHECK(spread_of({}).samples == 0);
}

// Order statistics: 30 samples, ranks 15 +- 5.4, so a third of the samples may lie anywhere.
TEST_CASE("the median is known when the middle of the samples agrees, whatever the ends do") {
  std::vector<double> steady(30, 1.0);
  CHECK(median_is_known(steady));
  for (int i = 0; i < 6; ++i) steady[static_cast<std::size_t>(i)] = 100.0;
  CHECK(median_is_known(steady));
  std::vector<double> wide;
  for (int i = 0; i < 30; ++i) wide.push_back(1.0 + 0.01 * i);
  CHECK_FALSE(median_is_known(wide));
  CHECK_FALSE(median_is_known({1, 1, 1}));  // too few to say
  CHECK_FALSE(median_is_known(std::vector<double>(30, __builtin_nan(""))));
}
