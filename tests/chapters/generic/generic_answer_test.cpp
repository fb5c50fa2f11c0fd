#include <catch2/catch_test_macros.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "app/explore/random_inputs.h"
#include "app/scenario/link.h"
#include "app/scenario/scenario.h"
#include "tests/support/base/effort.h"
#include "tests/support/lab/answer_rules.h"
#include "tests/support/lab/answer_words.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/computed_states.h"
#include "tests/support/lab/lab_walk.h"

// The answer of every lab, in every state that a hand can reach: short, plain, of the state, and each figure of it is
// one that the lab describes.

using namespace support;

namespace {

/// Looks at the answer of one state that has been computed. Faults are said once a lab: a sentence that breaks a rule
/// breaks it in many states.
class AnswerCheck {
 public:
  void look(chapters::Lab& lab, const std::string& state) {
    if (!lab.reason().empty()) return;
    const std::string answer(lab.answer());
    for (const std::string& fault : answer_form_faults(answer)) say(fault, answer, state);
    for (const std::string& figure : figures_of_nothing(lab))
      say("`" + figure + "` is no input and no output", answer, state);
  }

 private:
  void say(const std::string& fault, const std::string& answer, const std::string& state) {
    if (said_ >= 8) return;
    ++said_;
    FAIL_CHECK(state << ": " << fault << "\n  " << answer);
  }
  int said_ = 0;
};

template <class Body>
void each_answering_lab(Body&& body) {
  use_bundled_catalog();
  for (const auto& entry : labs_under_test()) DYNAMIC_SECTION(entry.id) {
      const auto lab = entry.make();
      if (!lab->info().hidden) body(*lab);
    }
}

/// Sets one number of a lab to an end of its range; false where it has none.
bool set_to_end(chapters::Lab& lab, std::size_t index, bool upper) {
  std::size_t i = 0;
  for (const Field& f : lab.inputs()) {
    if (i++ != index) continue;
    if (f.kind == Kind::toggle) return f.set_number(upper ? 1 : 0), true;
    if (!f.is_number()) return false;
    return f.set_number(upper ? f.spec.range.hi : f.spec.range.lo), true;
  }
  return false;
}

}  // namespace

TEST_CASE(
    "every lab: the answer of its default and of every preset is short, of figures that it describes, of everyday "
    "words "
    "or the glossary's, and of no two presets the same") {
  use_bundled_catalog();
  const KnownWords known(bundled_content().glossary);
  each_answering_lab([&](chapters::Lab& lab) {
    AnswerCheck check;
    std::map<std::string, std::string> said;
    const auto look = [&](chapters::Lab& state, const std::string& name) {
      compute_once(state);
      check.look(state, name);
      for (const std::string& word : known.unknown_in(state.answer()))
        FAIL_CHECK(name << ": \"" << word << "\" is no term of the glossary\n  " << state.answer());
    };
    look(lab, "default");
    const auto& presets = bundled_content().of(lab.info().id).presets;
    // Every preset plainly; under sanitizers the first and as many more as the time allows.
    const Budget budget(sanitized() ? 10 : presets.size(), presets.size(), 1);
    for (std::uint64_t i = 0; budget.allows(i); ++i) {
      const auto& preset = presets[i];
      const auto other = chapters::make_lab_by_id(lab.info().id);
      REQUIRE(app::apply_inputs(*other, app::parse_own_json(preset.set)).error.empty());
      look(*other, "preset \"" + preset.name + "\"");
      const auto [at, added] = said.emplace(std::string(other->answer()), preset.name);
      if (!added) FAIL_CHECK("\"" << preset.name << "\" says what \"" << at->second << "\" says:\n  " << at->first);
    }
  });
}

// A window asks for the answer in the frame in which a lab opens, when its job may not have begun.
TEST_CASE("every lab: one with a job has no reason and one answer before the job ends, in any preset's inputs") {
  each_answering_lab([](chapters::Lab& lab) {
    if (!lab.info().job) return;
    for (const auto& preset : bundled_content().of(lab.info().id).presets) {
      INFO(preset.name);
      const auto other = chapters::make_lab_by_id(lab.info().id);
      REQUIRE(app::apply_inputs(*other, app::parse_own_json(preset.set)).error.empty());
      const std::string said(other->answer());
      CHECK((other->reason().empty() && said == other->answer()));
    }
  });
}

TEST_CASE("every lab: at the ends of its inputs the answer is short, plain and of figures that it describes") {
  each_answering_lab([](chapters::Lab& lab) {
    AnswerCheck check;
    const std::size_t n = lab.inputs().size();
    const Budget budget{6, 2 * n, 0.28};
    for (std::uint64_t i = 0; budget.allows(i); ++i) {
      const auto other = chapters::make_lab_by_id(lab.info().id);
      // Every second input first, so that a heavy lab, of which few are tried, shows more than its first group.
      const std::size_t index = (i / 2) * 2 % n + ((i / 2) * 2 / n) % 2;
      if (!set_to_end(*other, index, i % 2 == 1)) continue;
      other->compute();
      check.look(*other, app::command_line_of(*other));
    }
  });
}

TEST_CASE("every lab: with random inputs the answer is short, plain and of figures that it describes") {
  each_answering_lab([](chapters::Lab& lab) {
    AnswerCheck check;
    std::uint64_t seed = 0;
    for (const Budget budget{6, 200, 0.35}; budget.allows(seed); ++seed) {
      app::randomize(lab, seed);
      compute_once(lab);
      check.look(lab, "seed " + std::to_string(seed) + ", " + app::command_line_of(lab));
    }
  });
}
