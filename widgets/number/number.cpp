#include "widgets/number/number.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "widgets/number/number_units.h"

namespace widgets {
namespace {

void append(NumberText& out, std::string_view s) {
  std::size_t n = std::min(s.size(), sizeof out.chars - 1 - out.length);
  if (n < s.size())
    while (n > 0 && (static_cast<unsigned char>(s[n]) & 0xC0) == 0x80) --n;  // never cut inside a UTF-8 character
  std::copy_n(s.begin(), n, out.chars + out.length);
  out.length += n;
}

/// Decimal exponent of `v` after rounding to that many digits: 999.6 with 3 digits has 3.
int rounded_exponent(double v, int significant) {
  char text[40];
  const auto end =
      std::to_chars(text, text + sizeof text, std::abs(v), std::chars_format::scientific, significant - 1).ptr;
  const std::string_view s(text, static_cast<std::size_t>(end - text));
  const std::size_t e = s.find('e');
  int exponent = 0;
  if (e != std::string_view::npos)
    std::from_chars(s.data() + e + (s[e + 1] == '+' ? 2 : 1), s.data() + s.size(), exponent);
  return exponent;
}

std::string_view without_zeros(std::string_view digits) {
  if (digits.find('.') == std::string_view::npos) return digits;
  while (digits.back() == '0') digits.remove_suffix(1);
  if (digits.back() == '.') digits.remove_suffix(1);
  return digits;
}

bool is_exact(std::string_view digits, double v) {
  double shown = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), shown);
  return std::abs(shown - v) <= 1e-12 * v;
}

void append_scientific(NumberText& out, double v, int significant) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, v, std::chars_format::scientific, significant - 1).ptr;
  const std::string_view s(text, static_cast<std::size_t>(end - text));
  const std::size_t e = s.find('e');
  const std::string_view mantissa = s.substr(0, e);
  std::string_view exponent = s.substr(e + 1);
  append(out, is_exact(s, v) ? without_zeros(mantissa) : mantissa);
  append(out, "e");
  if (exponent.front() == '-') append(out, "-");
  exponent.remove_prefix(1);
  while (exponent.size() > 1 && exponent.front() == '0') exponent.remove_prefix(1);
  append(out, exponent);
}

/// The number alone: "1.07", "12,288", "7.02e-12".
NumberText digits_of(double value, int significant, bool cents = false) {
  NumberText out;
  if (std::isnan(value)) {
    append(out, "\xE2\x80\x94");
    return out;
  }
  if (value < 0) append(out, "-");
  const double v = std::abs(value);
  if (std::isinf(v)) {
    append(out, "\xE2\x88\x9E");
    return out;
  }
  if (v == 0) {
    append(out, "0");
    return out;
  }
  const int exponent = rounded_exponent(v, significant);
  if (exponent >= 15 || exponent < -4) {
    append_scientific(out, v, significant);
    return out;
  }
  char text[64];
  const int decimals = std::max(0, significant - 1 - exponent);
  const auto end = std::to_chars(text, text + sizeof text, v, std::chars_format::fixed, decimals).ptr;
  std::string_view s(text, static_cast<std::size_t>(end - text));
  if (is_exact(s, v)) s = without_zeros(s);
  const std::size_t whole = std::min(s.find('.'), s.size());
  for (std::size_t i = 0; i < whole; ++i) {
    if (i > 0 && (whole - i) % 3 == 0) append(out, ",");
    append(out, s.substr(i, 1));
  }
  append(out, s.substr(whole));
  if (cents && s.size() - whole == 2) append(out, "0");  // $2.50, not $2.5
  return out;
}

/// v / factor with one rounding: 5e-6 s is 5 us to the last digit, which 5e-6 / 1e-6 is not.
double divided(double v, double factor) { return factor < 1 ? v * std::round(1 / factor) : v / factor; }

struct Scaled {
  double factor = 1;
  std::string_view multiple;       ///< "k", "Gi"
  std::string_view replaces_head;  ///< "min": stands for the unit before the slash
};

Scaled pick(std::span<const Multiple> from, double v, int significant, double lowest, double step_up_at) {
  Scaled best;
  bool found = false;
  for (const Multiple& m : from) {
    if (m.factor < lowest) continue;
    // Rounded, so that 999.6 GB becomes 1.00 TB and not 1000 GB.
    const double scaled = divided(v, m.factor);
    const double unit = std::pow(10.0, std::min(rounded_exponent(scaled, significant) - significant + 1, 0));
    const double rounded = scaled < 0.999 ? scaled : std::round(scaled / unit) * unit;
    if (!found || rounded >= 1) best = {m.factor, m.name, {}};
    found = true;
    if (rounded < step_up_at) break;
  }
  return best;
}

