#include "widgets/plot/curve.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "tests/support/ui/full_window.h"
#include "tests/support/ui/ui_driver.h"
#include "widgets/plot/plot.h"

using namespace widgets;

namespace {

void set_dark_theme() {
  set_theme(make_theme(Mode::dark, 1.0f, {}));
  apply_to_imgui(theme());
}

/// A plot of one curve.
struct CurveBench {
  Curve curve;
  PlotView view{};
  support::UiDriver ui{
      support::full_window([this] {
        Plot plot("curve", view, {.x = {.lo = 0, .hi = 4}, .y = {.lo = 0, .hi = 4}, .size = {600, 400}});
        plot.curve(curve);
      }),
      {640, 440},
      set_dark_theme};

  std::ptrdiff_t count(Stroke::Kind kind, ImU32 fill, ImU32 stroke) {
    ui.frames(2);
    const Record record = ui.record();
    return std::count_if(record.strokes.begin(), record.strokes.end(), [&](const Stroke& s) {
      return s.kind == kind && (fill == 0 || s.fill == fill) && (stroke == 0 || s.stroke == stroke);
    });
  }
};

}  // namespace

TEST_CASE("dots of a curve have its marker, its opacity and their own names") {
  CurveBench bench{.curve = {.kind = Curve::Kind::dots,
                             .label = "plans",
                             .tint = Tint::bad(),
                             .marker = Marker::square,
                             .radius = 4,
                             .x = {1, 2, 3},
                             .y = {1, 2, 3},
                             .labels = {"first", "", "third"}}};
  CHECK(bench.count(Stroke::Kind::rect, theme().bad, 0) == 3);
  CHECK(bench.ui.text_present("first"));
  CHECK(bench.ui.text_present("third"));
  bench.curve.alpha = 0.5f;
  CHECK(bench.count(Stroke::Kind::rect, with_alpha(theme().bad, 0.5f), 0) == 3);
}

TEST_CASE("a line of a curve has its opacity") {
  CurveBench bench{.curve = {.label = "recipe", .tint = Tint::good(), .alpha = 0.3f, .x = {1, 3}, .y = {1, 3}}};
  CHECK(bench.count(Stroke::Kind::polyline, 0, with_alpha(theme().good, 0.3f)) == 1);
}

TEST_CASE("an area of a curve reaches to its lower edge, and a width of 0 leaves its own edge out") {
  CurveBench bench{.curve = {.kind = Curve::Kind::area,
                             .label = "middle",
                             .tint = Tint::series(0),
                             .alpha = 0.25f,
                             .x = {1, 3},
                             .y = {3, 3},
                             .lower = {2, 2}}};
  const ImU32 ground = with_alpha(theme().series_at(0), 0.25f);
  bench.ui.frames(2);
  const Record record = bench.ui.record();
  const auto band = std::find_if(record.strokes.begin(), record.strokes.end(),
                                 [&](const Stroke& s) { return s.kind == Stroke::Kind::polygon && s.fill == ground; });
  REQUIRE(band != record.strokes.end());
  const auto [top, bottom] =
      std::minmax_element(band->points.begin(), band->points.end(), [](ImVec2 a, ImVec2 b) { return a.y < b.y; });
  CHECK(std::abs(top->y - bench.view.y_pixel(3)) < 1);
  CHECK(std::abs(bottom->y - bench.view.y_pixel(2)) < 1);
  CHECK(bench.count(Stroke::Kind::polyline, 0, theme().series_at(0)) == 1);
  bench.curve.width = 0;
  CHECK(bench.count(Stroke::Kind::polyline, 0, theme().series_at(0)) == 0);
}
