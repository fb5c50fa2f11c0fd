#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <sstream>

#include "app/content/load_drills.h"
#include "tests/support/base/data_home.h"
#include "tests/support/lab/cli_run.h"

namespace {

/// The terminal with a person's folders of this test's own.
struct Terminal : support::DataHome {
  static support::Ran run(const std::vector<std::string>& options, const std::string& typed) {
    std::vector<std::string> arguments{"drill"};
    for (const auto& option : options) arguments.push_back(option);
    return support::run_cli(arguments, typed);
  }
};
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("drill asks, grades what is typed and shows the worked solution") {
  const Terminal t;
  const auto first = t.run({"--seed", "0", "--topic", "decode", "--count", "1"}, "141 GB\n");
  INFO(first.out);
  CHECK(first.status == 0);
  CHECK(first.error == "");
  CHECK(has(first.out, "1 of 1"));
  CHECK(has(first.out, "Llama 3 70B"));  // the source's own numbers come first
  CHECK(has(first.out, "right: "));
  CHECK(has(first.out, "1 of 1 right"));
  const auto wrong = t.run({"--seed", "0", "--topic", "decode", "--count", "1"}, "3 ms\n1 GB\n");
  CHECK(has(wrong.out, "\"ms\""));
  CHECK(has(wrong.out, "wrong: "));
  CHECK(has(wrong.out, "0 of 1 right"));
}

TEST_CASE("an answer that is near says so and counts half") {
  const Terminal t;
  const auto near = t.run({"--seed", "0", "--topic", "decode", "--count", "1"}, "155 GB\n");
  INFO(near.out);
  CHECK(has(near.out, "near: 141.1 GB, and you said 155 GB: 9.8 % off, fine on a whiteboard, counts half."));
  CHECK(has(near.out, "0 of 1 right and 1 near, which counts half."));
  CHECK(has(t.folder.read("ridgeline/kept.json"), "\"near\": true"));
}

TEST_CASE("a template's ask_alone and red_herrings are checked when they are read") {
  const auto error_of = [](const std::string& more) {
    std::vector<std::string> errors;
    app::parse_drills(R"({"topic": {"id": "t", "label": "T"}, "drills": [{"id": "a", "title": "A", "lab": "l", )"
                      R"("output": "o", "ask": "?", "level": 1, "steps": ["{answer}"], )" +
                          more + "}]}",
                      "mine.json", errors);
    return errors.empty() ? std::string() : errors.front();
  };
  CHECK(error_of(R"("follows": "b", "ask_alone": "?")").empty());
  CHECK(has(error_of(R"("ask_alone": "?")"), "ask_alone is for a drill that follows another"));
  CHECK(has(error_of(R"("red_herrings": ["chip"])"), "red_herrings names \"chip\", which is no key of vary"));
}

TEST_CASE("the same seed asks the same round whatever was answered before, and answers are kept") {
  const Terminal t;
  const auto ask = [&](const char* seed) { return t.run({"--seed", seed, "--count", "5"}, "\n\n\n\n\n").out; };
  const auto once = ask("7");
  CHECK(once == ask("7"));
  CHECK(once != ask("8"));
  CHECK(has(t.folder.read("ridgeline/kept.json"), "drill.history"));
}

TEST_CASE("drill says what its clock allows, and asks the question of the day once a day, the same of everybody") {
  CHECK(has(Terminal().run({"--seed", "1", "--count", "1", "--clock", "60"}, "\n").out, ", within 60 seconds]"));
  CHECK(has(Terminal().run({"--seed", "1", "--count", "1", "--clock", "120"}, "\n").out, ", within 120 seconds]"));
  CHECK_FALSE(has(Terminal().run({"--seed", "1", "--count", "1"}, "\n").out, ", within"));
  std::string first;
  for (int learner = 0; learner < 2; ++learner) {
    const Terminal t;
    const auto asked = t.run({"--today"}, "\n");
    CHECK(asked.status == 0);
    CHECK(has(asked.out, "1 of 1"));
    CHECK(has(asked.out, "the question of the day"));
    CHECK(has(asked.out, "0 of 1 right, 1 day in a row."));
    if (learner == 0) first = asked.out;
    CHECK(asked.out == first);
    const auto again = t.run({"--today"}, "\n");
    CHECK(again.out == "Today's question is answered, 1 day in a row. The next one comes at midnight UTC.\n");
  }
}

TEST_CASE("drill ends well when nothing more is typed") {
  const Terminal t;
  for (const char* typed : {"", "quit\n", "1 GB"}) {
    const auto r = t.run({"--count", "3"}, typed);
    CHECK(r.status == 0);
    CHECK(has(r.out, " right."));
  }
}

TEST_CASE("drill refuses bad options in one sentence") {
  const Terminal t;
  const auto refused = [&](const std::vector<std::string>& options) {
    const auto r = t.run(options, "");
    CHECK(r.status == 2);
    CHECK(r.out == "");
    CHECK(std::count(r.error.begin(), r.error.end(), '\n') == 1);
    return r.error;
  };
  CHECK(has(refused({"--topic", "roofine"}), "did you mean \"roofline\"?"));
  CHECK(has(refused({"--seed", "many"}), "--seed is \"many\""));
  CHECK(has(refused({"--count", "0"}), "from 1 to 1,000"));
  CHECK(refused({"--level", "7"}) ==
        "--level is \"7\": a whole number from 1 to 6 is expected, or 0 to follow your answers.\n");
  CHECK(has(refused({"--topic", "nothing"}), "There is no topic \"nothing\". Topics are "));
  CHECK(has(refused({"--tpoic", "x"}), "--tpoic"));
  CHECK(
      has(refused({"--clock", "90"}), "--clock is \"90\": 120 (two minutes), 60 (sixty seconds) or none is expected."));
  CHECK(has(refused({"--today", "--topic", "decode"}), "--today asks one question"));
}

TEST_CASE("a broken drill is named with what is allowed, and the others are taken") {
  const auto parse = [](const std::string& drills, std::vector<std::string>& errors) {
    return app::parse_drills(R"({"topic": {"id": "t", "label": "T"}, "drills": [)" + drills + "]}", "mine.json",
                             errors);
  };
  const std::string good =
      R"({"id": "a", "title": "A", "level": 2, "lab": "l", "output": "o", "ask": "?", "steps": ["s"], )"
      R"("vary": [{"key": "k", "lo": 1, "hi": 2}]})";
  std::vector<std::string> errors;
  CHECK(parse(good, errors).size() == 1);
  CHECK(errors.empty());
  const auto error_of = [&](std::string from, const std::string& to) {
    std::string one = good;
    one.replace(one.find(from), from.size(), to);
    std::vector<std::string> said;
    CHECK(parse(one + "," + good, said).size() == 1);
    REQUIRE(said.size() == 1);
    return said[0];
  };
  CHECK(error_of("\"level\": 2", "\"level\": 7") == "mine.json: drill 1 (a): level must be a number from 1 to 6.");
  CHECK(has(error_of("\"ask\": \"?\"", "\"ask\": 3"), "ask must be a text"));
  CHECK(has(error_of("\"output\": \"o\", ", ""), "\"output\" is missing"));
  CHECK(has(error_of("\"hi\": 2", "\"hi\": 0"), "lo of k must be below hi"));
  CHECK(has(error_of("\"hi\": 2", "\"hi\": 2, \"scale\": \"cubic\""), "linear, log, step or power_of_two"));
  CHECK(has(error_of("[\"s\"]", "[]"), "steps"));
  for (const char* bad :
       {"", "[]", "{\"topic\": 1}", "{", "{\"topic\": {\"id\": \"t\", \"label\": \"T\"}, \"drills\": {}}"}) {
    std::vector<std::string> said;
    CHECK(app::parse_drills(bad, "mine.json", said).empty());
    CHECK(said.size() == 1);
  }
}
