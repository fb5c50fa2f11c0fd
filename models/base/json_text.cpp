#include "models/base/json_text.h"

#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace models {
namespace {

using nlohmann::json;

json parse_watched(std::string_view text, const json::parser_callback_t& watch, JsonFailure& failure) {
  try {
    return json::parse(text.begin(), text.end(), watch);
  } catch (const json::parse_error& error) {
    failure.kind = JsonFailure::Kind::syntax;
    failure.byte = error.byte;
  } catch (const json::out_of_range&) {
    failure.kind = JsonFailure::Kind::number;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    failure.kind = JsonFailure::Kind::other;
  }
  return json(json::value_t::discarded);
}

}  // namespace

json parse_json(std::string_view text, JsonFailure* failure) {
  JsonFailure ignored;
  return parse_watched(text, nullptr, failure ? *failure : ignored);
}

json parse_shallow_json(std::string_view text, int levels) {
  JsonFailure ignored;
  return parse_watched(
      text, [levels](int depth, json::parse_event_t, json&) { return depth < levels; }, ignored);
}

JsonFailure find_json_failure(std::string_view text) {
  JsonFailure failure, repeated;
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second &&
        repeated.kind == JsonFailure::Kind::none) {
      repeated.kind = JsonFailure::Kind::repeated_key;
      repeated.key = parsed.get<std::string>();
    }
    return true;
  };
  parse_watched(text, watch, failure);
  return failure.kind == JsonFailure::Kind::none ? repeated : failure;
}

bool is_json(std::string_view text) { return json::accept(text.begin(), text.end()); }

}  // namespace models
