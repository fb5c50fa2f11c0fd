#include <catch2/catch_test_macros.hpp>

#include "app/shell/predict/predict.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"
#include "tests/support/lab/shell_driver.h"
#include "widgets/base/guess.h"

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
  CHECK(d.ui.text_present("an undisturbed frame: 27 ms"));
  CHECK(d.ui.text_present("due in 33.3 ms"));
  CHECK_FALSE(d.ui.text_present("15.6 m blind"));
}

TEST_CASE(
    "given: the frame budget leaves the stack as found, every lane of the one that is asked for, and four panels") {
  use_bundled_catalog();
  ShellDriver d{bundled_content(), nowhere(), {1280, 800}, true};
  d.shell.drawer_open = false;
  REQUIRE(d.workspace.open("driving/gantt"));
  d.settle();
  CHECK(app::stage_view(d.shell).specs.size() == 4);
  CHECK(d.ui.text_present("as found \xE2\x80\xA6"));  // its resources have no room here
  app::ask_question(d.shell, 0);
  d.settle();
  d.ui.frames(3);
  CHECK(d.ui.text_present("1: 48 ms"));
  CHECK_FALSE(d.ui.text_present("1: 31 ms"));
  // The lane of the CPU is the last of both schedules, and both are there.
  const std::string texts = d.ui.all_text();
  const std::size_t first = texts.find("CPU");
  REQUIRE(first != std::string::npos);
  CHECK(texts.find("CPU", first + 3) != std::string::npos);
}

TEST_CASE("a guess stays on the road and in the schedule") {
  use_bundled_catalog();
  const auto says = [](const char* id, widgets::ShownGuess guess, std::string_view words) {
    const LabPtr lab = open_lab(id);
    compute(*lab);
    const widgets::ShowGuess shown(&guess);
    Canvas canvas(*lab, {1180, 640});
    canvas.ui.frames(3);
    return canvas.ui.text_present(words);
  };
  CHECK(says("driving/gantt", {.output = "latency_s", .unit = "s", .value = 0.024}, "you: 24 ms"));
  CHECK(says("driving/jitter", {.output = "frame_m", .unit = "m", .value = 2}, "you: 2 m"));
}
