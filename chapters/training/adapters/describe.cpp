#include "chapters/described/training_memory.h"
#include "chapters/mechanism/shared_choices.h"
#include "chapters/training/adapters/lab.h"

namespace chapters::training::adapters {
namespace {

using namespace models::adapters;

const Choices methods{{"full", "Full", "Every weight is trained."},
                      {"lora", "LoRA", "A pair of thin matrices is trained next to each frozen 16-bit one."},
                      {"qlora", "QLoRA", "The same pairs, and the frozen matrices are kept in 4-bit NormalFloat."},
                      {"bottleneck", "Adapter layers", "Two small layers with an activation between, twice a layer."}};
static_assert(method_count == 4);
const Choices targets{{"query_value", "Queries, values", "Two matrices per layer, as in the paper of LoRA."},
                      {"attention", "Attention", "Queries, keys, values and output."},
                      {"all_linear", "All linear", "Every matrix of a layer, as in the paper of QLoRA."}};
static_assert(targets_count == 3);
const Choices states{
    {"master", "BF16, FP32 master", "16 B for each number that is trained: 2, 2, master 4, moments 8."},
    {"pure_bf16", "All BF16", "8 B: weight, gradient and two moments of 2."},
    {"moments_8bit", "8-bit moments", "6.03 B: weight 2, gradient 2, moments 2.03."}};
static_assert(states_count == 3);
const Choices formats{{"bf16", "BF16", "Products run at the BF16 peak."},
                      {"fp8", "FP8", "Products run at the FP8 peak."}};
const Choices shifts{{"turned", "Turned", "Digits are turned by up to 52 degrees, either way."},
                     {"mirrored", "Mirrored", "Left and right are exchanged."},
                     {"relabelled", "Relabelled", "Each digit is called by the next one's name."}};
static_assert(task_shift_count == 3);

constexpr std::string_view lora_paper = "Hu et al. 2021", qlora_paper = "Dettmers et al. 2023, section 3";
constexpr std::string_view trained_here = "trained here: 64 pixels, 32 hidden units, 10 digits";
constexpr std::string_view roofline = "each kernel under the roofline, one after the other";

void describe_memory(Fields& f, Outputs& o) {
  f.group("Memory of one GPU");
  f.real("memory_bytes", o.memory_bytes, {"Memory", "B"}, "At the fullest moment of a step, one micro-batch at work.",
         {.headline = true, .against = {"of", "chip_bytes"}, .formula = "sum of the owners"});
  f.real("full_memory_bytes", o.full_memory_bytes, {"Memory, all trained", "B"},
         "The same step with every weight trained.", {.formula = "sum of the owners"});
  f.real("memory_share", o.memory_share, {"Against all trained", "%"}, {.formula = "memory / memory, all trained"});
  f.real("base_bytes", o.held.base, {"Base weights", "B"}, {.formula = "parameters x bits / 8 / GPUs"});
  f.real("added_bytes", o.held.adapters, {"Added weights", "B"}, {.formula = "trained x 2 / GPUs"});
  f.real("gradients_bytes", o.held.gradients, {"Gradients", "B"}, {.formula = "trained x 2 / GPUs"});
  f.real("master_bytes", o.held.master, {"Master weights", "B"}, {.formula = "trained x bytes / GPUs"});
  f.real("moments_bytes", o.held.moments, {"Moments", "B"}, {.formula = "trained x bytes / GPUs"});
  f.real("full_states_bytes", o.full_states_bytes, {"Gradients and states, all trained", "B"},
         "Gradients, master weights and moments of a full fine-tuning.", {.formula = "parameters x bytes / GPUs"});
  f.real("full_activations_bytes", o.full_activations_bytes, {"Activations, all trained", "B"},
         "What the forward pass of a full fine-tuning keeps.", {.source = "counted operation by operation"});
  f.real("activations_bytes", o.held.activations, {"Activations", "B"},
         "What the forward pass keeps; the input of a frozen product only where a pair reads it.",
         {.source = "counted operation by operation"});
  f.real("temporary_bytes", o.held.temporary, {"Temporary", "B"},
         "The most of the logits, the output matrix's gradient, and what a layer adds while it runs: itself again, a "
         "4-bit matrix in 16.",
         {.source = "counted operation by operation"});
  f.real("base_bits", o.base_bits, "Bits of a base weight",
         "Over all weights; embedding, norms and output matrix stay in 16 bits.",
         {.formula = "4 + 8/64 + 32/(64 x 256) with double quantization", .source = qlora_paper});
  f.real("chip_bytes", o.chip_bytes, {"The chip's memory", "B"}, {.source = "the chip's data sheet"});
  f.toggle("fits", o.fits, "Fits", "The step fits the chip's memory.");
  f.toggle("full_fits", o.full_fits, "All trained fits", "The step with every weight trained would fit.");
  f.group("What is trained");
  f.real("trained", o.trained, {"Trained", "parameters"},
         {.formula = "sum over the matrices of rank x (inputs + outputs)", .source = lora_paper});
  f.real("trained_share", o.trained_share, {"Trained", "%"}, {.headline = true, .formula = "trained / parameters"});
  f.real("parameters", o.parameters, {"Base model", "parameters"}, {.source = "counted from its config"});
  f.real("pairs", o.pairs, "Pairs", "Matrices that have one.", {.source = "counted from its config"});
  f.real("adapter_bytes", o.adapter_bytes, {"Saved", "B"}, "What a checkpoint of the result holds.",
         {.formula = "trained x 2"});
}

void describe_step(Fields& f, Outputs& o) {
  f.group("FLOPs of a step");
  f.real("flops_saved", o.flops_saved, {"FLOPs saved", "%"}, "Against training all weights.",
         {.headline = true, .formula = "1 - FLOPs / FLOPs, all trained"});
  f.real("step_flops", o.step_flops, {"FLOPs", "FLOP"}, {.formula = "sum of the four below"});
  f.real("full_flops", o.full_flops, {"FLOPs, all trained", "FLOP"}, {.formula = "sum of the four with all trained"});
  f.real("forward_flops", o.flops.forward, {"Forward", "FLOP"}, {.formula = "2 x weights x tokens, and attention"});
  f.real("recomputed_flops", o.flops.recomputed, {"Run again", "FLOP"}, {.formula = "the layers' forward once more"});
  f.real("input_gradient_flops", o.flops.input_gradient, {"Input gradients", "FLOP"},
         "What the layer below waits for; a frozen layer passes it on as any other.",
         {.formula = "as forward, attention twice"});
  f.real("weight_gradient_flops", o.flops.weight_gradient, {"Weight gradients", "FLOP"},
         "Those of what is trained alone.", {.formula = "2 x trained x tokens"});
  f.real("full_weight_gradient_flops", o.full_weight_gradient_flops, {"Weight gradients, all trained", "FLOP"},
         {.formula = "2 x weights x tokens"});
  f.real("flops_per_token", o.flops_per_token, {"FLOPs per token", "FLOP"}, {.formula = "FLOPs / tokens"});
  f.group("Time of a step");
  f.real("speedup", o.speedup, {"Speed against all trained", "\xC3\x97"},
         {.headline = true, .formula = "step, all trained / step"});
  f.real("step_s", o.step_s, {"A step", "s"}, "One GPU, all micro-batches and the optimizer, without any network.",
         {.source = roofline});
  f.real("full_step_s", o.full_step_s, {"A step, all trained", "s"}, {.source = roofline});
  f.real("base_s", o.time.base, {"Base model", "s"}, {.source = roofline});
  f.real("adapters_s", o.time.adapters, {"Kernels of the adapters", "s"}, {.source = roofline});
  f.real("unpack_s", o.time.unpack, {"4 bits written out in 16", "s"},
         "Before every product, forward and backward, in a kernel of its own.", {.source = roofline});
  f.real("optimizer_s", o.time.optimizer, {"Optimizer", "s"}, "One fused pass over what is trained.",
         {.source = roofline});
  f.real("tokens_per_s", o.tokens_per_s, {"Tokens per second and GPU", "tokens/s"}, {.formula = "tokens / step"});
  f.real("tokens", o.tokens, {"Tokens of a step", "tokens"}, {.formula = "batch x sequence x micro-batches"});
  f.table("methods", o.methods, "The four methods", "All else as it is set.", {.max_items = 4});
}

void describe_serving(Fields& f, Outputs& o) {
  f.group("Many adapters on one base");
  f.real("slowdown", o.slowdown, {"Slower by the adapters", "%"},
         "By LoRA's pairs of this rank on 16-bit weights, whatever is trained.",
         {.formula = "decode step / base alone - 1"});
  f.real("decode_s", o.decode_s, {"A decode step", "s"}, "One token for every sequence of the batch.",
         {.source = "base and pairs under the roofline, launches added"});
  f.real("base_decode_s", o.base_decode_s, {"Base alone", "s"}, {.source = "the roofline, launches added"});
  f.real("merged_decode_s", o.merged_decode_s, {"A merged copy for each", "s"},
         "One token for every sequence: each copy reads its whole model for its own sequences, one after the other, as "
         "if all of them fitted.",
         {.source = "the roofline, launches added"});
  f.real("batched_gain", o.batched_gain, {"Batched, against copies", "\xC3\x97"}, {.formula = "copies / decode step"});
  f.real("served_tokens_per_s", o.served_tokens_per_s, {"Tokens per second", "tokens/s"},
         {.formula = "batch / decode step"});
  f.real("merged_tokens_per_s", o.merged_tokens_per_s, {"Tokens per second, copies", "tokens/s"},
         {.formula = "batch / time of all copies"});
  f.real("one_adapter_bytes", o.one_adapter_bytes, {"One adapter", "B"}, {.formula = "rank x (inputs + outputs) x 2"});
  f.real("adapter_read_bytes", o.adapter_read_bytes, {"Read of adapters", "B"}, "In a decode step.",
         {.formula = "different adapters x bytes of one"});
  f.real("flops_added", o.flops_added, {"FLOPs added", "%"}, "To each token.",
         {.formula = "2 x pairs / FLOPs of base"});
  f.real("adapters_fit", o.adapters_fit, "Adapters that fit", "Next to one base and the cache, in the chip's memory.",
         {.formula = "(memory - cache - weights) / bytes of one"});
  f.real("merged_fit", o.merged_fit, "Merged copies that fit", "Next to the cache.",
         {.formula = "(memory - cache) / weights"});
  f.toggle("served_fit", o.served_fit, "Adapters fit", "Base, cache and the adapters of the batch fit the chip.");
  f.toggle("copies_fit", o.copies_fit, "Copies fit", "A merged copy for each adapter, and the cache, fit the chip.");
}

void describe_fit(Fields& f, Outputs& o) {
  f.group("A rank on the small network");
  f.real("fit_loss", o.fit_loss, "Loss at this rank", "Nats, on held-out digits of the second task.",
         {.source = trained_here});
  f.real("full_fit_loss", o.full_fit_loss, "Loss, all trained", "Nats, the same steps on all weights and biases.",
         {.source = trained_here});
  f.real("fit_training_loss", o.fit_training_loss, "Loss on its own digits",
         "Nats, at this rank on the digits that it was trained on.", {.source = trained_here});
  f.real("full_fit_training_loss", o.full_fit_training_loss, "Loss on its own digits, all trained",
         "Nats, on the digits that all weights were trained on.", {.source = trained_here});
  f.real("base_loss", o.base_loss, "Loss before", "Nats, of the first task's network on the second task.",
         {.source = trained_here});
  f.real("won_share", o.won_share, {"Fall in loss won", "%"},
         "How much of what training all weights wins; above 100 % this rank does better in the same steps.",
         {.formula = "(before - loss at this rank) / (before - loss, all trained)"});
  f.real("fit_accuracy", o.fit_accuracy, {"Accuracy at this rank", "%"}, {.source = trained_here});
  f.real("full_fit_accuracy", o.full_fit_accuracy, {"Accuracy, all trained", "%"}, {.source = trained_here});
  f.real("base_accuracy", o.base_accuracy, {"Accuracy before", "%"}, {.source = trained_here});
  f.real("fit_trained", o.fit_trained, {"Trained here", "parameters"},
         {.formula = "rank x (64 + 32) + rank x (32 + 10)"});
  f.real("fit_trained_share", o.fit_trained_share, {"Share of the small network", "%"},
         {.formula = "trained here / weights and biases"});
  f.real("first_accuracy", o.first_accuracy, {"First task, before", "%"}, {.source = trained_here});
  f.real("fit_kept", o.fit_kept, {"First task, at this rank", "%"}, "Accuracy that is left on the first task.",
         {.source = trained_here});
  f.real("full_fit_kept", o.full_fit_kept, {"First task, all trained", "%"}, "Accuracy that is left there.",
         {.source = trained_here});
  f.real("rank_share", o.rank_share, {"Full change in this rank", "%"},
         "How much of the change that training all weights made lies in its largest directions of this rank.",
         {.formula = "squares of the first singular values / all squares"});
}

}  // namespace

std::string_view method_name(Method method) { return methods[static_cast<std::size_t>(method)].label; }

void describe(Fields& f, Inputs& in) {
  f.group("What is trained");
  f.choice("method", in.method, methods, "Method", "What is trained and how the rest is kept.", {.headline = true});
  f.integer("rank", in.rank, "Rank", "Columns of A and rows of B; the inner width of adapter layers.",
            {.range = {1, max_rank, Scale::log}, .typical = {1, 256}, .headline = true});
  f.choice("targets", in.targets, targets, "Pairs on", "Which matrices of each layer get a pair.", {.headline = true});
  f.choice("states", in.states, states, "Kept of each", "What is kept of each number that is trained.");
  f.toggle("double_quantized", in.double_quantized, "Double quantization",
           "The scales of 4-bit weights are quantized too: 0.127 bits per weight in place of 0.5.",
           {.when = {"method", "qlora"}});
  f.group("Model and step");
  shared::model(f, "model", in.model, {.help = "The base model."});
  shared::chip(f, "chip", in.chip, {.help = "It trains, and it serves."});
  shared::parallel_shards(f, "gpus", in.gpus,
                          {.help = "GPUs over which weights, gradients and states are split evenly, each with "
                                   "sequences of its own; their network is left out."});
  shared::micro_batch(f, "batch", in.batch, {.help = "Sequences that go through the model together on a GPU."});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of each sequence."});
  f.integer("micro_batches", in.micro_batches, "Micro-batches",
            "Batches of a step, one after the other, before the optimizer runs once.",
            {.range = {1, 1024, Scale::log}, .typical = {1, 64}});
  f.toggle("recompute", in.recompute, "Run layers again",
           "Layers keep their input alone, and run once more before their backward pass.");
  f.toggle("fused", in.fused, "Fused sums",
           "A pair's result is added where its product writes it, and not in a kernel of its own.");
  f.choice("loss", in.loss, loss_choices(), "Loss", "How the logits become a loss.");
  shared::format(f, "format", in.format, formats, {.help = "The format that products run in, at its peak."});
  f.real("reached", in.reached, {"Peaks reached", "%"},
         "Share of the chip's peak and of its bandwidth that kernels reach.", {.range = {5, 100}});
  f.group("Served together");
  shared::concurrent_sequences(f, "served", in.served,
                               {.label = "Sequences served", .help = "Sequences that are decoded together."});
  shared::context(f, "context", in.context);
  f.integer("distinct", in.distinct, "Different adapters", "In the batch, evenly among its sequences.",
            {.range = {1, 4096, Scale::log}, .typical = {1, 256}});
  f.real("launch_s", in.launch_s, {"A launch", "s"}, "Added for each kernel of decode; 1.5 us inside a CUDA graph.",
         {.range = {0, 5e-5}, .typical = {0, 1e-5}});
  f.group("The small network");
  f.choice("shift", in.shift, shifts, "Second task", "How its digits differ from those that the network knows.");
  f.integer("fit_rank", in.fit_rank, "Rank there", "The rank of the pairs next to its two layers.", {.range = {1, 16}});
  f.integer("seed", in.seed, "Seed", "It draws digits, first weights and the order of examples.", {.range = {1, 2}});
}

void describe(Fields& f, MethodRow& r) {
  f.text("method", r.method, "Method", "What is trained.");
  f.real("trained", r.trained, {"Trained", "parameters"}, {.source = "counted from its config"});
  f.real("memory_bytes", r.memory_bytes, {"Memory", "B"}, {.formula = "sum of the owners"});
  f.real("flops", r.flops, {"FLOPs", "FLOP"}, {.formula = "forward + again + input and weight gradients"});
  f.real("step_s", r.step_s, {"A step", "s"}, {.source = roofline});
}

void describe(Fields& f, Outputs& o) {
  describe_memory(f, o);
  describe_step(f, o);
  describe_serving(f, o);
  describe_fit(f, o);
}

LabPtr make() {
  const auto fits = std::make_shared<Fits>();
  return make_lab<Inputs, Outputs, Picture, View>(
      {"training/adapters",
       "Adapters",
       "What goes when the weights freeze, and what stays?",
       {.job = true, .published_keys = "model chip method"}},
      [fits](const Inputs& in, Progress& progress) { return compute(in, progress, *fits); }, arrange, draw);
}

}  // namespace chapters::training::adapters
