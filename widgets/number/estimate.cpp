#include "widgets/number/estimate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace widgets {
namespace {

constexpr std::string_view dash = "\xE2\x80\x93";

std::string_view without_blanks(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

bool is_figure(char c) { return c >= '0' && c <= '9'; }

std::string_view without_about(std::string_view s) {
  for (const std::string_view about : {"~", "\xE2\x89\x88", "about ", "ca. ", "roughly "})
    if (s.starts_with(about)) return without_blanks(s.substr(about.size()));
  return s;
}

struct Ends {
  std::string_view from, to;
};

/// The two ends of a text that is a range: something with a digit before the sign, a number after it. The sign of an
/// exponent ("1e-3", "2^-24") divides nothing.
std::optional<Ends> ends_of(std::string_view s) {
  for (const std::string_view sign : {dash, std::string_view(" to "), std::string_view("-")})
    for (std::size_t at = s.find(sign, 1); at != std::string_view::npos; at = s.find(sign, at + 1)) {
      const std::string_view from = without_blanks(s.substr(0, at)), to = without_blanks(s.substr(at + sign.size()));
      if (from.empty() || to.empty() || std::none_of(from.begin(), from.end(), is_figure)) continue;
      const bool exponent = from.back() == '^' || ((from.back() == 'e' || from.back() == 'E') && from.size() > 1 &&
                                                   is_figure(from[from.size() - 2]) && s[at - 1] != ' ');
      const bool number = is_figure(to.front()) || to.front() == '$' || to.front() == '.';
      if (!exponent && number) return Ends{from, to};
    }
  return {};
}

/// What follows the number in "142 GB": its unit.
std::string_view unit_after(std::string_view s) {
  const auto at = s.find_first_not_of("$0123456789., ");
  return at == std::string_view::npos ? std::string_view() : s.substr(at);
}

}  // namespace

ParsedQuantity parse_estimate(std::string_view text, std::string_view unit) {
  const std::string_view typed = without_about(without_blanks(text));
  const auto ends = ends_of(typed);
  if (!ends) return parse_quantity(typed, unit);
  const bool bare = unit_after(ends->from).empty();
  const ParsedQuantity to = parse_quantity(ends->to, unit),
                       from = parse_quantity(bare ? std::string(ends->from) + " " + std::string(unit_after(ends->to))
                                                  : std::string(ends->from),
                                             unit);
  if (!from.error.empty()) return from;
  if (!to.error.empty()) return to;
  const double middle = from.value / 2 + to.value / 2, half = std::abs(to.value - from.value) / 2;
  if (half <= narrow_range * std::abs(middle)) return {middle, {}};
  return {0, "from " + format_text(from.value, unit, 4) + " to " + format_text(to.value, unit, 4) +
                 " is too wide a range for one figure: say a number, or ends within " + format_percent(narrow_range) +
                 " of their middle"};
}

}  // namespace widgets
