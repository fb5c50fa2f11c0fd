#pragma once
#include <string>
#include <vector>

#include "models/transformer/language_model.h"

/// The shipped models, for tests of this folder.
namespace models_test {

const std::vector<models::LanguageModel>& shipped_models();         ///< all of assets/models
const models::LanguageModel& shipped_model(const std::string& id);  ///< fails the test if there is none

}  // namespace models_test
