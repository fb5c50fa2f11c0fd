#include "chapters/practice/drill_history.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "app/scenario/scenario.h"
#include "chapters/interview/readiness/lab.h"
#include "chapters/interview/shared/words.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/registry.h"
#include "chapters/practice/drill_choice.h"
#include "models/learning/practice.h"
#include "tests/chapters/practice/bundled_drills.h"
#include "tests/support/base/effort.h"
#include "tests/support/lab/catalog.h"

using Catch::Approx;
using chapters::Drill;
using chapters::DrillRecord;

namespace {

constexpr double day_s = 86400, now_s = 1.7e9;

std::string topic_of(std::string_view id) {
  for (const Drill& d : bundled_drills())
    if (d.id == id) return d.topic;
  return {};
}
/// `n` answers in every topic, right except in `weak`.
std::vector<DrillRecord> everything_but(const std::string& weak, int n) {
  std::vector<DrillRecord> out;
  for (int i = 0; i < n; ++i)
    for (const Drill& d : bundled_drills())
      if (d.level <= 3 && d.follows.empty()) out.push_back({d.id, i + 1, 1, d.topic != weak, 20, 0});
  return out;
}

}  // namespace

TEST_CASE("the weakest topic is asked most, whichever it is") {
  REQUIRE(bundled_drills().size() > 20);
  for (const auto& topic : chapters::catalog().drill_topics) {
    if (topic.id == "weak") continue;
    INFO(topic.id);
    int weak = 0;
    constexpr int rounds = 60;
    for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
      auto history = everything_but(topic.id, 4);
      history.push_back({"gone", 0, 0, false, 1, 0});  // so that no chain goes on
      const auto pick = choose_drill(bundled_drills(), history, {.seed = seed});
      REQUIRE(pick.drill);
      weak += pick.drill->topic == topic.id;
    }
    CHECK(weak >= rounds * 2 / 3);  // one topic of six by chance would be ten
  }
}

TEST_CASE("a right answer is followed by the question it feeds, with its seed; a wrong one is not") {
  const auto next = [](bool right) {
    return choose_drill(bundled_drills(), std::vector<DrillRecord>{{"kv-token", 77, 1, right, 10, 0}},
                        {.seed = 3, .in_round = 1});
  };
  REQUIRE(next(true).drill);
  CHECK(next(true).drill->id == "kv-batch");
  CHECK(next(true).seed == 77);
  CHECK_FALSE((next(false).drill->id == "kv-batch" && next(false).seed == 77));
}

TEST_CASE("a question that follows another is never dealt without it, unless its own words give everything") {
  using chapters::DrillWords;
  Drill parent{.id = "parent",
               .title = "Parent",
               .topic = "t",
               .lab = "roofline/roofline",
               .output = "ridge",
               .ask = "?",
               .vary = {{.key = "chip", .options = {"h100_sxm", "b200_sxm"}}},
               .steps = {"{answer}"}};
  Drill child = parent;
  child.id = "child";
  child.follows = "parent";
  child.carry = {{"chip", "chip"}};
  child.ask = "And at {previous}?";
  const std::vector<Drill> drills{parent, child};
  const std::vector<DrillRecord> answered{{"parent", 5, 1, true, 10, now_s}};
  const auto pick = [&](std::span<const DrillRecord> history, std::size_t in_round, double at_s) {
    return choose_drill(drills, history, {.seed = 1, .now_s = at_s, .in_round = in_round});
  };
  CHECK(pick(answered, 1, now_s + 60).drill == &drills[1]);
  CHECK(pick(answered, 1, now_s + 60).words == DrillWords::following);
  CHECK(pick(answered, 1, now_s + 60).seed == 5);
  CHECK(pick(answered, 0, now_s + 60).drill == &drills[0]);         // another round
  CHECK(pick(answered, 1, now_s + 2 * day_s).drill == &drills[0]);  // another day
  CHECK(pick({}, 0, now_s).drill == &drills[0]);
  // Who asks for it is asked first what it follows.
  const auto wanted = choose_drill(drills, {}, {.drill = "child", .seed = 1});
  CHECK(wanted.drill == &drills[0]);
  CHECK(std::string_view(wanted.why) == "leads to the one you chose");
  chapters::DrillLabs labs;
  CHECK(make_question(child, drills, 1, labs, DrillWords::alone).error.find("ask_alone") != std::string::npos);
  // Of those in the house, every question that comes at random is one of its own words.
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto dealt = choose_drill(bundled_drills(), {}, {.level = static_cast<int>(seed % 7), .seed = seed});
    CHECK((dealt.drill->follows.empty() || !dealt.drill->ask_alone.empty()));
    CHECK(dealt.words == DrillWords::alone);
  }
}

