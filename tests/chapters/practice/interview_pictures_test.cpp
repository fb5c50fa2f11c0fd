#include <catch2/catch_test_macros.hpp>

#include "chapters/interview/drills/lab.h"
#include "chapters/interview/readiness/lab.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"
#include "widgets/base/guess.h"

TEST_CASE("interview/readiness: topics without an answer are folded, and an empty record offers questions of 60 s") {
  support::use_bundled_catalog();
  namespace readiness = chapters::interview::readiness;
  const auto picture = [](const readiness::Inputs& in) {
    const auto computed = readiness::compute(in);
    return readiness::arrange(in, computed.facts, *computed.run);
  };
  const readiness::Picture empty = picture({});
  CHECK(empty.starts.size() == 3);
  CHECK(empty.starts.front().link.ends_with("&clock=sixty_seconds"));
  CHECK(empty.known == 3);  // after 5, 20 and 62 answers, supposed
  CHECK(empty.ladder_key == "dot: share right; bar: what the answers support; tick: the goal of 80 %");
  CHECK(empty.rows.size() > empty.known + 20);
  CHECK(empty.folded.ends_with(" topics not asked yet"));
  readiness::Inputs in;
  in.history = {{.drill = "ridge", .right = true}, {.drill = "tiles", .right = false}};
  const readiness::Picture some = picture(in);
  CHECK(some.starts.empty());
  CHECK(some.known == 3);  // two topics, and what the plan would make of them
  for (std::size_t i = 0; i < 2; ++i) CHECK(some.rows[i].n == 1);
}

TEST_CASE("interview/drills: before Start the card shows the last question on its ruler") {
  support::use_bundled_catalog();
  namespace drills = chapters::interview::drills;
  const auto picture = [](const drills::Inputs& in) {
    chapters::Progress progress;
    const auto computed = drills::compute(in, progress);
    return drills::arrange(in, computed.facts, *computed.run);
  };
  CHECK_FALSE(picture({}).last.drawn);
  drills::Inputs in;
  in.history = {{.drill = "ridge", .seed = 3, .said = 200, .right = false}};
  const drills::Picture some = picture(in);
  CHECK(some.last.drawn);
  CHECK(some.last.said == 200);
  CHECK(some.promise.starts_with("Your last question: "));
}

TEST_CASE("interview/readiness: a guess stays as a line through the rows") {
  support::use_bundled_catalog();
  const auto lab = support::open_lab("interview/readiness");
  support::compute(*lab);
  const widgets::ShownGuess guess{.output = "plan_ready_percent", .unit = "%", .value = 90};
  const widgets::ShowGuess shown(&guess);
  support::Canvas canvas(*lab, {1180, 640});
  canvas.ui.frames(3);
  CHECK(canvas.ui.text_present("you: 90 %"));
}

TEST_CASE("interview/readiness: the plan begins with what is due, then with the course, and each piece leads to it") {
  support::use_bundled_catalog();
  namespace readiness = chapters::interview::readiness;
  readiness::Inputs in;
  in.now_s = 1.7e9;
  const auto planned = [&] {
    const auto computed = readiness::compute(in);
    return std::pair(computed.facts, readiness::arrange(in, computed.facts, *computed.run).plan);
  };
  const auto [fresh, first] = planned();
  CHECK(fresh.today_minutes > 28);
  CHECK(fresh.today_minutes <= 30);
  REQUIRE(first.today.size() >= 3);
  CHECK(first.today.front().link == "interview/recall");  // new cards, and then questions
  CHECK(first.today.back().link.starts_with("interview/drills?topic="));
  CHECK(fresh.planned_topics > 10);
  CHECK(fresh.planned_left_due == 0);
  in.history = {{.drill = "ridge", .right = true, .seconds = 60, .time_s = in.now_s - 5 * 86400}};
  const auto [later, second] = planned();
  REQUIRE_FALSE(second.today.empty());
  CHECK(second.today.front().link == "interview/drills?drill=any");
  CHECK(second.today.front().words == "1 question that is due");
  CHECK(later.plan.front().what == "reviews");
  in.interview_in_days = 1;
  CHECK(planned().second.last_day == 1);
}
