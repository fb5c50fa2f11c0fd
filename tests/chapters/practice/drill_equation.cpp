#include "tests/chapters/practice/drill_equation.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "widgets/number/number.h"

namespace sentences {
namespace {

/// The characters of the unit at the front of `s`: letters, "%", the micro sign, and one stroke between letters.
std::size_t unit_length(std::string_view s) {
  const auto letter = [&](std::size_t i) {
    return i < s.size() && (std::isalpha(static_cast<unsigned char>(s[i])) != 0 || s[i] == '%');
  };
  std::size_t n = 0;
  for (;;) {
    if (letter(n) || (n > 0 && s[n < s.size() ? n : 0] == '/' && n < s.size() && letter(n + 1)))
      ++n;
    else if (s.substr(n).starts_with("\xC2\xB5"))
      n += 2;
    else
      return n;
  }
}

/// Takes the unit off the front of `s`: its factor to the SI unit, 1 where none is known.
double take_unit(std::string_view& s) {
  std::string_view rest = s;
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  const std::string name(rest.substr(0, unit_length(rest)));
  if (name.empty() || name == "x") return 1;
  double factor = 0;
  if (name == "%") factor = 0.01;
  if (name == "bits" || name == "bit" || name == "bytes") factor = 1;  // counts of them, not a size in another unit
  for (const auto& [word, value] : {std::pair<const char*, double>{"billion", 1e9},
                                    {"million", 1e6},
                                    {"G", 1e9},
                                    {"M", 1e6},
                                    {"k", 1e3},
                                    {"T", 1e12}})
    if (name == word) factor = value;
  for (const char* unit :
       {"m", "m/s", "B", "s", "B/s", "FLOP", "FLOP/s", "W", "J", "Hz", "FLOP/B", "J/B", "B/token", "tokens/s"})
    if (const auto read = widgets::parse_quantity("1 " + name, unit); factor == 0 && read.error.empty())
      factor = read.value;
  if (factor == 0) factor = 1;  // a word: "requests", "layers"
  s = rest.substr(name.size());
  const bool counted = name == "billion" || name == "million";  // "8.03 billion parameters"
  return counted ? factor * take_unit(s) : factor;
}

/// Sums and products of quantities, until something comes that is none.
class Expression {
 public:
  explicit Expression(std::string_view text) : s_(text) {}
  /// Nothing where the text is more or other than an expression.
  std::optional<double> value() {
    const auto v = sum();
    skip();
    return v && s_.empty() ? v : std::nullopt;
  }
  int operators() const { return operators_; }

 private:
  using Value = std::optional<double>;
  void skip() {
    while (s_.starts_with(' ')) s_.remove_prefix(1);
  }
  bool take(std::string_view sign) {
    skip();
    if (!s_.starts_with(sign)) return false;
    s_.remove_prefix(sign.size());
    ++operators_;
    return true;
  }
  Value sum() {
    Value v = product();
    for (;;) {
      const double sign = take("+") ? 1 : take("\xE2\x88\x92 ") || take("- ") ? -1 : 0;
      if (sign == 0 || !v) return v;
      const Value w = product();
      v = w ? Value(*v + sign * *w) : Value();
    }
  }
  Value product() {
    Value v = atom();
    for (;;) {
      const bool times = take("\xC3\x97") || take("x ");
      if (!times && !take("/")) return v;
      const Value w = atom();
      v = v && w ? Value(times ? *v * *w : *v / *w) : Value();
      if (!v) return v;
    }
  }
  Value raised(Value v) {
    double exponent = 1;
    if (s_.starts_with("\xC2\xB2") || s_.starts_with("\xC2\xB3")) {
      exponent = s_.starts_with("\xC2\xB2") ? 2 : 3;
      s_.remove_prefix(2);
    } else if (s_.starts_with('^')) {
      const auto read = std::from_chars(s_.data() + 1, s_.data() + s_.size(), exponent);
      if (read.ec != std::errc()) return {};
      s_.remove_prefix(static_cast<std::size_t>(read.ptr - s_.data()));
    }
    return v ? Value(std::pow(*v, exponent)) : v;
  }
  Value atom() {
    skip();
    if (s_.starts_with('(')) {
      s_.remove_prefix(1);
      const Value v = sum();
      skip();
      if (!v || !s_.starts_with(')')) return {};
      s_.remove_prefix(1);
      return raised(v);
    }
    if (s_.starts_with('$')) s_.remove_prefix(1);
    std::string digits;
    std::size_t i = 0;
    const auto at = [&](std::size_t k) { return k < s_.size() ? s_[k] : ' '; };
    for (;; ++i) {
      const bool exponent = at(i) == 'e' && i > 0 && (is_digit(at(i + 1)) || at(i + 1) == '-');
      const bool minus = at(i) == '-' && (i == 0 || at(i - 1) == 'e') && is_digit(at(i + 1));
      if (!is_digit(at(i)) && at(i) != '.' && at(i) != ',' && !exponent && !minus) break;
      if (at(i) != ',') digits += at(i);
    }
    double v = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), v).ec != std::errc() || digits.empty()) return {};
    s_.remove_prefix(i);
    const Value power = raised(v);
    return power ? Value(*power * take_unit(s_)) : power;
  }
  std::string_view s_;
  int operators_ = 0;
};

}  // namespace

std::vector<double> figures_of(std::string_view text) {
  std::vector<double> out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_digit(text[i]) || (i > 0 && std::isalpha(static_cast<unsigned char>(text[i - 1])) != 0)) continue;
    std::string digits;
    std::size_t end = i;
    for (; end < text.size() && (is_digit(text[end]) || ((text[end] == ',' || text[end] == '.') &&
                                                         end + 1 < text.size() && is_digit(text[end + 1])));
         ++end)
      if (text[end] != ',') digits += text[end];
    double v = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), v);
    out.push_back(v);
    std::string_view rest = text.substr(end);
    if (const double factor = take_unit(rest); factor != 1) out.push_back(v * factor);
    i = end - 1;
  }
  return out;
}

std::string wrong_equation(std::string_view text, double tolerance) {
  for (auto equals = text.find(" = "); equals != std::string_view::npos; equals = text.find(" = ")) {
    std::string_view left = text.substr(0, equals);
    const std::string_view after = text.substr(equals + 3);
    // Words before a colon say what is computed; behind the figure others may go on.
    if (const auto colon = left.rfind(": "); colon != std::string_view::npos) left.remove_prefix(colon + 2);
    std::string_view right = after.substr(0, std::min(after.find(" = "), after.find_first_of(";:")));
    right = right.substr(0, right.find(", "));
    Expression a(left), b(right);
    const auto v = a.value(), w = b.value();
    const bool read = v && w && a.operators() > 0;
    if (read && !(std::abs(*v - *w) <= tolerance * std::max(std::abs(*v), std::abs(*w))))
      return std::string(left) + " = " + std::string(right);
    text = after;
  }
  return {};
}

}  // namespace sentences
