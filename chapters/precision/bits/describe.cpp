#include "chapters/precision/bits/lab.h"

#include <bit>
#include <tuple>

namespace chapters::precision::bits {

bool Inputs::operator==(const Inputs& o) const {
  return std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(o.value) &&
         std::tie(format, decimal, code, rounding, overflow, seed, compare) ==
             std::tie(o.format, o.decimal, o.code, o.rounding, o.overflow, o.seed, o.compare);
}

void describe(Fields& f, Inputs& in) {
  f.group("The number");
  f.choice("format", in.format, format_choices(), "Format", "The format whose bits are shown.", {.headline = true});
  f.real("value", in.value, "Value",
         "The number that is stored: up to 15 digits are taken as the decimal that they are; inf, -inf or nan too. "
         "Waits while a decimal or a code is set.",
         {.range = {-8, 8}, .headline = true, .any_number = true});
  f.group("The number, typed otherwise");
  f.text("decimal", in.decimal, "Decimal",
         "A number of up to 80 digits, rounded as the decimal that it is: 9007199254740993. Empty: the value counts.");
  f.text("code", in.code, "Code", "A code instead of a value: 0x2E66, 0b1010 or decimal. Empty: the value counts.");
  f.group("How it is rounded");
  f.choice("rounding", in.rounding, rounding_choices(), "Rounding",
           "Which of the two neighbours takes a number between them.");
  f.choice("overflow", in.overflow, overflow_choices(), "Overflow", "What becomes of a number past the largest value.");
  f.integer("seed", in.seed, "Draw", "Another draw of stochastic rounding.",
            {.range = {1, 1000, Scale::step}, .when = {"rounding", "stochastic"}});
  f.group("Next to it");
  f.choices("compare", in.compare, format_choices(), "Compare", "The same number in these formats.", {.max_items = 16});
}

void describe(Fields& f, Row& r) {
  f.text("id", r.id, "Format");
  f.text("code", r.code, "Code");
  f.real("value", r.value, "Value", {.may_be_missing = true});
  f.text("kind", r.kind, "Kind");
  f.real("error", r.error, "Error", {.may_be_missing = true, .formula = "value - number"});
  f.real("relative_error", r.relative_error, {"Relative error", "%"},
         {.may_be_missing = true, .formula = "(value - number) / number"});
}

void describe(Fields& f, Outputs& o) {
  f.group("What is stored");
  f.text("code", o.code, "Code", "Sign, exponent and mantissa from the left, in hexadecimal.");
  f.real("value", o.value, "Value", "What the code is worth, exactly; no number for inf and nan (see kind).",
         {
             .headline = true,
             .absent = "Infinity and NaN are no numbers.",
             .formula = "(-1)^sign x 2^exponent x significand",
             .source = "IEEE 754-2019, 3.3",
         });
  f.text("kind", o.kind, "Kind", "zero, subnormal, normal, inf or nan.");
  f.real(
      "ulp", o.ulp, "ULP", "Spacing of the values here.",
      {.headline = true, .absent = "What is stored is no finite number.", .formula = "2^(exponent - mantissa bits)"});
  f.group("Its neighbours");
  f.real("next_up", o.next_up, "Next up", "The neighbour above; no number where it is infinite or there is none.",
         {.absent = "No finite value lies above it.", .source = "IEEE 754-2019, nextUp"});
  f.real("next_down", o.next_down, "Next down", "The neighbour below; no number where it is infinite or there is none.",
         {.absent = "No finite value lies below it.", .source = "IEEE 754-2019, nextDown"});
  f.group("What rounding did");
  f.real("error", o.error, "Error", "What rounding added.",
         {.absent = "What is stored is no finite number.", .formula = "value - number"});
  f.real("relative_error", o.relative_error, {"Relative error", "%"},
         {.headline = true,
          .absent = "The number is zero, or what is stored is not finite.",
          .formula = "(value - number) / number"});
  f.real("error_ulp", o.error_ulp, "Error in ULP", "At most a half under nearest even, below one otherwise.",
         {.absent = "What is stored is no finite number.", .formula = "error / ulp"});
  f.real("relative_ulp", o.relative_ulp, {"ULP / value", "%"}, "How coarse the format is here.",
         {.absent = "What is stored is zero, or no finite number.", .formula = "ulp / |value|"});
  f.text("rule", o.rule, "Decided by", "The rule that chose between the neighbours.");
  f.group("Between which values");
  f.real("lower", o.lower, "Lower neighbour", "The largest value that is not above the number.",
         {.absent = "No value lies below the number."});
  f.real("upper", o.upper, "Upper neighbour",
         "The smallest value above the number; past the largest one, where the next would be.",
         {.absent = "No value lies above the number."});
  f.real("midpoint", o.midpoint, "Midpoint",
         {.absent = "The number does not lie between two values.", .formula = "(lower + upper) / 2"});
  f.real("position", o.position, {"On the way up", "%"},
         "Where the number lies between its neighbours; what stochastic rounding goes up with.",
         {.absent = "The number does not lie between two values.", .formula = "(number - lower) / (upper - lower)"});
  f.group("The code, taken apart");
  f.integer("sign", o.sign, "Sign bit", "1: negative.");
  f.integer("exponent_field", o.exponent_field, "Exponent field", "As stored, before the bias is taken off.");
  f.integer("exponent", o.exponent, "Exponent", {.formula = "field - bias, and 1 - bias for subnormals"});
  f.integer("mantissa_field", o.mantissa_field, "Mantissa field", "As stored, without the hidden bit.");
  f.real("code_number", o.code_number, "Code as a number", "Exact up to 53 bits.");
  f.group("In full");
  f.text("next_up_code", o.next_up_code, "Code of next up");
  f.text("next_down_code", o.next_down_code, "Code of next down");
  f.text("number", o.number, "Rounded is", "The number that is rounded, up to 26 letters of it.");
  f.text("stored", o.stored, "Stored is", "The value with as many digits as tell it from its neighbours.");
  f.text("exact", o.exact, "In full", "All decimal digits, up to 40.");
  f.group("Other formats");
  f.table("formats", o.formats, "In other formats");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"precision/bits", "Bits", "Which number is really stored, and who decided?"}, compute, arrange, draw);
}

}  // namespace chapters::precision::bits
