#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "chapters/precision/bits/lab.h"
#include "models/numerics/float_cast.h"
#include "widgets/number/number.h"

namespace chapters::precision::bits {
namespace {

using models::FloatFormat;
using models::FormatFamily;
using models::RoundingRule;
using models::ValueKind;

const double missing = std::nan("");
double finite_or_missing(double x) { return std::isfinite(x) ? x : missing; }

std::string short_text(double x) { return models::exact_decimal(x, 17); }
/// The shortest decimal that is read back as the same number: what was typed, not what is stored.
std::string typed_text(double x) {
  if (!std::isfinite(x)) return short_text(x);
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

std::string_view rule_text(RoundingRule rule) {
  static constexpr std::string_view texts[] = {
      "exact",     "nearer neighbour",     "tie to even",     "toward zero",    "drawn",
      "saturated", "overflow to infinity", "overflow to NaN", "smallest value", "not a number"};
  return texts[static_cast<std::size_t>(rule)];
}

/// One sentence for the picture: what decided.
std::string sentence_of(const Inputs& in, const FloatFormat& f, const models::RoundingStudy& s, double x,
                        bool from_code) {
  const std::string name(f.name), number = typed_text(x);
  if (from_code) return "The code was given: nothing is rounded. All numbers of the shaded stretch round to it.";
  switch (s.rule) {
    case RoundingRule::exact:
      return number + " is a value of " + name + ": nothing to decide. All numbers of the shaded stretch round to it.";
    case RoundingRule::nearer:
      return "It lies " + widgets::format_percent(s.position) + " of the way up, " +
             (s.position < 0.5 ? "below" : "above") + " the midpoint: the " + (s.value <= x ? "lower" : "upper") +
             " neighbour is nearer.";
    case RoundingRule::tie:
      return std::string("Exactly the midpoint. ") +
             (f.family == FormatFamily::table
                  ? "The lower value takes a tie."
                  : "The neighbour whose last bit is 0 takes a tie, so that ties go up as often as down.");
    case RoundingRule::truncated:
      return "Toward zero cuts off whatever lies between, however near the other neighbour is.";
    case RoundingRule::drawn:
      return "Up with probability " + widgets::format_percent(s.position) + ", down otherwise: draw " +
             std::to_string(in.seed) + " went " + (s.value >= x ? "up" : "down") +
             ". Over many draws the mean is the number itself.";
    case RoundingRule::saturated:
      return "Past the largest value, " + short_text(s.value) + " is taken in its place: " +
             (in.overflow == models::Overflow::saturate ? "saturation was asked for."
                                                        : name + " has neither infinity nor NaN.");
    case RoundingRule::to_infinity:
      return "Half a step past the largest value or farther: infinity, and every sum it enters is lost.";
    case RoundingRule::to_nan:
      return "Half a step past the largest value or farther, and " + name + " has no infinity: NaN.";
    case RoundingRule::clamped_up:
      return name + " has no zero: its smallest value is taken.";
    case RoundingRule::not_a_number:
      return f.has_nan() ? "Not a number stays one."
                         : name + " has no NaN: " + short_text(s.value) + " is taken in its place.";
  }
  return {};
}

std::string binary_text(std::uint64_t field, int bits) {
  std::string s;
  for (int i = bits - 1; i >= 0; --i) s += (field >> i & 1) ? '1' : '0';
  return s;
}

/// The fields of the code, and how its value is put together from them.
void take_apart(Outputs& o) {
  const FloatFormat& f = *o.format;
  const std::uint64_t mantissa = o.bits & ((std::uint64_t{1} << f.mantissa_bits) - 1);
  o.sign = f.sign_bits && (o.bits & f.sign_mask()) ? 1 : 0;
  o.mantissa_field = f.family == FormatFamily::binary ? static_cast<double>(mantissa) : static_cast<double>(o.bits);
  if (f.family == FormatFamily::table) {
    o.mantissa_text = "index";
    o.plain_formula = "entry " + std::to_string(o.bits) + " of the table";
    return;
  }
  if (f.family == FormatFamily::integer) {
    o.sign_text = "sign";
    o.mantissa_text = "two's complement";
    o.plain_formula =
        o.sign ? "-" + std::to_string(f.sign_mask()) + " + " + std::to_string(mantissa) : std::to_string(mantissa);
    return;
  }
  const std::uint64_t field = (o.bits & ~f.sign_mask()) >> f.mantissa_bits;
  o.exponent_field = static_cast<std::int64_t>(field);
  const bool scale = f.specials == models::Specials::scale, hidden = field > 0 || scale;
  o.exponent = (hidden ? o.exponent_field : 1) - f.bias;
  o.sign_text = "sign";
  o.exponent_text = f.exponent_bits > 1
                        ? "exponent  " + binary_text(field, f.exponent_bits) + " = " + std::to_string(field)
                        : "exponent";
  if (f.mantissa_bits > 0)
    o.mantissa_text = (f.mantissa_bits > 3 ? "mantissa  " : "mantissa ") + std::to_string(mantissa) + " of " +
                      std::to_string(std::uint64_t{1} << f.mantissa_bits);
  const ValueKind kind = models::classify(f, o.bits);
  if (kind == ValueKind::inf)
    o.plain_formula = "exponent all ones, mantissa 0: infinity";
  else if (kind == ValueKind::nan)
    o.plain_formula = f.specials == models::Specials::fnuz   ? "the code of -0 is NaN here"
                      : f.specials == models::Specials::ieee ? "exponent all ones, mantissa not 0: NaN"
                                                             : "all ones: NaN";
  o.power_text = std::to_string(hidden ? o.exponent_field : 1) + " - " + std::to_string(f.bias);
  if (f.mantissa_bits > 0)
    o.significand_text = "(" + std::string(hidden ? "1" : "0") + " + " + std::to_string(mantissa) + " / " +
                         std::to_string(std::uint64_t{1} << f.mantissa_bits) + ")";
}

/// Where the buttons under the number go from `bits`.
std::vector<Jump> jumps_of(const FloatFormat& f, std::uint64_t bits) {
  const bool is_signed = f.family == FormatFamily::binary && f.sign_bits;
  const std::int64_t last = models::last_ordinal(f);
  std::vector<Jump> out;
  if (is_signed) {
    const bool no_negative_zero = f.specials == models::Specials::fnuz && (bits & ~f.sign_mask()) == 0;
    out = {{"negate", no_negative_zero ? 0 : bits ^ f.sign_mask()}, {"0", 0}};
  }
  out.push_back({"1", models::encode(f, 1)});
  out.push_back({"largest", models::code_at(f, last)});
  if (is_signed) out.insert(out.end(), {{"smallest normal", std::uint64_t{1} << f.mantissa_bits}, {"smallest", 1}});
  if (f.has_inf()) out.push_back({"inf", static_cast<std::uint64_t>(last) + 1});
  if (f.has_nan()) out.push_back({"NaN", models::encode(f, missing)});
  return out;
}

Row row_of(const FloatFormat& f, double x, const Inputs& in) {
  Row r{.id = std::string(f.id), .name = std::string(f.name), .format = &f};
  r.bits =
      models::encode(f, x, in.rounding, in.overflow, models::random_bits_at(static_cast<std::uint64_t>(in.seed), 0));
  const double v = models::decode(f, r.bits);
  r.code = code_text(f, r.bits);
  r.kind = models::kind_text(models::classify(f, r.bits));
  r.text = short_text(v);
  r.value = finite_or_missing(v);
  r.error = finite_or_missing(v - x);
  r.relative_error = x == 0 ? (v == 0 ? 0 : missing) : finite_or_missing(100 * ((v - x) / x));
  r.lost = std::isinf(v) || std::isnan(v) || (v == 0 && x != 0);
  if (r.lost)
    r.outcome = v == 0 ? "underflow" : std::isnan(v) ? "NaN" : "infinity";
  else
    r.outcome = r.relative_error == 0 ? "exact" : widgets::format_text(r.relative_error, "%");
  return r;
}

/// The number that the inputs mean and the code it gets; a sentence where the code is none.
std::string take_number(const Inputs& in, const FloatFormat& f, Outputs& o) {
  if (trimmed(in.code).empty()) {
    o.typed = in.value;
    o.study = models::study_rounding(f, o.typed, in.rounding, in.overflow,
                                     models::random_bits_at(static_cast<std::uint64_t>(in.seed), 0));
    o.bits = o.study.code;
    return {};
  }
  const auto code = read_code(in.code);
  if (!code || *code > f.code_mask())
    return (code ? "The code does not fit: codes of " : "The code reads as none: codes of ") + std::string(f.name) +
           " go from " + code_text(f, 0) + " to " + code_text(f, f.code_mask()) + ", as 0x..., 0b... or decimal.";
  o.typed = models::decode(f, *code);
  o.from_code = true;
  o.bits = *code;
  o.study = models::study_rounding(f, o.typed, in.rounding, models::Overflow::ieee);
  o.study.code = *code;
  o.study.value = o.typed;
  if (std::isfinite(o.typed)) o.study.rule = RoundingRule::exact;
  return {};
}

}  // namespace

std::optional<std::uint64_t> read_code(std::string_view text) {
  text = trimmed(text);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) base = 16;
  if (text.starts_with("0b") || text.starts_with("0B")) base = 2;
  if (base != 10) text.remove_prefix(2);
  std::uint64_t code = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), code, base);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return code;
}

