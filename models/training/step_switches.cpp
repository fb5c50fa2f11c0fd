#include "models/training/step_switches.h"

#include <algorithm>

#include "models/base/integer_math.h"
#include "models/machine/roofline.h"
#include "models/memory/operation_times.h"
#include "models/memory/state_bytes.h"
#include "models/training/mixed_precision.h"
#include "models/training/optimizer_traffic.h"

namespace models {
namespace {

/// FP8 with delayed scales: a value is read once and written for both directions; a scale a tensor is no traffic.
constexpr double fp8_bytes = 1, fp8_copies_written = 2;
/// Kernels of the rotation of queries and keys, as Transformers writes it.
constexpr std::int64_t rotation_kernels = 10;
/// Kernels of its RMSNorm: square, mean, epsilon added, inverse root, two products, and in 16 bits to FP32 and back.
std::int64_t norm_kernels(double value_bytes) { return value_bytes < 4 ? 8 : 6; }

struct PassTimes {
  std::array<double, kernel_work_count> forward_s{}, backward_s{};
  double layers_forward_s = 0;
  double kernels = 0;  ///< kernels in a forward pass of the most frequent layer
  double product_parameters = 0;
};

double total_of(const std::array<double, kernel_work_count>& parts) {
  double sum = 0;
  for (const double s : parts) sum += s;
  return sum;
}

bool product_of_layer(const LayerOperation& op) {
  return op.product_flops > 0 && op.group != OperationGroup::attention && op.name != "router";
}
KernelWork work_of(const LayerOperation& op) {
  if (op.group == OperationGroup::attention && op.name != "rope") return KernelWork::attention;
  return op.product_flops > 0 ? KernelWork::products : KernelWork::elementwise;
}

/// Times what an operation moves and multiplies.
class StepClock {
 public:
  StepClock(Machine machine, double roof_share) : machine_(machine) {
    machine_.peak_flops_per_s *= roof_share;
    machine_.bandwidth_bytes_per_s *= roof_share;
  }
  double time_s(double flops, double bytes) const {
    return std::max(flops / machine_.peak_flops_per_s, bytes / machine_.bandwidth_bytes_per_s);
  }
  double time_s(const OpCost& cost, double traffic = 1) const { return time_s(cost.flops, cost.bytes() * traffic); }

