#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/support/ui/ui_driver.h"
#include "widgets/base/lit_figure.h"
#include "widgets/plot/plot.h"

using namespace widgets;
using support::UiDriver;

TEST_CASE("the marks of an output are lit with its figure, and no others") {
  constexpr std::array<double, 3> xs{1, 2, 3}, ys{1, 4, 9};
  PlotView view;
  std::string_view lit;
  const auto draw = [&] {
    const std::string_view words[] = {"9 ms"};
    if (!lit.empty()) light_figure(lit, words);
    Plot plot("p", view, {.x = {.label = "x"}, .y = {.label = "y"}, .size = {600, 400}});
    plot.line("line", xs, ys, {.output = "time_s"});
    plot.scatter("dots", xs, ys, {.output = "rate"});
    plot.tag_x(2, {}, {.output = "place"});
    plot.vertical_mark(2, {}, {.output = "place"});
  };
  UiDriver ui(
      [&] {
        ImGui::SetNextWindowPos({0, 0});
        ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
        ImGui::Begin("canvas", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings);
        draw();
        ImGui::End();
      },
      {700, 500},
      [] {
        set_theme(make_theme(Mode::dark, 1.0f, {}));
        apply_to_imgui(theme());
      });
  const auto strokes = [&](std::string_view output) {
    lit = output;
    ui.frames(3);
    return ui.record().strokes;
  };
  const auto rings = [](const std::vector<Stroke>& all) {
    return std::count_if(all.begin(), all.end(),
                         [](const Stroke& s) { return s.kind == Stroke::Kind::circle && s.fill == 0; });
  };
  const auto wide = [](const std::vector<Stroke>& all) {
    return std::count_if(all.begin(), all.end(),
                         [](const Stroke& s) { return s.kind == Stroke::Kind::polyline && s.width >= 10; });
  };
  const auto none = strokes("another");
  CHECK(rings(none) == 0);
  CHECK(wide(none) == 0);
  CHECK(rings(strokes("rate")) == 3);
  CHECK(wide(strokes("time_s")) == 1);
  const auto place = strokes("place");
  CHECK(wide(place) == 1);                     // the mark
  CHECK(place.size() == none.size() + 1 + 2);  // and the tag's ground and frame
}
