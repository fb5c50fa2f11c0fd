#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/content/content.h"
#include "app/scenario/scenario.h"
#include "chapters/mechanism/registry.h"
#include "chapters/precision/bits/lab.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"
#include "tests/support/lab/shell_driver.h"

using namespace support;

// Expected codes and values: the oracle of formats (tests/data/formats.json) and IEEE 754-2019.

TEST_CASE("bits: a value gives code, kind, step and neighbours under the keys of the contract") {
  const LabPtr lab = open_lab("precision/bits");
  set(*lab, "format", "fp16", "value", "0.1");
  const auto o = outputs_of(*lab);
  CHECK(o["code"] == "0x2E66");
  CHECK(o["value"] == 0.0999755859375);
  CHECK(o["kind"] == "normal");
  CHECK(o["ulp"] == 0x1p-14);
  CHECK(o["next_up"] == 0.0999755859375 + 0x1p-14);
  CHECK(o["next_down"] == 0.0999755859375 - 0x1p-14);
  CHECK(o["exact"] == "0.0999755859375");
  set(*lab, "format", "e2m1", "value", "0.75");
  CHECK(outputs_of(*lab)["value"] == 1);  // a tie: 0.5 has an odd code
  CHECK(outputs_of(*lab)["rule"] == "tie to even");
}

TEST_CASE("bits: a code wins over a value, in hexadecimal, binary and decimal, up to 64 bits") {
  const LabPtr lab = open_lab("precision/bits");
  set(*lab, "format", "fp16", "value", "3");
  for (const char* code : {"0x2E66", "0b10111001100110", "11878", " 0x2e66 "})
    CHECK(outputs_of(set(*lab, "code", code))["value"] == 0.0999755859375);
  CHECK(outputs_of(set(*lab, "format", "fp64", "code", "0xFFEFFFFFFFFFFFFF"))["value"] ==
        -std::numeric_limits<double>::max());
  CHECK(outputs_of(set(*lab, "code", "18446744073709551615"))["kind"] == "nan");
  set(*lab, "format", "e4m3fn", "code", "0x1FF");
  CHECK(reason_of(*lab) == "The code does not fit: codes of E4M3FN go from 0x00 to 0xFF, as 0x..., 0b... or decimal.");
  set(*lab, "code", "seven");
  CHECK(reason_of(*lab) == "The code reads as none: codes of E4M3FN go from 0x00 to 0xFF, as 0x..., 0b... or decimal.");
  CHECK(outputs_of(set(*lab, "code", ""))["value"] == 3);
}

TEST_CASE("bits: what is not finite is null with its kind, and goes in as a word") {
  const LabPtr lab = open_lab("precision/bits");
  set(*lab, "format", "e5m2", "value", "61440");
  CHECK(outputs_of(*lab)["kind"] == "inf");
  CHECK(outputs_of(*lab)["value"].is_null());
  CHECK(outputs_of(*lab)["next_up"].is_null());
  CHECK(outputs_of(*lab)["next_down"] == 57344);
  CHECK(outputs_of(set(*lab, "overflow", "saturate"))["value"] == 57344);
  CHECK(outputs_of(set(*lab, "value", "-inf"))["value"] == -57344);
  CHECK(outputs_of(set(*lab, "overflow", "ieee", "value", "nan"))["kind"] == "nan");
  CHECK(app::field_to_json(*lab->inputs().find("value")) == "nan");
  set(*lab, "format", "fp16", "value", "-0");
  CHECK(outputs_of(*lab)["code"] == "0x8000");
  CHECK(outputs_of(*lab)["kind"] == "zero");
  const auto copy = chapters::make_lab_by_id("precision/bits");
  CHECK(app::apply_inputs(*copy, app::Json::parse(app::fields_to_json(lab->inputs()).dump())).error == "");
  CHECK(copy->same_inputs(*lab));  // minus zero survives the round trip
  CHECK(app::set_field_from_text(*lab->inputs().find("value"), "seven").error.find("not a number") !=
        std::string::npos);
}

