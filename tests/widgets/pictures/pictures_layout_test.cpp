#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "tests/support/ui/headless_frame.h"
#include "tests/widgets/charts/chart_measure.h"
#include "widgets/pictures/bit_rows.h"
#include "widgets/pictures/matrix_view.h"
#include "widgets/pictures/road.h"

using namespace widgets;

namespace {

double row_plus_col(const void*, std::size_t row, std::size_t col) { return static_cast<double>(row + col); }

MatrixData counting(std::size_t rows, std::size_t cols) {
  return {.rows = rows, .cols = cols, .at = row_plus_col, .revision = 1};
}

}  // namespace

TEST_CASE("a road is to scale: a car of 4.5 m beside 15.6 m blind, which lie in the middle") {
  PlainTheme theme;
  const std::vector<RoadStretch> drive{{0, 2, false}, {2, 15.6, true}, {17.6, 2, false}, {19.6, 3, true}};
  RoadLayout l;
  layout_road(drive, {}, {{0, 0}, {900, 240}}, seven_px, l);
  CHECK(l.interest == 1);
  CHECK(std::abs((l.interest_rect.min.x + l.interest_rect.max.x) / 2 - 450) <= 0.5f);
  CHECK(std::abs(l.interest_rect.width() / l.car.width() - 15.6f / 4.5f) <= 0.01f);
  CHECK(std::abs(l.car.max.x - l.interest_rect.min.x) <= 0.01f);  // its front is where it stops seeing
  CHECK(std::abs(l.car.height() / l.car.width() - 1.8f / 4.5f) <= 0.01f);
  REQUIRE(l.marks.size() >= 3);
  const double step = l.marks[1].metres - l.marks[0].metres;
  for (std::size_t i = 1; i < l.marks.size(); ++i) {
    CHECK(std::abs(l.marks[i].metres - l.marks[i - 1].metres - step) <= 1e-9);
    CHECK(l.marks[i].x - l.marks[i - 1].x >= 7.0f * 4);
  }
}

