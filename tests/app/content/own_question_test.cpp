#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "app/content/load_catalog.h"
#include "app/content/own_question.h"
#include "chapters/mechanism/registry.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"

// Questions that nobody has written down, and lessons whose steps hold one.

using Catch::Approx;

namespace {

chapters::LabPtr roofline() {
  if (chapters::catalog().chips.empty())
    chapters::set_catalog(app::load_catalog(support::source_file("assets"), {}).catalog);
  return chapters::make_lab_by_id("roofline/roofline");
}

}  // namespace

TEST_CASE(
    "an output is asked for by its label, a curve from end to end of its input's slider, and what cannot be is named") {
  const auto lab = roofline();
  const auto number = app::ask_output(*lab, "intensity");
  REQUIRE(number.error == "");
  CHECK(number->question ==
        "With these inputs, how much is \"" + std::string(lab->outputs().find("intensity")->spec.label) + "\"?");
  CHECK_FALSE(number->curve);
  const auto curve = app::ask_curve(*lab, "intensity", "batch");
  REQUIRE(curve.error == "");
  REQUIRE(curve->curve);
  const chapters::Field& batch = *lab->inputs().find("batch");
  CHECK(curve->curve->lo >= batch.spec.range.lo);
  CHECK(curve->curve->hi <= batch.spec.range.hi);
  CHECK(curve->curve->lo <= batch.number());
  CHECK(curve->curve->hi >= batch.number());
  CHECK(app::curve_axis(*lab, *curve->curve).error == "");
  CHECK(app::ask_output(*lab, "intensty").error.find("did you mean \"intensity\"?") != std::string::npos);
  CHECK(app::ask_curve(*lab, "intensity", "btch").error.find("has no input \"btch\"") != std::string::npos);
}

TEST_CASE("an input that leaves its number to the program is drawn over from a place that its logarithm has") {
  support::use_bundled_catalog();
  const auto lab = chapters::make_lab_by_id("fleet/train-time");
  REQUIRE(lab->inputs().find("parameters")->number() == 0);
  const auto asked = app::ask_curve(*lab, "efficiency", "parameters");
  REQUIRE(asked.error == "");
  CHECK(asked->curve->scale == app::CurveScale::log);
  CHECK(asked->curve->lo > 0);
  CHECK(asked->curve->hi > asked->curve->lo);
}

TEST_CASE(
    "a plot to draw on has its range from the point that is shown and the input's span, not from the curve's ends") {
  chapters::Field output;
  output.spec.unit = "s";
  app::CurveAsk ask;
  ask.lo = 1;
  ask.hi = 64;
  ask.scale = app::CurveScale::log;
  // 16 of 1 to 64: a proportional curve reaches a sixteenth on the left, so the axis spans a factor of 16 either way,
  // and a flat curve gets the same axis as a proportional one.
  for (const std::vector<double>& computed : {std::vector<double>{2, 2, 2}, std::vector<double>{0.125, 2, 8}}) {
    app::give_range(ask, output, 16, 2, computed);
    CHECK(ask.least == Approx(2.0 / 16));
    CHECK(ask.most == Approx(2.0 * 16));
  }
  REQUIRE(ask.given.size() == 1);
  CHECK(ask.given[0].value == 2);
  CHECK(ask.given[0].at == 16);
  // A curve that leaves it gets ten times as much on either side.
  app::give_range(ask, output, 16, 2, std::vector<double>{2, 100});
  CHECK(ask.most == Approx(320));
  output.spec.unit = "%";
  app::give_range(ask, output, 16, 40, std::vector<double>{41, 42});
  CHECK(ask.least == 0);
  CHECK(ask.most == 100);
  output.spec.unit = "s";
  app::give_range(ask, output, 16, 3, std::vector<double>{0, 1, 11});
  CHECK(ask.least == 0);
  CHECK(ask.most == 12);
  app::give_range(ask, output, 16, 3, std::vector<double>{-1, 1});
  CHECK(ask.least == -6);
}

TEST_CASE(
    "a step's question and its notes are written and read again, and each fault of them is named with step and key") {
  (void)roofline();
  const auto read = [](const std::string& step) {
    return app::parse_lesson(
        R"({"id": "i", "title": "t", "steps": [{"lab": "roofline/roofline"}, {"lab": "roofline/roofline", )" + step +
            "}]}",
        "mine.json");
  };
  const auto asks = read(R"("ask": "intensity", "over": "batch", "teach": "Wait.", "say": "Draw.")");
  REQUIRE(asks.error == "");
  const auto back = app::parse_lesson(app::lesson_to_text(*asks), "mine.json");
  REQUIRE(back.error == "");
  CHECK(back->steps[1].ask == "intensity");
  CHECK(back->steps[1].over == "batch");
  CHECK(back->steps[1].teach == "Wait.");
  CHECK(back->steps[1].say == "Draw.");
  CHECK(back->steps[1].asks());
  CHECK_FALSE(back->steps[0].asks());
  CHECK(read(R"("question": "some-id")")->steps[1].question == "some-id");
  const auto begins = [&](const std::string& step, std::string_view words) {
    const std::string error = read(step).error;
    INFO(error);
    CHECK(error.starts_with(words));
  };
  begins(R"("ask": "intensty")", "mine.json, steps 2: roofline/roofline has no output \"intensty\": did you mean");
  begins(R"("ask": "intensity", "over": "btch")", "mine.json, steps 2: roofline/roofline has no input \"btch\"");
  begins(R"("over": "batch")", "mine.json, steps 2: over needs ask");
  begins(R"("ask": "intensity", "question": "q")", "mine.json, steps 2: question and ask are two questions");
  begins(R"("ask": 3)", "mine.json, steps 2: ask must be a text.");
  begins(R"("teech": "Wait.")", "mine.json, steps 2: a step has no key \"teech\": did you mean \"teach\"?");
}

TEST_CASE(
    "of lessons in one's own folder a broken one says why, with its file, and the others are there as one's own") {
  (void)roofline();
  app::Content content;
  content.labs["roofline/roofline"].predictions.push_back({.id = "ridge"});
  support::Folder folder;
  const auto lesson = [](const char* id, const char* step) {
    return std::string(R"({"id": ")") + id + R"(", "title": "T", "steps": [{"lab": "roofline/roofline", )" + step +
           "}]}";
  };
  folder.write("a.json", lesson("a", R"("question": "ridge")"));
  folder.write("b.json", lesson("b", R"("question": "rigde")"));
  folder.write("c.json", lesson("c", R"("inputs": {"chp": "h100_sxm"})"));
  folder.write("d.json", "{");
  folder.write("e.json", lesson("e", R"("inputs": {"chip": "h100_sxm"})"));
  app::load_lessons(folder.path, content);
  REQUIRE(content.lessons.size() == 2);
  CHECK(content.lessons[0].id == "a");
  CHECK(content.lessons[0].own);
  CHECK(content.lessons[1].id == "e");
  REQUIRE(content.errors.size() == 3);
  CHECK(content.errors[0] == "b.json, steps 1: question is \"rigde\": roofline/roofline asks ridge.");
  CHECK(
      content.errors[1].starts_with("c.json, steps 1: roofline/roofline has no input \"chp\": did you mean \"chip\"?"));
  CHECK(content.errors[2].starts_with("d.json is not valid JSON"));
}
