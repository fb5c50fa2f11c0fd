#include "widgets/plot/plot.h"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/base/near.h"
#include "tests/support/ui/full_window.h"
#include "tests/support/ui/ui_driver.h"

using namespace widgets;
using support::full_window;
using support::UiDriver;

using support::near;

namespace {

constexpr ImVec2 display{900, 600};

void set_up() {
  set_theme(make_theme(Mode::dark, 1.0f, {}));
  apply_to_imgui(theme());
  ImGui::GetIO().ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
}

const std::array<double, 3> intensities{1, 10, 100}, rates{2e12, 20e12, 20e12}, lower{1e12, 10e12, 10e12};

ImVec2 centre(const Box& b) { return {(b.min.x + b.max.x) / 2, (b.min.y + b.max.y) / 2}; }

struct Bench {
  PlotView view;
  double x = 10, y = 5e12, limit = 50;
  int changes = 0;
  PlotOptions options{.x =
                          {
                              .kind = AxisKind::log10,
                              .lo = 1,
                              .hi = 100,
                              .label = "intensity",
                              .unit = "FLOP/B",
                          },
                      .y =
                          {
                              .lo = 0,
                              .hi = 40e12,
                              .label = "attainable",
                              .unit = "FLOP/s",
                          },
                      .size = {880, 560}};
  UiDriver ui{full_window([this] {
                Plot plot("roofline", view, options);
                plot.line("H100 SXM", intensities, rates, {.info = "min(peak, intensity x bandwidth)"});
                plot.line("A100 80GB", intensities, lower);
                if (plot.drag_point("drag decode", x, y)) ++changes;
                plot.drag_x("drag limit", limit);
              }),
              display, set_up};
  Bench() { ui.frames(3); }
  const PlotFrame& frame() const { return view.scratch.frame; }
  double px(double v) const { return frame().x.pixel(v); }
  ImVec2 at(double vx, double vy) const {
    return {static_cast<float>(frame().x.pixel(vx)), static_cast<float>(frame().y.pixel(vy))};
  }
};

}  // namespace

TEST_CASE("a plot shows its fixed ranges until it is touched") {
  Bench b;
  CHECK(b.view.x_lo == 1);
  CHECK(b.view.x_hi == 100);
  CHECK(b.view.y_hi == 40e12);
  CHECK_FALSE(b.view.zoomed);
  CHECK(b.ui.text_present("H100 SXM"));
  CHECK(b.ui.text_present("intensity (FLOP/B)"));
}

TEST_CASE("the legend hides and shows a series") {
  Bench b;
  b.ui.click("H100 SXM");
  CHECK(b.view.hidden == 1);
  b.ui.click("A100 80GB");
  CHECK(b.view.hidden == 3);
  b.ui.click("H100 SXM");
  CHECK(b.view.hidden == 2);
}

TEST_CASE("the wheel zooms about the cursor") {
  Bench b;
  const ImVec2 at = b.at(3, 10e12);
  b.ui.wheel_at(at, 2);
  CHECK(b.view.zoomed);
  CHECK(near(b.frame().x.value(static_cast<double>(at.x)), 3, 0.02));
  CHECK(near(b.frame().y.value(static_cast<double>(at.y)), 10e12, 0.02));
  CHECK(b.view.x_hi / b.view.x_lo < 50);
  CHECK(b.view.y_hi - b.view.y_lo < 30e12);
}

TEST_CASE("dragging pans, double click fits again") {
  Bench b;
  const double width = static_cast<double>(b.frame().area.width());
  const ImVec2 from = b.at(30, 30e12);
  b.ui.drag_points(from, {from.x - 200, from.y});
  CHECK(b.view.zoomed);
  CHECK(near(b.view.x_lo, std::pow(10.0, 2 * 200 / width), 0.02));
  CHECK(near(b.view.x_hi / b.view.x_lo, 100, 0.02));
  CHECK(near(b.view.y_hi, 40e12, 0.02));
  b.ui.click_at(from);
  b.ui.click_at(from);
  b.ui.frames(2);
  CHECK_FALSE(b.view.zoomed);
  CHECK(b.view.x_lo == 1);
}