 private:
  Machine machine_;
};

/// How many times the bytes of one kernel the operations of RMSNorm move. In 16 bits: to FP32 6, square 8, mean 4,
/// times root 8, back 6, times weight 4: 36 B where one kernel moves 4; in FP32 28 where it moves 8.
double norm_traffic(double value_bytes) { return value_bytes < 4 ? 9 : 3.5; }

/// The same of an operation that may be a norm or a rotation. Rotation: product 4, half negated 2, joined 4, product 4,
/// sum 6: 20 where one kernel moves 4, at any width.
double by_hand_traffic(const LayerOperation& op, const Architecture& a, double value_bytes) {
  if (op.group == OperationGroup::norm && a.norm == NormKind::rms) return norm_traffic(value_bytes);
  return op.name == "rope" ? 5 : 1;
}

/// Products of a layer in FP8, and the passes that make their operands. Bytes as models/training/mixed_precision counts
/// them, for values of `value` bytes.
void add_fp8_product(const LayerOperation& op, bool new_input, double value, double gradient, double count,
                     const StepClock& low, const StepClock& high, PassTimes& out) {
  const bool experts = op.group == OperationGroup::experts;
  const double rows = experts ? op.shape.m : op.shape.batch * op.shape.m, n = op.shape.n, k = op.shape.k,
               weights = op.shape.batch * n * k;
  const auto products = static_cast<std::size_t>(KernelWork::products),
             casts = static_cast<std::size_t>(KernelWork::casts);
  const double forward_s = low.time_s(op.forward.flops, (rows * k + weights) * fp8_bytes + rows * n * value);
  out.forward_s[products] += count * forward_s;
  out.backward_s[products] +=
      count * low.time_s(op.backward.flops, (rows * n + weights) * fp8_bytes + rows * k * value +
                                                rows * (k + n) * fp8_bytes + weights * gradient);
  const double bytes = value + fp8_copies_written * fp8_bytes;
  const double cast_s = high.time_s(0, ((new_input ? rows * k : 0) + weights) * bytes);
  out.forward_s[casts] += count * cast_s;
  out.backward_s[casts] += count * high.time_s(0, rows * n * bytes);
  out.layers_forward_s += count * (forward_s + cast_s);
  out.product_parameters += count * as_double(op.parameters);
}

/// All layers of one micro-batch.
PassTimes layer_times(const SwitchedJob& job, SwitchSet on, const memory::TrainingPlan& plan, const StepClock& clock,
                      const StepClock& low) {
  PassTimes out;
  const Architecture& a = job.architecture;
  Workload w = memory::workload_of(plan);
  w.fused_elementwise = on.has(StepSwitch::compile);
  const bool by_hand = job.by_hand && !w.fused_elementwise;
  const double gradient = memory::bytes_per_parameter(a, plan).gradients;
  std::int64_t most = 0;
  for (const LayerKind& kind : layer_kinds(a)) {
    const std::vector<LayerOperation> ops = layer_operations(a, kind, w);
    const double count = as_double(kind.count);
    std::int64_t kernels = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const LayerOperation& op = ops[i];
      ++kernels;
      if (on.has(StepSwitch::fp8) && product_of_layer(op)) {
        const bool shares = i > 0 && product_of_layer(ops[i - 1]) && ops[i - 1].group == op.group &&
                            ops[i - 1].shape.m == op.shape.m && ops[i - 1].shape.k == op.shape.k &&
                            ops[i - 1].shape.batch == op.shape.batch;
        add_fp8_product(op, !shares, w.activation_bytes, gradient, count, low, clock, out);
        kernels += shares ? 1 : 2;
        continue;
      }
      const double traffic = by_hand ? by_hand_traffic(op, a, w.activation_bytes) : 1;
      if (traffic > 1) kernels += op.name == "rope" ? rotation_kernels - 1 : norm_kernels(w.activation_bytes) - 1;
      const auto part = static_cast<std::size_t>(work_of(op));
      const double forward_s = clock.time_s(op.forward, traffic);
      out.forward_s[part] += count * forward_s;
      out.backward_s[part] += count * clock.time_s(op.backward, traffic);
      out.layers_forward_s += count * forward_s;
    }
    if (kind.count > most) {
      most = kind.count;
      out.kernels = as_double(kernels);
    }
  }
  return out;
}

/// Embedding, final norm, output matrix and loss: in 16 bits or FP32, never in FP8.
Status add_ends(const SwitchedJob& job, SwitchSet on, const memory::TrainingPlan& plan, const Machine& machine,
                PassTimes& out) {
  const auto times = memory::operation_times(job.architecture, plan, machine, job.roof_share);
  if (!times) return Status::fail(times.error);
  const auto products = static_cast<std::size_t>(KernelWork::products),
             simple = static_cast<std::size_t>(KernelWork::elementwise);
  const bool by_hand = job.by_hand && !on.has(StepSwitch::compile) && job.architecture.norm == NormKind::rms;
  const double norm = by_hand ? norm_traffic(plan.recipe == memory::StateRecipe::fp32 ? 4 : 2) : 1;
  out.forward_s[products] += times->logits_forward_s;
  out.backward_s[products] += times->logits_backward_s;
  out.forward_s[simple] += times->embedding_forward_s + norm * times->norm_forward_s + times->loss_forward_s;
  out.backward_s[simple] += times->embedding_backward_s + norm * times->norm_backward_s + times->loss_backward_s;
  return Status::ok();
}

memory::TrainingPlan plan_of(const SwitchedJob& job, SwitchSet on) {
  memory::TrainingPlan p;
  const bool narrow = on.has(StepSwitch::bf16);
  p.recipe = narrow ? memory::StateRecipe::zero : memory::StateRecipe::fp32;
  p.micro_batches = on.has(StepSwitch::accumulate) ? job.micro_batches : 1;
  p.batch = job.batch / p.micro_batches;
  p.sequence = job.sequence;
  p.data = job.host.ranks;
  p.recompute = on.has(StepSwitch::checkpoint) ? Recompute::full : Recompute::none;
  p.fused_attention = on.has(StepSwitch::flash);
  p.loss = job.loss;
  return p;
}

/// What FP8 keeps: operands of products in 8 bits, once more where another operation reads the value too.
double fp8_saved_bytes(const SwitchedJob& job, const memory::TrainingPlan& plan, double value_bytes) {
  double sum = 0;
  for (const LayerKind& kind : layer_kinds(job.architecture)) {
    const SavedElements e = saved_per_token(job.architecture, kind.form);
    sum += as_double(kind.count) * (e.operands * (fp8_bytes - value_bytes) + e.reused * fp8_bytes);
  }
  return sum * as_double(plan.batch) * as_double(plan.sequence);
}

double update_bytes(bool fused, bool narrow) {
  double bytes = 0;
  for (const OptimizerPass& pass :
       optimizer_passes(OptimizerKind::adamw, fused ? UpdateCode::fused : UpdateCode::foreach,
                        narrow ? OptimizerRecipe::master : OptimizerRecipe::fp32))
    bytes += pass.bytes();
  return bytes;
}

}  // namespace

