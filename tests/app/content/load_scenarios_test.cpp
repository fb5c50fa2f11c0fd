#include "app/content/load_scenarios.h"

#include <catch2/catch_test_macros.hpp>

namespace {

/// What is said of a text, and how much of it is taken.
struct Said {
  chapters::ScenarioDeck deck;
  std::vector<std::string> errors;
  explicit Said(std::string_view text) { app::parse_scenarios(text, "mine.json", deck, errors); }
};

constexpr std::string_view tree = R"({"branching": [{"id": "a", "topic": "serving", "lab": "serving/slo", "title": "A",
  "symptom": "S.", "causes": [{"id": "x", "name": "X", "fix": "F"}, {"id": "y", "name": "Y", "fix": "F"},
  {"id": "z", "name": "Z", "fix": "F"}], "checks": [{"name": "C", "minutes": 2, "shows": [{"says": "1",
  "causes": ["x"]}, {"says": "2", "causes": ["y", "z"]}]}, {"name": "D", "minutes": 3, "shows": [{"says": "1",
  "causes": [LAST]}, {"says": "2", "causes": ["y", "x"]}]}]}]})";

std::string with_last(std::string_view ids) {
  std::string text(tree);
  return text.replace(text.find("LAST"), 4, ids);
}

}  // namespace

TEST_CASE("a file of scenarios: each fault is one sentence that says where, and what is good is taken") {
  CHECK(Said("[]").errors.front() == "mine.json: this is not a JSON object with lists of scenarios.");
  CHECK(Said(R"({"symptoms": 7})").errors.front() == "mine.json: \"symptoms\" must be a list.");
  CHECK(Said(R"({"symptoms": [{"id": "a", "topic": "nowhere"}]})").errors.front() ==
        "mine.json, symptoms 1: topic is \"nowhere\", which is no chapter.");
  const Said good(with_last("\"z\""));
  CHECK(good.errors.empty());
  CHECK(good.deck.branching.size() == 1);
  CHECK(Said(with_last("\"z\", \"z\"")).errors.front() ==
        "mine.json, branching 1: the check \"D\" must name every cause in exactly one outcome.");
  const Said both(R"({"pitches": [{"id": "p", "topic": "role", "lab": "role/scaling", "title": "P", "ask": "Q?",
    "points": [{"head": "A", "say": "a", "seconds": 10}, {"head": "B", "say": "b", "seconds": 10},
    {"head": "C", "say": "c", "seconds": 1000}]}]})");
  CHECK(both.errors.front() == "mine.json, pitches 1: in points: seconds must be from 2 to 300.");
  CHECK(both.deck.pitches.empty());
}

TEST_CASE("a figure of a design may be of many, or count how many hold a number; neither goes below nothing") {
  const auto design = [](std::string_view more) {
    const std::string point = R"({"head": "A", "say": "a {f}"})";
    return Said(R"({"designs": [{"id": "d", "topic": "training", "title": "D", "ask": "Q?", "figures": [{"id": "f",
      "label": "F", "lab": "training/data-loader", "output": "asked_bytes_per_s", "set": {})" +
                std::string(more) + R"(}], "points": [)" + point + "," + point + "," + point + "," + point + "]}]}");
  };
  const Said plain = design(""), many = design(R"(, "times": 512)"), whole = design(R"(, "to_hold": 1000)");
  REQUIRE(plain.deck.designs.size() == 1);
  CHECK(plain.deck.designs[0].figures[0].times == 1);
  CHECK(plain.deck.designs[0].figures[0].to_hold == 0);
  REQUIRE(many.deck.designs.size() == 1);
  CHECK(many.deck.designs[0].figures[0].times == 512);
  REQUIRE(whole.deck.designs.size() == 1);
  CHECK(whole.deck.designs[0].figures[0].to_hold == 1000);
  CHECK(design(R"(, "times": 0)").errors.front() ==
        "mine.json, designs 1: in figures: times must be from 1e-12 to 1e+12.");
}

TEST_CASE("checks that cannot part two causes are refused") {
  std::string text(with_last("\"z\""));
  const auto second = text.find(R"(, {"name": "D")");
  text = text.substr(0, second) + R"(, {"name": "D", "minutes": 3, "shows": [{"says": "1", "causes": ["x"]},
    {"says": "2", "causes": ["y", "z"]}]}]}]})";
  CHECK(Said(text).errors.front() == "mine.json, branching 1: its checks do not part all causes: add one that does.");
}
