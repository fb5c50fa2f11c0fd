#include <catch2/catch_test_macros.hpp>

#include "tests/app/shell/shell_fixture.h"

TEST_CASE("an output that means nothing as the lab is set is not listed with a number") {
  Opened o("serving/batching");
  o.ui.resize({1280, 2400});  // all outputs are in sight
  REQUIRE(o.chosen("service") == "llm");
  CHECK_FALSE(o.ui.text_present("Wait by formula"));  // there is no formula for a model's steps
  CHECK_FALSE(o.ui.text_present("Offered load"));
  for (const char* plain : {"exponential", "deterministic"}) {
    REQUIRE(o.d.input("service").set_choice_id(plain));
    o.d.settle();
    CHECK(o.ui.text_present("Wait by formula"));
    CHECK(o.ui.text_present("Offered load"));
  }
}

TEST_CASE("a headline card that has no figure says its whole reason or none of it") {
  Opened o("precision/loss-scaling");
  o.ui.resize({1280, 2400});
  REQUIRE(o.d.input("policy").set_choice_id("none"));
  o.d.settle();
  CHECK(o.ui.text_present("scale has one."));  // the end of "Only a dynamic scale has one."
  // "There is no normal rate, or the run is too short." does not fit this card: a dash, and the words in the hover.
  CHECK_FALSE(o.ui.text_present("There is no"));
}

TEST_CASE("a headline card that the pointer rests on lights its figure in the picture") {
  Opened o("driving/jitter");
  o.d.shell.drawer_open = false;
  o.ui.resize({1600, 1000});
  REQUIRE(o.d.settle());
  const auto lights = [&] {
    const ImU32 ground = widgets::with_alpha(widgets::theme().accent, 0.25f);
    const auto record = o.ui.record();
    return std::count_if(record.strokes.begin(), record.strokes.end(), [&](const auto& s) {
      return s.kind == widgets::Stroke::Kind::rect && s.fill == ground && s.points[0].x < o.d.shell.canvas_max.x;
    });
  };
  CHECK(lights() == 0);
  o.ui.hover("Farthest blind");
  CHECK(lights() > 0);
  o.ui.move_to({5, 5});
  o.ui.frames(3);
  CHECK(lights() == 0);
}
