#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "app/shell/inspector.h"
#include "tests/app/shell/shell_fixture.h"

using Catch::Approx;

// Predict first, by real input: a curve drawn with the pointer and by keyboard, choices, and nothing that leaks.

namespace {

/// The roofline's curve question is asked: decode intensity over the batch.
struct Curve : Opened {
  Curve() : Opened("roofline/roofline") {
    w.lab().inputs().find("batch")->set_number(7);  // the learner's own
    ui.frames(3);
    const auto& questions = w.content.of("roofline/roofline").predictions;
    std::size_t index = 0;
    while (index < questions.size() && !questions[index].curve) ++index;
    REQUIRE(index < questions.size());
    app::ask_question(d.shell, index);
    ui.frames(3);
    REQUIRE(app::question_open(d.shell));
  }
  const app::PredictState& state() { return d.shell.predict; }
  const widgets::Box& plot() { return state().layout.frame.area; }
  ImVec2 at(float x, float y) { return {plot().min.x + x * plot().width(), plot().max.y - y * plot().height()}; }
  /// The pointer goes through these shares of the plot with the button down.
  void draw(std::initializer_list<ImVec2> shares) {
    bool down = false;
    for (const ImVec2 share : shares) {
      ui.move_to(at(share.x, share.y));
      if (!down) ui.press();
      down = true;
      ui.frames(2);
    }
    ui.release();
    ui.frames(2);
  }
};

}  // namespace

TEST_CASE("a curve drawn with the pointer wakes Commit at its end; the reveal scores it, keeps it and counts it") {
  Curve c;
  c.draw({{0.0f, 0.1f}, {0.5f, 0.4f}});
  CHECK_FALSE(c.state().line.whole());
  CHECK(c.state().line.reach() > c.state().places.size() / 3);
  c.ui.key(ImGuiKey_Enter);  // asleep: nothing is committed
  c.ui.frames(2);
  CHECK(app::question_open(c.d.shell));
  c.draw({{0.5f, 0.4f}, {1.0f, 0.9f}});
  REQUIRE(c.state().line.whole());
  c.ui.click("Commit  Enter");
  REQUIRE(c.d.settle());
  CHECK(c.state().answered);
  CHECK_FALSE(app::question_open(c.d.shell));
  CHECK(c.state().score.score > 0);
  CHECK(c.state().score.score < 100);
  CHECK(c.ui.text_present("of 100"));
  CHECK(c.ui.text_present("yours"));
  CHECK(c.ui.text_present("computed"));
  const auto* kept = c.w.progress.latest("roofline/roofline", "roofline-draw-decode");
  REQUIRE(kept);
  CHECK(kept->committed == Approx(c.state().score.score));
  CHECK(kept->answer == 100);
  CHECK(c.w.kept.tables.contains("prediction.curves"));
  const auto guesses = app::guesses(c.d.shell, "roofline/roofline");
  REQUIRE(guesses.size() == 1);
  CHECK(guesses[0].over == "batch");
  CHECK(guesses[0].xs.size() == guesses[0].ys.size());
  CHECK(guesses[0].here);
  app::Workspace again(Opened::content(), c.paths);
  REQUIRE(again.open("interview/readiness"));
  again.current().finish();
  CHECK(again.lab().outputs().find("predicted")->number() == 1);
}

TEST_CASE("by keyboard: the arrows draw and bend the line, R starts again, Enter commits") {
  Curve c;
  for (int i = 0; i < 40 && !c.state().line.whole(); ++i) {
    c.ui.key(ImGuiKey_RightArrow);
    c.ui.key(ImGuiKey_UpArrow);
  }
  REQUIRE(c.state().line.whole());
  CHECK(c.state().line.values().back() > c.state().line.values().front());
  c.ui.key(ImGuiKey_R);
  c.ui.frames(2);
  CHECK(c.state().line.reach() == 0);
  for (int i = 0; i < 40 && !c.state().line.whole(); ++i) c.ui.key(ImGuiKey_RightArrow);
  REQUIRE(c.state().line.whole());
  c.ui.key(ImGuiKey_Enter);
  REQUIRE(c.d.settle());
  CHECK(c.state().answered);
}

