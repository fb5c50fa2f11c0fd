#include "widgets/number/number.h"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <string>

using widgets::format;
using widgets::format_parts;
using widgets::parse_quantity;
using widgets::Prefix;

namespace {
std::string f(double v, std::string_view unit, int significant = 3, Prefix prefix = Prefix::si) {
  return std::string(format(v, unit, significant, prefix).view());
}
double p(std::string_view text, std::string_view unit) {
  const auto parsed = parse_quantity(text, unit);
  INFO(text);
  CHECK(parsed.error.empty());
  return parsed.value;
}
std::string error(std::string_view text, std::string_view unit) { return parse_quantity(text, unit).error; }
}  // namespace

TEST_CASE("numbers read as people write them") {
  CHECK(f(1.07e9, "B") == "1.07 GB");
  CHECK(f(0.31, "s") == "310 ms");
  CHECK(f(43.2, "%") == "43.2 %");
  CHECK(f(989.4e12, "FLOP/s") == "989 TFLOP/s");
  CHECK(f(4096, "tokens") == "4,096 tokens");
  CHECK(f(1.34, "FLOP/B") == "1.34 FLOP/B");
  CHECK(f(295.2, "FLOP/B") == "295 FLOP/B");
  CHECK(f(123456, "FLOP/B") == "123,456 FLOP/B");
  CHECK(f(1.374e11, "FLOP/B") == "137 GFLOP/B");
  CHECK(f(12288, "") == "12,288");
  CHECK(f(7.02e-12, "") == "7.02e-12");
  CHECK(f(7.02e-12, "J/B") == "7.02 pJ/B");
  CHECK(f(3.35e12, "B/s") == "3.35 TB/s");
  CHECK(f(1.98e9, "Hz") == "1.98 GHz");
  CHECK(f(70.6e9, "parameters") == "70.6 G parameters");
  CHECK(f(123456, "parameters") == "123,456 parameters");
  CHECK(f(327680, "B/token") == "328 kB/token");
  CHECK(f(700, "W") == "700 W");
  CHECK(f(1.5e-6, "s") == "1.5 \xC2\xB5s");
  CHECK(f(-1.07e9, "B") == "-1.07 GB");
  CHECK(f(0, "B") == "0 B");
}

TEST_CASE("prefixes and units are read as they are spoken") {
  const auto value = [](std::string_view text, std::string_view unit) {
    const auto parsed = parse_quantity(text, unit);
    INFO(text << ": " << parsed.error);
    CHECK(parsed.error.empty());
    return parsed.value;
  };
  CHECK(value("13 billion", "parameters") == 13e9);
  CHECK(value("12.9 billion parameters", "parameters") == 12.9e9);
  CHECK(value("310 milliseconds", "s") == 0.31);
  CHECK(value("5 microseconds", "s") == 5e-6);
  CHECK(value("1.5 gigabytes", "B") == 1.5e9);
  CHECK(value("2 gibibytes", "B") == 2147483648.0);
  CHECK(value("8 gigabits", "B") == 1e9);
  CHECK(value("2 trillion", "FLOP") == 2e12);
  CHECK(value("43 percent", "%") == 43);
  CHECK(value("43 per cent", "%") == 43);
  CHECK_FALSE(parse_quantity("2 million", "s").error.empty());
  CHECK_FALSE(parse_quantity("43 percent", "B").error.empty());
}

TEST_CASE("rounding up moves to the next multiple") {
  CHECK(f(999.6e9, "B") == "1.00 TB");
  CHECK(f(0.9999, "s") == "1.00 s");
  CHECK(f(999.4e9, "B") == "999 GB");
  CHECK(f(999999.9, "tokens") == "1.00 M tokens");
}

TEST_CASE("zeros at the end are kept only when the value was rounded") {
  CHECK(f(80e9, "B") == "80 GB");
  CHECK(f(79.96e9, "B") == "80.0 GB");
  CHECK(f(1.5, "") == "1.5");
}

