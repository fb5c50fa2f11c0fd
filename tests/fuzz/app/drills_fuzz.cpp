// A file of drills: what is taken makes a question, or says in one sentence why its data is broken, and the answer of a
// question that was made counts as right.
#include <cmath>

#include "app/content/load_catalog.h"
#include "app/content/load_drills.h"
#include "chapters/mechanism/catalog.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/base/paths.h"
#include "widgets/number/number.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool ready = [] {
    chapters::set_catalog(app::load_catalog(support::source_file("assets"), {}).catalog);
    return true;
  }();
  std::vector<std::string> errors;
  const auto drills = app::parse_drills(fuzz::text_of(data, ready ? size : 0), "drills.json", errors);
  for (const auto& error : errors) fuzz::require_sentence(error);
  chapters::DrillLabs labs;
  for (const chapters::Drill& drill : drills) {
    const auto question = chapters::make_question(drill, drills, 1, labs);
    if (!question) {
      fuzz::require_sentence(question.error);
      continue;
    }
    fuzz::require(std::isfinite(question->answer), "an answer that is not finite", drill.id);
    fuzz::require(!question->text.empty(), "a question without words", drill.id);
    const auto mark = chapters::grade(*question, widgets::format(question->answer, question->unit, 15).view(), 0, 0);
    fuzz::require(!mark.read || mark.right || drill.tolerance < 1e-9, "the answer itself is marked wrong", drill.id);
  }
  return 0;
}
