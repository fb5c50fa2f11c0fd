#include "widgets/charts/vessel.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "tests/support/ui/headless_frame.h"
#include "tests/widgets/charts/chart_measure.h"
#include "widgets/base/guess.h"
#include "widgets/charts/byte_strip.h"
#include "widgets/charts/pillars.h"

using namespace widgets;

TEST_CASE("a vessel's layers touch, add up, and are cut at the rim") {
  const PlainTheme plain;
  const VesselLayer layers[] = {{.label = "weights", .value = 16},
                                {.label = "moments", .value = 100},
                                {.label = "none", .value = 0},
                                {.label = "logits", .value = 12}};
  const Vessel vessels[] = {{.layers = layers, .rim = 80}};
  VesselLayout l;
  layout_vessels(vessels, {.unit = "B"}, {{0, 0}, {600, 500}}, seven_px, l);
  REQUIRE(l.pieces.size() == 4);  // the moments stand on both sides of the rim
  CHECK(l.vessels[0].total == 128);
  CHECK(l.pieces[0].rect.max.y == l.ground);
  for (std::size_t i = 1; i < l.pieces.size(); ++i)
    CHECK(std::abs(l.pieces[i].rect.max.y - l.pieces[i - 1].rect.min.y) <= 0.01f);
  CHECK(l.pieces[1].layer == 1);
  CHECK_FALSE(l.pieces[1].over);
  CHECK(l.pieces[2].layer == 1);
  CHECK(l.pieces[2].over);
  CHECK(std::abs(l.pieces[1].rect.min.y - l.vessels[0].body.min.y) <= 0.01f);
  CHECK(std::abs(static_cast<double>(l.ground - l.vessels[0].body.min.y) * l.scale - 80) <= 0.5);
  // Each part has its own figure: those above the rim are what does not fit.
  CHECK(l.pieces[1].value == 64);
  CHECK(l.pieces[2].value == 36);
  CHECK(l.pieces[2].caption == VesselCaption::inside);
  CHECK(l.pieces[2].value + l.pieces[3].value == 48);
}

TEST_CASE("vessels share a scale and a ground, and words of thin layers do not touch") {
  const PlainTheme plain;
  const VesselLayer thin[] = {{.label = "a", .value = 98},
                              {.label = "b", .value = 0.5},
                              {.label = "c", .value = 0.5},
                              {.label = "d", .value = 0.5}};
  const VesselLayer half[] = {{.label = "a", .value = 49.75}};
  const Vessel vessels[] = {{.layers = thin}, {.layers = half}};
  VesselLayout l;
  layout_vessels(vessels, {}, {{0, 0}, {500, 400}}, seven_px, l);
  const float whole = l.ground - l.vessels[0].body.min.y, other = l.ground - l.vessels[1].body.min.y;
  CHECK(std::abs(other * 2 - whole) <= 0.5f);
  CHECK(l.vessels[0].body.max.x <= l.vessels[1].body.min.x);
  std::vector<float> beside;
  for (const VesselPiece& p : l.pieces)
    if (p.caption == VesselCaption::beside) beside.push_back(p.caption_y);
  REQUIRE(beside.size() == 3);
  const float line = widgets::theme().type(Type::small);
  for (std::size_t i = 1; i < beside.size(); ++i) CHECK(beside[i - 1] - beside[i] >= line);
}

TEST_CASE("bytes are cells of one width; a part of a byte is narrower") {
  const PlainTheme plain;
  const ByteRun runs[] = {{.label = "weights", .bytes = 2}, {.label = "moments", .bytes = 2.5}};
  const ByteStripRow rows[] = {{.label = "one", .runs = runs}, {.label = "two", .runs = std::span(runs).first(1)}};
  ByteStripLayout l;
  layout_byte_strip(rows, {.limit = 6}, {{0, 0}, {400, 200}}, l);
  REQUIRE(l.rows.size() == 2);
  REQUIRE(l.cells.size() == 7);
  CHECK(l.cells[0].rect.width() == l.cells[1].rect.width());
  CHECK(std::abs(l.cells[4].rect.width() * 2 - l.cells[3].rect.width()) <= 0.01f);
  CHECK(l.cells[1].rect.max.x == l.cells[2].rect.min.x);
  CHECK(l.x(6) <= 400);
  layout_byte_strip(rows, {}, {{0, 0}, {400, 62}}, l);
  CHECK(l.rows.size() == 1);  // no row without room
}

TEST_CASE("where not all rows of bytes have room, the chosen ones stay") {
  const PlainTheme plain;
  const ByteRun runs[] = {{.label = "weights", .bytes = 2}};
  std::vector<ByteStripRow> rows(7, {.label = "row", .runs = runs});
  rows[2].chosen = rows[6].chosen = true;
  ByteStripLayout l;
  layout_byte_strip(rows, {}, {{0, 0}, {400, 180}}, l);
  REQUIRE(l.rows.size() >= 2);
  REQUIRE(l.rows.size() < 7);
  CHECK(l.shown.size() == l.rows.size());
  CHECK(l.shown.back() == 6);
  CHECK(std::find(l.shown.begin(), l.shown.end(), 2) != l.shown.end());
  CHECK(std::is_sorted(l.shown.begin(), l.shown.end()));
  CHECK(l.rows.back().max.y <= 180.5f);
}

