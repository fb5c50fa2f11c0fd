#include <charconv>
#include <cmath>

#include "chapters/precision/bits/lab.h"
#include "widgets/number/number.h"

namespace chapters::precision::bits {
namespace {

using models::FloatFormat;
using models::FormatFamily;
using models::RoundingRule;
using models::Specials;
using models::ValueKind;

std::string short_text(double x) { return models::exact_decimal(x, 17); }
/// The shortest decimal that is read back as the same number: what was typed, not what is stored.
std::string typed_text(double x) {
  if (!std::isfinite(x)) return short_text(x);
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}
std::string percent(double share) { return widgets::format_text(100 * share, "%"); }

/// One sentence that says what decided.
std::string sentence_of(const Inputs& in, const FloatFormat& f, const models::RoundingStudy& s, double x) {
  const std::string name(f.name), number = typed_text(x);
  if (gives_code(in)) return "The code was given: nothing is rounded. All numbers of the shaded stretch round to it.";
  switch (s.rule) {
    case RoundingRule::exact:
      return number + " is a value of " + name + ": nothing to decide. All numbers of the shaded stretch round to it.";
    case RoundingRule::nearer:
      return "It lies " + percent(s.position) + " of the way up, " + (s.position < 0.5 ? "below" : "above") +
             " the midpoint: the " + (s.value <= x ? "lower" : "upper") + " neighbour is nearer.";
    case RoundingRule::tie:
      return std::string("Exactly the midpoint. ") +
             (f.family == FormatFamily::table
                  ? "The lower value takes a tie."
                  : "The neighbour whose last bit is 0 takes a tie, so that ties go up as often as down.");
    case RoundingRule::truncated:
      return "Toward zero cuts off whatever lies between, however near the other neighbour is.";
    case RoundingRule::drawn:
      return "Up with probability " + percent(s.position) + ", down otherwise: draw " + std::to_string(in.seed) +
             " went " + (s.value >= x ? "up" : "down") + ". Over many draws the mean is the number itself.";
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

/// The formula that stands in place of sign, power and significand where the code is no number.
std::string special_text(const FloatFormat& f, ValueKind kind) {
  if (kind == ValueKind::inf) return "exponent all ones, mantissa 0: infinity";
  if (kind != ValueKind::nan) return {};
  if (f.specials == Specials::fnuz) return "the code of -0 is NaN here";
  return f.specials == Specials::ieee ? "exponent all ones, mantissa not 0: NaN" : "all ones: NaN";
}

/// How the value is put together from the fields of the code.
void write_parts(const FloatFormat& f, const Outputs& out, Picture& p) {
  const std::uint64_t code = out.study.code, mantissa = code & ((std::uint64_t{1} << f.mantissa_bits) - 1);
  if (f.family == FormatFamily::table) {
    p.mantissa_text = "index";
    p.plain_formula = "entry " + std::to_string(code) + " of the table";
    return;
  }
  p.sign_text = "sign";
  if (f.family == FormatFamily::integer) {
    p.mantissa_text = "two's complement";
    p.plain_formula =
        out.sign ? "-" + std::to_string(f.sign_mask()) + " + " + std::to_string(mantissa) : std::to_string(mantissa);
    return;
  }
  const auto field = static_cast<std::uint64_t>(out.exponent_field);
  const bool hidden = field > 0 || f.specials == Specials::scale;
  const std::string of_mantissa = std::to_string(std::uint64_t{1} << f.mantissa_bits);
  p.exponent_text = f.exponent_bits > 1
                        ? "exponent  " + binary_text(field, f.exponent_bits) + " = " + std::to_string(field)
                        : "exponent";
  p.plain_formula = special_text(f, models::classify(f, code));
  p.power_text = std::to_string(hidden ? out.exponent_field : 1) + " - " + std::to_string(f.bias);
  if (f.mantissa_bits == 0) return;
  p.mantissa_text =
      (f.mantissa_bits > 3 ? "mantissa  " : "mantissa ") + std::to_string(mantissa) + " of " + of_mantissa;
  p.significand_text =
      "(" + std::string(hidden ? "1" : "0") + " + " + std::to_string(mantissa) + " / " + of_mantissa + ")";
}

/// Where the buttons under the number go from `code`.
std::vector<Jump> jumps_of(const FloatFormat& f, std::uint64_t code) {
  const bool is_signed = f.family == FormatFamily::binary && f.sign_bits;
  const std::int64_t last = models::last_ordinal(f);
  std::vector<Jump> out;
  if (is_signed) {
    const bool no_negative_zero = f.specials == Specials::fnuz && (code & ~f.sign_mask()) == 0;
    out = {{"negate", no_negative_zero ? 0 : code ^ f.sign_mask()}, {"0", 0}};
  }
  out.push_back({"1", models::encode(f, 1)});
  out.push_back({"largest", models::code_at(f, last)});
  if (is_signed) out.insert(out.end(), {{"smallest normal", std::uint64_t{1} << f.mantissa_bits}, {"smallest", 1}});
  if (f.has_inf()) out.push_back({"inf", static_cast<std::uint64_t>(last) + 1});
  if (f.has_nan()) out.push_back({"NaN", models::encode(f, std::nan(""))});
  return out;
}

/// The line on which an exact value stands in the middle of its neighbours.
void label_exact(const FloatFormat& f, const Outputs& out, Picture& p) {
  p.exact = true;
  if (p.down) p.left = {short_text(models::decode(f, *p.down)), out.next_down_code, "next down"};
  if (p.up) p.right = {short_text(models::decode(f, *p.up)), out.next_up_code, "next up"};
  p.middle = {out.exact.size() > 26 ? typed_text(p.number) : out.exact, out.code, "stored"};
}

/// The line between the two neighbours that compete; past an end one of them has no code.
void label_neighbours(const FloatFormat& f, const models::RoundingStudy& s, Picture& p) {
  p.left = {short_text(s.lower), s.past_lowest ? "no code" : code_text(f, s.lower_code),
            s.lower_chosen  ? "stored"
            : s.past_lowest ? "would be next"
                            : "lower"};
  p.right = {short_text(s.upper), s.past_highest ? "no code" : code_text(f, s.upper_code),
             s.upper_chosen   ? "stored"
             : s.past_highest ? "would be next"
                              : "upper"};
  p.goes_down = !s.upper_chosen;
  p.midpoint_text = short_text(s.midpoint);
  p.chance_text = "up in " + percent(s.position) + " of the draws";
  p.number_label = "number " + typed_text(p.number);
}

FormatLine line_of(const Inputs& in, const Row& row, double x) {
  FormatLine line;
  line.format = models::find_float_format(row.id);
  line.bits = encode_as_set(in, *line.format, x);
  line.code = row.code;
  const double v = models::decode(*line.format, line.bits);
  line.value = short_text(v);
  line.lost = !std::isfinite(v) || (v == 0 && x != 0);
  line.exact = row.relative_error == 0;
  if (line.lost)
    line.outcome = v == 0 ? "underflow" : std::isnan(v) ? "NaN" : "infinity";
  else
    line.outcome = line.exact ? "exact" : widgets::format_text(row.relative_error, "%");
  return line;
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  p.format = models::find_float_format(in.format);
  if (!out.reason.empty() || !p.format) return p;
  const FloatFormat& f = *p.format;
  const models::RoundingStudy& s = out.study;
  p.number = gives_code(in) ? s.value : in.value;
  p.up = models::next_up(f, s.code);
  p.down = models::next_down(f, s.code);
  p.jumps = jumps_of(f, s.code);
  p.title_note = f.standard;
  if (f.family == FormatFamily::binary)
    p.title_note += ", " + std::to_string(f.exponent_bits) + " exponent and " + std::to_string(f.mantissa_bits) +
                    " mantissa bits, bias " + std::to_string(f.bias);
  p.decided = sentence_of(in, f, s, p.number);
  write_parts(f, out, p);
  if (s.rule == RoundingRule::exact || !std::isfinite(s.lower) || !std::isfinite(s.upper))
    label_exact(f, out, p);
  else
    label_neighbours(f, s, p);
  for (const Row& row : out.formats) p.formats.push_back(line_of(in, row, p.number));
  return p;
}

}  // namespace chapters::precision::bits
