#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/base/counter_random.h"

/// Ten handwritten-looking digits of 8 x 8 pixels, drawn by us from a seed: the task of the small network.
namespace models {

inline constexpr std::size_t digit_side = 8, digit_pixels = digit_side * digit_side, digit_classes = 10;

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers with every standard library.
class SeededRandom {
 public:
  explicit SeededRandom(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t next() { return counter_hash(seed_, drawn_++); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }  ///< [0, 1)
  double between(double lo, double hi) { return lo + (hi - lo) * unit(); }
  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(next() % n);
  }                 ///< n far below 2^64: the bias is nothing
  double normal();  ///< mean 0, standard deviation 1 (Box, Muller 1958)

 private:
  std::uint64_t seed_, drawn_ = 0;
};

/// How hard the digits are to read. Distances are in pixels of the 8 x 8 picture.
struct DigitStyle {
  double shift = 0.6;       ///< at most this far from the middle, either way
  double turn = 0.16;       ///< radians, either way
  double noise = 0.12;      ///< standard deviation added to every pixel of range 0 to 1
  double distractor = 0.2;  ///< probability of a stray stroke
  bool operator==(const DigitStyle&) const = default;
};

/// The two sets never share a digit: each has a stream of random numbers of its own.
enum class DigitSplit : std::uint8_t { training, held_out };

struct DigitSet {
  std::vector<float> pixels;         ///< count x 64, row by row, 0 (paper) to 1 (ink)
  std::vector<std::uint8_t> labels;  ///< count
  std::size_t size() const { return labels.size(); }
  std::span<const float> picture(std::size_t i) const { return {pixels.data() + i * digit_pixels, digit_pixels}; }
};

/// `count` digits, the classes in turn; the same seed, split and style give the same pixels. The first n of a longer
/// set are the set of n.
DigitSet make_digits(std::uint64_t seed, DigitSplit split, std::size_t count, const DigitStyle& style = {});

}  // namespace models