TEST_CASE(
    "bits: each rounding rule decides between the same neighbours, and stochastic draws at the rate of the position") {
  const LabPtr lab = open_lab("precision/bits");
  set(*lab, "format", "bf16", "value", "1.001");
  CHECK(outputs_of(*lab)["value"] == 1);
  CHECK(outputs_of(*lab)["lower"] == 1);
  CHECK(outputs_of(*lab)["upper"] == 1.0078125);
  CHECK(std::abs(outputs_of(*lab)["position"].get<double>() - 12.8) <= 1e-9);  // 0.001 / 2^-7
  CHECK(outputs_of(set(*lab, "rounding", "zero", "value", "1.0077"))["value"] == 1);
  set(*lab, "rounding", "stochastic", "value", "1.001");
  int up = 0;
  for (int seed = 1; seed <= 1000; ++seed)
    up += outputs_of(set(*lab, "seed", std::to_string(seed).c_str()))["value"] != 1;
  CHECK(std::abs(up - 128) <= 43);  // four standard deviations of 1,000 draws
}

// 0.1 = 0x1.999999999999999999...p-4: FP64 keeps 52 bits of it, and 0.1 lies 0.6 of the way to the value above.
TEST_CASE("bits: a decimal is rounded as it was typed, so that not even FP64 stores 0.1") {
  const LabPtr lab = open_lab("precision/bits");
  set(*lab, "format", "fp64", "value", "0.1");
  const auto o = outputs_of(*lab);
  CHECK(o["code"] == "0x3FB999999999999A");
  CHECK(o["rule"] == "nearer neighbour");
  CHECK(o["value"] == 0.1);
  CHECK(o["lower"] == std::nextafter(0.1, 0.0));
  CHECK(o["upper"] == 0.1);
  CHECK(std::abs(o["position"].get<double>() - 60) <= 1e-9);
  CHECK(std::abs(o["error"].get<double>() - 5.551115123125783e-18) <= 1e-30);
  CHECK(outputs_of(set(*lab, "rounding", "zero"))["code"] == "0x3FB9999999999999");
  CHECK(lab->answer().find("0.09999999999999999") != std::string_view::npos);
  set(*lab, "rounding", "nearest", "value", "0.5");
  CHECK(outputs_of(*lab)["rule"] == "exact");
  CHECK(outputs_of(*lab)["error"] == 0);
  set(*lab, "value", "-0.3");  // stored as -0.299999999999999988897769753748...
  CHECK(std::abs(outputs_of(*lab)["error"].get<double>() - 1.1102230246251565e-17) <= 1e-29);
  // A code is worth its value, whatever decimal is near.
  set(*lab, "code", "0x3FB999999999999A");
  CHECK(outputs_of(*lab)["rule"] == "the code itself");
  CHECK(outputs_of(*lab)["error"] == 0);
}

TEST_CASE("bits: the same number stands in every format that is compared") {
  const LabPtr lab = open_lab("precision/bits");
  set(*lab, "value", "0.1", "compare", "e4m3fn,e2m1,nf4");
  const auto rows = outputs_of(*lab)["formats"];
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]["code"] == "0x1D");
  CHECK(rows[0]["value"] == 0.1015625);
  CHECK(rows[1]["value"] == 0);
  CHECK(rows[1]["relative_error"] == -100);
  CHECK(rows[2]["value"] == 0.07958029955625534);
}

TEST_CASE("bits: numbers are read as people write them") {
  using chapters::precision::bits::read_number;
  CHECK(read_number("1/3") == 1.0 / 3);
  CHECK(read_number("2^-24") == 0x1p-24);
  CHECK(read_number("-0x1.8p3") == -12);
  CHECK(std::signbit(*read_number("-0")));
  for (const char* bad : {"1e400", "1e-400", "0.0e-400x", "", "-", "1/", "two", "1.2.3", "--1"})
    CHECK_FALSE(read_number(bad));
}

