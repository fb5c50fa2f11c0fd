#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "tests/support/ui/headless_frame.h"
#include "tests/widgets/charts/chart_measure.h"
#include "widgets/charts/dot_plot.h"
#include "widgets/charts/interval_bar.h"
#include "widgets/charts/port_bars.h"
#include "widgets/charts/tornado.h"

using namespace widgets;

namespace {

constexpr Rect wide{{0, 0}, {800, 400}};
const double none = std::nan("");

}  // namespace

TEST_CASE("rows fold from the end, and the last place says how many") {
  PlainTheme theme;
  const RowStack all = stack_rows(5, 10, 110, 24, 12);
  CHECK((all.shown == 5 && all.left_out == 0 && all.slot == 20));
  const RowStack some = stack_rows(40, 0, 120, 24, 12);
  CHECK((some.shown == 9 && some.left_out == 31));
  CHECK(some.row_at(0) == 0);
  CHECK(some.row_at(107) == 8);
  CHECK(some.row_at(109) == -1);
  CHECK(stack_rows(3, 0, 0, 24, 12).left_out == 3);
  CHECK(stack_rows(0, 0, 100, 24, 12).row_at(5) == -1);
}

TEST_CASE("a tornado: the largest first, bars about the base, falling to the left and rising to the right") {
  PlainTheme theme;
  const std::vector<TornadoRow> rows{
      {"small", {-1, 0.5}}, {"large", {-5, 2}, {-3, 0}}, {"none", {0, 0}}, {"both up", {1, 3}}};
  TornadoLayout l;
  layout_tornado(rows, {.base = 20, .unit = "ms"}, wide, seven_px, l);
  REQUIRE(l.rows.size() == 4);
  CHECK((l.rows[0].row == 1 && l.rows[1].row == 3 && l.rows[2].row == 0 && l.rows[3].row == 2));
  CHECK((l.range.lo == 15 && l.range.hi == 23));
  const TornadoBar& large = l.rows[0].alone;
  CHECK(std::abs(large.fall.min.x - l.plot.min.x) <= 0.5f);
  CHECK((large.fall.max.x == l.base_px && large.rise.min.x == l.base_px));
  const float px = l.plot.width() / 8;
  CHECK(std::abs(large.rise.width() - 2 * px) <= 1.0f);
  CHECK(std::abs(l.rows[0].on_top.fall.width() - 3 * px) <= 1.0f);
  CHECK(l.rows[0].on_top.fall.min.y >= large.fall.max.y);
  CHECK_FALSE(l.rows[1].on_top.known);
  // Both ends above the base: nothing falls, and the bar reaches to the farther one.
  CHECK(l.rows[1].alone.fall.width() == 0);
  CHECK(std::abs(l.rows[1].alone.rise.width() - 3 * px) <= 1.0f);
  CHECK((l.rows[3].alone.known && l.rows[3].alone.fall.width() == 0 && l.rows[3].alone.rise.width() == 0));
}

TEST_CASE("a tornado keeps one unit, says what is not finite and folds the smallest away") {
  PlainTheme theme;
  std::vector<TornadoRow> rows;
  for (int i = 0; i < 40; ++i) rows.push_back({"category", {-1e-3 * (i + 1), 0}});
  TornadoLayout l;
  layout_tornado(rows, {.unit = "s"}, {{0, 0}, {500, 200}}, seven_px, l);
  CHECK(l.stack.shown + l.stack.left_out == 40);
  CHECK(l.stack.left_out > 0);
  CHECK(l.rows[0].row == 39);
  CHECK(l.unit.unit.view() == "ms");
  CHECK(tornado_text(-0.2e-3, l.unit).view() == "-0.2 ms");
  CHECK(tornado_text(3e-3, l.unit).view() == "+3 ms");
  rows = {{"bad", {none, 1}}, {"infinite", {-INFINITY, 0}}};
  layout_tornado(rows, {.base = none}, wide, seven_px, l);
  CHECK(l.problem.view().starts_with("The base is not a finite number"));
  CHECK_FALSE(l.rows[0].alone.known);
  CHECK(std::isfinite(l.base_px));
}

TEST_CASE("a dot plot starts a linear axis at 0, puts what is off the scale at the edge and keeps the share longest") {
  PlainTheme theme;
  const std::vector<DotRow> rows{{"a", 100, 60}, {"b", 50, none}, {"c", 0, 20}};
  DotPlotLayout l;
  layout_dot_plot(rows, {.unit = "B/s"}, wide, seven_px, l);
  CHECK(l.range.lo <= 0);
  CHECK(l.rows[0].bound.x > l.rows[0].measured.x);
  CHECK(std::abs(l.rows[0].share - 0.6) <= 1e-12);
  CHECK_FALSE(l.rows[1].measured.shown);
  CHECK((l.share_right == 800 && l.values_right > 0 && l.values_right < l.share_right));
  layout_dot_plot(rows, {.axis = AxisKind::log10}, wide, seven_px, l);
  CHECK(l.rows[2].bound.off_scale);
  CHECK(l.rows[2].bound.x == l.plot.min.x);
  CHECK(l.problem.view().starts_with("\"c\" has a value that this axis cannot show"));
  layout_dot_plot(rows, {.unit = "B/s"}, {{0, 0}, {190, 200}}, seven_px, l);
  CHECK((l.values_right == 0 && l.share_right > 0));
  layout_dot_plot(rows, {.unit = "B/s"}, {{0, 0}, {90, 200}}, seven_px, l);
  CHECK(l.share_right == 0);
}

