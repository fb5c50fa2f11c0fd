#pragma once
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace models::trace {

/// Times beyond this (in the year 2096, since 1970) are damage; sums and differences of allowed ones fit in 64 bits.
inline constexpr std::int64_t max_time_ns = 4'000'000'000'000'000'000;

/// What profilers write: at most 18 characters, digits with a point and at most three more behind it. False for all
/// else.
inline bool parse_plain_us(std::string_view text, std::int64_t& ns) {
  std::int64_t value = 0;
  std::size_t i = 0;
  const auto digits = [&] {
    for (; i < text.size(); ++i) {
      const unsigned digit = static_cast<unsigned char>(text[i]) - unsigned{'0'};
      if (digit > 9) return;
      value = value * 10 + digit;
    }
  };
  if (text.size() > 15) {
    if (text.size() > 18) return false;
    // Eight digits in one word: pairs, then fours, then all of them.
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data(), sizeof eight);
    constexpr std::uint64_t high = 0xF0F0F0F0F0F0F0F0, zeros = 0x3030303030303030;
    if (std::endian::native == std::endian::little && (eight & high) == zeros &&
        ((eight + 0x0606060606060606) & high) == zeros) {
      eight -= zeros;
      eight = (eight * 10 + (eight >> 8)) & 0x00FF00FF00FF00FF;
      eight = (eight * 100 + (eight >> 16)) & 0x0000FFFF0000FFFF;
      value = static_cast<std::int64_t>((eight * 10000 + (eight >> 32)) & 0xFFFFFFFF);
      i = 8;
    }
  }
  digits();
  if (i == 0) return false;
  std::size_t decimals = 0;
  if (i < text.size()) {
    const std::size_t point = i;
    if (text[i++] != '.') return false;
    digits();
    decimals = i - point - 1;
    if (i < text.size() || decimals > 3) return false;
  }
  constexpr std::int64_t scale[] = {1000, 100, 10, 1};
  if (value > max_time_ns / scale[decimals]) return false;
  ns = value * scale[decimals];
  return true;
}

/// Decimal microseconds as text to integer nanoseconds, rounded to the nearest: epochs with three decimals are beyond a
/// double. False for what is no number (inf and NaN too) or out of range.
inline bool parse_us(std::string_view text, std::int64_t& ns) {
  if (parse_plain_us(text, ns)) return true;
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
