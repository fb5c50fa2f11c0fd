#include "models/numerics/number_line.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/numerics/outlier_tensor.h"
#include "models/numerics/rounding.h"

using namespace models;

namespace {

const FloatFormat& format_of(std::string_view id) { return *find_float_format(id); }

}  // namespace

TEST_CASE("columns of a stretch count every value once, on each axis, for 2^32 values as for 16") {
  std::vector<double> counts(997);
  CHECK(count_columns(format_of("fp32"), LineAxis::log2, {-150, 128}, counts) ==
        2139095039);  // 0x7F7FFFFF: all above zero
  CHECK(count_columns(format_of("fp32"), LineAxis::linear, {-4e38, 4e38}, counts) == 4278190079.0);
  CHECK(count_columns(format_of("fp32"), LineAxis::log2, {0, 1}, counts) ==
        8388608);  // 1 itself is the edge, 2 is counted
  CHECK(count_columns(format_of("e2m1"), LineAxis::linear, {-8, 8}, counts) == 15);
  CHECK(count_columns(format_of("e2m1"), LineAxis::ordinal, {0, 1}, counts) == 7);
  CHECK(count_columns(format_of("e8m0"), LineAxis::log2, {-128, 128}, counts) == 255);
}

TEST_CASE("single values of a deep zoom are the neighbours of the middle, FP32 and FP64") {
  for (const char* id : {"fp32", "fp64", "e4m3fn"}) {
    const FloatFormat& f = format_of(id);
    const LineStretch s = around(f, LineAxis::linear, 1, 3);
    const auto values = values_in(f, LineAxis::linear, s, 100);
    INFO(id);
    const double step = limits(f).epsilon;
    const auto one = std::find_if(values.begin(), values.end(), [](const LineValue& v) { return v.value == 1; });
    REQUIRE(one - values.begin() >= 3);
    REQUIRE(values.end() - one > 3);
    for (int i = -3; i <= 3; ++i) CHECK((one + i)->value == 1 + i * (i < 0 ? step / 2 : step));
    CHECK(values.size() <= 40);  // a double's own steps leave no less room around FP64's
  }
  CHECK(values_in(format_of("fp32"), LineAxis::linear, {0, 1}, 100).empty());  // a billion are not listed
}

// Closed forms: P(|t3| <= x) at sqrt(3) is 1/2 + 1/pi; the median of a log-normal is its middle.
TEST_CASE("shares of a distribution agree with closed forms, and a tensor's with counting") {
  const double pi = std::acos(-1.0);
  CHECK(std::abs(share_of_magnitudes_below({.spread = ValueSpread::normal}, 1) - 0.682689492137086) <= 1e-12);
  CHECK(std::abs(share_of_magnitudes_below({.spread = ValueSpread::heavy}, std::sqrt(3.0)) - (0.5 + 1 / pi)) <= 1e-12);
  CHECK(share_of_magnitudes_below({.spread = ValueSpread::gradients, .size = 0.25}, 0.25) == 0.5);
  CHECK(std::abs(share_below({.spread = ValueSpread::normal}, -1) - 0.158655253931457) <= 1e-12);
  const std::vector<float> sorted{-2, -1e-9f, 0, 0, 1e-9f, 0.001f, 1, 500};
  const Tensor t{.spread = ValueSpread::tensor, .sorted = sorted};
  CHECK(share_below(t, 0) == 0.5);
  CHECK(share_of_magnitudes_below(t, 1) == 6.0 / 8);
  const Fate fate = fate_of(format_of("e4m3fn"), t);
  CHECK(fate.underflow == 2.0 / 8);  // the zeros were zero before
  CHECK(fate.subnormal == 1.0 / 8);
  CHECK(fate.overflow == 1.0 / 8);
  CHECK(fate.normal == 4.0 / 8);
}

TEST_CASE("a rounding is laid open: neighbours, midpoint, position and the rule that decides") {
  const FloatFormat& f = format_of("e4m3fn");
  RoundingStudy s = study_rounding(f, 17, Rounding::nearest_even, Overflow::ieee);
  CHECK(s.lower == 16);
  CHECK(s.upper == 18);
  CHECK(s.rule == RoundingRule::tie);
  CHECK(s.value == 16);
  s = study_rounding(f, 464.5, Rounding::nearest_even, Overflow::ieee);
  CHECK(s.rule == RoundingRule::to_nan);
  CHECK(s.past_end);
  CHECK(s.upper == 480);  // where the next would be
  CHECK(study_rounding(f, 464.5, Rounding::nearest_even, Overflow::saturate).rule == RoundingRule::saturated);
  CHECK(study_rounding(f, 450, Rounding::nearest_even, Overflow::ieee).rule == RoundingRule::nearer);
  CHECK(study_rounding(f, -17.5, Rounding::toward_zero, Overflow::ieee).value == -16);
  CHECK(study_rounding(f, 448, Rounding::nearest_even, Overflow::ieee).rule == RoundingRule::exact);
  CHECK(study_rounding(format_of("e2m1"), -7, Rounding::nearest_even, Overflow::ieee).value == -6);
  CHECK(study_rounding(format_of("fp16"), 1e9, Rounding::nearest_even, Overflow::ieee).rule ==
        RoundingRule::to_infinity);
  CHECK(study_rounding(format_of("e8m0"), 0, Rounding::nearest_even, Overflow::ieee).rule == RoundingRule::clamped_up);
}

