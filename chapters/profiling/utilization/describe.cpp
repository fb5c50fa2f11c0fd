#include "chapters/described/training_memory.h"
#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"
#include "chapters/profiling/utilization/lab.h"

namespace chapters::profiling::utilization {
namespace {

constexpr std::string_view trained = "training|rate", modelled = "training|decoding|rate";

const Choices jobs{{"training", "Training, simulated", "A replica on one GPU of a data-parallel job, step by step."},
                   {"decoding", "Decoding, simulated", "One step of decoding, kernel by kernel."},
                   {"rate", "Training, a printed rate", "Tokens a second and GPU that somebody published."},
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
    {"all_experts", "all experts", "Of a mixture all experts, chosen or not."},
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
    {"weights_and_cache", "weights and cache", "The whole model and the KV cache, once a step: Databricks 2023."},
    {"weights", "weights", "The whole model alone, once a step: gpt-fast."},
};
static_assert(models::counted_bytes_count == 3);
const Choices optimizers{{"looped", "Looped", "One kernel an operation and tensor."},
                         {"foreach", "Foreach", "One kernel an operation for many tensors."},
                         {"fused", "Fused", "One pass over weights, gradients and both moments."}};
static_assert(models::optimizer_code_count == 3);
const Choices modes{{"eager", "Eager", "A kernel for each operation that Python asks for."},
                    {"compiled", "Compiled", "Element-wise operations fused into one kernel each."},
                    {"graph", "Graph", "The eager kernels, captured once and launched all at once."},
                    {"compiled_graph", "Compiled, in a graph", "Fused kernels, launched all at once."}};
static_assert(models::launch_mode_count == 4);
const Choices samples{
    {"none", "Healthy", "Nothing planted: computation is the limit."},
    {"hidden_sync", "Hidden sync", "The loss is read back in the middle of each step."},
    {"data_starved", "Starved loader", "Each batch arrives late."},
    {"launch_bound", "Launch-bound", "Kernels are shorter than the host takes to launch them."},
    {"exposed_communication", "Exposed comms", "All-reduces take longer than the backward pass can hide."},
    {"straggler", "A straggler", "Rank 2 computes 21 % slower; this is rank 0, which waits for it."}};

void describe_job(Fields& f, Inputs& in) {
  f.group("The job");
  f.choice("job", in.job, jobs, {.label = "From", .help = "Where the second comes from.", .headline = true});
  shared::model(f, "model", in.model, {.help = "Its operations are counted one by one.", .when = {"job", modelled}});
  shared::chip(f, "chip", in.chip, {.help = "Its dense peak is the height of the second."});
  shared::format(f, "format", in.format, formats, {.help = "What the matrix products run in."});
  shared::batch(
      f, "batch", in.batch,
      {.help = "Sequences of one micro-batch on this GPU. Whether activations fit is asked in Training memory.",
       .when = {"job", modelled}});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of each sequence.", .when = {"job", trained}});
  shared::context(f, "context", in.context, {.help = "Tokens in the cache of each.", .when = {"job", "decoding"}});
  f.integer("micro_batches", in.micro_batches,
            {.label = "Micro-batches",
             .help = "Of one step: gradients are exchanged and weights updated after the last.",
             .lo = 1,
             .hi = 64,
             .scale = Scale::step,
             .when = {"job", trained}});
  f.choice("recompute", in.recompute, recompute_choices(),
           {.label = "Kept",
            .help = "What of the forward pass is kept for the backward pass.",
            .headline = true,
            .when = {"job", trained}});
  f.toggle("fused_attention", in.fused_attention,
           {.label = "Fused attention",
            .help = "FlashAttention: scores stay on the chip, masked tiles are skipped.",
            .when = {"job", modelled}});
  f.toggle("fused_elementwise", in.fused_elementwise,
           {.label = "Fused element-wise",
            .help = "Norms, gates and residual adds without a pass of their own, as a compiler writes them.",
            .when = {"job", "training"}});
  f.real("tokens_per_s", in.tokens_per_s,
         {
             .label = "Rate",
             .unit = "tokens/s",
             .help = "Of one GPU, as printed.",
             .lo = 1,
             .hi = 1e6,
             .scale = Scale::log,
             .typical_lo = 100,
             .typical_hi = 30000,
             .when = {"job", "rate"},
         });
  f.real("busy_read", in.busy_read,
         {.label = "Busy, as read",
          .unit = "%",
          .help = "GPU-Util of nvidia-smi during the run. A rate alone does not tell it.",
          .lo = 10,
          .hi = 100,
          .when = {"job", "rate"}});
  f.choice(
      "sample", in.sample, samples,
      {.label = "Made-up run", .help = "Shown while no file is given: rank 0 of four.", .when = {"job", "recording"}});
  f.file("file", in.file,
         {.label = "Recording",
          .help = "PyTorch's Chrome trace (JSON, plain or gz) taken with record_shapes=True.",
          .when = {"job", "recording"}},
         {.by_bytes = true});
  f.integer("step", in.step,
            {.label = "Step",
             .help = "Counted from 1; 0 is the whole recording, and beyond the last means the last.",
             .lo = 0,
             .hi = 999,
             .scale = Scale::step,
             .typical_lo = 0,
             .typical_hi = 8,
             .when = {"job", "recording"}});
}

void describe_conventions(Fields& f, Inputs& in) {
  f.group("What is counted");
  f.choice(
      "attention", in.attention, attentions,
      {.label = "Attention",
       .help = "Its products between positions. A decoded token attends to the whole cache: half and square are one.",
       .headline = true,
       .when = {"job", modelled}});
  f.choice("weights", in.weights, weight_counts,
           {.label = "Parameters",
            .help = "Which matrices count, 6 flops a parameter and token.",
            .when = {"job", modelled}});
  f.toggle("count_recompute", in.count_recompute,
           {.label = "Recompute counts",
            .help = "Then what is reported is HFU, whatever it is called.",
            .when = {"job", trained}});
  f.choice("peak", in.peak, peaks, {.label = "Over which peak", .help = "What MFU and HFU are divided by."});
  f.choice("bytes", in.bytes, byte_counts,
           {.label = "Bytes of MBU", .help = "What must be read.", .when = {"job", "decoding"}});
}

void describe_machine(Fields& f, Inputs& in) {
  constexpr std::string_view simulated = "training|decoding";
  f.group("What kernels reach");
  f.real("product_share", in.product_share,
         {.label = "Of the peak",
          .help = "Matrix products that are compute-bound; assumed.",
          .lo = 0.1,
          .hi = 1,
          .when = {"job", simulated}});
  f.real("bandwidth_share", in.bandwidth_share,
         {.label = "Of the bandwidth",
          .help = "Kernels that are memory-bound; assumed.",
          .lo = 0.1,
          .hi = 1,
          .when = {"job", simulated}});
  f.group("The host");
  f.real("launch_s", in.launch_s,
         {.label = "A launch",
          .unit = "s",
          .help = "From one launch of the host to its next.",
          .lo = 1e-6,
          .hi = 1e-3,
          .scale = Scale::log,
          .when = {"job", simulated}});
  f.choice("mode", in.mode, modes,
           {.label = "Mode", .help = "How kernels get to the GPU.", .when = {"job", "decoding"}});
  const auto training = [&](std::string_view key, std::int64_t& slot, std::string_view label, std::string_view help,
                            double lo, double hi) {
    f.integer(key, slot,
              {.label = label, .help = help, .lo = lo, .hi = hi, .scale = Scale::step, .when = {"job", "training"}});
  };
  training("kernels_per_layer", in.kernels_per_layer, "Kernels a layer",
           "Forward; the backward pass has twice as many.", 1, 64);
  training("workers", in.workers, "Loader workers", "Processes that load ahead; 0: the training process loads.", 0, 32);
  f.real("load_s", in.load_s,
         {.label = "Loading a batch",
          .unit = "s",
          .help = "One micro-batch, one worker.",
          .lo = 1e-4,
          .hi = 100,
          .scale = Scale::log,
          .when = {"job", "training"}});
  training("sync_every", in.sync_every, "Loss read every", "Steps between two calls of loss.item(); 0: never.", 0, 100);
  f.real("log_s", in.log_s,
         {.label = "Logging",
          .unit = "s",
          .help = "What the host does after it has read the loss.",
          .lo = 1e-6,
          .hi = 1,
          .scale = Scale::log,
          .when = {"job", "training"}});
  f.choice("optimizer", in.optimizer, optimizers, {.label = "AdamW", .help = "In FP32.", .when = {"job", "training"}});
  f.group("The network");
  shared::parallel_data(
      f, "ranks", in.ranks,
      {.label = "GPUs", .help = "They average FP32 gradients by a ring; 1: alone.", .when = {"job", "training"}});
  f.real("bus_bytes_per_s", in.bus_bytes_per_s,
         {.label = "Ring",
          .unit = "B/s",
          .help = "Bus bandwidth of the all-reduce.",
          .lo = 1e8,
          .hi = 1e12,
          .scale = Scale::log,
          .when = {"job", "training"}});
  f.toggle("overlap", in.overlap,
           {.label = "Overlap",
            .help = "A bucket of gradients is reduced while the backward pass goes on.",
            .when = {"job", "training"}});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  describe_job(f, in);
  describe_conventions(f, in);
  describe_machine(f, in);
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {
          .id = "profiling/utilization",
          .title = "Utilization",
          .question = "The GPU is busy: how much of a second is work that the model needs?",
          .job = true,
      },
      compute, arrange, draw);
}

}  // namespace chapters::profiling::utilization
