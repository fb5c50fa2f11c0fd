#pragma once
#include <cmath>
#include <cstddef>
#include <cstring>

/// Four floats at a time, spelled out: the order of every sum is fixed in the source, whatever the optimizer does. For
/// the .cpp files of the networks that are trained here alone. GCC and clang alike.
namespace models::lanes {

typedef float Four __attribute__((vector_size(16)));
typedef int FourInt __attribute__((vector_size(16)));
inline constexpr std::size_t width = 4;

inline Four load(const float* p) {
  Four v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void store(float* p, Four v) { std::memcpy(p, &v, sizeof v); }
inline Four splat(float v) { return Four{v, v, v, v}; }
inline float sum(Four v) { return (v[0] + v[2]) + (v[1] + v[3]); }
inline Four larger(Four a, Four b) { return a > b ? a : b; }
/// Nearest whole number, ties to even, for |v| < 2^22.
inline Four round(Four v) {
  const Four magic = splat(12582912.0f);  // 1.5 x 2^23: what is added has no fraction bits left
  return (v + magic) - magic;
}
inline float round(float v) { return (v + 12582912.0f) - 12582912.0f; }
/// Square roots, rounded as one after the other are.
inline Four root(Four v) { return Four{std::sqrt(v[0]), std::sqrt(v[1]), std::sqrt(v[2]), std::sqrt(v[3])}; }

/// e^x for x <= 0, relative error below 1e-6; below -87 it is taken at -87. By 2^n times a polynomial of degree 6 on
/// [-ln 2 / 2, ln 2 / 2] (the Taylor series of e^r).
inline Four exp_negative(Four x) {
  x = larger(x, splat(-87.0f));
  const Four n = round(x * splat(1.44269504f));
  const Four r = (x - n * splat(0.693359375f)) - n * splat(-2.12194440e-4f);
  Four p = splat(1.0f / 720);
  p = p * r + splat(1.0f / 120);
  p = p * r + splat(1.0f / 24);
  p = p * r + splat(1.0f / 6);
  p = p * r + splat(0.5f);
  p = p * r + splat(1.0f);
  p = p * r + splat(1.0f);
  const FourInt bits = (__builtin_convertvector(n, FourInt) + 127) << 23;
  Four power;
  std::memcpy(&power, &bits, sizeof power);
  return p * power;
}

}  // namespace models::lanes
