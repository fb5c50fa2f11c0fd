#include <catch2/catch_test_macros.hpp>
#include <string>

#include "app/shell/predict/predict.h"
#include "tests/app/shell/shell_fixture.h"

TEST_CASE("a paragraph of the open drawer that could answer lies under the veil, and comes back at the reveal") {
  Opened o("roofline/roofline");
  app::LabContent& content = o.w.content.labs["roofline/roofline"];
  REQUIRE_FALSE(content.predictions.empty());
  content.prose[1] = "A zebra has {" + content.predictions[0].output +
                     "}, see [stripes](lab:precision/bits).\n\nA giraffe has a neck.\n";
  o.ui.click("Design");
  app::ask_question(o.d.shell, 0);
  o.ui.frames(3);
  REQUIRE(app::question_open(o.d.shell));
  CHECK_FALSE(o.ui.text_present("A zebra has"));
  CHECK_FALSE(o.ui.text_present("stripes"));
  CHECK(o.ui.text_present("A giraffe has a neck."));
  app::show_without_guess(o.d.shell);
  REQUIRE(o.d.settle());
  o.ui.frames(3);
  CHECK(o.ui.text_present("A zebra has"));
}
