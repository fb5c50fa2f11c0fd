#include "app/content/chapter_test.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "app/content/questions.h"
#include "app/explore/explore.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/registry.h"
#include "models/base/counter_random.h"
#include "widgets/number/number.h"

namespace app {
namespace {

using chapters::Drill;
using chapters::DrillWords;

bool is_of(std::string_view lab, std::string_view chapter) {
  return lab.size() > chapter.size() && lab.starts_with(chapter) && lab[chapter.size()] == '/';
}

bool stands_alone(const Drill& d) { return d.follows.empty() || !d.ask_alone.empty(); }

std::uint64_t seed_of(std::string_view chapter, std::int64_t day) {
  std::uint64_t seed = static_cast<std::uint64_t>(day);
  for (const char c : chapter) seed = models::counter_hash(seed, static_cast<unsigned char>(c));
  return seed;
}

template <class T>
void shuffle(std::vector<T>& list, std::uint64_t seed) {
  for (std::size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1], list[static_cast<std::size_t>(models::counter_hash(seed, i) % i)]);
}

/// Takes one of each lab in turn, so that no lab fills the list.
template <class T, class LabOf>
std::vector<T> lab_by_lab(const std::vector<T>& list, const LabOf& lab_of) {
  std::vector<T> out;
  std::vector<char> taken(list.size(), 0);
  while (out.size() < list.size()) {
    std::set<std::string_view> labs;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (!taken[i] && labs.insert(lab_of(list[i])).second) {
        taken[i] = 1;
        out.push_back(list[i]);
      }
  }
  return out;
}

std::string shown(double value, const chapters::DrillQuestion& q) {
  return widgets::format_text(value, q.unit, 4, q.binary ? widgets::Prefix::binary : widgets::Prefix::si);
}

/// Deals the items of one test.
struct Dealer {
  ChapterTest& test;
  std::uint64_t seed;
  chapters::Progress& progress;
  std::set<std::string> texts{};  ///< what was asked already

  bool full(std::size_t most) const { return test.items.size() >= most || progress.cancelled; }
  void add(TestItem item) {
    if (texts.insert(item.text).second) test.items.push_back(std::move(item));
    progress.fraction = static_cast<double>(test.items.size()) / static_cast<double>(test_items);
  }

  void add_question(const std::string& lab_id, const Prediction& q) {
    const auto lab = asked_lab(q, lab_id);
    const chapters::Field* output = lab ? lab->outputs().find(q.output) : nullptr;
    if (!output) return;
    lab->compute_facts();
    const double computed = reading(*lab, q.output);
    if (!std::isfinite(computed)) return;
    TestItem item{.lab = lab_id, .text = q.question, .choices = choices_of(q, *output), .why = explained(q, *lab)};
    if (kind_of(q, *output) == QuestionKind::choice) {
      item.right = right_choice(q, computed);
    } else {
      item.choices.clear();
      const auto& made = test.made.emplace_back(std::make_shared<const Drill>(
          Drill{.id = q.id, .lab = lab_id, .output = q.output, .tolerance = q.tolerance}));
      item.number.drill = made.get();
      item.number.answer = computed;
      item.number.unit = output->spec.unit;
      item.number.binary = output->spec.binary;
      item.number.unit_label = output->spec.unit.empty()  ? std::string("a plain number")
                               : output->spec.unit == "%" ? std::string("in %")
                                                          : "in " + std::string(output->spec.unit) + " with any prefix";
    }
    add(std::move(item));
  }

  void add_questions() {
    auto questions = test.pool.questions;
    shuffle(questions, seed);
    questions = lab_by_lab(questions, [](const auto& q) -> std::string_view { return q.first; });
    for (const auto& [lab, question] : questions)
      if (!full(max_predictions_in_test)) add_question(lab, question);
  }

  void add_drills() {
    std::vector<const Drill*> drills;
    for (const Drill& d : *test.pool.drills)
      if (is_of(d.lab, test.pool.chapter) && stands_alone(d)) drills.push_back(&d);
    shuffle(drills, models::counter_hash(seed, 1));
    drills = lab_by_lab(drills, [](const Drill* d) -> std::string_view { return d->lab; });
    chapters::DrillLabs labs;
    constexpr std::uint64_t max_turns = 8;  // templates come again with other numbers where there are few
    for (std::uint64_t turn = 0; turn < max_turns; ++turn)
      for (std::size_t i = 0; i < drills.size() && !full(test_items); ++i) {
        const std::uint64_t numbers = models::counter_hash(seed, 100 * (turn + 1) + i) % 1'000'000 + 1;
        auto made = chapters::make_question(*drills[i], *test.pool.drills, numbers, labs, DrillWords::alone);
        if (!made) continue;
        TestItem item{.lab = drills[i]->lab, .text = made->text};
        for (const std::string& step : made->steps) item.why += (item.why.empty() ? "" : "\n") + step;
        item.number = std::move(*made);
        add(std::move(item));
      }
  }
};

}  // namespace

TestPool pool_of(const Content& content, std::string_view chapter) {
  TestPool pool{std::string(chapter), {}, std::make_shared<const std::vector<Drill>>(chapters::catalog().drills)};
  for (const auto& entry : chapters::all_labs()) {
    if (!is_of(entry.id, chapter)) continue;
    for (const Prediction& q : content.of(entry.id).predictions)
      if (!q.curve) pool.questions.emplace_back(std::string(entry.id), q);
  }
  return pool;
}

bool has_test(std::string_view chapter) {
  const auto& drills = chapters::catalog().drills;
  return std::any_of(drills.begin(), drills.end(),
                     [&](const Drill& d) { return is_of(d.lab, chapter) && stands_alone(d); });
}

models::Result<ChapterTest> deal_test(TestPool pool, std::int64_t day, chapters::Progress& progress) {
  using Dealt = models::Result<ChapterTest>;
  ChapterTest test{.pool = std::move(pool)};
  Dealer dealer{test, seed_of(test.pool.chapter, day), progress};
  dealer.add_questions();
  dealer.add_drills();
  if (test.items.size() < test_items)
    return Dealt::fail("The labs of this chapter have too few questions for a test of ten.");
  shuffle(test.items, models::counter_hash(dealer.seed, 2));
  return Dealt::ok(std::move(test));
}

TestMark mark_choice(const TestItem& item, std::size_t chosen) {
  const bool right = chosen == item.right;
  const std::string said = chosen < item.choices.size() ? item.choices[chosen] : std::string();
  return {right, false, item.choices[item.right] + (right ? ", as you said." : ", and you said " + said + ".")};
}

models::Result<TestMark> mark_number(const TestItem& item, std::string_view said) {
  using Marked = models::Result<TestMark>;
  chapters::DrillMark mark = chapters::grade(item.number, said, 0, 0);
  if (!mark.read) return Marked::fail(std::move(mark.verdict));
  return Marked::ok({mark.right, mark.near, std::move(mark.verdict)});
}

TestMark mark_nothing(const TestItem& item) {
  const std::string answer = item.choices.empty() ? shown(item.number.answer, item.number) : item.choices[item.right];
  return {false, false, answer + "; you gave no answer."};
}

}  // namespace app
