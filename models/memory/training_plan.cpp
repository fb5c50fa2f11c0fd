#include "models/memory/training_plan.h"

#include <algorithm>

#include "models/base/integer_math.h"

namespace models::memory {

double loss_bytes_per_logit(LossKind kind) {
  switch (kind) {
    case LossKind::eager:
      return 12;
    case LossKind::parallel:
      return 6;
    case LossKind::fused:
      return 2;
    case LossKind::chunked:
      return 12 / loss_chunks;
    case LossKind::eager_sharded:
      return 16;
  }
  return 0;
}

namespace {

/// What a plan asks of pipeline, context and experts that no framework can lay out.
std::string split_problem(const Architecture& a, const TrainingPlan& p) {
  const auto text = [](std::int64_t n) { return std::to_string(n); };
  if (p.virtual_pipeline > 1 && p.pipeline == 1)
    return "Virtual stages interleave the stages of a pipeline, and there is one stage; set virtual stages to 1.";
  if (p.virtual_pipeline > 1 && p.schedule != PipelineSchedule::breadth_first && p.micro_batches % p.pipeline != 0)
    return "An interleaved pipeline needs micro-batches in groups of its " + text(p.pipeline) + " stages, and " +
           text(p.micro_batches) + " are no multiple of it; choose one.";
  if (p.virtual_pipeline > 1 && p.schedule != PipelineSchedule::one_f_one_b &&
      p.schedule != PipelineSchedule::interleaved && !loops_over_chunks(p.schedule))
    return "Virtual stages are run by 1F1B, interleaved zero bubble and breadth-first alone; set them to 1.";
  if (p.virtual_pipeline == 1 && p.pipeline > 1 && loops_over_chunks(p.schedule))
    return "This order of passes runs several chunks per stage; set virtual stages to 2 or more.";
  if (p.context > 1 && p.sequence % (2 * p.context) != 0)
    return "Context parallel cuts each sequence into two pieces a GPU, and " + text(2 * p.context) +
           " pieces do not divide " + text(p.sequence) + " tokens; choose a multiple.";
  if (p.expert > 1 && a.moe.routed == 0) return "Expert parallel splits experts, and this model has none; set it to 1.";
  if (p.expert > 1 && a.moe.routed % p.expert != 0)
    return "Expert parallel " + text(p.expert) + " does not divide the " + text(a.moe.routed) +
           " experts; choose a divisor.";
  return {};
}

}  // namespace

std::string plan_problem(const Architecture& a, const TrainingPlan& p) {
  if (std::string problem = workload_problem(workload_of(p)); !problem.empty()) return problem;
  struct Count {
    const char* name;
    std::int64_t value, most = 1'000'000;
  };
  constexpr std::int64_t max_replicas = 2'147'483'648;  // a model that is cut nowhere has every GPU as a replica
  for (const Count& c : {Count{"Tensor parallel", p.tensor}, Count{"Pipeline stages", p.pipeline},
                         Count{"Virtual stages", p.virtual_pipeline}, Count{"Data parallel", p.data, max_replicas},
                         Count{"Context parallel", p.context}, Count{"Expert parallel", p.expert},
                         Count{"Micro-batches", p.micro_batches}})
    if (c.value < 1 || c.value > c.most)
      return std::string(c.name) + " is " + std::to_string(c.value) + "; from 1 to " +
             (c.most == max_replicas ? "2,147,483,648" : "1,000,000") + " is allowed.";
  const auto does_not_divide = [](const char* what, std::int64_t parts, const char* of, std::int64_t whole) {
    return std::string(what) + " " + std::to_string(parts) + " does not divide the " + std::to_string(whole) + " " +
           of + "; choose a divisor.";
  };
  if (a.heads % p.tensor != 0) return does_not_divide("Tensor parallel", p.tensor, "heads", a.heads);
  if (!a.has_latent() && a.kv_heads > 0 && p.tensor > a.kv_heads) {
    const std::string heads = std::to_string(a.kv_heads);
    return "Tensor parallel " + std::to_string(p.tensor) + " is more than the " + heads + " key and value head" +
           (a.kv_heads == 1 ? "" : "s") + ", and copies of a head are not counted here; choose " + heads +
           (a.kv_heads == 1 ? "." : " or fewer.");
  }
  if (!a.has_latent() && a.kv_heads > 0 && a.kv_heads % p.tensor != 0)
    return does_not_divide("Tensor parallel", p.tensor, "key and value heads", a.kv_heads);
  if (chunks_of_model(p) > a.layers + (p.ends_take_slots ? slots_of_ends(a) : 0))
    return "Pipeline times virtual stages is " + std::to_string(chunks_of_model(p)) + ", and there are " +
           std::to_string(a.layers) + " layers; choose fewer stages.";
  if (std::string problem = split_problem(a, p); !problem.empty()) return problem;
  if (a.moe.routed > 0 && p.expert > p.data * p.context * p.tensor)
    return "Expert parallel " + std::to_string(p.expert) + " needs as many GPUs next to each other, and there are " +
           std::to_string(p.data * p.context * p.tensor) + "; raise data parallel.";
  if (p.expert_tensor > 0) {
    if (a.moe.routed == 0) return "Expert tensor parallel cuts experts, and this model has none; leave it out.";
    if (p.tensor % p.expert_tensor != 0)
      return "Expert tensor parallel " + std::to_string(p.expert_tensor) + " does not divide tensor parallel " +
             std::to_string(p.tensor) + "; choose a divisor.";
    const std::int64_t ranks = p.data * p.context * p.tensor, each = p.expert_tensor * p.expert;
    if (ranks % each != 0)
      return "Expert parallel times expert tensor parallel is " + std::to_string(each) +
             ", which does not divide the " + std::to_string(ranks) + " GPUs of a stage; choose divisors.";
  }
  if (p.stage < 0 || p.stage >= p.pipeline)
    return "Stage " + std::to_string(p.stage + 1) + " is none of the " + std::to_string(p.pipeline) +
           " stages of the pipeline; choose one of them.";
  if (p.offload == Offload::parameters && p.zero_stage < 3)
    return "Weights are offloaded shard by shard, which is ZeRO-3; choose stage 3, or offload the optimizer alone.";
  if (p.offload == Offload::optimizer && p.zero_stage < 1)
    return "The optimizer is offloaded from ZeRO-1 on, where each GPU updates its own part; choose a stage.";
  if (p.gather_ahead < 0 || p.gather_ahead > 1024)
    return "Units gathered ahead are " + std::to_string(p.gather_ahead) + "; from 0 to 1,024 are allowed.";
  if (!(p.parameters >= 0 && p.parameters <= 1e15))
    return "The number of parameters is out of range; from 0 (as the model has) to 1e15 is allowed.";
  return {};
}

std::int64_t slots_of_ends(const Architecture& a) { return 2 + a.mtp_layers; }

std::int64_t chunks_of_model(const TrainingPlan& p) {
  return p.pipeline * (laid_as_v(p.schedule) ? 2 : p.virtual_pipeline);
}

namespace {

/// The chunks of the plan's stage, by their place in the model.
std::vector<std::int64_t> chunks_of_stage(const TrainingPlan& p) {
  const std::int64_t all = chunks_of_model(p);
  if (p.pipeline > 1 && (laid_as_v(p.schedule) || p.schedule == PipelineSchedule::dualpipe))
    return {p.stage, all - 1 - p.stage};
  std::vector<std::int64_t> out;
  for (std::int64_t chunk = 0; chunk < p.virtual_pipeline; ++chunk) out.push_back(chunk * p.pipeline + p.stage);
  return out;
}

}  // namespace

std::vector<std::array<std::int64_t, 2>> stage_layers(const Architecture& a, const TrainingPlan& p) {
  const std::int64_t before = p.ends_take_slots ? 1 : 0;
  const std::int64_t units = a.layers + (p.ends_take_slots ? slots_of_ends(a) : 0);
  const std::int64_t all = chunks_of_model(p), each = (units + all - 1) / all;
  const bool even = each * (all - 1) >= units;  // rounding up would leave a chunk empty
  const std::int64_t least = units / all, longer = units % all;
  const auto start = [&](std::int64_t chunk) {
    const std::int64_t first = even ? chunk * least + std::min(chunk, longer) : chunk * each;
    return std::clamp<std::int64_t>(first - before, 0, a.layers);
  };
  std::vector<std::array<std::int64_t, 2>> chunks;
  for (const std::int64_t chunk : chunks_of_stage(p)) chunks.push_back({start(chunk), start(chunk + 1)});
  return chunks;
}

StageEnds stage_ends(const TrainingPlan& p) {
  StageEnds out;
  for (const std::int64_t chunk : chunks_of_stage(p)) {
    out.first = out.first || chunk == 0;
    out.last = out.last || chunk == chunks_of_model(p) - 1;
  }
  return out;
}

Architecture with_layers(const Architecture& architecture, std::int64_t layers) {
  Architecture a = architecture;
  a.layers = layers;
  if (!a.layer_forms.empty()) a.layer_forms.resize(static_cast<std::size_t>(layers), architecture.layer_forms.back());
  return a;
}

Workload workload_of(const TrainingPlan& plan) {
  Workload w;
  w.phase = Phase::train;
  w.batch = plan.batch;
  const std::int64_t context = std::max<std::int64_t>(plan.context, 1);
  w.sequence = (plan.sequence + context - 1) / context;
  w.attention = AttentionFlops::causal;
  const double wide = plan.recipe == StateRecipe::fp32 ? 4 : 2;
  w.weight_bytes = wide;
  w.activation_bytes = wide;
  w.kv_bytes = wide;
  w.fused_attention = plan.fused_attention;
  return w;
}

std::string_view owner_name(MemoryOwner owner) {
  switch (owner) {
    case MemoryOwner::weights:
      return "weights";
    case MemoryOwner::gradients:
      return "gradients";
    case MemoryOwner::master:
      return "master weights";
    case MemoryOwner::optimizer:
      return "optimizer";
    case MemoryOwner::activations:
      return "activations";
    case MemoryOwner::logits:
      return "logits";
    case MemoryOwner::temporary:
      return "temporary";
    case MemoryOwner::buffers:
      return "buffers";
    case MemoryOwner::slack:
      return "slack";
  }
  return "";
}

}  // namespace models::memory
