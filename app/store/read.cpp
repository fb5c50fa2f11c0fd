#include "app/store/read.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace app::store {
namespace {

using nlohmann::json;

const json& empty_object() {
  static const json empty = json::object();
  return empty;
}
const json& empty_array() {
  static const json empty = json::array();
  return empty;
}

}  // namespace

Reader::Reader(const json& object, std::string where, std::string& fault)
    : object_(object.is_object() ? object : empty_object()), where_(std::move(where)), fault_(fault) {
  if (!object.is_object() && fault_.empty()) fault_ = where_ + " is not an object";
}

const json* Reader::find(const char* key) const {
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

void Reader::blame(const char* key, const char* expected) {
  if (fault_.empty()) fault_ = (where_.empty() ? "" : where_ + ".") + key + " is not " + expected;
}

void Reader::text(const char* key, std::string& out) {
  const json* value = find(key);
  if (value && value->is_string())
    out = value->get<std::string>();
  else if (value)
    blame(key, "a text");
}

void Reader::number(const char* key, double& out) {
  const json* value = find(key);
  if (value && value->is_number() && std::isfinite(value->get<double>()))
    out = value->get<double>();
  else if (value)
    blame(key, "a number");
}

void Reader::integer(const char* key, std::int64_t& out) {
  const json* value = find(key);
  if (value && value->is_number_integer())
    out = value->get<std::int64_t>();
  else if (value)
    blame(key, "a whole number");
}

void Reader::flag(const char* key, bool& out) {
  const json* value = find(key);
  if (value && value->is_boolean())
    out = value->get<bool>();
  else if (value)
    blame(key, "true or false");
}

void Reader::texts(const char* key, std::set<std::string>& out) {
  for (const json& item : array(key)) {
    if (item.is_string())
      out.insert(item.get<std::string>());
    else
      blame(key, "a list of texts");
  }
}

const json& Reader::object(const char* key) {
  const json* value = find(key);
  if (value && value->is_object()) return *value;
  if (value) blame(key, "an object");
  return empty_object();
}

const json& Reader::array(const char* key) {
  const json* value = find(key);
  if (value && value->is_array()) return *value;
  if (value) blame(key, "a list");
  return empty_array();
}

}  // namespace app::store