TEST_CASE("no round has the same numbers twice, whatever its topic and level") {
  chapters::DrillLabs labs;
  std::set<std::string> topics;
  // Under sanitizers the round of all topics alone: the same code deals every other.
  if (!support::sanitized())
    for (const Drill& d : bundled_drills()) topics.insert(d.topic);
  topics.insert("");
  for (const std::string& topic : topics) {
    std::vector<DrillRecord> round;
    std::set<std::string> links;
    for (std::size_t i = 0; i < 12; ++i) {
      const auto dealt =
          deal_drill(bundled_drills(), round,
                     {.topic = topic, .level = topic.empty() ? 0 : 3, .seed = 9, .in_round = round.size()}, labs);
      REQUIRE(dealt);
      INFO(topic << ": " << dealt->question.text);
      CHECK(links.insert(dealt->choice.drill->id + dealt->question.link).second);
      round.push_back({dealt->choice.drill->id, static_cast<std::int64_t>(dealt->choice.seed), 1, i % 3 != 0, 10, 0});
    }
  }
}

TEST_CASE("near counts half: in the share, in the bound, and it is asked again after a day at the same level") {
  const std::vector<DrillRecord> history{{.drill = "ridge", .right = true, .time_s = now_s},
                                         {.drill = "ridge", .time_s = now_s, .near = true},
                                         {.drill = "ridge", .time_s = now_s}};
  const auto standing = [&](std::size_t n) {
    for (const auto& s :
         chapters::standings(bundled_drills(), chapters::catalog().drill_topics, std::span(history).first(n),
                             chapters::scope_of(bundled_drills(), {}, now_s), now_s, 1.96))
      if (s.topic == "roofline") return s;
    return chapters::TopicStanding{};
  };
  CHECK(standing(3).score == 1.5);
  CHECK(standing(3).right == 1);
  CHECK(standing(3).near == 1);
  CHECK(standing(3).ready == Approx(models::wilson_lower(1.5, 3, 1.96)));
  CHECK(standing(2).level == standing(1).level);
  CHECK(chapters::due_count(std::span(history).first(2), now_s + 0.9 * day_s) == 0);
  CHECK(chapters::due_count(std::span(history).first(2), now_s + 1.1 * day_s) == 1);
}

TEST_CASE(
    "what is due comes first: a day after the first right answer, six after the second, ten minutes after a wrong "
    "one") {
  const auto due_after = [](std::vector<bool> answers, double later_s) {
    std::vector<DrillRecord> history;
    for (const bool right : answers) history.push_back({"ridge", 1, 1, right, 10, now_s});
    return chapters::due_count(history, now_s + later_s);
  };
  CHECK(due_after({true}, 0.9 * day_s) == 0);
  CHECK(due_after({true}, 1.1 * day_s) == 1);
  CHECK(due_after({true, true}, 5 * day_s) == 0);
  CHECK(due_after({true, true}, 6.1 * day_s) == 1);
  CHECK(due_after({true, true, false}, 500) == 0);
  CHECK(due_after({true, true, false}, 700) == 1);
  std::vector<DrillRecord> history{{"stream-time", 1, 1, true, 10, now_s - 30 * day_s},
                                   {"intensity", 1, 1, true, 10, now_s - 3 * day_s},
                                   {"tile-efficiency", 1, 1, false, 10, now_s}};
  const auto pick = choose_drill(bundled_drills(), history, {.seed = 3, .now_s = now_s});
  CHECK(pick.drill->id == "stream-time");  // the longest overdue
  CHECK(std::string(pick.why) == "due again");
}

TEST_CASE("a topic, a level and a drill that were asked for are what comes") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CHECK(choose_drill(bundled_drills(), {}, {.topic = "tiles", .seed = seed}).drill->topic == "tiles");
    CHECK(choose_drill(bundled_drills(), {}, {.level = 6, .seed = seed}).drill->level == 6);
    CHECK(choose_drill(bundled_drills(), {}, {.drill = "fits", .seed = seed}).drill->id == "fits");
    CHECK(choose_drill(bundled_drills(), {}, {.topic = "decode", .level = 1, .seed = seed}).drill->topic ==
          "decode");  // it has no level 1
  }
  CHECK(chapters::choose_drill({}, {}, {}).drill == nullptr);
}

