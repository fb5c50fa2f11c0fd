#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/transformer/transformer.h"

namespace models {

/// A parameter count that somebody printed: right to `rounding` (half a unit of its last digit; 0 for an exact count).
struct PublishedCount {
  double parameters = 0;
  double rounding = 0;
  std::string source;
  bool operator==(const PublishedCount&) const = default;
};

/// A language model that can be chosen in any lab.
struct LanguageModel {
  std::string id;    ///< lower case, stable: scenarios name it
  std::string name;  ///< as its authors write it
  std::string source;
  std::string note;  ///< may be empty
  Architecture architecture;
  std::optional<PublishedCount> published;
  bool operator==(const LanguageModel&) const = default;
};

/// Reads one model or a list of them: {id, name, source, config, published_parameters?, published_rounding?,
/// published_source?, note?} with `config` in the form of a Hugging Face config.json. Fails with one sentence that
/// names `origin`, the model and the field. Never throws.
Result<std::vector<LanguageModel>> parse_language_models(std::string_view json_text, std::string_view origin);

}  // namespace models
