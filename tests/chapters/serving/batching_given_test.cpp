#include <catch2/catch_test_macros.hpp>

#include "app/shell/predict/predict.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"
#include "tests/support/lab/shell_driver.h"
#include "widgets/base/guess.h"

using namespace support;

TEST_CASE("batching: a question gives slots and queue; the guess stays in the queue; the key names what is drawn") {
  use_bundled_catalog();
  {
    ShellDriver d(bundled_content(), nowhere(), {1280, 800}, true);
    d.shell.drawer_open = false;
    REQUIRE(d.workspace.open("serving/batching"));
    REQUIRE(d.settle());
    app::ask_question(d.shell, 0);
    REQUIRE(d.settle());
    d.ui.frames(3);
    CHECK(d.ui.text_present("slots"));
    CHECK(d.ui.text_present("queue"));
    CHECK_FALSE(d.ui.text_present("at most 8"));
  }
  const LabPtr plain = open_lab("serving/batching",
                                R"({"policy": "single", "against": [], "service": "exponential", "arrival_rate": 0.8,)"
                                R"( "service_time_s": 1, "requests": 20000})");
  plain->compute();
  {
    const widgets::ShownGuess guess{.output = "mean_wait_s", .unit = "s", .value = 5};
    const widgets::ShowGuess shown(&guess);
    Canvas canvas(*plain, {1180, 640});
    canvas.ui.frames(3);
    CHECK(canvas.ui.text_present("you: 5 s"));
  }
  // Requests are sent back here; in a picture too low for a lane of each slot nothing marks their ends.
  const LabPtr full =
      open_lab("serving/batching", R"({"against": ["chunked"], "kv_share": 0.6, "slots": 16, "arrival_rate": 3.5,)"
                                   R"( "output_tokens": 256})");
  full->compute();
  for (const bool high : {false, true}) {
    Canvas canvas(*full, {1180, high ? 2400.0f : 480.0f});
    canvas.ui.frames(3);
    INFO(high);
    CHECK(canvas.ui.text_present("other requests"));
    CHECK(canvas.ui.text_present("sent back") == high);
  }
}
