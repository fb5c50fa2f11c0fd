#include "models/learning/practice.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

using Catch::Approx;
using namespace models;

TEST_CASE("the Wilson bound: published intervals, and the closed form where every answer is right") {
  // Newcombe 1998, Statistics in Medicine 17:857, table I, method 3 (score, without continuity correction).
  CHECK(wilson_lower(81, 263) == Approx(0.2553).margin(5e-5));
  CHECK(wilson_lower(15, 148) == Approx(0.0624).margin(5e-5));
  CHECK(wilson_lower(0, 20) == Approx(0).margin(1e-12));
  CHECK(wilson_lower(1, 29) == Approx(0.0061).margin(5e-5));
  for (const double n : {1.0, 3.0, 10.0, 1000.0}) CHECK(wilson_lower(n, n, 2) == Approx(n / (n + 4)));
  CHECK(wilson_lower(0, 0) == 0);
  CHECK(wilson_lower(7, 10, confidence_z(80)) > wilson_lower(7, 10, confidence_z(99)));
}

TEST_CASE(
    "questions to a goal is the first count at which the bound passes it, and never where the rate is not above the "
    "goal") {
  const double z = confidence_z(95);
  const auto n = questions_to_goal(0, 0, 1, 0.9, z);
  CHECK(n == 35);  // 9 z^2 = 34.57
  CHECK(wilson_lower(35, 35, z) >= 0.9);
  CHECK(wilson_lower(34, 34, z) < 0.9);
  CHECK(questions_to_goal(35, 35, 0.5, 0.9, z) == 0);
  CHECK(questions_to_goal(0, 0, 0.8, 0.8, z) == -1);
  CHECK(questions_to_goal(0, 30, 1, 0.9, z) > 270);  // thirty wrong ones have to be outweighed
}

TEST_CASE("review intervals are those of SM-2 with easiness 2.5: 1, 6, 15, 37.5 days; a wrong answer starts over") {
  // Wozniak 1990: I(1) = 1, I(2) = 6, I(n) = I(n-1) * EF.
  CHECK(review_interval_days(0) == 0);
  CHECK(review_interval_days(1) == 1);
  CHECK(review_interval_days(2) == 6);
  CHECK(review_interval_days(3) == 15);
  CHECK(review_interval_days(4) == 37.5);
  CHECK(review_interval_days(100) == 365);
}

TEST_CASE("the level moves by answers at the edge alone, within 1 and 6") {
  CHECK(next_level(2, 2, true, 6) == 3);
  CHECK(next_level(2, 5, true, 6) == 3);
  CHECK(next_level(2, 1, true, 6) == 2);  // below it: shows nothing new
  CHECK(next_level(2, 2, false, 6) == 1);
  CHECK(next_level(2, 5, false, 6) == 2);  // too hard: no reason to step down
  CHECK(next_level(6, 6, true, 6) == 6);
  CHECK(next_level(1, 1, false, 6) == 1);
}