TEST_CASE("a rounding says which neighbour it chose and past which end the number lies") {
  const FloatFormat& f = format_of("e4m3fn");
  RoundingStudy s = study_rounding(f, 16.5, Rounding::nearest_even, Overflow::ieee);
  CHECK((s.lower_chosen && !s.upper_chosen));
  CHECK_FALSE((s.past_end || s.past_highest || s.past_lowest));
  s = study_rounding(f, 500, Rounding::nearest_even, Overflow::saturate);
  CHECK((s.past_end && s.past_highest && !s.past_lowest && s.lower_chosen));
  s = study_rounding(f, -500, Rounding::nearest_even, Overflow::saturate);
  CHECK((s.past_end && s.past_lowest && !s.past_highest && s.upper_chosen));
  // E8M0 ends at 2^-127 and has no zero: what would be below is the lower neighbour, also for numbers above 0.
  s = study_rounding(format_of("e8m0"), 0x1p-129, Rounding::nearest_even, Overflow::ieee);
  CHECK((s.past_lowest && !s.past_highest && s.upper_chosen));
  CHECK(s.lower == 0);
  CHECK(study_rounding(f, HUGE_VAL, Rounding::nearest_even, Overflow::ieee).past_highest);
}

TEST_CASE("what rounds to a value: half of the way on both sides, or all of it on the side away from zero") {
  const FloatFormat& f = format_of("e4m3fn");
  const auto captured = [&](double x, Rounding rounding) {
    const RoundingStudy s = study_rounding(f, x, rounding, Overflow::ieee);
    return std::pair(s.captures_lo, s.captures_hi);
  };
  CHECK(captured(16, Rounding::nearest_even) == std::pair(0.25, 0.75));
  CHECK(captured(16, Rounding::toward_zero) == std::pair(0.5, 1.0));
  CHECK(captured(-16, Rounding::toward_zero) == std::pair(0.0, 0.5));
  CHECK(captured(0, Rounding::toward_zero) == std::pair(0.0, 1.0));
  CHECK(captured(-16, Rounding::stochastic) == std::pair(0.0, 1.0));
  // The interval is what encode does: between 16 and 18 all is cut to 16, between 15 and 16 nothing is.
  CHECK(study_rounding(f, 17.5, Rounding::toward_zero, Overflow::ieee).value == 16);
  CHECK(study_rounding(f, 15.5, Rounding::toward_zero, Overflow::ieee).value == 15);
}

TEST_CASE("a study of a code keeps the code, where one value has several") {
  const FloatFormat& f = format_of("fp16");
  const RoundingStudy nan = study_code(f, 0xFE01, Rounding::toward_zero);
  CHECK(nan.code == 0xFE01);
  CHECK(nan.rule == RoundingRule::not_a_number);
  CHECK(std::pair(nan.captures_lo, nan.captures_hi) == std::pair(0.0, 0.5));  // its sign bit is set
  const RoundingStudy zero = study_code(f, 0x8000, Rounding::toward_zero);
  CHECK(zero.code == 0x8000);
  CHECK(zero.rule == RoundingRule::exact);
  CHECK(std::pair(zero.captures_lo, zero.captures_hi) == std::pair(0.0, 1.0));
}

TEST_CASE("the value nearest to a place of the line, with its step and kind") {
  const NearestValue near_17 = nearest_value(format_of("e4m3fn"), 17.2);
  CHECK(near_17.value == 18);
  CHECK(near_17.step == 2);
  CHECK(near_17.code == 0x59);
  CHECK(near_17.kind == ValueKind::normal);
  CHECK(nearest_value(format_of("e4m3fn"), 1e9).value == 448);
  CHECK(nearest_value(format_of("e4m3fn"), 0.003).kind == ValueKind::subnormal);
}

TEST_CASE("decimals are exact to the last digit, or say that they are cut") {
  CHECK(exact_decimal(0x1p-24) == "5.9604644775390625e-8");
  CHECK(exact_decimal(0.0999755859375) == "0.0999755859375");
  CHECK(exact_decimal(65504) == "65504");
  CHECK(exact_decimal(-2.5) == "-2.5");
  CHECK(exact_decimal(0.1, 20) == "0.10000000000000000555\xE2\x80\xA6");
  CHECK(exact_decimal(-0.0) == "-0");
  CHECK(exact_decimal(0x1p120) ==
        "1.32922799578491587290380\xE2\x80\xA6"
        "e36");
}

TEST_CASE("a made-up tensor is a bell with exactly as many outliers as asked for, and the same for its seed") {
  const auto x = outlier_tensor({
      .elements = 4000,
      .outliers = 7,
      .outlier_size = 50,
      .seed = 3,
  });
  CHECK(std::count_if(x.begin(), x.end(), [](double v) { return std::abs(v) == 50; }) == 7);
  double squares = 0;
  for (const double v : x) squares += std::abs(v) == 50 ? 0 : v * v;
  CHECK(std::abs(squares / 3993 - 1) <= 4 * std::sqrt(2.0 / 3993));  // four standard errors of a variance
  CHECK(outlier_tensor({
            .elements = 4000,
            .outliers = 7,
            .outlier_size = 50,
            .seed = 3,
        }) == x);
  const auto clean = outlier_tensor({.elements = 4000, .outliers = 0, .seed = 3});
  std::size_t same = 0;
  for (std::size_t i = 0; i < x.size(); ++i) same += x[i] == clean[i];
  CHECK(same == 3993);
}
