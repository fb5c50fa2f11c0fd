#pragma once
#include "models/compression/small_network_train.h"

#include <functional>

/// The small network made smaller: pruned, rounded, tuned again, and its bytes counted with everything that must travel
/// along.
namespace models {

enum class Pruning : std::uint8_t {
  none,
  magnitude,  ///< the smallest weights of all layers together
  two_four,   ///< in every four neighbouring inputs of an output, the two smallest
  neurons     ///< whole hidden units, those with the smallest product of incoming and outgoing norm; the layers really
              ///< shrink
};

/// The network with weights set to zero, or with fewer hidden units. `share` (0 to 1) of weights or units goes, rounded
/// down; at least one unit of a layer stays. two_four ignores it: half. A last group of fewer than four inputs is left
/// dense.
SmallNetwork prune(const SmallNetwork& network, Pruning how, double share);

/// Bytes of the network as a file would hold it.
struct PackedSize {
  double values_bytes = 0;   ///< the weights kept, `bits` each, packed
  double indices_bytes = 0;  ///< where they belong: a bit a weight (magnitude), 2 bits a kept one (2:4)
  double scales_bytes = 0;   ///< float32: one a channel or layer, and one a layer for activations
  double biases_bytes = 0;   ///< float32
  double total_bytes() const { return values_bytes + indices_bytes + scales_bytes + biases_bytes; }
};
/// `bits` 32: float32, no scales. Magnitude pruning is stored with a bitmap where that is smaller, else dense.
PackedSize packed_size(const SmallNetwork& network, Pruning how, const WeightGrid& grid, int activation_bits);

struct Plan {
  Pruning pruning = Pruning::none;
  double share = 0;         ///< 0 to 1
  WeightGrid weights;       ///< bits 0: float32
  int activation_bits = 0;  ///< 0: float32
  bool fine_tune =
      false;  ///< two more epochs over 1,000 training digits, under the mask and with rounding straight through
  std::uint64_t seed = 1;
  bool operator==(const Plan&) const = default;
};

struct Compressed {
  SmallNetwork network;  ///< as it computes: pruned and rounded
  ActivationGrid activations;
  PackedSize size;
  double accuracy = 0;  ///< on the held-out digits, 0 to 1
  double kept = 1;      ///< share of the weights of this shape that are not zero
};
/// Prunes, tunes (if asked), rounds, and measures on `held_out`. `guesses`, if given, takes the class chosen for each
/// held-out digit.
Compressed compress(const SmallNetwork& start, const DigitSet& training, const DigitSet& held_out, const Plan& plan,
                    std::vector<std::uint8_t>* guesses = nullptr);

}  // namespace models
