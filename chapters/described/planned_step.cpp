#include "chapters/described/planned_step.h"

#include <algorithm>
#include <utility>

#include "chapters/described/training_memory.h"
#include "chapters/described/training_software.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/shared_choices.h"
#include "models/memory/state_bytes.h"

namespace chapters {

using models::parallel::PlannerJob, models::parallel::PlanPoint;

const Choices& kept_width_choices() {
  static const Choices choices = {{"software", "as the software", "What the chosen software does."},
                                  {"bf16", "BF16", "2 bytes each."},
                                  {"fp32", "FP32", "4 bytes each."}};
  return choices;
}

const Choices& segment_choices() {
  static const Choices choices = {
      {"software", "as the software", "What its constants hold: nothing but for Megatron-DeepSpeed."},
      {"expandable", "expandable segments",
       "PyTorch's expandable_segments: a segment grows, and nothing is left over."},
      {"fixed", "fixed segments", "9 % over what is in use, as BLOOM's runs were measured."}};
  return choices;
}

void set_segments(Segments segments, models::parallel::PlannerStack& stack) {
  if (segments == Segments::expandable) stack.slack_share = 0;
  if (segments == Segments::fixed) stack.slack_share = models::parallel::fixed_segments_slack;
}

const Choices& context_by_choices() {
  static const Choices choices = {
      {"best", "the fastest", "Whichever leaves least uncovered."},
      {"ring", "a ring", "Keys and values go round while tiles are computed."},
      {"gather", "a gather", "Keys and values are gathered before attention, as Llama 3 was trained."},
      {"all_to_all", "all-to-all", "Tokens become heads and back again, as DeepSpeed-Ulysses does."}};
  static_assert(models::parallel::context_method_count == 3);
  return choices;
}

std::optional<models::parallel::ContextMethod> context_method_of(ContextBy by) {
  if (by == ContextBy::best) return std::nullopt;
  return static_cast<models::parallel::ContextMethod>(static_cast<int>(by) - 1);
}

void set_widths(KeptWidth gradients, KeptWidth moments, models::parallel::PlannerStack& stack) {
  using models::memory::OptimizerKind, models::memory::StateRecipe;
  if (gradients != KeptWidth::software) {
    const bool wide = gradients == KeptWidth::fp32;
    stack.gradient_bytes = wide ? 4 : 2;
    if (!wide || stack.recipe != StateRecipe::accumulate)
      stack.recipe = wide ? StateRecipe::megatron : StateRecipe::zero;
  }
  const bool narrow = moments == KeptWidth::bf16 || (moments == KeptWidth::software && stack.state_bytes.total() > 0);
  stack.state_bytes = {};
  if (narrow) stack.state_bytes = models::memory::bytes_per_parameter({}, stack.recipe, OptimizerKind::adamw_16bit);
}

void describe_step_format(Fields& f, PlannedStep& step) {
  shared::format(f, "format", step.format, training_format_choices(),
                 {.help = "What the matmuls inside the layers run in."});
}

void describe_plan_axes(Fields& f, PlannedStep& step) {
  shared::parallel_tensor(f, "tensor_parallel", step.tensor_parallel,
                          {.help = "GPUs that share every layer; a divisor of its heads."});
  shared::parallel_pipeline(f, "pipeline_parallel", step.pipeline_parallel,
                            {.help = "Stages that the layers are cut into."});
  f.integer("virtual_pipeline", step.virtual_pipeline, "Chunks per stage",
            "Pieces of layers that each stage interleaves; 1 is a plain pipeline.",
            {.range = {1, 64, Scale::log}, .typical = {1, 16}});
  shared::parallel_context(f, "context_parallel", step.context_parallel, {.help = "GPUs that share each sequence."});
  shared::parallel_expert(f, "expert_parallel", step.expert_parallel,
                          {.help = "GPUs that share the experts, where the model has them."});
  f.integer("zero_stage", step.zero_stage, "ZeRO stage",
            "1 splits optimizer and master weights over data parallel, 2 the gradients too, 3 the weights too.",
            {.range = {0, 3}});
}

void describe_plan_passes(Fields& f, PlannedStep& step, bool headline) {
  shared::micro_batch(f, "micro_batch", step.micro_batch,
                      {.label = "Micro-batch", .help = "Sequences that go through the model together on one replica."});
  f.choice("recompute", step.recompute, recomputed_part_choices(), "Keep",
           "Which activations wait for the backward pass; the rest is recomputed.", {.headline = headline});
}

void describe_sequence_parallel(Fields& f, PlannedStep& step) {
  f.toggle("sequence_parallel", step.sequence_parallel, "Sequence parallel",
           "Norms and residuals are split by tokens over the tensor-parallel GPUs.");
}

void describe_step_software(Fields& f, PlannedStep& step) {
  f.choice("software", step.software, training_software_choices(), "Software",
           "Whose habits: what it fuses, hides and reserves. Constants by software, docs/planner.md.");
}

models::Result<PlannerJob> planner_job(const PlannedStep& step, models::parallel::PlannerSite site) {
  using Out = models::Result<PlannerJob>;
  const auto model = find_model(step.model);
  if (!model) return Out::fail(model.error);
  const auto chip = find_chip(step.chip);
  if (!chip) return Out::fail(chip.error);
  site.gpus = step.gpus;
  const models::Network* network = catalog().network(step.network);
  if (!(site.network_bytes_per_s > 0) && network != nullptr)
    site.network_bytes_per_s = network->bytes_per_s_per_direction;
  PlannerJob job;
  job.format = models::format_from_id(step.format).value_or(models::Format::bf16);
  auto cluster = models::parallel::planner_cluster(**chip, site, job.format);
  if (!cluster) return Out::fail(cluster.error);
  job.architecture = (*model)->architecture;
  job.cluster = *cluster;
  job.stack = models::parallel::planner_stack(step.software);
  job.global_batch = step.global_batch;
  job.sequence = step.sequence;
  return Out::ok(std::move(job));
}

PlanPoint plan_point(const PlannedStep& step) {
  PlanPoint p;
  const auto narrow = [](std::int64_t n) { return static_cast<std::int32_t>(n); };
  p.tensor = narrow(step.tensor_parallel);
  p.pipeline = narrow(step.pipeline_parallel);
  p.virtual_pipeline = narrow(step.virtual_pipeline);
  p.context = narrow(step.context_parallel);
  p.expert = narrow(step.expert_parallel);
  p.micro_batch = narrow(step.micro_batch);
  const std::int64_t of_replica = step.tensor_parallel * step.pipeline_parallel * step.context_parallel;
  p.data = narrow(std::max<std::int64_t>(1, step.gpus / std::max<std::int64_t>(1, of_replica)));
  p.zero_stage = static_cast<std::uint8_t>(step.zero_stage);
  p.recompute = static_cast<std::uint8_t>(step.recompute);
  p.sequence_parallel = step.sequence_parallel && step.tensor_parallel > 1;
  const models::LanguageModel* model = catalog().model(step.model);
  const std::int64_t chunks = step.pipeline_parallel * step.virtual_pipeline;
  if (model != nullptr) p.ends_take_slots = step.virtual_pipeline > 1 && model->architecture.layers % chunks != 0;
  p.second_products = models::parallel::planner_stack(step.software).selective_by_operation;
  return p;
}

}  // namespace chapters
