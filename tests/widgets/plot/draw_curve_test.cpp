#include "widgets/plot/draw_curve.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>

using namespace widgets;
using Catch::Approx;

namespace {

float eight_px_each(std::string_view s) { return 8.0f * static_cast<float>(s.size()); }

struct Sheet {
  std::vector<double> xs;
  DrawnLine line;
  DrawCurveSpec spec;
  DrawCurveLayout layout;
  explicit Sheet(std::size_t samples = 9) {
    for (std::size_t i = 0; i < samples; ++i) xs.push_back(static_cast<double>(i));
    const double last = static_cast<double>(samples - 1);
    spec = {.x = {.label = "batch"}, .y = {.label = "rate"}, .x_range = {0, last}, .y_range = {0, 100}, .xs = xs};
    line.begin(samples, AxisKind::linear, {0, 100});
  }
  void lay_out() { layout_draw_curve({{0, 0}, {800, 400}}, spec, line, eight_px_each, 14, layout); }
};

/// Where the answer is put when the learner drew 90 all along and 10 was computed.
auto revealed_at_10(Sheet& s) {
  s.line.draw_to(0, 90);
  s.line.draw_to(8, 90);
  s.lay_out();
  const std::vector<double> computed(9, 10.0);
  Occupancy room;
  return place_reveal(s.layout, s.spec, s.line.values(), computed, 4, {{150, 80}, {260, 60}, {40, 15}, {70, 15}}, room);
}

}  // namespace

TEST_CASE("a stroke from left to right is straight between where the pen was seen, and reaches the end once") {
  Sheet s;
  s.line.draw_to(0, 10);
  s.line.draw_to(4, 50);
  CHECK(s.line.reach() == 5);
  CHECK(s.line.values()[2] == Approx(30));
  CHECK_FALSE(s.line.whole());
  s.line.draw_to(8, 50);
  CHECK(s.line.whole());
  CHECK(s.line.values()[6] == Approx(50));
}

TEST_CASE("going back redraws what is passed and leaves the rest") {
  Sheet s;
  s.line.draw_to(0, 10);
  s.line.draw_to(8, 90);
  s.line.draw_to(6, 20);
  CHECK(s.line.whole());
  CHECK(s.line.values()[6] == Approx(20));
  CHECK(s.line.values()[7] == Approx(55));
  CHECK(s.line.values()[2] == Approx(30));  // from the first stroke
}

TEST_CASE("a pen that comes down further right is joined to the line; the first one begins at the left edge") {
  Sheet s;
  s.line.draw_to(2, 40);
  CHECK(s.line.values()[0] == Approx(40));
  CHECK(s.line.reach() == 3);
  s.line.lift();
  s.line.draw_to(4, 80);
  CHECK(s.line.values()[3] == Approx(60));
  s.line.lift();
  s.line.draw_to(1, 5);  // on the line: only there
  CHECK(s.line.values()[0] == Approx(40));
  CHECK(s.line.values()[2] == Approx(40));
  CHECK(s.line.reach() == 5);
}

TEST_CASE("on a logarithmic axis a stroke is straight on the axis, and values stay in the range") {
  DrawnLine line;
  line.begin(3, AxisKind::log10, {1, 10000});
  line.draw_to(0, 1);
  line.draw_to(2, 1e9);
  CHECK(line.values()[2] == Approx(10000));
  CHECK(line.values()[1] == Approx(100));
}

TEST_CASE(
    "by keyboard: right draws on, level; up raises the cursor and bends both sides; sixteen steps reach the end") {
  DrawnLine line;
  line.begin(65, AxisKind::linear, {0, 100});
  for (int i = 0; i < 16; ++i) line.step(1);
  CHECK(line.whole());
  CHECK(line.values()[30] == Approx(50));
  for (int i = 0; i < 8; ++i) line.step(-1);
  CHECK(line.cursor() == 32);
  line.raise(0.2);
  CHECK(line.values()[32] == Approx(70));
  CHECK(line.values()[30] == Approx(60));  // half way to the place before
  CHECK(line.values()[34] == Approx(60));
  CHECK(line.values()[28] == Approx(50));
  line.raise(2);
  CHECK(line.values()[32] == Approx(100));
}

TEST_CASE("what is still to draw is the strip right of the line; the tags stand on both axes beside the frame") {
  Sheet s;
  s.lay_out();
  const Box& a = s.layout.frame.area;
  CHECK(s.layout.still_to_draw.min.x == Approx(a.min.x));
  CHECK(s.layout.value_tag.empty());
  CHECK(s.layout.pen.x > a.min.x + 8);  // its handle covers no figure of the axis
  s.line.draw_to(4, 50);
  s.lay_out();
  CHECK(s.layout.still_to_draw.min.x == Approx((a.min.x + a.max.x) / 2).margin(1));
  CHECK(s.layout.pen.y == Approx((a.min.y + a.max.y) / 2).margin(1));
  CHECK(s.layout.value_tag.max.x < a.min.x);
  CHECK((s.layout.value_tag.min.y < s.layout.pen.y && s.layout.pen.y < s.layout.value_tag.max.y));
  CHECK(s.layout.place_tag.min.y > a.max.y);
  s.line.draw_to(8, 50);
  s.lay_out();
  CHECK(s.layout.still_to_draw.empty());
  CHECK(sample_at(s.layout.frame, s.xs, s.layout.pen.x) == 8);
}

TEST_CASE("card and explanation stand on no line and not on each other, the explanation in the gap where it fits") {
  Sheet s;
  const auto places = revealed_at_10(s);
  REQUIRE(places.card);
  REQUIRE(places.explanation);
  REQUIRE(places.yours);
  REQUIRE(places.computed);
  const Box boxes[] = {*places.card, *places.explanation, *places.yours, *places.computed};
  for (const Box& one : boxes) {
    for (const double y : {10.0, 90.0}) {
      const float px = static_cast<float>(s.layout.frame.y.pixel(y));
      CHECK((px < one.min.y || px > one.max.y));
    }
    for (const Box& other : boxes) CHECK((&one == &other || !one.overlaps(other)));
  }
  CHECK(static_cast<double>(places.explanation->min.y) > s.layout.frame.y.pixel(90));
  CHECK(static_cast<double>(places.explanation->max.y) < s.layout.frame.y.pixel(10));
}

TEST_CASE("what is revealed keeps clear of a given point's name, however long") {
  Sheet s;
  const GivenMark given[] = {{.label = "given: 40 % of the step at 512 tokens", .value = 40, .at = s.xs.front()}};
  s.spec.given = given;
  const auto places = revealed_at_10(s);
  const float x = static_cast<float>(s.layout.frame.x.pixel(s.xs.front())),
              y = static_cast<float>(s.layout.frame.y.pixel(40));
  const Box name{{x, y - 20}, {x + 37 * 7.0f, y + 20}};
  for (const auto& box : {places.card, places.explanation, places.yours, places.computed})
    if (box) CHECK_FALSE(box->overlaps(name));
}

TEST_CASE("text is cut at spaces into lines that fit") {
  const auto lines = wrap_lines("one two three four", 8 * 9, eight_px_each);
  REQUIRE(lines.count == 3);
  CHECK(lines.lines[0] == "one two");
  CHECK(lines.lines[1] == "three");
  CHECK(lines.lines[2] == "four");
  CHECK(lines.width == 8 * 7);
  CHECK(wrap_lines("", 100, eight_px_each).count == 0);
  CHECK(wrap_lines("unbreakable", 8, eight_px_each).count == 1);
}
