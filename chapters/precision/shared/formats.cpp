#include "chapters/precision/shared/formats.h"

#include <array>

#include "chapters/mechanism/choices_in_order.h"
#include "widgets/number/number.h"

namespace chapters::precision {

const Choices& format_choices() {
  static const Choices choices = [] {
    Choices out;
    for (const auto& f : models::float_formats())
      out.push_back({std::string(f.id), std::string(f.name), std::string(f.standard)});
    return out;
  }();
  return choices;
}

const Choices& rounding_choices() {
  static const Choices choices = choices_in_order<models::Rounding::stochastic>({
      {"nearest", "nearest, ties to even",
       "The nearer neighbour; exactly between, the one whose code is even (E8M0: the upper, NF4: the lower)."},
      {"zero", "toward zero", "What does not fit is cut off."},
      {"stochastic", "stochastic", "Up with the probability of how far x lies above its lower neighbour."},
  });
  return choices;
}

const Choices& overflow_choices() {
  static const Choices choices = choices_in_order<models::Overflow::ieee>({
      {"saturate", "saturate", "The largest value; infinity too."},
      {"ieee", "to infinity or NaN", "Infinity, or NaN in formats that have none; formats with neither saturate."},
  });
  return choices;
}

std::string code_text(const models::FloatFormat& f, std::uint64_t code) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string s;
  for (int i = (f.bits + 3) / 4 - 1; i >= 0; --i) s += digits[(code >> (4 * i)) & 15];
  return "0x" + s;
}

BitPart part_of_bit(const models::FloatFormat& f, int bit) {
  if (f.sign_bits && bit == f.bits - 1) return BitPart::sign;
  return bit >= f.mantissa_bits && f.exponent_bits > 0 ? BitPart::exponent : BitPart::mantissa;
}

widgets::Tint tint_of(BitPart part) {
  switch (part) {
    case BitPart::sign:
      return widgets::Tint::series(3);
    case BitPart::exponent:
      return widgets::Tint::series(1);
    case BitPart::mantissa:
      return widgets::Tint::series(0);
  }
  return {};
}
ImU32 colour_of(BitPart part) { return widgets::colour(tint_of(part), widgets::theme()); }

widgets::Tint tint_of(Fate fate) {
  static constexpr std::array<widgets::Tint, fate_count> tints{widgets::Tint::series(4), widgets::Tint::series(1),
                                                               widgets::Tint::series(2), widgets::Tint::series(3)};
  return tints[static_cast<std::size_t>(fate)];
}
ImU32 colour_of(Fate fate) { return widgets::colour(tint_of(fate), widgets::theme()); }

ImVec2 veil_inset() { return {widgets::theme().px(10), widgets::theme().px(8)}; }

std::string share_words(double percent) {
  if (!(percent > 1e-7)) return "none";
  if (percent < 0.01) return "hardly any";
  if (percent >= 100) return "all";
  if (percent >= 99.95) return "nearly all";
  return widgets::figure(percent, "%");
}

}  // namespace chapters::precision
