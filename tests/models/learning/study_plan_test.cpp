#include "models/learning/study_plan.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <map>

#include "models/learning/practice.h"

using Catch::Approx;
using namespace models;

namespace {

std::map<std::int64_t, double> minutes_by_day(const StudyPlan& plan) {
  std::map<std::int64_t, double> out;
  for (const StudyBlock& b : plan.blocks) out[b.day] += b.minutes;
  return out;
}

std::int64_t count_of(const StudyPlan& plan, StudyKind kind, std::int64_t day) {
  std::int64_t n = 0;
  for (const StudyBlock& b : plan.blocks) n += b.kind == kind && b.day == day ? b.count : 0;
  return n;
}

const StudyWish drills_alone{.new_cards = 0, .board_every = 0, .talk_last = 0};

}  // namespace

TEST_CASE("a study plan: no day holds more than its minutes, and a day with something to do holds nearly all of them") {
  const std::vector<StudyTopic> topics(12);
  for (const double minutes : {10.0, 30.0, 45.0, 180.0}) {
    const StudyPlan plan = plan_study(topics, {}, {}, {.minutes_a_day = minutes, .unseen_cards = 200});
    const auto days = minutes_by_day(plan);
    CHECK(days.size() == 14);
    for (const auto& [day, used] : days) {
      INFO("day " << day << " of " << minutes << " min");
      CHECK(used <= minutes + 1e-9);
      if (minutes <= 45) CHECK(used > minutes - 2);
    }
  }
}

TEST_CASE("a study plan: a question that was asked comes back after one day, and then after six") {
  // One topic, six minutes a day and two a question: three questions on the first day.
  const std::vector<StudyTopic> topics(1);
  StudyWish wish = drills_alone;
  wish.minutes_a_day = 6;
  wish.days = 9;
  wish.goal = 0.99;
  const StudyPlan plan = plan_study(topics, {}, {}, wish);
  CHECK(count_of(plan, StudyKind::practice, 0) == 3);
  CHECK(count_of(plan, StudyKind::review, 1) == 3);    // the three of the first day
  CHECK(count_of(plan, StudyKind::practice, 1) == 0);  // and no room for others
  CHECK(count_of(plan, StudyKind::practice, 2) == 3);
  CHECK(count_of(plan, StudyKind::review, 3) == 3);
  CHECK(count_of(plan, StudyKind::review, 7) == 3);  // those of day 1, six days later
  CHECK(count_of(plan, StudyKind::practice, 6) == 3);
  // Nine days of three answers each, all on the one topic.
  CHECK(plan.ready[0] == Approx(wilson_lower(0.9 * 27, 27)));
}

TEST_CASE("a study plan: the longest overdue is first, and what has no room waits for the next day") {
  const std::vector<StudyTopic> topics(1);
  std::vector<StudyReview> due;
  for (int i = 0; i < 8; ++i) due.push_back({.due_days = -i * 1.0, .streak = 4, .topic = 0});
  StudyWish wish = drills_alone;
  wish.minutes_a_day = 10;
  wish.days = 2;
  const StudyPlan plan = plan_study(topics, due, {}, wish);
  CHECK(count_of(plan, StudyKind::review, 0) == 5);
  CHECK(count_of(plan, StudyKind::review, 1) == 3);
  CHECK(count_of(plan, StudyKind::practice, 1) == 2);
  CHECK(plan.left_due == 0);
  wish.days = 1;
  CHECK(plan_study(topics, due, {}, wish).left_due == 3);
}

TEST_CASE("a study plan: the weakest topic comes first each day, then what rises most, and nothing beyond the goal") {
  // Untouched, none right of forty, and already shown: five questions of the second, then five of the first, which they
  // raise most.
  const std::vector<StudyTopic> topics{{0, 0}, {0, 40}, {60, 60}};
  StudyWish wish = drills_alone;
  wish.days = 1;
  wish.minutes_a_day = 20;
  const StudyPlan plan = plan_study(topics, {}, {}, wish);
  REQUIRE(plan.blocks.size() == 2);
  CHECK(plan.blocks[0].topic == 1);
  CHECK(plan.blocks[1].topic == 0);
  CHECK(plan.blocks[1].count == 5);
  CHECK(plan.ready[0] == Approx(wilson_lower(4.5, 5)));
  CHECK(plan.topics_asked == 3);
  CHECK(plan.topics_ready == 1);
  // Everything shown: nothing to practise, and the day is free.
  CHECK(plan_study(std::vector<StudyTopic>{{60, 60}}, {}, {}, wish).blocks.empty());
  // Whoever gets nothing right still practises what is weakest.
  wish.rate = 0;
  CHECK(plan_study(topics, {}, {}, wish).minutes == 20);
}

TEST_CASE("a study plan: boards every third day, pitches on the last two, cards that are due before new ones") {
  const std::vector<StudyTopic> topics(4);
  const std::vector<double> cards{-2, 0.5, 3.2, 40};
  const StudyPlan plan = plan_study(topics, {}, cards, {.days = 6, .new_cards = 2, .unseen_cards = 3});
  CHECK(count_of(plan, StudyKind::recall, 0) == 4);  // two are due on the first day, two are new
  CHECK(count_of(plan, StudyKind::recall, 1) == 1);  // the last new one
  CHECK(count_of(plan, StudyKind::recall, 2) == 0);
  CHECK(count_of(plan, StudyKind::recall, 3) == 1);
  for (const std::int64_t day : {0, 1, 2, 3, 4, 5}) {
    INFO("day " << day);
    CHECK(count_of(plan, StudyKind::scenario, day) == (day == 2 || day == 5));
    CHECK(count_of(plan, StudyKind::talk, day) == (day >= 4));
  }
  CHECK(plan.left_due == 0);
}
