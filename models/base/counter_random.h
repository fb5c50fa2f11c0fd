#pragma once
#include <cmath>
#include <cstdint>

/// Random numbers without state: draw i of a stream is a hash of both, so that settings compare on the same luck and
/// any draw can be had at any time.
namespace models {

/// Draw i of SplitMix64 begun at `stream`: its finalizer over a counter. Source: Steele, Lea, Flood, "Fast splittable
/// pseudorandom number generators", 2014.
constexpr std::uint64_t counter_hash(std::uint64_t stream, std::uint64_t i) {
  std::uint64_t z = stream + (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// A stream of its own for each use of a seed.
constexpr std::uint64_t random_stream(std::int64_t seed, std::uint64_t use) {
  return counter_hash(counter_hash(static_cast<std::uint64_t>(seed), 0), use);
}

/// In [0, 1), a multiple of 2^-53.
inline double unit_draw(std::uint64_t stream, std::uint64_t i) {
  return static_cast<double>(counter_hash(stream, i) >> 11) * 0x1p-53;
}

/// In (0, 1): never either end, so that logarithms and quantiles of it are finite.
inline double open_draw(std::uint64_t stream, std::uint64_t i) {
  return (static_cast<double>(counter_hash(stream, i) >> 12) + 0.5) * 0x1p-52;
}

/// The z that a standard normal exceeds with probability p, 0 < p < 1; relative error below 1e-15 down to p = 1e-300,
/// where 1 - p would long be 1. Source: Wichura, algorithm AS 241 (PPND16), Applied Statistics 37, 1988.
double upper_normal_quantile(double p);

/// A standard normal number.
inline double normal_draw(std::uint64_t stream, std::uint64_t i) {
  return -upper_normal_quantile(open_draw(stream, i));
}

}  // namespace models
