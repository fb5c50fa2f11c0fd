#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/base/integer_math.h"
#include "models/machine/roofline.h"
#include "models/memory/operation_times.h"
#include "models/memory/training_memory.h"
#include "models/platform/release_parts.h"

namespace models::platform {
namespace {

/// Passes of a step that are simulated one by one; more are put together, so that what hides behind the last backward
/// pass is known to within that share of the step's.
constexpr std::int64_t max_passes = 256;
/// Groups of layers that the simulation walks through, and the buckets of gradients.
constexpr std::int64_t max_groups = 8;
constexpr std::int64_t kernels_per_layer = 20, warm_up = 2;
constexpr double context_bytes = 1.5e9;  ///< CUDA context, communication buffers, workspaces

std::int64_t local_samples(const ReleaseSetup& s, std::int64_t gpus) { return ceil_div(s.batch, gpus); }

memory::TrainingPlan plan_of(const ReleaseSetup& s, std::int64_t gpus) {
  const std::int64_t local = local_samples(s, gpus), micro = std::min(s.micro_batch, local);
  memory::TrainingPlan plan;
  plan.batch = micro;
  plan.sequence = s.sequence;
  plan.micro_batches = ceil_div(local, micro);
  plan.data = gpus;
  plan.zero_stage = 1;
  plan.recompute = s.recompute ? Recompute::full : Recompute::none;
  plan.loss = memory::LossKind::fused;
  return plan;
}

bool in_product_format(OperationGroup group) {
  return group == OperationGroup::projection || group == OperationGroup::feed_forward ||
         group == OperationGroup::experts;
}

struct PassTimes {
  double forward_s = 0, backward_s = 0, optimizer_s = 0;
};

/// Products inside the layers in the format chosen; attention, norms and logits in 16 bits.
Result<PassTimes> pass_times(const Architecture& a, const ReleaseSetup& s, const memory::TrainingPlan& plan) {
  using Outcome = Result<PassTimes>;
  auto wide = machine_of(*s.chip, Format::bf16);
  if (!wide) wide = machine_of(*s.chip, Format::fp16);
  const auto narrow = s.product == Format::bf16 ? wide : machine_of(*s.chip, s.product);
  if (!wide) return Outcome::fail(wide.error);
  if (!narrow) return Outcome::fail(narrow.error);
  const auto in_wide = memory::operation_times(a, plan, *wide, s.training_roof),
             in_narrow = memory::operation_times(a, plan, *narrow, s.training_roof);
  if (!in_wide) return Outcome::fail(in_wide.error);
  if (!in_narrow) return Outcome::fail(in_narrow.error);
  PassTimes out{in_wide->ends_forward_s, in_wide->ends_backward_s, in_wide->optimizer_s};
  for (std::size_t k = 0; k < in_wide->kinds.size(); ++k) {
    const memory::KindTimes& kind = in_wide->kinds[k];
    const double layers = as_double(kind.kind.count);
    for (std::size_t i = 0; i < kind.operations.size(); ++i) {
      const auto& from = in_product_format(kind.operations[i].group) ? in_narrow->kinds[k] : kind;
      out.forward_s += layers * from.forward_s[i];
      out.backward_s += layers * from.backward_s[i];
    }
  }
  return Outcome::ok(out);
}

}  // namespace

Result<StepSetup> release_step(const Architecture& a, const ReleaseSetup& s, std::int64_t gpus) {
  using Outcome = Result<StepSetup>;
  const memory::TrainingPlan plan = plan_of(s, gpus);
  const auto times = pass_times(a, s, plan);
  if (!times) return Outcome::fail(times.error);
  const double local = as_double(local_samples(s, gpus)), per_sample = 1 / as_double(plan.batch);
  const std::int64_t passes = std::min(plan.micro_batches, max_passes);
  StepSetup out;
  out.micro_batches = passes;
  out.forward_s = times->forward_s * per_sample * local / as_double(passes);
  out.backward_s = times->backward_s * per_sample * local / as_double(passes);
  out.recompute = s.recompute;
  out.layers = std::min(a.layers, max_groups);
  out.buckets = out.layers;
  const double kernels = as_double(kernels_per_layer * a.layers) / as_double(out.layers);
  out.kernels_per_layer = std::max<std::int64_t>(1, std::llround(kernels));
  out.launch_s = s.launch_s;
  out.optimizer = OptimizerCode::fused;
  out.optimizer_bytes_per_s = s.training_roof * s.chip->memory_bandwidth_bytes_per_s;
  out.parameters = times->optimizer_s * out.optimizer_bytes_per_s / optimizer_bytes_per_parameter(out.optimizer);
  out.ranks = gpus;
  out.gradient_bytes = 2 * static_cast<double>(count_parameters(a).total);
  out.bus_bytes_per_s = s.bus_bytes_per_s;
  out.overlap = s.overlap;
  out.sync_every = 0;
  out.copy = BatchCopy::copy_stream;
  LoaderSetup& l = out.loader;
  l.workers = s.workers;
  l.cores = s.cores;
  l.samples = static_cast<std::int64_t>(std::ceil(local / as_double(passes)));
  // Passes are of whole samples: bytes and decoding of the rest are taken out of each.
  const double part = local / as_double(l.samples * passes);
  l.sample_bytes = s.sample_bytes * part;
  l.decode_s = s.decode_s * part;
  l.samples_per_request = s.samples_per_request;
  l.request_latency_s = s.request_latency_s;
  l.storage_bytes_per_s = s.storage_bytes_per_s / as_double(gpus);
  l.batch_bytes = s.sample_bytes * local / as_double(passes);
  l.pinned = true;
  l.host_copy_bytes_per_s = 10e9;
  l.pieces = 1;
  return Outcome::ok(out);
}

Result<StepMeans> steady_step(const StepSetup& setup) {
  // Batches come in rounds over the workers: what is measured is whole rounds and whole steps.
  const std::int64_t workers = std::max<std::int64_t>(1, setup.loader.workers);
  const std::int64_t steady = workers / std::gcd(workers, setup.micro_batches);
  // What workers were asked for ahead must have passed before the figures count.
  const std::int64_t stock = setup.loader.prefetch * workers / setup.micro_batches;
  const auto run = simulate_steps(setup, {.steps = warm_up + stock + steady});
  if (!run) return Result<StepMeans>::fail(run.error);
  return Result<StepMeans>::ok(mean_of_last(*run, steady));
}

namespace {

StepSetup with_twice_the_loader(StepSetup s) {
  s.loader.storage_bytes_per_s *= 2;
  s.loader.request_latency_s /= 2;
  s.loader.decode_s /= 2;
  s.loader.host_copy_bytes_per_s *= 2;
  s.pinned_bytes_per_s *= 2;
  return s;
}
StepSetup with_twice_the_training(StepSetup s) {
  s.forward_s /= 2;
  s.backward_s /= 2;
  s.optimizer_bytes_per_s *= 2;
  s.launch_s /= 2;
  s.launch_latency_s /= 2;
  s.bus_bytes_per_s *= 2;
  return s;
}

}  // namespace

Result<double> release_training_bytes(const Architecture& a, const ReleaseSetup& s) {
  const auto held = memory::training_memory(a, plan_of(s, s.gpus), {.fixed_bytes = context_bytes});
  return held ? Result<double>::ok(held->total()) : Result<double>::fail(held.error);
}

Result<RunFigures> estimate_run(const Architecture& a, const ReleaseSetup& s) {
  using Outcome = Result<RunFigures>;
  if (s.gpus > s.batch)
    return Outcome::fail("A step of " + std::to_string(s.batch) + " samples cannot be split over " +
                         std::to_string(s.gpus) + " GPUs: take fewer GPUs or a larger batch.");
  const auto held = release_training_bytes(a, s);
  if (!held) return Outcome::fail(held.error);
  RunFigures out;
  out.memory_bytes = *held;
  if (!(out.memory_bytes <= s.chip->memory_bytes))
    return Outcome::fail(
        "The training run does not fit into a GPU's memory: take a smaller model or micro-batch, more recomputation, "
        "or "
        "a larger chip.");
  const auto setup = release_step(a, s, s.gpus);
  if (!setup) return Outcome::fail(setup.error);
  const auto step = steady_step(*setup);
  if (!step) return Outcome::fail(step.error);
  out.step = *step;
  out.steps = s.samples / as_double(s.batch);
  out.time_s = out.steps * step->period_s;
  const auto less_data = steady_step(with_twice_the_loader(*setup)),
             less_training = steady_step(with_twice_the_training(*setup));
  if (!less_data || !less_training) return Outcome::fail(!less_data ? less_data.error : less_training.error);
  out.twice_data_s = out.steps * less_data->period_s;
  out.twice_training_s = out.steps * less_training->period_s;
  out.forward_s = setup->forward_s;
  out.backward_s = setup->backward_s;
  const auto idle = [&](StepCause cause) { return step->idle_s[static_cast<std::size_t>(cause)]; };
  out.loader_s = out.steps * (idle(StepCause::data) + idle(StepCause::copy));
  out.network_s = out.steps * idle(StepCause::communication);
  out.host_s = out.steps * (idle(StepCause::launch) + idle(StepCause::sync));
  out.kernels_s = out.steps * (step->forward_s + step->backward_s + step->optimizer_s);
  out.storage_ceiling =
      loader_ceilings(setup->loader).least_per_s() * as_double(setup->loader.samples) * as_double(s.gpus);
  // A profile on one node does the same work on each GPU.
  ReleaseSetup profiled = s;
  profiled.launch_s *= s.profile_slowdown;
  if (s.profile_one_node) {
    profiled.gpus = std::min<std::int64_t>(8, s.gpus);
    profiled.batch = local_samples(s, s.gpus) * profiled.gpus;
  }
  const auto slow = release_step(a, profiled, profiled.gpus);
  if (!slow) return Outcome::fail(slow.error);
  const auto recorded = steady_step(*slow);
  if (!recorded) return Outcome::fail(recorded.error);
  out.profiled_step_s = recorded->period_s;
  return Outcome::ok(std::move(out));
}

}  // namespace models::platform
