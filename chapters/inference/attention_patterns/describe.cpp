#include "chapters/described/cache_choices.h"
#include "chapters/inference/attention_patterns/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::inference::attention_patterns {
namespace {

// In the order of Pattern.
const Choices patterns{
    {"causal", "Causal", "Every token looks at all tokens before it."},
    {"window", "Window", "Every token looks at the last few, itself among them (Mistral 7B: 4,096)."},
    {"global", "Global tokens", "A window, and some tokens that see all before them and are seen by all after them."},
    {"dilated", "Dilated", "As many tokens as a window has, with gaps between them."},
    {"block", "Blocks", "Whole blocks: a token's own, and others as they are set below."},
    {"sinks", "Sinks", "A window, and the first few tokens of the sequence (StreamingLLM)."},
    {"document", "Documents", "Documents packed into one sequence do not see each other."},
    {"model", "As the model", "Windows and whole layers as the model's config file has them."}};
static_assert(pattern_choice_count == 8);
constexpr std::string_view windows = "window|global|dilated|block|sinks";
constexpr std::string_view made = "causal|window|global|dilated|block|sinks|document";
constexpr std::string_view influence_source =
    "Attention rollout (Abnar and Zuidema 2020) with even weights: a model, not a trained network";
constexpr std::string_view never = "Some tokens never arrive, whatever the number of layers.";

void describe_pattern(Fields& f, Inputs& in) {
  f.group("The pattern");
  f.choice("pattern", in.pattern, patterns, "Pattern", "Which earlier tokens a token looks at.", {.headline = true});
  f.integer(
      "window", in.window, {"Window", "tokens"},
      "How many tokens a window has, the token itself counted; with blocks, the tokens of a block.",
      {.range = {1, 1048576, Scale::log}, .typical = {64, 131072}, .headline = true, .when = {"pattern", windows}});
  f.integer("layers", in.layers, "Layers", "How many layers are stacked.",
            {.range = {1, 128, Scale::log}, .headline = true, .when = {"pattern", made}});
  f.integer("full_every", in.full_every, "Whole layer every",
            "One layer in so many looks at all earlier tokens (Gemma 3: 6, gpt-oss: 2); at 0 none does.",
            {.range = {0, 64}, .typical = {0, 12}, .when = {"pattern", "window|global|dilated|block|sinks|document"}});
  shared::sequence(f, "sequence", in.sequence, {.help = "How many tokens the sequence has."});
  f.integer("sinks", in.sinks, {"Sinks", "tokens"}, "How many first tokens everyone sees.",
            {.range = {0, 4096}, .typical = {0, 64}, .when = {"pattern", "sinks"}});
  f.integer("global_every", in.global_every, {"Global token every", "tokens"},
            "One token in so many, the first among them, sees all before it and is seen by all after it.",
            {.range = {1, 1048576, Scale::log}, .typical = {64, 65536}, .when = {"pattern", "global"}});
  f.integer("dilation", in.dilation, {"Dilation", "tokens"}, "From one token that is seen to the next.",
            {.range = {1, 4096, Scale::log}, .typical = {1, 64}, .when = {"pattern", "dilated"}});
  f.integer("blocks_back", in.blocks_back, "Blocks before",
            "How many blocks before its own a token sees. 0: chunks, as in Llama 4.",
            {.range = {0, 64}, .typical = {0, 4}, .when = {"pattern", "block"}});
  f.integer("blocks_first", in.blocks_first, "First blocks",
            "How many blocks at the beginning everyone sees (BigBird's global blocks).",
            {.range = {0, 64}, .typical = {0, 4}, .when = {"pattern", "block"}});
  f.integer("blocks_random", in.blocks_random, "Random blocks",
            "How many other earlier blocks each block sees, drawn once (BigBird: 3).",
            {.range = {0, 8}, .when = {"pattern", "block"}});
  f.integer("document_tokens", in.document_tokens, {"Mean document", "tokens"},
            "Lengths are drawn with this mean, exponentially: many are short, a few long.",
            {.range = {1, 1048576, Scale::log}, .typical = {256, 131072}, .when = {"pattern", "document"}});
  f.text("documents", in.documents, "Your documents",
         "Lengths in tokens, with commas or blanks between them, repeated until the sequence is full; empty: they are "
         "drawn.",
         {.when = {"pattern", "document"}, .max_bytes = 40'000});
  f.integer("seed", in.seed, "Seed", "It draws random blocks and lengths of documents.",
            {.range = {1, 999}, .when = {"pattern", "block|document"}});
}

void describe_price(Fields& f, Inputs& in) {
  f.group("The shading");
  f.real(
      "residual", in.residual, "Kept by a layer",
      "The part of a token's state that passes a layer unchanged; the rest is spread evenly over what the token sees.",
      {.range = {0, 0.95}});
  f.real("near_share", in.near_share, {"Nearly all is", "%"},
         "The part of all influence that the newest tokens of the bracket bring.", {.range = {50, 99.9}});
  f.group("What it costs");
  shared::model(f, "model", in.model,
                {.help = "Its heads say what a pair and a cached token cost. Give a config.json for your own."});
  shared::chip(f, "chip", in.chip, {.help = "Its peak in 16 bits and its memory bandwidth set the least times."});
  f.choice("kv_format", in.kv_format, kv_recipe_choices(), "Cache format",
           "How many bits a number of the cache takes, scales included.");
  f.integer("tile", in.tile, {"Kernel's tile", "tokens"},
            "A kernel computes a square of so many queries and keys whole, or skips it.",
            {.range = {16, 1024, Scale::log}, .typical = {32, 256}});
  f.integer(
      "margin_tokens", in.margin_tokens, {"Engine keeps more", "tokens"},
      "What an engine's cache holds beyond what the pattern needs, in layers that look at a part (llama.cpp: 512).",
      {.range = {0, 16384}, .typical = {0, 8192}});
}

void describe_costs(Fields& f, Outputs& o) {
  f.group("The price of the prompt");
  f.real("prefill_s", o.price.prefill_s, {"Attention", "s"}, "All layers together, at the chip's peak: the least.",
         {.formula = "computed pairs x 2 FLOP x heads x (key + value width) / peak"});
  f.real("causal_prefill_s", o.causal.prefill_s, {"Attention, causal", "s"}, "The same if all layers were causal.",
         {.formula = "causal tiles x 2 FLOP x heads x (key + value width) / peak"});
  f.real("linear_s", o.price.linear_s, {"Other matmuls", "s"},
         "Projections and feed-forward of the same layers and tokens at the peak; no pattern changes them.",
         {.formula = "2 x weights x tokens / peak"});
  f.real("attention_flops", o.price.flops, {"FLOPs needed", "FLOP"}, "Two products for each pair, in all layers.",
         {.formula = "pairs x 2 x heads x (key + value width)"});
  f.real("tile_flops", o.price.tile_flops, {"FLOPs computed", "FLOP"}, "Those of every tile that has a pair.",
         {.formula = "tiles x tile^2 x 2 x heads x (key + value width)"});
  f.real("tile_share", o.tile_share, {"Tiles computed", "%"}, "Against those that a causal kernel computes.",
         {.formula = "tiles / causal tiles"});
  f.real("tile_fill", o.tile_fill, {"Pairs wanted", "%"}, "Against all pairs in the tiles that are computed.",
         {.formula = "pairs / pairs of computed tiles"});
  f.real("kernel_speedup", o.kernel_speedup, {"Kernel skips", "\xC3\x97"},
         "How many times fewer tiles than a causal kernel: the most that skipping can save.",
         {.formula = "causal tiles / tiles"});
  f.group("The cache");
  f.real("cache_bytes", o.price.cache_bytes, {"Cache", "B"}, "Keys and values of one sequence, all layers.",
         {.headline = true,
          .against = {"of", "causal_cache_bytes"},
          .formula = "kept tokens x bytes per token and layer"});
  f.real("causal_cache_bytes", o.causal.cache_bytes, {"Cache, causal", "B"}, "The same if all layers kept all tokens.",
         {.formula = "tokens x layers x bytes per token and layer"});
  f.real("cache_share", o.cache_share, {"Cache left", "%"}, {.formula = "cache / causal cache"});
  f.real("cache_tokens", o.cache_tokens, {"Kept by a layer", "tokens"},
         "The most tokens at once whose keys and values the newest or a later token still reads, in a layer with the "
         "pattern.",
         {.formula = "window: min(window, sequence); sinks: + sinks; dilated: (window - 1) x dilation + 1"});
  f.real("mean_cache_tokens", o.mean_cache_tokens, {"Kept on average", "tokens"}, "Over all layers, whole ones too.");
  f.real("read_bytes", o.price.read_bytes, {"Read for a token", "B"},
         "Keys and values that the last token looks at, in all layers.",
         {.formula = "keys of the last row x bytes per token and layer"});
  f.real("read_s", o.price.read_s, {"Reading them", "s"}, "At the chip's bandwidth: the least.",
         {.formula = "bytes read / bandwidth"});
  f.real("causal_read_bytes", o.causal.read_bytes, {"Read, causal", "B"}, "The same if all layers were causal.");
}

}  // namespace

const Choices& pattern_choices() { return patterns; }

void describe(Fields& f, Inputs& in) {
  describe_pattern(f, in);
  describe_price(f, in);
}

void describe(Fields& f, PatternRow& r) {
  f.text("name", r.name, "Pattern");
  f.real("entries", r.entries, "Pairs per layer");
  f.real("work_share", r.work_share, {"Work", "%"});
  f.real("tile_share", r.tile_share, {"Tiles", "%"});
  f.real("kept_tokens", r.kept_tokens, {"Kept by a layer", "tokens"});
  f.real("cache_share", r.cache_share, {"Cache", "%"});
  f.real("layers_to_all", r.layers_to_all, "Layers to all", {.absent = never});
  f.toggle("yours", r.yours, "Yours");
}

void describe(Fields& f, Outputs& o) {
  f.group("Reach");
  f.real("reach_tokens", o.reach_tokens, {"Reach", "tokens"},
         "How many tokens of the input can change the last token's result, itself counted.",
         {.headline = true,
          .against = {"of", "sequence"},
          .formula = "window: layers x (window - 1) + 1",
          .source = "sets of tokens, a layer after the other; Jiang et al. 2023 for a window"});
  f.real(
      "near_tokens", o.near_tokens, {"Nearly all from", "tokens"},
      "The newest tokens that bring nearly all influence, in the model of the shading.",
      {.headline = true, .formula = "each layer: kept part, rest even over what is seen", .source = influence_source});
  f.real("back_tokens", o.back_tokens, {"Furthest", "tokens"}, "From the last token to the oldest that can arrive.");
  f.real("mean_back", o.mean_back, {"On average", "tokens"}, "Back to where influence comes from, in the same model.",
         {.formula = "window: layers x (1 - kept) x (window - 1) / 2", .source = influence_source});
  f.real("window_influence", o.window_influence, {"From one window", "%"},
         "The part of influence that comes from the last window of tokens, in the same model.",
         {.absent = "No layer has a window.", .source = influence_source});
  f.real("layers_to_all", o.layers_to_all, "Layers to all",
         "Layers until every token of the sequence can arrive; more than there are where the stack is too low.",
         {.absent = never, .formula = "window: (sequence - 1) / (window - 1), rounded up"});
  f.group("Work");
  f.real("work_share", o.work_share, {"Work", "%"}, "Pairs of query and key in all layers, of causal attention's.",
         {.headline = true, .formula = "pairs / causal pairs"});
  f.real("entries", o.entries, "Pairs per layer",
         "Entries of the mask: pairs of a token and one that it sees, in a layer with the pattern.",
         {.formula = "causal: n (n + 1) / 2; window: w (w + 1) / 2 + (n - w) w"});
  f.real("causal_entries", o.causal_entries, "Pairs, causal", {.formula = "n (n + 1) / 2"});
  f.real("stack_layers", o.stack_layers, "Layers stacked", "Those set, or the model's own.");
  f.real("full_layers", o.full_layers, "Whole layers", "Layers that look at all earlier tokens.");
  f.real("part_layers", o.part_layers, "Layers with the pattern", {.formula = "layers - whole layers"});
  f.real("window_tokens", o.window_tokens, {"Window of the layers", "tokens"},
         "Tokens of a window or a block, as set or as the model has them.", {.absent = "No layer has a window."});
  describe_costs(f, o);
  f.group("All patterns");
  f.table("patterns", o.patterns, "The patterns with what is set");
}

LabPtr make() {
  const auto cones = std::make_shared<Cones>();
  return make_lab<Inputs, Outputs, Picture, View>(
      {"inference/attention-patterns",
       "Attention patterns",
       "How far can a token see when every layer sees only a part?",
       {.job = true, .published_keys = "model pattern"}},
      [cones](const Inputs& in, Progress& progress) { return compute(in, progress, *cones); }, arrange, draw);
}

}  // namespace chapters::inference::attention_patterns
