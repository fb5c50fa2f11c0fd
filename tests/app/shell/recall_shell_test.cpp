#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "chapters/practice/recall_history.h"
#include "tests/app/shell/shell_fixture.h"

namespace {

struct Recalling : Opened {
  Recalling() : Opened("interview/recall") {
    REQUIRE(w.open_with("interview/recall", {{"card", "roof-ridge"}}, app::Json::object()).error.empty());
    REQUIRE(d.settle());
  }
  std::size_t answers() { return w.lab().inputs().find("history")->table_size(); }
  double seen(const char* key) { return w.lab().view().find(key)->number(); }
  std::int64_t points() { return static_cast<std::int64_t>(out("points")); }
};

}  // namespace

TEST_CASE("sure first, then Space uncovers, then a digit grades, and the answer is kept at once") {
  Recalling o;
  const std::string question = o.w.lab().outputs().find("question")->text();
  o.ui.click("75 %##sure");
  o.ui.frames(2);
  CHECK(o.seen("sure_percent") == 75);
  o.ui.key(ImGuiKey_3);  // no grade before the points are open
  o.ui.frames(2);
  CHECK(o.answers() == 0);
  for (std::int64_t i = 0; i < o.points(); ++i) {
    CHECK(o.seen("uncovered") == static_cast<double>(i));
    o.ui.key(ImGuiKey_Space);
    o.ui.frames(2);
  }
  CHECK(o.seen("uncovered") == static_cast<double>(o.points()));
  o.ui.key(ImGuiKey_3);
  REQUIRE(o.d.settle());
  REQUIRE(o.answers() == 1);
  CHECK(o.out("seen") == 1);
  CHECK(o.out("calibration") == -25);
  CHECK(o.w.lab().outputs().find("question")->text() != question);
  CHECK(o.seen("uncovered") == 0);  // the next card is covered
  // Saved at once: a new session of the same person has it.
  app::Workspace again(o.content(), o.paths);
  REQUIRE(again.open("interview/recall"));
  CHECK(again.lab().inputs().find("history")->table_size() == 1);
}

TEST_CASE("a card that is uncovered next to an example is graded as one's own") {
  Recalling o;
  o.ui.resize({1600, 1000});
  o.w.lab().inputs().find("memory")->set_choice_id("example");
  REQUIRE(o.d.settle());
  o.ui.frames(3);
  CHECK(o.ui.text_present("An example card in memory"));
  o.ui.click("75 %##sure");
  for (std::int64_t i = 0; i < o.points(); ++i) {
    o.ui.frames(2);
    o.ui.key(ImGuiKey_Space);
  }
  REQUIRE(o.d.settle());
  CHECK(o.w.lab().inputs().find("memory")->choice_id() == "yours");
  o.ui.key(ImGuiKey_4);
  REQUIRE(o.d.settle());
  CHECK(o.answers() == 1);
}
