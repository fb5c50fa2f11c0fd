#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "widgets/number/number.h"
#include "widgets/number/number_units.h"

namespace widgets {
namespace {

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

/// As typed, but on one line and not endless.
std::string quoted(std::string_view s) {
  constexpr std::size_t longest = 40;
  std::size_t n = std::min(s.size(), longest);
  while (n > 0 && n < s.size() && (static_cast<unsigned char>(s[n]) & 0xC0) == 0x80) --n;
  std::string out = '"' + std::string(s.substr(0, n));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20) c = '?';
  return out + (n < s.size() ? "\xE2\x80\xA6\"" : "\"");
}

std::string expected(std::string_view unit) {
  if (unit.empty()) return "a plain number is expected, such as 12,288";
  std::string example;
  switch (unit_family(unit)) {
    case UnitFamily::plain:
    case UnitFamily::intensity:
      example = "43 " + std::string(unit);
      break;
    case UnitFamily::count:
      example = "1.5 M " + std::string(unit);
      break;
    case UnitFamily::bytes:
    case UnitFamily::rate:
      example = "1.5 G" + std::string(unit);
      break;
    case UnitFamily::energy:
    case UnitFamily::time:
      example = "1.5 m" + std::string(unit);
      break;
    case UnitFamily::money:
      example = "$1.50" + std::string(unit_tail(unit));
      break;
  }
  return "a number in " + std::string(unit) + " is expected, such as " + example;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Bytes of a space at `i` that groups thousands, as in "141 000" (plain, no-break or narrow no-break); 0 where there
/// is none, since three digits and no fourth follow it.
std::size_t grouping_space(std::string_view s, std::size_t i) {
  for (const std::string_view space : {" ", "\xC2\xA0", "\xE2\x80\xAF"}) {
    if (!s.substr(i).starts_with(space)) continue;
    const std::string_view group = s.substr(i + space.size(), 3);
    const bool full = group.size() == 3 && std::all_of(group.begin(), group.end(), is_digit);
    const std::size_t after = i + space.size() + 3;
    return full && !(after < s.size() && is_digit(s[after])) ? space.size() : 0;
  }
  return 0;
}

/// The exponent of a power of two after its "2": "^10", "^-24" or raised, as power_of_two writes it. Takes it off `s`.
std::optional<int> take_raised(std::string_view& s) {
  constexpr std::string_view raised[] = {"\xE2\x81\xB0", "\xC2\xB9",     "\xC2\xB2",     "\xC2\xB3",
                                         "\xE2\x81\xB4", "\xE2\x81\xB5", "\xE2\x81\xB6", "\xE2\x81\xB7",
                                         "\xE2\x81\xB8", "\xE2\x81\xB9"};
  std::string_view rest = s;
  const bool typed = rest.starts_with('^');
  if (typed) rest.remove_prefix(1);
  const std::string_view minus = typed ? "-" : "\xE2\x81\xBB";
  const bool negative = rest.starts_with(minus);
  if (negative) rest.remove_prefix(minus.size());
  int value = 0, digits = 0;
  for (bool more = true; more && digits < 5;) {
    more = false;
    for (int d = 0; d < 10 && !more; ++d) {
      const char plain = static_cast<char>('0' + d);
      const std::string_view digit = typed ? std::string_view(&plain, 1) : raised[d];
      if (!rest.starts_with(digit)) continue;
      rest.remove_prefix(digit.size());
      value = value * 10 + d;
      ++digits;
      more = true;
    }
  }
  if (digits == 0) return std::nullopt;
  s = rest;
  return negative ? -value : value;
}

/// Takes the number off the front of `s` (into `plain`, without grouping); false when a comma does not group thousands.
bool take_number(std::string_view& s, std::string& plain) {
  std::size_t i = 0, digits_since_comma = 0;
  bool comma = false, spaced = false, point = false, good = true, any_digit = false;
  if (i < s.size() && (s[i] == '-' || s[i] == '+')) {
    if (s[i] == '-') plain += '-';
    ++i;
  }
  for (; i < s.size(); ++i) {
    const char c = s[i];
    if (is_digit(c)) {
      plain += c;
      any_digit = true;
      ++digits_since_comma;
    } else if (c == ',' && !point && any_digit) {
      if (comma ? digits_since_comma != 3 : digits_since_comma > 3) good = false;
      comma = true;
      digits_since_comma = 0;
    } else if (const auto space = grouping_space(s, i);
               space > 0 && !point && !comma && any_digit && (spaced || digits_since_comma <= 3)) {
      spaced = true;
      i += space - 1;
    } else if (c == '.' && !point) {
      if (comma && digits_since_comma != 3) good = false;
      point = true;
      plain += c;
    } else {
      break;
    }
  }
  if (comma && !point && digits_since_comma != 3) good = false;
  // An exponent only when digits follow, so that "5 E" and "5e" stay a number and a rest.
  if (any_digit && i < s.size() && (s[i] == 'e' || s[i] == 'E')) {
    const std::size_t sign = i + 1 < s.size() && (s[i + 1] == '+' || s[i + 1] == '-') ? 1 : 0;
    std::size_t j = i + 1 + sign;
    if (j < s.size() && is_digit(s[j])) {
      plain += 'e';
      if (sign && s[i + 1] == '-') plain += '-';
      for (; j < s.size() && is_digit(s[j]); ++j) plain += s[j];
      i = j;
    }
  }
  if (!any_digit) plain.clear();
  s.remove_prefix(i);
  if (plain == "2")
    if (const auto exponent = take_raised(s)) {
      char text[40];
      const auto end = std::to_chars(text, text + sizeof text, std::ldexp(1.0, *exponent)).ptr;
      plain.assign(text, end);
    }
  return good;
}

/// Prefixes as they are spoken: "13 billion", "310 milliseconds", "1.5 gigabytes".
struct Spoken {
  std::string_view word, prefix;
};
constexpr Spoken spoken[] = {{"nano", "n"},     {"micro", "u"}, {"milli", "m"},    {"kilo", "k"},
                             {"thousand", "k"}, {"mega", "M"},  {"million", "M"},  {"giga", "G"},
                             {"billion", "G"},  {"tera", "T"},  {"trillion", "T"}, {"peta", "P"},
                             {"kibi", "Ki"},    {"mebi", "Mi"}, {"gibi", "Gi"},    {"tebi", "Ti"}};

std::optional<double> prefix_factor(std::string_view name, UnitFamily family, bool unit_follows) {
  if (name.empty()) return 1.0;
  for (const Spoken& w : spoken)
    if (w.word == name) name = w.prefix;
  if (name == "K") name = "k";
  if (name == "u" || name == "\xCE\xBC") name = "\xC2\xB5";  // u and the Greek letter for the micro sign
  const bool up = family != UnitFamily::time;
  const bool down = family == UnitFamily::time || family == UnitFamily::energy;
  for (const Multiple& m : decimal_multiples())
    if (m.name == name && (m.factor > 1 ? up : down)) return m.factor;
  const bool binary =
      family == UnitFamily::bytes || family == UnitFamily::count || (family == UnitFamily::plain && !unit_follows);
  if (binary)
    for (const Multiple& m : binary_multiples())
      if (m.name == name) return m.factor;
  return std::nullopt;
}

struct Alias {
  std::string_view head, typed;
  double factor;
};
constexpr Alias aliases[] = {{"s", "sec", 1},
                             {"s", "second", 1},
                             {"s", "seconds", 1},
                             {"s", "min", 60},
                             {"s", "minute", 60},
                             {"s", "minutes", 60},
                             {"s", "h", 3600},
                             {"s", "hour", 3600},
                             {"s", "hours", 3600},
                             {"s", "d", 86400},
                             {"s", "day", 86400},
                             {"s", "days", 86400},
                             {"min", "minute", 1},
                             {"min", "minutes", 1},
                             {"min", "s", 1.0 / 60},
                             {"min", "h", 60},
                             {"B", "byte", 1},
                             {"B", "bytes", 1},
                             {"B", "bit", 0.125},
                             {"B", "bits", 0.125},
                             {"FLOP", "FLOPs", 1},
                             {"tokens", "token", 1},
                             {"tokens", "tok", 1},
                             {"token", "tokens", 1},
                             {"parameters", "parameter", 1},
                             {"parameters", "params", 1},
                             {"parameters", "param", 1}};

std::optional<double> head_factor(std::string_view typed, std::string_view head, UnitFamily family) {
  const auto ending = [&](std::string_view name) -> std::optional<double> {
    if (!typed.ends_with(name)) return std::nullopt;
    return prefix_factor(trimmed(typed.substr(0, typed.size() - name.size())), family, true);
  };
  if (const auto f = ending(head)) return f;
  for (const Alias& a : aliases) {
    if (a.head != head) continue;
    // "min" is sixty seconds and takes no prefix; "Gbit" does.
    if (a.factor > 1) {
      if (typed == a.typed) return a.factor;
    } else if (const auto f = ending(a.typed)) {
      return *f * a.factor;
    }
  }
  return std::nullopt;
}

std::optional<double> suffix_factor(std::string_view typed, std::string_view unit) {
  const UnitFamily family = unit_family(unit);
  if (typed.empty() || typed == unit) return 1.0;
  if (unit == times_unit && (typed == "x" || typed == "times")) return 1.0;
  // A lone prefix means that many of the unit; but "5 m" of seconds could be minutes, and of anything metres.
  if (family != UnitFamily::time && unit != "%" && typed != "m")
    if (const auto f = prefix_factor(typed, family, false)) return f;
  if (family == UnitFamily::count && (typed == "B" || typed == "b")) return 1e9;  // "70B" as models are named
  if (unit == "FLOP/s" && typed.ends_with("FLOPS"))
    return prefix_factor(trimmed(typed.substr(0, typed.size() - 5)), family, true);
  const std::string_view tail = unit_tail(unit);
  if (!typed.ends_with(tail)) return std::nullopt;
  const std::string_view head = trimmed(typed.substr(0, typed.size() - tail.size()));
  if (unit == "%" && (head == "percent" || head == "per cent")) return 1.0;
  if (unit_head(unit) == "%" || family == UnitFamily::plain) {
    if (head == unit_head(unit) && !head.empty()) return 1.0;
    for (const Alias& a : aliases)
      if (a.head == unit_head(unit) && a.typed == head) return a.factor;
    return std::nullopt;
  }
  // The dollar sign was read before the number.
  if (family == UnitFamily::money) {
    std::string_view prefix = head;
    for (const std::string_view name : {"$", "USD", "usd", "dollars", "dollar"})
      if (prefix.ends_with(name)) {
        prefix.remove_suffix(name.size());
        break;
      }
    return prefix_factor(trimmed(prefix), family, true);
  }
  if (head.empty()) return std::nullopt;
  return head_factor(head, unit_head(unit), family);
}

}  // namespace

ParsedQuantity parse_quantity(std::string_view text, std::string_view unit) {
  const std::string_view typed = trimmed(text);
  if (typed.empty()) return {0, "nothing was typed: " + expected(unit)};
  std::string_view rest = typed;
  const bool money = unit_family(unit) == UnitFamily::money;
  std::string plain;
  if (money && rest.starts_with('-') && rest.substr(1).starts_with('$')) {
    rest.remove_prefix(2);
    plain = "-";
  } else if (money && rest.starts_with('$')) {
    rest.remove_prefix(1);
  }
  const bool grouped_well = take_number(rest, plain);
  if (plain.empty() || plain == "-") return {0, quoted(typed) + " is not a number: " + expected(unit)};
  if (!grouped_well) return {0, quoted(typed) + " has a comma that does not group thousands: write 4,096 or 1.5"};
  double value = 0;
  const auto read = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  const std::string_view suffix = trimmed(rest);
  if (read.ec == std::errc::result_out_of_range) {
    const std::size_t e = plain.find('e');
    const bool small = e == std::string::npos ? plain.find("0.0") != std::string::npos : plain[e + 1] == '-';
    return {0, quoted(typed) + (small ? " is too small for a number: write 0" : " is too large for a number")};
  }
  const auto factor = suffix_factor(suffix, unit);
  if (!factor) {
    const std::string_view head = unit_head(suffix);
    const std::string multiple(head.substr(0, head.empty() ? 0 : head.size() - 1));
    if (unit_family(unit) == UnitFamily::bytes && head.ends_with('b') &&
        prefix_factor(multiple, UnitFamily::bytes, true)) {
      return {0, quoted(typed) + " is unclear: write " + multiple + "bit for bits or " + multiple + "B for bytes"};
    }
    if (suffix == "m" && unit_family(unit) == UnitFamily::energy) {
      const std::string whole(unit);
      return {0, quoted(typed) + " is unclear, since m alone may be metres or thousandths: write " + whole + " or m" +
                     whole + " after the number"};
    }
    return {0, quoted(typed) + " has the unit " + quoted(suffix) + ": " + expected(unit)};
  }
  value = *factor < 1 ? value / std::round(1 / *factor) : value * *factor;  // exact powers of ten only: 5 us is 5e-6
  if (!std::isfinite(value)) return {0, quoted(typed) + " is too large for a number"};
  return {value, {}};
}

std::optional<double> parse_special(std::string_view text) {
  std::string_view rest = trimmed(text);
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  std::string lower(rest);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (lower == "inf" || lower == "infinity" || lower == "\xE2\x88\x9E") return negative ? -HUGE_VAL : HUGE_VAL;
  if (lower == "nan") return std::nan("");
  return std::nullopt;
}

}  // namespace widgets
