#include "widgets/charts/stacked_bar.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>

#include "tests/support/ui/headless_frame.h"
#include "tests/widgets/charts/chart_measure.h"

using namespace widgets;

namespace {

/// Adam in mixed precision: 2 + 2 + 12 bytes a parameter (ZeRO, arXiv 1910.02054, section 3.1), for 7.5e9 parameters.
const std::vector<BarSegment> zero{{"parameters", 15e9, Meaning::forward},
                                   {"gradients", 15e9, Meaning::backward},
                                   {"optimizer states", 90e9, Meaning::optimizer}};

}  // namespace

TEST_CASE("pieces touch and add up to the bar to the pixel, whatever the values") {
  PlainTheme theme;
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<BarSegment> segments;
    double total = 0;
    for (std::uint64_t i = 0; i < 1 + random() % 12; ++i) {
      segments.push_back({"s", std::pow(10.0, std::uniform_real_distribution<>(-3, 3)(random)), Tint::series(i)});
      total += segments.back().value;
    }
    const StackedBar bars[] = {{"a", segments}};
    StackedBarLayout l;
    const bool vertical = round % 2 == 1;
    layout_stacked_bars(bars, {.vertical = vertical, .legend = false, .axis_max = total * 1.5}, {{0, 0}, {700, 400}},
                        seven_px, l);
    const auto length = [&](const Rect& r) { return vertical ? r.height() : r.width(); };
    float sum = 0;
    for (std::size_t i = 0; i < l.pieces.size(); ++i) {
      sum += length(l.pieces[i].rect);
      if (i > 0 && vertical) REQUIRE(l.pieces[i].rect.max.y == l.pieces[i - 1].rect.min.y);
      if (i > 0 && !vertical) REQUIRE(l.pieces[i].rect.min.x == l.pieces[i - 1].rect.max.x);
    }
    REQUIRE(sum == length(l.bars[0].rect));
    const double share = static_cast<double>(sum) / static_cast<double>(vertical ? l.plot.height() : l.plot.width());
    REQUIRE(std::abs(share - 1 / 1.5) * static_cast<double>(vertical ? l.plot.height() : l.plot.width()) <= 1.0);
  }
}

TEST_CASE("a total is the sum, and a measurement says by how much the model is over") {
  PlainTheme theme;
  const StackedBar bars[] = {{"Adam", zero, 125e9, "a source"}};
  StackedBarLayout l;
  layout_stacked_bars(bars, {.unit = "B"}, {{0, 0}, {900, 200}}, seven_px, l);
  CHECK(l.bars[0].total == 120e9);
  CHECK(total_text(l.bars[0], bars[0], "B").view() == "120 GB, measured 125 GB (-4 %)");
  CHECK(l.bars[0].measured_px > static_cast<double>(l.bars[0].rect.max.x));
  CHECK(std::isnan(residual_of(1, 0)));
}

/// A width whose bars take `px`: without totals half of the last tick's label stands right of them.
float bars_and_last_tick(float px) { return px + theme().type(Type::small); }

TEST_CASE("the label of the last tick, in the middle under the end of the axis, stays inside") {
  PlainTheme theme;
  const std::vector<BarSegment> segments{{"x", 100}};
  const StackedBar bars[] = {{"", segments}};
  StackedBarLayout l;
  layout_stacked_bars(bars, {.legend = false, .totals = false, .axis_max = 100}, {{0, 0}, {300, 100}}, seven_px, l);
  CHECK(l.plot.max.x + seven_px("100", Type::small) / 2 <= 300);
}

TEST_CASE("captions shrink with the room: name and value, name, value, letter, nothing") {
  PlainTheme theme;
  const auto caption = [](double share_of_700) {
    const std::vector<BarSegment> segments{{"forward", share_of_700, Meaning::forward}};
    const StackedBar bars[] = {{"", segments}};
    StackedBarLayout l;
    layout_stacked_bars(bars, {.legend = false, .totals = false, .axis_max = 700},
                        {{0, 0}, {bars_and_last_tick(700), 100}}, seven_px, l);
    return l.pieces.at(0).caption;
  };
  // "forward" is 49 px, its value of three digits 21, with 8 px of padding and 6 between.
  CHECK(caption(100) == BarCaption::name_and_value);
  CHECK(caption(60) == BarCaption::name);
  CHECK(caption(40) == BarCaption::value);
  CHECK(caption(15) == BarCaption::letter);
  CHECK(caption(5) == BarCaption::none);
}

TEST_CASE("a caption keeps clear of the lines of limit and measurement") {
  PlainTheme theme;
  const std::vector<BarSegment> segments{{"x", 700}};
  const StackedBar bars[] = {{"", segments, 300}};
  StackedBarLayout l;
  const auto caption_x = [&](double limit) {
    layout_stacked_bars(bars,
                        {
                            .legend = false,
                            .totals = false,
                            .limit = limit,
                            .axis_max = 700,
                        },
                        {{0, 0}, {bars_and_last_tick(700), 100}}, seven_px, l);
    return l.pieces.at(0).caption_centre.x;
  };
  CHECK(std::abs(caption_x(std::nan("")) - 500) <= 1);  // 300 to 700
  CHECK(std::abs(caption_x(450) - 150) <= 1);           // 0 to 300 is the widest of three
}