std::optional<double> read_number(std::string_view text) {
  text = trimmed(text);
  if (const auto special = widgets::parse_special(text)) return special;
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    const auto a = read_number(text.substr(0, slash)), b = read_number(text.substr(slash + 1));
    return a && b ? std::optional(*a / *b) : std::nullopt;
  }
  if (const auto power = text.find('^'); power != std::string_view::npos) {
    const auto a = read_number(text.substr(0, power)), b = read_number(text.substr(power + 1));
    return a && b ? std::optional(std::pow(*a, *b)) : std::nullopt;
  }
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  double v = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), v,
                                    hex ? std::chars_format::hex : std::chars_format::general);
  if (text.empty() || text.front() == '-' || read.ptr != text.data() + text.size()) return std::nullopt;
  if (read.ec == std::errc::result_out_of_range)
    v = text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos ? 0 : HUGE_VAL;
  else if (read.ec != std::errc())
    return std::nullopt;
  return negative ? -v : v;
}

void show_code(Inputs& in, const FloatFormat& f, std::uint64_t code) {
  code &= f.code_mask();
  const double v = models::decode(f, code);
  // Back through the value where it says the same; a NaN's payload or a clipped infinity needs the code itself
  const bool value_says_it = models::encode(f, v, in.rounding, in.overflow,
                                            models::random_bits_at(static_cast<std::uint64_t>(in.seed), 0)) == code;
  if (value_says_it) in.value = v;
  in.code = value_says_it ? std::string() : code_text(f, code);
}

