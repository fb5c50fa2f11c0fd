#include "widgets/charts/heat_map.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "tests/support/ui/headless_frame.h"
#include "tests/support/ui/text_inside.h"
#include "tests/widgets/charts/chart_measure.h"

using namespace widgets;

namespace {
const Rect area{{0, 0}, {500, 300}};
}

TEST_CASE("a small matrix shows every cell, and cells tile the grid without a seam") {
  PlainTheme theme;
  std::vector<double> values{1, 2, 3, 4, 5, 6};
  HeatMapLayout l;
  layout_heat_map({values, 2, 3}, {}, area, seven_px, l);
  CHECK(l.cells == values);
  CHECK((l.range.lo == 1 && l.range.hi == 6));
  CHECK(l.numbers);
  CHECK(l.cell(0, 0).max.x == l.cell(0, 1).min.x);
  CHECK(l.cell(0, 0).max.y == l.cell(1, 0).min.y);
  CHECK(l.cell(1, 2).max.x == std::round(l.grid.max.x));
  CHECK((l.position(1) == 0 && l.position(6) == 1 && l.position(99) == 1));
}

TEST_CASE("rows may grow upwards") {
  PlainTheme theme;
  const std::vector<double> values{1, 2};
  HeatMapLayout l;
  layout_heat_map({values, 2, 1}, {.rows_up = true}, area, seven_px, l);
  CHECK(l.cell(0, 0).min.y > l.cell(1, 0).min.y);
}

TEST_CASE("a big matrix folds into visible cells: max keeps the one hot cell, mean keeps the average") {
  PlainTheme theme;
  std::vector<double> values(2000 * 3000, 1.0);
  values[1234 * 3000 + 2345] = 50;
  HeatMapLayout l;
  layout_heat_map({values, 2000, 3000}, {.fold = HeatFold::max}, area, seven_px, l);
  CHECK(static_cast<float>(l.rows) <= l.grid.height() / 3);
  CHECK(static_cast<float>(l.cols) <= l.grid.width() / 3);
  CHECK(std::count(l.cells.begin(), l.cells.end(), 50.0) == 1);
  CHECK(l.shown_row(1234, 2000) == 1235 * l.rows / 2000);
  CHECK_FALSE(l.numbers);
  layout_heat_map({values, 2000, 3000}, {.fold = HeatFold::mean}, area, seven_px, l);
  const double most = *std::max_element(l.cells.begin(), l.cells.end());
  CHECK((most > 1 && most < 2));
}

TEST_CASE("a large window shows at most ten thousand cells, in the proportions of what it could show") {
  PlainTheme theme;
  const std::vector<double> values(400 * 800, 1.0);
  HeatMapLayout l;
  layout_heat_map({values, 400, 800}, {}, {{0, 0}, {4000, 2000}}, seven_px, l);
  CHECK(l.cells.size() == l.rows * l.cols);
  CHECK((l.rows * l.cols <= 10000 && l.rows * l.cols > 9800));
  CHECK((l.rows >= 69 && l.rows <= 71));  // as 400 to 800: 70.7 rows
}

TEST_CASE("a log scale puts the geometric mean in the middle and has no colour for 0") {
  PlainTheme theme;
  const std::vector<double> values{1, 0, std::nan(""), 100};
  HeatMapLayout l;
  layout_heat_map({values, 2, 2}, {.log = true}, area, seven_px, l);
  CHECK(std::abs(l.position(10) - 0.5) <= 1e-12);
  CHECK((std::isnan(l.cells[1]) && std::isnan(l.cells[2])));
  CHECK((l.range.lo == 1 && l.range.hi == 100));
}

TEST_CASE("labels thin out with the room") {
  PlainTheme theme;
  const std::vector<double> values(60 * 60, 1.0);
  std::vector<std::string_view> names(60, "a rather long label");
  HeatMapLayout l;
  layout_heat_map({values, 60, 60, names, names}, {}, area, seven_px, l);
  const float cell_w = l.grid.width() / 60, cell_h = l.grid.height() / 60;
  CHECK(static_cast<float>(l.col_label_stride) * cell_w >= 7 * 19);
  CHECK(static_cast<float>(l.row_label_stride) * cell_h >= 13);
  CHECK(l.row_label_stride == 5);  // 16.25 px a label over 4.7 px a row, rounded up to 1, 2, 5
}