TEST_CASE("decimal and binary multiples are never mixed") {
  CHECK(f(1073741824.0, "B") == "1.07 GB");
  CHECK(f(1073741824.0, "B", 3, Prefix::binary) == "1 GiB");
  CHECK(f(1023.0, "B", 3, Prefix::binary) == "1,023 B");
  CHECK(f(4096, "tokens", 3, Prefix::binary) == "4,096 tokens");
  CHECK(f(2097152, "tokens", 3, Prefix::binary) == "2 Mi tokens");
  CHECK(f(1e12, "FLOP/s", 3, Prefix::binary) == "1 TFLOP/s");
  CHECK(p("1 GB", "B") == 1e9);
  CHECK(p("1.0 GiB", "B") == 1073741824.0);
  CHECK(f(1.07e9, "B", 3, Prefix::none) == "1,070,000,000 B");
}

TEST_CASE("long times and money have their own ways") {
  CHECK(f(90, "s") == "90 s");
  CHECK(f(150, "s") == "2.5 min");
  CHECK(f(7200, "s") == "2 h");
  CHECK(f(54 * 86400.0, "s") == "54 days");
  CHECK(f(200, "s/step") == "3.33 min/step");
  CHECK(f(2.5, "$/h") == "$2.50/h");
  CHECK(f(-1234, "$") == "-$1,234");
  CHECK(f(5.576e6, "$") == "$5.58 M");
}

TEST_CASE("what is not a finite number is still text") {
  CHECK(f(std::nan(""), "B") == "\xE2\x80\x94");
  CHECK(f(std::numeric_limits<double>::infinity(), "s") == "\xE2\x88\x9E s");
  CHECK(f(-std::numeric_limits<double>::infinity(), "") == "-\xE2\x88\x9E");
  CHECK(f(1.7976931348623157e308, "") == "1.80e308");
  CHECK(format(1.0, std::string(200, 'x')).length < 64);
}

TEST_CASE("parts hold the same text as the whole") {
  const auto parts = format_parts(1.07e9, "B");
  CHECK(parts.number.view() == "1.07");
  CHECK(parts.unit.view() == "GB");
  CHECK(widgets::unit_scale(9.89e14, "FLOP/s").factor == 1e12);
  CHECK(widgets::unit_scale(9.89e14, "FLOP/s").unit.view() == "TFLOP/s");
  CHECK(widgets::format_in(widgets::unit_scale(5e9, "B"), 2.5e8).view() == "0.25");
}

TEST_CASE("quantities read back as typed") {
  CHECK(p("310ms", "s") == 0.31);
  CHECK(p("43 %", "%") == 43);
  CHECK(p("2e12", "FLOP") == 2e12);
  CHECK(p("4,096", "tokens") == 4096);
  CHECK(p("12k", "tokens") == 12000);
  CHECK(p("64 Ki", "tokens") == 65536);
  CHECK(p("70B", "parameters") == 70e9);
  CHECK(p("70.6 G parameters", "parameters") == 70.6e9);
  CHECK(p("400 Gbit/s", "B/s") == 50e9);
  CHECK(p("989 TFLOPS", "FLOP/s") == 989e12);
  CHECK(p("3 h", "s") == 10800);
  CHECK(p("5 us", "s") == 5e-6);
  CHECK(p("5 \xC2\xB5s", "s") == 5e-6);
  CHECK(p("$2.50/h", "$/h") == 2.5);
  CHECK(p("-$3 M", "$") == -3e6);
  CHECK(p("3.75 pJ/B", "J/B") == 3.75e-12);
  CHECK(p("0.12 FLOP/B", "FLOP/B") == 0.12);
  CHECK(p("137 GFLOP/B", "FLOP/B") == 137e9);
  CHECK(p(" 7 ", "") == 7);
}

