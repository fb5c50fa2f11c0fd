#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/compression/small_network_train.h"

/// Fine-tuning of the small network on a task that has shifted, really done: all weights, or a product of two thin
/// matrices beside each frozen one (LoRA, Hu et al. 2021).
namespace models::adapters {

/// How the second task differs from the first, the digits as they are drawn by default.
enum class TaskShift : std::uint8_t {
  turned,      ///< digits are turned by up to 0.9 radians, either way
  mirrored,    ///< left and right are exchanged
  relabelled,  ///< every digit is called by the next one's name
};
inline constexpr std::size_t task_shift_count = 3;

/// The first `count` digits of the second task.
DigitSet shifted_digits(std::uint64_t seed, DigitSplit split, std::size_t count, TaskShift shift);

/// One fine-tuning. Adam with a rate that falls linearly to a tenth, batches of 16, the digits in a new order in every
/// epoch.
struct FineTune {
  std::size_t rank = 4;  ///< 0: all weights and biases are trained
  std::size_t epochs = 6;
  double rate = 0.03;
  std::uint64_t seed = 1;  ///< first values of A, and the order of the digits
};

struct FineTuned {
  SmallNetwork network;      ///< merged: W + A B in each layer
  std::size_t trained = 0;   ///< parameters that were trained
  double loss = 0;           ///< mean cross-entropy over the held-out digits, nats
  double training_loss = 0;  ///< the same over the digits that it was trained on
  double accuracy = 0;       ///< on the held-out digits, 0 to 1
  double kept_accuracy = 0;  ///< on held-out digits of the first task, 0 to 1
};

/// What is tuned, and on what.
struct FitTask {
  SmallNetwork base;                        ///< trained on the first task
  DigitSet training, held_out;              ///< Digits of the second task.
  DigitSet first_held_out;                  ///< Digits of the first task that nobody trained on.
  double base_loss = 0, base_accuracy = 0;  ///< What `base` reaches on the second task's.
  double first_accuracy = 0;                ///< What `base` reaches on the first task's.
};
/// Trains the first network, 64 pixels, 32 hidden units, 10 digits, and draws the second task.
FitTask make_fit_task(std::uint64_t seed, TaskShift shift);

/// Low rank: the weights are W + A B with A drawn at random with variance 1 / inputs and B zero, so that nothing
/// changes before the first step; the layer's own weights and biases stay. A rank beyond a layer's smaller side is that
/// side. The gradients of A and B are G B^T and A^T G of the layer's G, which is the chain rule.
FineTuned fine_tune(const FitTask& task, const FineTune& how);

/// Numbers that rank r trains in the network's weights: sum over the layers of min(r, smaller side) x (inputs +
/// outputs).
std::size_t low_rank_parameters(const SmallNetwork& network, std::size_t rank);

/// The best that any update of this rank could do to stand in for a full one: the share of the sum of squares of the
/// change W' - W that its first r singular values hold, 0 to 1, over all layers.
double rank_share(const SmallNetwork& before, const SmallNetwork& after, std::size_t rank);

}  // namespace models::adapters