TEST_CASE("a matrix with too few values says what it should have") {
  PlainTheme theme;
  const std::vector<double> values{1, 2, 3};
  HeatMapLayout l;
  layout_heat_map({values, 2, 2}, {}, area, seven_px, l);
  CHECK(l.problem.view() == "The matrix should have 2 × 2 values and has 3.");
  CHECK(l.cells.empty());
}

TEST_CASE("hovering names the cell, a click selects it, and the export is the matrix") {
  support::HeadlessFrame ui;
  const std::vector<double> values{1, 2, 3, 4};
  HeatMapView view;
  HeatMapEvents events;
  Record record{};
  const auto frame = [&] { ui.frame([&] { events = draw_heat_map("sweep", {values, 2, 2}, view, {.unit = "s"}); }); };
  frame();
  const Rect cell = view.layout.cell(1, 0);
  ImGui::GetIO().AddMousePosEvent(cell.min.x + 5, cell.min.y + 5);
  frame();
  frame();
  CHECK((events.row == 1 && events.col == 0));
  ImGui::GetIO().AddMouseButtonEvent(0, true);
  frame();
  CHECK((view.row == 1 && view.col == 0));
  ui.frame([&] {
    const Recording recording(record);
    draw_heat_map("sweep", {values, 2, 2}, view, {.unit = "s"});
  });
  CHECK(record.tables.at(0).rows.at(1) == std::vector<std::string>{"1", "3", "4"});
}

TEST_CASE("hostile matrices draw at any size") {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> bad{std::nan(""), inf, -inf, 1e308, -1e308, 0}, none(6, std::nan(""));
  for (const ImVec2 size : {ImVec2{150, 90}, ImVec2{1280, 800}, ImVec2{2560, 1440}}) {
    support::HeadlessFrame ui(size);
    HeatMapView a, b, c;
    ui.frame([&] {
      draw_heat_map("empty", {}, a);
      draw_heat_map("bad", {bad, 2, 3}, b, {.value_title = "v", .log = true});
      draw_heat_map("none", {none, 3, 2}, c);
    });
    CHECK(a.layout.problem.view() == "Nothing to show: the matrix is empty.");
    CHECK(b.layout.position(1e308) >= 0);
    CHECK(c.layout.problem.view() == "No value is finite.");
  }
}

TEST_CASE("titles of a heat map stand upright above it and are whole or not there, however narrow it is") {
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  const auto drawn = [&](float width) {
    support::HeadlessFrame ui({1000, 600});
    HeatMapView view;
    Record record{};
    ui.frame([&] {
      const Recording recording(record);
      draw_heat_map("sweep", {values, 2, 3}, view,
                    {.row_title = "rank that sends (of the group)",
                     .col_title = "rank that receives",
                     .value_title = "rate",
                     .unit = "B/s",
                     .size = {width, 200}});
    });
    CHECK(support::texts_over_each_other(record).empty());
    for (const Stroke& s : record.strokes) {
      INFO(width << " px: " << s.text);
      CHECK(s.rotation == 0);
      CHECK(s.text.find("\xE2\x80\xA6") == std::string::npos);
      if (s.text.starts_with("rank") && s.points[0].y < view.layout.grid.min.y) CHECK(s.points[0].x < 20);
    }
    return record;
  };
  CHECK(support::count_text(drawn(600), "rank that sends (of the group)") == 1);
  const Record narrow = drawn(220);  // the bracket goes first
  CHECK(support::count_text(narrow, "rank that sends (of the group)") == 0);
  CHECK(support::count_text(narrow, "rank that sends") == 1);
  CHECK(support::count_text(drawn(150), "rank that sends") == 0);
}
