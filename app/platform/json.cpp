#include "app/platform/json.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/base/json_nesting.h"

namespace app {
namespace {

/// Builds a document whose objects keep the order of their keys. The library's own builder looks each key up among
/// those before it, one after the other, so that an object of half a million takes minutes.
class OrderedBuilder {
 public:
  using number_integer_t = Json::number_integer_t;
  using number_unsigned_t = Json::number_unsigned_t;
  using number_float_t = Json::number_float_t;
  using string_t = Json::string_t;
  using binary_t = Json::binary_t;

  bool null() { return value(Json()); }
  bool boolean(bool v) { return value(Json(v)); }
  bool number_integer(number_integer_t v) { return value(Json(v)); }
  bool number_unsigned(number_unsigned_t v) { return value(Json(v)); }
  bool number_float(number_float_t v, const string_t&) { return value(Json(v)); }
  bool string(string_t& v) { return value(Json(std::move(v))); }
  bool binary(binary_t&) { return false; }
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool key(string_t& name) {
    members(*open_.back()).emplace_back(std::move(name), Json());
    return true;
  }
  bool end_object() {
    merge_alike(*open_.back());
    return close();
  }
  bool end_array() { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) { return false; }

  Json root;

 private:
  using Members = std::vector<std::pair<const std::string, Json>>;
  static Members& members(Json& object) { return object.get_ref<Json::object_t&>(); }

  /// Where the next value goes. Values within what is open do not move, since nothing is added beside it meanwhile.
  Json& place() {
    if (open_.empty()) return root;
    Json& parent = *open_.back();
    if (parent.is_object()) return members(parent).back().second;
    parent.push_back(Json());
    return parent.back();
  }
  bool value(Json v) {
    place() = std::move(v);
    return true;
  }
  bool open(Json v) {
    Json& at = place();
    at = std::move(v);
    open_.push_back(&at);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  /// Keeps one member of those with the same key: the first keeps its place and gets the value of the last.
  static void merge_alike(Json& object) {
    Members& all = members(object);
    std::unordered_map<std::string_view, std::size_t> first;
    Members merged;
    bool alike = false;
    for (std::size_t i = 0; i < all.size(); ++i) alike |= !first.try_emplace(all[i].first, i).second;
    if (!alike) return;
    first.clear();
    merged.reserve(all.size());  // so that the keys, which are looked up, stay where they are
    for (auto& [name, member] : all) {
      const auto [found, fresh] = first.try_emplace(name, merged.size());
      if (fresh)
        merged.emplace_back(name, std::move(member));
      else
        merged[found->second].second = std::move(member);
    }
    all.swap(merged);
  }

  std::vector<Json*> open_;
};

std::string too_deep(int max_depth) {
  return "The text is nested deeper than " + std::to_string(max_depth) + " levels.";
}

template <class Any>
std::string any_to_text(const Any& json, int indent) {
  return json.dump(indent, ' ', false, Any::error_handler_t::replace);
}

}  // namespace

bool shallow_enough(std::string_view json, int max_depth) { return models::json_nesting(json) <= max_depth; }

models::Result<Json> parse_json(std::string_view text, int max_depth) {
  using Parsed = models::Result<Json>;
  if (!shallow_enough(text, max_depth)) return Parsed::fail(too_deep(max_depth));
  OrderedBuilder builder;
  if (!Json::sax_parse(text, &builder)) return Parsed::fail("The text is not valid JSON.");
  return Parsed::ok(std::move(builder.root));
}

models::Result<nlohmann::json> parse_sorted_json(std::string_view text, int max_depth) {
  using Parsed = models::Result<nlohmann::json>;
  if (!shallow_enough(text, max_depth)) return Parsed::fail(too_deep(max_depth));
  nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
  if (parsed.is_discarded()) return Parsed::fail("The text is not valid JSON.");
  return Parsed::ok(std::move(parsed));
}

Json parse_own_json(std::string_view text) {
  auto parsed = parse_json(text);
  return parsed ? std::move(*parsed) : Json::object();
}

std::string to_text(const Json& json, int indent) { return any_to_text(json, indent); }
std::string to_text(const nlohmann::json& json, int indent) { return any_to_text(json, indent); }

}  // namespace app
