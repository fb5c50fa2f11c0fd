#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "models/base/result.h"

/// JSON text in and out. The parser and the writer of the JSON library are compiled in json.cpp alone: each costs the
/// compiler a second in every file that uses it.
namespace app {

/// Members keep the order in which they were written.
using Json = nlohmann::ordered_json;

/// The deepest nesting of brackets that is accepted from outside.
inline constexpr int max_json_depth = 64;

/// True when brackets outside strings nest at most `max_depth` deep. JSON deeper than that is refused before it is
/// parsed, so that no recursion over it can exhaust the stack.
bool shallow_enough(std::string_view json, int max_depth = max_json_depth);

/// Reads JSON of any kind, in a time that grows with the text alone: an object may have any number of keys, of which
/// the last of those that are alike counts. Fails on a text that is not JSON or nests deeper than `max_depth`. Throws
/// std::bad_alloc alone.
models::Result<Json> parse_json(std::string_view text, int max_depth = max_json_depth);

/// As parse_json, with the members of objects in the order of the alphabet.
models::Result<nlohmann::json> parse_sorted_json(std::string_view text, int max_depth = max_json_depth);

/// The JSON in a text that this program has written or checked itself. An empty text, and one that is not JSON after
/// all, reads as an object without members.
Json parse_own_json(std::string_view text);

/// Never throws: bytes that are not UTF-8 (a path may hold any) become U+FFFD. `indent` below 0 writes one line.
std::string to_text(const Json& json, int indent = -1);
std::string to_text(const nlohmann::json& json, int indent = -1);

}  // namespace app
