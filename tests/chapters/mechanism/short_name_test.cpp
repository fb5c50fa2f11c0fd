#include "chapters/mechanism/short_name.h"

#include <catch2/catch_test_macros.hpp>

using chapters::short_name;

TEST_CASE("a name is whole where it has room, else its beginning in whole letters, and never begins a figure") {
  CHECK(short_name("Llama 3 8B", 26) == "Llama 3 8B");
  CHECK(short_name("Megatron 22B of Korthikanti", 27) == "Megatron 22B of Korthikanti");
  CHECK(short_name("Megatron 22B of Korthikanti", 26) == "Megatron 22B of Korthik...");
  CHECK(short_name("Megatron 22B of Korthikanti", 16) == "Megatron 22B...");  // no blank before the dots
  CHECK(short_name("größeres Netz", 10) == "größere...");
  CHECK(short_name("größeres", 8) == "größeres");
  CHECK(short_name("a `b` c", 20) == "a 'b' c");
  CHECK(short_name("", 10).empty());
}
