#include "app/content/chapter_test.h"

#include <catch2/catch_test_macros.hpp>
#include <set>

#include "chapters/mechanism/registry.h"
#include "tests/support/base/effort.h"
#include "tests/support/lab/catalog.h"
#include "widgets/base/parts.h"

namespace {

models::Result<app::ChapterTest> dealt(std::string_view chapter, std::int64_t day) {
  support::use_bundled_catalog();
  chapters::Progress progress;
  return app::deal_test(app::pool_of(support::bundled_content(), chapter), day, progress);
}

std::vector<std::string> texts(const app::ChapterTest& test) {
  std::vector<std::string> out;
  for (const app::TestItem& item : test.items) out.push_back(item.text);
  return out;
}

}  // namespace

TEST_CASE("a chapter's test has ten different questions of its labs, both kinds, each with an answer that is right") {
  const auto test = dealt("roofline", 20000);
  INFO(test.error);
  REQUIRE(test);
  REQUIRE(test->items.size() == 10);
  std::set<std::string> seen, labs;
  std::size_t predictions = 0;
  for (const app::TestItem& item : test->items) {
    INFO(item.text);
    CHECK(seen.insert(item.text).second);
    CHECK(item.lab.starts_with("roofline/"));
    labs.insert(item.lab);
    CHECK_FALSE(item.why.empty());
    CHECK_FALSE(app::mark_nothing(item).right);
    predictions += item.number.text.empty();  // those of drills have their words there too
    if (!item.choices.empty()) {
      CHECK(item.right < item.choices.size());
      CHECK(app::mark_choice(item, item.right).right);
      CHECK_FALSE(app::mark_choice(item, (item.right + 1) % item.choices.size()).right);
      continue;
    }
    const auto right = app::mark_number(item, widgets::exact(item.number.answer) + " " + std::string(item.number.unit));
    INFO(right.error);
    REQUIRE(right);
    CHECK(right->right);
    const auto wrong =
        app::mark_number(item, widgets::exact(3.3 * item.number.answer) + " " + std::string(item.number.unit));
    REQUIRE(wrong);
    CHECK_FALSE((wrong->right || wrong->near));
  }
  CHECK(labs.size() >= 4);
  CHECK(predictions >= 2);
  CHECK(predictions <= app::max_predictions_in_test);
}

TEST_CASE("a test is the same all day and has other numbers on the next") {
  const auto today = dealt("framework", 20000), again = dealt("framework", 20000), tomorrow = dealt("framework", 20001);
  REQUIRE((today && again && tomorrow));
  CHECK(texts(*today) == texts(*again));
  const auto old = texts(*today);
  std::size_t same = 0;
  for (const std::string& text : texts(*tomorrow)) same += std::find(old.begin(), old.end(), text) != old.end();
  CHECK(same <= app::max_predictions_in_test);
}

TEST_CASE("every chapter with drills can deal its ten; one without has no test and says why") {
  std::size_t dealt_before = 0;
  for (const auto& chapter : chapters::all_chapters()) {
    INFO(chapter.slug);
    if (support::sanitized() && ++dealt_before > 2) break;  // the same code deals every other
    const auto test = dealt(chapter.slug, 20123);
    if (app::has_test(chapter.slug)) {
      INFO(test.error);
      REQUIRE(test);
      CHECK(test->items.size() == app::test_items);
    } else {
      CHECK(test.error == "The labs of this chapter have too few questions for a test of ten.");
    }
  }
  CHECK(app::has_test("driving"));
  CHECK(app::has_test("interview"));
  CHECK_FALSE(app::has_test("no such"));
}

TEST_CASE("what is typed with another unit is no answer yet") {
  const auto test = dealt("role", 20000);
  REQUIRE(test);
  for (const app::TestItem& item : test->items) {
    if (!item.choices.empty()) continue;
    CHECK_FALSE(app::mark_number(item, "blue"));
    return;
  }
}
