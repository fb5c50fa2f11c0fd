#include "widgets/base/arrow.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

using namespace widgets;

namespace {

float apart(ImVec2 a, ImVec2 b) { return std::hypot(a.x - b.x, a.y - b.y); }

}  // namespace

TEST_CASE("an arrow's head is wider than its stroke, from a hairline to the thickest") {
  for (const float stroke : {0.5f, 1.0f, 3.0f, 8.2f, 20.0f}) {
    const std::vector<ImVec2> path{{0, 0}, {300, 0}};
    const ArrowShape a = shape_arrow(path, stroke, 1.0f);
    CHECK(a.stroke == stroke);
    CHECK(apart(a.head[1], a.head[2]) >= 2.4f * stroke);
    CHECK((a.head[0].x == 300 && a.head[0].y == 0));
    // The stroke ends inside the head: no gap, and nothing of it beyond the tip.
    CHECK(a.neck.x >= a.head[1].x);
    CHECK(a.neck.x < 300);
  }
}

TEST_CASE("an arrow along a curve points where the curve goes at its end") {
  std::vector<ImVec2> path;
  for (int i = 0; i <= 40; ++i)
    path.push_back(
        {100 * std::sin(static_cast<float>(i) * 0.039f), 100 - 100 * std::cos(static_cast<float>(i) * 0.039f)});
  const ArrowShape a = shape_arrow(path, 2, 1.0f);
  const ImVec2 base{(a.head[1].x + a.head[2].x) / 2, (a.head[1].y + a.head[2].y) / 2};
  CHECK(a.head[0].y - base.y > std::abs(a.head[0].x - base.x) * 5);  // a quarter of a circle ends upright
  CHECK(a.kept < path.size() - 1);
}

TEST_CASE("a path shorter than its head shrinks head and stroke alike; one without length draws nothing") {
  const std::vector<ImVec2> tiny{{0, 0}, {4, 0}}, none{{5, 5}, {5, 5}}, one{{1, 1}};
  const ArrowShape a = shape_arrow(tiny, 6, 1.0f);
  CHECK(a.stroke < 6);
  CHECK(a.head[1].x > 0);
  CHECK(apart(a.head[1], a.head[2]) >= 2.4f * a.stroke);
  CHECK(shape_arrow(none, 2, 1.0f).kept == 0);
  CHECK(shape_arrow(one, 2, 1.0f).kept == 0);
  CHECK(shape_arrow({}, 2, 1.0f).kept == 0);
}
