#include <algorithm>
#include <limits>

#include "chapters/distributed/memory_split/lab.h"

namespace chapters::distributed::memory_split {
namespace {

using models::memory::MemoryOwner, models::parallel::SplitAxis, models::parallel::SplitStep;

std::string cut_name(const SplitStep& step) {
  const auto times = [](const char* what, std::int64_t n) { return what + std::string(" ") + std::to_string(n); };
  switch (step.axis) {
    case SplitAxis::alone:
      return "data parallel alone";
    case SplitAxis::tensor:
      return times("tensor", step.plan.tensor);
    case SplitAxis::sequence:
      return "sequence parallel";
    case SplitAxis::pipeline:
      return times("pipeline", step.plan.pipeline);
    case SplitAxis::context:
      return times("context", step.plan.context);
    case SplitAxis::expert:
      return times("expert", step.plan.expert);
    case SplitAxis::zero1:
      return "ZeRO-1: optimizer";
    case SplitAxis::zero2:
      return "ZeRO-2: gradients";
    case SplitAxis::zero3:
      return "ZeRO-3: weights";
    case SplitAxis::offload:
      return "offload";
  }
  return {};
}

std::string moment_name(const Outputs& out) {
  const models::memory::TrainingMemory& m = out.memory;
  if (m.moment == models::memory::FullestMoment::loss) return "at the loss";
  if (m.moment == models::memory::FullestMoment::end_of_backward) return "at the end of the backward pass";
  const auto unit = static_cast<std::size_t>(std::max<std::ptrdiff_t>(m.whole.unit, 0));
  if (m.whole.unit < 0 || unit >= out.units.size()) return "in the backward pass of a layer";
  if (out.units[unit].kind == models::memory::UnitKind::head) return "where the output matrix's gradient is reduced";
  return "in the backward pass of layer " + std::to_string(out.units[unit].layer);
}

}  // namespace

Inputs in_force(const Inputs& set) {
  Inputs in = set;
  if (in.cuts == Cuts::as_set) return in;
  in.tensor_parallel = in.pipeline_parallel = in.virtual_pipeline = in.context_parallel = in.expert_parallel = 1;
  return in;
}

models::Result<TrainingCase> read_setting(const Inputs& set) {
  const Inputs in = in_force(set);
  auto setting = training_case(in.model, in.chip);
  if (!setting) return setting;
  // Of the optimizer's bytes four are FP32 master weights where the weights themselves have fewer.
  const double master = in.weight_bytes < 4 && in.optimizer_bytes >= 4 ? 4 : 0;
  setting->plan = {
      .batch = in.batch,
      .sequence = in.sequence,
      .micro_batches = in.micro_batches,
      .tensor = in.tensor_parallel,
      .pipeline = in.pipeline_parallel,
      .virtual_pipeline = in.virtual_pipeline,
      .data = in.data_parallel,
      .context = in.context_parallel,
      .expert = in.expert_parallel,
      .sequence_parallel = in.sequence_parallel && in.tensor_parallel > 1,
      .zero_stage = in.zero_stage,
      .recompute = in.recompute,
      .loss = in.loss,
      .fused_gradients = in.fused_gradients,
      .parameters = in.parameters,
      .own_bytes = {in.weight_bytes, in.gradient_bytes, master, in.optimizer_bytes - master},
      .eager_gate = in.eager_gate,
      .offload = in.offload,
      .gather_ahead = in.gather_ahead,
      .reshard = in.reshard,
      .reduce_bytes = in.reduce_bytes,
      .bucket_bytes = in.bucket_bytes,
  };
  setting->options = {.fixed_bytes = in.fixed_bytes};
  return setting;
}

Outputs compute(const Inputs& in) {
  const auto setting = read_setting(in);
  if (!setting) return {.reason = setting.error};
  Outputs out;
  const TrainingCase& s = *setting;
  auto split = models::parallel::memory_split(s.architecture, s.plan, s.options);
  if (!split) {
    out.reason = split.error;
    return out;
  }
  out.split = std::move(*split);
  out.memory = out.split.stages[out.split.fullest];
  models::memory::TrainingPlan at = s.plan;
  at.stage = out.split.stage_of[out.split.fullest];
  out.units = models::memory::gather_units(s.architecture, at);
  if (auto moments = models::memory::step_moments(s.architecture, at, s.options)) out.moments = std::move(*moments);
  const models::memory::HeldBytes& states = out.memory.states;
  out.weights_bytes = states[MemoryOwner::weights];
  out.gradients_bytes = states[MemoryOwner::gradients];
  out.optimizer_bytes = states[MemoryOwner::master] + states[MemoryOwner::optimizer];
  out.total_bytes = states.total();
  out.peak_bytes = out.memory.total();
  out.chip_bytes = s.chip->memory_bytes;
  out.free_bytes = out.chip_bytes - out.peak_bytes;
  out.fits = out.free_bytes >= 0;
  out.alone_bytes = out.split.steps.front().fullest_bytes;
  out.states_times = out.split.steps.front().gpus.front().states.total() / out.total_bytes;
  if (!(out.total_bytes > 0)) out.states_times = std::numeric_limits<double>::quiet_NaN();
  out.saved_times = out.alone_bytes / out.peak_bytes;
  out.whole_bytes = out.memory.whole.total();
  out.host_bytes = out.memory.host.total();
  const double each = models::memory::gathered_bytes_each(s.architecture, s.plan);
  for (const auto& unit : out.units) {
    out.largest_unit_bytes = std::max(out.largest_unit_bytes, each * unit.parameters);
    if (unit.kind == models::memory::UnitKind::layer)
      out.layer_unit_bytes = std::max(out.layer_unit_bytes, each * unit.parameters);
  }
  out.cluster_bytes = out.chip_bytes * static_cast<double>(out.split.gpus);
  out.traffic = models::parallel::zero_traffic(s.plan).total();
  out.traffic_bytes = models::parallel::zero_traffic_bytes(s.architecture, s.plan, out.memory.parameters);
  out.fullest_moment = moment_name(out);
  double before = out.alone_bytes;
  for (const SplitStep& step : out.split.steps) {
    out.cuts.push_back(
        {cut_name(step), step.fullest_bytes, before - step.fullest_bytes, step.fullest_bytes <= out.chip_bytes});
    before = step.fullest_bytes;
  }
  for (std::size_t i = 0; i < out.split.stages.size(); ++i) {
    const models::memory::TrainingMemory& m = out.split.stages[i];
    out.stages.push_back({.stage = out.split.stage_of[i],
                          .states_bytes = m.states.total(),
                          .activations_bytes = m.held[MemoryOwner::activations],
                          .whole_bytes = m.whole.total(),
                          .peak_bytes = m.total(),
                          .layers_held = m.layers_held});
  }
  out.calculators = calculators_of(in, s, out);
  return out;
}

}  // namespace chapters::distributed::memory_split