TEST_CASE("bits: pressing a bit, a step and a format changes the number shown") {
  use_bundled_catalog();
  ShellDriver d(bundled_content(), models::Result<app::UserPaths>::fail("Nothing is kept in a test."), {1600, 1000});
  REQUIRE(d.workspace.open("precision/bits"));
  d.ui.frames(3);
  d.ui.click("bit 15");
  d.ui.frames(3);
  CHECK(d.output("value").real() == -0.0999755859375);
  CHECK(d.input("value").real() == -0.0999755859375);  // by its value: the control follows
  d.ui.click("next up");
  d.ui.frames(3);
  CHECK(d.output("code").text() == "0xAE65");
  d.ui.click("NaN");
  d.ui.frames(3);
  CHECK(d.output("kind").text() == "nan");
  d.ui.click("bit 0");  // another NaN: only the code can say which
  d.ui.frames(3);
  CHECK(d.output("code").text() == "0x7E01");
  CHECK(d.input("code").text() == "0x7E01");
  d.ui.click("1");
  d.ui.frames(3);
  d.ui.click("edit e4m3fn");
  d.ui.frames(3);
  CHECK(d.output("code").text() == "0x38");
  d.ui.click("##type a number");
  d.ui.type("1/3");
  d.ui.key(ImGuiKey_Enter);
  d.ui.frames(3);
  CHECK(d.output("value").real() == 0.34375);  // 11/32
}

TEST_CASE("bits: the answer names the end that was passed, NF4's rule for ties, and the draw past the end") {
  const LabPtr lab = open_lab("precision/bits");
  const auto answer = [&] {
    lab->compute();
    return std::string(lab->answer());
  };
  set(*lab, "format", "int8", "value", "-200");
  CHECK(answer() ==
        "INT8 stores `-128` for `-200`, the lowest value.\nINT8 has neither infinity nor NaN, so that nothing warns.");
  set(*lab, "format", "nf4", "value", "0.03979014977812767");
  CHECK(answer().ends_with("exactly half-way between two values, so the lower neighbour wins."));
  set(*lab, "format", "fp16", "value", "65530");
  CHECK(answer() ==
        "FP16 stores `infinity` for `65530`.\n"
        "It lies half a step or more past the largest value; every sum that infinity enters is lost.");
  set(*lab, "rounding", "stochastic", "seed", "1");
  const std::string drawn =
      "It lies past the largest value by less than a step, so chance decides: up was `81.2 %` likely.";
  CHECK(answer() == "FP16 stores `65504` for `65530`, the largest value.\n" + drawn);
  set(*lab, "seed", "2");
  CHECK(answer() == "FP16 stores `infinity` for `65530`.\n" + drawn);
}

TEST_CASE("bits: an error has its place on a logarithmic axis with ticks, and none where nothing is off") {
  using chapters::precision::bits::error_place;
  CHECK(std::abs(error_place(1e-14)) <= 1e-12);
  CHECK(error_place(-100) == 1);
  CHECK(std::abs(error_place(1) - 14.0 / 16) <= 1e-12);
  CHECK(std::isnan(error_place(0)));
}

// ml_dtypes and PyTorch: 3 becomes 4, 12 becomes 16, 0.75 becomes 1.
TEST_CASE("bits: E8M0 takes a tie to the upper value and says why") {
  const LabPtr lab = open_lab("precision/bits");
  for (const auto& [value, stored] : {std::pair{"3", 4.0}, {"12", 16.0}, {"0.75", 1.0}, {"1.5", 2.0}, {"6", 8.0}}) {
    set(*lab, "format", "e8m0", "value", value);
    CHECK(outputs_of(*lab)["value"] == stored);
    CHECK(outputs_of(*lab)["rule"] == "tie to the upper");
  }
  CHECK(lab->answer() ==
        "E8M0 stores `8` for `6`, off by `33.3 %`.\n"
        "The number lies exactly half-way between two values, so the upper neighbour wins.");
}

namespace {

models::RoundingStudy study_of(const char* format, const char* text) {
  const auto x = models::read_decimal(text);
  REQUIRE(x);
  return models::study_decimal(*models::find_float_format(format), *x, models::Rounding::nearest_even,
                               models::Overflow::ieee);
}

}  // namespace