TEST_CASE("a right drag zooms to the box") {
  Bench b;
  b.ui.drag_points(b.at(2, 30e12), b.at(20, 6e12), ImGuiMouseButton_Right);
  CHECK(near(b.view.x_lo, 2, 0.02));
  CHECK(near(b.view.x_hi, 20, 0.02));
  CHECK(near(b.view.y_lo, 6e12, 0.02));
  CHECK(near(b.view.y_hi, 30e12, 0.02));
}

TEST_CASE("the keyboard pans, zooms and fits a focused plot") {
  Bench b;
  b.ui.click_at(b.at(2, 35e12));
  b.ui.key(ImGuiKey_RightArrow);
  CHECK(near(b.view.x_lo, std::pow(10.0, 0.2), 0.02));
  const double decades = std::log10(b.view.x_hi / b.view.x_lo);
  b.ui.key(ImGuiKey_Equal);
  CHECK(near(std::log10(b.view.x_hi / b.view.x_lo), decades * 0.8, 0.02));
  b.ui.key(ImGuiKey_Home);
  b.ui.frames(2);
  CHECK(b.view.x_lo == 1);
}

TEST_CASE("a handle follows the mouse and the arrow keys, and the ground does not move") {
  Bench b;
  const ImVec2 from = b.at(10, 5e12), to = b.at(20, 15e12);
  b.ui.drag_by("drag decode", {to.x - from.x, to.y - from.y});
  CHECK(near(b.x, 20, 0.02));
  CHECK(near(b.y, 15e12, 0.02));
  CHECK(b.changes > 0);
  CHECK_FALSE(b.view.zoomed);
  const double before = b.x;
  b.ui.key(ImGuiKey_LeftArrow);
  CHECK(b.x < before);
  CHECK(b.px(before) - b.px(b.x) > 3);
  const ImVec2 limit = b.at(50, 0), lower_limit = b.at(30, 0);
  b.ui.drag_by("drag limit", {lower_limit.x - limit.x, 0}, {0.5f, 0.1f});
  CHECK(near(b.limit, 30, 0.02));
}

TEST_CASE("hover says the series, the values with units, and where they come from") {
  Bench b;
  b.ui.move_to(b.at(60, 20.3e12));
  b.ui.frames(3);
  const std::string text = b.ui.all_text();
  INFO(text);
  CHECK(text.find("20 TFLOP/s") != std::string::npos);
  CHECK(text.find("min(peak, intensity x bandwidth)") != std::string::npos);
}

TEST_CASE("an export holds the data and the axis title, level above the frame") {
  Bench b;
  const Record record = b.ui.record();
  REQUIRE(record.tables.size() == 2);
  CHECK(record.tables[0].name == "H100 SXM");
  CHECK(record.tables[0].columns == std::vector<std::string>{"intensity (FLOP/B)", "attainable (FLOP/s)"});
  CHECK(record.tables[0].rows[1] == std::vector<std::string>{"10", "20000000000000"});
  const auto title = std::find_if(record.strokes.begin(), record.strokes.end(),
                                  [](const Stroke& s) { return s.text == "attainable (TFLOP/s)"; });
  REQUIRE(title != record.strokes.end());
  CHECK(title->rotation == 0.0f);
  CHECK(title->points[0].y + title->points[1].y <= b.frame().area.min.y);
}

