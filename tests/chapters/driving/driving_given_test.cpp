#include <catch2/catch_test_macros.hpp>
#include <string>

#include "app/shell/predict/predict.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/shell_driver.h"

// What a question gives stays on the veil of these labs, and what it asks for does not.

using namespace support;

TEST_CASE("given: the frame budget leaves the stack as found and the lanes of what is asked for") {
  use_bundled_catalog();
  ShellDriver d{bundled_content(), nowhere(), {1280, 800}};
  d.shell.drawer_open = false;
  REQUIRE(d.workspace.open("driving/gantt"));
  d.settle();
  app::ask_question(d.shell, 0);
  d.ui.frames(3);
  CHECK(d.ui.text_present("as found"));
  CHECK(d.ui.text_present("now"));
  CHECK(d.ui.text_present("1: 48 ms"));
  CHECK_FALSE(d.ui.text_present("1: 31 ms"));  // the answer
}

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
