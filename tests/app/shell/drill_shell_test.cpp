#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "chapters/practice/drill_history.h"
#include "tests/app/shell/shell_fixture.h"
#include "tests/support/lab/busy_workers.h"

using Catch::Approx;

namespace {

/// The drills with one known question: Llama 3 70B, 32 requests of 8,192 tokens, 85.9 GB of cache.
struct Drilling : Opened {
  Drilling() : Opened("interview/drills") {
    REQUIRE(w.open_with("interview/drills", {{"drill", "kv-batch"}, {"clock", "two_minutes"}}, app::Json::object())
                .error.empty());
    REQUIRE(d.settle());
  }
  void start_and_answer(std::string_view text) {
    press_each({"Start"});
    ui.type(text);
    press_each({"Enter"});
    REQUIRE(d.settle());
  }
  std::size_t answers() { return w.lab().inputs().find("history")->table_size(); }
};

}  // namespace

TEST_CASE("typing an answer and Enter grades it, shows the worked steps, and Enter goes on to the next") {
  Drilling o;
  CHECK(o.ui.text_present("question 1 of 10"));
  CHECK(o.ui.text_present("2:00"));
  CHECK_FALSE(o.ui.text_present("open in the lab"));
  CHECK_FALSE(o.ui.probe().find("##drill answer"));  // its clock does not run yet, so it is not read yet either
  o.press_each({"Start"});
  CHECK(o.ui.text_present("in B with any prefix"));
  o.ui.type("86 GB");  // the box has the focus
  o.ui.key(ImGuiKey_Enter);
  REQUIRE(o.d.settle());
  CHECK(o.ui.text_present("85.9"));
  CHECK(o.ui.text_present("and you said 86 GB"));
  CHECK(o.ui.text_present("open in the lab"));
  REQUIRE(o.answers() == 1);
  CHECK(o.out("best_streak") == 1);
  CHECK(o.out("right_in_round") == 1);
  // Saved at once: a new session of the same person has it.
  app::Workspace again(o.content(), o.paths);
  REQUIRE(again.open("interview/drills"));
  CHECK(again.lab().inputs().find("history")->table_size() == 1);

  o.ui.key(ImGuiKey_Enter);
  o.ui.frames(3);
  CHECK(o.ui.text_present("question 2 of 10"));
  CHECK_FALSE(o.ui.text_present("open in the lab"));
  o.ui.type("1 GB");  // the box has the focus
  o.ui.key(ImGuiKey_Enter);
  REQUIRE(o.d.settle());
  REQUIRE(o.answers() == 2);
  CHECK(o.out("right_in_round") == 1);
}

TEST_CASE("Next goes on when the next question is there, and an answered one is not asked again meanwhile") {
  Drilling o;
  o.press_each({"Start"});
  o.ui.type("86 GB");
  support::BusyWorkers busy(o.w.jobs);  // the next question is not made before they are let go
  o.press_each({"Enter", "Next"});
  REQUIRE(o.w.current().computing());
  o.ui.frames(20);
  CHECK(o.ui.text_present("open in the lab"));  // the worked answer stays
  o.ui.key(ImGuiKey_Enter);
  o.ui.frames(2);
  CHECK(o.answers() == 1);
  busy.let_go();
  REQUIRE(o.d.settle());
  CHECK(o.ui.text_present("question 2 of 10"));
  CHECK_FALSE(o.ui.text_present("open in the lab"));
  CHECK(o.ui.text_present("2:00"));  // its clock starts with it
  CHECK(o.answers() == 1);
}

TEST_CASE(
    "a round ends in a card: how many were right, what was furthest off and where it is computed, one more round") {
  Drilling o;
  REQUIRE(o.w.open_with("interview/drills", {{"drill", "kv-batch"}, {"clock", "two_minutes"}, {"questions", 2}},
                        app::Json::object())
              .error.empty());
  REQUIRE(o.d.settle());
  o.start_and_answer("86 GB");
  REQUIRE(o.d.settle());
  o.ui.key(ImGuiKey_Enter);
  REQUIRE(o.d.settle());
  CHECK(o.ui.text_present("question 2 of 2"));
  CHECK_FALSE(o.ui.text_present("End of the round"));
  o.ui.type("1 kB");
  o.press_each({"Enter"});
  REQUIRE(o.d.settle());
  o.press_each({"Next"});
  REQUIRE(o.d.settle());
  CHECK(o.ui.text_present("End of the round of 2"));
  CHECK(o.ui.text_present("1 of 2 right"));
  CHECK(o.out("right_in_last_round") == 1);
  CHECK(o.ui.text_present("Furthest off: "));
  std::string card = o.ui.all_text();
  for (char& c : card)
    if (c == '\n') c = ' ';  // its lines are broken anywhere
  CHECK(card.find("You said 1 kB") != std::string::npos);
  CHECK(o.ui.has("Open it in the lab"));
  o.ui.key(ImGuiKey_Enter);
  REQUIRE(o.d.settle());
  CHECK_FALSE(o.ui.text_present("End of the round"));
  CHECK(o.ui.text_present("question 1 of 2"));
  CHECK(o.answers() == 2);
}

