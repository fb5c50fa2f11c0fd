#include "models/transformer/step_time.h"

#include <utility>

#include "models/base/integer_math.h"
#include "models/transformer/weight_storage.h"

namespace models {

namespace {

double kernel_count(const LayerOperation& op, const Workload& w) {
  if (w.phase != Phase::train) return op.forward_passes;
  const bool one_pass = op.product_flops <= 0 || (op.group == OperationGroup::attention && w.fused_attention);
  return op.forward_passes + (one_pass ? 1 : 2);
}

}  // namespace

Format product_format(Format weights, Format activations) {
  return format_bytes(weights) > format_bytes(activations) ? weights : activations;
}

Result<StepTime> time_step(const Architecture& architecture, const Workload& workload, const Machine& machine) {
  using Outcome = Result<StepTime>;
  if (std::string problem = workload_problem(workload); !problem.empty()) return Outcome::fail(std::move(problem));
  std::vector<LayerOperation> operations = model_operations(architecture, workload);
  StepTime step;
  step.totals = total_operations(operations, workload);
  step.operations.reserve(operations.size());
  for (LayerOperation& op : operations) {
    TimedOperation timed;
    timed.cost = op.cost();
    timed.kernels = kernel_count(op, workload);
    const auto placed = place(machine, {timed.cost.flops, timed.cost.bytes(), timed.kernels}, LaunchCost::hidden);
    if (!placed) return Outcome::fail(op.name + ": " + placed.error);
    timed.placement = *placed;
    const double count = as_double(op.count), time_s = count * placed->time_s;
    step.time_s += time_s;
    step.kernels += count * timed.kernels;
    step.model_product_flops += count * (op.product_flops + op.backward_product_flops);
    (placed->regime == Regime::memory    ? step.memory_s
     : placed->regime == Regime::compute ? step.compute_s
                                         : step.launch_s) += time_s;
    timed.operation = std::move(op);
    step.operations.push_back(std::move(timed));
  }
  for (TimedOperation& timed : step.operations)
    timed.share = as_double(timed.operation.count) * timed.placement.time_s / step.time_s;
  return Outcome::ok(std::move(step));
}

ResidentBytes resident_bytes(const Architecture& architecture, const Workload& w) {
  ResidentBytes bytes;
  const double matrices = layer_matrix_parameters(architecture);
  const double other_bytes = w.other_weight_bytes > 0 ? w.other_weight_bytes : w.weight_bytes;
  bytes.weights =
      matrices * w.weight_bytes + (as_double(count_parameters(architecture).total) - matrices) * other_bytes;
  if (w.phase == Phase::train) return bytes;
  const double tokens = w.phase == Phase::decode ? as_double(w.context) : as_double(w.prefix + w.sequence);
  bytes.cache = as_double(w.batch) * kv_cache_bytes(architecture, tokens, w.kv_bytes);
  return bytes;
}

}  // namespace models
