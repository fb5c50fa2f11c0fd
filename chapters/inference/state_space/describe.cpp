#include "chapters/described/cache_choices.h"
#include "chapters/inference/state_space/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::inference::state_space {
namespace {

const Choices keepings{
    {"linear", "Linear attention", "The state adds up all pairs, and nothing is ever taken out."},
    {"gated", "Gated (Mamba-2)", "Each token weakens the state by a learned step before it is added."},
    {"delta", "Delta rule (DeltaNet)", "What stands under a key is taken out before its new value is written."}};
const Choices state_formats{{"bf16", "BF16", "Two bytes per number."},
                            {"fp32", "FP32", "Four bytes per number, as many engines keep states."}};

const Choices shown{
    {"recall", "What is found", "A stream of pairs, and what a state and a cache still find of it."},
    {"cost", "What it costs", "Two models to scale: what each keeps of a sequence, and what its decode step moves."}};

const Choices& model_choices() {
  static const Choices choices = [] {
    Choices out;
    for (const models::inference::StateModel& m : models::inference::state_models())
      out.push_back({std::string(m.id), std::string(m.name), std::string(m.source) + "."});
    out.push_back({"own", "Your own", "Blocks of a Mamba-2 or attention layer and a feed-forward, as set below."});
    return out;
  }();
  return choices;
}

constexpr std::string_view roof = "roofline: the longer of bytes / bandwidth and FLOP / peak";
constexpr std::string_view simulated = "the trained models here, on streams that they have not seen";
constexpr std::string_view no_scan =
    "Only a layer with one decay for each head and token has a scan of matrix products, and the chip must state an "
    "FP32 peak.";

void describe_task(Fields& f, Inputs& in) {
  const When task{"shown", "recall"};
  f.group("The task");
  f.choice("shown", in.shown, shown, "Large picture", "Which of the two questions the large picture answers.");
  f.choice("keeping", in.keeping, keepings, "The state", "How pairs are written into the state of fixed size.",
           {.headline = true, .when = task});
  f.integer("width", in.width, "Key width", "The state has so many rows of 16 numbers, one for each value.",
            {.range = {2, max_width}, .typical = {4, 32}, .headline = true, .when = task});
  f.integer("pairs", in.pairs, "Pairs", "How many pairs of a key and a value the stream has.",
            {.range = {2, max_pairs}, .headline = true, .when = task});
  f.integer("needle", in.needle, "Needle", "Which of the pairs is the needle, counted from the first.",
            {.range = {1, max_pairs}, .when = task});
  f.real("rewritten", in.rewritten, {"Rewritten", "%"},
         "Share of the pairs that give a key which stands already a new value; the needle's key is spared.",
         {.range = {0, 80}, .when = task});
  f.integer("fillers", in.fillers, "Fillers to a pair", "Tokens between the pairs that nobody asks for.",
            {.range = {0, 2}, .when = task});
  f.integer("steps", in.steps, "Training steps", "Steps of Adam with four streams each, for every way alike.",
            {.range = {10, 400}, .typical = {20, 200}, .costly = true, .when = task});
  f.integer("seed", in.seed, "Seed", "It draws first weights and streams.",
            {.range = {1, 1000}, .typical = {1, 20}, .when = task});
  f.integer("stream", in.stream, "Stream shown", "Which of the streams that are asked is drawn.",
            {.range = {1, 96}, .when = task});
  f.group("A small cache of attention");
  f.integer("cache_entries", in.cache_entries, "Entries kept",
            "How many pairs of keys and values it holds; 0: as many numbers as the state.",
            {.range = {0, max_pairs}, .when = task});
  f.integer("sinks", in.sinks, {"Sinks", "tokens"}, "First tokens that a window never drops.",
            {.range = {0, 8}, .when = task});
}

void describe_models(Fields& f, Inputs& in) {
  f.group("The models");
  f.choice("model", in.model, model_choices(), "Model with a state", "Shapes are those of published models.");
  shared::context(f, "context", in.context, {.help = "Tokens that each sequence has behind it."});
  shared::model(f, "reference", in.reference, {.label = "Attention model", .help = "It stands next to the other."});
  shared::chip(f, "chip", in.chip, {.help = "Its bandwidth and its peak set the least time of a step."});
  shared::parallel_tensor(f, "chips", in.chips, {.label = "Chips", .help = "They share weights, states and caches."});
  shared::concurrent_sequences(f, "batch", in.batch, {.help = "Sequences that are decoded together."});
  shared::format(f, "format", in.format, {.label = "Weights", .help = "How weights are stored and multiplied."});
  f.choice("kv_format", in.kv_format, kv_recipe_choices(), "Cache format", "How keys and values are stored.");
  f.choice("state_format", in.state_format, state_formats, "State format",
           "How states and the inputs of their convolutions are stored.");
  const When own{"model", "own"};
  f.integer("hidden", in.hidden, "Width", "Numbers of a token between blocks, a multiple of 128.",
            {.range = {512, 16'384}, .typical = {1024, 8192}, .when = own});
  f.integer("blocks", in.blocks, "Blocks", "Each has a layer that mixes tokens and a feed-forward.",
            {.range = {1, 200}, .typical = {8, 100}, .when = own});
  f.integer("attention_every", in.attention_every, "Attention in one of", "Blocks to one with attention; 0: none has.",
            {.range = {0, 64}, .typical = {0, 16}, .when = own});
  f.integer("head_width", in.head_width, "Head width", "Numbers of a head that share one decay.",
            {.range = {16, 256, Scale::log}, .when = own});
  f.integer("state_size", in.state_size, "State size", "Numbers that each of them keeps.",
            {.range = {4, 1024, Scale::log}, .when = own});
  f.integer("kv_heads", in.kv_heads, "KV heads", "Key and value heads of a block with attention.",
            {.range = {1, 64, Scale::log}, .when = own});
}

void describe_scan(Fields& f, Inputs& in) {
  f.group("The scan of a prompt");
  shared::sequence(f, "scan_tokens", in.scan_tokens, {.label = "Prompt", .help = "Tokens that one layer scans."});
  f.integer("block", in.block, {"Block", "tokens"}, "Tokens that are computed as matrix products.",
            {.range = {1, 4096, Scale::log}, .typical = {16, 1024}});
  f.real("slowest", in.slowest, "Least decay", "A token's, in the scan that is really run: -log of what is kept.",
         {.range = {1e-6, 1, Scale::log}});
  f.real("fastest", in.fastest, "Most decay", "The other end; each token's decay is drawn between them.",
         {.range = {1e-6, 8, Scale::log}});
}

void describe_recall(Fields& f, Outputs& o) {
  f.group("What is found");
  f.real("recall", o.recall, {"State finds", "%"}, "Keys that the state answers right at the end of a stream.",
         {.headline = true, .against = {"attention", "attention_recall"}, .source = simulated});
  f.real("needle_recall", o.needle_recall, {"Needle, by the state", "%"},
         "Streams at whose end the state still gives the needle's value.", {.headline = true, .source = simulated});
  f.real("attention_recall", o.attention_recall, {"Attention finds", "%"}, "The same of attention with all pairs.",
         {.source = simulated});
  f.real("attention_needle", o.attention_needle, {"Needle, by attention", "%"}, {.source = simulated});
  f.toggle("needle_found", o.needle_found, "Found in the stream shown",
           "Whether the state gives the needle's value at the end of the stream that is drawn.");
  f.real("lost_after", o.lost_after, "First lost after", "Pairs after the needle until the state first answers wrong.",
         {.absent = "The state answers right all the way in the stream that is drawn."});
  f.real("state_kept", o.state_kept, "Numbers in the state", {.formula = "key width x values"});
  f.real("cache_kept", o.cache_kept, "Numbers in the cache", "At the end of the stream, with attention.",
         {.formula = "tokens x (key width + values)"});
  f.integer("needle_place", o.needle_place, "Needle's place", "As set, or the last pair.", {.range = {1, 1e6}});
  f.integer("stream_tokens", o.stream_tokens, "Tokens of a stream",
            {.range = {1, 1e6}, .formula = "pairs x (1 + fillers)"});
  f.real("half_life", o.half_life, {"Half-life of a pair", "tokens"},
         "Pairs until the gate has halved what was written.",
         {.absent = "Only a gate forgets by itself.", .formula = "ln 2 / (decay x mean step)"});
  f.real("loss_first", o.loss_first, "Loss, first step", "In nats; guessing among 16 values is 2.77.");
  f.real("loss_last", o.loss_last, "Loss, last step", "In nats.");
  f.group("Caches that are kept small");
  f.integer("entries", o.entries, "Entries", "That the small caches hold.", {.range = {1, 1e6}});
  f.real("window_recall", o.window_recall, {"A window finds", "%"}, "The first tokens and the newest are kept.",
         {.source = "StreamingLLM, Xiao et al., 2023; "
                    "simulated"});
  f.real("heavy_recall", o.heavy_recall, {"Heavy hitters find", "%"},
         "The newest half is kept, and of the others what was attended to most; every key is asked once.",
         {.source = "H2O, Zhang et al., 2023; simulated"});
  f.real("heavy_popular", o.heavy_popular, {"Heavy hitters, popular keys", "%"},
         "The same where keys are asked as often as before.", {.source = "H2O, Zhang et al., 2023; simulated"});
  f.real("window_needle", o.window_needle, {"Needle, by the window", "%"}, {.source = simulated});
  f.real("heavy_needle", o.heavy_needle, {"Needle, by heavy hitters", "%"}, {.source = simulated});
}

void describe_costs(Fields& f, Outputs& o) {
  constexpr std::string_view flat = "The step does not grow so far at any context up to 100 million tokens.";
  f.group("What it costs");
  f.real("step_s", o.step_s, {"A decode step", "s"}, "One token of every sequence, at the least.",
         {.headline = true,
          .against = {"attention", "reference_step_s"},
          .formula = "max(bytes / bandwidth, FLOP / peak)"});
  f.real("sequence_bytes", o.sequence_bytes, {"A sequence", "B"},
         "States, and keys and values of its layers with attention.",
         {.headline = true, .against = {"attention", "reference_bytes"}});
  f.text("model_name", o.model_name, "Model");
  f.real("fixed_bytes", o.fixed_bytes, {"States of a sequence", "B"}, "Whatever the context.",
         {.formula = "layers x (heads x head width x state + convolution) x bytes of a number",
          .source = "the models' config files"});
  f.real("token_bytes", o.token_bytes, {"A further token", "B"}, "Keys and values of the layers with attention.");
  f.real("reference_token_bytes", o.reference_token_bytes, {"... of the attention model", "B"},
         "Keys and values of all its layers.");
  f.real("reference_bytes", o.reference_bytes, {"A sequence, attention", "B"}, "All of its keys and values.");
  f.real(
      "equal_tokens", o.equal_tokens, {"As large from", "tokens"},
      "The context from which on the attention model's cache is as large as what this one keeps.",
      {.absent = "The cache never grows past what this model keeps.", .formula = "states / (bytes of a token - own)"});
  f.real("reference_step_s", o.reference_step_s, {"A step, attention", "s"}, {.source = roof});
  f.real("speedup", o.speedup, "Times as fast", {.formula = "attention's step / this step"});
  f.real("tokens_per_s", o.tokens_per_s, "Tokens a second", {.formula = "batch / step"});
  f.real("reference_tokens_per_s", o.reference_tokens_per_s, "... of the attention model", {.formula = "batch / step"});
  f.real("crossing_tokens", o.crossing_tokens, {"No longer from", "tokens"},
         "From this context on a step takes no longer than the attention model's.",
         {.absent = "Its step is longer at every context up to 100 million tokens."});
  f.real("doubles_tokens", o.doubles_tokens, {"Step doubles at", "tokens"}, "Against a step with nothing behind it.",
         {.absent = flat});
  f.real("reference_doubles_tokens", o.reference_doubles_tokens, {"... of the attention model", "tokens"},
         "Where its caches are as large as the weights that a step reads.", {.absent = flat});
  f.real("parameters", o.parameters, "Parameters", "Counted from the shape, or as published.");
  f.real("active", o.active, "Parameters a token uses", "All, but for the experts that it is not sent to.");
  f.real("read_bytes", o.read_bytes, {"A step reads of weights", "B"},
         "An input embedding that is not the output matrix is looked up and not read; experts as they are hit.");
  f.real("reference_read_bytes", o.reference_read_bytes, {"... of the attention model", "B"}, "The same.");
  f.real("memory_bytes", o.memory_bytes, {"Memory", "B"}, "Weights, states and caches of the batch.");
  f.real("reference_memory_bytes", o.reference_memory_bytes, {"Memory, attention", "B"},
         "The same of the other model.");
  f.real("offered_bytes", o.offered_bytes, {"Memory of the chips", "B"}, "What all chips have.");
  f.toggle("fits", o.fits, "Fits", "The model, with its batch, into the memory of the chips.");
  f.toggle("reference_fits", o.reference_fits, "Attention fits", "The same of the attention model.");
  f.table("models", o.models, "Published models with a state");
}

void describe_scan(Fields& f, Outputs& o) {
  f.group("The scan of one layer");
  f.real("scan_s", o.scan_s, {"Token by token", "s"}, "All cores busy, on the vector units.",
         {.absent = no_scan, .formula = "max(5 tokens x numbers of the state / FP32 peak, bytes / bandwidth)"});
  f.real("blocked_s", o.blocked_s, {"In blocks", "s"}, "The longer of matrix products and traffic.",
         {.absent = no_scan, .source = "state-space duality, Dao and Gu, 2024"});
  f.real("scan_speedup", o.scan_speedup, "Times as fast in blocks",
         {.absent = no_scan, .formula = "token by token / in blocks"});
  f.real("best_block", o.best_block, {"Best block", "tokens"}, "The power of two with the least time.",
         {.absent = no_scan});
  f.real("scan_flops", o.scan_flops, {"Token by token computes", "FLOP"},
         {.absent = no_scan, .formula = "5 tokens x numbers of the state"});
  f.real(
      "blocked_flops", o.blocked_flops, {"In blocks computes", "FLOP"},
      {.absent = no_scan,
       .formula = "2 tokens x block x (groups x state + heads x head width) + (4 tokens + 2 blocks) x numbers of the "
                  "state"});
  f.real("scan_blocks", o.scan_blocks, "Steps one after another", "Blocks whose states are passed on in turn.",
         {.absent = no_scan, .formula = "tokens / block"});
  f.real("scan_error", o.scan_error, "Error, token by token",
         "Largest of all outputs, by the largest output: FP32 against FP64, over 256 tokens that are really run.");
  f.real("blocked_error", o.blocked_error, "Error in blocks",
         "The same in blocks of the size that is set, 256 at most.");
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  describe_task(f, in);
  describe_models(f, in);
  describe_scan(f, in);
}

void describe(Fields& f, ModelRow& r) {
  f.text("name", r.name, "Model");
  f.real("parameters", r.parameters, "Parameters");
  f.real("attention_layers", r.attention_layers, "Layers with attention");
  f.real("state_layers", r.state_layers, "Layers with a state");
  f.real("fixed_bytes", r.fixed_bytes, {"States", "B"}, "One sequence's, whatever the context.");
  f.real("token_bytes", r.token_bytes, {"A further token", "B"});
  f.real("sequence_bytes", r.sequence_bytes, {"A sequence", "B"}, "At the context that is set.");
  f.real("memory_bytes", r.memory_bytes, {"Memory", "B"}, "Weights, states and caches of the batch.");
  f.toggle("fits", r.fits, "Fits");
  f.real("step_s", r.step_s, {"A decode step", "s"}, "At the least, if it fits.");
}

void describe(Fields& f, Outputs& o) {
  describe_recall(f, o);
  describe_costs(f, o);
  describe_scan(f, o);
}

LabPtr make() {
  const auto trained = std::make_shared<Trained>();
  return make_lab<Inputs, Outputs, Picture, View>(
      {"inference/state-space",
       "State space",
       "What does a model forget that keeps a state of fixed size instead of a cache?",
       {.job = true, .published_keys = "model reference"}},
      [trained](const Inputs& in, Progress& progress) { return compute(in, progress, *trained); }, arrange, draw);
}

}  // namespace chapters::inference::state_space
