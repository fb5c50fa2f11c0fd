#include "chapters/described/step_choices.h"
#include "chapters/described/training_memory.h"
#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"
#include "chapters/profiling/utilization/lab.h"

namespace chapters::profiling::utilization {
namespace {

constexpr std::string_view trained = "training|rate", modelled = "training|decoding|rate";

const Choices jobs{{"training", "Training, simulated", "A replica on one GPU of a data-parallel job, step by step."},
                   {"decoding", "Decoding, simulated", "One step of decoding, kernel by kernel."},
                   {"rate", "Training, a printed rate", "Tokens per second and GPU that somebody published."},
                   {"recording", "A recording", "A profiler's file: kernels from the device, flops from the shapes."}};
static_assert(job_count == 4);
const Choices formats = choices_in_order<models::Format::int8>({
    {"fp64", "FP64", "Vector units."},
    {"fp64_matrix", "FP64 matrix", "Matrix units."},
    {"fp32", "FP32", "Vector units."},
    {"tf32", "TF32", "Matrix units on FP32 operands."},
    {"fp16", "FP16", "Matrix units."},
    {"bf16", "BF16", "Matrix units."},
    {"fp8", "FP8", "Matrix units."},
    {"fp6", "FP6", "Matrix units."},
    {"fp4", "FP4", "Matrix units."},
    {"int8", "INT8", "Matrix units."},
});
const Choices attentions{
    {"half", "causal half", "The triangle under the mask: what a fused kernel multiplies."},
    {"full", "whole square", "As if nothing were masked: PaLM, Narayanan, Korthikanti, llm-foundry."},
    {"none", "left out", "6N, or 2N forward: weights alone."},
};
static_assert(models::counted_attention_count == 3);
const Choices weight_counts{
    {"multiplied", "multiplied", "Every matrix that a token is multiplied with, the output matrix among them."},
    {"with_embedding", "with the embedding", "The input embedding too, which is looked up: PaLM, torchtitan in 2024."},
    {"inside_layers", "inside layers", "Without the output matrix: BLOOM's first tables."},
    {"all_experts", "all experts", "All experts of a mixture, chosen or not."},
};
static_assert(models::counted_weights_count == 4);
const Choices peaks{
    {"format", "dense, this format", "The matrix units' peak for the format that the products run in."},
    {"bf16", "dense BF16", "Also for FP8 runs: beyond 100 % is possible then."},
    {"sparse", "2:4 sparse", "Twice the dense peak, as data sheets print it; dense matrices cannot reach it."},
};
static_assert(reported_peak_count == 3);
const Choices byte_counts{
    {"operands", "operands", "What the operations read and write, each once; experts that the batch touches."},
    {"weights_and_cache", "weights and cache", "The whole model and the KV cache, once per step: Databricks 2023."},
    {"weights", "weights", "The whole model alone, once per step: gpt-fast."},
};
static_assert(models::counted_bytes_count == 3);

void describe_job(Fields& f, Inputs& in) {
  f.group("The job");
  f.choice("job", in.job, jobs, "From", "Where the second comes from.", {.headline = true});
  shared::model(f, "model", in.model, {.help = "Its operations are counted one by one.", .when = {"job", modelled}});
  shared::chip(f, "chip", in.chip, {.help = "Its dense peak is the height of the second."});
  shared::format(f, "format", in.format, formats, {.help = "The format in which matmuls run."});
  shared::micro_batch(
      f, "batch", in.batch,
      {.help = "Sequences of one micro-batch on this GPU. Whether activations fit is asked in Training memory.",
       .when = {"job", modelled}});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of each sequence.", .when = {"job", trained}});
  shared::context(f, "context", in.context, {.help = "Tokens in the cache of each.", .when = {"job", "decoding"}});
  f.integer("micro_batches", in.micro_batches, "Micro-batches",
            "So many make one step: gradients are exchanged and weights updated after the last.",
            {.range = {1, 64, Scale::step}, .when = {"job", trained}});
  f.choice("recompute", in.recompute, recompute_choices(), "Kept",
           "What of the forward pass is kept for the backward pass.", {.headline = true, .when = {"job", trained}});
  f.toggle("fused_attention", in.fused_attention, "Fused attention",
           "FlashAttention: scores stay on the chip, masked tiles are skipped.", {.when = {"job", modelled}});
  f.toggle("fused_elementwise", in.fused_elementwise, "Fused element-wise",
           "Norms, gates and residual adds without a pass of their own, as a compiler writes them.",
           {.when = {"job", "training"}});
  f.real("tokens_per_s", in.tokens_per_s, {"Rate", "tokens/s"}, "The rate of one GPU, as printed.",
         {.range = {1, 1e6, Scale::log}, .typical = {100, 30000}, .when = {"job", "rate"}});
  f.real("busy_read", in.busy_read, {"Busy, as read", "%"},
         "GPU-Util of nvidia-smi during the run. A rate alone does not tell it.",
         {.range = {10, 100}, .when = {"job", "rate"}});
  f.toggle("frozen", in.frozen, "Weights frozen",
           "LoRA: weights have no gradients, 4 flops per parameter and token in place of 6; adapters are left out.",
           {.when = {"job", "rate"}});
  f.integer("mtp_layers", in.mtp_layers, "Tokens ahead",
            "Modules of multi-token prediction, each a layer and the output matrix once more; DeepSeek-V3 trained one.",
            {.range = {0, 4, Scale::step}, .when = {"job", "rate"}});
  f.choice("sample", in.sample, sample_fault_choices(), "Made-up run", "Shown while no file is given: rank 0 of four.",
           {.when = {"job", "recording"}});
  f.file(
      "file", in.file, "Recording", "PyTorch's Chrome trace (JSON, plain or gz) taken with record_shapes=True.",
      {.mode = {"job", "recording"}},
      {.reads = {FileKind::recording, FileKind::memory_recording}, .accepts = "json, json.gz, gz", .by_bytes = true});
  f.integer("step", in.step, "Step", "Counted from 1; 0 is the whole recording, and beyond the last means the last.",
            {.range = {0, 999, Scale::step}, .typical = {0, 8}, .when = {"job", "recording"}});
}

void describe_conventions(Fields& f, Inputs& in) {
  f.group("What is counted");
  f.choice("attention", in.attention, attentions, "Attention",
           "Its products between positions. A decoded token attends to the whole cache: half and square are one.",
           {.headline = true, .when = {"job", modelled}});
  f.choice("weights", in.weights, weight_counts, "Parameters", "Which matrices count, 6 flops per parameter and token.",
           {.when = {"job", modelled}});
  f.toggle("count_recompute", in.count_recompute, "Recompute counts",
           "Then what is reported is HFU, whatever it is called.", {.when = {"job", trained}});
  f.choice("peak", in.peak, peaks, "Over which peak", "What MFU and HFU are divided by.");
  f.choice("bytes", in.bytes, byte_counts, "Bytes of MBU", "What must be read.", {.when = {"job", "decoding"}});
}

void describe_machine(Fields& f, Inputs& in) {
  constexpr std::string_view simulated = "training|decoding";
  f.group("What kernels reach");
  f.real("product_share", in.product_share, "Share of the peak", "What compute-bound matmuls reach; assumed.",
         {.range = {0.1, 1}, .when = {"job", simulated}});
  f.real("bandwidth_share", in.bandwidth_share, "Share of the bandwidth", "Kernels that are memory-bound; assumed.",
         {.range = {0.1, 1}, .when = {"job", simulated}});
  f.group("The host");
  f.real("launch_s", in.launch_s, {"A launch", "s"}, "From one launch of the host to its next.",
         {.range = {1e-6, 1e-3, Scale::log}, .when = {"job", simulated}});
  f.choice("mode", in.mode, launch_mode_choices(), "Mode", "How kernels get to the GPU.",
           {.when = {"job", "decoding"}});
  const auto training = [&](std::string_view key, std::int64_t& slot, std::string_view label, std::string_view help,
                            double lo, double hi) {
    f.integer(key, slot, label, help, {.range = {lo, hi, Scale::step}, .when = {"job", "training"}});
  };
  training("kernels_per_layer", in.kernels_per_layer, "Kernels per layer",
           "Forward; the backward pass has twice as many.", 1, 64);
  training("workers", in.workers, "Loader workers", "Processes that load ahead; 0: the training process loads.", 0, 32);
  f.real("load_s", in.load_s, {"Loading a batch", "s"}, "One micro-batch, one worker.",
         {.range = {1e-4, 100, Scale::log}, .when = {"job", "training"}});
  training("sync_every", in.sync_every, "Loss read every", "Steps between two calls of loss.item(); 0: never.", 0, 100);
  f.real("log_s", in.log_s, {"Logging", "s"}, "What the host does after it has read the loss.",
         {.range = {1e-6, 1, Scale::log}, .when = {"job", "training"}});
  f.choice("optimizer", in.optimizer, optimizer_code_choices(), "AdamW", "In FP32.", {.when = {"job", "training"}});
  f.group("The network");
  shared::parallel_data(
      f, "ranks", in.ranks,
      {.label = "GPUs", .help = "They average FP32 gradients by a ring; 1: alone.", .when = {"job", "training"}});
  f.real("bus_bytes_per_s", in.bus_bytes_per_s, {"Ring", "B/s"}, "Bus bandwidth of the all-reduce.",
         {.range = {1e8, 1e12, Scale::log}, .when = {"job", "training"}});
  f.real("hop_latency_s", in.hop_latency_s, {"A hop", "s"},
         "Latency of each of the ring's 2 (n - 1) steps; 0: none, which flatters rings of many GPUs.",
         {.range = {0, 1e-3}, .when = {"job", "training"}});
  f.toggle("overlap", in.overlap, "Overlap", "A bucket of gradients is reduced while the backward pass goes on.",
           {.when = {"job", "training"}});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  describe_job(f, in);
  describe_conventions(f, in);
  describe_machine(f, in);
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"profiling/utilization",
       "Utilization",
       "The GPU is busy: how much of a second is work that the model needs?",
       {.job = true, .published_keys = "model chip"}},
      compute, arrange, draw);
}

}  // namespace chapters::profiling::utilization
