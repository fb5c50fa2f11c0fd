#include "widgets/base/shorten.h"

#include <algorithm>

namespace widgets {
namespace {

bool inside_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
bool is_decimal(char c) { return c >= '0' && c <= '9'; }
bool is_break(char c) { return c == ' ' || c == '/' || c == ':' || c == '.' || c == '-' || c == '_'; }

bool in_number(char c) { return is_decimal(c) || c == '.' || c == ','; }

/// Where the number begins that ends at this place, so that none stands before an ellipsis as if it were cut; the place
/// itself where there is none, or where it belongs to a name, such as sm90.
std::size_t before_number(std::string_view s, std::size_t at) {
  std::size_t from = at;
  while (from > 0 && in_number(s[from - 1])) --from;
  const char ahead = from > 0 ? s[from - 1] : ' ';
  const bool of_a_name = ahead == '_' || (ahead >= 'a' && ahead <= 'z') || (ahead >= 'A' && ahead <= 'Z');
  return of_a_name ? at : from;
}

/// `keep` bytes of the text at most, two fifths of them from its beginning, on boundaries of characters, and no number
/// cut.
Line both_ends(std::string_view s, std::size_t keep) {
  std::size_t head = keep * 2 / 5, tail = s.size() - (keep - head);
  while (head > 0 && inside_character(s[head])) --head;
  head = before_number(s, head);
  while (tail > 0 && tail < s.size() && (inside_character(s[tail]) || (in_number(s[tail - 1]) && in_number(s[tail]))))
    ++tail;
  return Line().add(s.substr(0, head)).add("\xE2\x80\xA6").add(s.substr(tail));
}

}  // namespace

Line shorten_middle(std::string_view s, float width, Type type, Font font) {
  const auto wide = [&](std::string_view t) { return t.empty() ? 0.0f : text_size(t, type, font).x; };
  constexpr std::size_t longest = 180;  // what a Line holds, less the ellipsis
  if (s.size() <= longest && wide(s) <= width) return Line().add(s);
  std::size_t fits = 0, too_long = std::min(s.size(), longest + 1);
  while (too_long - fits > 1) {
    const std::size_t middle = fits + (too_long - fits) / 2;
    (wide(both_ends(s, middle).view()) <= width ? fits : too_long) = middle;
  }
  return fits < 2 ? Line() : both_ends(s, fits);
}

std::string_view fitting_title(std::string_view s, float width, Type type, Font font) {
  const auto fits = [&](std::string_view part) { return !part.empty() && text_size(part, type, font).x <= width; };
  if (fits(s)) return s;
  std::string_view brief = s.substr(0, std::min(s.find_first_of(",("), s.size()));
  while (!brief.empty() && brief.back() == ' ') brief.remove_suffix(1);
  return fits(brief) ? brief : std::string_view();
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  std::size_t same = 0;
  while (same < a.size() && same < b.size() && a[same] == b[same]) ++same;
  while (same > 0 && !is_break(a[same - 1])) --same;
  return same;
}

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0, k = 0;
  const auto digits_from = [](std::string_view s, std::size_t from) {
    std::size_t end = from;
    while (end < s.size() && is_decimal(s[end])) ++end;
    return end;
  };
  while (i < a.size() && k < b.size()) {
    if (!is_decimal(a[i]) || !is_decimal(b[k])) {
      if (a[i] != b[k]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[k]);
      ++i;
      ++k;
      continue;
    }
    const std::size_t a_end = digits_from(a, i), b_end = digits_from(b, k);
    while (i + 1 < a_end && a[i] == '0') ++i;
    while (k + 1 < b_end && b[k] == '0') ++k;
    if (a_end - i != b_end - k) return a_end - i < b_end - k;
    if (const int order = a.substr(i, a_end - i).compare(b.substr(k, b_end - k)); order != 0) return order < 0;
    i = a_end;
    k = b_end;
  }
  return a.size() - i < b.size() - k;
}

}  // namespace widgets
