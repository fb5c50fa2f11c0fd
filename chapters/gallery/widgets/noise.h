#pragma once
#include <cstdint>

namespace chapters::gallery::widgets {

/// The same numbers on every machine: xorshift64* (Vigna 2016), because the standard's distributions may differ.
class Noise {
 public:
  explicit Noise(std::int64_t seed)
      : state_(0x9E3779B97F4A7C15ull ^ (static_cast<std::uint64_t>(seed) * 0xBF58476D1CE4E5B9ull + 1)) {
    for (int i = 0; i < 8; ++i) next();
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }  ///< 0 to 1
  double between(double lo, double hi) { return lo + (hi - lo) * unit(); }

 private:
  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1Dull;
  }
  std::uint64_t state_;
};

}  // namespace chapters::gallery::widgets
