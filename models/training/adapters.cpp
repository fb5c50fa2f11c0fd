#include "models/training/adapters.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "models/base/integer_math.h"
#include "models/machine/op_cost.h"
#include "models/memory/frozen_layers.h"
#include "models/memory/loss_peak.h"
#include "models/memory/saved_tensors.h"
#include "models/memory/state_bytes.h"
#include "models/training/optimizer_traffic.h"
#include "models/transformer/layer_ops.h"
#include "models/transformer/weight_storage.h"

namespace models::adapters {
namespace {

using memory::gets_pair, memory::is_layer_matrix, memory::rows_of, memory::stored_matrices;

constexpr double nf4_bits = 4, wide_bytes = 2;

/// Matrices that one pass reads.
double read_matrices(const LayerOperation& op) { return std::max(1.0, op.shape.batch); }

/// What is kept of each trained number, as of a full step's weights.
memory::BytesPerParameter bytes_of(const Architecture& a, States states) {
  using memory::StateRecipe, memory::OptimizerKind;
  switch (states) {
    case States::master:
      return memory::bytes_per_parameter(a, StateRecipe::zero, OptimizerKind::adamw);
    case States::pure_bf16:
      return memory::bytes_per_parameter(a, StateRecipe::pure_bf16, OptimizerKind::adamw);
    default:
      return memory::bytes_per_parameter(a, StateRecipe::no_master, OptimizerKind::adamw_8bit);
  }
}

/// Bytes that a fused update reads and writes for each trained number.
double update_traffic(States states) {
  const auto kind = states == States::moments_8bit ? OptimizerKind::adamw_8bit : OptimizerKind::adamw;
  const auto recipe = states == States::master ? OptimizerRecipe::master : OptimizerRecipe::bf16;
  double sum = 0;
  for (const OptimizerPass& p : optimizer_passes(kind, UpdateCode::fused, recipe)) sum += p.bytes();
  return sum;
}

/// Times kernels one after the other and adds up.
class KernelClock {
 public:
  explicit KernelClock(const Machine& machine) : machine_(machine) {}
  /// Seconds of `times` of these kernels.
  double run(const OpCost& cost, double kernels, double times) {
    if (!(cost.bytes() > 0)) return 0;
    const auto placed = place(machine_, {cost.flops, cost.bytes(), kernels}, LaunchCost::hidden);
    if (!placed) {
      problem_ = placed.error;
      return 0;
    }
    return times * placed->time_s;
  }
  const std::string& problem() const { return problem_; }

 private:
  Machine machine_;
  std::string problem_;
};

class StepSum {
 public:
  StepSum(const Architecture& a, const Job& job, const Machine& machine) : a_(a), job_(job), clock_(machine) {
    work_ = {.phase = Phase::train,
             .batch = job.batch,
             .sequence = job.sequence,
             .recompute = job.recompute ? Recompute::full : Recompute::none};
    out_.parameters = as_double(count_parameters(a).total);
    out_.tokens = new_tokens(work_);
  }

  Result<TunedStep> run() {
    using Outcome = Result<TunedStep>;
    if (std::string problem = workload_problem(work_); !problem.empty()) return Outcome::fail(std::move(problem));
    const std::vector<LayerOperation> operations = model_operations(a_, work_);
    for (const LayerOperation& op : operations) add(op);
    if (job_.method == Method::bottleneck) add_bottlenecks();
    if (!problem_.empty()) return Outcome::fail(problem_);
    if (low_rank() && !(out_.pairs > 0))
      return Outcome::fail("This model has no matrices of these names: take all linear layers.");
    if (job_.method == Method::full) out_.trained = out_.parameters;
    hold();
    out_.adapter_bytes = wide_bytes * out_.trained;
    repeat();
    out_.time.optimizer = clock_.run({0, out_.trained / job_.gpus * update_traffic(job_.states), 0}, 1, 1);
    if (!clock_.problem().empty()) return Outcome::fail(clock_.problem());
    return Outcome::ok(std::move(out_));
  }

 private:
  bool low_rank() const { return job_.method == Method::lora || job_.method == Method::qlora; }
  bool frozen() const { return job_.method != Method::full; }
  double passes(const LayerOperation& op) const { return op.forward_passes; }

