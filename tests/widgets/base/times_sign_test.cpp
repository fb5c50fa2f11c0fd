#include "widgets/base/times_sign.h"

#include <array>
#include <catch2/catch_test_macros.hpp>

TEST_CASE("a formula is shown with signs of multiplication between its factors, and with nothing else changed") {
  std::array<char, 64> room{};
  const auto shown = [&](std::string_view formula) { return widgets::with_times_signs(formula, room); };
  CHECK(shown("2 x layers x bytes") == "2 × layers × bytes");
  CHECK(shown("max(x, index)") == "max(x, index)");
  std::array<char, 5> narrow{};
  CHECK(widgets::with_times_signs("12 x 34", narrow) == "12 ×");
}
