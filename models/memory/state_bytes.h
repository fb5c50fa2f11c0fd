#pragma once
#include "models/memory/training_plan.h"

/// Weights, gradients, master weights and moments of the optimizer, in bytes.
namespace models::memory {

/// Bytes of one parameter, before anything is split.
struct BytesPerParameter {
  double weights = 0, gradients = 0, master = 0, optimizer = 0;
  double total() const { return weights + gradients + master + optimizer; }
};

/// Where the parameters of one GPU lie. `experts` are split over expert parallel, everything over tensor parallel.
struct StageParameters {
  double dense = 0;         ///< attention, dense feed-forwards, norms, routers, shared experts
  double experts = 0;       ///< routed experts
  double outer = 0;         ///< embedding, positions, final norm, output matrix: those that this stage holds
  double largest_unit = 0;  ///< of one layer or of the outer ones: what ZeRO-3 gathers at once, not split over data
  double total() const { return dense + experts + outer; }
};
/// Of `plan.stage`. The first stage has the embedding, the last the norm and the output matrix (a tied one is a copy
/// there).
StageParameters stage_parameters(const Architecture& architecture, const TrainingPlan& plan);

/// Moments that the optimizer keeps of a parameter, averaged over the model (Adafactor and Muon treat matrices apart).
/// `wide_bytes` is 4, or 2 where moments are 16 bits.
double optimizer_bytes_per_parameter(const Architecture& architecture, OptimizerKind kind, double wide_bytes);

BytesPerParameter bytes_per_parameter(const Architecture& architecture, StateRecipe recipe, OptimizerKind optimizer);

/// States of one GPU. Source of the split: Rajbhandari et al. 2019 (ZeRO), figure 1: (4 + 12/N), (2 + 14/N), 16/N bytes
/// a parameter. Experts are split over data parallel / expert parallel.
HeldBytes state_bytes(const Architecture& architecture, const TrainingPlan& plan);
/// The same from its parts: bytes_per_parameter() and stage_parameters() of the plan.
HeldBytes state_bytes(const TrainingPlan& plan, const BytesPerParameter& each, const StageParameters& stage);

}  // namespace models::memory