TEST_CASE("a road shows a chosen stretch, folds what is narrower than 2 px, and draws no part of a car") {
  PlainTheme theme;
  std::vector<RoadStretch> drive;
  for (int i = 0; i < 100'000; ++i) drive.push_back({i * 0.1, 0.1, i % 50 == 0});
  RoadLayout l;
  layout_road(drive, {.visible_m = 5000, .interest = 50'000}, {{0, 0}, {800, 200}}, seven_px, l);
  CHECK(l.interest == 50'000);
  CHECK(l.pieces.size() <= 802);
  CHECK(l.pieces.front().first > 0);
  CHECK(l.marks.size() >= 2);
  layout_road(drive, {.car_m = 1, .visible_m = 50, .interest = 50'000}, {{0, 0}, {800, 200}}, seven_px, l);
  CHECK(l.car.width() == 0);
  const std::vector<RoadStretch> bad{{std::nan(""), 1, true}, {0, -4, true}};
  layout_road(bad, {}, {{0, 0}, {800, 200}}, seven_px, l);
  CHECK(l.interest == -1);
  CHECK(l.problem.view() == "A stretch whose place or length is no finite distance is left out.");
}

TEST_CASE("an addend shifted by 7 into 12 bits: three are kept as guard, round and sticky, the rest falls off") {
  PlainTheme theme;
  const std::vector<std::uint8_t> above(12, 1), below{1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1};
  const BitField fields[] = {{"significand", 12, Tint::series(0)}};
  const BitRow rows[] = {{"accumulator", above, fields}, {"addend", below, fields, 7, {}, "+"}};
  BitRowLayout l;
  layout_bit_rows(rows, {.kept = 12, .extra = 3}, {{0, 0}, {700, 160}}, seven_px, l);
  REQUIRE(l.cells.size() == 24);
  CHECK(l.columns == 19);
  const auto of = [&](std::size_t bit) { return l.cells[12 + bit]; };
  CHECK((of(4).fate == BitFate::kept && of(5).fate == BitFate::extra && of(7).fate == BitFate::extra));
  CHECK((of(8).fate == BitFate::lost && of(11).fate == BitFate::lost));
  CHECK((l.lost == 4 && l.lost_ones == 3));
  // Bits of one weight stand under each other.
  CHECK(of(0).rect.min.x == l.cells[7].rect.min.x);
  // The lost ones have fallen below their row, the others have not.
  CHECK(of(8).rect.min.y > of(7).rect.min.y);
  CHECK(of(7).rect.min.y == of(0).rect.min.y);
  CHECK(std::abs(l.register_px - l.cells[11].rect.max.x) <= 0.01f);
  CHECK(std::abs(l.extra_px - of(7).rect.max.x) <= 0.01f);
  CHECK(l.fields[0].named);
  layout_bit_rows(rows, {.kept = 12, .extra = 3, .fallen = 0}, {{0, 0}, {700, 160}}, seven_px, l);
  CHECK(l.cells[20].rect.min.y == l.cells[12].rect.min.y);
  layout_bit_rows(rows, {}, {{0, 0}, {700, 160}}, seven_px, l);
  CHECK((l.lost == 0 && l.register_px == 0));
}

TEST_CASE("bit rows shrink their cells to the width, drop digits and values before bits, and fold rows") {
  PlainTheme theme;
  const std::vector<std::uint8_t> bits(64, 1);
  std::vector<BitRow> rows(40, BitRow{"accumulator", bits, {}, 0, "a value"});
  BitRowLayout l;
  layout_bit_rows(rows, {}, {{0, 0}, {200, 120}}, seven_px, l);
  CHECK_FALSE(l.digits);
  CHECK(l.value_left == 0);
  CHECK(l.grid.max.x <= 200);
  CHECK((l.left_out > 0 && l.shown + l.left_out == 40));
  for (const BitCell& c : l.cells) CHECK(c.rect.max.y <= 120);
}

TEST_CASE("a matrix from 1 x 1 to 4,096 wide: as many square cells as can be seen, each the mean of its own") {
  PlainTheme theme;
  const Rect area{{0, 0}, {600, 300}};
  MatrixLayout l;
  layout_matrix(counting(1, 1), {}, -1, -1, area, seven_px, l);
  CHECK((l.whole.rows == 1 && l.whole.cols == 1 && l.whole.cells[0] == 0 && l.whole.numbers));
  layout_matrix(counting(4, 8), {}, -1, -1, area, seven_px, l);
  CHECK((l.whole.rows == 4 && l.whole.cols == 8));
  CHECK(std::abs(l.whole.cell(0, 0).width() - l.whole.cell(0, 0).height()) <= 1.0f);
  layout_matrix(counting(64, 4096), {}, -1, -1, area, seven_px, l);
  CHECK(l.whole.rows * l.whole.cols <= 10'000);
  CHECK(l.whole.grid.width() / static_cast<float>(l.whole.cols) >= 2.9f);
  CHECK(l.whole.grid.height() >= 12);
  double sum = 0;
  for (const double v : l.whole.cells) sum += v;
  CHECK(std::abs(sum / static_cast<double>(l.whole.cells.size()) - (63 + 4095) / 2.0) <= 25);
  layout_matrix(counting(0, 4), {}, -1, -1, area, seven_px, l);
  CHECK(l.problem.view() == "Nothing to show: the matrix is empty.");
}

TEST_CASE("a chosen group is framed in the whole and shown cell by cell beside it; one at the rim is smaller") {
  PlainTheme theme;
  const Rect area{{0, 0}, {800, 300}};
  MatrixLayout l;
  layout_matrix(counting(128, 128), {.group_rows = 4, .group_cols = 8}, 8, 16, area, seven_px, l);
  CHECK((l.zoom.rows == 4 && l.zoom.cols == 8 && l.zoom.first_row == 8 && l.zoom.first_col == 16));
  CHECK(l.zoom.cells[0] == 24);
  CHECK(l.zoom.numbers);
  CHECK(l.zoom.grid.min.x > l.whole.grid.max.x);
  CHECK(l.zoom.grid.max.x <= 800);
  const float cell = l.whole.grid.width() / 128;
  CHECK(std::abs(l.group.min.x - (l.whole.grid.min.x + 16 * cell)) <= 0.1f);
  CHECK(std::abs(l.group.width() - 8 * cell) <= 0.1f);
  CHECK((l.zoom.shows(9, 20) && !l.zoom.shows(12, 20) && l.whole.shows(12, 20)));
  layout_matrix(counting(10, 10), {.group_rows = 4, .group_cols = 4}, 8, 8, area, seven_px, l);
  CHECK((l.zoom.rows == 2 && l.zoom.cols == 2));
}

TEST_CASE("a click on a matrix zooms into the group under the pointer and a second one out; the cursor follows") {
  support::HeadlessFrame ui({700, 400});
  MatrixView view;
  const auto frame = [&] {
    ui.frame([&] {
      draw_matrix("matrix", counting(16, 16), view, {.group_rows = 4, .group_cols = 4, .size = {600, 300}});
    });
  };
  frame();
  const auto click = [&](std::int64_t row, std::int64_t col) {
    ImGui::GetIO().AddMousePosEvent(view.layout.whole.col_px(col), view.layout.whole.row_px(row));
    frame();
    ImGui::GetIO().AddMouseButtonEvent(0, true);
    frame();
    ImGui::GetIO().AddMouseButtonEvent(0, false);
    frame();
  };
  click(9, 6);
  CHECK((view.cursor_row == 9 && view.cursor_col == 6));
  CHECK((view.zoom_row == 8 && view.zoom_col == 4));
  CHECK(view.layout.zoom.cells.size() == 16);
  click(9, 6);
  CHECK((view.zoom_row == -1 && view.layout.zoom.cells.empty()));
}
