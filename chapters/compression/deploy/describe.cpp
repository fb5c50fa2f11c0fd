#include "chapters/compression/deploy/lab.h"

#include "chapters/mechanism/shared_choices.h"

namespace chapters::compression::deploy {
namespace {

const Choices recipe_choices = [] {
  Choices out;
  for (const models::Recipe& r : models::deployment_recipes())
    out.push_back({std::string(r.id), std::string(r.label), std::string(r.loss_source)});
  return out;
}();
const Choices kv_choices = [] {
  Choices out;
  for (const models::KvRecipe& r : models::kv_recipes())
    out.push_back({std::string(r.id), std::string(r.label), std::string(r.loss_source)});
  return out;
}();
constexpr std::string_view roof = "roofline of every operation, 70 % of it by default";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The recipe");
  f.choice("recipe", in.recipe, recipe_choices,
           {.label = "Recipe", .help = "W: bits of the weights, A: of the activations in products.", .headline = true});
  f.choice("kv", in.kv, kv_choices, {.label = "Cache", .help = "How keys and values are stored.", .headline = true});
  f.real("may_lose", in.may_lose,
         {
             .label = "May lose",
             .unit = "%",
             .help = "Of a benchmark's score: what the decision tree may spend.",
             .lo = 0,
             .hi = 5,
             .headline = true,
         });
  f.group("The device");
  shared::model(f, "model", in.model,
                {.help = "Its matrices are quantized; embedding, norms, router and output stay in 16 bits."});
  shared::chip(f, "chip", in.chip, {.help = "Its memory, bandwidth and the formats that it multiplies decide."});
  shared::parallel_tensor(
      f, "chips", in.chips,
      {.label = "Chips", .help = "They share every layer; two all-reduces of 8 us each in a layer."});
  f.group("The work");
  shared::batch(f, "batch", in.batch, {.help = "Sequences that decode together."});
  shared::context(f, "context", in.context, {.help = "Tokens in the cache of each sequence."});
  f.integer("prompt", in.prompt,
            {
                .label = "Prompt",
                .unit = "tokens",
                .help = "Tokens of the prompt that prefill works through.",
                .lo = 16,
                .hi = 131072,
                .scale = Scale::log,
            });
  f.real("roof_share", in.roof_share,
         {
             .label = "Share of the roof",
             .help = "Of peak and bandwidth that kernels reach.",
             .lo = 0.1,
             .hi = 1,
         });
}

void describe(Fields& f, RecipeRow& r) {
  f.text("recipe", r.recipe, {.label = "Recipe"});
  f.toggle("possible", r.possible, {.label = "Runs on the chip"});
  f.toggle("fits", r.estimate.fits, {.label = "Fits"});
  f.real("weights_bytes", r.estimate.weights_bytes, {.label = "Weights", .unit = "B"});
  f.real("cache_bytes", r.estimate.cache_bytes, {.label = "Cache", .unit = "B"});
  f.real("chips_needed", r.estimate.chips_needed, {.label = "Chips needed"});
  f.real("largest_batch", r.estimate.largest_batch, {.label = "Largest batch"});
  f.real("prefill_tokens_per_s", r.speed.prefill_tokens_per_s, {.label = "Prefill tokens a second"});
  f.real("prefill_speedup", r.speed.prefill_speedup, {.label = "Prefill speedup"});
  f.real("decode_s", r.estimate.decode_s, {.label = "Decode step", .unit = "s"});
  f.real("decode_tokens_per_s", r.speed.decode_tokens_per_s, {.label = "Decode tokens a second"});
  f.real("decode_speedup", r.speed.decode_speedup, {.label = "Decode speedup"});
  f.text("loss", r.loss, {.label = "Published loss"});
  f.text("source", r.source, {.label = "Source of the loss"});
}

void describe(Fields& f, Outputs& o) {
  f.group("The tree");
  f.text("recommended", o.recommended, {.label = "The tree says"});
  f.real("recommended_speedup", o.recommended_speedup,
         {
             .label = "... decode over BF16",
             .help = "Of the recipe that the tree says, against BF16 weights and a 16-bit cache, as if they fitted.",
             .may_be_missing = true,
             .absent = "The chip cannot run what the tree says.",
             .formula = "decode step in BF16 / decode step",
         });
  f.text("because", o.because, {.label = "Because"});
  f.group("Memory");
  f.real("weights_bytes", o.estimate.weights_bytes,
         {.label = "Weights", .unit = "B", .formula = "matrices x bits / 8 + the rest x 2"});
  f.real("cache_bytes", o.estimate.cache_bytes,
         {.label = "Cache", .unit = "B", .formula = "batch x context x bytes of a token"});
  f.real("total_bytes", o.total_bytes,
         {.label = "Weights and cache", .unit = "B", .headline = true, .formula = "weights + cache"});
  f.real("memory_bytes", o.estimate.memory_bytes,
         {.label = "May be taken", .unit = "B", .formula = "0.9 x memory x chips"});
  f.toggle("fits", o.estimate.fits, {.label = "Fits"});
  f.real("chips_needed", o.estimate.chips_needed,
         {.label = "Chips needed", .headline = true, .formula = "both / 0.9 memory, rounded up"});
  f.real("largest_batch", o.estimate.largest_batch,
         {.label = "Largest batch",
          .help = "Sequences of this context that fit beside the weights.",
          .formula = "(memory - weights) / cache of a sequence"});
  f.real("bits_per_parameter", o.bits_per_parameter,
         {.label = "Bits a parameter",
          .help = "Over all parameters, those left in 16 bits among them.",
          .formula = "8 weights / parameters"});
  f.real("smaller", o.smaller, {.label = "Weights smaller by", .formula = "16 bits / bits a parameter"});
  f.group("Speed");
  f.real("prefill_s", o.estimate.prefill_s,
         {
             .label = "Prefill",
             .unit = "s",
             .help = "Of one prompt.",
             .source = roof,
         });
  f.real("prefill_tokens_per_s", o.speed.prefill_tokens_per_s,
         {.label = "Prefill tokens a second", .formula = "prompt / prefill"});
  f.real("prefill_speedup", o.speed.prefill_speedup,
         {.label = "Prefill over BF16", .formula = "prefill in BF16 / prefill"});
  f.real("decode_s", o.estimate.decode_s, {.label = "Decode step", .unit = "s", .source = roof});
  f.real("decode_tokens_per_s", o.speed.decode_tokens_per_s,
         {.label = "Decode tokens a second", .headline = true, .formula = "batch / decode step"});
  f.real("decode_speedup", o.speed.decode_speedup,
         {.label = "Decode over BF16",
          .help = "Against BF16 weights and a 16-bit cache, as if they fitted.",
          .headline = true,
          .formula = "decode step in BF16 / decode step"});
  f.real("memory_bound", o.memory_bound,
         {.label = "Decode bound by memory",
          .unit = "%",
          .help = "Share of the step in operations that wait for memory."});
  f.group("What is lost");
  f.real("loss_low", o.recipe.published_loss_low,
         {.label = "Published loss, from", .unit = "%", .help = "Of a benchmark's score; see where it comes from."});
  f.real("loss_high", o.recipe.published_loss_high,
         {.label = "Published loss, to", .unit = "%", .help = "Of a benchmark's score; see where it comes from."});
  f.text("loss_source", o.loss_source, {.label = "Loss measured by"});
  f.group("Side by side");
  f.table("recipes", o.recipes, {.label = "Recipes with the chosen cache"});
  f.table("caches", o.caches, {.label = "Caches with the chosen recipe"});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {.id = "compression/deploy",
       .title = "Deploy",
       .question = "Which recipe does this model need on this device, and what does it buy?"},
      compute, arrange, draw);
}

}  // namespace chapters::compression::deploy
