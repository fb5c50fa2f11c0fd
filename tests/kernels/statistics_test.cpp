#include "kernels/statistics.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

using Catch::Approx;

TEST_CASE("median and quartiles interpolate between order statistics") {
  // Of 1, 2, 3, 4: quartiles at ranks 0.75, 1.5 and 2.25 from zero: 1.75, 2.5, 3.25.
  const auto four = kernels::summarize({4, 1, 3, 2});
  CHECK(four.median == 2.5);
  CHECK(four.iqr == 1.5);
  CHECK(four.samples == 4);
  const auto five = kernels::summarize({10, 20, 30, 40, 1000});
  CHECK(five.median == 30);
  CHECK(five.iqr == 20);
  CHECK(kernels::summarize({7}).median == 7);
  CHECK(kernels::summarize({7}).iqr == 0);
  CHECK(kernels::summarize({}).samples == 0);
}

TEST_CASE("the interval of the median takes the ranks of the binomial") {
  std::vector<double> hundred;
  for (int i = 1; i <= 100; ++i) hundred.push_back(i);
  // Ranks 100/2 -+ 0.98 x 10 = 40.2 and 59.8 from zero: the samples of index 40 and 60.
  const auto s = kernels::summarize(hundred);
  CHECK(s.ci_low == 41);
  CHECK(s.ci_high == 61);
  CHECK(s.median == Approx(50.5));
  CHECK(kernels::is_settled(s, 0.2));  // half width 10 of 50.5
  CHECK_FALSE(kernels::is_settled(s, 0.19));
}

TEST_CASE("too few samples settle nothing, however equal they are") {
  CHECK_FALSE(kernels::is_settled(kernels::summarize({1, 1, 1, 1, 1}), 0.01));
  CHECK(kernels::is_settled(kernels::summarize({1, 1, 1, 1, 1, 1}), 0.01));
}
