#pragma once
#include <string>
#include <string_view>

#include "models/base/result.h"
#include "models/transformer/language_model.h"

/// A language model from a bare Hugging Face config.json, which names no id and no source.
namespace models {

/// Is this the text of such a file, and no model or list of models with a config in them? By its keys alone.
bool is_bare_config(std::string_view json_text);

/// The name that the config itself has: the last part of `_name_or_path`, "Llama-2-7b-hf"; empty where it has none.
std::string name_in_config(std::string_view json_text);

/// The id of a model that is called `name`: "acme-13b" of "Acme 13B". At most 64 characters; "model" where no letter
/// and no digit is left.
std::string model_id_of(std::string_view name);

/// The model that the config describes, called `name`. Fails as parse_config does. Never throws.
Result<LanguageModel> parse_bare_model(std::string_view json_text, std::string_view origin, std::string_view name,
                                       std::string_view source);

}  // namespace models
