#pragma once
#include "models/memory/training_plan.h"

/// Weights, gradients, master weights and moments of the optimizer, in bytes.
namespace models::memory {

/// Where the parameters of one GPU lie. `experts` are split over expert parallel, everything over tensor parallel.
struct StageParameters {
  double dense = 0;    ///< attention, dense feed-forwards, norms, routers, shared experts
  double experts = 0;  ///< routed experts
  double outer = 0;    ///< embedding, positions, final norm, output matrix: those that this stage holds
  /// Where the model is frozen: its layers' matrices among `dense` and `experts`, and the adapters beside both.
  double matrices = 0, expert_matrices = 0, adapters = 0, expert_adapters = 0;
  double total() const { return dense + experts + outer; }
};
/// The parameters of `plan.stage`. The first stage has the embedding, the last one norm and output matrix (a tied one
/// is a copy there). A bare number of parameters (TrainingPlan::parameters) is divided evenly over tensor and pipeline,
/// its experts over expert parallel too, and no stage has more than another; adapters beside it are the model's.
StageParameters stage_parameters(const Architecture& architecture, const TrainingPlan& plan);

/// Moments that the optimizer keeps of a parameter, averaged over the model (Adafactor and Muon treat matrices apart).
/// `wide_bytes` is 4, or 2 where moments are 16 bits.
double optimizer_bytes_per_parameter(const Architecture& architecture, OptimizerKind kind, double wide_bytes);

BytesPerParameter bytes_per_parameter(const Architecture& architecture, StateRecipe recipe, OptimizerKind optimizer);

/// The plan's bytes per parameter that is trained: its own where it has some, otherwise those of recipe and optimizer,
/// which of some optimizers depend on the shapes of what is trained.
BytesPerParameter bytes_per_parameter(const Architecture& architecture, const TrainingPlan& plan);

/// Parameters of one layer on one GPU before ZeRO splits them: its dense part, its routed experts.
struct LayerShare {
  double dense = 0, experts = 0;
  double matrices = 0, expert_matrices = 0, adapters = 0, expert_adapters = 0;  ///< As in StageParameters.
  double total() const { return dense + experts; }
};
LayerShare layer_share(const Architecture& architecture, const TrainingPlan& plan, const LayerForm& form);

/// GPUs over which ZeRO splits what is no expert, and the experts.
double zero_ranks(const TrainingPlan& plan);
double expert_zero_ranks(const TrainingPlan& plan);
/// GPUs that share one expert's matrices: tensor parallel, and fewer where expert parallel takes GPUs of its group, so
/// that no more parts are made than there are GPUs (Megatron-LM's expert tensor parallel size).
double expert_tensor(const TrainingPlan& plan);

/// The parameters that are trained: all of them, or the adapters beside frozen ones.
StageParameters trained_of(const TrainingPlan& plan, const StageParameters& stage);

/// States of what is trained alone: of a frozen model its adapters'.
HeldBytes trained_state_bytes(const TrainingPlan& plan, const BytesPerParameter& each, const StageParameters& stage);

/// States of one GPU, without what is offloaded. Source of the split: Rajbhandari et al. 2019 (ZeRO), figure 1: (4 +
/// 12/N), (2 + 14/N), 16/N bytes a parameter. Experts are split over data parallel / expert parallel.
HeldBytes state_bytes(const Architecture& architecture, const TrainingPlan& plan);
/// The same from its parts: bytes_per_parameter() and stage_parameters() of the plan.
HeldBytes state_bytes(const TrainingPlan& plan, const BytesPerParameter& each, const StageParameters& stage);
/// What this GPU has in the host's memory.
HeldBytes offloaded_bytes(const Architecture& architecture, const TrainingPlan& plan);
HeldBytes offloaded_bytes(const TrainingPlan& plan, const BytesPerParameter& each, const StageParameters& stage);

}  // namespace models::memory
