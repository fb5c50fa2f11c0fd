#include "models/base/json_nesting.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

using models::json_nesting;

TEST_CASE("nesting counts brackets, but not those in strings, escaped quotes or not") {
  CHECK(json_nesting("") == 0);
  CHECK(json_nesting("7") == 0);
  CHECK(json_nesting("{\"a\": [1, {\"b\": []}]}") == 4);
  CHECK(json_nesting("[[], [], []]") == 2);
  CHECK(json_nesting("\"[[[[\"") == 0);
  CHECK(json_nesting("[\"\\\"[[\"]") == 1);
  CHECK(json_nesting(std::string(100000, '[')) == 100000);  // truncated, and far beyond what a parser may recurse into
}
