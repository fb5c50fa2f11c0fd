#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/platform/json.h"

namespace app {

/// Reads members of one JSON object and remembers the first thing that is wrong with it.
class Reader {
 public:
  Reader(const Json& object, std::string origin) : object_(object), origin_(std::move(origin)) {
    if (!object_.is_object()) fail("an object is expected");
  }
  std::string text(const char* key, bool required = true) {
    const auto at = object_.is_object() ? object_.find(key) : object_.end();
    if (at == object_.end()) {
      if (required) fail(std::string("the key \"") + key + "\" is missing");
      return {};
    }
    if (!at->is_string()) fail(std::string(key) + " must be a text");
    return at->is_string() ? at->get<std::string>() : std::string();
  }
  double number(const char* key, double otherwise) {
    const auto at = object_.is_object() ? object_.find(key) : object_.end();
    if (at == object_.end()) return otherwise;
    if (!at->is_number()) fail(std::string(key) + " must be a number");
    return at->is_number() ? at->get<double>() : otherwise;
  }
  std::string object(const char* key) {
    const auto at = object_.is_object() ? object_.find(key) : object_.end();
    if (at == object_.end()) return "{}";
    if (!at->is_object()) fail(std::string(key) + " must be an object");
    return at->is_object() ? to_text(*at) : "{}";
  }
  std::vector<std::string> texts(const char* key) {
    std::vector<std::string> out;
    const auto at = object_.is_object() ? object_.find(key) : object_.end();
    if (at == object_.end()) return out;
    if (!at->is_array()) fail(std::string(key) + " must be a list of texts");
    for (const Json& item : *at)
      if (item.is_string())
        out.push_back(item.get<std::string>());
      else
        fail(std::string(key) + " must be a list of texts");
    return out;
  }
  void fail(const std::string& what) {
    if (error_.empty()) error_ = origin_ + ": " + what + (what.ends_with('.') ? "" : ".");
  }
  const std::string& error() const { return error_; }

 private:
  const Json& object_;
  std::string origin_, error_;
};

}  // namespace app
