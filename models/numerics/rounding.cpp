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

}  // namespace

RoundingStudy study_rounding(const FloatFormat& f, double x, Rounding rounding, Overflow overflow,
                             std::uint64_t random_bits) {
  RoundingStudy s;
  s.code = encode(f, x, rounding, overflow, random_bits);
  s.value = decode(f, s.code);
  const std::int64_t first = first_ordinal(f), last = last_ordinal(f);
  const double lowest = decode(f, code_at(f, first)), most = decode(f, code_at(f, last));
  if (std::isfinite(x)) {
    const std::int64_t at = ordinal_at_or_below(f, x);
    s.lower_code = code_at(f, std::max(at, first));
    s.lower = at < first ? lowest : decode(f, s.lower_code);
    const bool exact = s.lower == x && at >= first;
    s.upper_code = exact ? s.lower_code : code_at(f, std::min(at + 1, last));
    s.upper = decode(f, s.upper_code);
    // Where the next value would be, were there one more: half of that step is where nearest even overflows
    if (!exact && at >= last) s.past_end = true, s.upper = most + ulp(f, code_at(f, last));
    if (!exact && at < first)
      s.past_end = true,
      s.lower = f.sign_bits || f.family == FormatFamily::table ? lowest - ulp(f, code_at(f, first)) : 0,
      s.upper = lowest;
    s.midpoint = s.lower + (s.upper - s.lower) / 2;
    s.position = s.upper > s.lower ? std::clamp((x - s.lower) / (s.upper - s.lower), 0.0, 1.0) : 0;
  } else {
    s.past_end = true;
    s.lower = x > 0 ? most : std::isnan(x) ? x : -HUGE_VAL;
    s.upper = x > 0 ? HUGE_VAL : std::isnan(x) ? x : lowest;
    s.midpoint = x;
    s.lower_code = s.upper_code = s.code;
  }
  s.rule = rule_of(f, s, x, rounding);
  s.error = std::isfinite(x) && std::isfinite(s.value) ? s.value - x : std::numeric_limits<double>::quiet_NaN();
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