TEST_CASE("a wrong quantity gets one sentence that says what is expected") {
  CHECK(error("", "B") == "nothing was typed: a number in B is expected, such as 1.5 GB");
  CHECK(error("many", "") == "\"many\" is not a number: a plain number is expected, such as 12,288");
  CHECK(error("nan", "s") == "\"nan\" is not a number: a number in s is expected, such as 1.5 ms");
  CHECK(error("3 TB", "B/s") == "\"3 TB\" has the unit \"TB\": a number in B/s is expected, such as 1.5 GB/s");
  CHECK(error("5 m", "s") == "\"5 m\" has the unit \"m\": a number in s is expected, such as 1.5 ms");
  CHECK(error("5 mB", "B") == "\"5 mB\" has the unit \"mB\": a number in B is expected, such as 1.5 GB");
  CHECK(error("43 %", "") == "\"43 %\" has the unit \"%\": a plain number is expected, such as 12,288");
  CHECK(error("400 Gb/s", "B/s") == "\"400 Gb/s\" is unclear: write Gbit for bits or GB for bytes");
  CHECK(error("1,5", "") == "\"1,5\" has a comma that does not group thousands: write 4,096 or 1.5");
  CHECK(error("1e999", "") == "\"1e999\" is too large for a number");
  CHECK(error("1e-400", "") == "\"1e-400\" is too small for a number: write 0");
  CHECK(error("-1e-400 s", "s") == "\"-1e-400 s\" is too small for a number: write 0");
  CHECK(error("1e308 GB", "B") == "\"1e308 GB\" is too large for a number");
}

TEST_CASE("what is written with 17 digits reads back as the same number") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-14, 17), mantissa(1, 10);
  for (const std::string_view unit : {"s", "B", "B/s", "FLOP", "FLOP/s", "FLOP/B", "W", "J/B", "Hz", "%", "tokens",
                                      "tokens/s", "parameters", "$", "$/h", "B/token", "steps", ""}) {
    for (int i = 0; i < 300; ++i) {
      const double v = mantissa(random) * std::pow(10.0, exponent(random)) * (i % 2 ? -1 : 1);
      const std::string text = f(v, unit, 17, i % 3 ? Prefix::si : Prefix::binary);
      const auto parsed = parse_quantity(text, unit);
      INFO(text << " in " << unit << ": " << parsed.error);
      REQUIRE(parsed.error.empty());
      REQUIRE(std::abs(parsed.value - v) <= 1e-14 * std::abs(v));
    }
  }
}

// SI: the metre takes prefixes like any unit, and its symbol is also milli's.
TEST_CASE("number: metres and metres a second are written and read with their prefixes") {
  CHECK(f(1.043, "m") == "1.04 m");
  CHECK(f(0.5, "m") == "500 mm");
  CHECK(f(2716, "m") == "2.72 km");
  CHECK(f(31.3, "m/s") == "31.3 m/s");
  CHECK(p("3 m", "m") == 3);
  CHECK(p("250mm", "m") == 0.25);
  CHECK(p("31.3 m/s", "m/s") == 31.3);
}

TEST_CASE("number: m alone is refused where it could be metres or thousandths; k, M and G alone stay multiples") {
  CHECK(error("5 m", "m/s") ==
        "\"5 m\" is unclear, since m alone may be metres or thousandths: write m/s or mm/s after the number");
  CHECK(error("5m", "J/B") ==
        "\"5m\" is unclear, since m alone may be metres or thousandths: write J/B or mJ/B after the number");
  CHECK(error("5 m", "B") == "\"5 m\" has the unit \"m\": a number in B is expected, such as 1.5 GB");
  CHECK(p("5 m", "m") == 5);
  CHECK(p("5 mm", "m") == 0.005);
  CHECK(p("5 mm/s", "m/s") == 0.005);
  CHECK(p("5 mW", "W") == 0.005);
  for (const char* unit : {"m/s", "m", "W", "J/B", "B", "B/s", "FLOP/s", "Hz", "tokens", ""}) {
    INFO(unit);
    CHECK(p("5 k", unit) == 5e3);
    CHECK(p("5 M", unit) == 5e6);
    CHECK(p("5 G", unit) == 5e9);
  }
}

