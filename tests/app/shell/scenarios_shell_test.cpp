#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "chapters/practice/scenario_board.h"
#include "tests/app/shell/shell_fixture.h"

namespace {

/// The default board: symptoms and what belongs to them, by the words on the cards.
struct Board : Opened {
  chapters::ScenarioBoard board;

  Board() : Opened("interview/scenarios") {
    REQUIRE(d.settle());
    auto dealt = chapters::deal_board(chapters::scenario_deck(), {.cards = 5, .seed = 7});
    REQUIRE(dealt);
    board = std::move(*dealt);
  }
  void join(std::string_view from, std::string_view to) {
    press_each({from, to});
    REQUIRE(d.settle());
  }
  std::size_t kept() { return w.lab().inputs().find("history")->table_size(); }
};

}  // namespace

TEST_CASE("a board is joined by hand: a wrong thread is told, undo takes it off, and the end is kept") {
  Board o;
  const auto& first = *o.board.cases[0];
  o.join(first.seen, o.board.left_over->cause);
  CHECK(o.out("wrong") == 1);
  o.ui.resize({1600, 1000});  // the words stand next to a board that leaves them room
  o.ui.frames(3);
  CHECK(o.ui.all_text().find("Not this: ") != std::string::npos);  // the cause follows, on two lines in little room
  o.w.undo();
  REQUIRE(o.d.settle());
  CHECK(o.out("wrong") == 0);
  CHECK(o.kept() == 0);
  for (const chapters::SymptomCase* c : o.board.cases) {
    o.join(c->seen, c->cause);
    o.join(c->cause, c->evidence);
    o.join(c->evidence, c->fix);
  }
  CHECK(o.out("told") == 5);
  o.ui.frames(3);
  CHECK(o.kept() == 5);
  o.ui.frames(3);
  CHECK(o.kept() == 5);  // once
}

TEST_CASE("a thread is dragged from a symptom to a cause") {
  Board o;
  const auto& c = *o.board.cases[1];
  o.ui.drag_points(o.ui.point_in(c.seen, {0.5f, 0.5f}), o.ui.point_in(c.cause, {0.5f, 0.5f}));
  REQUIRE(o.d.settle());
  CHECK(o.out("right") == 1);
}
