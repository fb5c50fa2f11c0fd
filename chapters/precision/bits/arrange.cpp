#include <algorithm>
#include <cmath>

#include "chapters/precision/bits/lab.h"
#include "widgets/number/number.h"

namespace chapters::precision::bits {
namespace {

using models::FloatFormat, models::FormatFamily, models::RoundingRule, models::Specials, models::ValueKind;

std::string percent(double share) { return widgets::format_text(100 * share, "%"); }

/// "largest value", or "lowest" at the other end.
std::string end_text(const models::RoundingStudy& s) { return s.past_lowest ? "lowest value" : "largest value"; }

/// Whether a finite number past the end was drawn between the last value and what follows it.
bool drawn_at_end(const Inputs& in, const FloatFormat& f, const models::RoundingStudy& s) {
  return in.rounding == models::Rounding::stochastic && in.overflow == models::Overflow::ieee && f.has_nan() &&
         s.past_end && s.position > 0 && s.position < 1;
}
/// Which neighbour takes a tie.
std::string tie_text(const FloatFormat& f) {
  if (f.family == FormatFamily::table) return "lower value";
  return f.specials == Specials::scale ? "upper value" : "even code";
}
std::string tie_sentence(const FloatFormat& f) {
  if (f.family == FormatFamily::table) return "The lower value takes a tie.";
  if (f.specials == Specials::scale)
    return "The upper value takes a tie: with no mantissa stored, the last bit kept is the hidden one, which is odd.";
  return "The neighbour whose last bit is 0 takes a tie, so that ties go up as often as down.";
}

/// One sentence that says what decided.
std::string sentence_of(const Inputs& in, const FloatFormat& f, const models::RoundingStudy& s,
                        const models::TypedDecimal& x) {
  const std::string name(f.name), number = number_text(x);
  if (gives_code(in)) return "The code was given: nothing is rounded. All numbers of the shaded stretch round to it.";
  switch (s.rule) {
    case RoundingRule::exact:
      return number + " is a value of " + name + ": nothing to decide. All numbers of the shaded stretch round to it.";
    case RoundingRule::nearer:
      return "It lies " + percent(s.position) + " of the way up, " + (s.position < 0.5 ? "below" : "above") +
             " the midpoint: the " + (s.lower_chosen ? "lower" : "upper") + " neighbour is nearer.";
    case RoundingRule::tie:
      return "Exactly the midpoint. " + tie_sentence(f);
    case RoundingRule::truncated:
      return "Toward zero cuts off whatever lies between, however near the other neighbour is.";
    case RoundingRule::drawn:
      return "Up with probability " + percent(s.position) + ", down otherwise: draw " + std::to_string(in.seed) +
             " went " + (s.upper_chosen ? "up" : "down") + ". Over many draws the mean is the number itself.";
    case RoundingRule::saturated:
      if (drawn_at_end(in, f, s))
        return "Past the " + end_text(s) + " by less than a step: draw " + std::to_string(in.seed) + " kept it.";
      return "Past the " + end_text(s) + ", " + value_text(f, s.value) + " is taken in its place: " +
             (in.overflow == models::Overflow::saturate ? "saturation was asked for."
                                                        : name + " has neither infinity nor NaN.");
    case RoundingRule::to_infinity:
      if (drawn_at_end(in, f, s))
        return "Past the " + end_text(s) + " by less than a step: draw " + std::to_string(in.seed) +
               " took infinity, and every sum it enters is lost.";
      return "Half a step past the " + end_text(s) + " or farther: infinity, and every sum it enters is lost.";
    case RoundingRule::to_nan:
      if (drawn_at_end(in, f, s))
        return "Past the " + end_text(s) + " by less than a step: draw " + std::to_string(in.seed) + " took NaN.";
      return "Half a step past the " + end_text(s) + " or farther, and " + name + " has no infinity: NaN.";
    case RoundingRule::clamped_up:
      return name + " has no zero: its smallest value is taken.";
    case RoundingRule::not_a_number:
      return f.has_nan() ? "Not a number stays one."
                         : name + " has no NaN: " + value_text(f, s.value) + " is taken in its place.";
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
  if (kind == ValueKind::inf) return "exponent all ones, mantissa 0";
  if (kind != ValueKind::nan) return {};
  if (f.specials == Specials::fnuz) return "the code of -0";
  return f.specials == Specials::ieee ? "exponent all ones, mantissa not 0" : "all ones";
}

/// How the value is put together from the fields of the code.
void write_parts(const FloatFormat& f, const Outputs& out, std::uint64_t code, Picture& p) {
  const std::uint64_t mantissa = code & ((std::uint64_t{1} << f.mantissa_bits) - 1);
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
void label_exact(const FloatFormat& f, const Outputs& out, double stored, Picture& p) {
  p.exact = true;
  if (p.down) p.left = {value_text(f, models::decode(f, *p.down)), out.next_down_code, "next down"};
  if (p.up) p.right = {value_text(f, models::decode(f, *p.up)), out.next_up_code, "next up"};
  p.middle = {value_text(f, stored), out.code, "stored"};
}

/// The line between the two neighbours that compete; past an end one of them has no code.
void label_neighbours(const Inputs& in, const FloatFormat& f, const Run& run, Picture& p) {
  const models::RoundingStudy& s = run.study;
  p.left = {value_text(f, s.lower), s.past_lowest ? "no code" : code_text(f, s.lower_code),
            s.lower_chosen  ? "stored"
            : s.past_lowest ? "would be next"
                            : "lower"};
  p.right = {value_text(f, s.upper), s.past_highest ? "no code" : code_text(f, s.upper_code),
             s.upper_chosen   ? "stored"
             : s.past_highest ? "would be next"
                              : "upper"};
  p.goes_down = !s.upper_chosen;
  p.tie = s.rule == RoundingRule::tie;
  p.beyond = run.number.value > s.upper ? 1 : run.number.value < s.lower ? -1 : 0;
  if (p.tie && tie_text(f) == "even code")
    for (const auto& [labels, code] : {std::pair(&p.left, s.lower_code), std::pair(&p.right, s.upper_code)})
      labels->code += code % 2 == 0 ? ": ends in 0, even" : ": ends in 1, odd";
  const bool between = s.midpoint != s.lower && s.midpoint != s.upper;
  p.midpoint_text = between ? value_text(f, s.midpoint) : "";
  const bool saturates = s.rule == RoundingRule::saturated && !drawn_at_end(in, f, s);
  p.chance_text = saturates ? "nothing is drawn past the end" : "up in " + percent(s.position) + " of the draws";
  p.number_label = "number " + number_text(run.number);
}

FormatLine line_of(const Row& row, const models::RoundingStudy& study, const models::TypedDecimal& x) {
  FormatLine line;
  line.format = models::find_float_format(row.id);
  line.bits = study.code;
  line.code = row.code;
  const double v = study.value;
  line.value = value_text(*line.format, v);
  line.lost = !std::isfinite(v) || (v == 0 && x.value != 0);
  line.exact = row.relative_error == 0;
  if (line.lost)
    line.outcome = v == 0 ? "underflow" : std::isnan(v) ? "NaN" : "infinity";
  else
    line.outcome = line.exact ? "exact" : widgets::format_text(row.relative_error, "%");
  line.error_at = row.relative_error == 0 ? std::nan("") : error_place(row.relative_error);
  return line;
}

/// Who takes a number that lies exactly half-way, within a sentence.
std::string tie_winner(const FloatFormat& f) {
  if (f.family == FormatFamily::table) return "the lower neighbour wins";
  return f.specials == Specials::scale ? "the upper neighbour wins" : "the neighbour that ends in 0 wins";
}

/// Why a number past an end became what it did, as the second line.
std::string end_reason(const Inputs& in, const FloatFormat& f, const Outputs& out, const models::RoundingStudy& s) {
  const std::string name(f.name);
  if (drawn_at_end(in, f, s))
    return "It lies past the " + end_text(s) + " by less than a step, so chance decides: up was " +
           widgets::figure(out.position, "%") + " likely.";
  if (s.rule == RoundingRule::to_infinity)
    return "It lies half a step or more past the " + end_text(s) + "; every sum that infinity enters is lost.";
  if (s.rule == RoundingRule::to_nan)
    return "It lies half a step or more past the " + end_text(s) + ", and " + name + " has no infinity.";
  if (in.overflow == models::Overflow::saturate) return "Overflow is set to saturate: no infinity and no NaN warns.";
  return name + " has neither infinity nor NaN, so that nothing warns.";
}

/// What is stored for the number, and in a second line which rule chose it.
std::string answer_of(const Inputs& in, const FloatFormat& f, const Outputs& out, const Run& run) {
  const models::RoundingStudy& s = run.study;
  const std::string name(f.name), number = widgets::figure(out.number), stored = widgets::figure(out.stored);
  if (gives_code(in))
    return name + " reads the code " + widgets::figure(out.code) + " as " + stored +
           ".\nThe code was given, so nothing is rounded.";
  const std::string what = name + " stores " + stored + " for " + number;
  const std::string off = std::isfinite(out.relative_error) && out.relative_error != 0
                              ? ", off by " + widgets::figure(std::abs(out.relative_error), "%")
                              : "";
  switch (s.rule) {
    case RoundingRule::exact:
      return name + " stores " + stored + " exactly.\nIt is one of its values, so nothing is rounded.";
    case RoundingRule::nearer:
      return what + off + ".\nThe number lies " + widgets::figure(out.position, "%") +
             " of the way from the value below to the one above: the " + (s.lower_chosen ? "lower" : "upper") +
             " is nearer.";
    case RoundingRule::tie:
      return what + off + ".\nThe number lies exactly half-way between two values, so " + tie_winner(f) + ".";
    case RoundingRule::truncated:
      return what + off + ".\nRounding toward zero cuts off the rest, however near the next value is.";
    case RoundingRule::drawn:
      return what + off + ".\nChance took it " + (s.upper_chosen ? "up" : "down") + "; up was " +
             widgets::figure(out.position, "%") + " likely, so that the mean of many draws is the number.";
    case RoundingRule::saturated:
      return what + ", the " + end_text(s) + ".\n" + end_reason(in, f, out, s);
    case RoundingRule::to_infinity:
    case RoundingRule::to_nan:
      return what + ".\n" + end_reason(in, f, out, s);
    case RoundingRule::clamped_up:
      return what + ".\n" + name + " has no zero, so its smallest value is taken.";
    case RoundingRule::not_a_number:
      return what + ".\n" +
             (f.has_nan() ? "Not a number stays not a number." : name + " has no NaN, so this value stands for it.");
  }
  return what + ".";
}

/// The stretch from one power of two to the next that holds the value, and its steps.
void arrange_octave(const FloatFormat& f, const models::RoundingStudy& s, Picture& p) {
  const ValueKind kind = models::classify(f, s.code);
  p.octave = f.family == FormatFamily::binary && f.mantissa_bits > 0 &&
             (kind == ValueKind::normal || kind == ValueKind::subnormal);
  if (!p.octave) return;
  const double magnitude = std::abs(s.value);
  const int exponent = std::max(std::ilogb(magnitude), f.emin());
  const bool subnormal = kind == ValueKind::subnormal;
  const double lo = subnormal ? 0 : std::ldexp(1.0, exponent), span = std::ldexp(1.0, exponent);
  const double step = std::ldexp(1.0, exponent - f.mantissa_bits), largest = models::limits(f).max_finite;
  // The last octave of E4M3FN holds NaN, so that it ends a step early.
  const bool cut = largest < lo + span - step;
  p.octave_steps = std::ldexp(1.0, f.mantissa_bits);
  p.octave_end = cut ? (largest - lo) / span : 1;
  p.octave_at = (magnitude - lo) / span;
  p.octave_lo = subnormal ? "0" : std::string(widgets::power_of_two(exponent).view());
  p.octave_hi =
      cut ? value_text(f, largest) : std::string(widgets::power_of_two(subnormal ? exponent : exponent + 1).view());
  p.octave_words = widgets::format_text(p.octave_steps * p.octave_end, "", 16, widgets::Prefix::none) + " steps of " +
                   std::string(widgets::power_of_two(exponent - f.mantissa_bits).view()) +
                   (subnormal ? " are the subnormals"
                    : cut     ? " in its octave, up to the largest value"
                              : " in its octave") +
                   (s.value < 0 ? ", by magnitude" : "") + ":";
}

}  // namespace

double error_place(double percent) {
  constexpr double least = -14, most = 2;  // powers of ten: FP64 is off by 1e-14 % at most
  return std::isfinite(percent) && percent != 0
             ? std::clamp((std::log10(std::abs(percent)) - least) / (most - least), 0.0, 1.0)
             : std::nan("");
}

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  p.format = models::find_float_format(in.format);
  if (!out.reason.empty() || !p.format) return p;
  const FloatFormat& f = *p.format;
  const models::RoundingStudy& s = run.study;
  p.up = models::next_up(f, s.code);
  p.down = models::next_down(f, s.code);
  p.jumps = jumps_of(f, s.code);
  p.title_note = f.standard;
  if (f.family == FormatFamily::binary)
    p.title_note += ", " + std::to_string(f.exponent_bits) + " exponent and " + std::to_string(f.mantissa_bits) +
                    " mantissa bits, bias " + std::to_string(f.bias);
  p.given_text = out.number + " is stored as ?";
  p.decided = sentence_of(in, f, s, run.number);
  write_parts(f, out, s.code, p);
  if (s.rule == RoundingRule::exact || !std::isfinite(s.lower) || !std::isfinite(s.upper))
    label_exact(f, out, s.value, p);
  else
    label_neighbours(in, f, run, p);
  for (std::size_t i = 0; i < out.formats.size(); ++i) {
    p.formats.push_back(line_of(out.formats[i], run.formats[i], run.number));
    const FloatFormat& other = *p.formats.back().format;
    p.widest_mantissa = std::max(p.widest_mantissa, other.mantissa_bits > 0 ? other.mantissa_bits : other.bits);
    p.widest_exponent = std::max(p.widest_exponent, other.sign_bits + other.exponent_bits);
  }
  const std::string full = models::exact_decimal(s.value, 56);
  p.value_text = full.find("\xE2\x80\xA6") == std::string::npos ? full : value_text(f, s.value);
  arrange_octave(f, s, p);
  p.answer = answer_of(in, f, out, run);
  return p;
}

}  // namespace chapters::precision::bits
