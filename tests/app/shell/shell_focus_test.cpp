#include <catch2/catch_test_macros.hpp>

#include "tests/app/shell/shell_fixture.h"

TEST_CASE("F6 reaches the stage first, at its strong button where it has one") {
  Opened o;
  o.w.open("interview/drills");
  REQUIRE(o.d.settle());
  REQUIRE(o.ui.has("Start"));
  o.ui.key(ImGuiKey_F6);
  o.ui.frames(3);
  o.ui.key(ImGuiKey_Enter);
  o.ui.frames(3);
  CHECK_FALSE(o.ui.has("Start"));  // pressed: the question stands there now
}

TEST_CASE("F6 begins at the stage too where the mouse was in another panel last") {
  Opened o;
  o.ui.click("rail/Interview");
  REQUIRE(o.d.settle());
  REQUIRE(o.d.open_lab() == "interview/drills");
  o.ui.key(ImGuiKey_F6);
  o.ui.frames(3);
  o.ui.key(ImGuiKey_Enter);
  o.ui.frames(3);
  CHECK_FALSE(o.ui.has("Start"));
}
