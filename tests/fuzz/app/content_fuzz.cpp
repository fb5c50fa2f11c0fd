// What lies under assets/: claims, presets, predictions, prose, lessons, glossary and curriculum, one file in the place
// of each. What is wrong is said in sentences; a question and a claim that are taken can be asked and checked.
#include <filesystem>
#include <fstream>

#include "app/content/content.h"
#include "app/content/load_catalog.h"
#include "app/content/questions.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/registry.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch_folder.h"
#include "tests/support/base/paths.h"

namespace {

namespace fs = std::filesystem;
constexpr const char* places[] = {
    "claims/one.json", "labs/roofline/iron-law.json", "labs/roofline/iron-law.md", "lessons/one.json", "glossary.json",
    "curriculum.json"};

void put(const fs::path& root, const char* place, std::string_view text) {
  fs::create_directories((root / place).parent_path());
  std::ofstream(root / place, std::ios::binary) << text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fs::path root = [] {
    chapters::set_catalog(app::load_catalog(support::source_file("assets"), {}).catalog);
    return fuzz::scratch_folder();
  }();
  for (const char* place : places) put(root, place, fuzz::text_of(data, size));
  const app::Content content = app::load_content(root.string());
  for (const auto& error : content.errors) fuzz::require_sentence(error);
  for (const app::Claim& claim : content.claims)
    if (const auto checked = app::check_claim(claim); !checked) fuzz::require_sentence(checked.error);
  for (const auto& [id, lab] : content.labs)
    for (const app::Prediction& question : lab.predictions) {
      // Computing hundreds of samples of a curve would be all that a search does.
      if (question.curve && question.curve->points > 5) continue;
      if (const auto fair = app::check_question(question, id); !fair) fuzz::require_sentence(fair.error);
    }
  return 0;
}
