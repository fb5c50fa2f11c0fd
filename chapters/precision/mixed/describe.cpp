#include "chapters/precision/mixed/lab.h"

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::precision::mixed {
namespace {

const Choices recipes = choices_in_order<models::PrecisionRecipe::fp8>(
    {{"fp32", "FP32", "Everything in FP32, products on the vector units."},
     {"tf32", "TF32", "FP32 in memory; products round their inputs to 11 bits on the way into the tensor cores."},
     {"amp_bf16", "AMP BF16", "Products and what lies between them in BF16, sums and the optimizer in FP32."},
     {"amp_fp16", "AMP FP16", "The same in FP16, with a loss scaler."},
     {"fp8", "FP8", "Products of the layers in 8 bits; attention and the last product in BF16."}});
const Choices keepings = choices_in_order<models::StateKeeping::autocast>(
    {{"zero", "16-bit gradients", "Weights 2, gradients 2, FP32 master 4, moments 8: the ZeRO paper."},
     {"megatron", "FP32 gradients", "Weights 2, gradients 4, master 4, moments 8: Megatron-LM."},
     {"accumulate", "gradients in both", "Weights 2, gradients 2 and an FP32 sum of them 4, master 4, moments 8."},
     {"autocast", "FP32 and copies",
      "Weights 4, gradients 4, moments 8, and a 16-bit copy of the product weights while a step runs: torch.autocast "
      "over an FP32 model."}});
const Choices scalings = choices_in_order<models::Fp8Scaling::mx>(
    {{"delayed", "Delayed, a tensor", "From the largest values of earlier steps; E4M3 forward, E5M2 for gradients."},
     {"current", "Current, a tensor", "From the tensor itself: one more pass over it."},
     {"mx", "Blocks of 32 (MX)", "A power of two for every 32 values; E4M3 throughout."}});
const Choices recomputes = choices_in_order<models::Recompute::full>(
    {{"none", "None", "All activations are kept."},
     {"selective", "Selective: attention",
      "Scores, softmax and values run again. Fused attention keeps none of them, so that only time changes."},
     {"full", "Full", "Every layer's input is kept, its forward runs again."}});
constexpr std::string_view roofline = "Williams, Waterman, Patterson, CACM 52(4), 2009";
constexpr std::string_view zero = "Rajbhandari et al., ZeRO, 2019, section 3.1; Megatron-LM";

}  // namespace

void describe(Fields& f, OperationRow& r) {
  f.text("name", r.figures.name, {.label = "Operation"});
  f.text("part", r.part, {.label = "Kind"});
  f.integer("count", r.figures.count, {.label = "Count"});
  f.text("forward", r.forward, {.label = "Forward", .help = "Operands of a product; what anything else computes in."});
  f.text("backward", r.backward, {.label = "Backward", .help = "The same on the way back: of the incoming gradient."});
  f.text("result", r.result, {.label = "Writes"});
  f.real("flops", r.figures.flops, {.label = "Flops of one", .unit = "FLOP"});
  f.real("bytes", r.figures.bytes, {.label = "Bytes of one", .unit = "B"});
  f.real("time_s", r.figures.time_s, {.label = "Time of one", .unit = "s"});
  f.real("all_s", r.all_s, {.label = "Time of all", .unit = "s"});
  f.real("share", r.share, {.label = "Share of the step", .unit = "%"});
  f.text("why", r.why, {.label = "Why"});
}
void describe(Fields& f, RecipeRow& r) {
  f.text("recipe", r.recipe, {.label = "Recipe"});
  f.toggle("runs", r.runs, {.label = "Runs here", .help = "The chip states a peak for its format."});
  f.real("time_s", r.step.time_s, {.label = "Step", .unit = "s"});
  f.real("speedup", r.speedup,
         {.label = "Against TF32",
          .may_be_missing = true,
          .absent = "The chip has no TF32 unit, or does not run the recipe."});
  f.real("bytes_per_parameter", r.step.bytes_per_parameter, {.label = "States a parameter", .unit = "B"});
  f.real("states_bytes", r.states_bytes, {.label = "States", .unit = "B"});
  f.real("activations_bytes", r.step.memory.activations, {.label = "Activations", .unit = "B"});
  f.real("logits_bytes", r.step.memory.logits, {.label = "Logits", .unit = "B"});
  f.real("total_bytes", r.total_bytes, {.label = "In all", .unit = "B"});
  f.text("note", r.note, {.label = "Note"});
}

void describe(Fields& f, Inputs& in) {
  f.group("The recipe");
  f.choice("recipe", in.recipe, recipes,
           {.label = "Recipe", .help = "Which the layer shows; the bars compare all of them.", .headline = true});
  f.choice("keeping", in.keeping, keepings,
           {.label = "States of AdamW", .help = "What the 16-bit and 8-bit recipes keep of each parameter."});
  f.choice("scaling", in.scaling, scalings,
           {.label = "FP8 scales", .help = "Where the scales of 8-bit operands come from."});
  f.toggle(
      "fp8_primary", in.fp8_primary,
      {.label = "FP8 weights only", .help = "No 16-bit weights beside the 8-bit ones, where there is an FP32 master."});
  f.group("What is trained");
  shared::model(f, "model", in.model, {.help = "Published configuration."});
  shared::chip(f, "chip", in.chip, {.help = "Dense peaks and memory bandwidth as specified."});
  shared::batch(f, "batch", in.batch, {.help = "Sequences of a step on one chip."});
  shared::sequence(f, "sequence", in.sequence, {.help = "Length of each."});
  f.group("Memory");
  shared::parallel_shards(
      f, "shards", in.shards,
      {.label = "States split over",
       .help =
           "Chips among which weights, gradients and optimizer are split (FSDP, ZeRO-3). Communication is not in."});
  f.choice("recompute", in.recompute, recomputes,
           {.label = "Recomputation", .help = "What the backward pass computes again to spare memory."});
}

void describe(Fields& f, Outputs& o) {
  using models::StepPart;
  const auto part = [&](StepPart p) -> double& { return o.step.part_s[static_cast<std::size_t>(p)]; };
  f.group("Time");
  f.real("time_s", o.step.time_s,
         {
             .label = "Time of the step",
             .unit = "s",
             .help = "All operations one after the other on one chip: a lower bound. Communication is not in.",
             .headline = true,
             .formula = "sum of count x max(flops / peak of the format, bytes / bandwidth)",
             .source = roofline,
         });
  f.real("tokens_per_s", o.tokens_per_s,
         {.label = "Tokens a second", .unit = "tokens/s", .formula = "batch x sequence / time"});
  f.group("Against other formats");
  f.real("speedup_fp32", o.speedup_fp32,
         {.label = "Against FP32",
          .help = "FP32 on the vector units, as before tensor cores.",
          .may_be_missing = true,
          .absent = "The chip states no FP32 peak.",
          .formula = "time of FP32 / time"});
  f.real("speedup_tf32", o.speedup_tf32,
         {
             .label = "Against TF32",
             .headline = true,
             .may_be_missing = true,
             .absent = "The chip has no TF32 unit.",
             .formula = "time of TF32 / time",
         });
  f.real("speedup_bf16", o.speedup_bf16,
         {
             .label = "Against AMP BF16",
             .headline = true,
             .may_be_missing = true,
             .absent = "The chip has no BF16 unit.",
             .formula = "time of AMP BF16 / time",
         });
  f.real("peak_ratio", o.peak_ratio,
         {.label = "Peak against FP32",
          .help = "What the products alone would gain.",
          .may_be_missing = true,
          .absent = "The chip states no FP32 peak.",
          .formula = "peak of the format / FP32 peak"});
  f.group("Where the time goes");
  f.real("products_s", part(StepPart::products),
         {.label = "... products", .unit = "s", .help = "Matrix products of the layers and the last one."});
  f.real("attention_s", part(StepPart::attention),
         {.label = "... attention", .unit = "s", .help = "Fused attention, forward and backward."});
  f.real("vector_s", part(StepPart::vector),
         {.label = "... norms and the like",
          .unit = "s",
          .help = "Embedding, norms, rotation, activations and the loss: bound by memory."});
  f.real("casts_s", part(StepPart::casts),
         {.label = "... casts and scales",
          .unit = "s",
          .help = "Making operands of the short format, where that is a pass of its own."});
  f.real(
      "optimizer_s", part(StepPart::optimizer),
      {.label = "... optimizer", .unit = "s", .help = "AdamW, and what loss scaling or FP32 accumulation add to it."});
  f.real("product_share", o.product_share,
         {.label = "Products' share of the time", .unit = "%", .formula = "products / time"});
  f.real("recipe_flops_share", o.recipe_flops_share,
         {.label = "Arithmetic in the recipe's format",
          .unit = "%",
          .help = "Of all matrix products, attention in. FP8 leaves attention and the last product in 16 bits."});
  f.group("States");
  f.real("bytes_per_parameter", o.step.bytes_per_parameter,
         {
             .label = "States a parameter",
             .unit = "B",
             .formula = "weights + copies + gradients + master + moments",
             .source = zero,
         });
  f.real("weights_bytes", o.step.memory.weights,
         {.label = "Weights", .unit = "B", .formula = "bytes a parameter x parameters / chips"});
  f.real("copies_bytes", o.step.memory.copies,
         {.label = "Copies for the products",
          .unit = "B",
          .help = "Two in 8 bits, one for each direction they are read in; one in 16 under autocast."});
  f.real("gradients_bytes", o.step.memory.gradients,
         {.label = "Gradients", .unit = "B", .formula = "bytes a parameter x parameters / chips"});
  f.real("master_bytes", o.step.memory.master,
         {.label = "FP32 master", .unit = "B", .formula = "4 x parameters / chips"});
  f.real("moments_bytes", o.step.memory.moments,
         {.label = "Adam's moments", .unit = "B", .formula = "8 x parameters / chips"});
  f.real("states_bytes", o.states_bytes, {.label = "All states", .unit = "B", .help = "On one chip."});
  f.group("Activations");
  f.real("activations_bytes", o.step.memory.activations,
         {
             .label = "Activations",
             .unit = "B",
             .help = "Kept for the backward pass; fused attention, no dropout.",
             .formula = "tokens x bytes a token, or layer inputs and one layer when recomputed",
         });
  f.real("activation_bytes_per_token", o.step.activation_bytes_per_token,
         {.label = "Activations a token", .unit = "B/token", .help = "Of all layers, nothing recomputed."});
  f.real("logits_bytes", o.step.memory.logits,
         {
             .label = "Logits",
             .unit = "B",
             .help = "As the last product writes them, and in FP32 for the loss.",
             .formula = "tokens x vocabulary x (element + 4)",
         });
  f.group("Memory in all");
  f.real("total_bytes", o.total_bytes,
         {
             .label = "Memory",
             .unit = "B",
             .headline = true,
             .formula = "states + activations + logits",
         });
  f.real("chip_share", o.chip_share,
         {.label = "Of the chip's memory", .unit = "%", .formula = "memory / capacity of the chip"});
  f.toggle("fits", o.fits, {.label = "Fits"});
  f.group("Saved");
  f.real("states_over_fp32", o.states_over_fp32, {.label = "States against FP32", .formula = "bytes a parameter / 16"});
  f.real("activations_over_bf16", o.activations_over_bf16,
         {.label = "Activations against BF16",
          .may_be_missing = true,
          .absent = "The chip has no BF16 unit.",
          .formula = "bytes a token / those of AMP BF16"});
  f.real("total_over_fp32", o.total_over_fp32,
         {.label = "Memory against FP32",
          .may_be_missing = true,
          .absent = "The chip states no FP32 peak.",
          .formula = "memory / that of the FP32 recipe"});
  f.real("parameters", o.parameters,
         {.label = "Parameters", .unit = "parameters", .help = "Of the whole model, counted from its configuration."});
  f.group("Row by row");
  f.table("recipes", o.recipes, {.label = "Recipes"});
  f.table("operations", o.operations, {.label = "Operations", .max_items = 256});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({.id = "precision/mixed",
                                                   .title = "Mixed precision",
                                                   .question = "What runs in which format, and what does that save?"},
                                                  compute, arrange, draw);
}

}  // namespace chapters::precision::mixed
