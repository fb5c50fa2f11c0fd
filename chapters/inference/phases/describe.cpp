#include "chapters/inference/phases/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::inference::phases {
namespace {

constexpr std::string_view unfitted =
    "Only runs of one request on one chip as it is were fitted, and not on every chip.";

void describe_work(Fields& f, Outputs& o) {
  using models::inference::PhaseWork;
  f.group("Work, which no chip changes");
  f.real("prefill_flops", o.prefill_work.matmul_flops, {"Prefill with weights", "FLOP"},
         {.formula = "2 x weights that a token uses x tokens"});
  f.real("prefill_attention_flops", o.prefill_work.attention_flops, {"Prefill's attention", "FLOP"},
         "Scores and values of the causal half.", {.formula = "2 x 2 x tokens^2 / 2 x heads x width x layers"});
  f.real("prefill_bytes", o.prefill_work.weight_bytes, {"Prefill reads", "B"}, "The weights once.");
  f.real("step_weight_bytes", o.decode_work.weight_bytes, {"A step reads of weights", "B"},
         "Every weight but the input embedding, which is looked up; of experts those that the batch is expected to "
         "touch.");
  f.real("step_cache_bytes", o.decode_work.cache_bytes, {"A step reads of caches", "B"},
         {.formula = "batch x context x bytes of a token"});
  f.real("step_flops", o.decode_work.matmul_flops, {"A step computes", "FLOP"}, "With the weights.");
  f.real("decode_context", o.decode_context, {"Tokens in the cache", "tokens"},
         "On average, while the answer is written.");
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The request");
  f.integer("prompt", in.prompt, {"Prompt", "tokens"}, "How many tokens the request begins with.",
            {.range = {1, 1 << 20, Scale::log}, .typical = {16, 131072}, .headline = true});
  f.integer("answer", in.answer, {"Answer", "tokens"}, "How many tokens are written, one after another.",
            {.range = {1, 65536, Scale::log}, .typical = {1, 8192}, .headline = true});
  shared::concurrent_sequences(f, "batch", in.batch, {.help = "How many such requests go together.", .headline = true});
  f.integer("context", in.context, {"Tokens in the cache", "tokens"},
            "How many each step of decode attends to; 0 takes the prompt and half of the answer.",
            {.range = {0, 1 << 20}, .typical = {0, 131072}});
  f.group("The model and the chip");
  shared::model(f, "model", in.model, {.help = "Its weights are read, its shape says what a token takes."});
  shared::chip(f, "chip", in.chip, {.help = "Its peak is the ceiling above the axis, its bandwidth the floor below."});
  shared::format(f, "format", in.format, {.help = "The format of weights and matmuls."});
  shared::parallel_tensor(f, "tensor_parallel", in.tensor_parallel,
                          {.label = "Chips", .help = "How many chips share every layer; the bound leaves out talk."});
  f.group("Formats");
  f.real("weight_bits", in.weight_bits, "Bits per weight",
         "0 takes the format's; weights that are stored narrower than they are multiplied have fewer (llama.cpp's "
         "Q4_K_M: 4.9).",
         {.range = {0, 32}, .typical = {0, 16}});
  f.real("kv_bits", in.kv_bits, "Bits of the cache", "How many bits a number of the cache takes.",
         {.range = {2, 32}, .typical = {2, 16}});
  f.group("What if");
  f.real("flops_scale", in.flops_scale, {"Peak", "\xC3\x97"}, "How many times the chip's FLOP/s.",
         {.range = {0.125, 8, Scale::log}});
  f.real("bandwidth_scale", in.bandwidth_scale, {"Bandwidth", "\xC3\x97"}, "How many times the chip's bandwidth.",
         {.range = {0.125, 8, Scale::log}});
}

namespace {

void describe_bounds(Fields& f, Outputs& o) {
  f.group("The bound");
  f.real("first_token_s", o.now.first_token_s, {"First token", "s"}, "Prefill, at the least.",
         {.headline = true, .formula = "prefill + attention"});
  f.real("decode_tokens_per_s", o.now.tokens_per_s, "Tokens a second",
         "Output tokens of all requests together, at the most.", {.headline = true, .formula = "batch / step"});
  f.real("request_s", o.now.request_s, {"The request", "s"}, "From its start to its last token, at the least.",
         {.headline = true, .formula = "first token + answer x step"});
  f.real("prefill_time_s", o.now.prefill.time_s, {"Prefill with weights", "s"},
         "Arithmetic with the weights, the output matrix for every token as published bounds count it, or reading them "
         "where that takes longer.",
         {.formula = "max(2 x weights x tokens / peak, bytes / bandwidth)",
          .source = "the bound that published first tokens are held against"});
  f.real("attention_s", o.now.prefill.attention_s, {"Prefill's attention", "s"},
         "Scores and values over the prompt, at peak.", {.formula = "FLOP / peak"});
  f.real("decode_time_s", o.now.decode.time_s, {"A step", "s"}, "One token for every request, at the least.",
         {.formula = "max((weights + caches) / bandwidth, FLOP / peak)"});
  f.real("decode_percent", o.decode_percent, {"Share of decode", "%"},
         "The part of the request's time after its first token.");
  f.group("On the roofline");
  f.real("intensity_decode", o.intensity_decode, {"Decode intensity", "FLOP/B"},
         {.headline = true, .against = {"ridge", "ridge"}, .formula = "FLOP / bytes of a step"});
  f.real("intensity_prefill", o.intensity_prefill, {"Prefill intensity", "FLOP/B"},
         {.formula = "FLOP / bytes of the prompt"});
  f.real("ridge", o.ridge, {"Ridge", "FLOP/B"}, {.formula = "peak / bandwidth"});
  f.real("critical_batch", o.critical_batch, "Critical batch", "Requests at which a step of decode reaches the ridge.",
         {.absent = "No batch reaches the ridge: what each request reads for itself holds it below.",
          .formula = "ridge x weights / (FLOP - ridge x cache) of one request"});
  f.real("fits_batch", o.fits_batch, "Requests that fit",
         "Whole caches next to the weights, in nine tenths of the memory.");
  f.group("What if");
  f.real("flops_gain_s", o.flops_gain_s, {"Twice the FLOP/s wins", "s"},
         "The request as it is, less the request at twice the peak.");
  f.real("bytes_gain_s", o.bytes_gain_s, {"Twice the bandwidth wins", "s"},
         "The request as it is, less the request at twice the bandwidth.");
  f.real("flops_tokens_per_s", o.faster_flops.tokens_per_s, "Tokens a second, twice the FLOP/s",
         "All requests together, on a chip with twice the peak and the same memory.");
  f.real("bytes_tokens_per_s", o.faster_bytes.tokens_per_s, "Tokens a second, twice the bandwidth",
         "All requests together, on a chip with twice the bandwidth and the same peak.");
  f.real("flops_first_token_s", o.faster_flops.first_token_s, {"First token, twice the FLOP/s", "s"},
         "Prefill on a chip with twice the peak and the same memory.");
  f.real("first_token_gain_s", o.first_token_gain_s, {"Twice the FLOP/s wins of the first token", "s"},
         "Prefill as it is, less prefill at twice the peak.");
  f.real("as_is_request_s", o.as_is_request_s, {"The request on the chip as it is", "s"},
         "Without any what-if, at the least.");
  f.real("flops_request_s", o.faster_flops.request_s, {"The request, twice the FLOP/s", "s"},
         "On a chip with twice the peak and the same memory.");
  f.real("bytes_request_s", o.faster_bytes.request_s, {"The request, twice the bandwidth", "s"},
         "On a chip with twice the bandwidth and the same peak.");
}

void describe_expected(Fields& f, Outputs& o) {
  f.group("Expected");
  f.text("engine", o.engine, "Engine", "Whose published runs on one such chip the expected figures are fitted to.");
  f.real("expected_step_s", o.expected_step_s, {"A step", "s"}, "What the engine was seen to take.",
         {.absent = unfitted,
          .formula = "start + bytes / (efficiency x bandwidth)",
          .source = "least absolute relative error on every second of its published runs"});
  f.real("expected_tokens_per_s", o.expected_tokens_per_s, "Tokens a second", "All requests together.",
         {.absent = unfitted});
  f.real("expected_request_s", o.expected_request_s, {"The request", "s"},
         "Its prefill at the bound, since no prefill was fitted, and its steps as expected.", {.absent = unfitted});
  describe_work(f, o);
  f.group("The roofs");
  f.real("peak_flops_per_s", o.peak_flops_per_s, {"Peak", "FLOP/s"}, "All chips together.");
  f.real("bandwidth_bytes_per_s", o.bandwidth_bytes_per_s, {"Bandwidth", "B/s"}, "All chips together.");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_bounds(f, o);
  describe_expected(f, o);
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"inference/phases",
                                                   "Phases",
                                                   "Where does the time of one request go, and which roof is it under?",
                                                   {.published_keys = "model chip"}},
                                                  compute, arrange, draw);
}

}  // namespace chapters::inference::phases
