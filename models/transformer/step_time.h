#pragma once
#include <vector>

#include "models/machine/roofline.h"
#include "models/transformer/layer_ops.h"

/// How long one step of a model takes on one chip: every operation under the roofline, one after the other.
namespace models {

/// The format that products of these operands run in: the activations', unless the weights are wider. Narrower weights
/// alone (INT4 or FP8 weights beside BF16 activations) are widened on the way in: they save bytes, not flops.
Format product_format(Format weights, Format activations);

/// One operation of a layer with its place under the roofline. Figures are of one, `operation.count` of them run.
struct TimedOperation {
  LayerOperation operation;
  OpCost cost;  ///< forward, recomputation and backward together
  double kernels =
      1;  ///< forward passes, and backward two for a product (input and weight gradients), one for anything else
  Placement placement;
  double share = 0;  ///< All `operation.count` together, over the step's time, 0 to 1.
};

struct StepTime {
  std::vector<TimedOperation> operations;
  OperationTotals totals;
  double time_s = 0;    ///< sum of count x time: nothing overlaps
  double memory_s = 0;  ///< The part of time_s in memory-bound operations; the other two likewise.
  double compute_s = 0, launch_s = 0;
  double kernels = 0;
  double model_product_flops =
      0;  ///< matrix products without recomputation: what MFU counts. totals.hardware_product_flops is what HFU counts
};

/// The whole model for one workload: embedding, all layers, output. The CPU runs ahead, so that an operation takes the
/// longest of its arithmetic, its memory traffic and its launches. Traffic is each operand once (op_cost.h), so the
/// time is a lower bound. Infeasible: a workload out of range, a machine without peak or bandwidth.
Result<StepTime> time_step(const Architecture& architecture, const Workload& workload, const Machine& machine);

/// Bytes that a chip must hold to run the workload without its activations: all weights, and the cache of all sequences
/// (none in training).
struct ResidentBytes {
  double weights = 0, cache = 0;
  double total() const { return weights + cache; }
};
ResidentBytes resident_bytes(const Architecture& architecture, const Workload& workload);

}  // namespace models
