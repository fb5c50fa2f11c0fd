#pragma once
#include <cstdint>

/// The XOR swizzle of shared-memory tiles.
namespace models::gpu {

/// CuTe's Swizzle<B, M, S>: bits [M+S, M+S+B) of an offset are XORed into its bits [M, M+B); with a negative S bits
/// [M, M+B) go into [M-S, M-S+B). Its own inverse; nothing at B = 0. On bytes the 32-, 64- and 128-byte modes are
/// <1,4,3>, <2,4,3> and <3,4,3>.
struct Swizzle {
  int bits = 0;   ///< B
  int base = 4;   ///< M
  int shift = 3;  ///< S

  constexpr bool admissible() const {
    if (shift < -30 || shift > 30) return false;
    const int distance = shift < 0 ? -shift : shift;
    return bits >= 0 && base >= 0 && bits <= 30 && base <= 30 && distance >= bits && bits + base + distance <= 62;
  }
  /// What an offset of 0 or more becomes; the swizzle must be admissible.
  constexpr std::int64_t operator()(std::int64_t offset) const {
    const std::int64_t mask = ((std::int64_t{1} << bits) - 1) << (base + (shift > 0 ? shift : 0));
    return shift >= 0 ? offset ^ ((offset & mask) >> shift)
                      : offset ^ ((offset & (((std::int64_t{1} << bits) - 1) << base)) << -shift);
  }
  friend constexpr bool operator==(const Swizzle&, const Swizzle&) = default;
};

}  // namespace models::gpu
