#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>
#include <string>

#include "chapters/interview/recall/lab.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace recall_lab = chapters::interview::recall;

namespace {

constexpr double recall_day_s = 86400, recall_now_s = 20'000 * recall_day_s + 40'000;

chapters::RecallRecord answered(std::string card, std::int64_t grade, double days_ago, double sure = 75) {
  return {.card = std::move(card),
          .grade = grade,
          .sure_percent = sure,
          .said = 2,
          .points = 4,
          .seconds = 60,
          .time_s = recall_now_s - days_ago * recall_day_s};
}

auto facts_of(const recall_lab::Inputs& in) { return computed_of(in, recall_lab::compute); }

}  // namespace

TEST_CASE("recall: whoever has answered nothing has a new card on the table, eight due, and a plan") {
  const auto c = facts_of({.now_s = recall_now_s});
  CHECK(c.facts.reason.empty());
  CHECK(c.facts.seen == 0);
  CHECK(c.facts.due_today == 8);
  CHECK(c.facts.why_now == "It is new.");
  CHECK(std::isnan(c.facts.retrievability));
  CHECK(std::isnan(c.facts.calibration));
  CHECK(c.facts.interval_good_s == 2 * recall_day_s);  // as py-fsrs 6 says of a first good answer
  CHECK(c.facts.interval_easy_s == 8 * recall_day_s);
  CHECK(c.facts.cards >= 200);
  CHECK(c.facts.retention_expected > 90);
  CHECK(c.facts.reviews_per_day > 20);
  CHECK(near(c.facts.minutes_per_day, c.facts.reviews_per_day * 1.5, 1e-12));
  const std::string answer = answer_of("interview/recall");
  CHECK(answer.starts_with("In `30` days you will know `94 %` of the deck, for `"));
  CHECK(answer.ends_with("comes back after `2 days`; forgotten, after `1 day`."));
}

TEST_CASE("recall: what is known least comes first of what is due, then what is new") {
  recall_lab::Inputs in{.now_s = recall_now_s};
  const auto& deck = chapters::recall_deck();
  use_bundled_catalog();
  const std::string known = deck.cards[3].id, lost = deck.cards[5].id, fresh = deck.cards[0].id;
  in.history = {answered(known, 3, 3), answered(lost, 1, 3)};
  const auto both = facts_of(in);
  CHECK(both.facts.seen == 2);
  CHECK(both.facts.due_today == 2 + 8);
  CHECK(both.facts.question == deck.cards[5].question);
  CHECK(both.facts.why_now == "Its day has come.");
  in.history = {answered(known, 4, 3)};  // easy: eight days
  const auto later = facts_of(in);
  CHECK(later.facts.question == deck.cards[0].question);
  CHECK(later.facts.retention_today > 90);
  // A card of the wall is laid on the table whatever is due.
  in.card = known;
  const auto chosen = facts_of(in);
  CHECK(chosen.facts.question == deck.cards[3].question);
  CHECK(near(chosen.facts.stability_s, 8.2956 * recall_day_s, 1e-12));
}

TEST_CASE("recall: sure and wrong is counted, and calibration is sure less right") {
  recall_lab::Inputs in{.now_s = recall_now_s};
  in.history = {answered("roof-ridge", 1, 2, 95), answered("roof-ridge", 3, 1, 75), answered("fw-7b", 2, 1, 50),
                answered("fw-7b", 1, 0, 25)};
  const auto c = facts_of(in);
  CHECK(c.facts.answered == 4);
  CHECK(c.facts.right == 2);
  CHECK(c.facts.sure_and_wrong == 1);
  CHECK(near(c.facts.calibration, (95 + 75 + 50 + 25) / 4.0 - 50, 1e-12));
  CHECK(c.facts.answered_today == 1);
  REQUIRE(c.run->bins.size() == 4);
  CHECK(c.run->bins.front().sure == 25);
}

TEST_CASE("recall: later asked, longer kept; keeping more costs more; an example without a gap is refused") {
  const LabPtr lab = open_lab("interview/recall", R"({"memory": "example", "example_grades": [3, 3, 3],
      "example_gaps_s": [172800, 950400], "example_since_s": 0})");
  compute(*lab);
  CHECK(near(out(*lab, "stability_s"), 46.28 * recall_day_s, 1e-3));
  double before = 0;
  for (const double day : {5, 20, 46, 180}) {
    compute(set(*lab, "wait_s", day * recall_day_s));
    CHECK(out(*lab, "interval_good_s") > before);
    before = out(*lab, "interval_good_s");
  }
  CHECK(out(*lab, "interval_again_s") == 4 * recall_day_s);
  const double usual = out(*lab, "reviews_per_day");
  CHECK(computed(set(*lab, "retention", 97), "reviews_per_day") > 1.5 * usual);
  set(*lab, "example_gaps_s", "172800");
  CHECK(reason_of(*lab) == "The example needs one gap fewer than grades, and at least one grade.");
}

TEST_CASE("recall: the wall has every card once, and the curve starts and ends where the facts say") {
  recall_lab::Inputs in{.now_s = recall_now_s};
  in.history = {answered("roof-ridge", 3, 6), answered("roof-ridge", 3, 4)};
  in.card = "roof-ridge";
  const auto c = facts_of(in);
  const recall_lab::Picture p = picture_of(in, recall_lab::compute, recall_lab::arrange);
  std::size_t tiles = 0;
  for (const auto& row : p.wall) {
    CHECK(row.first == tiles);
    tiles += row.size;
  }
  CHECK(tiles == chapters::recall_deck().cards.size());
  CHECK(p.memory.front().x.front() == -6);
  CHECK(near(p.memory.front().y.back(), c.facts.retrievability, 1e-9));
  CHECK(p.back_days[2] == c.facts.interval_good_s / recall_day_s);
  CHECK(p.pressable);
  in.wait_s = recall_day_s;
  CHECK_FALSE(picture_of(in, recall_lab::compute, recall_lab::arrange).pressable);
}
