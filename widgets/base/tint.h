#pragma once
#include <cstdint>

#include "widgets/base/theme.h"

namespace widgets {

/// What colours a mark, in one byte: a Meaning, a place among the nominal hues, a place in an order, or none of them.
/// It is resolved against the theme when painted, so data never holds a colour. Series repeat after six.
struct Tint {
  static constexpr std::uint8_t first_series = 16, series_codes = 60, first_ramp = 80, ramp_codes = 128,
                                yours_code = 208, strong_code = 209, bad_code = 210, good_code = 211;
  std::uint8_t code = 255;  ///< 0..15: Meaning; 16..75: series; 80..207: a ramp of one hue; 208: yours; 209: strong;
                            ///< 210: bad; 211: good; 255: neutral

  constexpr Tint() = default;
  constexpr Tint(Meaning meaning) : code(static_cast<std::uint8_t>(meaning)) {}
  /// The person's own thing, and nothing else.
  static constexpr Tint yours() {
    Tint t;
    t.code = yours_code;
    return t;
  }
  /// As dark or bright as text: what was measured, and what the eye should rest on.
  static constexpr Tint strong() {
    Tint t;
    t.code = strong_code;
    return t;
  }
  /// What goes wrong: it overflows, waits, or does not fit.
  static constexpr Tint bad() {
    Tint t;
    t.code = bad_code;
    return t;
  }
  static constexpr Tint good() {
    Tint t;
    t.code = good_code;
    return t;
  }
  static constexpr Tint series(std::uint64_t i) {
    Tint t;
    t.code = static_cast<std::uint8_t>(first_series + i % series_codes);
    return t;
  }
  /// The i-th of n things that have an order (waves, stages, ages).
  static constexpr Tint ramp(std::uint64_t i, std::uint64_t n) {
    Tint t;
    const double at = n > 1 ? static_cast<double>(i < n ? i : n - 1) / static_cast<double>(n - 1) : 0.5;
    t.code = static_cast<std::uint8_t>(first_ramp + at * (ramp_codes - 1));
    return t;
  }
  constexpr bool is_meaning() const { return code <= static_cast<std::uint8_t>(Meaning::idle); }
  bool operator==(const Tint&) const = default;
};

inline ImU32 colour(Tint tint, const Theme& t) {
  if (tint.is_meaning()) return t.of(static_cast<Meaning>(tint.code));
  if (tint.code >= Tint::first_ramp && tint.code < Tint::first_ramp + Tint::ramp_codes)
    return t.ramp_at(tint.code - static_cast<std::size_t>(Tint::first_ramp), Tint::ramp_codes);
  if (tint.code >= Tint::first_series && tint.code < Tint::first_series + Tint::series_codes)
    return t.series_at(tint.code - static_cast<std::size_t>(Tint::first_series));
  if (tint == Tint::yours()) return t.accent;
  if (tint == Tint::strong()) return t.text;
  if (tint == Tint::bad()) return t.bad;
  if (tint == Tint::good()) return t.good;
  return with_alpha(t.muted, 1.0f);
}
/// The mark shown beside the colour; '\0' when the meaning has none.
inline char letter(Tint tint, const Theme& t) {
  return tint.is_meaning() ? t.letter(static_cast<Meaning>(tint.code)) : '\0';
}
/// Text on this tint: dark or white, whichever contrasts more; at least 4.5 to 1 on every Meaning and series.
inline ImU32 text_on(ImU32 fill, const Theme& t) {
  return contrast(t.on_colour, fill) >= contrast(IM_COL32_WHITE, fill) ? t.on_colour : IM_COL32_WHITE;
}

}  // namespace widgets
