#include <catch2/catch_test_macros.hpp>

#include <array>

#include "tests/support/ui/ui_driver.h"
#include "widgets/plot/plot.h"

using namespace widgets;

TEST_CASE("no line's name stands at a callout's anchor, where its leader begins") {
  // With the anchor near the line's right end the name would stand over it, were there no other place.
  int named = 0;
  for (double at = 0.5; at < 9.9; at += 0.2) {
    PlotView view;
    const std::array<double, 2> over{0, 10}, level{5, 5};
    support::UiDriver ui(
        [&] {
          ImGui::SetNextWindowPos({0, 0});
          ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
          ImGui::Begin("canvas", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings);
          {
            Plot plot("name", view, {.x = {.lo = 0, .hi = 10}, .y = {.lo = 0, .hi = 10}, .size = {320, 160}});
            plot.line("Ring", over, level);
            plot.callout(at, 5, "471 kB", "beyond, one wins");
          }
          ImGui::End();
        },
        {800, 500},
        [] {
          set_theme(make_theme(Mode::dark, 1.0f, {}));
          apply_to_imgui(theme());
        });
    ui.frames(3);
    const ImVec2 anchor{view.x_pixel(at), view.y_pixel(5)};
    const Box around{{anchor.x - 11, anchor.y - 11}, {anchor.x + 11, anchor.y + 11}};
    const Record record = ui.record();
    for (const Stroke& s : record.strokes) {
      // The legend over the plot names it too.
      if (s.kind != Stroke::Kind::text || s.text != "Ring" || !view.data_area().contains(s.points[0])) continue;
      ++named;
      INFO("anchor at " << at);
      const ImVec2 min = s.points[0], max{min.x + s.points[1].x, min.y + s.points[1].y};
      CHECK_FALSE(Box{min, max}.overlaps(around));
    }
  }
  CHECK(named > 20);
}
