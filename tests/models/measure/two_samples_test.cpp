#include "models/measure/two_samples.h"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/measure/students_t.h"
#include "tests/support/base/near.h"

using namespace models::measure;
using support::near;

namespace {

/// Student, 1908: hours of sleep that two drugs added, ten patients, as in R's data set "sleep".
constexpr std::array<double, 10> first_drug{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0},
    second_drug{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
/// Hollander and Wolfe, 1973: a depression scale before and after, and permeabilities of two ages.
constexpr std::array<double, 9> before{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30},
    after{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
constexpr std::array<double, 10> at_term{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
constexpr std::array<double, 5> early{1.15, 0.88, 0.90, 0.74, 1.21};

}  // namespace

// Tables of Student's t: 12.706 and 2.262 at 5 %, 3.169 at 1 %.
TEST_CASE("measure: critical values of t are those of the tables, and p undoes them", "[measure]") {
  CHECK(near(student_t_critical(0.05, 1), 12.7062, 1e-5));
  CHECK(near(student_t_critical(0.05, 9), 2.262157, 1e-6));
  CHECK(near(student_t_critical(0.01, 10), 3.169273, 1e-6));
  CHECK(near(student_t_critical(0.05, 1e6), 1.959966, 1e-6));
  CHECK(near(student_t_p(student_t_critical(0.0123, 7.5), 7.5), 0.0123, 1e-9));
  CHECK(student_t_p(0, 5) == 1);
  CHECK(near(normal_share(1.959964), 0.975, 1e-6));
}

// R, power.t.test(n = 20, delta = 1, sd = 1): 0.8689528.
TEST_CASE("measure: the power of a t test is the one that R prints", "[measure]") {
  const double error = std::sqrt(2.0 / 20);
  CHECK(near(t_power(1 / error, 1, student_t_critical(0.05, 38), 38), 0.8689528, 1e-7));
  CHECK(near(t_power(0, 1, student_t_critical(0.05, 5), 5), 0.025, 1e-6));
}

// R, t.test(sleep): Welch t = -1.8608, df = 17.776, p = 0.07939, -3.3654832 to 0.2054832; paired t = -4.0621,
// p = 0.002833, -2.4598858 to -0.7001142.
TEST_CASE("measure: Welch's t and the t of pairs on Student's sleep data", "[measure]") {
  const Comparison apart = compare({.paired = false}, first_drug, second_drug, 1);
  CHECK(near(apart.difference, -1.58, 1e-9));
  CHECK(near(apart.difference / apart.standard_error, -1.8608135, 1e-6));
  CHECK(near(apart.degrees, 17.776474, 1e-6));
  CHECK(near(apart.p, 0.0793941, 1e-5));
  CHECK(near(apart.lo, -3.3654832, 1e-6));
  CHECK(near(apart.hi, 0.2054832, 1e-6));
  const Comparison pairs = compare({.paired = true}, first_drug, second_drug, 1);
  CHECK(near(pairs.difference / pairs.standard_error, -4.0621277, 1e-6));
  CHECK(near(pairs.p, 0.00283289, 1e-5));
  CHECK(near(pairs.lo, -2.4598858, 1e-6));
  CHECK(near(pairs.hi, -0.7001142, 1e-6));
}

// R, wilcox.test of both examples: V = 40 and W = 35, estimates 0.46 and 0.305, intervals 0.01 to 0.786 and -0.15 to
// 0.76; p with the normal approximation and the correction is 0.0440 and 0.2446.
TEST_CASE("measure: ranks, their estimates and intervals on Hollander and Wolfe's examples", "[measure]") {
  const Comparison pairs = compare({.test = Test::ranks, .paired = true}, before, after, 1);
  CHECK(near(pairs.p, 0.044011, 1e-4));
  CHECK(near(pairs.difference, 0.46, 1e-9));
  CHECK(near(pairs.lo, 0.01, 1e-9));
  CHECK(near(pairs.hi, 0.786, 1e-9));
  const Comparison apart = compare({.test = Test::ranks, .paired = false}, at_term, early, 1);
  CHECK(near(apart.p, 0.244624, 1e-4));
  CHECK(near(apart.difference, 0.305, 1e-9));
  CHECK(near(apart.lo, -0.15, 1e-9));
  CHECK(near(apart.hi, 0.76, 1e-9));
}

TEST_CASE("measure: a bootstrap is the same for the same stream, and of means as wide as their standard error",
          "[measure]") {
  const Method method{.test = Test::bootstrap, .paired = true, .resamples = 4000};
  const Comparison one = compare(method, first_drug, second_drug, 5),
                   again = compare(method, first_drug, second_drug, 5);
  CHECK(one.lo == again.lo);
  CHECK(one.hi == again.hi);
  CHECK(compare(method, first_drug, second_drug, 6).lo != one.lo);
  // The spread of a resampled mean is s sqrt((n - 1) / n) / sqrt(n): 0.369 here; 1.96 of it to either side.
  CHECK(std::abs((one.hi - one.lo) / 2 - 1.96 * 0.369) < 0.06);
  CHECK(one.hi < 0);
  CHECK(one.p < 0.01);
  const Comparison least =
      compare({.test = Test::bootstrap, .paired = false, .statistic = Statistic::least}, first_drug, second_drug, 5);
  CHECK(near(least.difference, -1.5, 1e-9));
}

TEST_CASE("measure: lists that do not vary give an interval without width", "[measure]") {
  constexpr std::array<double, 4> flat{2, 2, 2, 2}, lower{1, 1, 1, 1};
  for (const bool paired : {true, false}) {
    const Comparison c = compare({.paired = paired}, flat, lower, 1);
    CHECK(c.lo == 1);
    CHECK(c.hi == 1);
    CHECK(c.p == 0);
    CHECK(compare({.paired = paired}, flat, flat, 1).p == 1);
    CHECK(compare({.test = Test::ranks, .paired = paired}, flat, flat, 1).p == 1);
  }
  CHECK(correlation_of(flat, lower) == 0);
}
