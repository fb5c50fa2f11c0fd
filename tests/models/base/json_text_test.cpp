#include "models/base/json_text.h"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

using namespace models;
using Kind = JsonFailure::Kind;

TEST_CASE("a text is parsed, or the reason is given with its place") {
  JsonFailure failure;
  CHECK(parse_json(R"({"a": [1, 2]})", &failure)["a"][1] == 2);
  CHECK(failure.kind == Kind::none);
  CHECK(parse_json("{\"a\": x}", &failure).is_discarded());
  CHECK(failure.kind == Kind::syntax);
  CHECK(failure.byte == 7);
  CHECK(parse_json("1e400", &failure).is_discarded());
  CHECK(failure.kind == Kind::number);
  CHECK(parse_json("").is_discarded());
  CHECK(is_json("7"));
  CHECK_FALSE(is_json("7 8"));
}

TEST_CASE("a key that stands twice in one object is a failure of its own, the empty key too") {
  CHECK(find_json_failure(R"({"a": 1, "b": {"a": 2}})").kind == Kind::none);
  CHECK(find_json_failure(R"({"b": {"a": 2, "a": 3, "c": 1, "c": 1}})").key == "a");
  CHECK(find_json_failure(R"({"": 2, "": 3})").kind == Kind::repeated_key);
  CHECK(find_json_failure(R"({"a": 2, "a": 3)").kind == Kind::syntax);  // what cannot be read comes first
}

TEST_CASE("a shallow reading drops what lies deeper") {
  CHECK(parse_shallow_json(R"([1, [2, [3]]])", 2).dump() == "[1,[]]");
}
