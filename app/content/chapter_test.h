#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/content/content.h"
#include "chapters/practice/drill.h"

/// A chapter's test: ten mixed questions of its labs, questions to predict and drills, with the numbers of a day.
namespace app {

/// What a test is made of, so that a job can make it: copies, which nobody changes meanwhile.
struct TestPool {
  std::string chapter;                                         ///< its slug
  std::vector<std::pair<std::string, Prediction>> questions;   ///< lab and question; none is a curve to draw
  std::shared_ptr<const std::vector<chapters::Drill>> drills;  ///< every template, since one may follow another
};

struct TestItem {
  std::string lab, text;
  std::vector<std::string> choices;  ///< to choose from; empty: a number is typed
  std::size_t right = 0;             ///< which of them is right
  chapters::DrillQuestion number;    ///< the answer with its unit and what counts, where one is typed
  std::string why;                   ///< said at the end
};

struct ChapterTest {
  TestPool pool;                                             ///< holds what the items point to
  std::vector<std::shared_ptr<const chapters::Drill>> made;  ///< templates of the questions to predict, likewise
  std::vector<TestItem> items;
};

inline constexpr std::size_t test_items = 10, max_predictions_in_test = 4;

TestPool pool_of(const Content& content, std::string_view chapter);
/// A chapter whose labs have no drills has no test: its questions have numbers that do not change.
bool has_test(std::string_view chapter);

/// The test of a day (days since 1970): the same whenever it is dealt on that day, and with other numbers on the next.
/// Fails where fewer than ten different questions can be made. Computes labs, which may take seconds.
models::Result<ChapterTest> deal_test(TestPool pool, std::int64_t day, chapters::Progress& progress);

struct TestMark {
  bool right = false, near = false;
  std::string verdict;  ///< "10 GB, and you said 12 GB."
};
/// What was chosen.
TestMark mark_choice(const TestItem& item, std::size_t chosen);
/// What was typed. Fails where it is no number, or has another unit: that is no answer yet.
models::Result<TestMark> mark_number(const TestItem& item, std::string_view said);
/// Nothing was said: wrong.
TestMark mark_nothing(const TestItem& item);

}  // namespace app