TEST_CASE("the names in a crowded plot cross neither lines nor each other") {
  PlotView view;
  std::vector<std::string> names;
  std::vector<std::string_view> labels;
  std::vector<double> dot_x, dot_y;
  for (int i = 0; i < 24; ++i) {
    names.push_back("operation " + std::to_string(i));
    dot_x.push_back(std::pow(10.0, 0.1 * i));
    dot_y.push_back(1 + std::fmod(i * 7.7, 50));
  }
  for (const std::string& n : names) labels.push_back(n);
  UiDriver ui(full_window([&] {
                Plot plot("crowd", view, {.x = {.kind = AxisKind::log10}, .size = {700, 420}});
                const std::array<double, 3> a{1, 20, 250}, b{5, 40, 40}, c{2, 25, 25};
                plot.line("upper", a, b);
                plot.line("lower", a, c);
                plot.vertical_mark(20, "ridge 20");
                plot.scatter("operations", dot_x, dot_y, {.labels = labels});
              }),
              display, set_up);
  ui.frames(3);
  const Record record = ui.record();
  const Box area = view.scratch.frame.area;
  std::vector<Box> texts;
  for (const Stroke& s : record.strokes)
    if (s.kind == Stroke::Kind::text && area.contains(s.points[0]))
      texts.push_back({s.points[0], {s.points[0].x + s.points[1].x, s.points[0].y + s.points[1].y}});
  CHECK(texts.size() >= 15);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) REQUIRE_FALSE(texts[i].overlaps(texts[k]));
    for (const Stroke& s : record.strokes) {
      if (s.kind == Stroke::Kind::circle && s.fill != 0) {
        const float r = s.points[1].x;
        REQUIRE_FALSE(
            texts[i].overlaps({{s.points[0].x - r, s.points[0].y - r}, {s.points[0].x + r, s.points[0].y + r}}));
      }
      if (s.kind != Stroke::Kind::polyline || s.width < 1.5f) continue;  // grid lines are thinner
      for (std::size_t k = 1; k < s.points.size(); ++k) {
        double ax = static_cast<double>(s.points[k - 1].x), ay = static_cast<double>(s.points[k - 1].y);
        double bx = static_cast<double>(s.points[k].x), by = static_cast<double>(s.points[k].y);
        REQUIRE_FALSE(clip_segment(ax, ay, bx, by, texts[i]));
      }
    }
  }
}

TEST_CASE("stacked layers add up, and a hidden one leaves no gap") {
  PlotView view;
  const std::array<double, 2> x{0, 1};
  const std::array<double, 6> values{1, 2, 10, 20, 100, 200};
  const std::string_view layers[] = {"weights", "gradients", "optimizer"};
  UiDriver ui(full_window([&] {
                Plot plot("memory", view, {.size = {600, 400}});
                plot.stacked(layers, x, values, {.bars = true});
              }),
              display, set_up);
  ui.frames(3);
  const auto top = [&](std::size_t layer) { return view.scratch.caches[layer].points[1].y; };
  CHECK(top(0) == 2);
  CHECK(top(1) == 22);
  CHECK(top(2) == 222);
  CHECK(view.y_lo == 0);
  ui.click("gradients");
  ui.frames(2);
  CHECK(top(2) == 202);
}

TEST_CASE("long data that changes in place is drawn anew, without a version") {
  PlotView view;
  std::vector<double> x(100000), y(100000, 1);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
  UiDriver ui(full_window([&] {
                Plot plot("long", view, {.size = {600, 400}});
                plot.line("a", x, y);
              }),
              display, set_up);
  ui.frames(2);
  const auto highest = [&] {
    double most = 0;
    for (const PlotPoint& p : view.scratch.caches[0].points) most = std::max(most, p.y);
    return most;
  };
  CHECK(highest() == 1);
  y[54321] = 77;
  ui.frames(1);
  CHECK(highest() == 77);
  CHECK(view.y_hi >= 77);
}

TEST_CASE("the view follows the data until the user zooms") {
  PlotView view;
  std::array<double, 2> x{0, 10}, y{0, 5};
  UiDriver ui(full_window([&] {
                Plot plot("fit", view, {.size = {600, 400}});
                plot.line("a", x, y);
              }),
              display, set_up);
  ui.frames(2);
  CHECK(view.x_hi >= 10);
  CHECK(view.x_hi <= 11);
  CHECK(view.y_lo == 0);
  x[1] = 1000;
  ui.frames(2);
  CHECK(view.x_hi >= 1000);
  ui.wheel_at(centre(view.scratch.frame.area), 1);
  const double zoomed = view.x_hi;
  x[1] = 5000;
  ui.frames(2);
  CHECK(view.x_hi == zoomed);
}

