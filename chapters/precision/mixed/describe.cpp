#include "chapters/precision/mixed/lab.h"

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::precision::mixed {
namespace {

const Choices recipes = choices_in_order<models::PrecisionRecipe::fp8>(
    {{"fp32", "FP32", "Everything in FP32, matmuls on the vector units."},
     {"tf32", "TF32", "FP32 in memory; matmuls round their inputs to 11 bits on the way into the tensor cores."},
     {"amp_bf16", "AMP BF16", "Matmuls and what lies between them in BF16, sums and the optimizer in FP32."},
     {"amp_fp16", "AMP FP16", "The same in FP16, with a loss scaler."},
     {"fp8", "FP8", "Matmuls of the layers in 8 bits; attention and the last matmul in BF16."}});
const Choices keepings = choices_in_order<models::StateKeeping::autocast>(
    {{"zero", "16-bit gradients", "Weights 2, gradients 2, FP32 master 4, moments 8: the ZeRO paper."},
     {"megatron", "FP32 gradients", "Weights 2, gradients 4, master 4, moments 8: Megatron-LM."},
     {"accumulate", "gradients in both", "Weights 2, gradients 2 and an FP32 sum of them 4, master 4, moments 8."},
     {"autocast", "FP32 and copies",
      "Weights 4, gradients 4, moments 8, and a 16-bit copy of the matmul weights while a step runs: torch.autocast "
      "over an FP32 model."}});
const Choices scalings = choices_in_order<models::Fp8Scaling::mx>(
    {{"delayed", "Delayed, per tensor", "From the largest values of earlier steps; E4M3 forward, E5M2 for gradients."},
     {"current", "Current, per tensor", "From the tensor itself: one more pass over it."},
     {"mx", "Blocks of 32 (MX)", "A power of two for every 32 values; E4M3 throughout."}});
const Choices recomputes = choices_in_order<models::Recompute::full>(
    {{"none", "None", "All activations are kept."},
     {"selective", "Selective: attention",
      "Scores, softmax and values are recomputed. Fused attention keeps none of them, so that only time changes."},
     {"full", "Full", "Every layer's input is kept, its forward pass is recomputed."}});
constexpr std::string_view roofline = "Williams, Waterman, Patterson, CACM 52(4), 2009";
constexpr std::string_view zero = "Rajbhandari et al., ZeRO, 2019, section 3.1; Megatron-LM";

}  // namespace

void describe(Fields& f, OperationRow& r) {
  f.text("name", r.figures.name, "Operation");
  f.text("part", r.part, "Kind");
  f.integer("count", r.figures.count, "Count");
  f.text("forward", r.forward, "Forward", "Operands of a matmul; what anything else computes in.");
  f.text("backward", r.backward, "Backward", "The same on the way back: of the incoming gradient.");
  f.text("result", r.result, "Writes");
  f.real("flops", r.figures.flops, {"Flops of one", "FLOP"});
  f.real("bytes", r.figures.bytes, {"Bytes of one", "B"});
  f.real("time_s", r.figures.time_s, {"Time of one", "s"});
  f.real("all_s", r.all_s, {"Time of all", "s"});
  f.real("share", r.share, {"Share of the step", "%"});
  f.text("why", r.why, "Why");
}
void describe(Fields& f, RecipeRow& r) {
  f.text("recipe", r.recipe, "Recipe");
  f.toggle("runs", r.runs, "Runs here", "The chip states a peak for its format.");
  f.real("time_s", r.step.time_s, {"Step", "s"});
  f.real("speedup", r.speedup, {"Against TF32", "\xC3\x97"},
         {.absent = "The chip has no TF32 unit, or does not run the recipe."});
  f.real("bytes_per_parameter", r.step.bytes_per_parameter, {"States per parameter", "B"});
  f.real("states_bytes", r.states_bytes, {"States", "B"});
  f.real("activations_bytes", r.step.memory.activations, {"Activations", "B"});
  f.real("logits_bytes", r.step.memory.logits, {"Logits", "B"});
  f.real("total_bytes", r.total_bytes, {"In all", "B"});
  f.text("note", r.note, "Note");
}

void describe(Fields& f, Inputs& in) {
  f.group("The recipe");
  f.choice("recipe", in.recipe, recipes, "Recipe", "Which the layer shows; the bars compare all of them.",
           {.headline = true});
  f.choice("keeping", in.keeping, keepings, "States of AdamW",
           "What the 16-bit and 8-bit recipes keep of each parameter.");
  f.choice("scaling", in.scaling, scalings, "FP8 scales", "Where the scales of 8-bit operands come from.");
  f.toggle("fp8_primary", in.fp8_primary, "FP8 weights only",
           "No 16-bit weights next to the 8-bit ones, where there is an FP32 master.");
  f.group("What is trained");
  shared::model(f, "model", in.model, {.help = "Published configuration."});
  shared::chip(f, "chip", in.chip, {.help = "Dense peaks and memory bandwidth as specified."});
  shared::micro_batch(f, "batch", in.batch, {.help = "Sequences of a step on one chip."});
  shared::sequence(f, "sequence", in.sequence, {.help = "Length of each."});
  f.group("Memory");
  shared::parallel_shards(
      f, "shards", in.shards,
      {.label = "States split over",
       .help =
           "Chips among which weights, gradients and optimizer are split (FSDP, ZeRO-3). Communication is not in."});
  f.choice("recompute", in.recompute, recomputes, "Recomputation",
           "What the backward pass recomputes to spare memory.");
}

namespace {

void describe_step(Fields& f, Outputs& o) {
  using models::StepPart;
  const auto part = [&](StepPart p) -> double& { return o.step.part_s[static_cast<std::size_t>(p)]; };
  f.group("Time");
  f.real("time_s", o.step.time_s, {"Time of the step", "s"},
         "All operations one after the other on one chip: a lower bound. Communication is not in.",
         {.headline = true,
          .formula = "sum of count x max(flops / peak of the format, bytes / bandwidth)",
          .source = roofline});
  f.real("tokens_per_s", o.tokens_per_s, {"Tokens per second", "tokens/s"}, {.formula = "batch x sequence / time"});
  f.group("Against other formats");
  f.real("speedup_fp32", o.speedup_fp32, {"Against FP32", "\xC3\x97"},
         "FP32 on the vector units, as before tensor cores.",
         {.absent = "The chip states no FP32 peak.", .formula = "time of FP32 / time"});
  f.real("speedup_tf32", o.speedup_tf32, {"Against TF32", "\xC3\x97"},
         {.headline = true, .absent = "The chip has no TF32 unit.", .formula = "time of TF32 / time"});
  f.real("speedup_bf16", o.speedup_bf16, {"Against AMP BF16", "\xC3\x97"},
         {.headline = true, .absent = "The chip has no BF16 unit.", .formula = "time of AMP BF16 / time"});
  f.real("peak_ratio", o.peak_ratio, {"Peak against FP32", "\xC3\x97"}, "What the matmuls alone would gain.",
         {.absent = "The chip states no FP32 peak.", .formula = "peak of the format / FP32 peak"});
  f.group("Where the time goes");
  f.real("products_s", part(StepPart::products), {"... matmuls", "s"}, "Those of the layers and the last one.");
  f.real("attention_s", part(StepPart::attention), {"... attention", "s"}, "Fused attention, forward and backward.");
  f.real("vector_s", part(StepPart::vector), {"... norms and the like", "s"},
         "Embedding, norms, rotation, activations and the loss: bound by memory.");
  f.real("casts_s", part(StepPart::casts), {"... casts and scales", "s"},
         "Making operands of the short format, where that is a pass of its own.");
  f.real("optimizer_s", part(StepPart::optimizer), {"... optimizer", "s"},
         "AdamW, and what loss scaling or FP32 accumulation add to it.");
  f.real("product_share", o.product_share, {"Matmuls' share of the time", "%"}, {.formula = "matmuls / time"});
  f.real("recipe_flops_share", o.recipe_flops_share, {"Arithmetic in the recipe's format", "%"},
         "The share of all matmuls, attention included. FP8 leaves attention and the last matmul in 16 bits.");
  f.group("States");
  f.real("bytes_per_parameter", o.step.bytes_per_parameter, {"States per parameter", "B"},
         {.formula = "weights + copies + gradients + master + moments", .source = zero});
  f.real("weights_bytes", o.step.memory.weights, {"Weights", "B"},
         {.formula = "bytes per parameter x parameters / chips"});
  f.real("copies_bytes", o.step.memory.copies, {"Copies for the matmuls", "B"},
         "Two in 8 bits, one for each direction they are read in; one in 16 under autocast.");
  f.real("gradients_bytes", o.step.memory.gradients, {"Gradients", "B"},
         {.formula = "bytes per parameter x parameters / chips"});
  f.real("master_bytes", o.step.memory.master, {"FP32 master", "B"}, {.formula = "4 x parameters / chips"});
  f.real("moments_bytes", o.step.memory.moments, {"Adam's moments", "B"}, {.formula = "8 x parameters / chips"});
  f.real("states_bytes", o.states_bytes, {"All states", "B"}, "On one chip.");
  f.group("Activations");
  f.real("activations_bytes", o.step.memory.activations, {"Activations", "B"},
         "Kept for the backward pass; fused attention, no dropout.",
         {.formula = "tokens x bytes per token, or layer inputs and one layer when recomputed"});
  f.real("activation_bytes_per_token", o.step.activation_bytes_per_token, {"Activations per token", "B/token"},
         "What all layers keep, nothing recomputed.");
  f.real("logits_bytes", o.step.memory.logits, {"Logits", "B"},
         "As the last matmul writes them, and in FP32 for the loss.",
         {.formula = "tokens x vocabulary x (element + 4)"});
}

void describe_totals(Fields& f, Outputs& o) {
  f.group("Memory in all");
  f.real("total_bytes", o.total_bytes, {"Memory", "B"}, {.headline = true, .formula = "states + activations + logits"});
  f.real("chip_share", o.chip_share, {"Share of the chip's memory", "%"}, {.formula = "memory / capacity of the chip"});
  f.toggle("fits", o.fits, "Fits");
  f.group("Saved");
  f.real("states_over_fp32", o.states_over_fp32, {"States against FP32", "\xC3\x97"},
         {.formula = "bytes per parameter / 16"});
  f.real("activations_over_bf16", o.activations_over_bf16, {"Activations against BF16", "\xC3\x97"},
         {.absent = "The chip has no BF16 unit.", .formula = "bytes per token / those of AMP BF16"});
  f.real("total_over_fp32", o.total_over_fp32, {"Memory against FP32", "\xC3\x97"},
         {.absent = "The chip states no FP32 peak.", .formula = "memory / that of the FP32 recipe"});
  f.real("parameters", o.parameters, {"Parameters", "parameters"},
         "Parameters of the whole model, counted from its configuration.");
  f.group("Row by row");
  f.table("recipes", o.recipes, "Recipes");
  f.table("operations", o.operations, "Operations", {.max_items = 256});
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_step(f, o);
  describe_totals(f, o);
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"precision/mixed",
                                                   "Mixed precision",
                                                   "What runs in which format, and what does that save?",
                                                   {.published_keys = "model chip"}},
                                                  compute, arrange, draw);
}

}  // namespace chapters::precision::mixed
