#pragma once
#include <algorithm>
#include <span>
#include <string_view>

/// Which part of a text is shown where the whole does not fit. Pure.
namespace widgets {

inline bool has_digit(std::string_view s) {
  return std::any_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// The longest form of `s` for which `fits` holds. Words lose letters at their end to an ellipsis. A token with a digit
/// in it is never shortened: "1.33 ms" becomes "1.33" or nothing, "H100 SXM memory" becomes "H100 SX…", and a name
/// such as "Llama 3.1 70B" loses whole tokens. A short unit goes with its number: of "over by 1.4 GB" stays "over
/// by …". Empty when nothing fits. The result lies in `s` or in `room`.
template <class Fits>
std::string_view fit_text(std::string_view s, std::span<char> room, Fits fits) {
  constexpr std::string_view ellipsis = "\xE2\x80\xA6";
  if (s.empty() || fits(s)) return s;
  const auto token_end = [&](std::size_t i) { return std::min(s.find(' ', i), s.size()); };
  const auto token_begin = [&](std::size_t i) { return i == 0 ? 0 : s.rfind(' ', i - 1) + 1; };
  const std::size_t first_digit = std::min(s.find_first_of("0123456789"), s.size());
  std::size_t kept = 0;  // bytes that must stay whole: a quantity, up to its last number
  if (first_digit < token_end(0)) {
    kept = token_end(s.find_last_of("0123456789"));
    if (kept < s.size() && s.find(' ', kept + 1) == std::string_view::npos)  // the rest is its unit
      return fits(s.substr(0, kept)) ? s.substr(0, kept) : std::string_view();
    if (!fits(s.substr(0, kept))) return {};
  }
  for (std::size_t n = std::min(s.size(), room.size() > 4 ? room.size() - 4 : 0); n > kept;) {
    --n;
    while (n > 0 && (static_cast<unsigned char>(s[n]) & 0xC0) == 0x80) --n;  // never inside a UTF-8 character
    const std::size_t begin = token_begin(n);
    const bool in_token = n < s.size() && s[n] != ' ' && n > begin;
    if (in_token && has_digit(s.substr(begin, token_end(n) - begin))) {
      n = begin;
      if (n == 0) break;
    }
    if (in_token && begin > 0 && token_end(n) - begin <= 3 && !has_digit(s.substr(begin, token_end(n) - begin))) {
      const std::size_t number = token_begin(begin - 1);
      if (s[number] >= '0' && s[number] <= '9') n = number;
    }
    if (n == 0) break;
    std::copy_n(s.begin(), n, room.begin());
    std::copy(ellipsis.begin(), ellipsis.end(), room.begin() + static_cast<std::ptrdiff_t>(n));
    const std::string_view shortened{room.data(), n + ellipsis.size()};
    // An ellipsis that touches a number would read as its missing digits.
    const std::size_t last = token_begin(n);
    const bool touches = s[n - 1] != ' ' && has_digit(s.substr(last, n - last));
    if (!touches && fits(shortened)) return shortened;
  }
  return kept > 0 ? s.substr(0, kept) : std::string_view();
}

}  // namespace widgets
