#include "chapters/roofline/transformer_layer/lab.h"

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/shared_choices.h"
#include "chapters/roofline/transformer_layer/draw.h"

namespace chapters::roofline::transformer_layer {
namespace {

const Choices conventions = {
    {"causal", "Causal: half the square", "Only pairs of a token with earlier ones count. Megatron-LM since 2025."},
    {"full", "Full square", "Every pair counts, masked or not. PaLM, Narayanan et al. 2021."}};
const Choices recomputes = {
    {"none", "None", "All activations are kept."},
    {"selective", "Selective: attention", "Scores, softmax and values are recomputed in the backward pass."},
    {"full", "Full", "Every layer's forward pass is recomputed."}};
const Choices formats = {{"fp32", "FP32", "4 bytes per element"},
                         {"bf16", "BF16", "2 bytes per element"},
                         {"fp16", "FP16", "2 bytes per element"},
                         {"fp8", "FP8", "1 byte per element"},
                         {"int8", "INT8", "1 byte per element"},
                         {"fp4", "4 bits", "Half a byte per element, and for weights their scales"}};
const Choices regimes = {{"memory", "memory-bound", ""},
                         {"compute", "compute-bound", ""},
                         {"launch", "launch-bound", ""},
                         {"link", "link-bound", ""}};
static_assert(static_cast<int>(models::AttentionFlops::full) == 1 && static_cast<int>(models::Recompute::full) == 2 &&
                  static_cast<int>(models::Regime::link) == 3,
              "the choices above stand in the order of the enumerators");

constexpr double longest_tokens = 1048576;
constexpr std::string_view roofline_source = "Williams, Waterman, Patterson, CACM 52(4), 2009";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The step");
  shared::model(
      f, "model", in.model,
      {.help = "Published configuration; drop a config.json on the window to use your own.", .when = {"config", ""}});
  shared::phase(f, "phase", in.phase, {.help = "What one step does."});
  shared::concurrent_sequences(f, "batch", in.batch, {.help = "Sequences that run together."});
  shared::sequence(f, "sequence", in.sequence,
                   {.help = "New tokens of each sequence in training and prefill. In decode it sets only the training "
                            "step that 6ND and Megatron's formula are compared with."});
  shared::context(
      f, "context", in.context,
      {.help = "Decode: tokens that each new one attends to, itself among them.", .when = {"phase", "decode"}});
  f.group("Own model, and chip");
  f.file(
      "config", in.config, "Your config.json",
      "A Hugging Face config.json. The window makes it a model that every lab offers; elsewhere, while one is here, it "
      "stands in for the model above.",
      {.reads = {FileKind::model_config}, .accepts = "json"});
  shared::chip(f, "chip", in.chip, {.help = "One chip: dense peak and memory bandwidth as specified."});
  f.group("Formats");
  shared::format(
      f, "format", in.format, formats,
      {.label = "Weights",
       .help =
           "Format of the matrices inside the layers. 4 bits are INT4 in groups of 128 with a 16-bit scale (4.125), "
           "next to 4-bit activations NVFP4 (4.5). Below 16 bits the embedding, norms and output matrix stay in 16. "
           "Narrower than the activations, it saves bytes and no arithmetic."});
  f.choice("activation_format", in.activation_format, formats, "Activations",
           "Format between operations; matmuls run in it, or in the weights' where that is wider.");
  f.choice("kv_format", in.kv_format, formats, "KV cache", "Format of cached keys and values.");
  f.group("Kernels");
  f.toggle("fused_attention", in.fused_attention, "Fused attention",
           "Scores stay on the chip and masked tiles are skipped (FlashAttention). Off: the whole square is computed, "
           "written, read for the softmax, written and read once more.");
  f.toggle("fused_elementwise", in.fused_elementwise, "Fused element-wise",
           "Residual add joins the norm after it, activation joins the gate matmul.");
  f.real("launch_s", in.launch_s, {"Kernel launch", "s"},
         "No kernel is shorter than this. 0 leaves the classical roofline; eager PyTorch needs a few microseconds, a "
         "CUDA graph about one.",
         {.range = {0, 2e-5}});
  f.group("Counting");
  f.choice("attention_flops", in.attention_flops, conventions, "Attention counted",
           "Published figures differ here, by a tenth and more at long sequences. A decoded token has nothing after "
           "it, so both agree on it.");
  f.choice("recompute", in.recompute, recomputes, "Recomputation", "What the backward pass recomputes to spare memory.",
           {.when = {"phase", "train"}});
}

void describe(Fields& f, BlockRow& row) {
  f.text("name", row.name, "Kind of work");
  f.real("time_s", row.time_s, {"Time", "s"});
  f.real("time_share", row.time_share, {"Share of the time", "%"});
  f.real("flops_share", row.flops_share, {"Share of the flops", "%"}, "Everything counts, softmax and norms too.");
  f.real("bytes_share", row.bytes_share, {"Share of the bytes", "%"});
}

void describe(Fields& f, OperationRow& row) {
  f.text("name", row.timed.operation.name, "Operation");
  f.text("group", row.group, "Group");
  f.text("kind", row.timed.operation.layer, "Part", "Kind of layer, embedding or output.");
  f.integer("count", row.timed.operation.count, "Count", "Times in the model.");
  f.text("shape", row.shape, "Shape", "[rows × depth] × [depth × columns], empty where there is no matmul.");
  f.integer("parameters", row.timed.operation.parameters, {"Parameters", "parameters"});
  f.real("flops", row.timed.cost.flops, {"Flops of one", "FLOP"});
  f.real("bytes", row.bytes, {"Bytes of one", "B"});
  f.real("intensity", row.timed.placement.intensity, {"Intensity", "FLOP/B"});
  f.real("compute_s", row.timed.placement.compute_s, {"Arithmetic of one", "s"});
  f.real("memory_s", row.timed.placement.memory_s, {"Memory traffic of one", "s"});
  f.real("time_s", row.timed.placement.time_s, {"Time of one", "s"});
  f.real("all_s", row.all_s, {"Time of all", "s"});
  f.real("share", row.share, {"Share of the step, all of them", "%"});
  f.choice("regime", row.timed.placement.regime, regimes, "Regime");
}

namespace {

void describe_flops(Fields& f, Outputs& out) {
  f.group("Flops");
  f.real("flops_total", out.totals.product_flops, {"Flops of the step", "FLOP"},
         "Matmuls, a multiply-add being two, recomputation in. Norms, softmax and the like are in the table "
         "and in the time, not here, as published counts have it.",
         {.formula = "sum of count x 2 m n k"});
  f.real("hardware_flops", out.totals.hardware_product_flops, {"Flops the hardware does", "FLOP"},
         "With what no published count credits: masked pairs that unfused attention computes all the same, and the "
         "scores that FlashAttention recomputes in its backward pass.",
         {.formula = "flops_total + masked and rescored pairs", .source = "Dao et al. 2022, section 3.1"});
  f.real("flops_per_token", out.totals.flops_per_token, {"Flops a new token", "FLOP"},
         {.formula = "flops_total / new tokens"});
  f.real("attention_flops_share", out.attention_flops_share, {"Attention's share of the flops", "%"},
         "Scores of queries with keys, and their products with values; the projections count as weights.",
         {.formula = "flops of the group attention / flops_total"});
  f.real("mfu", out.mfu, {"MFU at best", "%"},
         "Model flops utilization that the roofline allows; recomputation is not credited.",
         {.headline = true,
          .formula = "flops without recomputation / (time x peak)",
          .source = "Chowdhery et al. 2022, appendix B"});
  f.real("hfu", out.hfu, {"HFU at best", "%"},
         "Hardware flops utilization: recomputation is credited, also that of the scores in the backward pass of fused "
         "attention.",
         {.formula = "hardware_flops / (time x peak)"});
}

void describe_parameters(Fields& f, Outputs& out) {
  f.group("Parameters");
  f.integer("parameters_total", out.parameters.total, {"Parameters", "parameters"},
            "Every weight of the model; buffers and multi-token prediction are none.");
  f.integer("parameters_active", out.parameters.active, {"Active per token", "parameters"},
            "Less the experts that a token is not sent to; both embedding matrices are in.");
  f.integer("parameters_attention", out.parameters.layers.attention, {"In attention", "parameters"},
            "Query, key, value and output projections with their biases.");
  f.integer("parameters_feed_forward", out.parameters_feed_forward, {"In feed-forward", "parameters"},
            "Dense, routed and shared experts, and the router.");
  f.integer("parameters_embedding", out.parameters_embedding, {"In embedding and output", "parameters"},
            "Token and position tables, and the output matrix where it is not the same as the token table.");
  f.integer("parameters_norms", out.parameters_norms, {"In norms", "parameters"},
            "Gains and biases of every norm, those of queries and keys among them.");
  f.group("Against formulas");
  f.real("six_nd_ratio", out.six_nd_ratio, "Training against 6ND",
         "N: active parameters less the input embedding, whose rows are looked up, not multiplied. What is above 1 is "
         "attention.",
         {.formula = "training_flops_per_token / 6 N", .source = "Kaplan et al. 2020, section 2.1"});
  f.real("megatron_ratio", out.megatron_ratio, "Training against Megatron-LM",
         "Its formula counts attention causal; set to full, the surplus is the other half of the square.",
         {.formula = "training_flops_per_token / Megatron-LM's count",
          .source = "Megatron-LM num_floating_point_operations, 2025"});
  f.real("training_flops_per_token", out.training_flops_per_token, {"Training flops per token", "FLOP"},
         "At the sequence set, whatever the phase, without recomputation.");
}

}  // namespace

void describe(Fields& f, Outputs& out) {
  f.group("Time");
  f.real("time_s", out.time_s, {"Time of the step", "s"},
         "All operations one after the other, each under the roofline: a lower bound.",
         {.headline = true,
          .formula = "sum of count x max(flops / peak, bytes / bandwidth, launches)",
          .source = roofline_source});
  f.real("tokens_per_s", out.tokens_per_s, {"New tokens per second", "tokens/s"},
         {.headline = true, .formula = "new tokens / time"});
  f.real("fused_time_s", out.fused_time_s, {"Time, all fused", "s"}, "The same step with both fusions on.");
  f.real("unfused_time_s", out.unfused_time_s, {"Time, nothing fused", "s"}, "The same step with both fusions off.");
  f.group("The layer");
  f.text("layer_kind", out.layer_kind, "Kind of layer", "The one that takes most of the step.");
  f.real("layer_s", out.layer_s, {"One layer", "s"}, {.formula = "sum of its operations"});
  f.real("attention_block_share", out.attention_block_share, {"Attention block", "%"},
         "In the layer, all up to its last projection or attention kernel, norms and adds among them.",
         {.formula = "time of the block / time of the layer"});
  f.real("feed_forward_block_share", out.feed_forward_block_share, {"Feed-forward block", "%"},
         "In the layer, all after the attention block, norms and adds among them.",
         {.formula = "time of the block / time of the layer"});
  f.group("Walls");
  f.real("memory_bound_share", out.memory_bound_share, {"Time memory-bound", "%"},
         {.headline = true, .formula = "time of memory-bound operations / time"});
  f.real("compute_bound_share", out.compute_bound_share, {"Time compute-bound", "%"},
         {.formula = "time of compute-bound operations / time"});
  f.real("launch_bound_share", out.launch_bound_share, {"Time launch-bound", "%"},
         {.formula = "time of launch-bound operations / time"});
  f.real("intensity", out.intensity, {"Intensity of the step", "FLOP/B"}, "Everything counts, softmax and norms too.",
         {.formula = "all flops / bytes_total"});
  f.real("weights_intensity", out.weights_intensity, {"Intensity of matmuls with weights", "FLOP/B"},
         "A batch reads the weights once for all its rows.", {.formula = "their flops / their bytes"});
  f.real("attention_intensity", out.attention_intensity, {"Intensity of attention", "FLOP/B"},
         "Each sequence has keys and values of its own, so that a batch brings no more work to a byte.",
         {.formula = "flops of the group attention / its bytes"});
  f.real("peak_flops_per_s", out.peak_flops_per_s, {"Peak", "FLOP/s"}, "Dense, in the format of the matmuls.");
  f.real("bandwidth_bytes_per_s", out.bandwidth_bytes_per_s, {"Memory bandwidth", "B/s"}, "As specified.");
  f.real("ridge", out.ridge, {"Ridge point", "FLOP/B"}, {.formula = "peak / bandwidth", .source = roofline_source});
  describe_flops(f, out);
  f.group("Bytes");
  f.real("bytes_total", out.totals.bytes, {"Memory traffic", "B"},
         {.formula = "sum of count x (read + written)", .source = "operand sizes, each moved once"});
  f.real("mbu", out.mbu, {"Memory bandwidth used", "%"}, {.formula = "bytes_total / (time x bandwidth)"});
  f.real("fused_bytes", out.fused_bytes, {"Traffic, all fused", "B"}, "Bytes moved with both fusions on.");
  f.real("unfused_bytes", out.unfused_bytes, {"Traffic, nothing fused", "B"}, "Bytes moved with both fusions off.");
  f.group("Memory");
  f.real("chip_share", out.chip_share, {"Weights and cache, of the chip", "%"},
         "Above 100 %, one chip cannot hold them; the times are then those of a chip that could.",
         {.formula = "(weights + cache) / memory"});
  f.real("weights_bytes", out.resident.weights, {"Weights", "B"},
         {.formula = "parameters_total x bytes of the format"});
  f.real("kv_total_bytes", out.resident.cache, {"Cache of the batch", "B"},
         "Nothing in training. Layers with a sliding window keep no more than it.");
  f.real("kv_bytes_per_token", out.kv_bytes_per_token, {"Cache per token", "B"},
         {.formula = "2 x layers x kv heads x head width x bytes; latent attention: layers x (rank + rotary) x bytes"});
  describe_parameters(f, out);
  f.group("Tables");
  f.table("blocks", out.blocks, "Kinds of work", "The step summed up by what is done.");
  f.table("operations", out.operations, "Operations",
          "Every operation in the order in which it runs; figures are of one of its count.", {.max_items = 1024});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"roofline/transformer-layer",
       "Transformer layer",
       "Where do the flops, the bytes and the time of one step go, and which of them is the wall?",
       {.published_keys = "model chip"}},
      compute, arrange, draw);
}

}  // namespace chapters::roofline::transformer_layer
