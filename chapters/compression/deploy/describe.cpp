#include "chapters/compression/deploy/lab.h"

#include "chapters/described/cache_choices.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::compression::deploy {
namespace {

const Choices recipe_choices = [] {
  Choices out;
  for (const models::Recipe& r : models::deployment_recipes())
    out.push_back({std::string(r.id), std::string(r.label), std::string(r.loss_source)});
  return out;
}();
constexpr std::string_view roof = "roofline of every operation, 70 % of it by default";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The recipe");
  f.choice("recipe", in.recipe, recipe_choices, "Recipe", "W: bits of the weights, A: of the activations in matmuls.",
           {.headline = true});
  f.choice("kv", in.kv, kv_recipe_choices(), "Cache", "How keys and values are stored.", {.headline = true});
  f.real("may_lose", in.may_lose, {"May lose", "%"},
         "The share of a benchmark's score that the decision tree may spend.", {.range = {0, 5}, .headline = true});
  f.group("The device");
  shared::model(f, "model", in.model,
                {.help = "Its matrices are quantized; embedding, norms, router and output stay in 16 bits."});
  shared::chip(f, "chip", in.chip, {.help = "Its memory, bandwidth and the formats that it multiplies decide."});
  shared::parallel_tensor(
      f, "chips", in.chips,
      {.label = "Chips", .help = "They share every layer; two all-reduces of 8 us each in a layer."});
  f.group("The work");
  shared::concurrent_sequences(f, "batch", in.batch, {.help = "Sequences that decode together."});
  shared::context(f, "context", in.context, {.help = "Tokens in the cache of each sequence."});
  f.integer("prompt", in.prompt, {"Prompt", "tokens"}, "Tokens of the prompt that prefill works through.",
            {.range = {16, 131072, Scale::log}});
  f.real("roof_share", in.roof_share, "Share of the roof", "The share of peak and bandwidth that kernels reach.",
         {.range = {0.1, 1}});
}

void describe(Fields& f, RecipeRow& r) {
  f.text("recipe", r.recipe, "Recipe");
  f.toggle("possible", r.possible, "Runs on the chip");
  f.toggle("fits", r.estimate.fits, "Fits");
  f.real("weights_bytes", r.estimate.weights_bytes, {"Weights", "B"});
  f.real("cache_bytes", r.estimate.cache_bytes, {"Cache", "B"});
  f.real("chips_needed", r.estimate.chips_needed, "Chips needed");
  f.real("largest_batch", r.estimate.largest_batch, "Largest batch");
  f.real("prefill_tokens_per_s", r.speed.prefill_tokens_per_s, "Prefill tokens/s");
  f.real("prefill_speedup", r.speed.prefill_speedup, "Prefill speedup");
  f.real("decode_s", r.estimate.decode_s, {"Decode step", "s"});
  f.real("decode_tokens_per_s", r.speed.decode_tokens_per_s, "Decode tokens/s");
  f.real("decode_speedup", r.speed.decode_speedup, "Decode speedup");
  f.text("loss", r.loss, "Published loss");
  f.text("source", r.source, "Source of the loss");
}

void describe(Fields& f, Outputs& o) {
  f.group("The tree");
  f.text("recommended", o.recommended, "The tree says");
  f.real("recommended_speedup", o.recommended_speedup, {"... decode over BF16", "\xC3\x97"},
         "The speed of the recipe that the tree says, against BF16 weights and a 16-bit cache, as if they fitted.",
         {.absent = "The chip cannot run what the tree says.", .formula = "decode step in BF16 / decode step"});
  constexpr std::string_view cannot = "The chip cannot run what the tree says.";
  f.real("recommended_bytes", o.recommended_bytes, {"... takes", "B"},
         "Weights and cache of the recipe that the tree says.", {.absent = cannot, .formula = "weights + cache"});
  f.real("recommended_chips", o.recommended_chips, "... chips needed",
         {.absent = cannot, .formula = "both / 0.9 memory, rounded up"});
  f.toggle("recommended_fits", o.recommended_fits, "... fits", "On these chips, with this cache.");
  f.text("because", o.because, "Because");
  f.group("Memory");
  f.real("weights_bytes", o.estimate.weights_bytes, {"Weights", "B"},
         {.formula = "matrices x bits / 8 + the rest x 2"});
  f.real("cache_bytes", o.estimate.cache_bytes, {"Cache", "B"}, {.formula = "batch x context x bytes of a token"});
  f.real("total_bytes", o.total_bytes, {"Weights and cache", "B"},
         {.headline = true, .against = {"of", "memory_bytes"}, .formula = "weights + cache"});
  f.real("memory_bytes", o.estimate.memory_bytes, {"May be taken", "B"}, {.formula = "0.9 x memory x chips"});
  f.toggle("fits", o.estimate.fits, "Fits");
  f.real("chips_needed", o.estimate.chips_needed, "Chips needed",
         {.headline = true, .formula = "both / 0.9 memory, rounded up"});
  f.real("largest_batch", o.estimate.largest_batch, "Largest batch",
         "Sequences of this context that fit next to the weights.",
         {.formula = "(memory - weights) / cache of a sequence"});
  f.real("bits_per_parameter", o.bits_per_parameter, "Bits per parameter",
         "Over all parameters, those left in 16 bits among them.", {.formula = "8 weights / parameters"});
  f.real("smaller", o.smaller, {"Weights smaller by", "\xC3\x97"}, {.formula = "16 bits / bits per parameter"});
  f.group("Speed");
  f.real("prefill_s", o.estimate.prefill_s, {"Prefill", "s"}, "The time that one prompt takes.", {.source = roof});
  f.real("prefill_tokens_per_s", o.speed.prefill_tokens_per_s, "Prefill tokens/s", {.formula = "prompt / prefill"});
  f.real("prefill_speedup", o.speed.prefill_speedup, {"Prefill over BF16", "\xC3\x97"},
         {.formula = "prefill in BF16 / prefill"});
  f.real("decode_s", o.estimate.decode_s, {"Decode step", "s"}, {.source = roof});
  f.real("decode_tokens_per_s", o.speed.decode_tokens_per_s, "Decode tokens/s",
         {.headline = true, .formula = "batch / decode step"});
  f.real("decode_speedup", o.speed.decode_speedup, {"Decode over BF16", "\xC3\x97"},
         "Against BF16 weights and a 16-bit cache, as if they fitted.",
         {.headline = true, .formula = "decode step in BF16 / decode step"});
  f.real("memory_bound", o.memory_bound, {"Decode bound by memory", "%"},
         "Share of the step in operations that wait for memory.");
  f.group("What is lost");
  f.real("loss_low", o.recipe.published_loss_low, {"Published loss, from", "%"},
         "A share of a benchmark's score; see where it comes from.");
  f.real("loss_high", o.recipe.published_loss_high, {"Published loss, to", "%"},
         "A share of a benchmark's score; see where it comes from.");
  f.text("loss_source", o.loss_source, "Loss measured by");
  f.group("Side by side");
  f.table("recipes", o.recipes, "Recipes with the chosen cache");
  f.table("caches", o.caches, "Caches with the chosen recipe");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"compression/deploy",
       "Deploy",
       "Which recipe does this model need on this device, and what does it buy?",
       {.published_keys = "model chip"}},
      compute, arrange, draw);
}

}  // namespace chapters::compression::deploy