TEST_CASE("what comes is the same whether a history is counted once for many topics or for each") {
  std::vector<DrillRecord> history;
  const auto& drills = bundled_drills();
  for (std::size_t i = 0; i < drills.size(); i += 3)
    history.push_back({drills[i].id, 1, 1, i % 2 == 0, 10, now_s - static_cast<double>(i) * day_s / 20});
  const auto all = chapters::tallies(drills, history);
  const auto known = chapters::memories(history);
  for (std::size_t i = 0; i < drills.size(); i += 7) {
    const chapters::DrillWish wish{.topic = drills[i].topic, .seed = i, .now_s = i % 2 == 0 ? now_s : 0};
    CHECK(choose_drill(drills, history, wish).drill == choose_drill(drills, history, wish, {all, known}).drill);
  }
}

TEST_CASE("a new learner starts low, climbs with right answers, and does not get one question twice in a row") {
  std::vector<DrillRecord> history;
  int first_levels = 0, last_levels = 0;
  std::string before;
  for (int i = 0; i < 60; ++i) {
    const auto pick = choose_drill(bundled_drills(), history, {.seed = 5});
    CHECK(pick.drill->id != before);
    before = pick.drill->id;
    if (i < 6) first_levels += pick.drill->level;
    if (i >= 54) last_levels += pick.drill->level;
    history.push_back({pick.drill->id, static_cast<std::int64_t>(pick.seed), 1, true, 10, 0});
  }
  CHECK(first_levels < last_levels);
  CHECK(topic_of(history[0].drill) != "");
}

TEST_CASE("the question of the day: one for everybody, another tomorrow, none twice before all have been asked") {
  const auto daily = [](double now) { return chapters::daily_drill(bundled_drills(), now); };
  CHECK(daily(now_s).drill == daily(now_s + 60).drill);
  CHECK(daily(now_s).seed != daily(now_s + day_s).seed);
  std::size_t worthy = 0;
  for (const Drill& d : bundled_drills()) worthy += d.level >= 3;
  const double round_s = static_cast<double>(worthy) * day_s, begin_s = std::ceil(now_s / round_s) * round_s + 1;
  std::set<const Drill*> asked;
  for (std::size_t day = 0; day < worthy; ++day) {
    const auto pick = daily(begin_s + static_cast<double>(day) * day_s);
    CHECK(pick.drill->level >= 3);
    asked.insert(pick.drill);
  }
  CHECK(asked.size() == worthy);
  // Every one of them has an answer with the numbers of its day.
  chapters::DrillLabs labs;
  for (std::size_t day = 0; day < worthy; ++day) {
    const auto pick = daily(begin_s + static_cast<double>(day) * day_s);
    CHECK(chapters::make_question(*pick.drill, bundled_drills(), pick.seed, labs).error == "");
  }
}

TEST_CASE(
    "days in a row: counted back from today or yesterday, whether right or wrong; then the day's question makes way") {
  std::vector<DrillRecord> history;
  const auto answer = [&](double days_ago, bool right) {
    const auto pick = chapters::daily_drill(bundled_drills(), now_s - days_ago * day_s);
    chapters::add_record(
        history, {pick.drill->id, static_cast<std::int64_t>(pick.seed), 1, right, 20, now_s - days_ago * day_s});
  };
  const chapters::DrillWish wish{.drill = "today", .seed = 1, .now_s = now_s};
  answer(4, true);
  answer(2, true);
  answer(1, false);
  CHECK(chapters::daily_streak(history, now_s) == 2);
  CHECK_FALSE(chapters::daily_done(history, now_s));
  CHECK(chapters::choose_drill(bundled_drills(), history, wish).seed ==
        chapters::daily_drill(bundled_drills(), now_s).seed);
  answer(0, true);
  CHECK(chapters::daily_streak(history, now_s) == 3);
  CHECK(chapters::daily_done(history, now_s));
  const auto next = chapters::choose_drill(bundled_drills(), history, wish);
  REQUIRE(next.drill);
  CHECK(std::string_view(next.why) != "the question of the day");
  CHECK(chapters::daily_streak(history, now_s + 2 * day_s) == 0);  // a day was missed
  CHECK(chapters::daily_streak({}, now_s) == 0);
  CHECK(chapters::daily_drill({}, now_s).drill == nullptr);
}