TEST_CASE("an answer that cannot be read is refused in words and is not counted") {
  Drilling o;
  o.start_and_answer("86 ms");
  CHECK(o.ui.text_present("\"ms\""));
  CHECK(o.answers() == 0);
}

TEST_CASE("the solution leads into the lab with the question's numbers") {
  Drilling o;
  o.start_and_answer("1 TB");
  o.press_each({"open in the lab"});
  CHECK(o.d.open_lab() == "roofline/transformer-layer");
  CHECK(o.in("batch") == 32);
  CHECK(o.in("context") == 8192);
  CHECK(o.out("kv_total_bytes") == Approx(85899345920.0));
}

TEST_CASE("a scenario's answer is shown graded and not kept; reveal shows the solution") {
  Drilling o;
  REQUIRE(o.w.open_with("interview/drills", {{"drill", "square-side"}, {"clock", "none"}}, {{"said", "1773"}})
              .error.empty());
  REQUIRE(o.d.settle());
  CHECK(o.ui.text_present("and you said 1,773"));
  CHECK(o.answers() == 0);
  REQUIRE(
      o.w.open_with("interview/drills", {{"drill", "square-side"}, {"reveal", true}}, {{"said", ""}}).error.empty());
  REQUIRE(o.d.settle());
  CHECK(o.ui.text_present("open in the lab"));
}

TEST_CASE("readiness leads to the drills of a topic") {
  Opened o("interview/readiness");
  o.press_each({"practise"});
  CHECK(o.d.open_lab() == "interview/drills");
  CHECK(o.chosen("topic") != "weak");
}

TEST_CASE("another question has a clock and a box of its own: what was typed for the one before is gone") {
  Drilling o;
  o.press_each({"Start"});
  o.ui.type("86");
  o.ui.frames(90);
  CHECK(o.ui.text_present("1:59"));
  REQUIRE(o.w.lab().inputs().find("drill")->set_choice_id("square-side"));
  REQUIRE(o.d.settle());
  CHECK(o.ui.text_present("2:00"));
  CHECK_FALSE(o.ui.text_present("1:59"));
}

TEST_CASE("the question of the day is offered under the card, counted once, and followed by others") {
  Opened o("interview/drills");
  REQUIRE(o.d.settle());
  o.ui.click("question of the day");
  REQUIRE(o.d.settle());
  CHECK(o.ui.text_present("Question of the day \xC2\xB7"));
  CHECK(o.out("daily_streak") == 0);
  o.press_each({"Start"});
  o.ui.type("1");
  o.ui.click("Enter");
  REQUIRE(o.d.settle());
  if (o.w.lab().inputs().find("history")->table_size() == 0) {  // it wants a unit: take the one of the card
    o.ui.click("##drill answer");
    const auto unit = o.w.lab().outputs().find("unit_hint")->text();
    const auto in = unit.find(", in ");
    REQUIRE(in != std::string::npos);
    o.ui.type(" " + unit.substr(in + 5, unit.find(' ', in + 5) - in - 5));
    o.ui.key(ImGuiKey_Enter);
    REQUIRE(o.d.settle());
  }
  REQUIRE(o.w.lab().inputs().find("history")->table_size() == 1);
  CHECK(o.w.lab().outputs().find("daily_done")->toggle());
  CHECK(o.out("daily_streak") == 1);
  o.ui.click("Next");
  o.ui.frames(3);
  CHECK(o.ui.text_present("Today's question answered, 1 day in a row"));
  CHECK_FALSE(o.ui.text_present("Question of the day \xC2\xB7"));
}