Result<SwitchedStep> switched_step(const SwitchedJob& job, SwitchSet on) {
  using Outcome = Result<SwitchedStep>;
  const Architecture& a = job.architecture;
  SwitchedStep out;
  if (!(job.roof_share > 0 && job.roof_share <= 1))
    return Outcome::fail("The share of the roof must be above 0 and at most 1.");
  if (on.has(StepSwitch::accumulate) && (job.micro_batches < 1 || job.batch % job.micro_batches != 0))
    return Outcome::fail(std::to_string(job.micro_batches) + " micro-batches do not divide the " +
                         std::to_string(job.batch) + " sequences of a GPU; choose a divisor.");
  out.plan = plan_of(job, on);
  if (std::string problem = memory::plan_problem(a, out.plan); !problem.empty())
    return Outcome::fail(std::move(problem));
  const bool narrow = on.has(StepSwitch::bf16);
  const auto machine = machine_of(*job.chip, narrow ? Format::bf16 : job.found_format);
  if (!machine) return Outcome::fail(machine.error);
  const auto low = on.has(StepSwitch::fp8) ? machine_of(*job.chip, Format::fp8) : machine;
  if (!low) return Outcome::fail(low.error);
  if (!(machine->peak_flops_per_s > 0 && machine->bandwidth_bytes_per_s > 0 && low->peak_flops_per_s > 0))
    return Outcome::fail(job.chip->name + " states no peak or no bandwidth: choose another chip.");
  PassTimes times =
      layer_times(job, on, out.plan, StepClock(*machine, job.roof_share), StepClock(*low, job.roof_share));
  if (const Status ends = add_ends(job, on, out.plan, *machine, times); !ends) return Outcome::fail(ends.error);

  const auto pieces = as_double(out.plan.micro_batches);
  const double parameters = as_double(count_parameters(a).total);
  StepSetup& s = out.setup = job.host;
  s.loader.workers = on.has(StepSwitch::loader) ? job.workers : job.host.loader.workers;
  s.loader.samples = std::max<std::int64_t>(1, job.host.loader.samples / out.plan.micro_batches);
  s.loader.batch_bytes = job.host.loader.batch_bytes / pieces;
  s.layers = a.layers;
  s.kernels_per_layer = static_cast<std::int64_t>(times.kernels);
  s.forward_s = total_of(times.forward_s);
  s.backward_s = total_of(times.backward_s);
  s.micro_batches = out.plan.micro_batches;
  s.recompute = on.has(StepSwitch::checkpoint);
  s.recompute_s = times.layers_forward_s;
  s.parameters = parameters;
  s.optimizer_bytes_per_s = machine->bandwidth_bytes_per_s * job.roof_share;
  s.optimizer = on.has(StepSwitch::fused_optimizer) ? OptimizerCode::fused : OptimizerCode::foreach;
  s.update_bytes = update_bytes(on.has(StepSwitch::fused_optimizer), narrow);
  s.gradient_bytes = parameters * memory::bytes_per_parameter(a, out.plan).gradients;
  s.buckets = std::min(job.host.buckets, a.layers);
  s.overlap = on.has(StepSwitch::overlap);
  for (std::size_t i = 0; i < kernel_work_count; ++i)
    out.kernel_s[i] = pieces * (times.forward_s[i] + times.backward_s[i]);
  if (s.recompute) out.kernel_s[static_cast<std::size_t>(KernelWork::again)] = pieces * s.recompute_s;
  Workload w = memory::workload_of(out.plan);
  const OperationTotals totals = total_operations(model_operations(a, w), w);
  out.forward_flops = pieces * totals.product_flops / 3;
  out.backward_flops = 2 * out.forward_flops;
  if (on.has(StepSwitch::fp8)) {
    out.fp8_copies = fp8_copies_written * fp8_bytes * times.product_parameters;
    out.fp8_layer_bytes = fp8_saved_bytes(job, out.plan, w.activation_bytes);
  }
  return Outcome::ok(std::move(out));
}

Result<memory::TrainingMemory> switched_memory(const SwitchedJob& job, const SwitchedStep& step) {
  using memory::MemoryOwner;
  auto out = memory::training_memory(job.architecture, step.plan,
                                     {.count = memory::ActivationCount::operations, .fixed_bytes = job.fixed_bytes});
  if (!out || step.fp8_copies <= 0) return out;
  memory::HeldBytes& held = out->held;
  held[MemoryOwner::weights] += step.fp8_copies;
  // Of what is kept at the fullest moment the same share; a layer that runs again is there alone, as temporary.
  if (step.plan.recompute == Recompute::full) {
    if (out->moment == memory::FullestMoment::layer_backward)
      held[MemoryOwner::temporary] =
          std::max(0.0, held[MemoryOwner::temporary] + step.fp8_layer_bytes / as_double(job.architecture.layers));
  } else if (out->operations_bytes > 0) {
    held[MemoryOwner::activations] *= std::max(0.0, 1 + step.fp8_layer_bytes / out->operations_bytes);
  }
  return out;
}

}  // namespace models