TEST_CASE("the history keeps the latest answers, each within its ranges") {
  std::vector<DrillRecord> history;
  for (int i = 0; i < 2100; ++i) add_record(history, {"ridge", i, 1, true, 1, 0});
  CHECK(history.size() == chapters::max_drill_records);
  CHECK(history.back().seed == 2099);
  CHECK(history.front().seed == 100);
  add_record(history, {"ridge", 1, std::nan(""), false, -5, 1e300});
  CHECK(history.back().said == 0);
  CHECK(history.back().seconds == 0);
  CHECK(history.back().time_s == 1e11);
}

TEST_CASE(
    "interview/drills counts rounds, streaks and times of the history, and hides the answer until it is revealed") {
  support::use_bundled_catalog();
  const auto lab = chapters::make_lab_by_id("interview/drills");
  const auto rows =
      app::Json::parse(R"([{"drill":"ridge","right":true,"seconds":10},{"drill":"ridge","right":true,"seconds":30},)"
                       R"({"drill":"tiles","right":false,"seconds":50},
    {"drill":"tiles","right":true,"seconds":20},{"drill":"waves","right":true,"seconds":40}])");
  const auto out = [&](const char* key) { return lab->outputs().find(key)->number(); };
  lab->compute();
  CHECK(std::isnan(out("median_s")));  // nothing was answered yet, which is not no time
  REQUIRE(app::apply_inputs(*lab, {{"history", rows}, {"questions", 3}}).error == "");
  lab->compute();
  CHECK(out("answered") == 5);
  CHECK(out("question_of_round") == 3);
  CHECK(out("right_in_round") == 2);
  CHECK(out("best_streak") == 2);
  CHECK(out("median_s") == 30);
  CHECK(out("limit_s") == 120);
  CHECK(std::isnan(out("answer")));  // not revealed, which is not the answer 0
  CHECK(lab->outputs().find("weakest")->text() == "Tiles and waves");
  REQUIRE(app::apply_inputs(*lab, {{"history", app::Json::array()}, {"drill", "kv-batch"}, {"reveal", true}}).error ==
          "");
  lab->compute();
  CHECK(out("answer") == 85899345920.0);
}

TEST_CASE("interview/readiness: what the answers support, per topic and in all, and how far the goal is") {
  support::use_bundled_catalog();
  const auto lab = chapters::make_lab_by_id("interview/readiness");
  app::Json rows = app::Json::array();
  for (int i = 0; i < 40; ++i) rows.push_back({{"drill", i < 30 ? "ridge" : "tiles"}, {"seed", i}, {"right", i < 30}});
  REQUIRE(app::apply_inputs(*lab, {{"history", rows}, {"topic", "roofline"}, {"plan_questions", 0}}).error == "");
  lab->compute();
  const auto out = [&](const char* key) { return lab->outputs().find(key)->number(); };
  CHECK(out("asked") == 30);
  CHECK(out("success_percent") == 100);
  CHECK(out("ready_percent") == Approx(100 * models::wilson_lower(30, 30)));
  CHECK(out("plan_ready_percent") == Approx(out("ready_percent")));
  CHECK(out("needed_questions") == 0);  // 88.6 % is past 80 %
  CHECK(out("topics_ready") == 1);
  REQUIRE(app::apply_inputs(*lab, {{"topic", "weak"}}).error == "");
  lab->compute();
  CHECK(out("asked") == 40);
  CHECK(out("right") == 30);
  CHECK(out("ready_percent") == Approx(100 * models::wilson_lower(30, 40)));
  CHECK(out("needed_questions") > 0);
  CHECK(out("level_reached") == 2);  // "ridge" is one step
}

