#include "chapters/practice/recall_history.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/base/near.h"

using chapters::RecallRecord;

namespace {

constexpr double some_day_s = 20'000 * 86400.0;

RecallRecord given(const char* card, std::int64_t grade, double day, double hour = 12, double sure = 50) {
  return {.card = card, .grade = grade, .sure_percent = sure, .time_s = some_day_s + day * 86400 + hour * 3600};
}

}  // namespace

TEST_CASE("a card's memory comes from its answers in the order of time, however they were merged") {
  const RecallRecord in_order[] = {given("a", 3, 0), given("a", 3, 2), given("a", 1, 13)};
  const RecallRecord merged[] = {in_order[2], in_order[0], in_order[1]};
  const auto one = chapters::recall_memories(in_order), other = chapters::recall_memories(merged);
  CHECK(one.at("a").memory == other.at("a").memory);
  CHECK(support::near(one.at("a").memory.stability_days, 1.5383372358832694, 1e-12));  // py-fsrs 6
  CHECK(one.at("a").answers == 3);
  CHECK(one.at("a").right == 2);
  CHECK(one.at("a").last_s == in_order[2].time_s);
}

TEST_CASE("a card is due on its day, from midnight UTC on") {
  const RecallRecord history[] = {given("a", 3, 0, 23.9)};  // back after two days
  const auto memory = chapters::recall_memories(history).at("a");
  CHECK_FALSE(chapters::recall_due(memory, 0.9, some_day_s + 1.99 * 86400));
  CHECK(chapters::recall_due(memory, 0.9, some_day_s + 2 * 86400));
  CHECK(chapters::recall_due_count(history, 0.9, some_day_s + 2 * 86400) == 1);
  CHECK(chapters::recall_due_count(history, 0.8, some_day_s + 2 * 86400) == 0);
}

TEST_CASE("answers are counted by topic and by how sure one was, and the oldest go first") {
  chapters::RecallDeck deck;
  for (const char* id : {"a", "b", "c"}) {
    deck.cards.push_back({.id = id, .topic = id[0] == 'c' ? "other" : "one"});
  }
  const RecallRecord history[] = {given("a", 1, 0, 12, 95), given("a", 3, 1, 12, 75), given("c", 3, 1),
                                  given("gone", 3, 1)};
  const auto tally = chapters::recall_tally(deck, history, "one");
  CHECK(tally.asked == 2);
  CHECK(tally.right == 1);
  CHECK(tally.seen == 1);
  CHECK(tally.cards == 2);
  const auto sure = chapters::recall_calibration(history);
  CHECK(sure.asked == 4);
  CHECK(sure.sure_and_wrong == 1);
  CHECK(support::near(sure.sure, 0.95 + 0.75 + 0.5 + 0.5, 1e-12));
  std::vector<RecallRecord> full(chapters::max_recall_records, given("a", 3, 0));
  chapters::add_record(full, given("b", 2, 1));
  CHECK(full.size() == chapters::max_recall_records);
  CHECK(full.back().card == "b");
}
