#include <catch2/catch_test_macros.hpp>

#include "app/scenario/scenario.h"
#include "chapters/mechanism/catalog.h"
#include "tests/support/base/effort.h"
#include "tests/support/lab/answer_rules.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_walk.h"

// People call their models and chips as they like: no name may push a sentence over its length or tear its figures.

using namespace support;

namespace {

/// As long as the name of an own file is kept, with a backtick, which would begin a figure in a sentence.
const std::string long_name = "acme-13b-instruct-of-the-second-team-`long`-context-checkpoint-of-step-120000-bf";

/// The bundled catalog under that one name; the bundled one again at the end.
struct LongNames {
  LongNames() {
    use_bundled_catalog();
    auto renamed = std::make_shared<chapters::Catalog>(chapters::catalog());
    for (auto& model : renamed->models) model.name = long_name;
    for (auto& chip : renamed->chips) chip.name = chip.short_name = long_name;
    for (auto& network : renamed->networks) network.name = long_name;
    chapters::index_catalog(*renamed);
    chapters::set_catalog(std::move(renamed));
  }
  LongNames(const LongNames&) = delete;
  ~LongNames() { put_back_bundled_catalog(); }
};

bool has_names(const chapters::Lab& lab) {
  for (const Field& f : lab.inputs())
    if (f.spec.shared == "model" || f.spec.shared == "chip" || f.spec.shared == "network") return true;
  return false;
}

}  // namespace

TEST_CASE("every lab: whatever models, chips and networks are called, the answer keeps to its length and its figures") {
  const auto& content = bundled_content();
  const LongNames names;
  for (const auto& entry : labs_under_test()) {
    const auto& presets = content.of(entry.id).presets;
    const auto first = entry.make();
    if (!has_names(*first)) continue;
    const Budget budget(2, presets.size(), 0.03);
    for (std::uint64_t i = 0; budget.allows(i); ++i) {
      const auto lab = entry.make();
      REQUIRE(app::apply_inputs(*lab, app::parse_own_json(presets[i].set)).error.empty());
      lab->compute();
      if (!lab->reason().empty()) continue;
      INFO(entry.id << ", preset \"" << presets[i].name << "\"\n  " << lab->answer());
      for (const std::string& fault : answer_form_faults(lab->answer())) FAIL_CHECK(fault);
    }
  }
}