  void add(const LayerOperation& op) {
    const double times = as_double(op.count);
    const bool matrix = op.product_flops > 0 && op.group != OperationGroup::attention;
    OpCost backward = op.backward;
    double kernels = op.forward_passes + (matrix ? 2 : 1);
    if (matrix && frozen()) {
      const double rows = rows_of(op), n = op.shape.n, k = op.shape.k;
      // The builder's second product: X^T dY, as large as the weights.
      backward.flops -= op.product_flops;
      backward.read_bytes -= rows * (k + n) * work_.activation_bytes;
      backward.write_bytes -= read_matrices(op) * k * n * work_.weight_bytes;
      kernels -= 1;
    }
    out_.time.base += clock_.run(op.forward * op.forward_passes + backward, kernels, times);
    const double again = op.forward_passes - 1;
    out_.flops.forward += times * op.product_flops;
    out_.flops.recomputed += times * again * op.product_flops;
    // Of attention both operands are activations.
    out_.flops.input_gradient += times * op.product_flops * (matrix ? 1 : 2);
    if (matrix && !frozen()) out_.flops.weight_gradient += times * op.product_flops;
    if (job_.method == Method::qlora && is_layer_matrix(op)) unpack(op);
    if (low_rank() && gets_pair(op, job_.targets)) add_pair(op);
  }

  void unpack(const LayerOperation& op) {
    const double weights = read_matrices(op) * op.shape.n * op.shape.k;
    const double bits = nf4_bits + scale_bits(job_.double_quantized);
    out_.time.unpack +=
        clock_.run({0, weights * bits / 8, weights * wide_bytes}, 1, as_double(op.count) * (op.forward_passes + 1));
    written_out_ = std::max(written_out_, weights * wide_bytes);
    out_.quantized += as_double(op.count) * stored_matrices(op) * op.shape.n * op.shape.k;
  }

  void add_pair(const LayerOperation& op) {
    const double k = op.shape.k, n = op.shape.n, times = as_double(op.count);
    if (job_.rank > std::min(k, n)) {
      problem_ = "A rank beyond a matrix's smaller side of " + std::to_string(std::llround(std::min(k, n))) +
                 " adds nothing: take a smaller one.";
      return;
    }
    out_.pairs += times * stored_matrices(op);
    out_.trained += times * stored_matrices(op) * job_.rank * (k + n);
    add_kernels(pair_cost(rows_of(op), k, n, job_.rank, read_matrices(op), work_.activation_bytes, job_.fused),
                op.forward_passes, times);
  }

  void add_kernels(const PairCost& c, double forward_passes, double times) {
    out_.time.adapters += clock_.run(c.forward * forward_passes + c.backward,
                                     c.forward_kernels * forward_passes + c.backward_kernels, times);
    out_.flops.forward += times * c.pass_flops;
    out_.flops.recomputed += times * (forward_passes - 1) * c.pass_flops;
    out_.flops.input_gradient += times * c.pass_flops;
    out_.flops.weight_gradient += times * c.pass_flops;
  }

  /// After attention and after the feed-forward block: down, activation, up, and the sum with what came in.
  void add_bottlenecks() {
    const double h = as_double(a_.hidden), times = 2 * as_double(a_.layers), r = job_.rank;
    if (r > h) {
      problem_ = "A bottleneck is narrower than the model's width of " + std::to_string(a_.hidden) + ".";
      return;
    }
    out_.trained = times * (2 * h * r + r + h);
    PairCost c = pair_cost(out_.tokens, h, h, r, 1, work_.activation_bytes, job_.fused);
    const OpCost activation = relu(out_.tokens * r, work_.activation_bytes);
    c.forward += activation;
    c.backward += activation * 2;
    c.forward_kernels += 1;
    c.backward_kernels += 1;
    add_kernels(c, work_.recompute == Recompute::full ? 2 : 1, times);
  }

  /// Every micro-batch does the same.
  void repeat() {
    const double n = job_.micro_batches;
    for (double* part :
         {&out_.flops.forward, &out_.flops.recomputed, &out_.flops.input_gradient, &out_.flops.weight_gradient,
          &out_.time.base, &out_.time.adapters, &out_.time.unpack, &out_.tokens})
      *part *= n;
  }

  void hold() {
    const memory::BytesPerParameter each = bytes_of(a_, job_.states);
    Held& h = out_.held;
    const double mine = out_.trained / job_.gpus;
    const double narrow = (nf4_bits + scale_bits(job_.double_quantized)) / 8;
    h.base = (out_.quantized * narrow + (out_.parameters - out_.quantized) * wide_bytes) / job_.gpus;
    out_.base_bits = 8 * h.base * job_.gpus / out_.parameters;
    if (frozen()) h.adapters = mine * each.weights;
    h.gradients = mine * each.gradients;
    h.master = mine * each.master;
    h.moments = mine * each.optimizer;
    hold_activations();
  }

