#pragma once
#include <cstdint>

#include "models/base/linear_algebra.h"

/// Made-up weights and inputs with the habits of a trained layer: outliers, channels of different size, inputs that go
/// together. The same seed gives the same numbers on every machine, to the rounding of its sine and logarithm.
namespace models {

/// Random numbers in turn, with the draws that samples need.
class SampleRandom {
 public:
  explicit SampleRandom(std::uint64_t seed) : seed_(seed) {}
  double uniform();  ///< above 0 and below 1
  double normal();   ///< Box and Muller 1958

 private:
  std::uint64_t seed_, drawn_ = 0;
};

struct WeightSample {
  std::size_t rows = 96, cols = 128;
  std::int64_t seed = 1;
  double outlier_share = 0.002;  ///< share of the weights that are outliers
  double outlier_size = 12;      ///< what they are multiplied by
  double row_spread = 0.5;       ///< standard deviation of the logarithm of a row's size
};
/// Standard normal weights with these habits.
Matrix sample_weights(const WeightSample& sample);

struct LayerSample {
  std::size_t inputs = 96, outputs = 48, tokens = 192;
  std::int64_t seed = 1;
  double correlation =
      0.5;  ///< part of an input's variance that it shares with the others, by `inputs` / 8 common factors
  std::size_t outlier_inputs = 3;
  double outlier_size = 10;  ///< what those inputs are multiplied by
};
struct Layer {
  Matrix weights;      ///< [outputs, inputs], variance 1 / inputs
  Matrix calibration;  ///< [tokens, inputs]
  Matrix held_out;     ///< other tokens of the same kind
};
Layer sample_layer(const LayerSample& sample);

}  // namespace models
