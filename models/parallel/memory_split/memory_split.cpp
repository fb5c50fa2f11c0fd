#include "models/parallel/memory_split/memory_split.h"

#include <algorithm>

#include "models/memory/gathered_units.h"

namespace models::parallel {

using memory::MemoryOwner;
using memory::Offload;
using memory::TrainingMemory;
using memory::TrainingPlan;

namespace {

SplitGpu gpu_of(const TrainingPlan& p, std::int64_t stage, std::int64_t inside) {
  SplitGpu g{.stage = stage};
  const std::int64_t each = p.tensor * p.context * p.data;
  g.rank = stage * each + inside;
  g.tensor = inside % p.tensor;
  g.context = inside / p.tensor % p.context;
  g.data = inside / (p.tensor * p.context);
  return g;
}

/// The plan with no axis but its shapes: every GPU holds the whole model. Its stage is 0.
TrainingPlan undivided(const TrainingPlan& p) {
  TrainingPlan q = p;
  q.tensor = q.pipeline = q.virtual_pipeline = q.context = q.expert = 1;
  q.stage = q.zero_stage = q.shard_group = 0;
  q.schedule = PipelineSchedule::one_f_one_b;
  q.in_flight = 0;
  q.ends_take_slots = q.step_gradients = false;
  q.data = gpus_of(p);
  q.sequence_parallel = false;
  q.offload = Offload::none;
  q.host_activations = false;
  return q;
}

/// Puts one axis of `to` into force; false where it changes nothing.
bool apply(SplitAxis axis, const TrainingPlan& to, TrainingPlan& p) {
  const TrainingPlan before = p;
  switch (axis) {
    case SplitAxis::alone:
      return true;
    case SplitAxis::tensor:
      p.tensor = to.tensor;
      break;
    case SplitAxis::sequence:
      p.sequence_parallel = to.sequence_parallel && to.tensor > 1;
      break;
    case SplitAxis::pipeline:
      p.pipeline = to.pipeline;
      p.virtual_pipeline = to.virtual_pipeline;
      p.schedule = to.schedule;
      p.ends_take_slots = to.ends_take_slots;
      break;
    case SplitAxis::context:
      p.context = to.context;
      break;
    case SplitAxis::expert:
      p.expert = to.expert;
      break;
    case SplitAxis::zero1:
    case SplitAxis::zero2:
    case SplitAxis::zero3:
      p.zero_stage =
          std::min(to.zero_stage, static_cast<std::int64_t>(axis) - static_cast<std::int64_t>(SplitAxis::alone) - 5);
      p.shard_group = to.shard_group;
      p.step_gradients = to.step_gradients;
      break;
    case SplitAxis::offload:
      p.offload = to.offload;
      p.host_activations = to.host_activations;
      break;
  }
  p.data = gpus_of(to) / (p.tensor * p.pipeline * p.context);
  return !(p == before);
}
static_assert(static_cast<int>(SplitAxis::zero1) == 6);

/// Kinds of the layers on a stage, in their order.
std::vector<LayerForm> forms_of(const Architecture& a, TrainingPlan p, std::int64_t stage) {
  p.stage = stage;
  std::vector<LayerForm> forms;
  for (const auto& [begin, end] : memory::stage_layers(a, p))
    for (std::int64_t layer = begin; layer < end; ++layer) forms.push_back(layer_form(a, layer));
  return forms;
}

}  // namespace

SplitGpu gpu_at(const TrainingPlan& p, std::int64_t rank) {
  const std::int64_t each = p.tensor * p.context * p.data;
  return gpu_of(p, rank / each, rank % each);
}

std::int64_t gpus_of(const TrainingPlan& p) { return p.tensor * p.pipeline * p.context * p.data; }

std::vector<SplitGpu> shown_gpus(const TrainingPlan& p, std::size_t most) {
  std::vector<SplitGpu> out;
  const auto count = static_cast<std::int64_t>(most);
  const std::int64_t each = p.tensor * p.context * p.data;
  if (p.pipeline >= count) {
    for (std::int64_t i = 0; i < count; ++i) out.push_back(gpu_of(p, i < count / 2 ? i : p.pipeline - count + i, 0));
    return out;
  }
  for (std::int64_t stage = 0; stage < p.pipeline; ++stage)
    for (std::int64_t i = 0; i < std::min(each, count / p.pipeline); ++i) out.push_back(gpu_of(p, stage, i));
  return out;
}

OwnerPart owner_part(const TrainingPlan& p, MemoryOwner owner, const SplitGpu& g) {
  OwnerPart part;
  const auto cut = [&](std::int64_t parts, std::int64_t index) {
    part.index = part.index * parts + index;
    part.parts *= parts;
  };
  const bool work = owner == MemoryOwner::activations || owner == MemoryOwner::logits;
  // A rank of DualPipe has a stage of each direction, and the rank opposite the same two.
  const bool both_ways = p.pipeline > 1 && p.schedule == PipelineSchedule::dualpipe;
  if (!work && both_ways) cut(p.pipeline / 2, std::min(g.stage, p.pipeline - 1 - g.stage));
  if (!work && !both_ways) cut(p.pipeline, g.stage);
  if (!work || p.sequence_parallel) cut(p.tensor, g.tensor);
  const auto shards = static_cast<std::int64_t>(memory::zero_ranks(p));
  const auto zero = [&](std::int64_t from) {
    if (p.zero_stage >= from) cut(shards, (g.data * p.context + g.context) % shards);
  };
  if (owner == MemoryOwner::weights) zero(3);
  if (owner == MemoryOwner::gradients) zero(2);
  if (owner == MemoryOwner::master || owner == MemoryOwner::optimizer) zero(1);
  if (work) cut(p.context, g.context);
  return part;
}

namespace {

/// The traffic of a step that trains all.
ZeroTraffic whole_traffic(const TrainingPlan& p) {
  if (p.data * p.context <= 1) return {};
  const auto micro = static_cast<double>(p.micro_batches), shards = memory::zero_ranks(p);
  // Copies of the shards are summed: an all-reduce of a shard.
  const double copies = shards < static_cast<double>(p.data * p.context) ? 2 / shards : 0;
  if (memory::stays_whole(p)) return {.gathered = 1, .reduced = 1 + copies};
  if (p.zero_stage == 3) return {.gathered = micro * (p.reshard ? 2 : 1), .reduced = micro * (1 + copies)};
  if (p.zero_stage == 2) return {.gathered = 1, .reduced = micro * (1 + copies)};
  return p.zero_stage == 1 ? ZeroTraffic{.gathered = 1, .reduced = 1 + copies}
                           : ZeroTraffic{.gathered = 0, .reduced = 2};
}

}  // namespace

ZeroTraffic zero_traffic(const TrainingPlan& p, double trained_share) {
  const ZeroTraffic all = whole_traffic(p);
  // What is trained next to frozen weights is gathered with them.
  const double gathered = p.zero_stage < 3 ? trained_share : p.frozen ? 1 + trained_share : 1;
  return {.gathered = all.gathered * gathered, .reduced = all.reduced * trained_share};
}

double zero_traffic_bytes(const Architecture& a, const TrainingPlan& p, double parameters, double trained_share) {
  const ZeroTraffic t = zero_traffic(p, trained_share);
  const memory::BytesPerParameter kept = memory::bytes_per_parameter(a, p);
  if (p.zero_stage < 3) return (t.gathered * kept.weights + t.reduced * kept.gradients) * parameters;
  return (t.gathered * memory::gathered_bytes_each(a, p) + t.reduced * memory::reduced_bytes_each(a, p)) * parameters;
}

namespace {

/// The stages, and which holds most. Gives the sentence of one that cannot be counted, else nothing.
std::string count_stages(const Architecture& a, const TrainingPlan& plan, const memory::TrainingMemoryOptions& options,
                         KeptSchedules& schedules, MemorySplit& out) {
  // Stages: all of few, otherwise both ends and those whose layers are of other kinds than the ones before, since of
  // two with the same layers the earlier one holds more micro-batches.
  constexpr std::int64_t few = 16;
  const auto differs = [&](std::int64_t stage) { return forms_of(a, plan, stage) != forms_of(a, plan, stage - 1); };
  for (std::int64_t stage = 0; stage < plan.pipeline; ++stage)
    if (plan.pipeline <= few || stage < 2 || stage >= plan.pipeline - 2 || differs(stage)) {
      TrainingPlan p = plan;
      p.stage = stage;
      p.in_flight = schedules.in_flight(p);
      auto m = memory::training_memory(a, p, options);
      if (!m) return std::move(m.error);
      out.stage_of.push_back(stage);
      out.stages.push_back(std::move(*m));
    }
  for (std::size_t i = 0; i < out.stages.size(); ++i)
    if (out.stages[i].total() > out.stages[out.fullest].total()) out.fullest = i;
  return {};
}

}  // namespace

Result<MemorySplit> memory_split(const Architecture& a, const TrainingPlan& plan,
                                 const memory::TrainingMemoryOptions& options, KeptSchedules& schedules,
                                 std::size_t most_shown) {
  using Outcome = Result<MemorySplit>;
  if (std::string problem = memory::plan_problem(a, plan); !problem.empty()) return Outcome::fail(std::move(problem));
  if (std::string problem = schedule_problem(plan); !problem.empty()) return Outcome::fail(std::move(problem));
  constexpr double max_gpus = 2147483648.0;
  if (static_cast<double>(plan.tensor) * static_cast<double>(plan.pipeline) * static_cast<double>(plan.context) *
          static_cast<double>(plan.data) >
      max_gpus)
    return Outcome::fail("The plan takes more than 2,147,483,648 GPUs; choose smaller factors.");
  MemorySplit out;
  out.gpus = gpus_of(plan);
  out.shown = shown_gpus(plan, most_shown);
  if (std::string problem = count_stages(a, plan, options, schedules, out); !problem.empty())
    return Outcome::fail(std::move(problem));
  const std::int64_t fullest_stage = out.stage_of[out.fullest];
  if (most_shown >= 2 &&
      std::none_of(out.shown.begin(), out.shown.end(), [&](const SplitGpu& gpu) { return gpu.stage == fullest_stage; }))
    out.shown[most_shown / 2 - 1] = gpu_of(plan, fullest_stage, 0);

  TrainingPlan p = undivided(plan);
  for (std::size_t i = 0; i < split_axis_count; ++i) {
    const auto axis = static_cast<SplitAxis>(i);
    if (!apply(axis, plan, p)) continue;
    const bool zero = axis == SplitAxis::zero1 || axis == SplitAxis::zero2 || axis == SplitAxis::zero3;
    if (zero && p.data * p.context == 1) continue;  // there is nobody to split with
    SplitStep step{.axis = axis, .plan = p};
    for (const SplitGpu& gpu : out.shown) {
      TrainingPlan q = p;
      q.stage = q.pipeline > 1 ? gpu.stage : 0;
      q.in_flight = schedules.in_flight(q);
      const auto same =
          std::find_if(out.shown.begin(), out.shown.begin() + static_cast<std::ptrdiff_t>(step.gpus.size()),
                       [&](const SplitGpu& other) { return q.pipeline == 1 || other.stage == gpu.stage; });
      const auto at = static_cast<std::size_t>(same - out.shown.begin());
      if (at < step.gpus.size()) {
        step.gpus.push_back(step.gpus[at]);
      } else {
        auto m = memory::training_memory(a, q, options);
        if (!m) return Outcome::fail(std::move(m.error));
        step.gpus.push_back(std::move(*m));
      }
      step.fullest_bytes = std::max(step.fullest_bytes, step.gpus.back().total());
    }
    out.steps.push_back(std::move(step));
  }
  out.steps.back().fullest_bytes = out.stages[out.fullest].total();
  return Outcome::ok(std::move(out));
}

}  // namespace models::parallel
