#include <catch2/catch_test_macros.hpp>

#include "app/shell/predict/predict.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/shell_driver.h"

// What a question gives stays on the veil of this lab, and what it asks for does not.

using namespace support;

TEST_CASE("given: jitter leaves a road with the car on it, and four panels in all") {
  use_bundled_catalog();
  ShellDriver d{bundled_content(), nowhere(), {1280, 800}};
  d.shell.drawer_open = false;
  REQUIRE(d.workspace.open("driving/jitter"));
  d.settle();
  CHECK(app::stage_view(d.shell).specs.size() == 4);
  app::ask_question(d.shell, 1);
  d.ui.frames(3);
  CHECK(d.ui.text_present("car 4.5 m"));
  CHECK_FALSE(d.ui.text_present("15.6 m blind"));
}