  void hold_activations() {
    memory::TrainingPlan plan{.batch = job_.batch, .sequence = job_.sequence, .loss = job_.loss};
    memory::TrainingPlan kept_plan = plan;
    kept_plan.frozen = frozen();
    kept_plan.adapter_rank = low_rank() ? job_.rank : 0;
    kept_plan.adapter_targets = job_.targets;
    double kept = 0, largest = 0;
    for (const LayerKind& kind : layer_kinds(a_)) {
      const std::vector<LayerOperation> operations = layer_operations(a_, kind, memory::workload_of(plan));
      const double one = layer_bytes(memory::operation_memory(a_, operations, kept_plan));
      largest = std::max(largest, one);
      kept += as_double(kind.count) * (job_.recompute ? stream() : one);
    }
    // Frozen, the output matrix has no gradient that passes through, and the loss itself may be the fullest moment.
    const memory::LossPeak loss = memory::loss_peak(a_, plan, false);
    out_.held.activations = kept + loss.ends;
    double at_loss = loss.logits + loss.beside;
    if (frozen()) at_loss = std::max(loss.spike, at_loss - loss.gradient);
    // The output matrix stays in 16 bits: while the logits stand no other matrix is written out.
    const double at_work = (job_.recompute ? largest : 0.0) + written_out_;
    out_.held.temporary = std::max(at_loss, at_work);
    if (!frozen() && loss.gradient > loss.logits) out_.held.fullest = Fullest::output;
    if (at_work > at_loss) out_.held.fullest = job_.recompute ? Fullest::layer : Fullest::matrix;
  }

  double stream() const { return out_.tokens * as_double(a_.hidden) * work_.activation_bytes; }

  /// What one layer keeps.
  double layer_bytes(const std::vector<memory::OperationMemory>& saved) const {
    double sum = 0;
    for (const memory::OperationMemory& m : saved) sum += m.saved;
    // A bottleneck keeps its input and what its activation reads and writes.
    if (job_.method == Method::bottleneck) sum += 2 * (stream() + 2 * out_.tokens * job_.rank * work_.activation_bytes);
    return sum;
  }

  const Architecture& a_;
  const Job& job_;
  Workload work_;
  KernelClock clock_;
  TunedStep out_;
  double written_out_ = 0;  ///< bytes of the largest matrix in 16 bits, made of 4 before its product
  std::string problem_;
};

}  // namespace

PairCost pair_cost(double rows, double k, double n, double rank, double groups, double bytes, bool fused) {
  return pair_cost(rows, k, n, rank, groups, bytes, fused, {.middle = rank, .added = rows * n});
}

PairCost pair_cost(double rows, double k, double n, double rank, double groups, double bytes, bool fused,
                   const PairPart& part) {
  PairCost c;
  const double middle = part.middle;
  c.pass_flops = 2 * rows * (middle * k + rank * n);
  const OpCost down = grouped_gemm(rows, middle, k, groups, bytes, wide_bytes, bytes);
  OpCost up = grouped_gemm(rows, n, rank, groups, bytes, wide_bytes, bytes);
  OpCost to_input = grouped_gemm(rows, k, middle, groups, bytes, wide_bytes, bytes);
  if (fused) {  // what is there already is read, and the sum written in its place
    up.read_bytes += rows * n * bytes;
    to_input.read_bytes += rows * k * bytes;
  }
  c.forward = down + up;
  c.forward_kernels = 2;
  // Gradients of B and of the middle read the output's gradient, that of A the input; the last goes to the input.
  const OpCost b{2 * rows * rank * n, rows * (rank + n) * bytes, groups * rank * n * wide_bytes};
  const OpCost a{2 * rows * middle * k, rows * (middle + k) * bytes, groups * middle * k * wide_bytes};
  c.weights = b + a;
  c.backward = b + grouped_gemm(rows, rank, n, groups, bytes, wide_bytes, bytes) + a + to_input;
  c.backward_kernels = 4;
  if (fused) return c;
  c.forward += elementwise(part.added, 2, 1, 2, bytes);  // scale and add
  c.backward += elementwise(rows * k, 2, 1, 1, bytes);
  c.forward_kernels += 1;
  c.backward_kernels += 1;
  return c;
}

double scale_bits(bool double_quantized) { return double_quantized ? 8.0 / 64 + 32.0 / (64 * 256) : 32.0 / 64; }

Result<TunedStep> tuned_step(const Architecture& architecture, const Job& job, const Machine& machine) {
  return StepSum(architecture, job, machine).run();
}

std::vector<TargetMatrix> target_matrices(const Architecture& architecture, Targets targets) {
  std::vector<TargetMatrix> out;
  Workload work;
  work.phase = Phase::train;
  for (const LayerOperation& op : model_operations(architecture, work)) {
    if (!gets_pair(op, targets)) continue;
    const TargetMatrix m{op.shape.k, op.shape.n, as_double(op.count) * stored_matrices(op)};
    const auto same = std::find_if(
        out.begin(), out.end(), [&](const TargetMatrix& o) { return o.inputs == m.inputs && o.outputs == m.outputs; });
    if (same == out.end())
      out.push_back(m);
    else
      same->count += m.count;
  }
  return out;
}

}  // namespace models::adapters
