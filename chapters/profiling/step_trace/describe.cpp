#include "chapters/described/step_choices.h"
#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/shared_choices.h"
#include "chapters/profiling/step_trace/lab.h"

namespace chapters::profiling::step_trace {
namespace {

const Choices copies = {
    {"pageable", "Blocking", "The host waits for the stream and for the copy, as .to(device) does."},
    {"pinned", "Pinned, in order", "From pinned pages and asynchronous, on the stream that computes."},
    {"copy_stream", "Pinned, own stream", "From pinned pages, on another stream than the one that computes."},
};
static_assert(models::batch_copy_count == 3);

void time(Fields& f, std::string_view key, double& slot, std::string_view label, std::string_view help, double lo,
          double hi) {
  f.real(key, slot, {label, "s"}, help, {.range = {lo, hi, Scale::log}});
}
void rate(Fields& f, std::string_view key, double& slot, std::string_view label, std::string_view help,
          double lo = 1e7) {
  f.real(key, slot, {label, "B/s"}, help, {.range = {lo, 1e13, Scale::log}, .typical = {1e7, 1e12}});
}
void bytes(Fields& f, std::string_view key, double& slot, std::string_view label, std::string_view help, double lo,
           double hi) {
  f.real(key, slot, {label, "B"}, help, {.range = {lo, hi, Scale::log}});
}
void share(Fields& f, std::string_view key, double& slot, std::string_view label, std::string_view help, double lo,
           double hi) {
  f.real(key, slot, label, help, {.range = {lo, hi}});
}
void count(Fields& f, std::string_view key, std::int64_t& slot, std::string_view label, std::string_view help,
           double lo, double hi) {
  f.integer(key, slot, label, help, {.range = {lo, hi, Scale::step}});
}

void describe_switches(Fields& f, Inputs& in) {
  Switches& s = in.now;
  f.group("The changes");
  f.integer("workers", s.workers, "Loader workers",
            "Processes that load batches ahead; with none the training process loads each one itself.",
            {.range = {0, 32, Scale::step}, .typical = {0, 8}, .headline = true});
  f.choice("copy", s.copy, copies, "Copies", "How a batch gets to the device.");
  f.integer("sync_every", s.sync_every, "Loss read every",
            "Steps between two calls of loss.item(), which waits for the device; 0: never.",
            {.range = {0, 100, Scale::step}, .headline = true});
  f.choice("optimizer", s.optimizer, optimizer_code_choices(), "AdamW", "How its kernels are written.");
  f.toggle("amp", s.amp, "BF16", "Autocast: products of matrices and most of the rest in BF16.");
  f.toggle("compile", s.compile, "Compiled", "Element-wise operations are fused: fewer bytes and fewer launches.");
  f.toggle("overlap", s.overlap, "Overlap", "A bucket of gradients is reduced while the backward pass goes on.");
  count(f, "buckets", s.buckets, "Buckets", "Parts into which the gradients are cut; a bucket holds a layer or more.",
        1, 64);
  count(f, "prefetch", s.prefetch, "Batches ahead", "Each worker is asked for so many (prefetch_factor).", 1, 16);
  f.group("As found");
  Switches& g = in.found;
  count(f, "found_workers", g.workers, "Loader workers, found", "As of the changed step.", 0, 32);
  f.choice("found_copy", g.copy, copies, "Copies, found", "As of the changed step.");
  count(f, "found_sync_every", g.sync_every, "Loss read every, found",
        "Steps between two calls of loss.item(); 0: never.", 0, 100);
  f.choice("found_optimizer", g.optimizer, optimizer_code_choices(), "AdamW, found", "As of the changed step.");
  f.toggle("found_amp", g.amp, "BF16, found", "As of the changed step.");
  f.toggle("found_compile", g.compile, "Compiled, found", "As of the changed step.");
  f.toggle("found_overlap", g.overlap, "Overlap, found", "As of the changed step.");
  count(f, "found_buckets", g.buckets, "Buckets, found", "As of the changed step.", 1, 64);
  count(f, "found_prefetch", g.prefetch, "Batches ahead, found", "As of the changed step.", 1, 16);
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  describe_switches(f, in);
  f.group("The batch");
  count(f, "samples", in.samples, "Samples", "So many make one batch on one device.", 1, 2048);
  time(f, "decode_s", in.decode_s, "Decoding one", "What one sample takes on one core.", 1e-6, 0.1);
  share(f, "decode_spread", in.decode_spread, "Spread",
        "A batch takes between 1 - spread and 1 + spread of the mean to decode.", 0, 0.9);
  bytes(f, "sample_bytes", in.sample_bytes, "Stored size", "What one sample takes in the storage.", 1e3, 1e8);
  time(f, "request_latency_s", in.request_latency_s, "Request", "From asking the storage to its first byte.", 1e-6,
       0.1);
  // One GPU's share of a storage that thousands read may be small.
  rate(f, "storage_bytes_per_s", in.storage_bytes_per_s, "Storage", "For all workers together.", 1e6);
  count(f, "cores", in.cores, "Cores", "That decode at once.", 1, 128);
  bytes(f, "batch_bytes", in.batch_bytes, "Decoded batch", "What is copied to the device.", 1e5, 1e10);
  count(f, "seed", in.seed, "Seed", "It draws the luck in decoding.", 1, 99);
  f.group("The GPU");
  time(f, "forward_s", in.forward_s, "Forward", "Its kernels alone, in FP32 and eager.", 1e-4, 10);
  time(f, "backward_s", in.backward_s, "Backward", "Its kernels alone, in FP32 and eager.", 1e-4, 10);
  count(f, "layers", in.layers, "Layers", "Gradients become ready layer by layer.", 1, 128);
  count(f, "kernels_per_layer", in.kernels_per_layer, "Kernels per layer", "Forward; backward has twice as many.", 1,
        64);
  time(f, "launch_s", in.launch_s, "Time per launch", "From one launch of the host to its next.", 1e-6, 1e-3);
  time(f, "launch_latency_s", in.launch_latency_s, "On its way", "From a launch to the start of its kernel.", 1e-7,
       1e-4);
  time(f, "log_s", in.log_s, "Logging", "What the host does after it has read the loss.", 1e-6, 1);
  bytes(f, "state_bytes", in.state_bytes, "States", "Weights, gradients and optimizer states.", 1e8, 1e12);
  bytes(f, "activation_bytes", in.activation_bytes, "Activations", "Kept at the end of the forward pass.", 1e8, 1e12);
  f.group("BF16 and the compiler");
  share(f, "matmul_share", in.matmul_share, "Matmuls", "Their share of forward and backward, as found. Assumed.", 0, 1);
  share(f, "amp_matmul", in.amp_matmul, "Matmuls gain", "Times as fast in BF16; TF32 to BF16 doubles the peak.", 1, 16);
  share(f, "amp_other", in.amp_other, "The rest gains", "Less than 2, since autocast keeps some in FP32. Assumed.", 1,
        2);
  share(f, "compile_keeps", in.compile_keeps, "The rest keeps", "Share of its time that fusion leaves. Assumed.", 0.1,
        1);
  count(f, "compiled_kernels", in.compiled_kernels, "Kernels, compiled", "A layer; never more than eager.", 1, 64);
  f.group("The optimizer");
  f.real("parameters", in.parameters, "Parameters", "That this device updates, in FP32: autocast leaves them so.",
         {.range = {1e6, 1e11, Scale::log}});
  rate(f, "optimizer_bytes_per_s", in.optimizer_bytes_per_s, "Memory", "Bandwidth that its kernels reach.");
  f.group("The network");
  shared::parallel_data(f, "ranks", in.ranks, {.label = "GPUs", .help = "They average their gradients; 1: alone."});
  f.toggle("bf16_gradients", in.bf16_gradients, "Sent in BF16",
           "A hook casts gradients before they are reduced: 2 B instead of 4.");
  rate(f, "bus_bytes_per_s", in.bus_bytes_per_s, "Ring", "Bandwidth of a ring all-reduce between neighbours.");
  f.real("hop_latency_s", in.hop_latency_s, {"A hop", "s"}, "Latency of each of its 2 (n - 1) steps.",
         {.range = {0, 1e-3}});
}

void describe(Fields& f, FixRow& r) {
  f.text("name", r.name, "Change");
  f.real("in_order_s", r.in_order_s, {"In this order", "s"}, "Against the step with the changes above it.");
  f.real("alone_s", r.alone_s, {"Alone", "s"}, "Against the step as found.");
  f.real("step_s", r.step_s, {"Step", "s"}, "With this change and those above.");
  f.text("then", r.then, "Then the largest");
  f.real("then_share", r.then_share, {"Its share", "%"}, "Its share of the step.");
}

void describe(Fields& f, Outputs& o) {
  constexpr std::string_view mean = "Mean over the last steps; parts add up to the step exactly.";
  f.group("One step");
  f.real("step_s", o.now.mean.period_s, {"One step", "s"}, mean,
         {.headline = true, .against = {"as found", "found_s"}, .formula = "end of step - end of step before"});
  f.real("found_s", o.found.mean.period_s, {"As found", "s"}, mean);
  f.real("longest_step_s", o.longest_step_s, {"Longest step", "s"},
         "The longest of the last round over the workers: a loader that is too slow brings batches in rounds.",
         {.formula = "end of step - end of step before"});
  f.real("speedup", o.speedup, {"Faster", "×"}, {.headline = true, .formula = "as found / one step"});
  f.real("useful", o.now.useful, {"Forward, backward", "%"}, "Their share of the step.",
         {.headline = true, .formula = "(forward + backward) / step"});
  f.real("useful_found", o.found.useful, {"Forward, backward, found", "%"}, "Their share of the step as found.");
  f.real("idle_s", o.now.idle_s, {"GPU idle", "s"}, "The compute stream, per step.",
         {.headline = true, .formula = "step - kernels"});
  f.real("busy", o.now.busy, {"GPU busy", "%"}, {.formula = "kernels / step"});
  f.real("busy_found", o.found.busy, {"GPU busy, found", "%"}, {.formula = "kernels / step"});
  f.text("largest", o.now.largest, "Largest part");
  f.text("largest_found", o.found.largest, "Largest part, found");
  f.group("Parts as found");
  constexpr std::array<std::string_view, part_count> found_keys{
      "found_forward", "found_backward", "found_optimizer_part", "found_data",
      "found_copies",  "found_launch",   "found_sync",           "found_communication"};
  constexpr std::array<std::string_view, part_count> keys{"forward", "backward",     "optimizer_part", "data",
                                                          "copies",  "launch_waits", "sync_waits",     "communication"};
  for (std::size_t i = 0; i < part_count; ++i)
    f.real(found_keys[i], o.found.share[i], {part_names[i], "%"}, "Share of the step as found.");
  f.group("Parts with the changes");
  for (std::size_t i = 0; i < part_count; ++i)
    f.real(keys[i], o.now.share[i], {part_names[i], "%"}, "Share of the changed step.");
  f.real("optimizer_s", o.now.mean.optimizer_s, {"Optimizer kernels", "s"},
         {.formula = "parameters x bytes / bandwidth",
          .source = "torch/optim/adamw.py: 80 B per parameter unfused, 28 fused, in FP32"});
  f.real("optimizer_gain", o.optimizer_gain, "Optimizer faster", "Its kernels alone.",
         {.absent = "The optimizer takes no time."});
  f.group("The loader");
  f.real("load_s", o.load_s, {"A batch, one worker", "s"}, {.formula = "samples x (request + read + decode)"});
  f.real("workers_needed", o.workers_needed, "Workers needed", "So that no step waits for data.",
         {.absent = "No number of workers: storage, cores or the pinning thread are slower than the step.",
          .formula = "ceil(a batch / step without waiting)"});
  f.real("ceiling_per_s", o.ceiling_per_s, "Batches per second",
         "The least that storage, cores, workers and the pinning thread allow.", {.absent = "Nothing bounds it."});
  f.real("data_cut", o.data_cut, {"Workers alone save", "%"},
         "Their share of the step as found; 0 where workers are no change.");
  f.group("Next to the kernels");
  f.real("hidden_communication", o.hidden_communication, {"All-reduce hidden", "%"},
         {.absent = "One GPU exchanges nothing.", .formula = "1 - waiting for it / its time"});
  f.real("gradient_bytes", o.gradient_bytes, {"Gradients reduced", "B"},
         {.binary = false,
          .formula = "parameters x 4 B, or 2 where they are sent in BF16",
          .source = "DistributedDataParallel reduces in the parameters' dtype; bf16_compress_hook casts"});
  f.integer("lead", o.now.lead, "Launches ahead",
            "Kernels launched and not begun, at most; the queue has room for 1,024.");
  f.real("peak_bytes", o.peak_bytes, {"Peak memory", "B"}, {.binary = false, .formula = "states + activations"});
  f.group("Tables");
  f.table("fixes", o.fixes, "What each change takes");
}

void describe(Fields& f, View& v) {
  f.real("time", v.timeline.cursor_s, {"Time cursor", "s"}, "Where the cursor stands on the steps.",
         {.range = {0, 1e6}});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"profiling/step-trace",
       "Step trace",
       "Where does the step go, and what is the bottleneck once the largest part is gone?",
       {.job = true, .document = "Chrome trace"}},
      compute, arrange, draw);
}

}  // namespace chapters::profiling::step_trace
