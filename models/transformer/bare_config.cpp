#include "models/transformer/bare_config.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "models/base/json_text.h"
#include "models/transformer/json.h"

namespace models {

bool is_bare_config(std::string_view json_text) {
  if (!json_problem(json_text, "config.json").empty()) return false;
  const nlohmann::json document = parse_json(json_text);
  if (!document.is_object() || document.contains("config")) return false;
  constexpr std::array keys{"model_type", "architectures", "hidden_size", "n_embd", "num_hidden_layers", "text_config"};
  return std::any_of(keys.begin(), keys.end(), [&](const char* key) { return document.contains(key); });
}

std::string name_in_config(std::string_view json_text) {
  if (!json_problem(json_text, "config.json").empty()) return {};
  const nlohmann::json document = parse_json(json_text);
  if (!document.is_object()) return {};
  const auto at = document.find("_name_or_path");
  if (at == document.end() || !at->is_string()) return {};
  std::string name = at->get<std::string>();
  while (!name.empty() && (name.back() == '/' || name.back() == '\\')) name.pop_back();
  const auto before = name.find_last_of("/\\");
  name = before == std::string::npos ? std::move(name) : name.substr(before + 1);
  const bool printed = std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c < 0x7f; });
  return printed && name.find_first_not_of(". ") != std::string::npos ? name : std::string();
}

std::string model_id_of(std::string_view name) {
  constexpr std::size_t longest = 64;
  std::string id;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
    if (kept)
      id += c;
    else if (!id.empty() && id.back() != '-')
      id += '-';
    if (id.size() == longest) break;
  }
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id.empty() ? "model" : id;
}

Result<LanguageModel> parse_bare_model(std::string_view json_text, std::string_view origin, std::string_view name,
                                       std::string_view source) {
  Result<Architecture> architecture = parse_config(json_text, origin);
  if (!architecture) return Result<LanguageModel>::fail(std::move(architecture.error));
  LanguageModel model;
  model.id = model_id_of(name);
  model.name = std::string(name);
  model.source = std::string(source);
  model.architecture = std::move(*architecture);
  return Result<LanguageModel>::ok(std::move(model));
}

}  // namespace models
