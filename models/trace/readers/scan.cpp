#include "models/trace/readers/scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
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

#if defined(__SSE2__)
constexpr std::size_t block_bytes = 64;
typedef char SixteenChars __attribute__((vector_size(16)));

/// One bit for each of 64 bytes: what it is. Brackets of both kinds count alike, as they do below.
struct Block {
  std::uint64_t quotes = 0, backslashes = 0, line_ends = 0, opens = 0, closes = 0;

  explicit Block(const unsigned char* p) {
    for (int part = 0; part < 4; ++part) {
      SixteenChars b;
      std::memcpy(&b, p + 16 * part, sizeof b);
      const auto where = [&](SixteenChars equal) {
        return std::uint64_t{static_cast<std::uint32_t>(__builtin_ia32_pmovmskb128(equal))} << (16 * part);
      };
      const SixteenChars folded = b | 0x20;  // [ and { differ in this bit alone, and so do ] and }
      quotes |= where(b == '"');
      backslashes |= where(b == '\\');
      line_ends |= where(b == '\n');
      opens |= where(folded == '{');
      closes |= where(folded == '}');
    }
  }
};

/// Bit i: whether an odd number of the bits up to and with i is set, which of quotes is "inside a text".
std::uint64_t running_parity(std::uint64_t bits) {
  for (int by = 1; by < 64; by *= 2) bits ^= bits << by;
  return bits;
}
#endif

/// What is known of a value up to the place that is read.
struct ValueState {
  long depth = 0;
  bool in_text = false, escaped = false;
};

#if defined(__SSE2__)
enum class Passed { none, all, to_the_end };
/// Moves over the next 64 bytes of a list or an object where nothing in them needs a closer look, or to the value's end
/// in them.
inline Passed pass_block(ValueState& s, const unsigned char*& p, bool lines_end_texts) {
  const Block block(p);
  const std::uint64_t texts = running_parity(block.quotes) ^ (s.in_text ? ~std::uint64_t{0} : 0);
  if (block.backslashes != 0 || (lines_end_texts && (block.line_ends & texts) != 0)) return Passed::none;
  const std::uint64_t opens = block.opens & ~texts;
  for (std::uint64_t brackets = opens | (block.closes & ~texts); brackets != 0; brackets &= brackets - 1) {
    const int at_bit = std::countr_zero(brackets);
    if (((opens >> at_bit) & 1) != 0) {
      ++s.depth;
    } else if (--s.depth == 0) {
      p += at_bit + 1;
      return Passed::to_the_end;
    }
  }
  s.in_text = (texts >> 63) != 0;
  p += block_bytes;
  return Passed::all;
}
#endif

enum class ReadStep { goes_on, needs_more, whole, broken };
/// Moves on in a text, at most to `end`.
inline ReadStep step_in_text(ValueState& s, const unsigned char*& p, const unsigned char* end,
                             const unsigned char* text_end, bool lines_end_texts) {
  if (s.escaped && p < text_end) {
    ++p;
    s.escaped = false;
  }
  while (!inside_stops[*p]) ++p;
  if (p >= end) return ReadStep::needs_more;
  const unsigned char c = *p++;
  if (c == '\\') {
    s.escaped = true;
  } else if (c == '"') {
    s.in_text = false;
    if (s.depth == 0) return ReadStep::whole;
  } else if (c == '\n' && lines_end_texts) {
    return ReadStep::broken;
  }
  return ReadStep::goes_on;
}

