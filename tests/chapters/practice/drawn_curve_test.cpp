#include "chapters/practice/drawn_curve.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <limits>

using Catch::Approx;
using chapters::CurveError;
using chapters::CurveMeasure;
using chapters::score_curve;

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

chapters::CurveScore by_ratio(std::vector<double> drawn, std::vector<double> computed) {
  return score_curve(drawn, computed, CurveMeasure::ratio, 0.1, 1000);
}

}  // namespace

TEST_CASE("a line that is everywhere twice too high scores 50; the same too low scores 50 too; the right one 100") {
  const auto high = by_ratio({2, 20, 200}, {1, 10, 100});
  CHECK(high.score == Approx(50));
  CHECK(high.typical_factor == Approx(2));
  CHECK(high.error == CurveError::too_high);
  CHECK(high.close_share == 0);
  CHECK(high.worst_gap == Approx(std::log(2)));
  const auto low = by_ratio({1, 10, 100}, {2, 20, 200});
  CHECK(low.score == Approx(50));
  CHECK(low.error == CurveError::too_low);
  CHECK(low.worst_gap == Approx(-std::log(2)));
  const auto right = by_ratio({1, 10, 100}, {1, 10, 100});
  CHECK(right.score == 100);
  CHECK(right.error == CurveError::close);
  CHECK(right.close_share == 1);
  CHECK(right.close_up_to == 3);
}

TEST_CASE("the score is the mean over the feasible samples alone, and the largest gap has its place") {
  // Gaps ln 1, ln 4, left out, ln 2: the mean is ln 8 / 3, so the score is 100 / 8^(1/3) = 50.
  const auto s = by_ratio({1, 4, 7, 5}, {1, 1, none, 10});
  CHECK(s.compared == 3);
  CHECK(s.score == Approx(50));
  CHECK(s.worst == 1);
  CHECK(std::exp(s.worst_gap) == Approx(4));
  CHECK(s.close_share == Approx(1.0 / 3));
  CHECK(s.close_up_to == 1);
  CHECK(s.error == CurveError::wrong_bend);  // two thirds of the gaps are above
  CHECK(by_ratio({none, none}, {1, 1}).score == 0);
  CHECK(by_ratio({}, {}).score == 0);
}

TEST_CASE("exactly 25 % off is within 25 %, on both sides of the ratio, and a score of 80 is close") {
  const auto s = by_ratio({1.25, 0.8}, {1, 1});
  CHECK(s.close_share == 1);
  CHECK(s.score == Approx(80));
  CHECK(by_ratio({1.26, 1.26}, {1, 1}).close_share == 0);
  CHECK(by_ratio({1.2, 1.2}, {1, 1}).error == CurveError::close);
}

TEST_CASE("shares and values of both signs are compared in parts of the range: a quarter of it is a factor of e") {
  const auto s = score_curve(std::vector<double>{50, 50}, std::vector<double>{25, 25}, CurveMeasure::range, 0, 100);
  CHECK(s.score == Approx(100 / std::exp(1.0)));
  CHECK(s.mean_share == Approx(0.25));
  CHECK(s.error == CurveError::too_high);
  const auto zero = score_curve(std::vector<double>{0, -10}, std::vector<double>{0, 10}, CurveMeasure::range, -20, 20);
  CHECK(zero.score == Approx(100 / std::exp(1.0)));  // gaps 0 and half of the range, times four, halved
  CHECK(zero.worst == 1);
  CHECK(zero.worst_gap == Approx(-2));
  CHECK(chapters::measure_of("%", std::vector<double>{1, 2}) == CurveMeasure::range);
  CHECK(chapters::measure_of("s", std::vector<double>{1, none, 2}) == CurveMeasure::ratio);
  CHECK(chapters::measure_of("", std::vector<double>{1, 0}) == CurveMeasure::range);
}

TEST_CASE("a drawn zero under a ratio is a large gap and not an infinite one") {
  const auto s = by_ratio({0, 0}, {10, 10});
  CHECK(std::isfinite(s.worst_gap));
  CHECK(s.score == Approx(0.01));  // it counts as a hundredth of the range's begin, 0.001
}

TEST_CASE("a kept line is read back, at most 33 samples of it, ends included") {
  std::vector<double> xs, ys, back_x, back_y;
  for (int i = 0; i < 65; ++i) {
    xs.push_back(1 + i);
    ys.push_back(i == 64 ? 1e12 : 2.5 * i);
  }
  chapters::read_curve_text(chapters::curve_text(xs, ys), back_x, back_y);
  REQUIRE(back_x.size() == 33);
  CHECK(back_x.front() == 1);
  CHECK(back_x.back() == 65);
  CHECK(back_y[1] == 5);
  CHECK(back_y.back() == 1e12);
  chapters::read_curve_text("1:2 x:3 4 5:nan 6:7", back_x, back_y);
  CHECK(back_x == std::vector<double>{1, 6});
  CHECK(back_y == std::vector<double>{2, 7});
}
