#include <cmath>
#include <iterator>
#include <memory>
#include <utility>

#include "chapters/precision/bits/lab.h"
#include "models/base/result.h"

namespace chapters::precision::bits {
namespace {

using models::FloatFormat, models::FormatFamily, models::RoundingRule;

const double missing = std::nan("");
double finite_or_missing(double x) { return std::isfinite(x) ? x : missing; }

/// (value - number) / number in percent; 0 where both are 0.
double relative_percent(const models::RoundingStudy& study, const models::TypedDecimal& number) {
  if (number.value == 0) return study.value == 0 ? 0 : missing;
  return finite_or_missing(100 * (study.error / number.value));
}

std::string_view rule_text(const FloatFormat& f, RoundingRule rule) {
  static constexpr std::string_view texts[] = {
      "exact",     "nearer neighbour",     "tie to even",     "toward zero",    "drawn",
      "saturated", "overflow to infinity", "overflow to NaN", "smallest value", "not a number"};
  static_assert(std::size(texts) == static_cast<std::size_t>(RoundingRule::not_a_number) + 1);
  if (rule == RoundingRule::tie && f.family == FormatFamily::table) return "tie to the lower";
  if (rule == RoundingRule::tie && f.specials == models::Specials::scale) return "tie to the upper";
  return texts[static_cast<std::size_t>(rule)];
}

/// The rounding of the value, or of the code that is given in its place; a sentence where the code is none.
models::Result<models::RoundingStudy> study_of(const Inputs& in, const FloatFormat& f) {
  using Study = models::Result<models::RoundingStudy>;
  if (!gives_code(in) && !in.decimal.empty() && !models::read_decimal(in.decimal))
    return Study::fail(
        "The decimal reads as none between 5e-324 and 1.8e308: write up to 80 digits, as 0.1 or 6.02e23.");
  if (!gives_code(in)) return Study::ok(study_number(in, f, number_of(in, 0)));
  const auto code = read_code(in.code);
  if (code && *code <= f.code_mask()) return Study::ok(models::study_code(f, *code, in.rounding));
  return Study::fail((code ? "The code does not fit: codes of " : "The code reads as none: codes of ") +
                     std::string(f.name) + " go from " + code_text(f, 0) + " to " + code_text(f, f.code_mask()) +
                     ", as 0x..., 0b... or decimal.");
}

/// The fields that the code is made of, as numbers.
void take_apart(const FloatFormat& f, std::uint64_t code, Outputs& o) {
  const std::uint64_t mantissa = code & ((std::uint64_t{1} << f.mantissa_bits) - 1);
  const bool binary = f.family == FormatFamily::binary;
  o.sign = f.sign_bits && (code & f.sign_mask()) ? 1 : 0;
  o.mantissa_field = static_cast<std::int64_t>(binary ? mantissa : code);
  if (!binary) return;
  o.exponent_field = static_cast<std::int64_t>((code & ~f.sign_mask()) >> f.mantissa_bits);
  const bool hidden = o.exponent_field > 0 || f.specials == models::Specials::scale;
  o.exponent = (hidden ? o.exponent_field : 1) - f.bias;
}

Row row_of(const FloatFormat& f, const models::TypedDecimal& x, const models::RoundingStudy& study) {
  const std::uint64_t code = study.code;
  return {
      .id = std::string(f.id),
      .code = code_text(f, code),
      .kind = std::string(models::kind_text(models::classify(f, code))),
      .value = finite_or_missing(study.value),
      .error = finite_or_missing(study.error),
      .relative_error = relative_percent(study, x),
  };
}

}  // namespace

chapters::Computed<Outputs, Run> compute(const Inputs& in) {
  const FloatFormat* f = models::find_float_format(in.format);
  if (!f) return {.facts = {.reason = "There is no format " + in.format + "."}};
  const auto study = study_of(in, *f);
  if (!study) return {.facts = {.reason = study.error}};
  Outputs o;
  const std::uint64_t code = study->code;
  const double v = models::decode(*f, code);
  auto run = std::make_shared<Run>();
  run->number = number_of(in, v);
  run->study = *study;
  const models::TypedDecimal& x = run->number;
  o.code = code_text(*f, code);
  o.code_number = static_cast<double>(code);
  o.value = finite_or_missing(v);
  o.kind = models::kind_text(models::classify(*f, code));
  o.exact = models::exact_decimal(v, 40);
  o.number = number_text(x);
  o.stored = std::isinf(v) ? (v > 0 ? "infinity" : "minus infinity") : std::isnan(v) ? "NaN" : value_text(*f, v);
  o.ulp = models::ulp(*f, code);
  const auto up = models::next_up(*f, code), down = models::next_down(*f, code);
  o.next_up = up ? finite_or_missing(models::decode(*f, *up)) : missing;
  o.next_down = down ? finite_or_missing(models::decode(*f, *down)) : missing;
  o.next_up_code = up ? code_text(*f, *up) : "none";
  o.next_down_code = down ? code_text(*f, *down) : "none";
  o.error = finite_or_missing(study->error);
  o.relative_error = relative_percent(*study, x);
  o.error_ulp = finite_or_missing(o.error / o.ulp);
  o.relative_ulp = v == 0 ? missing : finite_or_missing(100 * (o.ulp / std::abs(v)));
  o.rule = gives_code(in) ? "the code itself" : rule_text(*f, study->rule);
  o.lower = finite_or_missing(study->lower);
  o.upper = finite_or_missing(study->upper);
  // Half a step of FP64 is no double: there is no number to give.
  const bool between = study->midpoint != study->lower && study->midpoint != study->upper;
  o.midpoint = between || study->lower == study->upper ? finite_or_missing(study->midpoint) : missing;
  o.position = finite_or_missing(100 * study->position);
  take_apart(*f, code, o);
  for (const std::string& id : in.compare)
    if (const FloatFormat* other = models::find_float_format(id)) {
      run->formats.push_back(study_number(in, *other, x));
      o.formats.push_back(row_of(*other, x, run->formats.back()));
    }
  return {std::move(o), std::move(run)};
}

}  // namespace chapters::precision::bits