TEST_CASE("bars share one axis and one legend; a limit beyond all bars widens the axis") {
  PlainTheme theme;
  const std::vector<BarSegment> small{{"parameters", 7.5e9}, {"gradients", 7.5e9}};
  const StackedBar bars[] = {{"a", zero}, {"b", small}};
  StackedBarLayout l;
  layout_stacked_bars(bars, {.unit = "B", .limit = 200e9}, {{0, 0}, {900, 300}}, seven_px, l);
  CHECK(l.legend.size() == 3);
  CHECK(l.range.hi >= 200e9);
  CHECK(std::abs(l.bars[1].rect.width() * 8 - l.bars[0].rect.width()) <= 8.0f);
  CHECK(l.bars[0].rect.max.y <= l.bars[1].rect.min.y);
}

TEST_CASE("a value that cannot be stacked is left out and named") {
  PlainTheme theme;
  const std::vector<BarSegment> segments{{"good", 1}, {"gone", std::nan("")}, {"under", -1}};
  const StackedBar bars[] = {{"memory", segments}};
  StackedBarLayout l;
  layout_stacked_bars(bars, {}, {{0, 0}, {300, 80}}, seven_px, l);
  CHECK(l.problem.view() ==
        "\"gone\" of \"memory\" is not a finite number and is left out: a stack adds up finite amounts from 0.");
  CHECK(l.pieces.size() == 1);
  CHECK(l.bars[0].total == 1);
}

TEST_CASE("a click selects a segment, a click beside lets go, and an export holds every value") {
  support::HeadlessFrame ui;
  const StackedBar bars[] = {{"Adam", zero, 125e9}};
  StackedBarView view;
  Record record{};
  const auto frame = [&] { ui.frame([&] { draw_stacked_bars("memory", bars, view, {.unit = "B"}); }); };
  frame();
  const auto click = [&](ImVec2 p) {
    ImGuiIO& io = ImGui::GetIO();
    io.AddMousePosEvent(p.x, p.y);
    frame();
    frame();
    io.AddMouseButtonEvent(0, true);
    frame();
    io.AddMouseButtonEvent(0, false);
    frame();
  };
  const Rect r = view.layout.pieces.at(2).rect;
  click({(r.min.x + r.max.x) / 2, (r.min.y + r.max.y) / 2});
  CHECK((view.bar == 0 && view.segment == 2));
  click({r.max.x + 5, r.max.y + 3});
  CHECK((view.bar == -1 && view.segment == -1));
  ui.frame([&] {
    const Recording recording(record);
    draw_stacked_bars("memory", bars, view, {.unit = "B"});
  });
  REQUIRE(record.tables.size() == 1);
  CHECK(record.tables[0].rows[2] == std::vector<std::string>{"Adam", "optimizer states", "9e+10"});
  CHECK(record.tables[0].rows[3] == std::vector<std::string>{"Adam", "measured", "1.25e+11"});
}

TEST_CASE("a total that would be crossed by the limit's line stands beyond it") {
  support::HeadlessFrame ui;
  const std::vector<BarSegment> segments{{"all", 88}};
  const StackedBar bars[] = {{"a", segments}};
  StackedBarView view;
  Record record{};
  ui.frame([&] {
    const Recording recording(record);
    draw_stacked_bars("bars", bars, view, {.legend = false, .limit = 89, .axis_max = 120});
  });
  const auto total = std::find_if(record.strokes.begin(), record.strokes.end(),
                                  [](const Stroke& s) { return s.kind == Stroke::Kind::text && s.text == "88"; });
  REQUIRE(total != record.strokes.end());
  CHECK(total->points[0].x > static_cast<float>(view.layout.map.pixel(89)));
}

TEST_CASE("hostile bars stay inside their area at any size") {
  const std::vector<BarSegment> segments{{"", 1e308}, {"x", 1e308}, {"y", std::nan("")}, {"z", 5e-324}, {"w", -1}};
  const StackedBar bars[] = {{"", {}}, {"huge", segments, 1e308}, {"none", {}, std::nan("")}};
  for (const ImVec2 size : {ImVec2{130, 90}, ImVec2{1280, 800}, ImVec2{2560, 1440}}) {
    support::HeadlessFrame ui(size);
    for (const bool vertical : {false, true}) {
      StackedBarView view;
      ui.frame([&] {
        draw_stacked_bars("none", {}, view);
        draw_stacked_bars("bars", bars, view, {.unit = "s", .vertical = vertical, .limit = 1e300});
      });
      for (const BarPiece& p : view.layout.pieces) {
        CHECK((p.rect.min.x >= view.layout.plot.min.x - 1 && p.rect.max.x <= view.layout.plot.max.x + 1));
        CHECK((p.rect.min.y >= view.layout.plot.min.y - 1 && p.rect.max.y <= view.layout.plot.max.y + 1));
      }
      CHECK_FALSE(view.layout.pieces.empty());
    }
  }
}

TEST_CASE("a bar of one piece has its amount behind it and not in it too, and a name of its own alone") {
  PlainTheme theme;
  const std::vector<BarSegment> same{{"blame", 700}}, other{{"weights", 700}}, two{{"weights", 350}, {"cache", 350}};
  const StackedBar bars[] = {{"blame", same}, {"memory", other}, {"memory", two}};
  StackedBarLayout l;
  layout_stacked_bars(bars, {.legend = false}, {{0, 0}, {900, 200}}, seven_px, l);
  REQUIRE(l.pieces.size() == 4);
  CHECK(l.pieces[0].caption == BarCaption::none);
  CHECK(l.pieces[1].caption == BarCaption::name);
  CHECK(l.pieces[2].caption == BarCaption::name_and_value);
}
