#include <algorithm>
#include <limits>

#include "chapters/distributed/memory_split/lab.h"
#include "models/parallel/planner/planner_schedule.h"
#include "models/parallel/tensor/tensor_layer.h"

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

std::string moment_name(const models::memory::TrainingMemory& m, const std::vector<models::memory::GatherUnit>& units) {
  if (m.moment == models::memory::FullestMoment::loss) return "at the loss";
  if (m.moment == models::memory::FullestMoment::end_of_backward) return "at the end of the backward pass";
  const auto unit = static_cast<std::size_t>(std::max<std::ptrdiff_t>(m.whole.unit, 0));
  if (m.whole.unit < 0 || unit >= units.size()) return "in the backward pass of a layer";
  if (units[unit].kind == models::memory::UnitKind::head) return "where the output matrix's gradient is reduced";
  return "in the backward pass of layer " + std::to_string(units[unit].layer);
}

}  // namespace

Inputs in_force(const Inputs& set) {
  Inputs in = set;
  if (in.cuts == Cuts::as_set) return in;
  in.tensor_parallel = in.pipeline_parallel = in.virtual_pipeline = in.context_parallel = in.expert_parallel = 1;
  in.details.order = PassOrder::one_f_one_b;
  in.details.ends_take_slots = false;
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
      .fused_attention = in.fused_attention,
      .dropout = in.dropout,
      .loss = in.loss,
      .fused_gradients = in.fused_gradients,
      .parameters = in.parameters,
      .own_bytes = {in.weight_bytes, in.gradient_bytes, master, in.optimizer_bytes - master},
      .eager_gate = in.eager_gate,
      .offload = in.offload,
      .host_activations = in.host_activations,
      .gather_ahead = in.gather_ahead,
      .reshard = in.reshard,
      .whole_in_pipeline = in.whole_in_pipeline,
      .reduce_bytes = in.reduce_bytes,
      .bucket_bytes = in.bucket_bytes,
  };
  if (models::Status done = put_details(setting->architecture, in.details, setting->plan); !done)
    return models::Result<TrainingCase>::fail(std::move(done.error));
  setting->options = {.slack_share = in.slack / 100, .fixed_bytes = in.fixed_bytes};
  return setting;
}

namespace {

void fill_peak(const TrainingCase& s, const Run& run, Outputs& out) {
  const models::memory::HeldBytes& states = out.memory.states;
  out.optimizer_bytes = states[MemoryOwner::master] + states[MemoryOwner::optimizer];
  out.total_bytes = states.total();
  out.peak_bytes = out.memory.total();
  out.chip_bytes = s.chip->memory_bytes;
  out.free_bytes = out.chip_bytes - out.peak_bytes;
  out.fits = out.free_bytes >= 0;
  const SplitStep& alone = run.split.steps.front();
  out.alone_bytes = alone.fullest_bytes;
  out.states_times = alone.gpus.front().states.total() / out.total_bytes;
  if (!(out.total_bytes > 0)) out.states_times = std::numeric_limits<double>::quiet_NaN();
  out.saved_times = out.alone_bytes / out.peak_bytes;
  out.whole_bytes = out.memory.whole.total();
  out.work_bytes = out.memory.held[MemoryOwner::activations] + out.memory.held[MemoryOwner::logits];
  out.host_bytes = out.memory.host.total();
  const double each = models::memory::gathered_bytes_each(s.architecture, s.plan);
  for (const auto& unit : run.units) {
    out.largest_unit_bytes = std::max(out.largest_unit_bytes, each * unit.parameters);
    if (unit.kind == models::memory::UnitKind::layer)
      out.layer_unit_bytes = std::max(out.layer_unit_bytes, each * unit.parameters);
  }
  out.fullest_moment = moment_name(out.memory, run.units);
}

void fill_cluster(const TrainingCase& s, const Run& run, Outputs& out) {
  out.gpus = run.split.gpus;
  out.cluster_bytes = out.chip_bytes * static_cast<double>(out.gpus);
  const double share = out.memory.trained / out.memory.parameters;
  out.traffic = models::parallel::zero_traffic(s.plan, share).total();
  out.traffic_bytes = models::parallel::zero_traffic_bytes(s.architecture, s.plan, out.memory.parameters, share);
}

void fill_tables(const Run& run, Outputs& out) {
  double before = out.alone_bytes;
  for (const SplitStep& step : run.split.steps) {
    out.cuts.push_back(
        {cut_name(step), step.fullest_bytes, before - step.fullest_bytes, step.fullest_bytes <= out.chip_bytes});
    before = step.fullest_bytes;
  }
  for (std::size_t i = 0; i < run.split.stages.size(); ++i) {
    const models::memory::TrainingMemory& m = run.split.stages[i];
    out.stages.push_back({.stage = run.split.stage_of[i],
                          .states_bytes = m.states.total(),
                          .activations_bytes = m.held[MemoryOwner::activations],
                          .whole_bytes = m.whole.total(),
                          .peak_bytes = m.total(),
                          .layers_held = m.layers_held});
  }
}

/// The peak of the fullest stage against replicas, for each stage of ZeRO; offloaded where that stage of ZeRO allows
/// it.
void sweep_replicas(const Inputs& in, models::parallel::KeptSchedules& schedules, Run& run) {
  for (std::int64_t n = 1; n <= 16384; n *= 2) {
    run.replicas.push_back(static_cast<double>(n));
    for (std::int64_t zero = 0; zero <= 3; ++zero) {
      Inputs other = in;
      other.data_parallel = n;
      other.zero_stage = zero;
      const bool allowed = zero >= (in.offload == models::memory::Offload::parameters ? 3 : 1);
      if (!allowed) other.offload = models::memory::Offload::none;
      double peak = std::numeric_limits<double>::quiet_NaN();
      if (const auto s = read_setting(other)) {
        models::memory::TrainingPlan plan = s->plan;
        plan.stage = run.split.stage_of[run.split.fullest];
        plan.in_flight = schedules.in_flight(plan);
        if (const auto m = models::memory::training_memory(s->architecture, plan, s->options)) peak = m->total();
      }
      run.peak_by_zero[static_cast<std::size_t>(zero)].push_back(peak);
    }
  }
}

}  // namespace

Computed<Outputs, Run> compute(const Inputs& in, models::parallel::KeptSchedules& schedules, bool facts_alone) {
  const auto setting = read_setting(in);
  if (!setting) return {.facts = {.reason = setting.error}};
  const TrainingCase& s = *setting;
  auto split = models::parallel::memory_split(s.architecture, s.plan, s.options, schedules);
  if (!split) return {.facts = {.reason = split.error}};
  Outputs out;
  Run run{.split = std::move(*split)};
  out.memory = run.split.stages[run.split.fullest];
  models::memory::TrainingPlan at = s.plan;
  at.stage = run.split.stage_of[run.split.fullest];
  at.in_flight = schedules.in_flight(at);
  run.units = models::memory::gather_units(s.architecture, at);
  run.tied = s.architecture.tied && s.plan.pipeline == 1;
  run.gathers = models::memory::gathers_units(s.plan);
  if (!facts_alone) {
    if (auto moments = models::memory::step_moments(s.architecture, at, s.options)) run.moments = std::move(*moments);
    sweep_replicas(in_force(in), schedules, run);
  }
  fill_peak(s, run, out);
  fill_cluster(s, run, out);
  fill_tables(run, out);
  out.calculators = calculators_of(in, s, out);
  return {.facts = std::move(out), .run = std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::distributed::memory_split