Outputs compute(const Inputs& in) {
  Outputs o;
  const FloatFormat* f = models::find_float_format(in.format);
  if (!f) {
    o.reason = "There is no format " + in.format + ".";
    return o;
  }
  o.format = f;
  if (o.reason = take_number(in, *f, o); !o.reason.empty()) return o;
  const models::RoundingStudy& s = o.study;
  const double x = o.typed, v = models::decode(*f, o.bits);
  o.code = code_text(*f, o.bits);
  o.code_number = static_cast<double>(o.bits);
  o.value = finite_or_missing(v);
  o.kind = models::kind_text(models::classify(*f, o.bits));
  o.exact = models::exact_decimal(v, 40);
  o.ulp = models::ulp(*f, o.bits);
  o.jumps = jumps_of(*f, o.bits);
  o.up = models::next_up(*f, o.bits);
  o.down = models::next_down(*f, o.bits);
  o.next_up = o.up ? finite_or_missing(models::decode(*f, *o.up)) : missing;
  o.next_down = o.down ? finite_or_missing(models::decode(*f, *o.down)) : missing;
  o.next_up_code = o.up ? code_text(*f, *o.up) : "none";
  o.next_down_code = o.down ? code_text(*f, *o.down) : "none";
  o.up_text = o.up ? short_text(models::decode(*f, *o.up)) : "none";
  o.down_text = o.down ? short_text(models::decode(*f, *o.down)) : "none";
  o.error = finite_or_missing(v - x);
  o.relative_error = x == 0 ? (v == 0 ? 0 : missing) : finite_or_missing(100 * ((v - x) / x));
  o.error_ulp = finite_or_missing(o.error / o.ulp);
  o.relative_ulp = v == 0 ? missing : finite_or_missing(100 * (o.ulp / std::abs(v)));
  o.rule = o.from_code ? "the code itself" : rule_text(s.rule);
  o.lower = finite_or_missing(s.lower);
  o.upper = finite_or_missing(s.upper);
  o.midpoint = finite_or_missing(s.midpoint);
  o.position = finite_or_missing(100 * s.position);
  take_apart(o);
  o.title_note = std::string(f->standard) +
                 (f->family == FormatFamily::binary
                      ? ", " + std::to_string(f->exponent_bits) + " exponent and " + std::to_string(f->mantissa_bits) +
                            " mantissa bits, bias " + std::to_string(f->bias)
                      : "");
  o.decided = sentence_of(in, *f, s, x, o.from_code);
  o.typed_text = typed_text(x);
  o.lower_text = short_text(s.lower);
  o.upper_text = short_text(s.upper);
  o.midpoint_text = short_text(s.midpoint);
  o.chance_text = "up in " + widgets::format_percent(s.position) + " of the draws";
  o.lower_code = code_text(*f, s.lower_code);
  o.upper_code = code_text(*f, s.upper_code);
  o.number_label = "number " + o.typed_text;
  for (const std::string& id : in.compare)
    if (const FloatFormat* other = models::find_float_format(id)) o.formats.push_back(row_of(*other, x, in));
  return o;
}

}  // namespace chapters::precision::bits
