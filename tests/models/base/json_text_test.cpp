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

TEST_CASE("a shallow reading keeps order, keys and scalars of the levels asked for, and says where there is no JSON") {
  const auto value = parse_shallow_json(R"({"b": [1, {"x": 2}], "a": {"c": [3], "d": null}, "e": "text"})", 2);
  CHECK(value.dump() == R"({"a":{},"b":[],"e":"text"})");
  CHECK(parse_shallow_json(R"({"a": {"c": [3], "d": null}})", 3).dump() == R"({"a":{"c":[],"d":null}})");
  CHECK(parse_shallow_json("7", 1) == 7);
  CHECK(parse_shallow_json("[1,", 4).is_discarded());
  CHECK(parse_shallow_json("[1e999]", 4).is_discarded());
}

TEST_CASE("a failure has the same place whether the text is kept or dropped") {
  for (const char* text : {"{\"a\": x}", "[1, 2", "", "[1] 2", "{\"a\" 1}", "[\"\xff\"]", "[1e400]"}) {
    INFO(text);
    JsonFailure kept;
    CHECK(parse_json(text, &kept).is_discarded());
    const JsonFailure dropped = find_json_failure(text);
    CHECK(dropped.kind == kept.kind);
    CHECK(dropped.byte == kept.byte);
  }
}

TEST_CASE("a visitor is told of each piece once, in order, and stops the reading") {
  struct Told : JsonVisitor {
    std::string all;
    bool open(bool object) override {
      all += object ? '{' : '[';
      return true;
    }
    bool close() override {
      all += ')';
      return true;
    }
    bool key(std::string& key) override {
      all += key + ':';
      return true;
    }
    bool scalar(nlohmann::json&& scalar) override {
      all += scalar.dump() + ' ';
      return scalar != 3;
    }
  };
  Told whole, part;
  CHECK(visit_json(R"({"a": [1, "x", null], "b": true})", whole).kind == Kind::none);
  CHECK(whole.all == "{a:[1 \"x\" null )b:true )");
  CHECK(visit_json("[1, 2, 3, 4, oops", part).kind == Kind::other);
  CHECK(part.all == "[1 2 3 ");
}
