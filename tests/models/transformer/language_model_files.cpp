#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <iterator>

namespace models_test {

const std::vector<models::LanguageModel>& shipped_models() {
  static const std::vector<models::LanguageModel> all = [] {
    std::vector<models::LanguageModel> list;
    for (const auto& entry : std::filesystem::directory_iterator(support::source_file("assets/models"))) {
      auto read =
          models::parse_language_models(support::read_text(entry.path().string()), entry.path().filename().string());
      INFO(read.error);
      REQUIRE(read);
      std::move(read->begin(), read->end(), std::back_inserter(list));
    }
    return list;
  }();
  return all;
}

const models::LanguageModel& shipped_model(const std::string& id) {
  const auto& all = shipped_models();
  const auto it =
      std::find_if(all.begin(), all.end(), [&](const models::LanguageModel& model) { return model.id == id; });
  INFO(id);
  REQUIRE(it != all.end());
  return *it;
}

}  // namespace models_test