TEST_CASE("drills and readiness agree on the weakest topic, which one answer does not make") {
  support::use_bundled_catalog();
  const auto drills = chapters::make_lab_by_id("interview/drills"),
             readiness = chapters::make_lab_by_id("interview/readiness");
  const auto weakest_of = [](chapters::Lab& lab, const app::Json& rows) {
    REQUIRE(app::apply_inputs(lab, {{"history", rows}}).error == "");
    lab.compute();
    return lab.outputs().find("weakest")->text();
  };
  app::Json rows = app::Json::array({{{"drill", "ridge"}, {"right", true}}});
  CHECK(weakest_of(*drills, rows) == "not known yet");
  CHECK(weakest_of(*readiness, rows) == "not known yet");
  CHECK(drills->answer().starts_with("Your one answer was right and in time.\n"));
  for (int i = 0; i < 8; ++i) rows.push_back({{"drill", i % 2 == 0 ? "ridge" : "tiles"}, {"right", i % 2 == 0}});
  CHECK(weakest_of(*drills, rows) == "Tiles and waves");
  CHECK(weakest_of(*readiness, rows) == "Tiles and waves");
  const auto plan_of = [](int questions) {
    const auto plan = chapters::make_lab_by_id("interview/readiness");
    REQUIRE(app::apply_inputs(*plan, {{"plan_questions", questions}}).error == "");
    plan->compute();
    return std::string(plan->answer());
  };
  CHECK(plan_of(1).starts_with("Nothing is shown yet; `1` answer, `90 %` right, would show at least "));
  CHECK(plan_of(0).starts_with("Nothing is shown yet: you have answered no question, and none is planned."));
  CHECK(drills->answer().starts_with("`5` of your `9` answers were right and in time.\n"));
  CHECK(readiness->answer().starts_with("Your `9` answers show that you know at least "));
}

TEST_CASE("readiness lists as many kinds of question as are due, the longest overdue first") {
  support::use_bundled_catalog();
  constexpr double now_s = 1.9e9, day_s = 86400;
  const std::vector<DrillRecord> history{{"ridge", 1, 1, true, 9, now_s - 3 * day_s},
                                         {"tiles", 1, 1, false, 9, now_s - 5 * day_s},
                                         {"waves", 1, 1, true, 9, now_s - 0.5 * day_s}};
  const auto due = chapters::interview::readiness::due_list({.history = history, .now_s = now_s}, 0);
  REQUIRE(due.size() == static_cast<std::size_t>(chapters::due_count(history, now_s)));
  REQUIRE(due.size() == 2);
  CHECK(due[0].link == "interview/drills?drill=tiles");
  CHECK(due[1].link == "interview/drills?drill=ridge");
  CHECK(due[1].when == "since 2 days");
}

TEST_CASE("what people say: billions, signs, formulas") {
  using namespace chapters::interview;
  CHECK(spoken("Llama has 12.88 G parameters, 2 M tokens") == "Llama has 12.88 billion parameters, 2 million tokens");
  CHECK(spoken("2 n^3 / (3 n^2 x bytes)") == "2 n\xC2\xB3 / (3 n\xC2\xB2 \xC3\x97 bytes)");
  CHECK(typed_prefixes("12.9 billion parameters") == "12.9 G parameters");
  CHECK(formula_of("2 x layers x KV heads") == "2 \\times \\text{layers} \\times \\text{KV heads} ");
  CHECK(formula_of("2 n^3 / (3 n^2 x bytes)").find("^{3}") != std::string::npos);
  CHECK(formula_of("Little's law: bandwidth times latency").empty());
}

TEST_CASE("interview/readiness: the first answer to each prediction counts, whatever the order of the rows") {
  support::use_bundled_catalog();
  const auto lab = chapters::make_lab_by_id("interview/readiness");
  const auto row = [](const char* where, const char* question, bool close, double time_s) {
    return app::Json{{"lab", where}, {"question", question}, {"close", close}, {"time_s", time_s}};
  };
  const app::Json rows = {row("roofline/iron-law", "a", true, 30), row("roofline/iron-law", "a", false, 10),
                          row("roofline/hierarchy", "a", true, 20), row("roofline/hierarchy", "b", true, 5),
                          row("driving/jitter", "c", true, 40)};
  REQUIRE(app::apply_inputs(*lab, {{"predictions", rows}}).error == "");
  lab->compute();
  const auto out = [&](const char* key) { return lab->outputs().find(key)->number(); };
  CHECK(out("predicted") == 4);        // iron-law/a was asked twice
  CHECK(out("predicted_close") == 3);  // and off at first, by the clock
  CHECK(out("predictions_ready_percent") == Approx(100 * models::wilson_lower(3, 4)));
  CHECK(out("asked") == 0);  // the drills' figures are their own
}
