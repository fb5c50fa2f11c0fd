#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "widgets/base/motion.h"

// A change eases in 150 ms where a person watches, and is taken at once where it was dragged, played or where nobody
// does.

using namespace widgets;

namespace {

/// What is drawn in each of `frames` frames of 1/60 s.
std::vector<double> play(EasedValues& eased, const std::vector<double>& target, int frames, bool on = true,
                         bool held = false) {
  std::vector<double> out;
  for (int i = 0; i < frames; ++i) {
    begin_motion(on, held, 1.0f / 60);
    out.push_back(eased.towards(target)[0]);
  }
  begin_motion(false, false, 0);
  return out;
}

}  // namespace

TEST_CASE("a change takes nine frames of a sixtieth of a second and never goes back or beyond") {
  EasedValues eased;
  CHECK(play(eased, {10}, 3) == std::vector<double>{10, 10, 10});
  const auto way = play(eased, {20}, 12);
  CHECK(way[0] > 10);
  CHECK(way[0] < 20);
  for (std::size_t i = 1; i < way.size(); ++i) CHECK(way[i] >= way[i - 1]);
  CHECK(way[7] < 20);
  CHECK(way[8] == 20);
  CHECK(way.back() == 20);
}

TEST_CASE("what is dragged, played or watched by nobody is drawn at once") {
  EasedValues eased;
  play(eased, {10}, 1);
  CHECK(play(eased, {20}, 1, true, true)[0] == 20);
  CHECK(play(eased, {30}, 1, false)[0] == 30);
  CHECK(play(eased, {40}, 1)[0] < 40);
  CHECK(play(eased, {50}, 1)[0] == 50);  // the change before was still under way
}

TEST_CASE("another number of values and values that are not finite are taken at once") {
  EasedValues eased;
  play(eased, {1}, 1);
  CHECK(play(eased, {5, 6}, 1)[0] == 5);
  CHECK(std::isnan(play(eased, {std::nan(""), 6}, 1)[0]));
  CHECK(play(eased, {2, 6}, 20)[0] == 2);
}

TEST_CASE("what is under way asks for another frame, and what has arrived does not") {
  EasedValues eased;
  play(eased, {1}, 1);
  begin_motion(true, false, 1.0f / 60);
  const double target = 2;
  eased.towards({&target, 1});
  CHECK(motion().moving);
  for (int i = 0; i < 10; ++i) {
    begin_motion(true, false, 1.0f / 60);
    eased.towards({&target, 1});
  }
  CHECK_FALSE(motion().moving);
  begin_motion(true, false, 5);  // after a sleep
  const double other = 3;
  CHECK(eased.towards({&other, 1})[0] < 3);
  begin_motion(false, false, 0);
}
