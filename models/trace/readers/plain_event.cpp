#include "models/trace/readers/plain_event.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "models/trace/readers/number.h"

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

/// One bit for each of 64 bytes: whether it passes the test.
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

constexpr std::array<bool, 256> bare_letters() {
  std::array<bool, 256> out{};
  for (const char c : std::string_view("0123456789.-+abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    out[static_cast<unsigned char>(c)] = true;
  return out;
}
constexpr auto bare_letter = bare_letters();

bool is_white(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// The number in the first `n` characters, which are 1 to 8 digits: pairs, then fours, then all of them.
std::uint64_t short_number(const char* p, std::size_t n) {
  std::uint64_t digits = 0;
  std::memcpy(&digits, p, sizeof digits);
  digits = (digits << (64 - 8 * n)) & 0x0F0F0F0F0F0F0F0F;  // the first character is the lowest byte
  digits = (digits * 10 + (digits >> 8)) & 0x00FF00FF00FF00FF;
  digits = (digits * 100 + (digits >> 16)) & 0x0000FFFF0000FFFF;
  return (digits * 10000 + (digits >> 32)) & 0xFFFFFFFF;
}
/// The same of 1 to 16 digits.
std::uint64_t number_of(const char* p, std::size_t n) {
  return n <= 8 ? short_number(p, n) : short_number(p, n - 8) * 100'000'000 + short_number(p + n - 8, 8);
}

/// Gaps that are no text: before an event, before its arguments, and one that was not remembered, in each of them.
enum : std::uint8_t { before_event, before_arguments, unknown_in_event, unknown_in_arguments, first_text };
constexpr std::size_t max_gaps = 256, max_unknown = 10'000, near = 4;

}  // namespace

enum class PlainEvents::Member : std::uint8_t {
  other,
  phase,
  time,
  duration,
  category,
  name,
  process,
  thread,
  id,
  arguments,
  correlation,
  uncategorised_correlation,
  device,
  stream,
  end
};

/// What stands between two values: a comma, a key and a colon with the white space around them, or the brace behind the
/// last. Those seen are a tree, since what follows depends on what came before: the first below a gap is `below`, the
/// others hang on that by `beside`; 0 is none.
struct PlainEvents::Gap {
  static constexpr std::size_t max_bytes = 48;
  char bytes[max_bytes]{};
  std::uint64_t mask = 0;  ///< a bit for each byte
  std::uint8_t size = 0, below = 0, beside = 0;
  Member member = Member::other;
};

/// One pass over an event. Each function takes the place it reads from and returns the place behind what it read, or
/// nullptr.
class PlainEvents::Pass {
 public:
  Pass(PlainEvents& events, const char* json, const char* end, std::size_t base, Record& r)
      : events_(events), gaps_(events.gaps_.get()), json_(json), end_(end), base_(base), r_(r) {}

  const char* read() {
    std::uint8_t gap = before_event;
    const char* p = json_;
    for (;;) {
      if (!(p = take_gap(p, gap, false))) return nullptr;
      const Member member = gaps_[gap].member;
      if (member == Member::end) return p <= end_ ? p : nullptr;
      if (!(p = value_of_event(p, member))) return nullptr;
    }
  }

 private:
  /// Behind the white space.
  static const char* skip_white(const char* p) {
    while (is_white(*p)) ++p;
    return p;
  }

  /// Moves over what stands before the next value, or over the end, and makes `gap` what that was.
  [[gnu::always_inline]] const char* take_gap(const char* p, std::uint8_t& gap, bool in_arguments) {
    const Sixteen text[3] = {sixteen(p), sixteen(p + 16), sixteen(p + 32)};
    std::uint8_t before = 0;
    std::size_t tries = 0;
    for (std::uint8_t i = gaps_[gap].below; i != 0; before = i, i = gaps_[i].beside) {
      Gap& g = gaps_[i];
      ++tries;
      const std::uint64_t equal = std::uint64_t{bits(text[0] == sixteen(g.bytes))} |
                                  std::uint64_t{bits(text[1] == sixteen(g.bytes + 16))} << 16 |
                                  std::uint64_t{bits(text[2] == sixteen(g.bytes + 32))} << 32;
      if ((equal & g.mask) != g.mask) continue;
      if (tries > near) {  // the first place is for what was seen last
        gaps_[before].beside = g.beside;
        g.beside = gaps_[gap].below;
        gaps_[gap].below = i;
      }
      gap = i;
      p += g.size;
      return g.member == Member::end ? p : skip_white(p);
    }
    return read_gap(p, gap, in_arguments);
  }

  static Member member_of_event(std::string_view key) {
    constexpr std::pair<std::string_view, Member> keys[] = {
        {"ph", Member::phase},     {"ts", Member::time},   {"dur", Member::duration},
        {"cat", Member::category}, {"name", Member::name}, {"pid", Member::process},
        {"tid", Member::thread},   {"id", Member::id},     {"args", Member::arguments}};
    for (const auto& [name, member] : keys)
      if (key == name) return member;
    return Member::other;
  }

  static Member member_of_arguments(std::string_view key) {
    if (key == "correlation") return Member::correlation;
    if (key == "correlation_id") return Member::uncategorised_correlation;
    if (key == "device") return Member::device;
    return key == "stream" ? Member::stream : Member::other;
  }

  /// The same of a gap that is not known after the one before, letter by letter.
  [[gnu::noinline]] const char* read_gap(const char* p, std::uint8_t& gap, bool in_arguments) {
    const char* const begin = p;
    const bool first = gap == before_event || gap == before_arguments;
    Member member = Member::end;
    if (!first) p = skip_white(p);
    const char c = first ? '{' : *p;
    ++p;
    if (c != '}') {
      if (c != '{' && c != ',') return nullptr;
      p = skip_white(p);
    }
    if (first && *p == '}') {
      if (!in_arguments) return nullptr;  // an empty event is rare enough
      ++p;
    } else if (c != '}') {
      std::string_view key;
      if (*p != '"' || !(p = text(p, key))) return nullptr;
      p = skip_white(p);
      if (*p != ':') return nullptr;
      p = skip_white(p + 1);
      member = in_arguments ? member_of_arguments(key) : member_of_event(key);
    }
    remember(gap, {begin, static_cast<std::size_t>(p - begin)}, member, in_arguments);
    return p;
  }

  /// Makes `gap` this text behind it.
  void remember(std::uint8_t& gap, std::string_view text, Member member, bool in_arguments) {
    const std::uint8_t from = gap;
    gap = in_arguments ? unknown_in_arguments : unknown_in_event;
    gaps_[gap].member = member;
    if (text.size() > Gap::max_bytes || text.data() + text.size() > end_) return;
    if (events_.known_ == max_gaps) {
      ++events_.unknown_;
      return;
    }
    gap = static_cast<std::uint8_t>(events_.known_++);
    Gap& g = gaps_[gap];
    g = {};
    std::memcpy(g.bytes, text.data(), text.size());
    g.mask = (std::uint64_t{1} << text.size()) - 1;
    g.size = static_cast<std::uint8_t>(text.size());
    g.member = member;
    std::uint8_t* last = &gaps_[from].below;
    while (*last != 0) last = &gaps_[*last].beside;
    *last = gap;
  }

  /// A text without escapes and control characters; the 0 at the end is one.
  static const char* text(const char* p, std::string_view& out) {
    const char* const begin = ++p;
    for (;; p += 16) {
      const Sixteen b = sixteen(p);
      const std::uint32_t special = bits((b == '"') | (b == '\\') | (b < ' '));  // signed: above 127 is below 0
      if (special == 0) continue;
      p += std::countr_zero(special);
      if (*p != '"') return nullptr;
      out = {begin, static_cast<std::size_t>(p - begin)};
      return p + 1;
    }
  }

  /// A number, or what stands in place of one.
  static const char* bare(const char* p, std::string_view& out) {
    const char* const begin = p;
    const Sixteen b = sixteen(p);
    p += std::countr_one(bits((b > '*') & (b < ':') & (b != ',') & (b != '/')));  // digits, points and signs
    while (bare_letter[static_cast<unsigned char>(*p)]) ++p;
    out = {begin, static_cast<std::size_t>(p - begin)};
    return p > begin ? p : nullptr;
  }
  [[gnu::always_inline]] static const char* scalar(const char* p, std::string_view& out) {
    return *p == '"' ? text(p, out) : bare(p, out);
  }

  /// Microseconds in nanoseconds: up to 16 digits and three more behind a point at once, all else as parse_us says.
  static const char* time(const char* p, std::int64_t& ns, bool& good) {
    const Sixteen low = sixteen(p), high = sixteen(p + 16);
    const std::uint32_t digits = bits((low >= '0') & (low <= '9')) | bits((high >= '0') & (high <= '9')) << 16;
    const auto whole = static_cast<std::size_t>(std::countr_one(digits));
    if (whole > 0 && whole <= 16) {
      constexpr std::uint64_t scale[] = {1, 10, 100, 1000};
      std::uint64_t value = number_of(p, whole) * 1000;
      const char* end = p + whole;
      std::size_t decimals = 0;
      if (*end == '.') {
        decimals = static_cast<std::size_t>(std::countr_one(digits >> (whole + 1)));
        if (decimals > 0 && decimals <= 3) value += short_number(end + 1, decimals) * scale[3 - decimals];
        end += 1 + decimals;
      }
      if (decimals <= 3 && !bare_letter[static_cast<unsigned char>(*end)] && value <= std::uint64_t{max_time_ns}) {
        ns = static_cast<std::int64_t>(value);
        good = true;
        return end;
      }
    }
    std::string_view written;
    if ((p = scalar(p, written))) good = parse_us(written, ns);
    return p;
  }

  /// Moves over a list or an object, counting brackets of both kinds alike.
  const char* skip_nested(const char* p) const {
    std::uint64_t in_text = 0;  // all ones inside a text
    long depth = 0;
    for (; p < end_; p += 64) {
      const Sixteen block[4] = {sixteen(p), sixteen(p + 16), sixteen(p + 32), sixteen(p + 48)};
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
          if (((odd & texts) & before) != 0 || (beyond_ascii(block) & before) != 0) return nullptr;
          p += at + 1;
          return p <= end_ ? p : nullptr;
        }
      }
      if ((odd & texts) != 0 || beyond_ascii(block) != 0) return nullptr;
      in_text = (texts >> 63) != 0 ? ~std::uint64_t{0} : 0;
    }
    return nullptr;
  }
  static std::uint64_t beyond_ascii(const Sixteen (&block)[4]) {
    return where(block, [](Sixteen b) { return b < Sixteen{}; });
  }

  const char* skip_value(const char* p) const {
    std::string_view ignored;
    return *p == '{' || *p == '[' ? skip_nested(p) : scalar(p, ignored);
  }

  const char* value_of_event(const char* p, Member member) {
    switch (member) {
      case Member::phase: {
        std::string_view value;
        if ((p = scalar(p, value))) r_.phase = value.size() == 1 ? value[0] : '\0';
        return p;
      }
      case Member::time:
        return time(p, r_.time_ns, r_.has_time);
      case Member::duration: {
        bool good = false;
        p = time(p, r_.duration_ns, good);
        r_.bad_duration = !good;
        return p;
      }
      case Member::category:
        r_.has_category = true;
        return *p == '"' ? text(p, r_.category) : nullptr;
      case Member::name:
        return *p == '"' ? text(p, r_.name) : nullptr;
      case Member::process:
        return scalar(p, r_.pid);
      case Member::thread:
        return scalar(p, r_.tid);
      case Member::id:
        return scalar(p, r_.id);
      case Member::arguments:
        return arguments(p);
      default:
        return skip_value(p);
    }
  }

  const char* arguments(const char* p) {
    if (*p != '{') return skip_value(p);
    if (r_.args_bytes > 0) return nullptr;
    const char* const after = args_matter(r_) ? look_into_arguments(p) : skip_nested(p);
    r_.args_offset = base_ + static_cast<std::size_t>(p - json_);
    r_.args_bytes = after ? static_cast<std::uint32_t>(after - p) : 0;
    return after;
  }

  const char* look_into_arguments(const char* p) {
    std::uint8_t gap = before_arguments;
    for (;;) {
      if (!(p = take_gap(p, gap, true))) return nullptr;
      const Member member = gaps_[gap].member;
      if (member == Member::end) return p;
      if (!(p = value_of_arguments(p, member))) return nullptr;
    }
  }

  const char* value_of_arguments(const char* p, Member member) {
    if (member == Member::other) return skip_value(p);
    if (member == Member::device) return scalar(p, r_.device);
    if (member == Member::stream) return scalar(p, r_.stream);
    if (member == Member::uncategorised_correlation && r_.has_category) return skip_value(p);
    std::string_view value;
    if (!(p = scalar(p, value))) return nullptr;
    std::int64_t number = -1;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size()) return nullptr;
    if (number >= 0) r_.correlation = number;
    return p;
  }

  PlainEvents& events_;
  Gap* const gaps_;
  const char *json_, *end_;
  std::size_t base_;
  Record& r_;
};

PlainEvents::PlainEvents() : gaps_(std::make_unique<Gap[]>(max_gaps)), known_(first_text) {}

/// Begins anew, for a recording whose events have changed.
void PlainEvents::forget() {
  for (std::size_t i = 0; i < first_text; ++i) gaps_[i] = {};
  known_ = first_text;
  unknown_ = 0;
}

const char* PlainEvents::read(const char* json, const char* end, std::size_t base, Record& record) {
  if (unknown_ > max_unknown) forget();
  return Pass(*this, json, end, base, record).read();
}
#else
struct PlainEvents::Gap {};
PlainEvents::PlainEvents() = default;
const char* PlainEvents::read(const char*, const char*, std::size_t, Record&) { return nullptr; }
#endif
PlainEvents::~PlainEvents() = default;

}  // namespace models::trace
