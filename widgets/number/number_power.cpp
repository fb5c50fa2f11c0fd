#include <array>
#include <charconv>
#include <cmath>

#include "widgets/number/number.h"

namespace widgets {

NumberText power_of_two(int exponent) {
  static constexpr std::array<std::string_view, 10> raised{
      "\xE2\x81\xB0", "\xC2\xB9",     "\xC2\xB2",     "\xC2\xB3",     "\xE2\x81\xB4",
      "\xE2\x81\xB5", "\xE2\x81\xB6", "\xE2\x81\xB7", "\xE2\x81\xB8", "\xE2\x81\xB9"};
  NumberText out;
  const auto add = [&](std::string_view s) {
    for (const char c : s)
      if (out.length + 1 < sizeof out.chars) out.chars[out.length++] = c;
  };
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, exponent).ptr;
  add("2");
  for (const char* c = digits; c != end; ++c)
    add(*c == '-' ? std::string_view("\xE2\x81\xBB") : raised[static_cast<std::size_t>(*c - '0')]);
  return out;
}

std::optional<int> exponent_of_two(double value) {
  int exponent = 0;
  if (!(value > 0) || !std::isfinite(value) || std::frexp(value, &exponent) != 0.5) return std::nullopt;
  return exponent - 1;
}

}  // namespace widgets
