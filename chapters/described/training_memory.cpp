#include "chapters/described/training_memory.h"

#include <algorithm>

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/choices_in_order.h"
#include "models/parallel/planner/planner_price.h"

namespace chapters {

using models::memory::MemoryOwner;

const Choices& state_recipe_choices() {
  static const Choices choices = choices_in_order<models::memory::StateRecipe::fp32>(
      {{"mixed", "mixed, FP32 master",
        "Weights 2, gradients 2, FP32 master 4, and the optimizer's moments: the ZeRO paper."},
       {"megatron", "FP32 gradients", "Weights 2, FP32 gradients 4, master 4, and the moments: Megatron-LM."},
       {"accumulate", "both gradients",
        "Weights 2, gradients 2 and an FP32 sum of them 4, master 4, and the moments: nanotron."},
       {"no_master", "no master", "Weights 2, gradients 2, and the moments: the optimizer updates 16-bit weights."},
       {"pure_bf16", "all in BF16", "Weights 2, gradients 2, and moments of 16 bits."},
       {"fp32", "all in FP32",
        "Weights 4, gradients 4, and the moments; activations take 4 bytes too, masks one. Fused attention is then a "
        "kernel that takes FP32, as PyTorch's memory-efficient one: FlashAttention takes 16 bits only."}});
  return choices;
}

const Choices& optimizer_choices() {
  static const Choices choices = choices_in_order<models::memory::OptimizerKind::adamw_16bit>(
      {{"adamw", "AdamW", "Two FP32 moments: 8 bytes per parameter."},
       {"adamw_8bit", "AdamW, 8-bit", "Two 8-bit moments and an FP32 scale for 256 of them: 2.03 bytes."},
       {"adafactor", "Adafactor",
        "One number per row and one per column of a matrix, and no first moment: a few thousandths of a byte."},
       {"lion", "Lion", "One FP32 moment: 4 bytes."},
       {"muon", "Muon", "One FP32 moment of the matrices in the layers, AdamW for embedding, output and norms."},
       {"sgd_momentum", "SGD with momentum", "One FP32 moment: 4 bytes."},
       {"sgd", "SGD", "Nothing is kept."},
       {"adamw_16bit", "AdamW, 16-bit", "Two BF16 moments: 4 bytes per parameter, as DeepSeek-V3 keeps them."}});
  return choices;
}

const Choices& loss_choices() {
  static const Choices choices = choices_in_order<models::memory::LossKind::eager_sharded>(
      {{"eager", "eager, in FP32",
        "Log-softmax, its gradient and that of the logits, each whole in FP32: 12 bytes per logit."},
       {"parallel", "one FP32 copy", "Worked on in place, next to the 16-bit logits: 6 bytes, as Megatron-LM does."},
       {"fused", "fused in place",
        "The gradient overwrites the logits: 2 bytes, as the cross entropies of Transformer Engine and Liger do in "
        "place."},
       {"chunked", "in eight chunks", "An eighth of the rows at a time, each eagerly: 1.5 bytes."},
       {"eager_sharded", "eager, split words",
        "Each tensor-parallel GPU has a part of the words; log-softmax, its exponentials and two gradients, whole in "
        "FP32: 16 bytes, as PyTorch's loss_parallel does."}});
  return choices;
}

const Choices& recompute_choices() {
  static const Choices choices = choices_in_order<models::Recompute::full>(
      {{"none", "all", "All activations are kept; with unfused attention the scores too."},
       {"selective", "all but the scores", "Scores, softmax and its dropout are recomputed."},
       {"full", "inputs of layers", "Every layer's forward pass is recomputed before its backward pass."}});
  return choices;
}

namespace {

using models::PipelineSchedule;

constexpr std::array<PipelineSchedule, 11> schedules_of_orders{
    PipelineSchedule::one_f_one_b, PipelineSchedule::gpipe,          PipelineSchedule::zb_h1,
    PipelineSchedule::zb_h2,       PipelineSchedule::zb_v,           PipelineSchedule::dualpipe,
    PipelineSchedule::dualpipe_v,  PipelineSchedule::interleaved_zb, PipelineSchedule::breadth_first,
    PipelineSchedule::v_half,      PipelineSchedule::v_min};

const Choices kept_input_choices = choices_in_order<KeptFormat::four_bits>(
    {{"wide", "16 bits", "As they are computed; 32 bits where all is in FP32."},
     {"eight_bits", "8 bits", "Training in FP8: a byte, and a byte of scale for 32 elements (MXFP8)."},
     {"four_bits", "4 bits", "Training in FP4: half a byte, and a byte of scale for 16 elements (NVFP4)."}});

/// From where on the orders other than 1F1B and GPipe are not written out.
constexpr std::int64_t max_ordered_stages = 128;

}  // namespace

const Choices& given_up_choices() {
  static const Choices choices = choices_in_order<GivenUp::second_products>(
      {{"attention", "scores", "Scores, softmax and values of unfused attention; fused attention keeps none."},
       {"norms", "norms", "What norms write."},
       {"activations", "activations", "What activation functions write."},
       {"latent", "MLA's up projections", "Queries, keys and values, made again from their latents; others have none."},
       {"block_alone", "the block", "All of the feed-forward or the experts but its input."},
       {"small", "norms and activations", "What norms and activation functions write, and MLA's up projections."},
       {"block", "those and the block", "The same, and all of the feed-forward or the experts but its input."},
       {"second_products", "every second matmul",
        "All but attention's result and what every second matmul writes, as torchtitan's option \"op\"."}});
  return choices;
}

const Choices& pass_order_choices() {
  static const Choices choices = choices_in_order<PassOrder::v_min>(
      {{"1f1b", "1F1B", "One forward, one backward; with chunks interleaved."},
       {"gpipe", "GPipe", "All forward passes, then all backward passes."},
       {"zb_h1", "ZB-H1", "Weight gradients apart, in the bubble; memory of 1F1B."},
       {"zb_h2", "ZB-H2", "Weight gradients apart, twice the memory of 1F1B."},
       {"zb_v", "ZB-V", "Two chunks per stage, folded, weight gradients in the bubble."},
       {"dualpipe", "DualPipe", "From both ends at once; two copies of the weights."},
       {"dualpipe_v", "DualPipe-V", "DualPipe folded: one copy of the weights, two chunks."},
       {"interleaved_zb", "Interleaved ZB", "Several chunks per stage, and weight gradients in the bubble."},
       {"breadth_first", "Breadth-first", "All micro-batches through a chunk, then all through the next."},
       {"v_half", "V-Half", "Two chunks per stage, folded: about half of 1F1B's memory."},
       {"v_min", "V-Min", "Two chunks per stage, folded: about a third of 1F1B's memory."}});
  return choices;
}

PipelineSchedule schedule_of(PassOrder order) { return schedules_of_orders[static_cast<std::size_t>(order)]; }
PassOrder order_of(PipelineSchedule schedule) {
  const auto at = std::find(schedules_of_orders.begin(), schedules_of_orders.end(), schedule);
  return at == schedules_of_orders.end() ? PassOrder::one_f_one_b
                                         : static_cast<PassOrder>(at - schedules_of_orders.begin());
}

std::uint8_t modules_given_up(const models::Architecture& a, GivenUp given_up) {
  using models::memory::RecomputeModule;
  const std::uint8_t small = models::parallel::small_modules(a);
  const std::uint8_t block = bit(a.moe.routed > 0 ? RecomputeModule::experts : RecomputeModule::feed_forward);
  switch (given_up) {
    case GivenUp::norms:
      return bit(RecomputeModule::norms);
    case GivenUp::activations:
      return bit(RecomputeModule::activation);
    case GivenUp::latent:
      return small & bit(RecomputeModule::latent_up);
    case GivenUp::block_alone:
      return block;
    case GivenUp::small:
      return small;
    case GivenUp::block:
      return small | block;
    default:
      return bit(RecomputeModule::core_attention);
  }
}

GivenUp given_up_of(std::uint8_t modules, bool second_products) {
  using models::memory::RecomputeModule;
  if (second_products) return GivenUp::second_products;
  const bool block = (modules & (bit(RecomputeModule::feed_forward) | bit(RecomputeModule::experts))) != 0;
  const bool norms = (modules & bit(RecomputeModule::norms)) != 0;
  const bool activations = (modules & bit(RecomputeModule::activation)) != 0;
  if (block) return norms ? GivenUp::block : GivenUp::block_alone;
  if (norms && activations) return GivenUp::small;
  if (norms) return GivenUp::norms;
  if (activations) return GivenUp::activations;
  return (modules & bit(RecomputeModule::core_attention)) != 0 ? GivenUp::attention : GivenUp::latent;
}

double kept_input_bytes(KeptFormat kept) {
  using models::Format;
  return models::parallel::kept_input_bytes(kept == KeptFormat::eight_bits  ? Format::fp8
                                            : kept == KeptFormat::four_bits ? Format::fp4
                                                                            : Format::bf16);
}

void describe_kept(Fields& f, PlanDetails& d) {
  f.choice("given_up", d.given_up, given_up_choices(), "Recomputed", "What is recomputed where it is not whole layers.",
           {.when = {"recompute", "selective"}});
  f.choice("kept_inputs", d.kept_inputs, kept_input_choices, "Inputs kept in",
           "The format in which matmuls keep what their weight gradients read.");
  f.toggle("gathered_inputs", d.gathered_inputs, "Gathered inputs kept",
           "Matmuls keep inputs that sequence parallelism gathered whole, as in PyTorch's DTensor; Megatron-LM keeps "
           "each GPU's part.",
           {.when = {"sequence_parallel", "true"}});
}

void describe_layout(Fields& f, PlanDetails& d, When cut) {
  f.choice("order", d.order, pass_order_choices(), "Order of the passes",
           "When each stage of the pipeline does which pass: it sets how many micro-batches are held at once.",
           {.when = cut});
  f.toggle("ends_take_slots", d.ends_take_slots, "Ends count as layers",
           "Embedding and loss take a layer's place each where layers are dealt to stages, as for Llama 3 405B.",
           {.when = cut});
  f.integer("shard_group", d.shard_group, "ZeRO splits over",
            "Replicas that share one copy of the states; the groups are copies of each other (hybrid sharding). 0: all "
            "replicas.",
            {.range = {0, 1'000'000, Scale::step}, .typical = {0, 1024}});
  f.toggle("step_gradients", d.step_gradients, "Gradients once more",
           "DeepSpeed's ZeRO-1 and 2 keep their part of the gradients once more, in FP32, for the optimizer.");
}

models::Status put_details(const models::Architecture& a, const PlanDetails& d, models::memory::TrainingPlan& p) {
  using models::Status;
  p.schedule = p.pipeline > 1 ? schedule_of(d.order) : PipelineSchedule::one_f_one_b;
  p.ends_take_slots = d.ends_take_slots && p.pipeline > 1;
  p.shard_group = d.shard_group;
  p.step_gradients = d.step_gradients && p.zero_stage > 0;
  p.modules = modules_given_up(a, d.given_up);
  p.every_second_product = d.given_up == GivenUp::second_products;
  p.kept_input_bytes = kept_input_bytes(d.kept_inputs);
  p.gathered_inputs = d.gathered_inputs;
  if (Status done = put_adapters(a, d.adapters, p); !done) return done;
  if (p.schedule == PipelineSchedule::one_f_one_b) return Status::ok();
  if (p.schedule != PipelineSchedule::gpipe && p.pipeline > max_ordered_stages)
    return Status::fail("Orders of passes other than 1F1B and GPipe are followed up to 128 stages, and there are " +
                        std::to_string(p.pipeline) + "; choose 1F1B, or fewer stages.");
  if (std::string problem = models::memory::plan_problem(a, p); !problem.empty())
    return Status::fail(std::move(problem));
  if (std::string problem = models::parallel::schedule_problem(p); !problem.empty())
    return Status::fail(std::move(problem));
  return Status::ok();
}

const Choices& recomputed_part_choices() {
  static const Choices choices = choices_in_order<models::Recompute::full>(
      {{"none", "all", "All activations are kept; with unfused attention the scores too."},
       {"selective", "all but some", "Parts of every layer are recomputed: which ones is set below."},
       {"full", "inputs of layers", "Every layer's forward pass is recomputed before its backward pass."}});
  return choices;
}

const OwnerLook& owner_look(MemoryOwner owner) {
  using widgets::Meaning;
  static constexpr std::array<OwnerLook, models::memory::memory_owner_count> looks{{
      {"weights", {}, true, "what the products multiply with"},
      {"gradients", Meaning::backward, false, "one per parameter, from the backward pass to the optimizer"},
      {"master", Meaning::optimizer, true, "FP32 weights that the optimizer updates"},
      {"moments", Meaning::optimizer, false, "what the optimizer remembers of each parameter"},
      {"activations", Meaning::forward, false, "kept by the forward pass for the backward pass"},
      {"logits", Meaning::forward, true, "of all tokens and words, with what the loss makes of them"},
      {"temporary", widgets::Tint::series(0), false, "made and freed while operations run"},
      {"buffers", Meaning::communication, false, "communication buckets, gathered layers, workspaces"},
      {"slack", Meaning::idle, true, "reserved by the allocator and not in use"},
  }};
  return looks[static_cast<std::size_t>(owner)];
}

void describe(Fields& f, models::memory::HeldBytes& held) {
  f.real("weights_bytes", held[MemoryOwner::weights], {"Weights", "B"},
         {.formula = "parameters x bytes of the recipe / splits"});
  f.real("gradients_bytes", held[MemoryOwner::gradients], {"Gradients", "B"},
         {.formula = "parameters x bytes of the recipe / splits"});
  f.real("master_bytes", held[MemoryOwner::master], {"Master weights", "B"},
         {.formula = "4 bytes per parameter in mixed recipes / splits"});
  f.real("optimizer_bytes", held[MemoryOwner::optimizer], {"Moments", "B"},
         {.formula = "parameters x bytes of the optimizer / splits"});
  f.real("activations_bytes", held[MemoryOwner::activations], {"Activations", "B"},
         "What all layers and micro-batches that are held at once keep.",
         {.source = "Korthikanti et al. 2022, or counted operation by operation"});
  f.real("logits_bytes", held[MemoryOwner::logits], {"Logits", "B"},
         "At the fullest moment; 0 where that is later, in a layer's backward pass.",
         {.formula = "tokens x vocabulary x bytes of the loss"});
  f.real("temporary_bytes", held[MemoryOwner::temporary], {"Temporary", "B"},
         "Gradients of activations and what else passes at that moment.");
  f.real("buffers_bytes", held[MemoryOwner::buffers], {"Buffers", "B"},
         "Communication buckets, gathered layers, fixed workspaces, and what the program keeps.");
  f.real("slack_bytes", held[MemoryOwner::slack], {"Slack", "B"}, {.formula = "share x all the rest"});
}

models::Result<TrainingCase> training_case(std::string_view model, std::string_view chip) {
  using Out = models::Result<TrainingCase>;
  const auto found = find_model(model);
  if (!found) return Out::fail(found.error);
  const auto device = find_chip(chip);
  if (!device) return Out::fail(device.error);
  return Out::ok({.architecture = (*found)->architecture, .chip = *device});
}

models::Result<TrainedOn> trained_on(std::string_view model, std::string_view chip,
                                     models::memory::StateRecipe recipe) {
  using Out = models::Result<TrainedOn>;
  const auto on = training_case(model, chip);
  if (!on) return Out::fail(on.error);
  const bool wide = recipe == models::memory::StateRecipe::fp32;
  const auto machine = models::machine_of(*on->chip, wide ? models::Format::fp32 : models::Format::bf16);
  if (!machine) return Out::fail(machine.error);
  return Out::ok({on->architecture, on->chip, *machine});
}

void describe_layers_again(Fields& f, std::string_view plan, std::int64_t& again, std::int64_t& piece,
                           std::string& letters, bool headline) {
  f.integer("again", again, "Layers", "How many of the first layers are recomputed.",
            {
                .range = {0, 128},
                .typical = {0, 32},
                .headline = headline,
                .when = {plan, "first"},
            });
  f.integer("piece", piece, "Layers per piece", "Those of a piece are there together when it is recomputed.",
            {.range = {1, 64, Scale::log}, .when = {plan, "pieces"}});
  f.text("letters", letters, "Letters",
         "One per layer: k kept, s without scores, r recomputed, c recomputed with the one before it.",
         {.when = {plan, "drawn"}, .max_bytes = 512});
}

void describe_loss(Fields& f, models::memory::LossKind& loss, bool headline) {
  f.choice("loss", loss, loss_choices(), "Loss", "How often the logits exist at once.", {.headline = headline});
}
void describe_recompute(Fields& f, models::Recompute& recompute) {
  f.choice("recompute", recompute, recomputed_part_choices(), "Keep", "Which activations wait for the backward pass.",
           {.headline = true});
}
void describe_states(Fields& f, models::memory::StateRecipe& recipe, models::memory::OptimizerKind& optimizer) {
  f.choice("recipe", recipe, state_recipe_choices(), "Recipe", "What is kept of every parameter.");
  f.choice("optimizer", optimizer, optimizer_choices(), "Optimizer", "What it remembers.");
}

void describe_roof_share(Fields& f, double& share) {
  f.real("roof_share", share, "Share of the roof",
         "The share of peak and bandwidth that kernels reach: it sets the times.", {.range = {0.1, 1}});
}

}  // namespace chapters
