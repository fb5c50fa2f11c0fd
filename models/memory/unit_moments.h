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

/// A stage, unit by unit.
struct StageUnits {
  const std::vector<GatherUnit>& units;    ///< gather_units of the plan; `held` is not read
  const std::vector<std::size_t>& layers;  ///< The place among the kinds of each layer, in order.
};
/// What a step holds: `kept`: activations of one layer of each kind; `activations`: all that the stage holds at the end
/// of the forward pass, those of other micro-batches among them.
struct StepFigures {
  const std::vector<KindFigures>& kinds;
  const std::vector<double>& kept;
  double activations = 0, stream = 0;
  const HeldBytes& states;
};

/// Every unit's forward pass from the first on, the loss where the stage has it, and every unit's backward pass;
/// without fixed buffers and slack.
std::vector<StepMoment> unit_moments(const Architecture& architecture, const TrainingPlan& plan,
                                     const StageUnits& stage, const StepFigures& step);

/// The fullest of these from the loss on, the first of those that are as full; all 0 where nothing is held. A search
/// asks for it alone: of units alike in a row only the first can be the fullest, for activations go while the rest
/// stays.
StepMoment fullest_unit_moment(const Architecture& architecture, const TrainingPlan& plan, const StageUnits& stage,
                               const StepFigures& step);

}  // namespace models::memory
