#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

/// A small network that is trained for real, twice: eight layers of 16 x 16 on four simulated ranks, FP32, every sum in
/// a fixed order on one thread. Only additions, products, quotients and roots of IEEE 754 enter a weight, so the same
/// seed gives the same bits on every machine that does not contract products and sums.
namespace models::debugging {

inline constexpr int twin_layers = 8, twin_width = 16, twin_batch = 16, twin_ranks = 4, twin_steps = 256;
inline constexpr int twin_classes = 10;
inline constexpr double twin_rate = 0.01;
/// Entries of a weight matrix, and of the outputs of a layer for a batch.
inline constexpr int twin_entries = twin_width * twin_width;
/// A row of biases stands behind the weights.
inline constexpr int twin_parameters = twin_entries + twin_width;
static_assert(twin_batch == twin_width, "an entry means one place in every tensor of a layer");

using TwinParameters = std::array<float, twin_parameters>;
using TwinActivations = std::array<float, twin_entries>;  ///< example by example

/// What a layer keeps between steps: the weights, and Adam's moments, the means first and then the mean squares.
struct TwinLayer {
  TwinParameters weights{};
  std::array<float, 2 * twin_parameters> moments{};
  bool operator==(const TwinLayer&) const = default;
};
using TwinState = std::array<TwinLayer, twin_layers>;

/// What a step computed on its way.
struct TwinPass {
  std::array<TwinActivations, twin_layers> activations{};  ///< outputs of each layer; of the last one the logits
  std::array<TwinParameters, twin_layers> gradients{};     ///< summed over the ranks and divided by the batch
  double loss = 0;                                         ///< mean over the batch, nats
};

/// A bit of one number that reads 1 whatever was written.
struct StuckBit {
  int layer = -1, rank = 0, unit = 0, bit = 0;  ///< layer -1: none
};

/// How a step differs from the healthy one. Everything that is left as it is leaves the step healthy.
struct StepFault {
  int ranks = twin_ranks;        ///< 2, 4 or 8 among which the batch is divided
  int batch_shift = 0;           ///< batches by which the loader is ahead
  int other_dropout_layer = -1;  ///< a layer whose dropout is drawn from another seed
  int other_order_layer = -1;    ///< a layer whose gradients are summed in pairs
  bool arrival_order = false;    ///< all layers: in an order that is drawn for each step
  int scaled_layer = -1;         ///< a layer in which the gradients of `scaled_rank` count `scaled_by` times
  int scaled_rank = 0;
  float scaled_by = 1;
  int stale_layer = -1, stale_rank = 0;  ///< the rank computes the layer with `stale_weights`
  const TwinParameters* stale_weights = nullptr;
  StuckBit stuck;
  int flipped_activation_layer = -1, flipped_gradient_layer = -1, flipped_entry = 0;
  std::uint32_t flipped_bits = 0;  ///< which bits of that entry
  float rate_factor = 1;           ///< on the learning rate
};

/// Digits of 4 x 4 pixels, drawn by us: the task.
struct TwinDigits {
  std::vector<std::array<float, twin_width>> pixels;
  std::vector<std::uint8_t> labels;
};
const TwinDigits& twin_digits();

/// First weights drawn from the seed, uniform with variance 2 / 16, half the length in the residual layers.
TwinState twin_start(std::uint64_t seed);

/// One step of Adam on the batch of this step, from `state` to `state`; fills `pass`.
void twin_step(std::uint64_t seed, int step, const StepFault& fault, TwinState& state, TwinPass& pass);

/// e^x for x <= 0 by additions and products alone, within 1e-15 of it; NaN of NaN.
double exp_by_products(double x);

}  // namespace models::debugging
