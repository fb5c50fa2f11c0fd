#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// Numbers as people read and type them. Decimal prefixes by default; binary ones only where asked for or typed.
namespace widgets {

/// Formatted text in place, so that a frame allocates nothing.
struct NumberText {
  char chars[64] = {};
  std::size_t length = 0;
  std::string_view view() const { return {chars, length}; }
  operator std::string_view() const { return view(); }
};

/// The unit of a ratio, which stands next to its number: "1.90×".
inline constexpr std::string_view times_unit = "\xC3\x97";

enum class Prefix : unsigned char { si, binary, none };

/// "1.07 GB", "310 ms", "43.2 %", "989 TFLOP/s", "4,096 tokens", "1.34 FLOP/B", "7.02e-12". `unit` is the SI unit that
/// `value` has; units that take SI prefixes: s, B, B/s, FLOP, FLOP/s, W, J, J/B, Hz, "B/token" and the like. "%":
/// value 43.2 means 43.2 %. "×": a ratio, "1.90×", whose sign stands next to the number. Long times read in min, h
/// and days. Counts ("tokens", "parameters") take a prefix from a million up: "70.6 G parameters". A pure number
/// (empty unit) and any other unit is grouped ("12,288") without a prefix. NaN reads "—". Zeros at the end are
/// dropped only when the value is exact: "80 GB", but "80.0 GB" for 79.96 GB. Prefix::binary is for bytes, counts and
/// pure numbers ("64 GiB", "2 Mi tokens"); elsewhere it means si.
NumberText format(double value, std::string_view unit, int significant = 3, Prefix prefix = Prefix::si);
/// The same as a string, for sentences that are put together.
std::string format_text(double value, std::string_view unit, int significant = 3, Prefix prefix = Prefix::si);

/// A figure of a sentence, which stands between backticks: "`310 ms`", or a text that reads as one.
std::string figure(double value, std::string_view unit, int significant = 3, Prefix prefix = Prefix::si);
std::string figure(std::string_view text);

/// A share as a percentage: 0.432 gives "43.2 %".
std::string format_percent(double share, int significant = 3);

/// A number split in two for tables that align on the decimal: number "1.07", scaled unit "GB". Money has its sign with
/// the number: "$0.40", "$2.50" and "/h".
struct NumberParts {
  NumberText number, unit;
};
NumberParts format_parts(double value, std::string_view unit, int significant = 3, Prefix prefix = Prefix::si);

/// One multiple for a whole axis or column: divide by `factor`, write `unit` once.
struct UnitScale {
  double factor = 1;
  NumberText unit;
};
/// The multiple that suits a value of this size: 9.89e14 FLOP/s gives 1e12 and "TFLOP/s".
UnitScale unit_scale(double magnitude, std::string_view unit, Prefix prefix = Prefix::si);
/// As format, in a multiple that was chosen before; the number alone.
NumberText format_in(const UnitScale& scale, double value, int significant = 3);

struct ParsedQuantity {
  double value = 0;   ///< in the SI unit asked for
  std::string error;  ///< empty when good; else one sentence that names what was typed and what is expected
};
/// Reads "1.07 GB", "1.0 GiB", "310ms", "43 %", "2e12", "4,096", "12k" where a number of `unit` is expected.
/// A bare number is taken in the SI unit; a wrong unit is named, and a lone "m" that may be metres or thousandths.
ParsedQuantity parse_quantity(std::string_view text, std::string_view unit);

/// 2 to the power of `exponent` with a raised exponent: "2¹⁰", "2⁻²⁴". The characters are superscripts
/// themselves, so the text is one wherever text goes: axes, tables, sliders, files.
NumberText power_of_two(int exponent);
/// The exponent when `value` is exactly a power of two; nothing for other numbers.
std::optional<int> exponent_of_two(double value);

/// "inf", "+inf", "infinity", "∞", "nan" in any case, with a sign; nothing for other texts.
std::optional<double> parse_special(std::string_view text);

}  // namespace widgets