TEST_CASE("an area is cut where its edge leaves the view, however far beyond it the next value lies") {
  // The upper edge is y = 10 x; the view ends at y = 2, so that it leaves at x = 0.2.
  const std::vector<double> x01{0, 1}, steep{0, 10}, ground{0, 0};
  PlotView view;
  UiDriver ui(full_window([&] {
                Plot plot("plot", view, {.x = {.lo = 0, .hi = 1}, .y = {.lo = 0, .hi = 2}, .size = {500, 400}});
                plot.area("area", x01, steep, ground, {.outline = false});
              }),
              display, set_up);
  ui.frames(3);
  const Record record = ui.record();
  const PlotFrame& f = view.scratch.frame;
  float widest = 0;
  std::size_t on_line = 0;
  for (const Stroke& s : record.strokes) {
    if (s.kind != Stroke::Kind::polygon || s.points.size() < 6) continue;
    for (const ImVec2& p : s.points) {
      const double y = f.y.value(static_cast<double>(p.y)), x = f.x.value(static_cast<double>(p.x));
      if (y < 1.9) continue;
      widest = std::max(widest, p.x);
      if (near(x, 0.2, 0.02)) ++on_line;
      CHECK(y <= 2.02);
      CHECK(x >= 0.19);  // not turned to the left of the line
    }
  }
  CHECK(on_line == 1);
  CHECK(near(f.x.value(static_cast<double>(widest)), 1.0, 0.01));
}

TEST_CASE("whatever the data and the size, positions stay finite") {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<double>> sets{{},         {nan},           {inf, -inf, nan}, {0, 0, 0},
                                              {-1, 0, 1}, {1e308, -1e308}, {5e-324},         {1, nan, 3, inf, 2}};
  const std::string_view labels[] = {"one", "two", "three"};
  for (const ImVec2 size : {ImVec2{20, 20}, ImVec2{300, 120}, ImVec2{880, 560}})
    for (const AxisKind kind :
         {AxisKind::linear, AxisKind::log10, AxisKind::log2, AxisKind::time, AxisKind::linear_bytes}) {
      std::array<PlotView, 8> views;
      UiDriver ui(full_window([&] {
                    for (std::size_t i = 0; i < sets.size(); ++i) {
                      const auto& d = sets[i];
                      ImGui::SetCursorPos({0, 0});
                      ImGui::PushID(static_cast<int>(i));
                      Plot plot("plot", views[i],
                                {
                                    .x = {.kind = kind},
                                    .y = {.kind = kind},
                                    .size = size,
                                    .title = "title",
                                });
                      plot.line("line", d, d);
                      plot.steps("steps", d, d, {.dashed = true});
                      plot.area("area", d, d);
                      plot.area("band", d, d, d);
                      plot.scatter("scatter", d, d, {.marker = Marker::diamond, .labels = labels});
                      plot.bars("bars", d, d);
                      plot.stacked(labels, d, d);
                      plot.error_bars(d, d, d);
                      for (const double v : d) {
                        plot.vertical_mark(v, "v");
                        plot.horizontal_mark(v, "h");
                        plot.arrow(v, v, 1, 1, "a");
                        plot.text(v, v, "t");
                        double x = v, y = v;
                        plot.drag_point("drag", x, y);
                      }
                      plot.end();
                      ImGui::PopID();
                    }
                  }),
                  display, set_up);
      ui.frames(3);
      ui.move_to({size.x / 2, size.y / 2});
      ui.wheel_at({size.x / 2, size.y / 2}, 3);
      const Record record = ui.record();
      for (const Stroke& s : record.strokes)
        for (const ImVec2 p : s.points) REQUIRE((std::isfinite(p.x) && std::isfinite(p.y)));
      for (const PlotView& v : views) REQUIRE((v.x_lo < v.x_hi && v.y_lo < v.y_hi && std::isfinite(v.y_hi - v.y_lo)));
    }
}
