#include "chapters/mechanism/shared_choices.h"
#include "chapters/training/optimizer/lab.h"

namespace chapters::training::optimizer {
namespace {

// In the order of models::OptimizerKind, UpdateCode and OptimizerRecipe.
const Choices kinds{
    {"adamw", "AdamW", "Two moments."},
    {"adamw_8bit", "8-bit AdamW", "Both moments in 8 bits, a scale for 256 elements; always one kernel per tensor."},
    {"adafactor", "Adafactor", "A row and a column of each matrix instead of the second moment; no first."},
    {"lion", "Lion", "One moment; the update is a sign."},
    {"muon", "Muon", "One moment, made orthogonal by five Newton-Schulz steps; AdamW for what is no matrix."}};
static_assert(models::optimizer_kind_count == 5);
const Choices codes{{"looped", "looped", "for each tensor: a kernel for each operation."},
                    {"foreach", "foreach", "A kernel for each operation over lists of tensors."},
                    {"fused", "fused", "As few passes as the algorithm allows."}};
static_assert(models::update_code_count == 3);
const Choices recipes{
    {"master", "BF16, FP32 master", "BF16 weights and gradients; master weights and moments in FP32."},
    {"fp32", "all FP32", "4 bytes everywhere."},
    {"bf16", "all BF16", "2 bytes everywhere, moments too."}};
static_assert(models::optimizer_recipe_count == 3);
constexpr std::string_view torch = "operations of torch/optim, v2.6, each tensor once per kernel";

}  // namespace

const Choices& kind_choices() { return kinds; }
const Choices& code_choices() { return codes; }

void describe(Fields& f, Inputs& in) {
  f.group("The optimizer");
  f.choice("kind", in.kind, kinds, "Optimizer", "What it keeps and computes.", {.headline = true});
  f.choice("code", in.code, codes, "Written",
           "How its operations become kernels; 8-bit AdamW is a kernel per tensor however it is written.",
           {.headline = true, .when = {"kind", "adamw|adafactor|lion|muon"}});
  f.choice("recipe", in.recipe, recipes, "Recipe", "Formats of weights, gradients and moments.");
  f.group("The model and its chips");
  shared::model(f, "model", in.model, {.help = "Its parameters and how many tensors they are."});
  shared::chip(f, "chip", in.chip, {.help = "Its bandwidth times the share below, and its BF16 peak."});
  shared::parallel_shards(f, "shards", in.shards,
                          {.help = "Each chip updates its part of every tensor (ZeRO, FSDP); 1 is the whole model."});
  f.real("tokens", in.tokens, {"Tokens per step", "tokens"},
         "How many tokens this chip works through, forward and backward, between two updates.",
         {.range = {256, 4e6, Scale::log}, .typical = {1024, 262144}, .headline = true});
  f.group("What is reached");
  f.real("roof_share", in.roof_share, "Share of bandwidth",
         "What elementwise kernels reach of it: 0.65 to 0.75 in our own run on an H100, fused AdamW in BF16 0.55.",
         {.range = {0.2, 1}});
  f.real("matrix_share", in.matrix_share, "Share of the peak",
         "What forward and backward, and Muon's matmuls, reach of it; assumed.", {.range = {0.05, 1}});
  f.real("launch_s", in.launch_s, {"An operation on the CPU", "s"},
         "Time between two kernels that eager Python cannot go below; assumed.", {.range = {5e-7, 1e-4, Scale::log}});
}

void describe(Fields& f, ChoiceRow& r) {
  f.text("optimizer", r.optimizer, "Optimizer");
  f.text("code", r.code, "Written");
  f.text("home", r.home, "Found in",
         "hypothetical: torch.optim (v2.9) has no such code, and the figures are what it would need.");
  f.real("traffic_bytes", r.traffic_bytes, {"Traffic", "B"}, "Per parameter.", {.source = torch});
  f.real("state_bytes", r.state_bytes, {"Moments", "B"}, "Per parameter.", {.source = torch});
  f.real("time_s", r.time_s, {"Time", "s"}, {.formula = "passes, each traffic / bandwidth or a launch"});
  f.real("launches", r.launches, "Kernels", {.source = torch});
  f.real("step_share", r.step_share, {"Share of the step", "%"}, {.formula = "time / step"});
}

void describe(Fields& f, Outputs& o) {
  f.group("One parameter");
  f.real("traffic_bytes", o.traffic_bytes, {"Traffic per parameter", "B"},
         "Mean over all parameters: Muon updates matrices inside layers, AdamW the rest.",
         {.headline = true, .formula = "read + written", .source = torch});
  f.real("state_bytes", o.state_bytes, {"Moments per parameter", "B"},
         {.headline = true, .source = "what the optimizer keeps"});
  f.real("read_bytes", o.read_bytes, {"Read", "B"}, {.source = torch});
  f.real("write_bytes", o.write_bytes, {"Written", "B"}, {.source = torch});
  f.real("matrix_bytes", o.matrix_bytes, {"In a hidden matrix", "B"}, "Traffic of a parameter that Muon updates.",
         {.source = torch});
  f.real("vector_bytes", o.vector_bytes, {"Elsewhere", "B"},
         "Traffic of a parameter that Muon leaves to AdamW: embedding, output, norms, biases.", {.source = torch});
  f.real("passes_count", o.passes_count, "Passes", {.source = torch});
  f.real("fused_bytes", o.fused_bytes, {"Fused", "B"}, "Traffic of as few passes as it takes.");
  f.real("traffic_ratio", o.traffic_ratio, "Over fused", {.formula = "traffic / fused"});
  f.real("stored_bytes", o.stored_bytes, {"Kept", "B"}, "Weight, gradient, master weight and moments of a parameter.");
  f.real("temporary_bytes", o.temporary_bytes, {"Temporaries", "B"},
         "Per parameter, at the peak of the step: lists keep all at once.");
  f.group("The step on this chip");
  f.real("time_s", o.time.time_s, {"Optimizer", "s"},
         {.headline = true, .formula = "passes, each traffic / bandwidth or a launch"});
  f.real("step_share", o.step_share, {"Share of the step", "%"}, {.headline = true, .formula = "optimizer / step"});
  f.real("fused_time_s", o.fused_time.time_s, {"Fused", "s"}, "The same optimizer, fused.");
  f.real("speedup", o.speedup, "Optimizer, fused", {.formula = "time / time fused"});
  f.real("over_adamw", o.over_adamw, "Over AdamW", "Its time over that of AdamW written the same way.",
         {.formula = "time / AdamW's time"});
  f.real("step_speedup", o.step_speedup, "Step, fused", {.formula = "step / step with the fused one"});
  f.real("forward_backward_s", o.forward_backward_s, {"Forward and backward", "s"},
         "Linear layers and the output; attention's matmuls between positions are left out.",
         {.formula = "6 x (parameters - input embedding) x tokens / (peak x share)", .source = "Kaplan et al. 2020"});
  f.real("step_s", o.step_s, {"Step", "s"}, {.formula = "forward and backward + optimizer"});
  f.real("launches", o.time.launches, "Kernels", "Launched by the optimizer.", {.source = torch});
  f.real("launch_wait_s", o.launch_wait_s, {"Launch-bound", "s"}, "Time of kernels that are shorter than a launch.",
         {.formula = "such kernels x a launch"});
  f.real("bytes", o.time.bytes, {"Bytes", "B"}, "What the optimizer reads and writes on this chip.", {.source = torch});
  f.real("product_flops", o.time.flops, {"Matmuls", "FLOP"}, "Newton-Schulz steps of Muon.",
         {.formula = "5 x (4 n + 2 n^2 / m) per parameter"});
  f.real("product_share", o.product_share, {"Matmuls over the step's", "%"},
         "FLOPs over FLOPs: Muon's matmuls on this chip, over forward and backward.",
         {.formula = "matmuls / (6 x (parameters - input embedding) x tokens)"});
  f.real("product_time_share", o.product_time_share, {"Matmuls, of the time", "%"},
         "The optimizer's time in which Muon's matmuls run.", {.formula = "time of matmuls / optimizer"});
  f.real("intensity", o.intensity, {"Intensity", "FLOP/B"}, "14 FLOPs per parameter, and Muon's matmuls.",
         {.formula = "FLOPs / bytes"});
  f.real("ridge", o.ridge, {"Ridge", "FLOP/B"}, {.formula = "peak / bandwidth"});
  f.group("Memory on this chip");
  f.real("chip_state_bytes", o.chip_state_bytes, {"Kept", "B"}, {.formula = "kept x parameters / shards"});
  f.real("chip_temporary_bytes", o.chip_temporary_bytes, {"Temporaries", "B"},
         {.formula = "temporaries x parameters / shards"});
  f.real("parameters", o.parameters, {"Parameters", "parameters"}, {.source = "the model's config"});
  f.real("tensors", o.tensors, "Tensors", {.source = "the model's config"});
  f.group("Every optimizer");
  f.table("choices", o.choices, "The same model under every optimizer", {.max_items = 16});
}

void describe(Fields& f, View& v) {
  f.real("at", v.at, {"Travelled", "B"}, "Bytes per parameter so far; a repeated round counts once.",
         {.range = {0, 1e9}});
  f.toggle("playing", v.playback.playing, "Playing", "Bytes travel by the clock.");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"training/optimizer", "Optimizer", "How far does a parameter travel to be updated?"}, compute, arrange, draw);
}

}  // namespace chapters::training::optimizer