Scaled scale_of(double value, std::string_view unit, int significant, Prefix prefix) {
  const double v = std::abs(value);
  if (prefix == Prefix::none || !(v > 0) || std::isinf(v)) return {};
  const UnitFamily family = unit_family(unit);
  if (prefix == Prefix::binary) {
    if (family == UnitFamily::bytes) return pick(binary_multiples(), v, significant, 1, 1024);
    const bool countable = family == UnitFamily::count || (family == UnitFamily::plain && unit.empty());
    if (countable) return v < 1048576.0 ? Scaled{} : pick(binary_multiples(), v, significant, 1, 1024);
  }
  switch (family) {
    case UnitFamily::plain:
      return {};
    case UnitFamily::count:
    case UnitFamily::money:
    case UnitFamily::intensity:
      return v < 999999.5 ? Scaled{} : pick(decimal_multiples(), v, significant, 1, 1000);
    case UnitFamily::bytes:
    case UnitFamily::rate:
      return pick(decimal_multiples(), v, significant, 1, 1000);
    case UnitFamily::energy:
      return pick(decimal_multiples(), v, significant, 1e-15, 1000);
    case UnitFamily::time:
      break;
  }
  // Two of the smaller unit are still easy to read: 90 s, 100 min, 36 h.
  const std::span<const Multiple> times = long_times();
  if (v >= 48 * 3600.0) return {times[2].factor, {}, times[2].name};
  if (v >= 7200) return {times[1].factor, {}, times[1].name};
  if (v > 120) return {times[0].factor, {}, times[0].name};
  if (v >= 0.9995) return {};
  return pick(decimal_multiples().first(6), v, significant, 1e-12, 1000);
}

void append_unit(NumberText& out, const Scaled& s, std::string_view unit) {
  if (!s.replaces_head.empty()) {
    append(out, s.replaces_head);
    append(out, unit_tail(unit));
    return;
  }
  append(out, s.multiple);
  if (!s.multiple.empty() && unit_family(unit) == UnitFamily::count) append(out, " ");
  append(out, unit);
}

}  // namespace

NumberParts format_parts(double value, std::string_view unit, int significant, Prefix prefix) {
  significant = std::clamp(significant, 1, 17);
  NumberParts parts;
  if (std::isnan(value)) {
    parts.number = digits_of(value, significant);
    return parts;
  }
  const Scaled scale = scale_of(value, unit, significant, prefix);
  if (unit_family(unit) == UnitFamily::money) {
    append(parts.number, value < 0 ? "-$" : "$");
    append(parts.number, digits_of(divided(std::abs(value), scale.factor), significant, true));
    append(parts.unit, scale.multiple);
    append(parts.unit, unit_tail(unit));
    return parts;
  }
  parts.number = digits_of(divided(value, scale.factor), significant);
  append_unit(parts.unit, scale, unit);
  return parts;
}

NumberText format(double value, std::string_view unit, int significant, Prefix prefix) {
  const NumberParts parts = format_parts(value, unit, significant, prefix);
  NumberText out = parts.number;
  const bool rate = unit_family(unit) == UnitFamily::money && parts.unit.view().starts_with('/');
  const bool close = rate || unit == times_unit;  // "$2.50/h", "1.90×"
  if (parts.unit.length > 0 && !close) append(out, " ");
  append(out, parts.unit);
  return out;
}

std::string format_text(double value, std::string_view unit, int significant, Prefix prefix) {
  return std::string(format(value, unit, significant, prefix));
}

std::string figure(std::string_view text) { return "`" + std::string(text) + "`"; }

std::string figure(double value, std::string_view unit, int significant, Prefix prefix) {
  return figure(format(value, unit, significant, prefix).view());
}

std::string format_percent(double share, int significant) { return format_text(100 * share, "%", significant); }

UnitScale unit_scale(double magnitude, std::string_view unit, Prefix prefix) {
  const Scaled scale = scale_of(magnitude, unit, 3, prefix);
  UnitScale out;
  out.factor = scale.factor;
  append_unit(out.unit, scale, unit);
  return out;
}

NumberText format_in(const UnitScale& scale, double value, int significant) {
  return digits_of(divided(value, scale.factor), std::clamp(significant, 1, 17));
}

}  // namespace widgets
