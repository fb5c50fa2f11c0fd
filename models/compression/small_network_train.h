#pragma once
#include "models/compression/small_network.h"

#include <functional>

/// Training of the small network: stochastic gradient descent with momentum, alone or against a teacher.
namespace models {

/// Symmetric rounding of weights to codes -q..q with q = 2^(bits-1) - 1 and a scale largest / q.
struct WeightGrid {
  int bits = 0;             ///< 0: not rounded; 2 to 16
  bool per_channel = true;  ///< a scale for each output; else one a layer
  bool operator==(const WeightGrid&) const = default;
};
SmallNetwork quantize_weights(const SmallNetwork& network, const WeightGrid& grid);

/// Loss = alpha CE(label, softmax(s)) + (1 - alpha) T^2 KL(softmax(t / T) || softmax(s / T)); Hinton, Vinyals, Dean
/// 2015.
struct Distillation {
  std::span<const float> teacher_logits;  ///< digits x 10; empty: labels alone
  double temperature = 4;
  double alpha = 0.3;  ///< weight of the labels
};

struct Training {
  std::size_t epochs = 10, batch = 16;
  double rate = 0.03, momentum = 0.9;  ///< the rate falls linearly to a tenth
  std::uint64_t seed = 1;              ///< order of the digits
  Distillation teacher;
  bool keep_zeros = false;  ///< weights that start at zero stay there: fine-tuning under a mask
  WeightGrid weights;       ///< rounded in the forward pass, gradients straight through (Bengio et al. 2013)
  ActivationGrid activations;
  std::function<bool(double)> go_on;  ///< told the share done, 0 to 1, once an epoch; false stops
};

struct Trained {
  SmallNetwork network;
  std::vector<double> epoch_loss;  ///< mean over the digits, while they were trained on
  bool stopped = false;
};
Trained train(SmallNetwork network, const DigitSet& digits, const Training& how);

/// Mean loss over the first `count` digits and its gradient, shaped like the network. For checks.
double loss_and_gradient(const SmallNetwork& network, const DigitSet& digits, std::size_t count, const Training& how,
                         SmallNetwork& gradient);

}  // namespace models
