#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/machine/roofline.h"
#include "models/memory/saved_tensors.h"

/// Which layers keep their activations and which run again in the backward pass: what a choice costs, and the best
/// choice for every budget.
namespace models::memory {

/// What becomes of a layer's activations.
enum class LayerKeep : std::uint8_t {
  kept,       ///< all of them stay (less what is dropped by operation)
  selective,  ///< all but scores, softmax and dropout of attention
  again,      ///< only the layer's input stays; its forward pass runs again
  joined      ///< as `again`, in one piece with the layer before it, so that not even its input stays
};

/// Bytes and seconds of one layer.
struct LayerCost {
  double saved = 0;        ///< all activations
  double kept = 0;         ///< The part of `saved` that a kept layer holds: less where operations are dropped.
  double selective = 0;    ///< what a selective one holds
  double checkpoint = 0;   ///< its input
  double gradient = 0;     ///< Gradient of its weights, made in its backward pass; 0 where it is there from the start.
  double backward = 0;     ///< what its backward pass holds beyond the activations, weight gradient in passing included
  double forward_s = 0;    ///< to run it again
  double kept_s = 0;       ///< to bring back what a kept layer dropped
  double selective_s = 0;  ///< the same for a selective one
  std::size_t kind = 0;    ///< layers of one kind are alike
};

/// What lies outside of the layers. Bytes.
struct CheckpointEnds {
  double loss = 0;           ///< held at the loss beyond what the layers keep
  double head_gradient = 0;  ///< Gradient of the output matrix, allocated before the first layer's backward pass.
};

struct CheckpointCost {
  double peak_bytes = 0;    ///< beyond weights, optimizer and what is there from the start
  double stored_bytes = 0;  ///< kept by all layers at the end of the forward pass
  double recompute_s = 0;
  std::int64_t recomputed = 0;  ///< layers that run again
  std::int64_t fullest = -1;    ///< the layer in whose backward pass the peak is; -1: at the loss
};

/// Walks forward, loss and backward once. `joined` without a layer that runs again before it counts as `again`.
CheckpointCost checkpoint_cost(std::span<const LayerCost> layers, std::span<const LayerKeep> plan,
                               const CheckpointEnds& ends);

/// One point of the frontier: no plan is both smaller and faster.
struct FrontierPoint {
  double peak_bytes = 0, recompute_s = 0;
  std::int64_t recomputed = 0;
  std::vector<LayerKeep> plan;
};

/// The smallest peak for every number of layers that run again, each at most once, over all ways to keep layers and to
/// join neighbours into pieces: dynamic programming from the last layer to the first. A plan's need above what stands
/// before layer i depends on nothing before i, so that the frontier of the layers from i on is enough. Fastest first;
/// points that are no smaller than a faster one are left out. Where kept layers may be without their scores, every
/// mixture is tried as long as frontier_is_exact; beyond, the first p of the kept layers are without them, p in steps
/// of L/24 up to all: every plan whose kept layers are alike is in, and not every mixture.
std::vector<FrontierPoint> checkpoint_frontier(std::span<const LayerCost> layers, const CheckpointEnds& ends);

/// No plan at all beats checkpoint_frontier: true without scores to drop, and with them for up to 80 layers of one
/// kind.
bool frontier_is_exact(std::span<const LayerCost> layers);

/// The fastest of the frontier within a budget of bytes; null when none is.
const FrontierPoint* best_within(std::span<const FrontierPoint> frontier, double bytes);

/// Pieces of `k` layers run again, from the first layer on.
std::vector<LayerKeep> every_k(std::size_t layers, std::size_t k);
/// The first `n` layers run again, each on its own; the others are kept.
std::vector<LayerKeep> first_layers(std::size_t layers, std::size_t n);
/// The letters k, s, r and c of each layer; what a person or a scenario may write.
std::string plan_letters(std::span<const LayerKeep> plan);
/// The way back. Letters beyond `layers` are left out, missing ones are kept. Fails on any other letter.
Result<std::vector<LayerKeep>> plan_of_letters(std::string_view letters, std::size_t layers);

/// The result of an operation that may be dropped and brought back from what the layer keeps before it.
struct DropOption {
  std::string operation;  ///< the one that reads it
  std::string by;         ///< the operations that bring it back: "gate projection to up projection"
  double bytes = 0;       ///< saved in one layer
  double time_s = 0;      ///< to bring it back
  double bytes_per_s() const { return time_s > 0 ? bytes / time_s : 0; }
};
/// The drop options of one layer, the one that frees most bytes a second first. `forward_s`: its operations' times.
std::vector<DropOption> drop_options(std::span<const LayerOperation> operations,
                                     std::span<const OperationMemory> memory, std::span<const double> forward_s);

/// What times and bytes of the layers a plan is laid out with.
struct CheckpointSetting {
  std::vector<LayerCost> layers;
  CheckpointEnds ends;
  double states = 0;                 ///< weights, master, optimizer and gradients that are there from the start
  double forward_s = 0, step_s = 0;  ///< Times of the whole model without recomputation and without the optimizer.
  std::vector<DropOption> drops;     ///< What layers of the most frequent kind can drop.
};
/// Costs of every layer on one GPU. `dropped` of the best drop options are given up in kept layers. `roof_share`: of
/// peak and bandwidth that kernels reach. Infeasible: as the plan and time_step are.
Result<CheckpointSetting> checkpoint_setting(const Architecture& architecture, const TrainingPlan& plan,
                                             const Machine& machine, double roof_share, std::size_t dropped);

}  // namespace models::memory
