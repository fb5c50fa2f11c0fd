#include "widgets/base/heading.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/ui/ui_driver.h"
#include "widgets/base/theme.h"

using widgets::HeadingMore;
using widgets::layout_heading;

TEST_CASE("heading: words stand behind the title where both fit, and below it where one pixel is missing") {
  widgets::set_theme(widgets::make_theme(widgets::Mode::dark, 1.0f, {}));
  const float gap = 12, line = layout_heading(100, 0, 400, HeadingMore::beside).height;
  const auto fits = layout_heading(100, 50, 150 + gap, HeadingMore::beside),
             short_of = layout_heading(100, 50, 149 + gap, HeadingMore::beside);
  CHECK(fits.more_at.x == 100 + gap);
  CHECK(fits.height == line);
  CHECK(short_of.more_at.x == 0);
  CHECK(short_of.more_at.y == line);
  CHECK(short_of.height > line);
  CHECK(layout_heading(100, 50, 400, HeadingMore::below).height == short_of.height);
}

TEST_CASE("heading: the next item starts below it, and a longer text than the room is cut") {
  float next = 0;
  support::UiDriver ui(
      [&] {
        ImGui::SetNextWindowPos({0, 0});
        ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
        ImGui::Begin("canvas", nullptr, ImGuiWindowFlags_NoDecoration);
        const float top = ImGui::GetCursorScreenPos().y;
        widgets::heading("Memory", "weights, gradients and what the optimizer keeps, byte by byte and chip by chip",
                         200);
        next = ImGui::GetCursorScreenPos().y - top - ImGui::GetStyle().ItemSpacing.y;
        ImGui::End();
      },
      {400, 300}, [] { widgets::set_theme(widgets::make_theme(widgets::Mode::dark, 1.0f, {})); });
  CHECK(ui.text_present("Memory"));
  CHECK_FALSE(ui.text_present("chip by chip"));
  CHECK(ui.text_present("weights, gradients"));
  CHECK(next == layout_heading(50, 50, 200, HeadingMore::below).height);
}
