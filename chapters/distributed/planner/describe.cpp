#include "chapters/described/training_memory.h"
#include "chapters/distributed/planner/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::distributed::planner {
namespace {

const Choices formats = {{"bf16", "BF16", "All products in 16 bits."},
                         {"fp8", "FP8", "Products inside the layers in 8 bits; attention and logits stay in 16."},
                         {"fp4", "FP4", "Products inside the layers in 4 bits; attention and logits stay in 16."}};

const Choices softwares = {
    {"megatron_core", "Megatron Core", "2024 and later: flash attention, communication mostly hidden."},
    {"megatron_2022", "Megatron, 2022", "Sequence parallelism, unfused attention, gradients wait for the end."},
    {"megatron_2021", "Megatron, 2021", "Unfused attention, gradients wait for the end of the backward pass."},
    {"megatron_2020", "Megatron, 2020", "As of 2020: tensor and data parallelism alone."},
    {"megatron_deepspeed", "Megatron-DeepSpeed", "As it trained BLOOM in 2022."},
    {"megatron_golden", "Megatron Core, deterministic", "As its own tests run it."},
    {"deepspeed_zero3", "DeepSpeed ZeRO-3, 2021", "As Narayanan et al. measured it beside Megatron."},
    {"fsdp_eager", "PyTorch FSDP", "Without a compiler, as of 2023."},
    {"fsdp_compiled", "PyTorch FSDP2, compiled", "As torchtitan runs it."},
    {"internevo", "InternEvo", "As of 2023."},
    {"nanotron", "nanotron", "Version 0.5."},
    {"xla", "JAX with XLA", "As of 2024."},
    {"primus", "Primus", "On ROCm."},
    {"megatron_2023", "Megatron Core, no overlap", "Without overlapped tensor parallelism, as in 2023."}};
static_assert(models::parallel::stack_count == 14);

void describe_filters(Fields& f, Inputs& in) {
  f.group("Only these");
  f.integer("max_tensor", in.max_tensor,
            {.label = "Tensor at most",
             .help = "Plans whose layers are shared by more GPUs are left out.",
             .lo = 1,
             .hi = 8,
             .scale = Scale::log,
             .typical_lo = 1,
             .typical_hi = 8});
  f.integer("max_pipeline", in.max_pipeline,
            {.label = "Stages at most",
             .help = "Plans with more stages are left out.",
             .lo = 1,
             .hi = 128,
             .scale = Scale::log,
             .typical_lo = 1,
             .typical_hi = 64});
  f.integer("max_zero", in.max_zero,
            {.label = "ZeRO at most",
             .help = "Plans that split more than this stage of ZeRO are left out.",
             .lo = 0,
             .hi = 3});
  f.toggle("context_plans", in.context_plans,
           {.label = "Context parallel too", .help = "Whether plans may split sequences over GPUs."});
  f.toggle("recompute_plans", in.recompute_plans,
           {.label = "Recomputation too", .help = "Whether plans may run layers again in the backward pass."});
  f.real("keep_free_bytes", in.keep_free_bytes,
         {.label = "Keep free",
          .unit = "B",
          .help = "Of each GPU's memory: CUDA context, communication buffers, fragments of the allocator.",
          .lo = 0,
          .hi = 64e9,
          .typical_lo = 0,
          .typical_hi = 16e9});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The job");
  shared::model(f, "model", in.model, {.help = "What is trained."});
  shared::chip(f, "chip", in.chip, {.help = "Its memory is the wall, its peaks and links set the times."});
  shared::cluster_chips(f, "gpus", in.gpus, {.label = "GPUs", .help = "All of them train this one model."});
  f.integer("global_batch", in.global_batch,
            {.label = "Global batch",
             .help = "Sequences of one optimizer step, over all GPUs.",
             .lo = 1,
             .hi = 65536,
             .scale = Scale::log,
             .typical_lo = 64,
             .typical_hi = 4096,
             .headline = true});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of each sequence."});
  shared::format(f, "format", in.format, formats, {.help = "What the products inside the layers run in."});
  f.group("Your plan");
  shared::parallel_tensor(f, "tensor_parallel", in.tensor_parallel, {.help = "GPUs that share every layer."});
  shared::parallel_pipeline(f, "pipeline_parallel", in.pipeline_parallel,
                            {.help = "Stages that the layers are cut into."});
  f.integer("virtual_pipeline", in.virtual_pipeline,
            {.label = "Chunks a stage",
             .help = "Pieces of layers that each stage interleaves; 1 is a plain pipeline.",
             .lo = 1,
             .hi = 64,
             .scale = Scale::log,
             .typical_lo = 1,
             .typical_hi = 16});
  shared::parallel_context(f, "context_parallel", in.context_parallel, {.help = "GPUs that share each sequence."});
  shared::parallel_expert(f, "expert_parallel", in.expert_parallel,
                          {.help = "GPUs that share the experts, where the model has them."});
  f.integer(
      "zero_stage", in.zero_stage,
      {.label = "ZeRO stage",
       .help = "1 splits optimizer and master weights over data parallel, 2 the gradients too, 3 the weights too.",
       .lo = 0,
       .hi = 3});
  shared::batch(f, "micro_batch", in.micro_batch,
                {.label = "Micro-batch", .help = "Sequences that go through the model together on one replica."});
  f.choice("recompute", in.recompute, recompute_choices(),
           {.label = "Keep",
            .help = "Which activations wait for the backward pass; the rest is computed again.",
            .headline = true});
  f.toggle(
      "sequence_parallel", in.sequence_parallel,
      {.label = "Sequence parallel", .help = "Norms and residuals are split by tokens over the tensor-parallel GPUs."});
  f.group("Software and network");
  f.choice("software", in.software, softwares,
           {.label = "Software",
            .help = "Whose habits: what it fuses, hides and reserves. Constants by software, docs/planner.md."});
  shared::network(f, "network", in.network, {.help = "The port of each GPU between nodes."});
  describe_filters(f, in);
}

void describe(Fields& f, PlanRow& r) {
  f.text("plan", r.plan, {.label = "Plan", .help = "Tensor, context, pipeline, expert and data parallel."});
  f.text("details", r.details, {.label = "Details", .help = "Micro-batches, chunks, ZeRO, recomputation."});
  f.real("step_s", r.step_s, {.label = "Step", .unit = "s", .help = "One optimizer step."});
  f.real("memory_bytes", r.memory_bytes, {.label = "Memory", .unit = "B", .help = "Of the fullest GPU."});
  f.real("mfu", r.mfu, {.label = "MFU", .unit = "%", .help = "Model flops over the peak."});
  f.real("later", r.later, {.label = "Longer than the best", .unit = "%", .help = "By how much its step is longer."});
}

void describe(Fields& f, Outputs& o) {
  constexpr std::string_view no_plan = "No plan fits this memory.", no_run = "Your plan cannot run.";
  f.group("Your plan");
  f.real("step_time_s", o.yours.step_s,
         {.label = "Step",
          .unit = "s",
          .headline = true,
          .may_be_missing = true,
          .absent = no_run,
          .formula = "micro-batches x slowest stage + bubble + exposed communication + optimizer"});
  f.real("mfu", o.mfu,
         {.label = "MFU",
          .unit = "%",
          .help = "Causal attention counted at half, recomputation not counted.",
          .headline = true,
          .may_be_missing = true,
          .absent = no_run,
          .formula = "model flops / (step x GPUs x peak of the format)",
          .source = "Chowdhery et al. 2022, appendix B, with causal attention at half"});
  f.real("memory_bytes", o.yours.memory_bytes,
         {.label = "Memory a GPU",
          .unit = "B",
          .help = "On the stage that needs most.",
          .headline = true,
          .may_be_missing = true,
          .absent = no_run,
          .formula = "states + activations in flight + spike + buffers"});
  f.toggle("fits", o.fits, {.label = "Fits", .help = "Its memory is within the chip's, less what is kept free."});
  f.real("plan_rank", o.plan_rank,
         {.label = "Rank",
          .help = "By time alone: a plan beyond the wall is given the place that it would have.",
          .headline = true,
          .may_be_missing = true,
          .absent = no_run,
          .formula = "1 + plans that fit and are faster"});
  f.real("behind_best", o.behind_best,
         {.label = "Longer than the best",
          .unit = "%",
          .may_be_missing = true,
          .absent = "No plan fits this memory, or yours cannot run.",
          .formula = "step / best step - 1"});
  f.real("tokens_per_s", o.tokens_per_s,
         {.label = "Tokens a second",
          .unit = "tokens/s",
          .may_be_missing = true,
          .absent = no_run,
          .formula = "batch x sequence / step"});
  f.text("plan_problem", o.plan_problem, {.label = "Why it cannot run", .help = "Of your plan; empty where it can."});
  f.group("All plans");
  f.integer("plans_total", o.plans_total,
            {.label = "Plans that can run", .help = "Priced, whether or not they fit.", .lo = 0, .hi = 1e9});
  f.integer("plans_fit", o.plans_fit, {.label = "Plans that fit", .help = "Within the memory.", .lo = 0, .hi = 1e9});
  f.real("best_step_time_s", o.best_step_time_s,
         {.label = "Best step",
          .unit = "s",
          .may_be_missing = true,
          .absent = no_plan,
          .formula = "least step time of all plans that fit"});
  f.real("best_mfu", o.best_mfu,
         {.label = "Its MFU", .unit = "%", .may_be_missing = true, .absent = no_plan, .formula = "as of yours"});
  f.real("best_memory_bytes", o.best_memory_bytes,
         {.label = "Its memory", .unit = "B", .may_be_missing = true, .absent = no_plan, .formula = "as of yours"});
  f.text("best_plan", o.best_plan, {.label = "Best plan", .help = "The fastest that fits; empty where none does."});
  f.text("runner_up", o.runner_up, {.label = "Runner-up", .help = "The second fastest that fits."});
  f.real("runner_up_lost_s", o.runner_up_lost_s,
         {.label = "It lost",
          .unit = "s",
          .may_be_missing = true,
          .absent = "Fewer than two plans fit.",
          .formula = "its step - best step"});
  f.real("near_best", o.near_best,
         {.label = "Within 5 %",
          .may_be_missing = true,
          .absent = no_plan,
          .formula = "plans that fit whose step is at most 1.05 of the best"});
  f.real("beyond_step_s", o.beyond_step_s,
         {.label = "Were there no wall",
          .unit = "s",
          .may_be_missing = true,
          .absent = "No plan beyond the wall is faster.",
          .formula = "least step time of all plans"});
  f.real("beyond_memory_bytes", o.beyond_memory_bytes,
         {.label = "It would take",
          .unit = "B",
          .may_be_missing = true,
          .absent = "No plan beyond the wall is faster.",
          .formula = "its memory"});
  f.group("Seconds of your step");
  using models::parallel::PlanCause;
  const auto part = [&](std::string_view key, PlanCause cause, std::string_view label, std::string_view help) {
    f.real(key, o.yours.parts[cause],
           {.label = label, .unit = "s", .help = help, .may_be_missing = true, .absent = no_run});
  };
  part("products_s", PlanCause::products, "Products", "Matrix products of the slowest stage.");
  part("attention_s", PlanCause::attention, "Attention", "Scores, softmax and values.");
  part("elements_s", PlanCause::elements, "Element-wise", "Norms, activation functions, casts, the loss.");
  part("recompute_s", PlanCause::recompute, "Recomputed", "What the backward pass runs again.");
  part("tensor_s", PlanCause::tensor, "Tensor parallel", "Its communication, as far as nothing hides it.");
  part("context_s", PlanCause::context, "Context parallel", "Keys and values that attention waits for, and merging.");
  part("expert_s", PlanCause::expert, "Expert parallel", "Tokens on their way to experts and back.");
  part("pipeline_s", PlanCause::pipeline, "Between stages", "Transfers that nothing hides.");
  part("bubble_s", PlanCause::bubble, "Bubble", "Filling and draining the pipeline.");
  part("data_s", PlanCause::data, "Data parallel", "Gradients and weights that nothing hides.");
  part("optimizer_s", PlanCause::optimizer, "Optimizer", "Reading and writing states.");
  part("other_s", PlanCause::other, "Host and stragglers", "The loop of the host, waiting for the slowest node.");
  f.group("Bytes of your fullest GPU");
  using models::memory::MemoryOwner;
  const auto bytes = [&](std::string_view key, MemoryOwner owner, std::string_view label) {
    f.real(key, o.held[owner],
           {.label = label,
            .unit = "B",
            .help = "On your plan's fullest stage, at its fullest moment.",
            .may_be_missing = true,
            .absent = no_run});
  };
  bytes("weights_bytes", MemoryOwner::weights, "Weights");
  bytes("gradients_bytes", MemoryOwner::gradients, "Gradients");
  bytes("master_bytes", MemoryOwner::master, "Master weights");
  bytes("optimizer_bytes", MemoryOwner::optimizer, "Moments");
  bytes("activations_bytes", MemoryOwner::activations, "Activations");
  bytes("logits_bytes", MemoryOwner::logits, "Logits");
  bytes("temporary_bytes", MemoryOwner::temporary, "Temporary");
  bytes("buffers_bytes", MemoryOwner::buffers, "Buffers");
  bytes("slack_bytes", MemoryOwner::slack, "Slack");
  f.group("The fastest that fit");
  f.table("plans", o.plans, {.label = "Plans", .help = "The fastest forty that fit.", .max_items = 64});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {.id = "distributed/planner",
       .title = "Planner",
       .question = "Which plan is fastest, and what does it have to fit through?",
       .job = true},
      compute, arrange, draw);
}

}  // namespace chapters::distributed::planner
