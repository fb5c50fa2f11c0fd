#include "app/platform/text_encoding.h"

#include <cstdint>

namespace app {
namespace {

constexpr std::string_view utf8_mark = "\xEF\xBB\xBF", little_mark = "\xFF\xFE", big_mark = "\xFE\xFF";

std::uint32_t unit_at(std::string_view bytes, std::size_t at, bool big) {
  const auto first = static_cast<unsigned char>(bytes[at]), second = static_cast<unsigned char>(bytes[at + 1]);
  return big ? std::uint32_t{first} << 8 | second : std::uint32_t{second} << 8 | first;
}

bool begins_a_text(std::uint32_t unit) {
  return unit == '{' || unit == '[' || unit == '#' || unit == '"' || unit == '\t' || unit == ' ' || unit == '\r' ||
         unit == '\n' || (unit >= '0' && unit <= '9') || (unit >= 'A' && unit <= 'Z') || (unit >= 'a' && unit <= 'z');
}

/// Two characters of ASCII in units of two bytes.
bool is_ascii_in_units(std::string_view head, bool big) {
  if (head.size() < 4) return false;
  const std::uint32_t first = unit_at(head, 0, big), second = unit_at(head, 2, big);
  return begins_a_text(first) && second != 0 && second < 0x80;
}

void append_utf8(std::string& out, std::uint32_t point) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (point >> shift & 0x3F)); };
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xC0 | point >> 6);
    tail(0);
  } else if (point < 0x10000) {
    out += static_cast<char>(0xE0 | point >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | point >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string from_utf16(std::string_view bytes, bool big) {
  constexpr std::uint32_t replacement = 0xFFFD;
  std::string out;
  out.reserve(bytes.size() / 2 + 16);
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
    std::uint32_t point = unit_at(bytes, at, big);
    if (point >= 0xD800 && point < 0xDC00 && at + 3 < bytes.size()) {
      const std::uint32_t low = unit_at(bytes, at + 2, big);
      if (low >= 0xDC00 && low < 0xE000) {
        point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
        at += 2;
      }
    }
    append_utf8(out, point >= 0xD800 && point < 0xE000 ? replacement : point);
  }
  return out;
}

}  // namespace

Encoding encoding_of(std::string_view head) {
  const auto goes_on = [&](std::size_t at) { return head.size() <= at || head[at] != '\0'; };
  if (head.starts_with(utf8_mark)) return goes_on(3) ? Encoding::utf8_marked : Encoding::plain;
  const bool little = head.starts_with(little_mark), big = head.starts_with(big_mark);
  if (little || big) {
    if (head.size() < 4 || unit_at(head, 2, big) == 0) return Encoding::plain;
    return little ? Encoding::utf16_little : Encoding::utf16_big;
  }
  if (is_ascii_in_units(head, false)) return Encoding::utf16_little;
  return is_ascii_in_units(head, true) ? Encoding::utf16_big : Encoding::plain;
}

std::string to_utf8(std::string bytes, Encoding encoding) {
  if (encoding == Encoding::plain) return bytes;
  if (encoding == Encoding::utf8_marked) return bytes.erase(0, utf8_mark.size());
  const bool big = encoding == Encoding::utf16_big;
  std::string_view units = bytes;
  if (units.starts_with(big ? big_mark : little_mark)) units.remove_prefix(2);
  return from_utf16(units, big);
}

}  // namespace app