TEST_CASE("infinity and NaN are read in the ways people write them, and nothing else is") {
  CHECK(widgets::parse_special("inf") == HUGE_VAL);
  CHECK(widgets::parse_special(" -Infinity ") == -HUGE_VAL);
  CHECK(widgets::parse_special("+\xE2\x88\x9E") == HUGE_VAL);
  CHECK(std::isnan(widgets::parse_special("NaN").value_or(0)));
  for (const char* other : {"", "-", "1", "in", "infinite", "nano"}) CHECK_FALSE(widgets::parse_special(other));
}

TEST_CASE("powers of two have raised exponents") {
  CHECK(widgets::power_of_two(10).view() == "2¹⁰");
  CHECK(widgets::power_of_two(0).view() == "2⁰");
  CHECK(widgets::power_of_two(-1074).view() == "2⁻¹⁰⁷⁴");
  CHECK(widgets::exponent_of_two(1024) == 10);
  CHECK(widgets::exponent_of_two(0x1p-24) == -24);
  CHECK_FALSE(widgets::exponent_of_two(1000).has_value());
  CHECK_FALSE(widgets::exponent_of_two(0).has_value());
  CHECK_FALSE(widgets::exponent_of_two(-2).has_value());
  CHECK_FALSE(widgets::exponent_of_two(HUGE_VAL).has_value());
}

TEST_CASE("a power of two is read as it is written, and as it is typed") {
  for (const int e : {-149, -24, 0, 1, 10, 31, 1023}) {
    const auto read = widgets::parse_quantity(widgets::power_of_two(e).view(), "");
    CHECK(read.error.empty());
    CHECK(read.value == std::ldexp(1.0, e));
  }
  CHECK(widgets::parse_quantity("2^10", "").value == 1024);
  CHECK(widgets::parse_quantity("2^-3", "").value == 0.125);
  CHECK(widgets::parse_quantity("2^30 B", "B").value == 1073741824.0);
  CHECK_FALSE(widgets::parse_quantity("2^", "").error.empty());
  CHECK_FALSE(widgets::parse_quantity("3^2", "").error.empty());
  CHECK_FALSE(widgets::parse_quantity("2^99999", "").error.empty());
}

TEST_CASE("a figure of a sentence stands between backticks, as the program writes numbers") {
  CHECK(widgets::figure(0.31, "s") == "`310 ms`");
  CHECK(widgets::figure(12288, "") == "`12,288`");
  CHECK(widgets::figure(2147483648.0, "B", 3, widgets::Prefix::binary) == "`2 GiB`");
  CHECK(widgets::figure("1 in 4") == "`1 in 4`");
}

TEST_CASE("money reads alike in a sentence and in two parts") {
  CHECK(widgets::format(0.4, "$").view() == "$0.40");
  CHECK(widgets::format_parts(0.4, "$").number.view() == "$0.40");
  CHECK(widgets::format_parts(0.4, "$").unit.view().empty());
  CHECK(widgets::format_parts(-2.5, "$/h").number.view() == "-$2.50");
  CHECK(widgets::format_parts(2.5, "$/h").unit.view() == "/h");
  CHECK(widgets::format(2.5, "$/h").view() == "$2.50/h");
}

TEST_CASE("a ratio stands next to its sign, in one text and in two parts, and is read back") {
  CHECK(format(1.9, "\xC3\x97").view() == "1.9\xC3\x97");
  CHECK(format(1234.0, "\xC3\x97").view() == "1,234\xC3\x97");
  const auto parts = format_parts(1.904, "\xC3\x97");
  CHECK(parts.number.view() == "1.90");
  CHECK(parts.unit.view() == "\xC3\x97");
  for (const char* typed : {"2.5\xC3\x97", "2.5x", "2.5 times", "2.5"}) {
    INFO(typed);
    CHECK(parse_quantity(typed, "\xC3\x97").value == 2.5);
  }
  CHECK_FALSE(parse_quantity("2.5 GB", "\xC3\x97").error.empty());
}