TEST_CASE("an interval bar: interval, dot and goal on one axis; unknown has no dot; beyond the axis ends at the edge") {
  PlainTheme theme;
  const std::vector<IntervalRow> rows{
      {"right", 20, 80, 50, 75, 12}, {"not asked"}, {"beyond", -20, 140, 120, 75, 1}, {"turned", 80, 20, 40}};
  IntervalBarLayout l;
  layout_interval_bars(rows, {.lo = 0, .hi = 100, .unit = "%"}, wide, seven_px, l);
  REQUIRE(l.rows.size() == 4);
  const IntervalPlace& p = l.rows[0];
  CHECK((p.bar.min.x < p.value_px && p.value_px < p.goal_px && p.goal_px < p.bar.max.x));
  CHECK(std::abs(p.value_px - (l.plot.min.x + l.plot.width() / 2)) <= 0.5f);
  CHECK((!l.rows[1].has_interval && !l.rows[1].has_value && !l.rows[1].has_goal));
  CHECK((l.rows[2].bar.min.x == l.plot.min.x && l.rows[2].bar.max.x == l.plot.max.x));
  CHECK(l.rows[2].value_px == l.plot.max.x);
  CHECK(l.rows[3].bar.width() > 0);
  CHECK(l.problem.view() == "The interval of \"turned\" ends before it starts and is turned around.");
  CHECK((l.n_right == 800 && l.value_right > 0 && l.value_right < 800));
}

TEST_CASE("port bars: the tightest is marked, demand beyond supply stands past it, and no supply is said") {
  PlainTheme theme;
  std::vector<PortRow> rows{{"load", 24, 32, "B/cycle"}, {"FMA", 30, 20, "1/cycle"}, {"idle", 0, 8, "B/cycle"}};
  PortBarLayout l;
  layout_port_bars(rows, {}, wide, seven_px, l);
  CHECK(l.tightest == 1);
  CHECK(std::abs(l.rows[0].load - 0.75) <= 1e-12);
  CHECK(std::abs(l.rows[0].bar.width() - 0.75f * l.rows[0].track.width()) <= 1.0f);
  CHECK(l.rows[0].over.width() == 0);
  CHECK((l.rows[1].over.min.x == l.rows[1].track.max.x && l.rows[1].over.width() > 0 && !l.rows[1].beyond_axis));
  CHECK(l.rows[2].bar.width() == 0);
  CHECK(port_figures(rows[0]).view() == "24 of 32 B/cycle");
  CHECK(port_figures({.label = "sectors", .demand = 15.075e12, .supply = 5.53e12, .unit = "B/s"}).view() ==
        "15.1 of 5.53 TB/s");
  CHECK(port_figures({.label = "link", .demand = 4e11, .supply = 3e12, .unit = "B/s"}).view() == "400 GB/s of 3 TB/s");
  rows.push_back({"gone", 3, 0, "B/cycle"});
  rows.push_back({"bad", none, 4, "B/cycle"});
  layout_port_bars(rows, {}, wide, seven_px, l);
  CHECK((l.tightest == 3 && std::isinf(l.rows[3].load) && l.rows[3].beyond_axis));
  CHECK(l.rows[3].over.max.x == l.plot.max.x);
  CHECK(l.problem.view() == "\"bad\" has a demand or a supply that is no finite amount.");
}

TEST_CASE("of forty ports the tightest is shown even where its place folds away") {
  PlainTheme theme;
  std::vector<PortRow> rows(40, PortRow{"port", 1, 10, "B"});
  rows[37].demand = 9;
  PortBarLayout l;
  layout_port_bars(rows, {}, {{0, 0}, {500, 160}}, seven_px, l);
  REQUIRE(l.stack.left_out > 0);
  CHECK(l.rows.back().row == 37);
  CHECK(l.rows.front().row == 0);
}

TEST_CASE("a click on a row of a tornado selects that row of the data, and a second one elsewhere another") {
  support::HeadlessFrame ui({600, 300});
  const std::vector<TornadoRow> rows{{"small", {-1, 0}}, {"large", {-5, 0}}};
  TornadoView view;
  bool changed = false;
  const auto frame = [&] {
    ui.frame([&] { changed = draw_tornado("tornado", rows, view, {.size = {500, 200}}) || changed; });
  };
  frame();
  const auto click = [&](std::size_t place) {
    changed = false;
    ImGui::GetIO().AddMousePosEvent(200, view.layout.stack.middle(place));
    frame();
    ImGui::GetIO().AddMouseButtonEvent(0, true);
    frame();
    ImGui::GetIO().AddMouseButtonEvent(0, false);
    frame();
  };
  click(0);
  CHECK((changed && view.selected == 1));
  click(1);
  CHECK((changed && view.selected == 0));
}
