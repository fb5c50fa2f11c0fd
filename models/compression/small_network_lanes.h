#pragma once
#include <cstddef>
#include <cstring>

/// Four floats at a time, spelled out: the order of every sum is fixed in the source, whatever the optimizer does. For
/// the .cpp files of the small network alone. GCC and clang alike.
namespace models::lanes {

typedef float Four __attribute__((vector_size(16)));
inline constexpr std::size_t width = 4;

inline Four load(const float* p) {
  Four v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void store(float* p, Four v) { std::memcpy(p, &v, sizeof v); }
inline Four splat(float v) { return Four{v, v, v, v}; }
inline float sum(Four v) { return (v[0] + v[2]) + (v[1] + v[3]); }
/// Nearest whole number, ties to even, for |v| < 2^22.
inline Four round(Four v) {
  const Four magic = splat(12582912.0f);  // 1.5 x 2^23: what is added has no fraction bits left
  return (v + magic) - magic;
}
inline float round(float v) { return (v + 12582912.0f) - 12582912.0f; }

}  // namespace models::lanes
