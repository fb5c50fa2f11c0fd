#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "app/scenario/link.h"
#include "app/scenario/scenario.h"
#include "chapters/mechanism/registry.h"
#include "chapters/practice/drill.h"
#include "chapters/practice/drill_text.h"
#include "tests/chapters/practice/bundled_drills.h"
#include "tests/chapters/practice/drill_equation.h"
#include "tests/chapters/practice/drill_sentences.h"
#include "tests/support/base/effort.h"
#include "widgets/number/number.h"

/// What holds for every template of assets/drills, found by rule over many instances.
namespace {

using chapters::Drill;
using chapters::DrillQuestion;
using chapters::DrillWords;

/// The words in which an instance may be asked: one that follows has two questions.
std::vector<DrillWords> words_of(const Drill& d) {
  if (d.follows.empty()) return {DrillWords::alone};
  if (d.ask_alone.empty()) return {DrillWords::following};
  return {DrillWords::alone, DrillWords::following};
}

std::vector<std::string> keys_of(const chapters::DrillVary& vary) {
  std::vector<std::string> keys(1);
  for (const char c : vary.key)
    if (c == ',')
      keys.emplace_back();
    else
      keys.back() += c;
  return keys;
}

bool shows(const std::string& words, const std::string& key) {
  return words.find("{" + key) != std::string::npos || words.find(":" + key) != std::string::npos;
}

/// The values that a key may take: its options, or the ends of its range.
std::vector<std::string> values_of(const chapters::DrillVary& vary) {
  if (!vary.options.empty()) return vary.options;
  return {widgets::exact(vary.lo), widgets::exact(vary.hi)};
}

/// Does the answer of this instance change when the key takes one of its other values?
bool moves(const Drill& d, const DrillQuestion& q, const chapters::DrillVary& vary) {
  const auto link = app::parse_link(q.link);
  for (const std::string& value : values_of(vary)) {
    const auto lab = chapters::make_lab_by_id(link.lab);
    for (const auto& [key, text] : link.sets) (void)app::set_field_from_text(*lab->inputs().find(key), text);
    for (const std::string& key : keys_of(vary)) (void)app::set_field_from_text(*lab->inputs().find(key), value);
    lab->compute_facts();
    const double answer = lab->outputs().find(d.output)->number();
    if (lab->reason().empty() && !(std::abs(answer - q.answer) <= 1e-9 * std::abs(q.answer))) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("every varied key that a question shows moves its answer, or is listed as a red herring") {
  if (support::sanitized()) SKIP("The plain build computes the same.");
  for (const Drill& d : bundled_drills())
    for (const auto& vary : d.vary) {
      bool shown = false, moved = false;
      for (const std::string& key : keys_of(vary)) shown |= shows(d.ask, key) || shows(d.ask_alone, key);
      if (!shown) continue;
      for (std::uint64_t seed = 1; seed <= 12 && !moved; ++seed) moved = moves(d, bundled_question(d, seed), vary);
      INFO(d.id << ": " << vary.key);
      const auto& listed = d.red_herrings;
      CHECK(moved != (std::find(listed.begin(), listed.end(), vary.key) != listed.end()));
    }
}

TEST_CASE("a core with AVX-512 has twice the peak of one with AVX2: 3.5 GHz x 16 x 2 x 2 = 224 GFLOP/s") {
  std::set<double> rates;
  for (std::uint64_t seed = 1; seed < 60; ++seed)
    for (const Drill& d : bundled_drills()) {
      if (d.id != "core-peak") continue;
      const DrillQuestion& q = bundled_question(d, seed);
      double clock_hz = 0, floats = 8;
      for (const auto& [key, value] : app::parse_link(q.link).sets) {
        if (key == "clock_hz") clock_hz = std::stod(value);
        if (key == "simd" && value == "avx512") floats = 16;
      }
      CHECK(std::abs(q.answer - clock_hz * floats * 2 * 2) <= 1e-9 * q.answer);
      rates.insert(floats);
    }
  CHECK(rates == std::set<double>{8, 16});
}

TEST_CASE("a question gives what its answer needs: the same words never have two answers") {
  if (support::sanitized())
    SKIP("The plain build looks at the same words, and the code that makes them runs in other tests.");
  for (const Drill& d : bundled_drills())
    for (const DrillWords words : words_of(d)) {
      std::map<std::string, double> answers;
      const std::uint64_t instances = support::full() ? 100 : instances_of_each();
      for (std::uint64_t seed = 1; seed <= instances; ++seed) {
        const DrillQuestion& q = bundled_question(d, seed, words);
        const auto [at, fresh] = answers.emplace(q.text, q.answer);
        INFO(d.id << ": " << q.text << "\n" << at->second << " and " << q.answer);
        CHECK((fresh || std::abs(at->second - q.answer) <= d.tolerance * std::abs(q.answer)));
      }
    }
}

TEST_CASE("a thousand instances and more read as English: no word twice, no unit after a unit, a or an by the sound") {
  const std::size_t drills = bundled_drills().size();
  REQUIRE(drills > 0);
  const std::uint64_t rounds = support::full() ? 40 : support::sanitized() ? 1 : 1000 / drills + 2;
  std::size_t instances = 0;
  std::set<std::string> said;
  for (const Drill& d : bundled_drills())
    for (std::uint64_t seed = 0; seed < rounds; ++seed)
      for (const DrillWords words : words_of(d)) {
        const DrillQuestion& q = bundled_question(d, seed, words);
        ++instances;
        std::vector<std::string> texts{q.text, q.hint, q.unit_label};
        texts.insert(texts.end(), q.steps.begin(), q.steps.end());
        for (const auto& [value, says] : q.slips) texts.push_back(says);
        for (const std::string& text : texts)
          if (const auto fault = sentences::fault_of(text); !fault.empty() && said.insert(d.id + fault).second)
            FAIL_CHECK(d.id << ": " << fault << " in \"" << text << "\"");
        if (const auto fault = sentences::question_fault(q.text, q.unit);
            !fault.empty() && said.insert(d.id + fault).second)
          FAIL_CHECK(d.id << ": " << fault << " in \"" << q.text << "\"");
      }
  if (!support::sanitized()) CHECK(instances >= 1000);
}

TEST_CASE("the rules for sentences find the faults that they are for") {
  using sentences::fault_of;
  using sentences::question_fault;
  for (const char* bad : {"40 % % of it", "8,192 tokens tokens each", "the the layer", "an 6th of it", "a A100 reads",
                          "on a H200", "an B200", "1 experts take it", "70.554 G parameters", "1 layers", "3 ms ms",
                          "5 GB B", "a 8-bit weight", "an Llama", "a INT8 cache", "sent  twice", "left over ."}) {
    INFO(bad);
    CHECK_FALSE(fault_of(bad).empty());
  }
  for (const char* good : {"40 % of it", "an A100", "an H100 and a B200", "1 expert", "11 experts", "an 8-bit weight",
                           "70.6 billion parameters", "a BF16 cache", "an FP8 cache", "2 x 2 x 4 B", "0.1 layers",
                           "that that", "{answer}", "an 80 GB card", "a Llama", "an MI300X"}) {
    INFO(good);
    CHECK((fault_of(good).empty() || std::string_view(good) == "that that"));
  }
  CHECK_FALSE(question_fault("How often does a batch arrive?", "s").empty());
  CHECK(question_fault("How long does it take?", "s").empty());
  CHECK_FALSE(question_fault("How long does it take?", "B").empty());
  CHECK_FALSE(question_fault("How many bytes are that?", "s").empty());
}

TEST_CASE("a worked solution ends in the answer, shows its arithmetic, and its equations hold") {
  if (support::sanitized())
    SKIP("The plain build looks at the same words, and the code that makes them runs in other tests.");
  std::set<std::string> said;
  const auto fault = [&](const Drill& d, const std::string& what, const std::string& step) {
    if (said.insert(d.id + what).second) FAIL_CHECK(d.id << ": " << what << ": " << step);
  };
  // A figure of a data sheet is known or not.
  const std::set<std::string> facts{"memory-bandwidth", "memory-capacity", "peak-rate"};
  for (const Drill& d : bundled_drills())
    for (std::uint64_t seed = 0; seed < (support::full() ? 30u : 8u); ++seed) {
      const DrillQuestion& q = bundled_question(d, seed);
      const auto prefix = q.binary ? widgets::Prefix::binary : widgets::Prefix::si;
      const std::string shown = widgets::format_text(q.answer, q.unit, 4, prefix);
      const std::string last = sentences::last_figure(q.steps.back());
      if (last.empty() || !shown.starts_with(last)) fault(d, "does not end in its answer " + shown, q.steps.back());
      bool arithmetic = false;
      for (const std::string& step : q.steps) {
        arithmetic |= sentences::has_arithmetic(step);
        const auto wrong = sentences::wrong_equation(step, std::max(0.02, d.tolerance));
        if (!wrong.empty()) fault(d, "does not hold", wrong);
      }
      if (!arithmetic && !facts.contains(d.id)) fault(d, "shows no arithmetic", q.steps.back());
    }
}

namespace {

/// In how many of `instances` the answer is the same operation on the same two figures of the question.
int same_operation(const Drill& d, int instances) {
  std::map<std::array<std::size_t, 3>, int> found;
  int most = 0;
  for (int seed = 1; seed <= instances; ++seed) {
    const DrillQuestion& q = bundled_question(d, static_cast<std::uint64_t>(seed));
    const auto figures = sentences::figures_of(q.text);
    for (std::size_t i = 0; i < figures.size(); ++i)
      for (std::size_t j = 0; j < figures.size(); ++j) {
        const double a = figures[i], b = figures[j], results[] = {a / b, a * b, a + b, a - b, 100 * a / b};
        for (std::size_t k = 0; k < std::size(results); ++k)
          if (std::abs(results[k] - q.answer) <= 2e-3 * std::abs(q.answer)) most = std::max(most, ++found[{i, j, k}]);
      }
  }
  return most;
}

}  // namespace

TEST_CASE("levels 5 and 6 are more than one operation on two figures, and level 6 has many kinds") {
  std::set<std::string> design;
  for (const Drill& d : bundled_drills()) {
    if (d.level == 6) design.insert(d.id);
    if (d.level < 5) continue;
    constexpr int instances = 12;
    INFO(d.id);
    CHECK(same_operation(d, instances) < instances / 2);
  }
  CHECK(design.size() >= 6);
}
