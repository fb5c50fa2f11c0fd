#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "widgets/base/tint.h"

namespace chapters::compression {

/// Hues of what is told apart by name alone, for up to four of them: without the green, which is communication's
/// elsewhere.
inline widgets::Tint hue(std::size_t place) {
  static constexpr std::array<std::uint64_t, 4> hues{0, 1, 4, 3};
  return widgets::Tint::series(hues[place % hues.size()]);
}

}  // namespace chapters::compression
