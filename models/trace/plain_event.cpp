#include "models/trace/plain_event.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "models/trace/number.h"

namespace models::trace {

#if defined(__SSE2__)
namespace {

typedef signed char Sixteen __attribute__((vector_size(16)));
typedef char Mask __attribute__((vector_size(16)));

Sixteen sixteen(const char* p) {
  Sixteen bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  return bytes;
}
std::uint32_t bits(Sixteen equal) {
  return static_cast<std::uint32_t>(__builtin_ia32_pmovmskb128(std::bit_cast<Mask>(equal)));
}

/// Of each of 64 bytes a bit.
template <class Test>
std::uint64_t where(const Sixteen (&block)[4], const Test& test) {
  std::uint64_t out = 0;
  for (int part = 0; part < 4; ++part) out |= std::uint64_t{bits(test(block[part]))} << (16 * part);
  return out;
}

/// Bit i: whether an odd number of the bits up to and with i is set.
std::uint64_t parity_so_far(std::uint64_t b) {
  for (int by = 1; by < 64; by *= 2) b ^= b << by;
  return b;
}

/// A key of up to four letters as a number; 0 for longer ones.
constexpr std::uint32_t code(std::string_view key) {
  if (key.size() > 4) return 0;
  std::uint32_t out = 0;
  for (const char c : key) out = out << 8 | static_cast<unsigned char>(c);
  return out;
}

constexpr std::array<bool, 256> bare_letters() {
  std::array<bool, 256> out{};
  for (const char c : std::string_view("0123456789.-+abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    out[static_cast<unsigned char>(c)] = true;
  return out;
}
constexpr auto bare_letter = bare_letters();

bool is_white(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// One pass over an event. A function that moves `p` over something leaves it where it should not be read on by setting
/// it to nullptr.
class PlainEvent {
 public:
  PlainEvent(const char* json, const char* end, std::size_t base, Record& r)
      : p_(json), json_(json), end_(end), base_(base), r_(r) {}

  const char* read() {
    ++p_;
    if (next() == '}') return nullptr;  // an empty object is rare enough
    for (;;) {
      if (*p_ != '"') return nullptr;
      std::string_view key;
      if (!text(key) || next() != ':') return nullptr;
      ++p_;
      next();
      if (!member(key)) return nullptr;
      const char c = next();
      ++p_;
      if (c == '}') return p_ <= end_ ? p_ : nullptr;
      if (c != ',') return nullptr;
      next();
    }
  }

 private:
  /// The next character that is not white.
  char next() {
    while (is_white(*p_)) ++p_;
    return *p_;
  }

  /// A text without escapes and control characters; the 0 at the end is one.
  bool text(std::string_view& out) {
    const char* const begin = ++p_;
    for (;; p_ += 16) {
      const Sixteen b = sixteen(p_);
      const std::uint32_t special = bits((b == '"') | (b == '\\') | (b < ' '));  // signed: above 127 is below 0
      if (special == 0) continue;
      p_ += std::countr_zero(special);
      if (*p_ != '"') return false;
      out = {begin, static_cast<std::size_t>(p_ - begin)};
      ++p_;
      return true;
    }
  }

  /// A number, or what stands in place of one.
  bool bare(std::string_view& out) {
    const char* const begin = p_;
    while (bare_letter[static_cast<unsigned char>(*p_)]) ++p_;
    out = {begin, static_cast<std::size_t>(p_ - begin)};
    return p_ > begin;
  }
  bool scalar(std::string_view& out) { return *p_ == '"' ? text(out) : bare(out); }

  /// Moves over a list or an object, counting brackets of both kinds alike.
  bool skip_nested() {
    std::uint64_t in_text = 0;  // all ones inside a text
    long depth = 0;
    for (; p_ < end_; p_ += 64) {
      const Sixteen block[4] = {sixteen(p_), sixteen(p_ + 16), sixteen(p_ + 32), sixteen(p_ + 48)};
      const std::uint64_t texts = parity_so_far(where(block, [](Sixteen b) { return b == '"'; })) ^ in_text;
      const std::uint64_t odd = where(block, [](Sixteen b) { return (b == '\\') | (b < ' '); });
      const std::uint64_t opens = where(block, [](Sixteen b) { return (b | 0x20) == '{'; }) & ~texts;
      const std::uint64_t closes = where(block, [](Sixteen b) { return (b | 0x20) == '}'; }) & ~texts;
      for (std::uint64_t brackets = opens | closes; brackets != 0; brackets &= brackets - 1) {
        const int at = std::countr_zero(brackets);
        if (((opens >> at) & 1) != 0) {
          ++depth;
        } else if (--depth == 0) {
          // Up to here nothing in a text may be odd; blanks outside are.
          const std::uint64_t before = (std::uint64_t{2} << at) - 1;
          if (((odd & texts) & before) != 0 || (beyond_ascii(block) & before) != 0) return false;
          p_ += at + 1;
          return true;
        }
      }
      if ((odd & texts) != 0 || beyond_ascii(block) != 0) return false;
      in_text = (texts >> 63) != 0 ? ~std::uint64_t{0} : 0;
    }
    return false;
  }
  static std::uint64_t beyond_ascii(const Sixteen (&block)[4]) {
    return where(block, [](Sixteen b) { return b < Sixteen{}; });
  }

  bool skip_value() {
    std::string_view ignored;
    return *p_ == '{' || *p_ == '[' ? skip_nested() : scalar(ignored);
  }

  bool member(std::string_view key) {
    std::string_view value;
    switch (code(key)) {
      case code("ph"):
        if (!scalar(value)) return false;
        r_.phase = value.size() == 1 ? value[0] : '\0';
        return true;
      case code("ts"):
        if (!scalar(value)) return false;
        r_.has_time = parse_us(value, r_.time_ns);
        return true;
      case code("dur"):
        if (!scalar(value)) return false;
        r_.bad_duration = !parse_us(value, r_.duration_ns);
        return true;
      case code("cat"):
        r_.has_category = true;
        return *p_ == '"' && text(r_.category);
      case code("name"):
        return *p_ == '"' && text(r_.name);
      case code("pid"):
        return scalar(r_.pid);
      case code("tid"):
        return scalar(r_.tid);
      case code("id"):
        return scalar(r_.id);
      case code("args"):
        return args();
      default:
        return skip_value();
    }
  }

  bool args() {
    if (*p_ != '{') return skip_value();
    if (r_.args_bytes > 0) return false;
    const char* const begin = p_;
    if (args_matter(r_) ? !look_into_args() : !skip_nested()) return false;
    r_.args_offset = base_ + static_cast<std::size_t>(begin - json_);
    r_.args_bytes = static_cast<std::uint32_t>(p_ - begin);
    return true;
  }

  bool look_into_args() {
    ++p_;
    if (next() == '}') {
      ++p_;
      return true;
    }
    for (;;) {
      std::string_view key, value;
      if (*p_ != '"' || !text(key) || next() != ':') return false;
      ++p_;
      next();
      const char first = key.empty() ? '\0' : key.front();
      if (first != 'c' && first != 'd' && first != 's') {
        if (!skip_value()) return false;
      } else if (key == "correlation" || (key == "correlation_id" && !r_.has_category)) {
        if (!scalar(value)) return false;
        std::int64_t number = -1;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (error != std::errc() || end != value.data() + value.size()) return false;
        if (number >= 0) r_.correlation = number;
      } else if (key == "device") {
        if (!scalar(r_.device)) return false;
      } else if (key == "stream") {
        if (!scalar(r_.stream)) return false;
      } else if (!skip_value()) {
        return false;
      }
      const char c = next();
      ++p_;
      if (c == '}') return true;
      if (c != ',') return false;
      next();
    }
  }

  const char* p_;
  const char *json_, *end_;
  std::size_t base_;
  Record& r_;
};

}  // namespace

const char* read_plain_event(const char* json, const char* end, std::size_t base, Record& record) {
  return PlainEvent(json, end, base, record).read();
}
#else
const char* read_plain_event(const char*, const char*, std::size_t, Record&) { return nullptr; }
#endif

}  // namespace models::trace
