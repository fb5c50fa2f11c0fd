#include "widgets/charts/step_bites.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "tests/support/ui/headless_frame.h"
#include "tests/widgets/charts/chart_measure.h"

using namespace widgets;

namespace {

const BitePart bite_parts[] = {{.label = "work"}, {.label = "more"}, {.label = "waits", .wait = true}};
const double found[] = {60, 20, 20}, now[] = {60, 20, 0}, halved[] = {30, 20, 0}, starved[] = {30, 20, 50};

BiteOptions slab_options() {
  BiteOptions o{.parts = bite_parts};
  o.first = {.label = "found", .values = found};
  o.main = {.label = "now", .values = now};
  o.floor = 40;
  o.titles = {"change", "first", "GB", "times", "study"};
  return o;
}

}  // namespace

TEST_CASE("bites: what a switch takes lies under the end of its part, what it gives behind the slab") {
  const PlainTheme plain;
  const BiteRow rows[] = {{.label = "half", .before = now, .after = halved},
                          {.label = "half, starved", .before = found, .after = starved},
                          {.label = "not here"}};
  BiteLayout l;
  layout_bites(rows, slab_options(), {{0, 0}, {1000, 500}}, seven_px, l);
  REQUIRE(l.bites.size() == 3);
  // The work ends at 60 and loses 30: from 30 to 60 on the slab's own axis.
  CHECK(std::abs(l.bites[0].rect.max.x - l.main[0].rect.max.x) <= 0.01f);
  CHECK(std::abs(l.bites[0].rect.width() * 2 - l.main[0].rect.width()) <= 0.01f);
  CHECK_FALSE(l.bites[0].given);
  // The wait takes back as much as the work lost, behind the end of the slab.
  CHECK(l.bites[2].given);
  CHECK(l.bites[2].part == 2);
  CHECK(std::abs(l.bites[2].rect.min.x - l.first.back().rect.max.x) <= 0.01f);
  CHECK(std::abs(l.bites[2].rect.width() - l.bites[1].rect.width()) <= 0.01f);
  // The longest of all, 100 and the 30 behind it, ends at the axis.
  CHECK(std::abs(l.bites[2].rect.max.x - l.slab.max.x) <= 0.01f);
  CHECK(std::abs(l.floor_x - (l.slab.min.x + 40 * l.px_per_unit)) <= 0.01f);
  for (std::size_t i = 1; i < l.rows.size(); ++i) CHECK(l.rows[i].min.y >= l.rows[i - 1].max.y);
  CHECK(l.rows.back().max.y <= 500);
}

TEST_CASE("bites: columns go before the axis has too little room, the first of them never") {
  const PlainTheme plain;
  const BiteRow rows[] = {{.label = "half", .before = now, .after = halved}};
  BiteLayout l;
  layout_bites(rows, slab_options(), {{0, 0}, {1000, 400}}, seven_px, l);
  for (const float x : l.column_right) CHECK(x > l.slab.max.x);
  layout_bites(rows, slab_options(), {{0, 0}, {500, 400}}, seven_px, l);
  CHECK(l.column_right[4] == 0);
  CHECK(l.column_right[0] > 0);
  CHECK(l.slab.width() >= 220);  // 232 less the gap before the columns
  layout_bites(rows, slab_options(), {{0, 0}, {300, 400}}, seven_px, l);
  CHECK(l.column_right[0] > 0);
  CHECK(l.column_right[1] == 0);
  CHECK(l.column_right[2] == 0);
}

TEST_CASE("bites: in little height the legend goes first, then the slab as found, then the floor, then rows") {
  const PlainTheme plain;
  std::vector<BiteRow> rows(6, {.label = "half", .before = now, .after = halved});
  BiteLayout l;
  std::size_t last = 5;
  for (float height = 400; height > 100; height -= 5) {
    layout_bites(rows, slab_options(), {{0, 0}, {800, height}}, seven_px, l);
    const std::size_t kept = (l.legend.empty() ? 0u : 1u) + (l.first.empty() ? 0u : 1u) +
                             (l.floor_rect.height() > 0 ? 1u : 0u) + (l.rows.size() == 6 ? 1u : 0u) + 1;
    CHECK(kept <= last);
    last = kept;
    if (!l.legend.empty()) CHECK_FALSE(l.first.empty());
    if (!l.first.empty()) CHECK(l.floor_rect.height() > 0);
    if (l.floor_rect.height() > 0) CHECK(l.rows.size() == 6);
    CHECK(l.rows.back().max.y <= height);
    CHECK(l.main_rect.height() >= 25);
  }
  CHECK(last == 1);
}

TEST_CASE("bites: pressing a row says which") {
  support::HeadlessFrame ui;
  BiteView view;
  const BiteRow rows[] = {{.label = "half", .id = "switch half", .before = now, .after = halved},
                          {.label = "none", .id = "switch none", .before = now, .after = now, .on = true}};
  BiteOptions options = slab_options();
  options.size = {700, 400};
  std::ptrdiff_t pressed = -1;
  const auto draw = [&] {
    const std::ptrdiff_t at = draw_bites("bites", rows, view, options);
    if (at >= 0) pressed = at;
  };
  ui.frame(draw);
  const Rect row = view.layout.rows[1];
  const ImVec2 middle{(row.min.x + row.max.x) / 2, (row.min.y + row.max.y) / 2};
  ImGui::GetIO().AddMousePosEvent(middle.x, middle.y);
  ui.frame(draw);
  ImGui::GetIO().AddMouseButtonEvent(0, true);
  ui.frame(draw);
  ImGui::GetIO().AddMouseButtonEvent(0, false);
  ui.frame(draw);
  CHECK(pressed == 1);
}
