#include "chapters/described/training_memory.h"

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/choices_in_order.h"

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
  static const Choices choices = choices_in_order<models::memory::OptimizerKind::sgd>(
      {{"adamw", "AdamW", "Two FP32 moments: 8 bytes per parameter."},
       {"adamw_8bit", "AdamW, 8-bit", "Two 8-bit moments and an FP32 scale for 256 of them: 2.03 bytes."},
       {"adafactor", "Adafactor",
        "One number a row and one a column of a matrix, and no first moment: a few thousandths of a byte."},
       {"lion", "Lion", "One FP32 moment: 4 bytes."},
       {"muon", "Muon", "One FP32 moment of the matrices in the layers, AdamW for embedding, output and norms."},
       {"sgd_momentum", "SGD with momentum", "One FP32 moment: 4 bytes."},
       {"sgd", "SGD", "Nothing is kept."}});
  return choices;
}

const Choices& loss_choices() {
  static const Choices choices = choices_in_order<models::memory::LossKind::chunked>(
      {{"eager", "eager, in FP32",
        "Log-softmax, its gradient and that of the logits, each whole in FP32: 12 bytes per logit."},
       {"parallel", "one FP32 copy", "Worked on in place, next to the 16-bit logits: 6 bytes, as Megatron-LM does."},
       {"fused", "fused in place",
        "The gradient overwrites the logits: 2 bytes, as the cross entropies of Transformer Engine and Liger do in "
        "place."},
       {"chunked", "in eight chunks", "An eighth of the rows at a time, each eagerly: 1.5 bytes."}});
  return choices;
}

const Choices& recompute_choices() {
  static const Choices choices = choices_in_order<models::Recompute::full>(
      {{"none", "all", "All activations are kept; with unfused attention the scores too."},
       {"selective", "all but the scores", "Scores, softmax and its dropout are recomputed."},
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
  f.choice("recompute", recompute, recompute_choices(), "Keep", "Which activations wait for the backward pass.",
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