/// Moves on outside of texts, at most to `end`.
inline ReadStep step_outside(ValueState& s, const unsigned char*& p, const unsigned char* end) {
  const unsigned char kind = outside_kinds[*p];
  if (kind == plain) {
    ++p;
    return ReadStep::goes_on;
  }
  if ((kind == quote || kind == stop) && p >= end) return ReadStep::needs_more;
  if ((kind == close || kind == space_or_comma) && s.depth == 0) return ReadStep::whole;  // a scalar ends before it
  ++p;                                                                                    // a stop is a NUL in the file
  if (kind == quote) s.in_text = true;
  if (kind == open) ++s.depth;
  return kind == close && --s.depth == 0 ? ReadStep::whole : ReadStep::goes_on;
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

char Scanner::peek() {
  for (;;) {
    for (; at < source_.end(); ++at)
      if (const char c = *source_.at(at); !is_space(c)) return c;
    if (!more()) return 0;
  }
}

Scanner::Next Scanner::next_of(char close) {
  keep = nothing;
  const char c = peek();
  if (c != close && c != ',') return Next::value;
  ++at;
  return c == close ? Next::end : Next::comma;
}

bool Scanner::take(char c) {
  if (peek() != c) return false;
  ++at;
  return true;
}

Scanner::End Scanner::skip_value(std::size_t max_bytes) {
  if (peek() == 0) return End::cut;
  const std::size_t begin = at;
  const bool lines_end_texts = max_bytes > 0;
  ValueState state;
  for (;;) {
    // Pointers from the window's begin; `begin` may have left the window where nothing keeps it.
    const auto* base = reinterpret_cast<const unsigned char*>(source_.at(source_.begin()));
    const std::size_t base_at = source_.begin();
    const unsigned char* p = base + (at - base_at);
    const unsigned char* const text_end = base + (source_.end() - base_at);
    const unsigned char* const end =
        max_bytes > 0 && begin + max_bytes < source_.end() ? base + (begin + max_bytes - base_at) : text_end;
    ReadStep step = ReadStep::goes_on;
#if defined(__SSE2__)
    const unsigned char* by_byte_until = p;
#endif
    while (step == ReadStep::goes_on) {
#if defined(__SSE2__)
      if (state.depth > 0 && !state.escaped && p >= by_byte_until &&
          end - p >= static_cast<std::ptrdiff_t>(block_bytes)) {
        const Passed passed = pass_block(state, p, lines_end_texts);
        if (passed == Passed::to_the_end) step = ReadStep::whole;
        if (passed != Passed::none) continue;
        by_byte_until = p + block_bytes;
      }
#endif
      step = state.in_text ? step_in_text(state, p, end, text_end, lines_end_texts) : step_outside(state, p, end);
    }
    at = base_at + static_cast<std::size_t>(p - base);
    if (step == ReadStep::whole) return End::whole;
    if (step == ReadStep::broken || (max_bytes > 0 && at - begin >= max_bytes)) return End::broken;
    if (!more()) return End::cut;
  }
}

std::size_t Scanner::next_event(std::size_t from) {
  for (;;) {
    const std::string_view text = source_.view(source_.begin(), source_.end());
    for (std::size_t p = text.find('{', from - source_.begin()); p != std::string_view::npos;
         p = text.find('{', p + 1)) {
      std::size_t before = p;
      while (before > 0 && is_space(text[before - 1])) --before;
      if (before == 0 || text[before - 1] != ',') continue;
      --before;
      while (before > 0 && is_space(text[before - 1])) --before;
      if (before == 0 || text[before - 1] != '}') continue;
      std::size_t key = p + 1;
      while (key < text.size() && is_space(text[key])) ++key;
      for (const std::string_view name : {"\"ph\"", "\"name\"", "\"cat\"", "\"pid\"", "\"ts\"", "\"tid\"", "\"args\""})
        if (text.compare(key, name.size(), name) == 0) return source_.begin() + p;
    }
    constexpr std::size_t may_straddle = 256;  // a beginning, over the end of what is there
    const std::size_t end = source_.end();
    from = std::max(from, end > may_straddle ? end - may_straddle : 0);
    if (!more()) return nothing;
  }
}

std::size_t Scanner::find(std::size_t from, std::string_view wanted) {
  for (;;) {
    const auto found = source_.view(from, source_.end()).find(wanted);
    if (found != std::string_view::npos) return from + found;
    at = keep = from = std::max(from, source_.end() - std::min(source_.end() - from, wanted.size() - 1));
    if (!more()) return nothing;
  }
}

}  // namespace models::trace
