#include "models/training/utilization.h"

#include <algorithm>
#include <numeric>

#include "models/base/integer_math.h"
#include "models/transformer/step_time.h"

namespace models {
namespace {

constexpr double forward_flops = 2, training_flops = 6, frozen_flops = 4;  // of a weight and token

/// Backward, a product of weights is two: the gradients of its input and of its weights, which frozen ones do not have.
double backward_of(const LayerOperation& op, bool frozen) {
  const bool weights = op.group != OperationGroup::attention;
  return op.backward_product_flops * (frozen && weights ? 0.5 : 1);
}

/// What a product counts, forward and backward, with its repeated forward pass where that counts.
double counted_of(const LayerOperation& op, const FlopConvention& c) {
  return op.product_flops * (c.recompute ? op.forward_passes : 1) + backward_of(op, c.frozen);
}

/// A product of weights and of nothing else: not the router.
bool is_counted(const LayerOperation& op, const FlopConvention& c) {
  if (op.product_flops <= 0 || op.name == "router") return false;
  if (op.group == OperationGroup::attention) return c.attention != CountedAttention::none;
  return op.group != OperationGroup::output || c.weights != CountedWeights::inside_layers;
}

}  // namespace

double counted_flops(const Architecture& a, Workload w, const FlopConvention& c) {
  w.attention = c.attention == CountedAttention::full ? AttentionFlops::full : AttentionFlops::causal;
  const bool train = w.phase == Phase::train;
  const double trained = c.frozen ? frozen_flops : training_flops;
  const double tokens = new_tokens(w), weight_flops = train ? trained : forward_flops;
  double sum = 0, logits = 0, last_layer = 0;
  std::string last;
  for (const LayerOperation& op : model_operations(a, w)) {
    if (!is_counted(op, c)) continue;
    sum += as_double(op.count) * counted_of(op, c);
    if (op.layer == "output") {
      logits += counted_of(op, c);
    } else if (op.layer != "embedding") {
      if (op.layer != last) last_layer = 0;
      last = op.layer;
      last_layer += counted_of(op, c);
    }
  }
  const double h = as_double(a.hidden);
  sum += as_double(c.extra_layers) * (last_layer + logits + weight_flops * tokens * 2 * h * h);
  const ParameterCount count = count_parameters(a);
  if (c.weights == CountedWeights::with_embedding)
    sum += weight_flops * tokens * as_double((a.tied ? 0 : count.embedding) + count.positions);
  if (c.weights == CountedWeights::all_experts) sum += weight_flops * tokens * as_double(count.total - count.active);
  return sum;
}

const std::array<NamedConvention, named_convention_count>& named_conventions() {
  static const std::array<NamedConvention, named_convention_count> all{{
      {"causal", "causal half", "Megatron-LM since March 2025, Megatron-Bridge", {}},
      {"full",
       "full attention",
       "Narayanan and Korthikanti, MaxText, llm-foundry, nanotron",
       {.attention = CountedAttention::full}},
      {"palm",
       "full, with the embedding",
       "PaLM appendix B, torchtitan in 2024",
       {.attention = CountedAttention::full, .weights = CountedWeights::with_embedding}},
      {"6n", "6N, no attention", "Kaplan et al., FlagPerf, NeMo fine-tuning", {.attention = CountedAttention::none}},
      {"hardware",
       "full, recompute in",
       "HFU: Narayanan et al. 2021, BLOOM",
       {.attention = CountedAttention::full, .recompute = true}},
      {"all_experts",
       "6N of all experts",
       "a mistake: most experts see no token",
       {.attention = CountedAttention::none, .weights = CountedWeights::all_experts}},
  }};
  return all;
}

double counted_bytes(const Architecture& a, const Workload& w, CountedBytes bytes) {
  if (bytes == CountedBytes::operands) return total_operations(model_operations(a, w), w).bytes;
  const ResidentBytes resident = resident_bytes(a, w);
  return bytes == CountedBytes::weights ? resident.weights : resident.total();
}

double Utilization::busy() const { return 1 - std::accumulate(loss.begin(), loss.begin() + idle_loss_count, 0.0); }

Result<Utilization> utilization_of(const UtilizationTimes& t, const UtilizationFlops& flops, double peak) {
  using Outcome = Result<Utilization>;
  if (!(t.wall_s > 0) || !(peak > 0)) return Outcome::fail("A step must take time, and the chip must state a peak.");
  Utilization out{.wall_s = t.wall_s,
                  .needed_flops = flops.needed,
                  .recomputed_flops = flops.recomputed,
                  .extra_flops = flops.extra,
                  .peak_flops_per_s = peak};
  double rest_s = t.wall_s;
  const auto take = [&](UtilizationLoss loss, double seconds) {
    out.loss[static_cast<std::size_t>(loss)] += seconds / t.wall_s;
    rest_s -= seconds;
  };
  for (std::size_t i = 0; i < idle_loss_count; ++i) take(static_cast<UtilizationLoss>(i), t.idle_s[i]);
  take(UtilizationLoss::communication, t.communication_s);
  take(UtilizationLoss::optimizer, t.optimizer_s);
  take(UtilizationLoss::other_kernels, t.other_s);
  take(UtilizationLoss::uncounted, t.uncounted_s);
  const double all = t.wall_s * peak, busy_s = out.issued_flops() / peak;
  // A step has up to millions of kernels, each rounded to a nanosecond.
  if (!(rest_s > -1e-3 * t.wall_s)) return Outcome::fail("The parts of the step take longer than the step.");
  if (!(busy_s <= rest_s + 1e-3 * t.wall_s))
    return Outcome::fail(
        "These matmuls would need more time at the chip's peak than they took: the chip, the format or the "
        "model is another one.");
  out.product_s = std::max(rest_s, busy_s);
  out.loss[static_cast<std::size_t>(UtilizationLoss::below_peak)] = (out.product_s - busy_s) / t.wall_s;
  out.loss[static_cast<std::size_t>(UtilizationLoss::extra)] = flops.extra / all;
  out.loss[static_cast<std::size_t>(UtilizationLoss::recompute)] = flops.recomputed / all;
  return Outcome::ok(out);
}

UtilizationFlops flops_of(const Architecture& a, const Workload& w, const TrainedParts& trained) {
  UtilizationFlops out;
  for (const LayerOperation& op : model_operations(a, w)) {
    const double count = as_double(op.count), again = op.forward_passes - 1;
    out.needed += count * (op.product_flops + backward_of(op, trained.frozen));
    out.recomputed += count * again * op.product_flops;
    out.extra += count * (op.extra_product_flops * op.forward_passes + op.backward_extra_product_flops);
  }
  if (trained.mtp_layers == 0) return out;
  const auto modules = [&](bool recompute) {
    FlopConvention c{.recompute = recompute, .frozen = trained.frozen};
    const double alone = counted_flops(a, w, c);
    c.extra_layers = trained.mtp_layers;
    return counted_flops(a, w, c) - alone;
  };
  const double needed = modules(false);
  out.needed += needed;
  out.recomputed += modules(true) - needed;
  return out;
}

namespace {

Machine reached(const UtilizationRun& run) {
  Machine m = run.machine;
  m.peak_flops_per_s *= run.product_share;
  m.bandwidth_bytes_per_s *= run.bandwidth_share;
  return m;
}

/// As PyTorch code without a compiler runs them. A rotation (rotate_half): two products, a negation, a concatenation
/// and a sum. A loss from 16-bit logits, bytes a logit: to FP32 (2 + 4), log-softmax (4 + 4); its gradient (4), that of
/// log-softmax (4 + 4 + 4) and back to 16 bits (4 + 2), as in memory/operation_times.
constexpr double rotation_passes = 5, loss_forward_bytes = 14, loss_backward_bytes = 22, autocast_bytes = 4 + 2;

Result<Utilization> simulate_training(const Architecture& a, const Workload& w, const UtilizationRun& run) {
  using Outcome = Result<Utilization>;
  const Machine machine = reached(run);
  const auto time_of = [&](const OpCost& cost) {
    return std::max(cost.flops / machine.peak_flops_per_s, cost.bytes() / machine.bandwidth_bytes_per_s);
  };
  StepSetup setup = run.step;
  setup.layers = a.layers;
  setup.recompute = false;  // what runs again is in the operations
  const double logits = new_tokens(w) * as_double(a.vocab), bandwidth = machine.bandwidth_bytes_per_s;
  // Autocast copies the FP32 weights to the products' format, and their gradients back.
  double other_forward_s = 0, other_backward_s = 0;
  if (run.autocast) other_forward_s = other_backward_s = autocast_bytes * setup.parameters / bandwidth;
  setup.forward_s = setup.backward_s = 0;
  for (const LayerOperation& op : model_operations(a, w)) {
    double forward = time_of(op.forward), backward = time_of(op.backward);
    if (!w.fused_elementwise && op.name == "rope") {
      forward *= rotation_passes;
      backward *= rotation_passes;
    }
    if (!w.fused_elementwise && op.name == "loss") {
      forward = logits * loss_forward_bytes / bandwidth;
      backward = logits * loss_backward_bytes / bandwidth;
    }
    backward += (op.forward_passes - 1) * forward;
    const double count = as_double(op.count);
    (op.product_flops > 0 ? setup.forward_s : other_forward_s) += count * forward;
    (op.product_flops > 0 ? setup.backward_s : other_backward_s) += count * backward;
  }
  const double other_s = other_forward_s + other_backward_s;
  setup.forward_s += other_forward_s;
  setup.backward_s += other_backward_s;
  const std::int64_t steady = steady_steps(setup);
  constexpr std::int64_t warm_up = 8;
  const auto steps = simulate_steps(setup, {.steps = warm_up + steady});
  if (!steps) return Outcome::fail(steps.error);
  const StepMeans mean = mean_of_last(*steps, steady);
  const auto idle = [&](StepCause cause) { return mean.idle_s[static_cast<std::size_t>(cause)]; };
  UtilizationFlops flops = flops_of(a, w);
  const double times = as_double(setup.micro_batches);
  for (double* f : {&flops.needed, &flops.recomputed, &flops.extra}) *f *= times;
  UtilizationTimes t{.wall_s = mean.period_s};
  t.idle_s = {idle(StepCause::data), idle(StepCause::copy), idle(StepCause::launch), idle(StepCause::sync), 0};
  t.communication_s = idle(StepCause::communication);  // while the stream waits, the collective's kernel runs
  t.optimizer_s = mean.optimizer_s;
  t.other_s = other_s * times;
  return utilization_of(t, flops, run.machine.peak_flops_per_s);
}

Result<Utilization> simulate_inference(const Architecture& a, const Workload& w, const UtilizationRun& run) {
  using Outcome = Result<Utilization>;
  const bool compiled = run.mode == LaunchMode::compiled || run.mode == LaunchMode::compiled_graph;
  const auto list = launch_list(a, w, reached(run), compiled, run.least_kernel_s);
  if (!list) return Outcome::fail(list.error);
  const LaunchRun launched = run_launches(*list, run.host, run.mode, LaunchSync::step);
  Workload as_launched = w;
  as_launched.fused_elementwise = compiled;
  const std::vector<LayerOperation> ops = model_operations(a, as_launched);
  constexpr double ns = 1e-9;
  double product_s = 0;
  for (std::size_t i = 0; i < ops.size(); ++i)
    if (ops[i].product_flops > 0)
      product_s += list->operations[i].kernel_s * as_double(list->operations[i].kernels * list->operations[i].count);
  UtilizationTimes t{.wall_s = ns * static_cast<double>(launched.end_ns - launched.origin_ns)};
  t.idle_s[static_cast<std::size_t>(UtilizationLoss::launches)] =
      ns * static_cast<double>(launched.host_wait_ns + launched.between_ns);
  t.other_s = std::max(0.0, ns * static_cast<double>(launched.busy_ns) - product_s);
  return utilization_of(t, flops_of(a, as_launched), run.machine.peak_flops_per_s);
}

}  // namespace

Result<Utilization> simulate_utilization(const Architecture& a, const Workload& w, const UtilizationRun& run) {
  if (std::string problem = workload_problem(w); !problem.empty()) return Result<Utilization>::fail(std::move(problem));
  if (!(run.product_share > 0 && run.product_share <= 1 && run.bandwidth_share > 0 && run.bandwidth_share <= 1))
    return Result<Utilization>::fail("Shares of peak and bandwidth must be above 0 and at most 1.");
  return w.phase == Phase::train ? simulate_training(a, w, run) : simulate_inference(a, w, run);
}

}  // namespace models
