#include "widgets/number/estimate.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

using widgets::parse_estimate;

TEST_CASE("answers are read as people write them: dollars, about, grouped by spaces, narrow ranges") {
  const auto reads = [](const char* text, const char* unit, double value) {
    const auto parsed = parse_estimate(text, unit);
    INFO(text << ": " << parsed.error);
    CHECK(parsed.error.empty());
    CHECK(std::abs(parsed.value - value) <= 1e-9 * std::abs(value));
  };
  reads("7646 USD", "$", 7646);
  reads("7.6k USD", "$", 7600);
  reads("$7,646", "$", 7646);
  reads("2.50 USD/h", "$/h", 2.5);
  reads("~141 GB", "B", 141e9);
  reads("\xE2\x89\x88 141 GB", "B", 141e9);
  reads("about 141 GB", "B", 141e9);
  reads("141 000 MB", "B", 141e9);
  reads("1 234 567", "", 1234567);
  reads("140-142 GB", "B", 141e9);
  reads(
      "140\xE2\x80\x93"
      "142 GB",
      "B", 141e9);
  reads("140 to 142 GB", "B", 141e9);
  reads("0.98 TB - 1 TB", "B", 0.99e12);
  reads("1e-3 s", "s", 1e-3);
  reads("-5", "", -5);
  reads("2^-24", "", std::ldexp(1.0, -24));
}

TEST_CASE("a wide range is refused with its ends, and what is no number says so") {
  const auto wide = parse_estimate("100-200 GB", "B");
  CHECK(wide.error ==
        "from 100 GB to 200 GB is too wide a range for one figure: say a number, or ends within 5 % of their middle");
  CHECK(parse_estimate("140-142 ms", "B").error.find("\"ms\"") != std::string::npos);
  CHECK_FALSE(parse_estimate("many", "B").error.empty());
  CHECK_FALSE(parse_estimate("~", "B").error.empty());
  CHECK_FALSE(parse_estimate("14 00 MB", "B").error.empty());
  CHECK_FALSE(parse_estimate("-", "B").error.empty());
}
