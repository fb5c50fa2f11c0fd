// The open questions that come with the program, and what is said of a file that is wrong.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "app/content/load_recall.h"
#include "app/platform/file.h"
#include "app/platform/json.h"
#include "chapters/mechanism/registry.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

TEST_CASE("two hundred open questions and more, from every chapter that teaches, each with a lab that opens") {
  support::use_bundled_catalog();
  const auto& deck = chapters::recall_deck();
  CHECK(deck.cards.size() >= 200);
  std::set<std::string> ids, questions, topics, links;
  for (const auto& c : deck.cards) {
    INFO(c.id);
    CHECK(ids.insert(c.id).second);
    CHECK(questions.insert(c.question).second);
    CHECK(c.points.size() >= chapters::min_recall_points);
    CHECK(c.points.size() <= chapters::max_recall_points);
    for (const auto& point : c.points) CHECK(point.back() == '.');
    topics.insert(c.topic);
    links.insert(c.lab);
  }
  for (const auto& chapter : chapters::all_chapters())
    if (chapter.slug != "interview" && chapter.slug != "gallery" && chapter.slug != "capstone") {
      INFO(chapter.slug);
      CHECK(topics.contains(std::string(chapter.slug)));
    }
  for (const auto& link : links) {
    INFO(link);
    CHECK(support::open_link(link));
  }
}

TEST_CASE("all seventy questions of the playbook and every self-check of the performance chapter are among them") {
  std::set<std::string> covered;
  for (const auto& chapter : chapters::all_chapters()) {
    const auto path = support::source_file("assets/recall/" + std::string(chapter.slug) + ".json");
    const auto text = app::read_text_file(path);
    if (!text) continue;
    const auto doc = app::parse_json(*text);
    REQUIRE(doc);
    for (const auto& card : (*doc)["cards"])
      if (const auto at = card.find("covers"); at != card.end())
        for (const auto& what : *at) covered.insert(what.get<std::string>());
  }
  for (int i = 1; i <= 70; ++i) {
    INFO(i);
    CHECK(covered.contains("S2-" + std::to_string(i)));
  }
  constexpr int self_checks[] = {5, 5, 5, 5, 4, 5, 3, 5, 3};
  for (int section = 1; section <= 9; ++section)
    for (int i = 1; i <= self_checks[section - 1]; ++i) {
      const std::string name = "S4-" + std::to_string(section) + "." + std::to_string(i);
      INFO(name);
      CHECK(covered.contains(name));
    }
  CHECK(covered.contains("S4-10"));
}

TEST_CASE("a card that is wrong is left out and named, with what is wrong") {
  const auto read = [](const std::string& cards) {
    std::vector<std::string> errors;
    const auto taken =
        app::parse_recall(R"({"topic": {"id": "own", "label": "Own"}, "cards": [)" + cards + "]}", "own.json", errors);
    return std::pair(taken.size(), errors.empty() ? std::string() : errors.front());
  };
  const std::string good =
      R"({"id": "a", "level": 1, "question": "Why?", "points": ["A.", "B.", "C."], "lab": "roofline/roofline"})";
  CHECK(read(good) == std::pair<std::size_t, std::string>(1, ""));
  CHECK(read(good + "," + good) ==
        std::pair<std::size_t, std::string>(1, "own.json: card 2 (a): another card has the same id."));
  CHECK(read(R"({"id": "a", "level": 1, "question": "Why?", "points": ["A.", "B."], "lab": "x"})").second ==
        "own.json: card 1 (a): there are 2 points: 3 to 6 are allowed.");
  CHECK(read(R"({"id": "a", "level": 4, "question": "Why?", "points": ["A.", "B.", "C."], "lab": "x"})").second ==
        "own.json: card 1 (a): level must be 1, 2 or 3.");
  CHECK(read(R"({"id": "a", "level": 1, "question": "Say why.", "points": ["A.", "B.", "C."], "lab": "x"})").second ==
        "own.json: card 1 (a): question must end with a question mark.");
  CHECK(read(R"({"id": "a", "level": 1, "question": "Why `x`?", "points": ["A.", "B.", "C."], "lab": "x"})").second ==
        "own.json: card 1 (a): question must be plain text on one line, without backticks.");
  CHECK(read("7").second == "own.json: card 1 must be an object.");
  std::vector<std::string> errors;
  CHECK(app::parse_recall("[]", "own.json", errors).empty());
  CHECK(errors.front() == "own.json: this is not a JSON object: {\"topic\": {...}, \"cards\": [...]} is expected.");
}
