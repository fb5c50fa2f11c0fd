#include <catch2/catch_test_macros.hpp>

#include "tests/app/shell/shell_fixture.h"

TEST_CASE("an output that means nothing as the lab is set is not listed with a number") {
  Opened o("serving/batching");
  o.ui.resize({1280, 2400});  // all outputs are in sight
  o.ui.click("Code");         // the concept names the outputs that its objectives are checked on
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

TEST_CASE("the first figures of a lab whose clock runs and whose figures come from a job are no change") {
  Opened o("interview/recall");
  o.ui.resize({1600, 1000});
  REQUIRE(o.d.settle());
  o.ui.frames(3);
  CHECK(o.in("now_s") > 0);
  CHECK_FALSE(o.ui.text_present("from 0"));
  o.w.lab().inputs().find("new_per_day")->set_number(2);
  REQUIRE(o.d.settle());
  o.ui.frames(3);
  CHECK(o.ui.text_present("from 8"));
}

namespace {

/// How many things are lit on the canvas: figures in texts, lines, dots.
std::ptrdiff_t lights_on_canvas(Opened& o) {
  using widgets::Stroke;
  const ImU32 accent = widgets::theme().accent;
  const auto record = o.ui.record();
  return std::count_if(record.strokes.begin(), record.strokes.end(), [&](const Stroke& s) {
    if (s.points.empty() || s.points[0].x >= o.d.shell.canvas_max.x) return false;
    return (s.kind == Stroke::Kind::rect && s.fill == widgets::with_alpha(accent, 0.25f)) ||
           (s.kind == Stroke::Kind::polyline && s.stroke == widgets::with_alpha(accent, 0.35f)) ||
           (s.kind == Stroke::Kind::circle && s.fill == 0 && s.stroke == accent && s.width >= 2.5f);
  });
}

}  // namespace

TEST_CASE("a headline card that the pointer rests on lights its figure in the picture") {
  struct Case {
    const char *lab, *card;
  };
  for (const auto& [lab, card] : {Case{"driving/jitter", "Farthest blind"}, Case{"roofline/roofline", "Time"},
                                  Case{"compression/sparsity", "Error"}, Case{"driving/gantt", "Slack"}}) {
    INFO(lab);
    Opened o(lab);
    o.d.shell.drawer_open = false;
    o.ui.resize({1600, 1000});
    REQUIRE(o.d.settle());
    const auto before = lights_on_canvas(o);  // what looks like a light and is a mark
    o.ui.hover(card);
    CHECK(lights_on_canvas(o) > before);
    o.ui.move_to({5, 5});
    o.ui.frames(3);
    CHECK(lights_on_canvas(o) == before);
  }
}

TEST_CASE("a figure of the answer that the pointer rests on lights the marks of its output") {
  Opened o("roofline/roofline");
  o.d.shell.drawer_open = false;
  o.ui.resize({1600, 1000});
  REQUIRE(o.d.settle());
  const auto record = o.ui.record();
  const auto figure = std::find_if(record.strokes.begin(), record.strokes.end(), [&](const widgets::Stroke& s) {
    return s.kind == widgets::Stroke::Kind::text && s.text == "989 TFLOP/s" && s.points[0].x > o.d.shell.canvas_min.x &&
           s.points[0].x < o.d.shell.canvas_max.x && s.font == widgets::Font::mono;
  });
  REQUIRE(figure != record.strokes.end());
  const ImVec2 at = figure->points[0], size = figure->points[1];
  const auto before = lights_on_canvas(o);
  o.ui.move_to({at.x + size.x / 2, at.y + size.y / 2});
  o.ui.frames(3);
  CHECK(lights_on_canvas(o) > before);
}

TEST_CASE("a folded group says the value of a field with that field's name, or nothing") {
  Opened o("framework/launch");
  o.d.shell.unfold_groups = false;
  o.ui.resize({1600, 2000});  // all groups are in sight
  REQUIRE(o.d.settle());
  const auto record = o.ui.record();
  // Groups stand at the left edge, below the cards and the inputs, of which some have the same name.
  const auto text_at = [&](std::string_view words) -> const widgets::Stroke* {
    const widgets::Stroke* lowest = nullptr;
    for (const auto& s : record.strokes)
      if (s.kind == widgets::Stroke::Kind::text && s.text == words &&
          std::abs(s.points[0].x - o.d.shell.canvas_max.x - 40) < 40 &&
          (!lowest || s.points[0].y > lowest->points[0].y))
        lowest = &s;
    return lowest;
  };
  std::string group;
  std::size_t named = 0;
  for (const auto& f : o.w.lab().outputs()) {
    if (f.spec.headline || f.group == group || !chapters::holds(f.spec.when, o.w.lab().inputs())) continue;
    group = f.group;
    const widgets::Stroke* heading = text_at(group);
    if (!heading || f.spec.label == group) continue;
    INFO(group);
    const auto row = std::count_if(record.strokes.begin(), record.strokes.end(), [&](const auto& s) {
      return s.kind == widgets::Stroke::Kind::text && s.points[0].x > heading->points[0].x &&
             std::abs(s.points[0].y - heading->points[0].y) < 4;
    });
    CHECK((row == 0 || row == 2));  // label and value stand together
    named += row == 2;
  }
  CHECK(named > 0);
}
