#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

/// The hue of a rank, or of a topic, by which its pieces are found.
namespace chapters::distributed {

/// The series of the theme that a rank or a topic has: the green one comes last, since what is sent is green.
inline std::size_t rank_series(std::int64_t rank) {
  constexpr std::array<std::size_t, 6> order{0, 1, 3, 4, 5, 2};
  return order[static_cast<std::size_t>(rank) % order.size()];
}

}  // namespace chapters::distributed
