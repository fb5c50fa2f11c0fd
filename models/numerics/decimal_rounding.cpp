#include "models/numerics/decimal_rounding.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace models {
namespace {

/// Digits of a positive number and the power of ten of the first of them.
struct Digits {
  std::string figures;
  int exponent = 0;
  int at(int power) const {
    const int i = exponent - power;
    return i >= 0 && i < static_cast<int>(figures.size()) ? figures[static_cast<std::size_t>(i)] - '0' : 0;
  }
  int last() const { return exponent - static_cast<int>(figures.size()) + 1; }
};

Digits digits_of(std::string_view scientific) {
  Digits d;
  const std::size_t e = scientific.find('e');
  for (const char c : scientific.substr(0, e))
    if (c >= '0' && c <= '9') d.figures += c;
  d.exponent = std::atoi(std::string(scientific.substr(e + 1)).c_str());
  while (d.figures.size() > 1 && d.figures.back() == '0') d.figures.pop_back();
  return d;
}

/// a - b for a >= b, to double.
double difference(const Digits& a, const Digits& b) {
  const int top = std::max(a.exponent, b.exponent), bottom = std::min(a.last(), b.last());
  std::string figures;
  int borrow = 0;
  for (int power = bottom; power <= top; ++power) {
    int digit = a.at(power) - b.at(power) - borrow;
    borrow = digit < 0 ? 1 : 0;
    if (digit < 0) digit += 10;
    figures.insert(figures.begin(), static_cast<char>('0' + digit));
  }
  const std::string text = figures + "e" + std::to_string(bottom);
  return std::strtod(text.c_str(), nullptr);
}

bool is_less(const Digits& a, const Digits& b) {
  for (int power = std::max(a.exponent, b.exponent); power >= std::min(a.last(), b.last()); --power)
    if (a.at(power) != b.at(power)) return a.at(power) < b.at(power);
  return false;
}

/// Moves a study of a double that is a value of the format to the decimal `remainder` beside it.
void move_off_value(const FloatFormat& f, double remainder, Rounding rounding, std::uint64_t random_bits,
                    RoundingStudy& s) {
  const std::uint64_t here = s.code;
  const auto other = remainder > 0 ? next_up(f, here) : next_down(f, here);
  if (!other || !std::isfinite(decode(f, *other))) return;
  const double value = decode(f, here), there = decode(f, *other);
  s.lower = std::min(value, there);
  s.upper = std::max(value, there);
  s.lower_code = remainder > 0 ? here : *other;
  s.upper_code = remainder > 0 ? *other : here;
  s.midpoint = s.lower + (s.upper - s.lower) / 2;
  const double away = std::abs(remainder) / (s.upper - s.lower);
  s.position = remainder > 0 ? away : 1 - away;
  bool takes_other = false;
  switch (rounding) {
    case Rounding::nearest_even:
      s.rule = away == 0.5 ? RoundingRule::tie : RoundingRule::nearer;
      break;
    case Rounding::toward_zero:
      s.rule = RoundingRule::truncated;
      takes_other = std::abs(there) < std::abs(value);
      break;
    case Rounding::stochastic: {
      s.rule = RoundingRule::drawn;
      const bool up = static_cast<double>(random_bits >> 11) * 0x1p-53 < s.position;
      takes_other = up == (remainder > 0);
      break;
    }
  }
  if (takes_other) s.code = *other;
}

}  // namespace

TypedDecimal typed_decimal(double x) {
  TypedDecimal t{.value = x};
  char text[40];
  t.text.assign(text, std::to_chars(text, text + sizeof text, x).ptr);
  if (!std::isfinite(x) || x == 0) return t;
  char shortest[40];
  const auto end = std::to_chars(shortest, shortest + sizeof shortest, std::abs(x), std::chars_format::scientific).ptr;
  const Digits typed = digits_of({shortest, static_cast<std::size_t>(end - shortest)});
  if (typed.figures.size() > 15) return t;
  char full[1100];
  std::snprintf(full, sizeof full, "%.*e", 780, std::abs(x));
  const Digits held = digits_of(full);
  const double away = is_less(typed, held) ? -difference(held, typed) : difference(typed, held);
  t.remainder = x < 0 ? -away : away;
  return t;
}

RoundingStudy study_decimal(const FloatFormat& f, const TypedDecimal& x, Rounding rounding, Overflow overflow,
                            std::uint64_t random_bits) {
  RoundingStudy s = study_rounding(f, x.value, rounding, overflow, random_bits);
  if (x.remainder == 0 || !std::isfinite(x.value) || !std::isfinite(s.value)) return s;
  if (s.rule == RoundingRule::exact) {
    move_off_value(f, x.remainder, rounding, random_bits, s);
  } else if (s.rule == RoundingRule::tie) {
    s.rule = RoundingRule::nearer;
    s.code = x.remainder > 0 ? s.upper_code : s.lower_code;
  }
  s.value = decode(f, s.code);
  s.error = s.value - x.value - x.remainder;
  s.lower_chosen = s.value == s.lower;
  s.upper_chosen = s.value == s.upper;
  return s;
}

}  // namespace models
