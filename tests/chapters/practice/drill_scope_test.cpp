#include "chapters/practice/drill_scope.h"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "app/scenario/scenario.h"
#include "chapters/mechanism/registry.h"
#include "chapters/practice/drill_history.h"
#include "tests/chapters/practice/bundled_drills.h"
#include "tests/support/lab/catalog.h"

using chapters::Drill;
using chapters::DrillRecord;

namespace {

constexpr double one_day_s = 86400, today_s = 1.7e9;

std::string chapter_asked(const Drill& d) { return d.lab.substr(0, d.lab.find('/')); }

}  // namespace

TEST_CASE("a beginner is asked the easiest of the chapters that they opened before today, the same all day") {
  using chapters::OpenedLab;
  const std::vector<OpenedLab> nothing{{"", today_s}};
  chapters::DrillLabs labs;
  for (int day = 0; day < 60; ++day) {
    // Every day is the first day of somebody who has opened nothing, and the second of somebody with the roofline.
    const double at_s = today_s + day * one_day_s;
    const std::vector<OpenedLab> begun{{"roofline/roofline", at_s - one_day_s}, {"serving/batching", at_s}};
    const auto scope = chapters::scope_of(bundled_drills(), begun, at_s);
    CHECK(scope.first_week);
    const auto asked = chapters::daily_drill(bundled_drills(), at_s, &scope);
    REQUIRE(asked.drill);
    CHECK(asked.drill->level == 1);
    CHECK(chapter_asked(*asked.drill) == "roofline");
    CHECK(asked.drill == chapters::daily_drill(bundled_drills(), at_s + 600, &scope).drill);
    const auto question = chapters::make_question(*asked.drill, bundled_drills(), asked.seed, labs, asked.words);
    REQUIRE(question);
    CHECK(question->text.find("DeepSeek") == std::string::npos);
    const auto fresh = chapters::scope_of(bundled_drills(), nothing, today_s);
    const auto first = chapters::daily_drill(bundled_drills(), at_s, &fresh);
    REQUIRE(first.drill);
    CHECK(first.drill->level == 1);
    CHECK(chapter_asked(*first.drill) == "role");  // the first of the course
  }
}

TEST_CASE(
    "after the first week the question of the day is of level 3 up, from opened chapters; without rows from all") {
  const std::vector<chapters::OpenedLab> opened{{"precision/bits", today_s - 9 * one_day_s}, {"role/scaling", 0}};
  const auto scope = chapters::scope_of(bundled_drills(), opened, today_s);
  CHECK_FALSE(scope.first_week);
  std::set<std::string> from;
  for (int day = 0; day < 60; ++day) {
    const auto pick = chapters::daily_drill(bundled_drills(), today_s + day * one_day_s, &scope);
    CHECK(pick.drill->level >= 3);
    from.insert(chapter_asked(*pick.drill));
  }
  CHECK(from == std::set<std::string>{"precision", "role"});
  const auto everything = chapters::scope_of(bundled_drills(), {}, today_s);
  CHECK(chapters::daily_drill(bundled_drills(), today_s, &everything).drill ==
        chapters::daily_drill(bundled_drills(), today_s).drill);
}

TEST_CASE("where no topic is chosen, drills come from opened chapters, level by level in the first week") {
  const std::vector<chapters::OpenedLab> opened{{"training/packing", today_s}};
  const auto scope = chapters::scope_of(bundled_drills(), opened, today_s);
  std::vector<DrillRecord> history;
  for (int i = 0; i < 20; ++i) {
    const auto pick = chapters::choose_drill(bundled_drills(), history, {.seed = 3, .now_s = today_s, .scope = &scope});
    REQUIRE(pick.drill);
    CHECK(chapter_asked(*pick.drill) == "training");
    if (i == 0) CHECK(pick.drill->level == 1);
    history.push_back({pick.drill->id, static_cast<std::int64_t>(pick.seed), 1, true, 10, today_s});
  }
  const auto chosen =
      chapters::choose_drill(bundled_drills(), {}, {.topic = "tiles", .seed = 3, .now_s = today_s, .scope = &scope});
  CHECK(chosen.drill->topic == "tiles");
}

TEST_CASE("readiness counts the topics of opened chapters and those that were asked, and says how many lie ahead") {
  support::use_bundled_catalog();
  const auto lab = chapters::make_lab_by_id("interview/readiness");
  const auto topics = [&](const char* opened) {
    REQUIRE(app::apply_inputs(*lab, app::Json::parse(R"({"now_s": 1.7e9, "opened": )" + std::string(opened) + "}")));
    lab->compute();
    return lab->outputs().find("topics")->table_size();
  };
  const std::size_t all = topics("[]");
  const std::size_t some = topics(R"([{"lab": "precision/bits", "time_s": 1.6e9}])");
  CHECK(some >= 1);
  CHECK(some < all);
  for (const Drill& d : bundled_drills())
    if (d.title == lab->outputs().find("next")->text()) CHECK(chapter_asked(d) == "precision");
}
