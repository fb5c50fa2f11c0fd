#include "models/trace_scan.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace models::trace {
namespace {

enum : unsigned char { plain, quote, open, close, space_or_comma, stop };

constexpr std::array<unsigned char, 256> outside() {
  std::array<unsigned char, 256> kinds{};
  kinds['"'] = quote;
  kinds['{'] = kinds['['] = open;
  kinds['}'] = kinds[']'] = close;
  kinds[','] = kinds[' '] = kinds['\n'] = kinds['\r'] = kinds['\t'] = kinds[':'] = space_or_comma;
  kinds[0] = stop;  // std::string ends with one
  return kinds;
}
constexpr std::array<bool, 256> inside() {
  std::array<bool, 256> stops{};
  stops['"'] = stops['\\'] = stops['\n'] = stops[0] = true;
  return stops;
}
constexpr auto outside_kinds = outside();
constexpr auto inside_stops = inside();

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

char Scanner::peek() {
  for (;;) {
    while (at < source_.text.size() && is_space(source_.text[at])) ++at;
    if (at < source_.text.size()) return source_.text[at];
    if (!source_.more()) return 0;
  }
}

bool Scanner::take(char c) {
  if (peek() != c) return false;
  ++at;
  return true;
}

Scanner::End Scanner::skip_value(std::size_t most_bytes) {
  if (peek() == 0) return End::cut;
  const std::size_t begin = at;
  long depth = 0;
  bool in_text = false, escaped = false;
  for (;;) {
    const auto* base = reinterpret_cast<const unsigned char*>(source_.text.data());
    const unsigned char* p = base + at;
    const unsigned char* const text_end = base + source_.text.size();
    const unsigned char* const end = most_bytes > 0 ? std::min(text_end, base + begin + most_bytes) : text_end;
    for (;;) {
      if (in_text) {
        if (escaped && p < text_end) ++p, escaped = false;
        while (!inside_stops[*p]) ++p;
        if (p >= end) break;
        const unsigned char c = *p++;
        if (c == '\\') {
          escaped = true;
        } else if (c == '"') {
          in_text = false;
          if (depth == 0) return at = static_cast<std::size_t>(p - base), End::whole;
        } else if (c == '\n' && most_bytes > 0) {
          return at = static_cast<std::size_t>(p - base), End::broken;
        }
        continue;
      }
      const unsigned char kind = outside_kinds[*p];
      if (kind == plain) {
        ++p;
      } else if (kind == quote) {
        if (p >= end) break;
        in_text = true;
        ++p;
      } else if (kind == open) {
        ++depth;
        ++p;
      } else if (kind == close) {
        if (depth == 0) return at = static_cast<std::size_t>(p - base), End::whole;  // a scalar ends before it
        ++p;
        if (--depth == 0) return at = static_cast<std::size_t>(p - base), End::whole;
      } else if (kind == space_or_comma) {
        if (depth == 0) return at = static_cast<std::size_t>(p - base), End::whole;
        ++p;
      } else {
        if (p >= end) break;
        ++p;  // a NUL in the file
      }
    }
    at = static_cast<std::size_t>(p - base);
    if (most_bytes > 0 && at - begin >= most_bytes) return End::broken;
    if (!source_.more()) return End::cut;
  }
}

std::size_t Scanner::next_event(std::size_t from, std::size_t limit) {
  for (;;) {
    const std::string& text = source_.text;
    const std::size_t end = std::min(text.size(), limit);
    for (std::size_t p = text.find('{', from); p < end; p = text.find('{', p + 1)) {
      std::size_t before = p;
      while (before > 0 && is_space(text[before - 1])) --before;
      if (before == 0 || text[before - 1] != ',') continue;
      --before;
      while (before > 0 && is_space(text[before - 1])) --before;
      if (before == 0 || text[before - 1] != '}') continue;
      std::size_t key = p + 1;
      while (key < text.size() && is_space(text[key])) ++key;
      for (const std::string_view name : {"\"ph\"", "\"name\"", "\"cat\"", "\"pid\"", "\"ts\"", "\"tid\"", "\"args\""})
        if (text.compare(key, name.size(), name) == 0) return p;
    }
    if (text.size() >= limit) return std::string::npos;
    from = std::max(from, text.size() > 256 ? text.size() - 256 : 0);  // a beginning may straddle the chunks
    if (!source_.more()) return std::string::npos;
  }
}

}  // namespace models::trace
