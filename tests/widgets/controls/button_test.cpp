#include "widgets/controls/button.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/widgets/prose/typeset_fixture.h"

TEST_CASE("button: pressed by pointer, named by its whole label, shown without what follows ##") {
  int presses = 0;
  bool disabled = false;
  support::UiDriver ui(typeset::in_window([&] {
                         ImGui::BeginDisabled(disabled);
                         presses += widgets::button("Run##2", true);
                         ImGui::EndDisabled();
                       }),
                       {300, 200}, typeset::set_up);
  ui.click("Run##2");
  CHECK(presses == 1);
  CHECK(ui.text_present("Run"));
  CHECK_FALSE(ui.text_present("##2"));
  disabled = true;
  ui.click("Run##2");
  CHECK(presses == 1);
}

TEST_CASE("button: takes the size of its label, or the larger one that it is given") {
  ImVec2 plain, large;
  support::UiDriver ui(typeset::in_window([&] {
                         widgets::button("Run");
                         plain = ImGui::GetItemRectSize();
                         widgets::button("Fit", false, {120, 50});
                         large = ImGui::GetItemRectSize();
                         CHECK(widgets::button_size("Run").x == plain.x);
                         CHECK(widgets::button_size("Run##2").y == plain.y);
                       }),
                       {300, 200}, typeset::set_up);
  ui.frames();
  CHECK(plain.x < 120);
  CHECK(large.x == 120);
  CHECK(large.y == 50);
}

TEST_CASE("button: the next one stands behind the last where it fits, else on a line of its own") {
  ImVec2 first, second, third;
  support::UiDriver ui(typeset::in_window([&] {
                         const float right = ImGui::GetCursorScreenPos().x + 3 * widgets::button_size("closer").x;
                         widgets::button("closer");
                         first = ImGui::GetItemRectMin();
                         widgets::next_button("longer", right);
                         widgets::button("longer");
                         second = ImGui::GetItemRectMin();
                         widgets::next_button("a long one", right);
                         widgets::button("a long one");
                         third = ImGui::GetItemRectMin();
                       }),
                       {600, 200}, typeset::set_up);
  ui.frames();
  CHECK(second.y == first.y);
  CHECK(second.x > first.x);
  CHECK(third.y > first.y);
  CHECK(third.x == first.x);
}
