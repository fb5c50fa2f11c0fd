#include "widgets/charts/measured_strip.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "tests/support/ui/ui_driver.h"

using Catch::Approx;
using widgets::layout_measured_strip;
using widgets::MeasuredMark;

namespace {

std::vector<MeasuredMark> strip_marks(std::initializer_list<double> ratios) {
  std::vector<MeasuredMark> marks;
  for (const double ratio : ratios) marks.push_back({.label = "row", .figure = "50 %", .ratio = ratio});
  return marks;
}

}  // namespace

TEST_CASE("a strip of measurements: names, axis and shares stand beside each other, and the model within the axis") {
  const auto marks = strip_marks({0.25, 0.75, 1.05});
  const auto l = layout_measured_strip(marks, {400, 200}, 120, 30, 12, 1);
  CHECK(l.rows == 3);
  CHECK_FALSE(l.more);
  CHECK(l.label_width == 120);
  CHECK(l.left == 132);
  CHECK(l.figure_left == 370);
  CHECK(l.right == 358);
  CHECK(l.most == Approx(1.25));  // the quarter after 105 %
  CHECK(l.x(0) == Approx(132));
  CHECK(l.x(l.most) == Approx(358));
  CHECK(l.x(0.75) == Approx(132 + 226 * 0.6));
}

TEST_CASE("long names of a strip leave half of the width to the axis") {
  const auto l = layout_measured_strip(strip_marks({0.5}), {400, 200}, 900, 30, 12, 1);
  CHECK(l.label_width == 200);
  CHECK(l.right > l.left + 100);
}

TEST_CASE("names of a strip that differ in their ends can be told apart where they are shortened") {
  std::vector<MeasuredMark> marks = strip_marks({0.5, 0.7});
  marks[0].label = "a model of 70 billion on eight chips, limits of 450 ms and 40 ms";
  marks[1].label = "a model of 70 billion on eight chips, limits of 2 s and 200 ms";
  support::UiDriver ui([&] {
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({420, 200});
    ImGui::Begin("strip");
    widgets::draw_measured_strip("strip", marks, "of the model's figure", {400, 160});
    ImGui::End();
  });
  CHECK(ui.text_present("and 40 ms"));
  CHECK(ui.text_present("and 200 ms"));
}

TEST_CASE("a strip shows the rows that have room and keeps a line for how many have none") {
  const auto marks = strip_marks({0.1, 0.2, 0.3, 0.4, 0.5, 0.6});
  const auto l = layout_measured_strip(marks, {400, 24 + 4 * 19.0f}, 60, 30, 12, 1);
  CHECK(l.rows == 3);
  CHECK(l.more);
  const auto none = layout_measured_strip(marks, {400, 10}, 60, 30, 12, 1);
  CHECK(none.rows == 0);
  CHECK(layout_measured_strip({}, {400, 200}, 0, 0, 12, 1).rows == 0);
}
