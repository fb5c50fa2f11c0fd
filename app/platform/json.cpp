#include "app/platform/json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "models/base/json_nesting.h"

namespace app {
namespace {

template <class Any>
models::Result<Any> parse_any(std::string_view text, int max_depth) {
  models::Result<Any> out;
  if (!shallow_enough(text, max_depth)) {
    out.error = "The text is nested deeper than " + std::to_string(max_depth) + " levels.";
    return out;
  }
  Any parsed = Any::parse(text, nullptr, false);
  if (parsed.is_discarded())
    out.error = "The text is not valid JSON.";
  else
    out.value.emplace(std::move(parsed));
  return out;
}

template <class Any>
std::string any_to_text(const Any& json, int indent) {
  return json.dump(indent, ' ', false, Any::error_handler_t::replace);
}

}  // namespace

bool shallow_enough(std::string_view json, int max_depth) { return models::json_nesting(json) <= max_depth; }

models::Result<Json> parse_json(std::string_view text, int max_depth) { return parse_any<Json>(text, max_depth); }

models::Result<nlohmann::json> parse_sorted_json(std::string_view text, int max_depth) {
  return parse_any<nlohmann::json>(text, max_depth);
}

Json parse_own_json(std::string_view text) {
  auto parsed = parse_json(text);
  return parsed ? std::move(*parsed) : Json::object();
}

std::string to_text(const Json& json, int indent) { return any_to_text(json, indent); }
std::string to_text(const nlohmann::json& json, int indent) { return any_to_text(json, indent); }

}  // namespace app
