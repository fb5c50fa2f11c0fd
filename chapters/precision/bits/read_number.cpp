#include <charconv>
#include <cmath>
#include <cstdio>

#include "chapters/precision/bits/lab.h"
#include "models/numerics/float_cast.h"
#include "widgets/number/number.h"

namespace chapters::precision::bits {
namespace {

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

}  // namespace

std::string value_text(const models::FloatFormat& f, double v) {
  const std::string all = models::exact_decimal(v, 17);
  if (all.find("\xE2\x80\xA6") == std::string::npos) return all;
  const int digits =
      f.family == models::FormatFamily::binary ? 2 + static_cast<int>(std::ceil(0.30103 * (f.mantissa_bits + 1))) : 8;
  char text[48];
  std::snprintf(text, sizeof text, "%.*g", std::min(digits, 17), v);
  return text;
}

std::string number_text(const models::TypedDecimal& x) {
  if (!std::isfinite(x.value)) return models::exact_decimal(x.value, 17);
  constexpr std::size_t longest = 26;
  return x.text.size() <= longest ? x.text : x.text.substr(0, longest - 2) + "\xE2\x80\xA6";
}

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
  if (read.ec != std::errc()) return std::nullopt;  // past the largest double, and below the smallest, among others
  return negative ? -v : v;
}

bool gives_code(const Inputs& in) { return !trimmed(in.code).empty(); }

models::RoundingStudy study_number(const Inputs& in, const models::FloatFormat& f, const models::TypedDecimal& number) {
  return models::study_decimal(f, number, in.rounding, in.overflow,
                               models::random_bits_at(static_cast<std::uint64_t>(in.seed), 0));
}

models::TypedDecimal number_of(const Inputs& in, double code_value) {
  if (!gives_code(in) && !in.decimal.empty()) return models::read_decimal(in.decimal).value_or(models::TypedDecimal{});
  if (!gives_code(in)) return models::typed_decimal(in.value);
  models::TypedDecimal number = models::typed_decimal(code_value);
  number.remainder = 0;  // A code is worth its value to the last digit.
  return number;
}

bool take_typed(Inputs& in, std::string_view text) {
  text = trimmed(text);
  const auto number = read_number(text);
  if (!number) return false;
  const auto decimal = models::read_decimal(text);
  in.value = *number;
  in.code.clear();
  in.decimal = decimal && decimal->remainder != models::typed_decimal(*number).remainder ? std::string(text) : "";
  return true;
}

void show_code(Inputs& in, const models::FloatFormat& f, std::uint64_t code) {
  code &= f.code_mask();
  const double v = models::decode(f, code);
  // The value is set where it says the same; a NaN's payload or a clipped infinity needs the code itself.
  const models::TypedDecimal number = models::typed_decimal(v);
  const bool value_says_it = number.remainder == 0 && study_number(in, f, number).code == code;
  if (value_says_it) in.value = v;
  in.decimal.clear();
  in.code = value_says_it ? std::string() : code_text(f, code);
}

}  // namespace chapters::precision::bits
