#include "widgets/prose/prose_text.h"

#include <algorithm>
#include <charconv>

namespace widgets {
namespace {

void append_utf8(std::string& out, unsigned code) {
  if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 63));
  } else {
    if (code < 0x10000) {
      out += static_cast<char>(0xE0 | (code >> 12));
    } else {
      out += static_cast<char>(0xF0 | (code >> 18));
      out += static_cast<char>(0x80 | ((code >> 12) & 63));
    }
    out += static_cast<char>(0x80 | ((code >> 6) & 63));
    out += static_cast<char>(0x80 | (code & 63));
  }
}

}  // namespace

std::size_t utf8_length(std::string_view s) {
  const auto byte = [&](std::size_t k) { return k < s.size() ? static_cast<unsigned char>(s[k]) : 0u; };
  const unsigned b = byte(0);
  const std::size_t n = s.empty()               ? 0
                        : b < 0x80              ? 1
                        : b >= 0xC2 && b < 0xE0 ? 2
                        : b >= 0xE0 && b < 0xF0 ? 3
                        : b >= 0xF0 && b < 0xF5 ? 4
                                                : 0;
  for (std::size_t k = 1; k < n; ++k)
    if ((byte(k) & 0xC0) != 0x80) return 0;
  if ((b == 0xE0 && byte(1) < 0xA0) || (b == 0xF0 && byte(1) < 0x90)) return 0;  // overlong
  return n;
}

std::string valid_utf8(std::string_view text, std::size_t& first_bad) {
  std::string out;
  out.reserve(text.size());
  first_bad = text.size();
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t n = utf8_length(text.substr(i));
    if (n == 0) first_bad = std::min(first_bad, i);
    out.append(n ? text.substr(i, n) : std::string_view("?"));
    i += std::max<std::size_t>(n, 1);
  }
  return out;
}

std::string decode_entity(std::string_view s) {
  struct Named {
    std::string_view name, text;
  };
  static constexpr Named named[] = {{"&amp;", "&"},   {"&lt;", "<"},          {"&gt;", ">"},
                                    {"&quot;", "\""}, {"&nbsp;", "\xC2\xA0"}, {"&ndash;", "–"},
                                    {"&mdash;", "—"}, {"&times;", "×"},       {"&hellip;", "…"}};
  for (const Named& n : named)
    if (n.name == s) return std::string(n.text);
  if (s.size() < 4 || s[1] != '#') return std::string(s);
  const bool hex = s[2] == 'x' || s[2] == 'X';
  unsigned code = 0;
  std::from_chars(s.data() + (hex ? 3 : 2), s.data() + s.size() - 1, code, hex ? 16 : 10);
  std::string out;
  append_utf8(out, code);
  return out;
}

}  // namespace widgets
