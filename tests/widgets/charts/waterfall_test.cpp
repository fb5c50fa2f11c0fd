#include "widgets/charts/waterfall.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "tests/support/ui/headless_frame.h"
#include "tests/widgets/charts/chart_measure.h"

using namespace widgets;

TEST_CASE("added steps start where the last ended, and the end is their sum") {
  PlainTheme theme;
  const std::vector<WaterfallStep> steps{{"overlap", -3}, {"fusion", -2}, {"stall", 1}};
  WaterfallLayout l;
  layout_waterfall(10, steps, {}, {{0, 0}, {600, 300}}, seven_px, l);
  REQUIRE(l.rows.size() == 5);
  CHECK((l.rows[1].before == 10 && l.rows[1].after == 7));
  CHECK((l.rows[2].before == 7 && l.rows[2].after == 5));
  CHECK(l.rows[3].rises);
  CHECK((l.rows[4].before == 0 && l.rows[4].after == 6));
  CHECK(l.rows[2].bar.max.x == l.rows[1].bar.min.x);
  CHECK(std::abs(l.rows[4].bar.width() - 0.6f * l.rows[0].bar.width()) <= 0.01f);
}

TEST_CASE("factors multiply: 989 TFLOP/s x 0.8 x 0.5 leaves 395.6") {
  PlainTheme theme;
  const std::vector<WaterfallStep> steps{{"shapes", 0.8}, {"memory", 0.5}};
  WaterfallLayout l;
  const WaterfallOptions o{.rule = WaterfallRule::multiply, .unit = "FLOP/s", .measured = 400e12};
  layout_waterfall(989e12, steps, o, {{0, 0}, {600, 300}}, seven_px, l);
  CHECK(std::abs(l.rows.back().after - 395.6e12) <= 1e3);
  CHECK(step_text(steps[0], o).view() == "\xC3\x97 0.8");
}

TEST_CASE("a running value below 0 widens the axis to the left") {
  PlainTheme theme;
  const std::vector<WaterfallStep> steps{{"a", -15}};
  WaterfallLayout l;
  layout_waterfall(10, steps, {}, {{0, 0}, {600, 300}}, seven_px, l);
  CHECK(l.range.lo < -5);
  CHECK(l.rows[1].bar.min.x >= l.plot.min.x);
  CHECK(l.rows[2].bar.max.x == l.rows[0].bar.min.x);
}

TEST_CASE("a step that is no number changes nothing and is named") {
  PlainTheme theme;
  const std::vector<WaterfallStep> steps{{"bad", std::nan("")}, {"good", 2}};
  WaterfallLayout l;
  layout_waterfall(1, steps, {}, {{0, 0}, {300, 200}}, seven_px, l);
  CHECK(l.rows.back().after == 3);
  CHECK(l.problem.view() == "\"bad\" is not a finite number and changes nothing here.");
}

TEST_CASE("hostile waterfalls keep their bars inside the plot at any size") {
  const std::vector<WaterfallStep> steps{
      {"", 1e308}, {"", 1e308}, {"down", -1e308}, {"none", 0}, {"nan", std::nan("")}};
  for (const ImVec2 size : {ImVec2{130, 90}, ImVec2{1280, 800}, ImVec2{2560, 1440}}) {
    support::HeadlessFrame ui(size);
    for (const double start : {0.0, -1e308, std::nan(""), 1.0}) {
      WaterfallView view;
      double end = 0;
      ui.frame([&] {
        draw_waterfall("none", start, {}, view);
        end = draw_waterfall("steps", start, steps, view,
                             {.rule = start == 1.0 ? WaterfallRule::multiply : WaterfallRule::add, .unit = "s"});
      });
      CHECK(std::isfinite(end));
      for (const WaterfallRow& r : view.layout.rows)
        CHECK((r.bar.min.x >= view.layout.plot.min.x && r.bar.max.x <= view.layout.plot.max.x + 1.0f));
    }
  }
}
