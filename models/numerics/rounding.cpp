#include "models/numerics/rounding.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace models {
namespace {

RoundingRule rule_of(const FloatFormat& f, const RoundingStudy& s, double x, Rounding rounding) {
  const ValueKind kind = classify(f, s.code);
  if (std::isnan(x)) return RoundingRule::not_a_number;
  if (s.value == x && !std::isinf(x)) return RoundingRule::exact;
  if (std::isinf(x))
    return kind == ValueKind::inf   ? RoundingRule::exact
           : kind == ValueKind::nan ? RoundingRule::to_nan
                                    : RoundingRule::saturated;
  if (kind == ValueKind::inf) return RoundingRule::to_infinity;
  if (kind == ValueKind::nan) return x < 0 && !f.sign_bits ? RoundingRule::not_a_number : RoundingRule::to_nan;
  if (s.past_end && !f.sign_bits && f.family == FormatFamily::binary && x < s.value) return RoundingRule::clamped_up;
  if (s.past_end && rounding == Rounding::nearest_even && std::abs(x - s.value) > std::abs(s.upper - s.lower) / 2)
    return RoundingRule::saturated;
  if (s.past_end && rounding != Rounding::toward_zero && !f.has_nan()) return RoundingRule::saturated;
  if (rounding == Rounding::toward_zero) return RoundingRule::truncated;
  if (rounding == Rounding::stochastic) return s.past_end ? RoundingRule::saturated : RoundingRule::drawn;
  return x == s.midpoint ? RoundingRule::tie : RoundingRule::nearer;
}

/// Fills captures_lo and captures_hi from the code.
void find_capture(const FloatFormat& f, Rounding rounding, RoundingStudy& s) {
  if (rounding == Rounding::nearest_even) {
    s.captures_lo = 0.25;
    s.captures_hi = 0.75;
    return;
  }
  const bool both_sides = rounding == Rounding::stochastic || classify(f, s.code) == ValueKind::zero;
  const bool negative = (s.code & f.sign_mask()) != 0;
  s.captures_lo = both_sides || negative ? 0 : 0.5;
  s.captures_hi = both_sides || !negative ? 1 : 0.5;
}

/// Fills the neighbours of a finite x and where it lies between them.
void find_neighbours(const FloatFormat& f, double x, RoundingStudy& s) {
  const std::int64_t first = first_ordinal(f), last = last_ordinal(f);
  const double lowest = decode(f, code_at(f, first)), highest = decode(f, code_at(f, last));
  const std::int64_t at = ordinal_at_or_below(f, x);
  s.lower_code = code_at(f, std::max(at, first));
  s.lower = at < first ? lowest : decode(f, s.lower_code);
  const bool exact = s.lower == x && at >= first;
  s.upper_code = exact ? s.lower_code : code_at(f, std::min(at + 1, last));
  s.upper = decode(f, s.upper_code);
  s.past_highest = !exact && at >= last;
  s.past_lowest = !exact && at < first;
  s.past_end = s.past_highest || s.past_lowest;
  // Where the next value would be, were there one more: half of that step is where nearest even overflows.
  if (s.past_highest) s.upper = highest + ulp(f, code_at(f, last));
  if (s.past_lowest) {
    s.lower = f.sign_bits || f.family == FormatFamily::table ? lowest - ulp(f, code_at(f, first)) : 0;
    s.upper = lowest;
  }
  s.midpoint = s.lower + (s.upper - s.lower) / 2;
  s.position = s.upper > s.lower ? std::clamp((x - s.lower) / (s.upper - s.lower), 0.0, 1.0) : 0;
}

/// The same of an infinity, whose neighbours are the value at the end and the infinity, and of NaN, which has none.
void find_ends(const FloatFormat& f, double x, RoundingStudy& s) {
  s.past_end = true;
  s.past_highest = x > 0;
  s.past_lowest = x < 0;
  s.lower = x > 0 ? decode(f, code_at(f, last_ordinal(f))) : std::isnan(x) ? x : -HUGE_VAL;
  s.upper = x > 0 ? HUGE_VAL : std::isnan(x) ? x : decode(f, code_at(f, first_ordinal(f)));
  s.midpoint = x;
  s.lower_code = s.code;
  s.upper_code = s.code;
}

}  // namespace

RoundingStudy study_rounding(const FloatFormat& f, double x, Rounding rounding, Overflow overflow,
                             std::uint64_t random_bits) {
  RoundingStudy s;
  s.code = encode(f, x, rounding, overflow, random_bits);
  s.value = decode(f, s.code);
  if (std::isfinite(x))
    find_neighbours(f, x, s);
  else
    find_ends(f, x, s);
  s.rule = rule_of(f, s, x, rounding);
  s.error = std::isfinite(x) && std::isfinite(s.value) ? s.value - x : std::numeric_limits<double>::quiet_NaN();
  s.lower_chosen = s.value == s.lower;
  s.upper_chosen = s.value == s.upper;
  find_capture(f, rounding, s);
  return s;
}

RoundingStudy study_code(const FloatFormat& f, std::uint64_t code, Rounding rounding) {
  code &= f.code_mask();
  RoundingStudy s = study_rounding(f, decode(f, code), rounding, Overflow::ieee);
  s.code = code;
  s.value = decode(f, code);
  if (std::isfinite(s.value)) s.rule = RoundingRule::exact;
  find_capture(f, rounding, s);
  return s;
}

std::string exact_decimal(double x, int digits) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "+\xE2\x88\x9E" : "\xE2\x88\x92\xE2\x88\x9E";
  if (x == 0) return std::signbit(x) ? "-0" : "0";
  char text[1100];
  // A double has at most 767 significant digits: printed to the last, then cut here
  std::snprintf(text, sizeof text, "%.*e", 780, x);
  std::string s(text);
  const auto e = s.find('e');
  int exponent = std::atoi(s.c_str() + e + 1);
  std::string figures;
  for (std::size_t i = 0; i < e; ++i)
    if (s[i] >= '0' && s[i] <= '9') figures += s[i];
  figures.erase(figures.find_last_not_of('0') + 1);
  const bool cut = static_cast<int>(figures.size()) > digits;
  if (cut) figures.resize(static_cast<std::size_t>(digits));
  std::string out = x < 0 ? "-" : "";
  const auto size = static_cast<int>(figures.size());
  if (exponent >= 0 && exponent <= std::max(digits, 21)) {
    if (size <= exponent + 1)
      out += figures + std::string(static_cast<std::size_t>(exponent + 1 - size), '0');
    else
      out += figures.substr(0, static_cast<std::size_t>(exponent + 1)) + "." +
             figures.substr(static_cast<std::size_t>(exponent + 1));
  } else if (exponent < 0 && exponent >= -6) {
    out += "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + figures;
  } else {
    out += figures.substr(0, 1) + (size > 1 ? "." + figures.substr(1) : "") + (cut ? "\xE2\x80\xA6" : "") + "e" +
           std::to_string(exponent);
    return out;
  }
  return cut ? out + "\xE2\x80\xA6" : out;
}

}  // namespace models
