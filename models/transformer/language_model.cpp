#include "models/transformer/language_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "models/base/json_text.h"
#include "models/transformer/json.h"

namespace models {

namespace {

using nlohmann::json;

constexpr std::array<const char*, 8> known_keys = {
    "id", "name", "source", "config", "published_parameters", "published_rounding", "published_source", "note"};

bool is_model_id(const std::string& id) {
  constexpr std::size_t longest = 64;
  return !id.empty() && id.size() <= longest && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  });
}

/// The text of `key`, or nothing with `problem` set.
std::string text_of(const json& object, const char* key, bool required, std::string& problem) {
  const auto it = object.find(key);
  if (it != object.end() && it->is_string() && !(required && it->get_ref<const std::string&>().empty()))
    return it->get<std::string>();
  if (it == object.end() && !required) return {};
  if (problem.empty())
    problem =
        std::string(key) + (it == object.end() ? " is missing" : " is not usable") + "; a text in quotes is expected.";
  return {};
}

double number_of(const json& object, const char* key, std::string& problem) {
  const auto it = object.find(key);
  if (it == object.end()) return 0;
  const double value = it->is_number() ? it->get<double>() : -1;
  if (value >= 0 && value <= 1e15) return value;
  if (problem.empty()) problem = std::string(key) + " is out of range; a number from 0 to 1e15 is expected.";
  return 0;
}

Result<LanguageModel> read_model(const json& object, const std::string& where) {
  using Outcome = Result<LanguageModel>;
  if (!object.is_object())
    return Outcome::fail(where + " is " + object.type_name() +
                         "; an object with id, name, source and config is expected.");
  std::string problem;
  for (const auto& item : object.items())
    if (problem.empty() && std::find(known_keys.begin(), known_keys.end(), item.key()) == known_keys.end())
      // Written as JSON writes it, so that a line break in it is none in the sentence.
      problem = "the key " + json(item.key().substr(0, 40)).dump(-1, ' ', false, json::error_handler_t::replace) +
                " is unknown; id, name, source, config, published_parameters, published_rounding, published_source "
                "and note are allowed.";
  LanguageModel model;
  model.id = text_of(object, "id", true, problem);
  if (problem.empty() && !is_model_id(model.id))
    problem = "id may hold lower-case letters, digits, dots, dashes and underscores, up to 64 of them.";
  const std::string named = problem.empty() ? where + " (" + model.id + ")" : where;
  model.name = text_of(object, "name", true, problem);
  model.source = text_of(object, "source", true, problem);
  model.note = text_of(object, "note", false, problem);
  PublishedCount published{number_of(object, "published_parameters", problem),
                           number_of(object, "published_rounding", problem),
                           text_of(object, "published_source", false, problem)};
  const auto config = object.find("config");
  if (problem.empty() && config == object.end())
    problem = "config is missing; an object in the form of a Hugging Face config.json is expected.";
  if (!problem.empty()) return Outcome::fail(named + ": " + problem);
  Result<Architecture> architecture =
      parse_config(config->dump(-1, ' ', false, json::error_handler_t::replace), named + " config");
  if (!architecture) return Outcome::fail(architecture.error);
  model.architecture = std::move(*architecture);
  if (published.parameters > 0) model.published = std::move(published);
  return Outcome::ok(std::move(model));
}

}  // namespace

Result<std::vector<LanguageModel>> parse_language_models(std::string_view json_text, std::string_view origin) {
  using Outcome = Result<std::vector<LanguageModel>>;
  if (std::string problem = json_problem(json_text, origin); !problem.empty()) return Outcome::fail(std::move(problem));
  const json document = parse_json(json_text);
  std::vector<LanguageModel> models;
  const auto add = [&](const json& object, const std::string& where) {
    Result<LanguageModel> model = read_model(object, where);
    if (!model) return model.error;
    for (const LanguageModel& other : models)
      if (other.id == model->id)
        return where + ": the id \"" + model->id + "\" is taken already; another one is expected.";
    models.push_back(std::move(*model));
    return std::string();
  };
  std::string problem;
  if (document.is_array()) {
    for (std::size_t i = 0; i < document.size() && problem.empty(); ++i)
      problem = add(document[i], std::string(origin) + ", model " + std::to_string(i + 1));
  } else {
    problem = add(document, std::string(origin));
  }
  if (!problem.empty()) return Outcome::fail(std::move(problem));
  return Outcome::ok(std::move(models));
}

}  // namespace models