// 8 + 3 x 2^-21 = 8.000001430511474609375 is a tie of FP32, and the double next to all of these decimals.
TEST_CASE("decimals of more digits than a double holds are rounded as they are, beside ties and past the end") {
  CHECK(study_of("fp32", "8.000001430511474609375").rule == models::RoundingRule::tie);
  CHECK(study_of("fp32", "8.000001430511474609375").value == 8 + 0x1p-19);
  CHECK(study_of("fp32", "8.00000143051147460937499").value == 8 + 0x1p-20);
  CHECK(study_of("fp32", "8.00000143051147460937499").rule == models::RoundingRule::nearer);
  CHECK(study_of("fp32", "-8.00000143051147460937499").value == -8 - 0x1p-20);
  CHECK(study_of("fp64", "9007199254740993").rule == models::RoundingRule::tie);
  CHECK(study_of("fp64", "9007199254740993.0000000000000000001").value == 9007199254740994);
  CHECK(study_of("fp64", "9007199254740992.9999999999999999999").value == 9007199254740992);
  CHECK(study_of("fp64", "9007199254740993.0000000000000000001").rule == models::RoundingRule::nearer);
  // From 65,520 on FP16 overflows, and not below it, however little.
  CHECK(study_of("fp16", "65520").rule == models::RoundingRule::to_infinity);
  CHECK(study_of("fp16", "65519.99999999999999999999").value == 65504);
  CHECK(study_of("e8m0", "3").value == 4);
  CHECK(study_of("e8m0", "2.99999999999999999999").value == 2);
  CHECK(models::read_decimal("0.1")->remainder == models::typed_decimal(0.1).remainder);
  CHECK(models::read_decimal("-0.0e5")->value == 0);
  for (const char* bad : {"", "-", ".", "1e", "1e400", "1e-400", "1.2.3", "0x10", "1/3", "1e99999999999"})
    CHECK_FALSE(models::read_decimal(bad));
}

TEST_CASE("bits: what is typed with more digits than a double has is kept as a decimal, and a short one as the value") {
  using namespace chapters::precision::bits;
  Inputs in;
  CHECK(take_typed(in, " 0.25 "));
  CHECK((in.value == 0.25 && in.decimal.empty()));
  CHECK(take_typed(in, "8.00000143051147460937499"));
  CHECK(in.decimal == "8.00000143051147460937499");
  in.format = "fp32";
  CHECK(compute(in).facts.value == 8 + 0x1p-20);
  CHECK_FALSE(take_typed(in, "1e-400"));
  CHECK(in.decimal == "8.00000143051147460937499");
  CHECK(take_typed(in, "1/3"));
  CHECK(in.decimal.empty());
  const LabPtr lab = open_lab("precision/bits");
  CHECK(reason_of(set(*lab, "decimal", "1e-400")) ==
        "The decimal reads as none between 5e-324 and 1.8e308: write up to 80 digits, as 0.1 or 6.02e23.");
}

TEST_CASE("bits: a tie shows both ways as half a step, and which neighbour's code is even") {
  const LabPtr lab = open_lab("precision/bits", R"({"format": "bf16", "value": 1.00390625})");
  compute(*lab);
  Canvas tie(*lab, {1200, 900});
  for (const char* words : {"half a step", "0x3F80: ends in 0, even", "0x3F81: ends in 1, odd"}) {
    INFO(words);
    CHECK(tie.ui.text_present(words));
  }
  compute(set(*lab, "value", 1.001));
  Canvas nearer(*lab, {1200, 900});
  CHECK_FALSE(nearer.ui.text_present("half a step"));
}

// 480 would be the eighth step of E4M3's last octave, and its code is NaN.
TEST_CASE("bits: the last octave of E4M3 ends at 448, and that of FP16 is whole") {
  using namespace chapters::precision::bits;
  Inputs in;
  in.format = "e4m3fn";
  in.value = 400;
  const auto picture_of = [](const Inputs& inputs) {
    return support::picture_of(inputs, chapters::precision::bits::compute, arrange);
  };
  const Picture e4m3 = picture_of(in);
  CHECK(e4m3.octave_end == 0.75);
  CHECK(e4m3.octave_hi == "448");
  CHECK(e4m3.octave_words.starts_with("6 steps of 2"));
  in.value = 200;
  CHECK(picture_of(in).octave_end == 1);
  in.format = "fp16";
  in.value = 65000;
  CHECK(picture_of(in).octave_end == 1);
}
