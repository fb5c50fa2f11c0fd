#pragma once
#include <vector>

#include "models/memory/training_memory.h"

/// A step unit by unit, for the .cpp files of this folder alone.
namespace models::memory {

/// One kind of layer, walked once.
struct KindFigures {
  LayerKind kind;
  LayerMemory memory;
  double forward = 0;    ///< what its forward pass holds for a while, beyond what is kept
  double backward = 0;   ///< the same of its backward pass
  double unreduced = 0;  ///< The part of `backward` that is gradients of a gathered unit's weights, not yet reduced.
  double stand_ins = 0;  ///< elements of its weights, of one expert where there are many
  double gradients = 0;  ///< elements of all its weights on this GPU
};
/// `stream`: bytes of the residual stream (stream_bytes).
KindFigures kind_figures(const Architecture& architecture, const LayerKind& kind, const TrainingPlan& plan,
                         double stream);
double stream_bytes(const Architecture& architecture, const TrainingPlan& plan);
/// Gradients of a single micro-batch: there is no earlier one whose gradients wait.
bool gradients_grow(const TrainingPlan& plan);

/// Every unit's forward pass from the first on, the loss where the stage has it, and every unit's backward pass;
/// without fixed buffers and slack. `kept`: activations of one layer of each kind; `activations`: all that the stage
/// holds at the end of the forward pass, those of other micro-batches among them.
std::vector<StepMoment> unit_moments(const Architecture& architecture, const TrainingPlan& plan,
                                     const std::vector<KindFigures>& kinds, const std::vector<double>& kept,
                                     double activations, double stream, const HeldBytes& states);

}  // namespace models::memory