TEST_CASE("a question sets its own scenario, and the learner's inputs come back with one press") {
  Curve c;
  CHECK(c.chosen("operation") == "decode");
  CHECK(c.in("batch") != 7);
  c.ui.key(ImGuiKey_Escape);  // show me without a guess
  REQUIRE(c.d.settle());
  CHECK(c.state().answered);
  CHECK(c.w.progress.latest("roofline/roofline", "roofline-draw-decode") == nullptr);
  CHECK(app::guesses(c.d.shell, "roofline/roofline").empty());
  CHECK(c.ui.text_present("Nothing is counted"));
  c.ui.click("Back to my inputs");
  c.ui.frames(3);
  CHECK(c.in("batch") == 7);
  CHECK_FALSE(app::question_shown(c.d.shell));
}

TEST_CASE("nothing leaks while a question is open: outputs, prose, claims, explore, presentation, exports") {
  Curve c;
  const std::string answer = "111.6";  // where the intensity ends, among the lab's outputs
  const auto veiled = [&](const char* where) {
    INFO(where);
    const std::string all = c.ui.all_text();
    CHECK(all.find(answer) == std::string::npos);
    CHECK(all.find("memory-bound") == std::string::npos);
    CHECK(c.d.shell.prediction_hides_outputs);
  };
  for (const char* tab : {"Design", "Concept", "Explore"}) {
    c.ui.click(tab);
    c.ui.frames(3);
    veiled(tab);
  }
  CHECK(c.ui.text_present("Veiled until you commit"));
  c.d.shell.drawer = app::Drawer::claims;
  c.ui.frames(2);
  veiled("claims");
  CHECK(c.ui.text_present("Veiled until you commit"));
  c.d.shell.presentation = true;
  c.ui.frames(4);
  veiled("presentation");
  const auto record = c.ui.record();
  CHECK(record.tables.empty());
  c.d.shell.presentation = false;
  c.ui.frames(2);
  // The learner goes elsewhere and comes back: it is as it was.
  REQUIRE(c.w.open("precision/bits"));
  c.ui.frames(3);
  CHECK_FALSE(app::question_open(c.d.shell));
  REQUIRE(c.w.open("roofline/roofline"));
  c.ui.frames(3);
  CHECK(app::question_open(c.d.shell));
}

TEST_CASE("a question is put away when its scenario is changed under it") {
  Curve c;
  c.w.lab().inputs().find("context")->set_number(2048);
  c.ui.frames(4);
  CHECK_FALSE(app::question_shown(c.d.shell));
  CHECK(c.d.was_said("The question is put away"));
}

TEST_CASE("what was guessed stands beside what was computed, whether or not it is a headline figure") {
  Opened o("roofline/tiling-waves");
  auto& questions = o.w.content.labs["roofline/tiling-waves"].predictions;
  questions = {{"test-waves", "How many waves?", R"({"n": 4097})", "waves", "Count the tiles.", 0.1}};
  REQUIRE_FALSE(o.w.lab().outputs().find("waves")->spec.headline);
  CHECK_FALSE(o.ui.text_present("you: "));
  o.ui.click("Predict");
  o.ui.frames(2);
  o.ui.click("##answer");
  o.ui.key(ImGuiKey_A, ImGuiMod_Ctrl);
  o.ui.type("3");
  o.ui.click("Commit");
  o.ui.frames(3);
  CHECK(o.ui.text_present("you: 3"));
  REQUIRE(app::guess_of(o.d.shell, "waves") != nullptr);
  o.w.lab().inputs().find("n")->set_number(4096);  // another scenario than the question's
  o.ui.frames(3);
  CHECK_FALSE(o.ui.text_present("you: 3"));
}

TEST_CASE("a choice is committed with one press and is right or wrong; a veiled plate stands for the picture") {
  Opened o("roofline/iron-law");
  const auto& questions = o.w.content.of("roofline/iron-law").predictions;
  std::size_t index = 0;
  while (index < questions.size() && questions[index].id != "iron-law-after-4bit") ++index;
  REQUIRE(index < questions.size());
  app::ask_question(o.d.shell, index);
  o.ui.frames(3);
  CHECK(o.ui.text_present("veiled until you commit"));
  REQUIRE(o.d.shell.predict.choices.size() == 3);
  o.ui.click(o.d.shell.predict.choices[0]);  // memory: it was the longest before
  o.ui.frames(3);
  CHECK(o.d.shell.predict.answered);
  CHECK(o.ui.text_present("not yet"));
  CHECK_FALSE(o.ui.text_present("veiled until you commit"));
  o.ui.click("Try again");
  o.ui.frames(3);
  o.ui.click("canvas/" + o.d.shell.predict.choices[2]);  // the prose has the term, too
  o.ui.frames(3);
  CHECK(o.ui.text_present("close"));
  CHECK(o.ui.text_present("2.64 ms"));  // the explanation's live value
}
