#pragma once
#include <cstdint>

#include "widgets/base/theme.h"

namespace widgets {

/// What colours a mark, in one byte: a Meaning, a place in the categorical palette, or neither. It is resolved against
/// the theme when painted, so data never holds a colour. Series repeat after eight.
struct Tint {
  std::uint8_t code = 255;  ///< 0..15: Meaning; 16..79: series; 255: neutral

  constexpr Tint() = default;
  constexpr Tint(Meaning meaning) : code(static_cast<std::uint8_t>(meaning)) {}
  static constexpr Tint series(std::uint64_t i) {
    Tint t;
    t.code = static_cast<std::uint8_t>(16 + i % 64);
    return t;
  }
  constexpr bool is_meaning() const { return code <= static_cast<std::uint8_t>(Meaning::idle); }
  bool operator==(const Tint&) const = default;
};

inline ImU32 colour(Tint tint, const Theme& t) {
  if (tint.is_meaning()) return t.of(static_cast<Meaning>(tint.code));
  if (tint.code >= 16 && tint.code < 80) return t.series_at(tint.code - 16u);
  return with_alpha(t.muted, 1.0f);
}
/// The mark shown beside the colour; '\0' when the meaning has none.
inline char letter(Tint tint, const Theme& t) {
  return tint.is_meaning() ? t.letter(static_cast<Meaning>(tint.code)) : '\0';
}
/// Text on this tint: dark or light, whichever contrasts more.
inline ImU32 text_on(ImU32 fill, const Theme& t) {
  const ImU32 light = t.mode == Mode::dark ? t.text : t.panel;
  return contrast(t.on_colour, fill) >= contrast(light, fill) ? t.on_colour : light;
}

}  // namespace widgets
