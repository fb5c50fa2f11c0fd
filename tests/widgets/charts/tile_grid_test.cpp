#include "widgets/charts/tile_grid.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/ui/headless_frame.h"
#include "tests/support/ui/text_inside.h"
#include "tests/widgets/charts/chart_measure.h"

using namespace widgets;

namespace {

/// 16 x 9 tiles in waves of 132 (one per SM of an H100 SXM), row by row; the last row is a quarter full.
Tile waves(const void*, std::size_t r, std::size_t c) {
  return {static_cast<std::int64_t>((r * 9 + c) / 132), 1.0f, r == 15 ? 0.25f : 1.0f};
}

}  // namespace

TEST_CASE("tiles keep their shape, fit the area and cover the grid exactly") {
  PlainTheme theme;
  TileGridLayout l;
  layout_tile_grid({16, 9, waves}, {.aspect = 0.5, .max_px = 500}, {{0, 0}, {450, 400}}, seven_px, l);
  CHECK((l.rows == 16 && l.cols == 9 && l.row_stride == 1 && l.col_stride == 1));
  CHECK((l.tile_w == 50 && l.tile_h == 25));
  CHECK(l.tile(15, 8).max.x == l.grid.max.x);
  CHECK(l.tile(15, 8).max.y == l.grid.max.y);
  CHECK(l.tile(3, 4).min.x == l.tile(3, 3).max.x);
}

TEST_CASE("numbers show only when the widest fits") {
  PlainTheme theme;
  const auto wide = [](const void*, std::size_t r, std::size_t c) {
    return Tile{0, 1, 1, r + c == 0 ? 1234567.0 : 1.0};
  };
  const auto narrow = [](const void*, std::size_t, std::size_t) { return Tile{0, 1, 1, 1.0}; };
  TileGridLayout l;
  layout_tile_grid({4, 4, narrow}, {}, {{0, 0}, {120, 120}}, seven_px, l);
  CHECK(l.numbers);
  layout_tile_grid({4, 4, wide}, {}, {{0, 0}, {120, 120}}, seven_px, l);  // "1,234,567" is 63 px, a tile 30
  CHECK_FALSE(l.numbers);
}

TEST_CASE("a grid too fine for the screen shows every n-th tile, at least 3 px each") {
  PlainTheme theme;
  TileGridLayout l;
  layout_tile_grid({100'000, 50, waves}, {}, {{0, 0}, {300, 300}}, seven_px, l);
  CHECK(l.rows == 100);
  CHECK(l.row_stride == 1000);
  CHECK(l.tile_h == 3);
  CHECK(l.grid.max.y <= 300);
  CHECK(l.rows * l.row_stride >= 100'000);
}

TEST_CASE("hovering and clicking name the tile by its own row and column") {
  support::HeadlessFrame ui;
  TileGridView view;
  TileGridEvents events;
  const auto frame = [&] { ui.frame([&] { events = draw_tile_grid("tiles", {16, 9, waves}, view); }); };
  frame();
  const Rect r = view.layout.tile(15, 2);
  ImGui::GetIO().AddMousePosEvent((r.min.x + r.max.x) / 2, (r.min.y + r.max.y) / 2);
  frame();
  frame();
  CHECK((events.row == 15 && events.col == 2));
  ImGui::GetIO().AddMouseButtonEvent(0, true);
  frame();
  CHECK((view.row == 15 && view.col == 2));
}

TEST_CASE("an export holds group and filled part of every tile") {
  support::HeadlessFrame ui;
  TileGridView view;
  Record record{};
  ui.frame([&] {
    const Recording recording(record);
    draw_tile_grid("tiles", {16, 9, waves}, view);
  });
  REQUIRE(record.tables.at(0).rows.size() == 144);
  CHECK(record.tables[0].rows[143] == std::vector<std::string>{"15", "8", "1", "0.25", ""});
}

TEST_CASE("hostile tiles draw at any size") {
  const auto bad = [](const void*, std::size_t r, std::size_t c) {
    return Tile{r == 0 ? -1 : std::numeric_limits<std::int64_t>::max(), std::nanf(""), c == 0 ? -5.0f : 7.0f, 1e300};
  };
  for (const ImVec2 size : {ImVec2{90, 90}, ImVec2{1280, 800}, ImVec2{2560, 1440}}) {
    support::HeadlessFrame ui(size);
    TileGridView view, none;
    ui.frame([&] {
      draw_tile_grid("none", {0, 5, bad}, none);
      draw_tile_grid("no function", {5, 5, nullptr}, none);
      draw_tile_grid("bad", {30, 1'000'000, bad}, view, {.aspect = std::nan("")});
    });
    CHECK(none.layout.rows == 0);
    CHECK(view.layout.cols * view.layout.col_stride >= 1'000'000);
    CHECK(view.layout.grid.max.x <= size.x);
  }
}

TEST_CASE("the titles of a tile grid are one upright line above it, shortened to the rows' where it is narrow") {
  const auto drawn = [&](float width) {
    support::HeadlessFrame ui({1000, 600});
    TileGridView view;
    Record record{};
    ui.frame([&] {
      const Recording recording(record);
      draw_tile_grid("tiles", {16, 9, waves}, view,
                     {.row_title = "M in tiles", .col_title = "N in tiles", .size = {width, 300}});
    });
    for (const Stroke& s : record.strokes) CHECK(s.rotation == 0);
    return record;
  };
  CHECK(support::count_text(drawn(400), "M in tiles down, N in tiles across") == 1);
  CHECK(support::count_text(drawn(110), "M in tiles down") == 1);
}
