#include "models/memory/operation_times.h"

#include "models/base/integer_math.h"
#include "models/memory/state_bytes.h"

namespace models::memory {
namespace {

/// Bytes that cross main memory for each logit, forward and backward.
struct LossTraffic {
  double forward = 0, backward = 0;
};

/// Eager: 16 bits to FP32 (2 + 4), log-softmax (4 + 4); gradient of the loss (4), of log-softmax (4 + 4 + 4), back to
/// 16 bits (4 + 2). Parallel: the same casts around passes in place (4 + 4 each). Fused: read twice, written once.
/// Eager and sharded: every step is an operation of its own. Forward a cast (2 + 4), the maximum (4), its subtraction
/// (4 + 4), exponentials (4 + 4), their sum (4), and the result (4 + 4); backward zeros (4), exponentials (4 + 4), a
/// sum (8 + 4), a product (4 + 4), and the cast (4 + 2).
LossTraffic loss_traffic(LossKind kind) {
  switch (kind) {
    case LossKind::eager:
    case LossKind::chunked:
      return {14, 22};
    case LossKind::parallel:
      return {14, 14};
    case LossKind::fused:
      return {4, 2};
    case LossKind::eager_sharded:
      return {38, 38};
  }
  return {};
}

}  // namespace

double optimizer_traffic_bytes(const HeldBytes& states) {
  return states[MemoryOwner::gradients] + 2 * (states[MemoryOwner::master] + states[MemoryOwner::optimizer]) +
         (states[MemoryOwner::master] > 0 ? 1 : 2) * states[MemoryOwner::weights];
}

Result<OperationTimes> operation_times(const Architecture& a, const TrainingPlan& p, const Machine& whole,
                                       double roof_share) {
  using Outcome = Result<OperationTimes>;
  if (!(roof_share > 0 && roof_share <= 1))
    return Outcome::fail("The share of the roof must be above 0 and at most 1.");
  Machine machine = whole;
  machine.peak_flops_per_s *= roof_share;
  machine.bandwidth_bytes_per_s *= roof_share;
  const Workload w = workload_of(p);
  const double t = as_double(p.tensor);
  std::string problem;
  const auto time_of = [&](const OpCost& cost) {
    if (cost.bytes() <= 0) return 0.0;
    const auto placed = place(machine, {cost.flops / t, cost.bytes() / t, 0}, LaunchCost::hidden);
    if (!placed) problem = placed.error;
    return placed ? placed->time_s : 0.0;
  };
  OperationTimes out;
  for (const LayerKind& kind : layer_kinds(a)) {
    KindTimes times{.kind = kind, .operations = layer_operations(a, kind, w), .forward_s = {}, .backward_s = {}};
    for (const LayerOperation& op : times.operations) {
      times.forward_s.push_back(time_of(op.forward));
      times.backward_s.push_back(time_of(op.backward));
    }
    out.kinds.push_back(std::move(times));
  }
  for (const LayerOperation& op : model_operations(a, w)) {
    if (op.layer != "embedding" && op.layer != "output") continue;
    const double forward = time_of(op.forward), backward = time_of(op.backward);
    const bool embedding = op.layer == "embedding";
    double* const into[2] = {embedding                 ? &out.embedding_forward_s
                             : op.name == "loss"       ? &out.loss_forward_s
                             : op.name == "final norm" ? &out.norm_forward_s
                                                       : &out.logits_forward_s,
                             embedding                 ? &out.embedding_backward_s
                             : op.name == "loss"       ? &out.loss_backward_s
                             : op.name == "final norm" ? &out.norm_backward_s
                                                       : &out.logits_backward_s};
    *into[0] += forward;
    *into[1] += backward;
    out.ends_forward_s += forward;
    out.ends_backward_s += backward;
  }
  // The list of operations has one softmax for the loss; what really passes depends on how the loss is written.
  const LossTraffic traffic_of_loss = loss_traffic(p.loss);
  const double logits = new_tokens(w) * as_double(a.vocab);
  out.ends_forward_s -= out.loss_forward_s;
  out.ends_backward_s -= out.loss_backward_s;
  out.loss_forward_s = time_of({0, logits * traffic_of_loss.forward, 0});
  out.loss_backward_s = time_of({0, logits * traffic_of_loss.backward, 0});
  out.ends_forward_s += out.loss_forward_s;
  out.ends_backward_s += out.loss_backward_s;
  const double traffic = optimizer_traffic_bytes(state_bytes(a, p));
  if (machine.bandwidth_bytes_per_s > 0) out.optimizer_s = traffic / machine.bandwidth_bytes_per_s;
  if (!problem.empty()) return Outcome::fail(problem);
  return Outcome::ok(std::move(out));
}

}  // namespace models::memory