TEST_CASE("the axis beside a vessel has round values in the vessel's scale, and none that touches the rim's") {
  const PlainTheme plain;
  const VesselLayer layers[] = {{.label = "all", .value = 154}};
  const Vessel vessel[] = {{.label = "A", .layers = layers, .rim = 80}};
  VesselLayout l;
  layout_vessels(vessel, {.axis = true}, {{0, 0}, {500, 400}}, seven_px, l);
  REQUIRE(l.ticks.size() >= 4);
  const float line = widgets::theme().type(Type::small);
  for (std::size_t i = 0; i < l.ticks.size(); ++i) {
    CHECK(std::abs(l.ticks[i].y - (l.ground - static_cast<float>(l.ticks[i].value / l.scale))) <= 0.01f);
    if (i > 0) CHECK(l.ticks[i - 1].y - l.ticks[i].y >= line);
    if (!l.ticks[i].rim) CHECK(std::fmod(l.ticks[i].value, 10) == 0);
  }
  const auto rim = std::find_if(l.ticks.begin(), l.ticks.end(), [](const VesselTick& t) { return t.rim; });
  REQUIRE(rim != l.ticks.end());
  CHECK(rim->value == 80);
  CHECK(l.ticks.front().value == 0);
  CHECK(l.vessels.front().body.min.x >= l.left);
}

TEST_CASE("pillars stand side by side, numbered as far apart as their numbers need") {
  const PlainTheme plain;
  const std::vector<Pillar> pillars(126);
  PillarLayout l;
  layout_pillars(pillars, {.full = "1.1 GB", .low = "67 MB"}, {{0, 0}, {800, 100}}, seven_px, l);
  REQUIRE(l.pillars.size() == 126);
  CHECK(l.pillars.front().min.x == 6 * 7 + 10);
  for (std::size_t i = 1; i < l.pillars.size(); ++i) REQUIRE(l.pillars[i].min.x >= l.pillars[i - 1].max.x);
  CHECK(l.pillars.back().max.x <= 800.5f);
  CHECK(l.number_step == 8);  // a pillar has 5.9 px, a number of three digits 29
}

TEST_CASE("pressing a pillar turns it over, and dragging gives its new state to those that are crossed") {
  support::HeadlessFrame ui;
  PillarView view;
  std::vector<Pillar> pillars(8);
  pillars[3].hollow = true;
  const auto frame = [&] {
    ui.frame([&] {
      const PillarEvent event = draw_pillars("pillars", pillars, view, {.size = {400, 100}});
      if (event.pillar >= 0) pillars[static_cast<std::size_t>(event.pillar)].hollow = event.hollow;
    });
  };
  frame();
  const auto middle = [&](std::size_t i) {
    const Rect r = view.layout.pillars[i];
    return ImVec2{(r.min.x + r.max.x) / 2, (r.min.y + r.max.y) / 2};
  };
  const auto at = [&](std::size_t i) {
    ImGui::GetIO().AddMousePosEvent(middle(i).x, middle(i).y);
    frame();
  };
  at(1);
  ImGui::GetIO().AddMouseButtonEvent(0, true);
  frame();
  frame();
  CHECK(pillars[1].hollow);
  at(2);
  at(3);
  at(4);
  ImGui::GetIO().AddMouseButtonEvent(0, false);
  frame();
  at(6);
  for (const std::size_t i : {1, 2, 3, 4}) CHECK(pillars[i].hollow);
  for (const std::size_t i : {0, 5, 6, 7}) CHECK_FALSE(pillars[i].hollow);
}

TEST_CASE("a guess of what the levels show stays as a level of the first vessel, and another guess does not") {
  const auto texts = [](const ShownGuess& guess) {
    Record record{};
    support::HeadlessFrame window({600, 400});
    window.frame([&] {
      const Recording recording(record);
      const ShowGuess shown(&guess);
      const VesselLayer layers[] = {{.label = "weights", .value = 40e9}, {.label = "states", .value = 60e9}};
      const Vessel vessel{.label = "yours", .note = {}, .layers = layers, .rim = 80e9};
      VesselView view;
      draw_vessels("vessel", {&vessel, 1}, view, {.unit = "B", .levels = "states_bytes total_bytes"});
    });
    std::string all;
    for (const Stroke& s : record.strokes)
      if (s.kind == Stroke::Kind::text) all += s.text + "\n";
    return all;
  };
  CHECK(texts({"total_bytes", "Total", "B", 64e9}).find("you: 64 GB\n") != std::string::npos);
  CHECK(texts({"total_bytes", "Total", "B", 64e12}).find("you: 64 TB, off this scale") != std::string::npos);
  CHECK(texts({"total", "Total", "B", 64e9}).find("you: ") == std::string::npos);
}
