#pragma once
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace models::trace {

/// Times beyond this (in the year 2096, since 1970) are damage; sums and differences of allowed ones fit in 64 bits.
inline constexpr std::int64_t max_time_ns = 4'000'000'000'000'000'000;

/// Decimal microseconds as text to integer nanoseconds, rounded to the nearest: epochs with three decimals are beyond a
/// double. False for what is no number (inf and NaN too) or out of range.
inline bool parse_us(std::string_view text, std::int64_t& ns) {
  std::size_t i = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) ++i;
  std::int64_t value = 0;
  int digits = 0, decimals = -1;
  bool up = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && decimals < 0) {
      decimals = 0;
    } else if (c >= '0' && c <= '9') {
      ++digits;
      if (decimals >= 3) {
        if (decimals++ == 3) up = c >= '5';
        continue;
      }
      if (value > max_time_ns / 10) return false;  // before the product, which could leave 64 bits
      value = value * 10 + (c - '0');
      if (decimals >= 0) ++decimals;
    } else {
      break;
    }
  }
  if (digits == 0) return false;
  if (i < text.size()) {  // an exponent, or not a number at all
    double us = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), us);
    if (error != std::errc() || end != text.data() + text.size() || !(std::abs(us) <= 4e15)) return false;
    ns = std::llround(us * 1000);
    return true;
  }
  for (int d = decimals < 0 ? 0 : decimals; d < 3; ++d) {
    if (value > max_time_ns / 10) return false;
    value *= 10;
  }
  value += up ? 1 : 0;
  ns = negative ? -value : value;
  return value <= max_time_ns;
}

}  // namespace models::trace
