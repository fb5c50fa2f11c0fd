#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <set>

#include "app/content/content.h"
#include "app/scenario/scenario.h"
#include "chapters/mechanism/registry.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_walk.h"

// What is said of all labs together: names that must be unique and files that must belong to something. What is said of
// one lab is for the generic tests.

using namespace support;

TEST_CASE("the roofline chapter has its five labs in teaching order") {
  use_bundled_catalog();
  std::vector<std::string> ids;
  for (const auto& chapter : chapters::all_chapters())
    if (chapter.slug == "roofline")
      for (const auto& entry : chapter.labs) ids.emplace_back(entry.id);
  CHECK(ids == std::vector<std::string>{"roofline/hierarchy", "roofline/roofline", "roofline/transformer-layer",
                                        "roofline/iron-law", "roofline/tiling-waves"});
}

TEST_CASE("all content loads without a complaint, and every file belongs to a lab that exists") {
  const app::Content& content = bundled_content();
  for (const auto& error : content.errors) UNSCOPED_INFO(error);
  CHECK(content.errors.empty());
  const std::filesystem::path labs = source_file("assets/labs");
  for (const auto& file : std::filesystem::recursive_directory_iterator(labs)) {
    if (!file.is_regular_file()) continue;
    auto id = std::filesystem::relative(file.path(), labs);
    INFO(id);
    CHECK(chapters::make_lab_by_id(id.replace_extension("").generic_string()) != nullptr);
  }
}

TEST_CASE(
    "every claim has a name of its own, a source, a statement and a reason; every chapter claims something wrong") {
  std::set<std::string> ids, chapters_claiming, chapters_wrong;
  for (const auto& claim : bundled_content().claims) {
    INFO(claim.id);
    CHECK(ids.insert(claim.id).second);
    CHECK(chapters::make_lab_by_id(claim.lab) != nullptr);
    CHECK_FALSE(claim.source.empty());
    CHECK(is_sentence(claim.statement));
    CHECK_FALSE(claim.why.empty());
    CHECK((claim.tolerance >= 0 && claim.tolerance <= 0.5));
    chapters_claiming.insert(chapter_of(claim.lab));
    if (claim.verdict == app::Verdict::wrong) chapters_wrong.insert(chapter_of(claim.lab));
  }
  CHECK(chapters_wrong == chapters_claiming);
}

TEST_CASE("every question to predict has an id of its own, by which progress remembers it") {
  std::set<std::string> ids;
  for (const auto& [lab, content] : bundled_content().labs)
    for (const auto& question : content.predictions) {
      INFO(lab << " " << question.id);
      CHECK(ids.insert(question.id).second);
    }
}

TEST_CASE("every lesson has an id of its own and three steps or more, and is read back as it was written") {
  std::set<std::string> ids;
  for (const auto& lesson : bundled_content().lessons) {
    INFO(lesson.title);
    CHECK(ids.insert(lesson.id).second);
    CHECK(lesson.steps.size() >= 3);
    for (const auto& step : lesson.steps) CHECK(chapters::make_lab_by_id(step.lab) != nullptr);
    const auto back = app::parse_lesson(app::lesson_to_text(lesson), lesson.id);
    INFO(back.error);
    REQUIRE(back);
    CHECK(back->steps.size() == lesson.steps.size());
  }
}

TEST_CASE("the words that a beginner needs first are in the glossary") {
  const app::Content& content = bundled_content();
  for (const char* word : {"kernel",
                           "token",
                           "batch",
                           "gradient",
                           "forward pass",
                           "backward pass",
                           "rank",
                           "node",
                           "replica",
                           "host",
                           "launch",
                           "GEMM",
                           "FLOP",
                           "octave",
                           "mantissa",
                           "logits",
                           "softmax",
                           "attention",
                           "embedding",
                           "NCCL",
                           "collective",
                           "throughput",
                           "SLO",
                           "FP32",
                           "INT8",
                           "data parallelism",
                           "pipeline parallelism",
                           "expert parallelism"}) {
    INFO(word);
    CHECK(std::any_of(content.glossary.begin(), content.glossary.end(), [&](const auto& t) { return t.term == word; }));
  }
}

TEST_CASE("every term of the glossary is explained once, and leads to a lab that exists") {
  const app::Content& content = bundled_content();
  CHECK(content.glossary.size() >= 290);
  std::set<std::string> terms;
  for (const auto& term : content.glossary) {
    INFO(term.term);
    CHECK(terms.insert(term.term).second);
    for (const auto& other : term.also) CHECK(terms.insert(other).second);
    CHECK(is_sentence(term.meaning));
    CHECK(term.meaning.size() <= 180);
    CHECK((term.lab.empty() || chapters::make_lab_by_id(term.lab)));
  }
}
