#pragma once
#include <vector>

#include "models/base/result.h"
#include "models/machine/roofline.h"
#include "models/memory/training_plan.h"

/// How long the operations of a training step take on one GPU, forward and backward apart.
namespace models::memory {

/// One kind of layer; times are of one layer, by operation.
struct KindTimes {
  LayerKind kind;
  std::vector<LayerOperation> operations;
  std::vector<double> forward_s, backward_s;
};

struct OperationTimes {
  std::vector<KindTimes> kinds;
  double embedding_forward_s = 0, embedding_backward_s = 0;
  double norm_forward_s = 0, norm_backward_s = 0;      ///< the final norm
  double logits_forward_s = 0, logits_backward_s = 0;  ///< the product with the output matrix
  double loss_forward_s = 0, loss_backward_s = 0;
  double ends_forward_s = 0, ends_backward_s = 0;  ///< all of these together
  double optimizer_s = 0;                          ///< reads and writes of states and gradients once, fused
};

/// Every operation under the roofline at `roof_share` of peak and bandwidth; tensor parallelism divides the work, and
/// communication is left out. Infeasible: a machine without peak or bandwidth, a share that is not above 0 and up to 1.
Result<OperationTimes> operation_times(const Architecture& architecture, const TrainingPlan& plan,
                                       const Machine& machine, double roof_share);

/// What a fused optimizer step moves: gradients are read; weights, master and moments are read and written.
double optimizer_traffic_bytes(const HeldBytes& states);

/// Gradients are allocated as the first backward pass comes to them, and set to none behind the optimizer: PyTorch's
/// default. Otherwise they lie in a buffer of their own from the start: Megatron-LM, sharded gradients.
inline bool gradients_come_late(const TrainingPlan& plan) {
  return plan.recipe != StateRecipe::megatron && plan.recipe != StateRecipe::accumulate && plan.zero_stage < 2 &&
         plan.own_bytes.gradients <= plan.own_bytes.weights;
}

}  // namespace models::memory
