#include "chapters/interview/cheat_sheet/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::interview::cheat_sheet {
namespace {

void describe_requests(Fields& f, Inputs& in) {
  f.group("Requests");
  shared::concurrent_sequences(f, "batch", in.batch, {.help = "How many requests a step writes for."});
  shared::context(f, "context", in.context, {.help = "How many tokens the cache of a request holds in the sums."});
  shared::prompt_tokens(f, "prompt_tokens", in.prompt_tokens, {16, 32768});
  shared::output_tokens(f, "output_tokens", in.output_tokens, {16, 4096});
  f.real("weight_bits", in.weight_bits, "Bits per weight", "What a weight takes in the sums, with its scales.",
         {.range = {2, 32}, .typical = {4, 16}});
  f.real("cache_bits", in.cache_bits, "Bits of the cache", "What a number of the cache takes in the sums.",
         {.range = {2, 32}, .typical = {4, 16}});
  f.real("acceptance", in.acceptance, "Accepted", "The chance that a drafted token is kept.", {.range = {0, 1}});
  f.integer("draft_length", in.draft_length, {"Drafted", "tokens"}, "How many tokens a draft guesses at a time.",
            {.range = {1, 16}});
  f.real("reserved_tokens", in.reserved_tokens, {"Reserved", "tokens"},
         "What a cache without blocks keeps for every request.", {.range = {1, 1 << 20, Scale::log}});
  f.real("shared_tokens", in.shared_tokens, {"Shared by prompts", "tokens"},
         "How many tokens at the head of a prompt are known already.", {.range = {0, 131072}, .typical = {0, 8192}});
  f.integer("chunk_tokens", in.chunk_tokens, {"Chunk", "tokens"}, "How much of a prompt one step takes.",
            {.range = {16, 16384, Scale::log}});
}

void describe_training(Fields& f, Inputs& in) {
  f.group("Training");
  f.integer("gpus", in.gpus, "GPUs", "How many train together.",
            {.range = {1, 131'072, Scale::log}, .typical = {8, 32'768}});
  f.real("tokens", in.tokens, {"Tokens", "tokens"}, "How many tokens the run reads.",
         {.range = {1e9, 1e14, Scale::log}});
  f.real("mfu", in.mfu, {"MFU", "%"}, "Model flops over the peak, while training goes on.", {.range = {1, 100}});
  shared::sequence(f, "sequence", in.sequence, {.help = "How many tokens a row has in training."});
  f.integer("stages", in.stages, "Pipeline stages", "How many stages the layers are cut into.",
            {.range = {1, 64, Scale::log}});
  f.integer("micro_batches", in.micro_batches, "Micro-batches", "How many pieces a GPU cuts its batch into.",
            {.range = {1, 512, Scale::log}, .typical = {1, 128}});
  f.real("document_tokens", in.document_tokens, {"A text, mean", "tokens"},
         "How long texts are on average before they are packed; their lengths are taken as exponential.",
         {.range = {16, 131072, Scale::log}});
}

void describe_rest(Fields& f, Inputs& in) {
  f.group("Money and failures");
  f.real("price_per_hour", in.price_per_hour, {"A GPU-hour", "$"}, "What an hour of one GPU costs you.",
         {.range = {0.1, 20, Scale::log}, .typical = {1, 6}});
  f.real("filled", in.filled, {"Filled hours", "%"}, "The share of paid hours in which steps run.",
         {.range = {1, 100}});
  f.real("save_s", in.save_s, {"A save stops training for", "s"}, "What one checkpoint takes off the clock.",
         {.range = {0.1, 3600, Scale::log}});
  f.real("gpu_mtbf_s", in.gpu_mtbf_s, {"Failures of one GPU are apart", "s"},
         "Llama 3 had 419 in 54 days on 16,384 GPUs: one in 2,111 days of a GPU.", {.range = {1e6, 1e10, Scale::log}});
  f.group("Bytes on the way");
  f.real("bytes", in.bytes, {"Bytes", "B"}, "What the ladder moves at each level, and the all-reduce sums.",
         {.range = {1e3, 1e12, Scale::log}, .typical = {1e6, 1e11}});
  shared::network(f, "network", in.network, {.help = "The link between machines."});
  f.integer("cameras", in.cameras, "Cameras", "How many a car has.", {.range = {1, 32}});
  f.real("megapixels", in.megapixels, "Megapixels", "Pixels of one camera, in millions.",
         {.range = {0.3, 50, Scale::log}});
  f.real("frames_per_s", in.frames_per_s, "Frames per second", "How often each camera takes one.",
         {.range = {1, 240, Scale::log}});
  f.real("pixel_bits", in.pixel_bits, "Bits per pixel", "What a raw pixel takes on the wire.", {.range = {8, 48}});
}

void describe_serving_sums(Fields& f, Sums& s) {
  f.group("Serving");
  f.real("token_s", s.token_s, {"One token, alone", "s"}, "At the least, for one request.",
         {.headline = true,
          .formula = "(weights read + cache) / (chips x bandwidth)",
          .source = "the bound that published decode is held against"});
  f.real("read_bytes", s.read_bytes, {"Weights read", "B"},
         "By one token: all but the embedding table, and of experts the active ones.",
         {.formula = "(active parameters - embedding table) x bits / 8"});
  f.real("prompt_s", s.prompt_s, {"A prompt", "s"}, "At the least, attention on top.",
         {.headline = true,
          .formula = "max(2 x parameters read x tokens / (chips x peak), bytes / bandwidth) + attention"});
  f.real("step_s", s.step_s, {"One step of the batch", "s"},
         {.formula = "max((weights read + caches) / (chips x bandwidth), FLOP / (chips x peak))"});
  f.real("tokens_per_s", s.tokens_per_s, "Tokens per second",
         "All requests together, at the most, while they write and no prompt is read.", {.formula = "batch / step"});
  f.real("ridge", s.ridge, {"Ridge", "FLOP/B"}, {.formula = "peak / bandwidth", .source = "Williams et al. 2009"});
  f.real("ridge_batch", s.ridge_batch, "Ridge as a batch", "Requests at which weights alone stop being the limit.",
         {.formula = "ridge x bits / 16"});
  f.real("drafted", s.drafted, {"Tokens of a round", "tokens"},
         {.formula = "(1 - a^(k + 1)) / (1 - a), or k + 1 at a = 1", .source = "Leviathan et al. 2023, equation 1"});
  f.real("launches", s.launches, "Kernels of a step", "Eager, one launch each.",
         {.absent = "The kernels of this model on this chip are not listed.",
          .source = "operations as Hugging Face's modeling_llama asks for them"});
  f.real("launch_s", s.launch_s, {"Launches of a step", "s"},
         "What the host takes to dispatch them one by one in eager PyTorch.",
         {.absent = "The kernels of this model on this chip are not listed.",
          .formula = "kernels x host's time for each"});
  f.real("answers_per_s", s.answers_per_s, "Tokens per second, prompts read too",
         "Each token of an answer pays for its share of the prompt as well.",
         {.formula = "1 / (step / batch + prompt's time / tokens of an answer)"});
  f.real("dollars_per_million", s.dollars_per_million, {"A million written tokens", "$"},
         "At the least, with the prompts that they answer.",
         {.formula = "price x chips / (3600 x tokens per second with prompts x filled) x 10^6"});
}

void describe_training_sums(Fields& f, Outputs& o) {
  Sums& s = o.sums;
  f.group("Training");
  f.real("activation_bytes", s.activation_bytes, {"Activations", "B"},
         "What all layers keep of one row for the backward pass, with fused attention.",
         {.absent = "This model's training is not counted.", .source = "operation by operation"});
  f.real("flops", s.flops, {"Work", "FLOP"}, {.formula = "6 N D", .source = "Kaplan et al. 2020"});
  f.real("train_s", s.train_s, {"Training time", "s"}, {.formula = "6 N D / (GPUs x peak x MFU)"});
  f.real("train_dollars", s.train_dollars, {"Training dollars", "$"}, {.formula = "GPU-hours x price"});
  f.real("bubble", s.bubble, {"Pipeline bubble", "%"}, "The share of a step in which a stage waits.",
         {.formula = "(p - 1) / (m + p - 1)", .source = "Narayanan et al. 2021"});
  f.real("mtbf_s", s.mtbf_s, {"Time between failures", "s"}, {.formula = "that of a GPU / GPUs"});
  f.real("save_every_s", s.save_every_s, {"Save every", "s"}, "The interval that keeps most of the clock.",
         {.formula = "M (1 + W(-exp(-1 - C / M)))", .source = "failures as a Poisson process"});
  f.real("all_reduce_s", s.all_reduce_s, {"All-reduce", "s"},
         "A ring over the chips that share layers, by its bytes; above eight through the network.",
         {.absent = "The chip states no link.",
          .formula = "2 (n - 1) / n x bytes / link",
          .source = "Patarasuk, Yuan 2009"});
  f.text("all_reduce_link", o.link, "Link of the all-reduce", "The slowest that the ring goes through.");
  f.real("link_bytes_per_s", s.link_bytes_per_s, {"Its rate for a rank", "B/s"}, "One direction.",
         {.absent = "The chip states no link."});
  f.group("Car");
  f.real("camera_bytes_per_s", s.camera_bytes_per_s, {"Cameras", "B/s"},
         {.formula = "cameras x pixels x frames x bits / 8"});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The page is for");
  shared::model(f, "model", in.model, {.help = "Its weights, its cache and its arithmetic.", .headline = true});
  shared::chip(f, "chip", in.chip, {.help = "Its peak, its memory and its links.", .headline = true});
  shared::parallel_tensor(f, "tensor_parallel", in.tensor_parallel, {.label = "Chips", .headline = true});
  describe_requests(f, in);
  describe_training(f, in);
  describe_rest(f, in);
}

void describe(Fields& f, TechniqueRow& r) {
  f.text("technique", r.technique, "Technique");
  f.text("side", r.side, "Side", "Serving or training.");
  static constexpr std::array<std::string_view, models::sheet::moved_count> keys{
      "first_token", "per_token", "gap",  "throughput", "weights", "states",
      "activations", "cache",     "work", "read",       "sent",    "kernels"};
  for (std::size_t i = 0; i < keys.size(); ++i)
    f.real(keys[i], r.factor[i], {column_words()[i].head, "\xC3\x97"}, column_words()[i].full,
           {.any_number = true, .may_be_missing = true, .formula = "with it / without it"});
  f.text("why_not", r.why_not, "Not here", "Why there are no factors.");
}

void describe(Fields& f, LevelRow& r) {
  f.text("level", r.level, "Level");
  f.real("bytes_per_s", r.bytes_per_s, {"Bandwidth", "B/s"}, "The whole chip, links in one direction.",
         {.may_be_missing = true});
  f.real("latency_s", r.latency_s, {"Latency", "s"}, "To the first byte.", {.may_be_missing = true});
  f.real("time_s", r.time_s, {"The bytes take", "s"}, {.may_be_missing = true, .formula = "bytes / bandwidth"});
  f.text("bandwidth_source", r.bandwidth_source, "Bandwidth from");
  f.text("latency_source", r.latency_source, "Latency from");
}

void describe(Fields& f, ChainRow& r) {
  f.text("chain", r.chain, "Chain");
  f.integer("place", r.place, "Place", "Counted from 1.");
  f.text("step", r.step, "Step");
  f.real("gain", r.gain, {"Gain", "\xC3\x97"}, "Infinite where nothing is left.",
         {.any_number = true, .formula = "before / after"});
  f.toggle("reaches", r.reaches, "Reaches the goal", "With this step it fits, or nothing is exposed any more.");
}

void describe(Fields& f, Outputs& o) {
  Sums& s = o.sums;
  f.group("Memory");
  f.real("weights_bytes", s.weights_bytes, {"Weights", "B"}, {.formula = "parameters x bits / 8"});
  f.real("state_bytes", s.state_bytes, {"Training state", "B"},
         {.headline = true, .formula = "parameters x (2 + 2 + 4 + 8)", .source = "Rajbhandari et al. 2019"});
  f.real("cache_token_bytes", s.cache_token_bytes, {"Cache of a token", "B"},
         {.headline = true, .formula = "2 x layers x KV heads x width x bits / 8, or layers x latent x bits / 8"});
  f.real("cache_bytes", s.cache_bytes, {"Cache of a request", "B"}, "With its whole context.",
         {.formula = "cache of a token x tokens"});
  f.real("fits", s.fits, "Requests that fit", {.formula = "(0.9 x memory - weights) / cache of a request"});
  f.real("parameters", s.parameters, {"Parameters", "parameters"}, {.source = "the model's config"});
  describe_serving_sums(f, s);
  describe_training_sums(f, o);
  f.group("Tables");
  f.table("techniques", o.techniques, "What moves what", "Each technique alone, with it over without it.");
  f.table("levels", o.levels, "Ladder", "Bandwidth and latency of every level of the chip, and a kernel launch.");
  f.table("chains", o.chains, "What to do first",
          "At each place the step that gains most there; a gain is of what is left.");
}

void describe(Fields& f, View& view) {
  f.integer("page", view.page, "Page of the rows", "Which rows are shown where not all have room; 0 is the first page.",
            {.range = {0, 25, Scale::step}});
  f.text("search", view.search, "Search", "Rows and columns that say it are lit.", {.max_bytes = 60});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"interview/cheat-sheet",
                                                   "Cheat sheet",
                                                   "What moves what, and what are the numbers for your model and chip?",
                                                   {.document = "Markdown"}},
                                                  compute, arrange, draw);
}

}  // namespace chapters::interview::cheat_sheet
