#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

/// What the CUDA language has for warps, counters and bits, in the emulation: cuda_emulator.cpp includes it before the
/// kernels.
namespace cuda_emulator {

/// Every lane of `mask` gives a value; once all of them have, each goes on with the values of all, by lane.
const std::array<std::uint64_t, 32>& exchange(unsigned mask, std::uint64_t mine);
/// The place of the thread that runs in its warp.
unsigned lane();

}  // namespace cuda_emulator

namespace {

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

inline float __shfl_xor_sync(unsigned mask, float value, int apart) {
  const auto& all = cuda_emulator::exchange(mask, std::bit_cast<std::uint32_t>(value));
  return std::bit_cast<float>(static_cast<std::uint32_t>(all[cuda_emulator::lane() ^ static_cast<unsigned>(apart)]));
}

inline unsigned __ballot_sync(unsigned mask, int predicate) {
  const auto& all = cuda_emulator::exchange(mask, predicate != 0);
  unsigned bits = 0;
  for (unsigned i = 0; i < 32; ++i)
    if (mask >> i & 1u && all[i]) bits |= 1u << i;
  return bits;
}

inline unsigned __match_any_sync(unsigned mask, unsigned value) {
  const auto& all = cuda_emulator::exchange(mask, value);
  unsigned bits = 0;
  for (unsigned i = 0; i < 32; ++i)
    if (mask >> i & 1u && all[i] == value) bits |= 1u << i;
  return bits;
}

/// Threads run one after the other, so that a sum of atomics is exact.
inline unsigned atomicAdd(unsigned* at, unsigned value) {
  const unsigned before = *at;
  *at += value;
  return before;
}

inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned max(unsigned a, unsigned b) { return a < b ? b : a; }
inline int __popc(unsigned bits) { return std::popcount(bits); }
/// The lowest bit that is set, from 1; 0: none is.
inline int __ffs(unsigned bits) { return bits ? std::countr_zero(bits) + 1 : 0; }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }

}  // namespace
