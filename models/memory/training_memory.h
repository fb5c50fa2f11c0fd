#pragma once
#include <string>
#include <vector>

#include "models/base/result.h"
#include "models/memory/gathered_units.h"
#include "models/memory/saved_tensors.h"
#include "models/memory/training_plan.h"

/// The memory of a training step on one GPU, by owner, at its fullest moment.
namespace models::memory {

/// What counts the activations of the layers.
enum class ActivationCount : std::uint8_t {
  formula,    ///< Korthikanti et al. 2022: a GPT layer with dropout, unfused attention unless recomputed
  operations  ///< this architecture, operation by operation
};

/// What decides the fullest moment beyond states and kept activations.
enum class FullestMoment : std::uint8_t { loss, layer_backward, end_of_backward };
inline constexpr std::size_t fullest_moment_count = 3;

struct TrainingMemory {
  HeldBytes held;    ///< at the fullest moment
  HeldBytes states;  ///< weights, gradients, master and moments, whether or not all of them are there at once
  HeldBytes host;    ///< what is offloaded: a part of the states, and of the activations
  WholeUnits whole;  ///< what ZeRO-3 has whole at the fullest moment, which is part of the buffers
  FullestMoment moment = FullestMoment::loss;
  bool gradients_late = false;  ///< gradients of the one micro-batch are allocated as its backward pass makes them
  double parameters = 0;        ///< on this GPU, without adapters
  double trained = 0;           ///< those that are trained: all of them, or the adapters beside frozen ones
  double frozen_bytes = 0;      ///< The part of the states that frozen weights are.
  double layers_held = 0;       ///< layers whose activations are held at once: micro-batches of a pipeline counted
  double formula_bytes = 0;     ///< activations of the held layers by the formula
  double operations_bytes = 0;  ///< the same, operation by operation
  double formula_layer_bytes = 0, operations_layer_bytes = 0;  ///< Activations of one layer and micro-batch.
  double layer_none_bytes = 0, layer_selective_bytes = 0, layer_full_bytes = 0;  ///< One layer's, by the chosen count.
  double logits_spike_bytes = 0;    ///< all that the loss holds at once for the logits; 0 off the last stage
  double backward_spike_bytes = 0;  ///< what the backward pass of one layer holds beyond what is kept
  double bytes_per_parameter = 0;   ///< The bytes of states, before they are split.
  double total() const { return held.total(); }
};

struct TrainingMemoryOptions {
  ActivationCount count = ActivationCount::operations;
  double slack_share = 0;  ///< What the allocator reserves and does not use, over everything else, 0 to 1.
  double fixed_bytes = 0;  ///< CUDA context, libraries, workspaces: buffers that no tensor owns
};

/// Sum of the owners at the fullest moment of a step in its steady state. From the second micro-batch on, and where
/// they lie in a buffer, gradients are allocated throughout; of a single micro-batch they come as activations go
/// (gradients_come_late), and the fullest of loss, every layer's backward pass and the end is taken, as step_timeline
/// does. Under ZeRO-3 the units that are whole (gathered_units) are buffers, and the fullest of loss, every unit's
/// backward pass and the embedding's is taken. The pipeline holds as many micro-batches as 1F1B or its interleaved form
/// lets the stage hold. Under full recomputation one layer's activations are there again, as temporary. Infeasible: a
/// plan out of range; the formula for a model with experts or frozen weights, which it does not know.
Result<TrainingMemory> training_memory(const Architecture& architecture, const TrainingPlan& plan,
                                       const TrainingMemoryOptions& options = {});

/// What is held while one unit computes.
struct StepMoment {
  std::size_t unit = 0;  ///< index in gather_units
  bool backward = false;
  FullestMoment moment = FullestMoment::layer_backward;
  HeldBytes held;
  WholeUnits whole;  ///< part of the buffers
};
/// A micro-batch of the plan's step, unit by unit: every unit's forward pass, the loss on the last stage, every unit's
/// backward pass, the first unit's last. Of a pipeline the other micro-batches that the stage holds are there
/// meanwhile.
Result<std::vector<StepMoment>> step_moments(const Architecture& architecture, const TrainingPlan& plan,
                                             const TrainingMemoryOptions& options = {});

/// Chunks of layers whose activations a stage of 1F1B holds at once, in units of a chunk: min(p - stage, m) without
/// virtual stages, else 2 (p - stage - 1) + (v - 1) p + 1, at most m v. Source: Narayanan et al. 2021, section 2.2.
double chunks_held(const TrainingPlan& plan);

/// One row for each operation of a layer, for a table: what it is and what it keeps.
struct SavedRow {
  std::string operation;
  std::string_view what;
  double bytes = 0, dropped = 0, per_sbh = 0;  ///< bytes / (tokens x hidden)
};
std::vector<SavedRow> saved_rows(const Architecture& architecture, const LayerKind& kind, const TrainingPlan& plan);

}  // namespace models::memory
