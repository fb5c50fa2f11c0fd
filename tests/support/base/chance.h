#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace support {

/// Random numbers that are the same on every machine. Source: SplitMix64, Steele, Lea, Flood, OOPSLA 2014.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// 0 to n - 1; `n` is above 0.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  /// 0 to 1, without 1.
  double share() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  template <class T, std::size_t n>
  const T& of(const T (&list)[n]) {
    return list[below(n)];
  }

 private:
  std::uint64_t state_;
};

}  // namespace support
