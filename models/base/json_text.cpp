#include "models/base/json_text.h"

#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

namespace models {
namespace {

using nlohmann::json;

/// Hands on what nlohmann's reader says.
class Reader {
 public:
  explicit Reader(JsonVisitor& visitor) : visitor_(visitor) {}
  JsonFailure failure() const { return failure_; }

  bool null() { return go_on(visitor_.scalar(nullptr)); }
  bool boolean(bool v) { return go_on(visitor_.scalar(v)); }
  bool number_integer(json::number_integer_t v) { return go_on(visitor_.scalar(v)); }
  bool number_unsigned(json::number_unsigned_t v) { return go_on(visitor_.scalar(v)); }
  bool number_float(json::number_float_t v, const std::string&) { return go_on(visitor_.scalar(v)); }
  bool string(std::string& v) { return go_on(visitor_.scalar(std::move(v))); }
  bool binary(json::binary_t&) { return true; }
  bool start_object(std::size_t) { return go_on(visitor_.open(true)); }
  bool key(std::string& v) { return go_on(visitor_.key(v)); }
  bool end_object() { return go_on(visitor_.close()); }
  bool start_array(std::size_t) { return go_on(visitor_.open(false)); }
  bool end_array() { return go_on(visitor_.close()); }
  bool parse_error(std::size_t byte, const std::string&, const json::exception& error) {
    const bool number = dynamic_cast<const json::out_of_range*>(&error) != nullptr;
    failure_.kind = number ? JsonFailure::Kind::number : JsonFailure::Kind::syntax;
    if (!number) failure_.byte = byte;
    return false;
  }

 private:
  bool go_on(bool wanted) {
    if (!wanted) failure_.kind = JsonFailure::Kind::other;
    return wanted;
  }
  JsonVisitor& visitor_;
  JsonFailure failure_;
};

/// The value, without what lies in so many brackets.
class ShallowValue : public JsonVisitor {
 public:
  explicit ShallowValue(std::size_t levels) : levels_(levels) {}
  json take() { return std::move(root_); }

  bool open(bool object) override {
    if (json* const at = put(object ? json::object() : json::array()))
      open_.push_back(at);
    else
      ++left_out_;
    return true;
  }
  bool close() override {
    if (left_out_ > 0)
      --left_out_;
    else
      open_.pop_back();
    return true;
  }
  bool key(std::string& key) override {
    if (left_out_ == 0) key_ = std::move(key);
    return true;
  }
  bool scalar(json&& scalar) override {
    put(std::move(scalar));
    return true;
  }

 private:
  json* put(json&& value) {
    if (left_out_ > 0 || open_.size() >= levels_) return nullptr;
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    json& into = *open_.back();
    if (into.is_object()) return &(into[key_] = std::move(value));
    into.push_back(std::move(value));
    return &into.back();
  }

  std::size_t levels_, left_out_ = 0;  ///< open brackets of what is left out
  json root_ = json(json::value_t::discarded);
  std::vector<json*> open_;
  std::string key_;
};

/// The first key that stands twice in one object.
class RepeatedKey : public JsonVisitor {
 public:
  JsonFailure found;

  bool open(bool) override {
    keys_.emplace_back();
    return true;
  }
  bool close() override {
    keys_.pop_back();
    return true;
  }
  bool key(std::string& key) override {
    if (!keys_.back().insert(key).second && found.kind == JsonFailure::Kind::none) {
      found.kind = JsonFailure::Kind::repeated_key;
      found.key = key;
    }
    return true;
  }
  bool scalar(json&&) override { return true; }

 private:
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

JsonFailure visit_json(std::string_view text, JsonVisitor& visitor) {
  Reader reader(visitor);
  try {
    json::sax_parse(text.begin(), text.end(), &reader);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return {.kind = JsonFailure::Kind::other};
  }
  return reader.failure();
}

json parse_json(std::string_view text, JsonFailure* failure) {
  JsonFailure ignored;
  JsonFailure& why = failure ? *failure : ignored;
  try {
    return json::parse(text.begin(), text.end());
  } catch (const json::parse_error& error) {
    why.kind = JsonFailure::Kind::syntax;
    why.byte = error.byte;
  } catch (const json::out_of_range&) {
    why.kind = JsonFailure::Kind::number;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    why.kind = JsonFailure::Kind::other;
  }
  return json(json::value_t::discarded);
}

json parse_shallow_json(std::string_view text, int levels) {
  ShallowValue value(static_cast<std::size_t>(levels));
  if (visit_json(text, value).kind != JsonFailure::Kind::none) return json(json::value_t::discarded);
  return value.take();
}

JsonFailure find_json_failure(std::string_view text) {
  RepeatedKey repeated;
  JsonFailure failure = visit_json(text, repeated);
  return failure.kind == JsonFailure::Kind::none ? repeated.found : failure;
}

bool is_json(std::string_view text) { return json::accept(text.begin(), text.end()); }

}  // namespace models
