#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/support/ui/ui_driver.h"
#include "widgets/plot/draw_curve.h"
#include "widgets/plot/plot.h"

using namespace widgets;
using support::UiDriver;

namespace {

template <class Draw>
auto whole_display(Draw draw) {
  return [draw] {
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::Begin("edge", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings);
    draw();
    ImGui::End();
  };
}

void dark_theme() {
  set_theme(make_theme(Mode::dark, 1.0f, {}));
  apply_to_imgui(theme());
}

const Stroke* name_stroke(const Record& record, std::string_view text) {
  const auto found = std::find_if(record.strokes.begin(), record.strokes.end(),
                                  [&](const Stroke& s) { return s.kind == Stroke::Kind::text && s.text == text; });
  return found == record.strokes.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("a grip on the frame's edge is painted whole") {
  PlotView view;
  double at = 10;
  UiDriver ui(whole_display([&] {
                Plot plot("end", view, {.x = {.lo = 0, .hi = 10}, .y = {.lo = 0, .hi = 10}, .size = {700, 400}});
                plot.drag_x("drag end", at, {});
              }),
              {800, 500}, dark_theme);
  ui.frames(4);
  const Record record = ui.record();
  const float edge = view.data_area().max.x;
  std::vector<Stroke> clips;
  bool found = false;
  for (const Stroke& s : record.strokes) {
    if (s.kind == Stroke::Kind::clip_push) clips.push_back(s);
    if (s.kind == Stroke::Kind::clip_pop) clips.pop_back();
    if (s.kind != Stroke::Kind::rect || s.points.size() < 2) continue;
    const float wide = s.points[1].x - s.points[0].x, high = s.points[1].y - s.points[0].y;
    if (!(wide < 16 && high > 20 && high < 40 && s.points[0].x < edge && s.points[1].x > edge)) continue;
    found = true;
    REQUIRE_FALSE(clips.empty());
    CHECK(clips.back().points[1].x >= s.points[1].x);
  }
  CHECK(found);
}

TEST_CASE("a handle is dragged on a plot that neither pans nor zooms") {
  PlotView view;
  double level = 5;
  UiDriver ui(whole_display([&] {
                Plot plot(
                    "still", view,
                    {.x = {.lo = 0, .hi = 10}, .y = {.lo = 0, .hi = 10}, .size = {700, 400}, .interactive = false});
                plot.drag_y("drag level", level, {.lo = 0, .hi = 10});
              }),
              {800, 500}, dark_theme);
  ui.frames(4);
  ui.drag_by("drag level", {0, -view.data_area().height() * 0.2f});
  CHECK(level == Catch::Approx(7.0).margin(0.1));
}

TEST_CASE("the name of what is given stands at the end that the revealed line keeps clear of") {
  const std::array<double, 3> xs{0, 5, 10}, rising{20, 60, 90}, falling{90, 60, 20}, drawn{5, 5, 5};
  const std::array<GivenMark, 1> given{{{.label = "given: one in five", .value = 20}}};
  for (const bool left_taken : {true, false}) {
    DrawCurveSpec spec{.x = {.label = "batch"},
                       .y = {.label = "rate"},
                       .x_range = {0, 10},
                       .y_range = {0, 100},
                       .xs = xs,
                       .given = given};
    DrawCurveLayout layout;
    DrawnLine line;
    line.begin(xs.size(), AxisKind::linear, {0, 100});
    RevealView reveal;
    UiDriver ui(whole_display([&] {
                  layout_draw_curve(
                      {{20, 20}, {720, 420}}, spec, line,
                      [](std::string_view s) { return text_size(s, Type::small).x; }, 14, layout);
                  paint_revealed_curve(Painter::window(), spec, layout, drawn, left_taken ? rising : falling,
                                       {.score = "50", .typical = "too low", .up_to = "nowhere"}, 1, reveal);
                }),
                {800, 500}, dark_theme);
    ui.frames(2);
    const Record record = ui.record();
    const Stroke* name = name_stroke(record, "given: one in five");
    REQUIRE(name);
    CHECK((name->points[0].x > 370) == left_taken);
  }
}
