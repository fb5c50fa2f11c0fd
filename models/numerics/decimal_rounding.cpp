#include "models/numerics/decimal_rounding.h"

#include <algorithm>
#include <bit>
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

/// a - b for a >= b, as scientific text without a point.
std::string difference_text(const Digits& a, const Digits& b) {
  const int top = std::max(a.exponent, b.exponent), bottom = std::min(a.last(), b.last());
  std::string figures;
  int borrow = 0;
  for (int power = bottom; power <= top; ++power) {
    int digit = a.at(power) - b.at(power) - borrow;
    borrow = digit < 0 ? 1 : 0;
    if (digit < 0) digit += 10;
    figures.insert(figures.begin(), static_cast<char>('0' + digit));
  }
  return figures + "e" + std::to_string(bottom);
}

double difference(const Digits& a, const Digits& b) { return std::strtod(difference_text(a, b).c_str(), nullptr); }

Digits difference_digits(const Digits& a, const Digits& b) {
  const std::string text = difference_text(a, b);
  const std::size_t e = text.find('e'), first = std::min(text.find_first_not_of('0'), e - 1);
  const int exponent = std::atoi(text.c_str() + e + 1) + static_cast<int>(e - first) - 1;
  return digits_of(text.substr(first, e - first) + "e" + std::to_string(exponent));
}

/// What `typed` exceeds the magnitude of a double by. Where a double does not hold it, its last bit is set, so that it
/// never seems to be half of a step. Below 1e-290 such differences leave the range of doubles and count as 0.
double difference_to(const Digits& typed, double magnitude);

bool is_less(const Digits& a, const Digits& b) {
  for (int power = std::max(a.exponent, b.exponent); power >= std::min(a.last(), b.last()); --power)
    if (a.at(power) != b.at(power)) return a.at(power) < b.at(power);
  return false;
}

double difference_to(const Digits& typed, double magnitude) {
  if (magnitude < 1e-290) return 0;
  char full[1100];
  std::snprintf(full, sizeof full, "%.*e", 780, magnitude);
  const Digits held = digits_of(full);
  const bool below = is_less(typed, held);
  const Digits &more = below ? held : typed, &less = below ? typed : held;
  double away = difference(more, less);
  // A difference that was rounded to a double with a last bit of 0 goes to the odd neighbour it lies beside.
  std::snprintf(full, sizeof full, "%.*e", 780, away);
  const Digits rounded = digits_of(full);
  const Digits exact = difference_digits(more, less);
  const bool low = is_less(rounded, exact), high = is_less(exact, rounded);
  if ((low || high) && (std::bit_cast<std::uint64_t>(away) & 1) == 0) away = std::nextafter(away, low ? HUGE_VAL : 0);
  return below ? -away : away;
}

/// "1.25e-3" of "0.00125"; nothing where a text is no decimal, or one of more than 80 digits.
std::optional<std::string> scientific_of(std::string_view text) {
  constexpr std::size_t max_digits = 80;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  std::string figures;
  int point = 0, exponent = 0;
  bool past_point = false, any = false;
  std::size_t i = 0;
  for (; i < text.size() && (text[i] == '.' || (text[i] >= '0' && text[i] <= '9')); ++i) {
    if (text[i] == '.') {
      if (past_point) return std::nullopt;
      past_point = true;
      continue;
    }
    any = true;
    if (figures.empty() && text[i] == '0') {
      point -= past_point ? 1 : 0;
      continue;
    }
    figures += text[i];
    point += past_point ? 0 : 1;
  }
  if (!any || figures.size() > max_digits) return std::nullopt;
  if (i < text.size()) {
    if (text[i] != 'e' && text[i] != 'E') return std::nullopt;
    std::string_view rest = text.substr(i + 1);
    if (rest.starts_with('+')) rest.remove_prefix(1);
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), exponent);
    if (rest.empty() || read.ec != std::errc() || read.ptr != rest.data() + rest.size() || std::abs(exponent) > 9999)
      return std::nullopt;
  }
  if (figures.empty()) return "0e0";
  return figures.substr(0, 1) + "." + figures.substr(1) + "e" + std::to_string(point - 1 + exponent);
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
  const double away = difference_to(typed, std::abs(x));
  t.remainder = x < 0 ? -away : away;
  return t;
}

std::optional<TypedDecimal> read_decimal(std::string_view text) {
  const auto scientific = scientific_of(text);
  if (!scientific) return std::nullopt;
  TypedDecimal t;
  t.text = text;
  const bool negative = text.front() == '-';
  const double magnitude = std::strtod(scientific->c_str(), nullptr);
  const Digits typed = digits_of(*scientific);
  const bool zero = typed.figures == "0";
  if (!std::isfinite(magnitude) || (magnitude == 0 && !zero)) return std::nullopt;
  t.value = negative ? -magnitude : magnitude;
  const double away = zero ? 0 : difference_to(typed, magnitude);
  t.remainder = negative ? -away : away;
  return t;
}

RoundingStudy study_decimal(const FloatFormat& f, const TypedDecimal& x, Rounding rounding, Overflow overflow,
                            std::uint64_t random_bits) {
  RoundingStudy s = study_rounding(f, x.value, rounding, overflow, random_bits);
  if (x.remainder == 0 || !std::isfinite(x.value)) return s;
  if (s.rule == RoundingRule::exact) {
    move_off_value(f, x.remainder, rounding, random_bits, s);
  } else if (s.rule == RoundingRule::tie || s.past_end) {
    // No value and no midpoint of a narrower format lies between a double and the next.
    s = study_rounding(f, std::nextafter(x.value, x.remainder > 0 ? HUGE_VAL : -HUGE_VAL), rounding, overflow,
                       random_bits);
    if (!std::isfinite(s.value)) return s;
  }
  s.value = decode(f, s.code);
  s.error = s.value - x.value - x.remainder;
  s.lower_chosen = s.value == s.lower;
  s.upper_chosen = s.value == s.upper;
  return s;
}

}  // namespace models
