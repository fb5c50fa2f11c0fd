#pragma once
#include "models/compression/small_network_data.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// A small multilayer perceptron, 64 pixels to 10 digits, that is trained for real while the learner watches. Sums run
/// in one fixed order on one thread, so the same seed gives the same weights to the last bit.
namespace models {

/// y = x W + b. `weights` holds inputs x stride numbers, input by input; columns from `outputs` to `stride` are zero
/// and stay so.
struct DenseLayer {
  std::size_t inputs = 0, outputs = 0, stride = 0;  ///< stride: outputs rounded up to four, one vector register
  std::vector<float> weights, biases;               ///< biases: stride numbers
  DenseLayer() = default;
  DenseLayer(std::size_t inputs, std::size_t outputs);
  float& at(std::size_t input, std::size_t output) { return weights[input * stride + output]; }
  float at(std::size_t input, std::size_t output) const { return weights[input * stride + output]; }
  bool operator==(const DenseLayer&) const = default;
};

/// ReLU between the layers; the last one gives ten logits.
struct SmallNetwork {
  std::vector<DenseLayer> layers;
  std::size_t weight_count() const;  ///< biases not counted
  std::size_t bias_count() const;
  std::size_t zero_weights() const;
  std::size_t multiply_adds() const { return weight_count(); }  ///< for one digit on hardware that skips nothing
  bool operator==(const SmallNetwork&) const = default;
};

/// Weights drawn with variance 2 / inputs (He et al. 2015); biases 0.1 before a ReLU, so that few units start dead.
/// `hidden`: widths of the hidden layers.
SmallNetwork make_network(std::span<const std::size_t> hidden, std::uint64_t seed);

/// Rounding of what enters each layer: codes 0 to 2^bits - 1 over [0, largest]; ReLU and pixels leave nothing below 0.
struct ActivationGrid {
  int bits = 0;                ///< 0: not rounded
  std::vector<float> largest;  ///< one a layer, from calibration
  bool operator==(const ActivationGrid&) const = default;
};

/// Room for one digit on its way through a network, reused so that a pass allocates nothing.
struct Pass {
  std::vector<std::vector<float>> inputs;      ///< what each layer reads, rounded
  std::vector<std::vector<std::uint8_t>> cut;  ///< 1 where the activation was clipped at the grid's end
  std::vector<float> logits;                   ///< stride of the last layer
  explicit Pass(const SmallNetwork& network);
};
/// Logits of one digit into `pass`.
void forward(const SmallNetwork& network, std::span<const float> picture, Pass& pass, const ActivationGrid& grid = {});

/// Share of digits whose largest logit is the label's, 0 to 1. `guesses`, if given, takes the class chosen for each.
double accuracy(const SmallNetwork& network, const DigitSet& digits, const ActivationGrid& grid = {},
                std::vector<std::uint8_t>* guesses = nullptr);
/// Logits of every digit: size x 10.
std::vector<float> logits_of(const SmallNetwork& network, const DigitSet& digits);
/// Mean cross-entropy over the digits, nats; 0 of none. `pass` is room for one of them.
double mean_loss(const SmallNetwork& network, const DigitSet& digits, Pass& pass);
/// The largest value that enters each layer over the first `count` digits: how activation grids are calibrated.
std::vector<float> activation_peaks(const SmallNetwork& network, const DigitSet& digits, std::size_t count = 256);

}  // namespace models
