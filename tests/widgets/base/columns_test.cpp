#include "widgets/base/columns.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/ui/ui_driver.h"
#include "widgets/base/theme.h"

TEST_CASE("columns: both and the gap fill the width, and under the least width each has all of it") {
  widgets::set_theme(widgets::make_theme(widgets::Mode::dark, 1.0f, {}));
  const auto half = widgets::two_columns(801),
             uneven = widgets::two_columns(1000, {.least = 1000, .gap = 20, .left_share = 0.25f}),
             narrow = widgets::two_columns(619);
  CHECK(half.beside);
  CHECK(half.left == 388);  // (801 - 24) / 2, whole pixels
  CHECK(half.left + half.gap + half.right == 801);
  CHECK(uneven.left == 245);
  CHECK(uneven.right == 735);
  CHECK_FALSE(narrow.beside);
  CHECK((narrow.left == 619 && narrow.right == 619));
}

TEST_CASE("columns: the second picture starts on the height of the first, or below its end") {
  for (const float width : {700.0f, 400.0f}) {
    ImVec2 first{}, second{};
    support::UiDriver ui(
        [&] {
          ImGui::SetNextWindowPos({0, 0});
          ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
          ImGui::Begin("canvas", nullptr, ImGuiWindowFlags_NoDecoration);
          const auto columns = widgets::two_columns(width);
          widgets::draw_columns(
              columns,
              [&](float w) {
                first = ImGui::GetCursorScreenPos();
                ImGui::Dummy({w, 50});
                ImGui::Dummy({w, 50});
              },
              [&](float w) {
                second = ImGui::GetCursorScreenPos();
                ImGui::Dummy({w, 80});
              });
          ImGui::End();
        },
        {800, 400});
    INFO(width);
    if (width > 620) {
      CHECK(second.y == first.y);
      CHECK(second.x == first.x + 338 + 24);
    } else {
      CHECK(second.x == first.x);
      CHECK(second.y >= first.y + 100);
    }
  }
}
