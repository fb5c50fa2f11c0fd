#include "models/parallel/planner/planner_price.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/base/integer_math.h"
#include "models/memory/operation_times.h"
#include "models/parallel/planner/planner_data.h"
#include "models/training/adapters.h"
#include "models/transformer/flops.h"

namespace models::parallel {
namespace {

using memory::MemoryOwner;
using memory::TrainingPlan;

/// The part of forward or backward work that the slowest stage does for one micro-batch.
struct StageTimes {
  PassTimes forward, backward, again;  ///< `again`: what the backward pass recomputes
  double total_s() const { return forward.total_s() + backward.total_s() + again.total_s(); }
};

/// Whether a forward and a backward pass of different micro-batches run beside each other.
bool runs_pairs(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::dualpipe || schedule == PipelineSchedule::dualpipe_v;
}

/// Experts' exchanges behind the work of a pair: what is longer than the work stays, and the multiprocessors that send
/// are missing from the work.
void hide_exchanges(const PlannerStack& stack, StageTimes& t) {
  const double sent_s =
      (t.forward.expert_s + t.backward.expert_s + t.again.expert_s) / std::max(stack.expert_exposed, 1e-9);
  if (!(sent_s > 0)) return;
  const double slower = 1 / (1 - stack.exchange_multiprocessors);
  for (PassTimes* pass : {&t.forward, &t.backward, &t.again}) {
    pass->products_s *= slower;
    pass->pair_weights_s *= slower;
    pass->attention_s *= slower;
    pass->elements_s *= slower;
  }
  const double work_s = t.forward.work_s() + t.backward.work_s() + t.again.work_s();
  const double left = std::max(0.0, 1 - work_s / sent_s) / std::max(stack.expert_exposed, 1e-9);
  for (PassTimes* pass : {&t.forward, &t.backward, &t.again}) pass->expert_s *= left;
}

PassSplit split_of(const StageTimes& t, const TrainingPlan& p) {
  // Of a product's backward pass half is the gradient of its weights; beside frozen ones the adapters have some.
  const double weight_s = p.frozen ? t.backward.pair_weights_s : t.backward.products_s / 2;
  return {.forward_s = t.forward.total_s(),
          .input_s = t.backward.total_s() + t.again.total_s() - weight_s,
          .weight_s = weight_s};
}

StageTimes stage_times(const PlannerStages::Group& g, const TrainingPlan& p, const MicroBatchTimes& times) {
  StageTimes out;
  for (std::size_t i = 0; i < times.kinds.size(); ++i) {
    const double n = g.memory.counts[i];
    if (n == 0) continue;
    out.forward += times.kinds[i].forward * n;
    out.backward += times.kinds[i].backward * n;
    if (p.recompute == Recompute::full) out.again += times.kinds[i].forward * n;
    if (p.recompute == Recompute::selective) out.again += times.kinds[i].selective(p) * n;
  }
  if (g.first) out.backward += times.embedding;
  if (g.last) out.backward += times.head;
  return out;
}

}  // namespace

std::string_view step_cause_name(PlanCause cause) {
  constexpr std::array<std::string_view, plan_cause_count> names{
      "products",         "attention",           "element-wise",       "recompute",       "tensor parallel",
      "context parallel", "expert parallel",     "pipeline transfers", "pipeline bubble", "data parallel",
      "optimizer",        "host and stragglers", "copies to the host"};
  return names[static_cast<std::size_t>(cause)];
}

PlannerStages planner_stages(const Architecture& a, const TrainingPlan& plan) {
  PlannerStages out;
  TrainingPlan p = plan;
  for (p.stage = 0; p.stage < p.pipeline; ++p.stage) {
    PlannerStages::Group g;
    g.memory = memory::stage_memory(a, p);
    g.stage = p.stage;
    const memory::StageEnds ends = memory::stage_ends(p);
    g.first = ends.first;
    g.last = ends.last;
    if (!out.groups.empty() && !g.first && !g.last) {
      PlannerStages::Group& before = out.groups.back();
      if (!before.first && !before.last && before.memory.layers == g.memory.layers) {
        before.alike += 1;
        continue;
      }
    }
    out.groups.push_back(std::move(g));
  }
  return out;
}

double kept_input_bytes(Format format) {
  if (format == Format::fp8) return 1 + 1.0 / 32;
  if (format == Format::fp4) return 0.5 + 1.0 / 16;
  return 0;
}

TrainingPlan planned(const PlannerJob& job, TrainingPlan p) {
  p.sequence = job.sequence;
  p.micro_batches = std::max<std::int64_t>(1, job.global_batch / std::max<std::int64_t>(1, p.data * p.batch));
  p.fused_attention = job.stack.fused_attention;
  p.dropout = job.stack.dropout;
  p.recipe = job.stack.recipe;
  p.loss = job.stack.sharded_loss && p.tensor > 1 ? memory::LossKind::eager_sharded : job.stack.loss;
  p.gathered_inputs = job.stack.gathered_inputs;
  p.kept_outputs = job.stack.kept_outputs;
  p.fused_gradients = job.stack.fused_gradients;
  p.every_second_product = job.stack.selective_by_operation;
  p.kept_input_bytes = kept_input_bytes(job.format);
  p.own_bytes = job.stack.state_bytes;
  p.step_gradients = job.stack.step_gradients && p.zero_stage > 0;
  p.whole_in_pipeline = job.stack.whole_in_pipeline;
  set_adapters(job.adapters, p);
  return p;
}

void set_adapters(const PlannerAdapters& adapters, TrainingPlan& p) {
  p.frozen = adapters.rank > 0;
  p.adapter_rank = adapters.rank;
  p.adapter_targets = adapters.targets;
  p.frozen_bytes = adapters.frozen_bytes;
}

std::uint8_t small_modules(const Architecture& a) {
  using memory::bit;
  using memory::RecomputeModule;
  const auto small = static_cast<std::uint8_t>(bit(RecomputeModule::norms) | bit(RecomputeModule::activation));
  return a.has_latent() ? static_cast<std::uint8_t>(small | bit(RecomputeModule::latent_up)) : small;
}

std::string adapters_problem(const PlannerJob& job) { return adapters_problem(job.architecture, job.adapters); }

std::string adapters_problem(const Architecture& architecture, const PlannerAdapters& asked) {
  const double rank = asked.rank;
  if (!(rank > 0)) return {};
  double narrowest = 0;
  for (const adapters::TargetMatrix& m : adapters::target_matrices(architecture, asked.targets)) {
    const double side = std::min(m.inputs, m.outputs);
    narrowest = narrowest > 0 ? std::min(narrowest, side) : side;
  }
  if (!(narrowest > 0)) return "This model has no matrices of these names: put adapters on all linear layers.";
  if (rank > narrowest)
    return "Adapters of rank " + std::to_string(std::llround(rank)) +
           " add nothing to a matrix whose smaller side is " + std::to_string(std::llround(narrowest)) +
           "; take a smaller rank.";
  return {};
}

namespace {

/// The stages of a plan: the slowest, the one with most parameters, and the work of all together.
struct StageSums {
  StageTimes slowest;
  PassSplit sum;
  const PlannerStages::Group *slowest_group = nullptr, *largest_group = nullptr;
  double slowest_s = -1;
};

StageSums sum_stages(const PlannerJob& job, const TrainingPlan& p, const MicroBatchTimes& times,
                     const PlannerStages& stages) {
  StageSums out;
  for (const PlannerStages::Group& g : stages.groups) {
    StageTimes t = stage_times(g, p, times);
    if (runs_pairs(p.schedule)) hide_exchanges(job.stack, t);
    const PassSplit split = split_of(t, p);
    out.sum.forward_s += split.forward_s * g.alike;
    out.sum.input_s += split.input_s * g.alike;
    out.sum.weight_s += split.weight_s * g.alike;
    if (split.total_s() > out.slowest_s) {
      out.slowest_s = split.total_s();
      out.slowest = t;
      out.slowest_group = &g;
    }
    if (out.largest_group == nullptr || g.memory.parameters.total() > out.largest_group->memory.parameters.total())
      out.largest_group = &g;
  }
  return out;
}

/// Notes the passes of the slowest stage and of the others.
void note_passes(const TrainingPlan& p, const StageSums& all, StepWork& out) {
  const double directions = p.schedule == PipelineSchedule::dualpipe ? 2 : 1;
  const double others = std::max(1.0, as_double(p.pipeline - 1));
  const PassSplit slowest = split_of(all.slowest, p);
  const auto mean = [&](double sum, double one) { return (sum - one) / others / directions; };
  out.slowest_pass = {slowest.forward_s / directions, slowest.input_s / directions, slowest.weight_s / directions};
  out.other_pass = {.forward_s = mean(all.sum.forward_s, slowest.forward_s),
                    .input_s = mean(all.sum.input_s, slowest.input_s),
                    .weight_s = mean(all.sum.weight_s, slowest.weight_s)};
  out.slowest_stage = all.slowest_group->stage;
}

/// Seconds in which the busiest stage waits for the others.
double bubble_of(const TrainingPlan& p, const StageSums& all, const PassSplit& other, PlannerSchedules& schedules) {
  if (p.schedule == PipelineSchedule::one_f_one_b)
    return (all.sum.total_s() - all.slowest_s) / as_double(p.virtual_pipeline);
  return schedules.bubble_s(p, other);
}

}  // namespace

StepWork step_work(const PlannerJob& job, const TrainingPlan& p, const MicroBatchTimes& times,
                   const PlannerStages& stages, PlannerSchedules& schedules) {
  const PlannerCluster& c = job.cluster;
  const StageSums all = sum_stages(job, p, times, stages);
  const StageTimes& slowest = all.slowest;
  // A rank of DualPipe has a stage of each direction, and half of the micro-batches go through each.
  const double directions = p.schedule == PipelineSchedule::dualpipe ? 2 : 1;
  const double m = as_double(p.micro_batches) / directions, stage_count = as_double(p.pipeline);
  PassTimes pass = slowest.forward;
  pass += slowest.backward;
  StepWork out;
  StepParts& s = out.parts;
  s[PlanCause::products] = m * pass.products_s;
  s[PlanCause::attention] = m * pass.attention_s;
  s[PlanCause::elements] = m * pass.elements_s;
  s[PlanCause::recompute] = m * slowest.again.work_s();
  s[PlanCause::tensor] = m * (pass.tensor_s + slowest.again.tensor_s);
  s[PlanCause::context] = m * (pass.context_s + slowest.again.context_s);
  s[PlanCause::expert] = m * (pass.expert_s + slowest.again.expert_s);
  if (p.pipeline > 1) {
    note_passes(p, all, out);
    s[PlanCause::bubble] = bubble_of(p, all, out.other_pass, schedules);
    const AllReduceLinks links = planner_links(c);
    const bool inside = p.tensor * p.context * p.data * 2 <= c.gpus_per_node || c.gpus <= c.gpus_per_node;
    const double send = times.boundary_bytes / (inside ? links.inside_bytes_per_s : links.between_bytes_per_s) +
                        (inside ? links.inside_hop_s : links.between_hop_s);
    const double crossings = m * directions * as_double(memory::chunks_of_model(p)) / stage_count;
    s[PlanCause::pipeline] = 2 * send * (crossings * job.stack.pipeline_exposed + (stage_count - 1));
  }
  const double work_s = m * (pass.work_s() + slowest.again.work_s());
  s[PlanCause::other] = job.stack.step_s + work_s * times.slowest_share;
  const PlannerStages::Group& at = *all.slowest_group;
  out.stage = {.forward_s = slowest.forward.total_s(),
               .backward_s = slowest.backward.total_s() + slowest.again.total_s(),
               .head_forward_s = at.last ? times.head_forward_s : 0,
               .head_backward_s = at.last ? times.head.total_s() - times.head_forward_s : 0,
               .first = at.first,
               .last = at.last};
  out.slowest = &at.memory;
  out.largest = &all.largest_group->memory.parameters;
  out.context_method = times.context_method;
  return out;
}

void bytes_beside_states(const PlannerJob& job, const TrainingPlan& p, const memory::MicroBatchMemory& micro,
                         const PlannerStages& stages, PlannerSchedules& schedules, std::vector<double>& out) {
  out.clear();
  TrainingPlan at = p;
  const std::vector<double>* held_by_stage = schedules.in_flight_of_stages(p);
  const double held_by_all = held_by_stage != nullptr ? 0 : schedules.in_flight(p, 0);
  for (const PlannerStages::Group& g : stages.groups) {
    at.stage = g.stage;
    const auto place = static_cast<std::size_t>(g.stage);
    at.in_flight = held_by_stage == nullptr ? held_by_all : place < held_by_stage->size() ? (*held_by_stage)[place] : 0;
    const memory::TrainingMemory held = memory::training_memory_of(
        job.architecture, at, {.slack_share = job.stack.slack_share, .fixed_bytes = job.stack.reserve_bytes}, micro,
        g.memory);
    out.push_back(held.held.total() - (1 + job.stack.slack_share) * held.states.total());
  }
}

namespace {

/// An optimizer on the host (Ren et al. 2021, ZeRO-Offload): each GPU's own part of the gradients goes down behind the
/// last backward pass, the host reads and writes its states, and 16-bit weights come back.
double host_optimizer_s(const PlannerCluster& c, const TrainingPlan& p, const memory::BytesPerParameter& each,
                        const StepWork& work) {
  const memory::HeldBytes there = memory::offloaded_bytes(p, each, *work.largest);
  const double owned = each.optimizer > 0 ? there[MemoryOwner::optimizer] / each.optimizer : 0;
  const double width = memory::workload_of(p).weight_bytes, copy_s = owned * width / c.host_link_bytes_per_s;
  // Gradients are read in FP32, the optimizer's own states read and written.
  const double touched = owned * (4 + 2 * (each.master + each.optimizer));
  return std::max(0.0, copy_s - work.stage.backward_s) + touched / c.host_memory_bytes_per_s + copy_s;
}

/// What the layers keep goes to the host behind their forward pass and comes back before their backward pass, at the
/// slower of PCIe and the host's memory, beside the arithmetic: what is longer than that waits, in every micro-batch.
/// Without a pipeline the two layers that have room on the GPU need not leave it.
double host_copies_s(const PlannerCluster& c, const TrainingPlan& p, const memory::MicroBatchMemory& micro,
                     const StepWork& work) {
  double kept = 0, largest = 0;
  for (std::size_t i = 0; i < micro.kinds.size(); ++i) {
    if (!(work.slowest->counts[i] > 0)) continue;
    const double one = micro.kinds[i].memory.kept(p.recompute);
    kept += work.slowest->counts[i] * one;
    largest = std::max(largest, one);
  }
  if (p.pipeline == 1) kept = std::max(0.0, kept - 2 * largest);
  const double one_way_s = kept / std::min(c.host_link_bytes_per_s, c.host_memory_bytes_per_s);
  return as_double(p.micro_batches) *
         (std::max(0.0, one_way_s - work.stage.forward_s) + std::max(0.0, one_way_s - work.stage.backward_s));
}

}  // namespace

PricedPlan price_plan(const PlannerJob& job, const TrainingPlan& p, const StepWork& work,
                      const memory::MicroBatchMemory& micro, const PlannerStages& stages,
                      std::span<const double> beside_states) {
  const PlannerCluster& c = job.cluster;
  PricedPlan out;
  out.plan = p;
  out.context_method = work.context_method;
  out.parts = work.parts;
  double most = -1;
  for (std::size_t i = 0; i < stages.groups.size(); ++i) {
    const PlannerStages::Group& g = stages.groups[i];
    const double states = memory::state_bytes(p, micro.per_parameter, g.memory.parameters).total();
    const double held = beside_states[i] + (1 + job.stack.slack_share) * states;
    if (held <= most) continue;
    most = held;
    out.plan.stage = g.stage;
  }
  out.memory_bytes = most;
  StepParts& s = out.parts;
  s[PlanCause::data] = data_parallel_s(job, p, *work.slowest, work.stage);
  if (p.offload == memory::Offload::none) {
    const memory::HeldBytes states = memory::trained_state_bytes(p, micro.per_parameter, *work.largest);
    s[PlanCause::optimizer] =
        memory::optimizer_traffic_bytes(states) / (c.memory_bandwidth_bytes_per_s * c.curve.memory_share);
  } else {
    s[PlanCause::optimizer] = host_optimizer_s(c, p, micro.per_parameter, work);
  }
  if (p.host_activations) s[PlanCause::host] = host_copies_s(c, p, micro, work);
  out.step_s = s.total_s();
  out.bubble_share = s[PlanCause::bubble] / out.step_s;
  out.fits = out.memory_bytes <= c.memory_bytes;
  return out;
}

PricedPlan price_plan(const PlannerJob& job, const TrainingPlan& p, const MicroBatchTimes& times,
                      const memory::MicroBatchMemory& micro, const PlannerStages& stages, PlannerSchedules& schedules) {
  std::vector<double> beside;
  bytes_beside_states(job, p, micro, stages, schedules, beside);
  PricedPlan out = price_plan(job, p, step_work(job, p, times, stages, schedules), micro, stages, beside);
  out.plan.in_flight = schedules.in_flight(p, out.plan.stage);
  return out;
}

Result<PricedPlan> price_plan(const PlannerJob& job, const TrainingPlan& plan) {
  using Outcome = Result<PricedPlan>;
  if (std::string problem = planner_problem(job, plan); !problem.empty()) return Outcome::fail(std::move(problem));
  PlannerSchedules schedules;
  return Outcome::ok(price_plan(job, plan, micro_batch_times(job, plan),
                                memory::micro_batch_memory(job.architecture, plan),
                                planner_stages(job.architecture, plan), schedules));
}

double planner_mfu(const PlannerJob& job, double step_s) {
  const double tokens = as_double(job.global_batch) * as_double(job.sequence);
  const double peak = std::max(job.cluster.peak_flops_per_s, job.cluster.fast_peak_flops_per_s);
  double flops = megatron_flops_per_token(job.architecture, as_double(job.sequence));
  // Frozen weights have no gradients of their own: a third of their products, attention's not among them.
  if (job.adapters.rank > 0) flops -= megatron_flops_per_token(job.architecture, 0) / 3;
  return flops * tokens / (step_s * peak * as_double(job.cluster.gpus));
}

}  // namespace models::parallel
