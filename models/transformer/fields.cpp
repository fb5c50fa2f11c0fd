#include "models/transformer/fields.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "models/base/json_text.h"

namespace models {

using nlohmann::json;

struct ConfigFields::Document {
  json root;
  const json* wrapper = nullptr;  ///< the whole config when `current` is inside a multimodal wrapper
  const json* current = nullptr;
  const json* outside = nullptr;  ///< where leave() goes back to

  std::pair<std::string, const json*> find(Names names) const {
    for (const char* name : names)
      if (const auto it = current->find(name); it != current->end()) return {name, &*it};
    return {*names.begin(), nullptr};
  }
};

namespace {

const json nothing = json::object();

std::string shown(const json& value) {
  constexpr std::size_t longest = 60;
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() <= longest) return text;
  std::size_t cut = longest;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;  // not inside a UTF-8 character
  return text.substr(0, cut) + "...";
}

std::string whole_number(std::int64_t lowest, std::int64_t highest) {
  return "a whole number from " + std::to_string(lowest) + " to " + std::to_string(highest);
}

bool in_range(const json& value, std::int64_t lowest, std::int64_t highest) {
  if (value.is_number_unsigned())
    return value.get<std::uint64_t>() <= static_cast<std::uint64_t>(highest) && value.get<std::int64_t>() >= lowest;
  return value.is_number_integer() && value.get<std::int64_t>() >= lowest && value.get<std::int64_t>() <= highest;
}

}  // namespace

ConfigFields::ConfigFields(std::string_view text, std::string_view origin)
    : document_(std::make_unique<Document>()), origin_(origin) {
  document_->root = parse_json(text);
  document_->current = &document_->root;
  if (!document_->root.is_object()) {
    document_->current = &nothing;
    fail("the file holds " + std::string(document_->root.type_name()) + "; a config is one object in braces.");
    return;
  }
  for (const char* name : {"text_config", "language_config", "llm_config"}) {
    const auto it = document_->root.find(name);
    if (it == document_->root.end() || !it->is_object()) continue;
    document_->wrapper = &document_->root;
    document_->current = &*it;
    prefix_ = std::string(name) + ".";
    return;
  }
}

ConfigFields::~ConfigFields() = default;

void ConfigFields::fail(std::string what) {
  if (error_.empty()) error_ = origin_ + ": " + what;
}

void ConfigFields::fail_value(Names names, const std::string& expected) {
  const auto [name, value] = document_->find(names);
  fail(prefix_ + name + (value ? " is " + shown(*value) : " is missing") + "; " + expected + " is expected.");
}

bool ConfigFields::has(Names names) const {
  const json* value = document_->find(names).second;
  return value && !value->is_null();
}

std::string ConfigFields::left_out() const {
  const json& whole = document_->wrapper ? *document_->wrapper : document_->root;
  std::string parts;
  const auto add = [&](const char* key, const char* what) {
    const auto it = whole.is_object() ? whole.find(key) : whole.end();
    if (it == whole.end() || !it->is_object()) return;
    parts += (parts.empty() ? "the " : " and the ") + std::string(what);
  };
  add("vision_config", "vision tower with its projector");
  add("audio_config", "audio tower with its projector");
  if (parts.empty() && !document_->wrapper) return {};
  if (parts.empty()) parts = "whatever is next to it";
  return "Of this multimodal model the language model alone is counted; left out is " + parts + ".";
}

std::int64_t ConfigFields::size(Names names, std::int64_t highest, std::int64_t wrapped_default) {
  const json* value = document_->find(names).second;
  if (!value && document_->wrapper) return wrapped_default;
  if (value && in_range(*value, 1, highest)) return value->get<std::int64_t>();
  fail_value(names, whole_number(1, highest));
  return 1;
}

std::int64_t ConfigFields::size_or(Names names, std::int64_t lowest, std::int64_t highest, Absent absent) {
  const json* value = document_->find(names).second;
  if (!value) return absent.missing;
  if (value->is_null()) return absent.null;
  if (in_range(*value, lowest, highest)) return value->get<std::int64_t>();
  fail_value(names, whole_number(lowest, highest));
  return absent.missing;
}

bool ConfigFields::flag(Names names, bool missing) {
  const json* value = document_->find(names).second;
  if (!value || value->is_null()) return missing;
  if (value->is_boolean()) return value->get<bool>();
  fail_value(names, "true or false");
  return missing;
}

bool ConfigFields::tied(bool missing) {
  if (document_->wrapper && !has({"tie_word_embeddings"})) {
    const auto outer = document_->wrapper->find("tie_word_embeddings");
    if (outer != document_->wrapper->end() && outer->is_boolean()) return outer->get<bool>();
  }
  return flag({"tie_word_embeddings"}, missing);
}

double ConfigFields::fraction(Names names, double missing) {
  const json* value = document_->find(names).second;
  if (!value || value->is_null()) return missing;
  if (value->is_number() && value->get<double>() > 0 && value->get<double>() <= 1) return value->get<double>();
  fail_value(names, "a number above 0 and up to 1");
  return missing;
}

std::string ConfigFields::word(Names names, std::string missing) {
  const json* value = document_->find(names).second;
  if (!value || value->is_null()) return missing;
  if (value->is_string()) return value->get<std::string>();
  fail_value(names, "a text in quotes");
  return missing;
}

std::vector<std::string> ConfigFields::words_per_layer(const char* name, std::int64_t layers) {
  if (!has({name})) return {};
  const json& list = *document_->find({name}).second;
  std::vector<std::string> words;
  bool good = list.is_array() && static_cast<std::int64_t>(list.size()) == layers;
  for (std::size_t i = 0; good && i < list.size(); ++i) {
    good = list[i].is_string();
    if (good) words.push_back(list[i].get<std::string>());
  }
  if (good) return words;
  fail_value({name}, "a list of " + std::to_string(layers) + " texts, one for each layer,");
  return {};
}

std::vector<std::int64_t> ConfigFields::integers(const char* name, std::int64_t highest) {
  if (!has({name})) return {};
  const json& list = *document_->find({name}).second;
  std::vector<std::int64_t> numbers;
  bool good = list.is_array();
  for (std::size_t i = 0; good && i < list.size(); ++i) {
    good = in_range(list[i], 0, highest);
    if (good) numbers.push_back(list[i].get<std::int64_t>());
  }
  if (good) return numbers;
  fail_value({name}, "a list of whole numbers from 0 to " + std::to_string(highest));
  return {};
}

void ConfigFields::enter(const char* name) {
  document_->outside = document_->current;
  const auto it = document_->current->find(name);
  const bool given = it != document_->current->end() && !it->is_null();
  if (given && !it->is_object()) fail_value({name}, "an object in braces");
  document_->current = given && it->is_object() ? &*it : &nothing;
  prefix_ += std::string(name) + ".";
}

void ConfigFields::leave() {
  document_->current = document_->outside;
  prefix_.pop_back();
  const std::size_t dot = prefix_.rfind('.');
  prefix_.resize(dot == std::string::npos ? 0 : dot + 1);
}

}  // namespace models
