#include "chapters/described/step_choices.h"
#include "chapters/described/training_memory.h"
#include "chapters/distributed/overlap/lab.h"
#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::distributed::overlap {
namespace {

using models::parallel::OverlapMethod;

const Choices methods = choices_in_order<OverlapMethod::fsdp>(
    {{"ddp", "DDP", "Whole weights on every GPU; gradients are summed in buckets (DistributedDataParallel)."},
     {"fsdp", "FSDP", "Weights, gradients and states are split; a unit's weights are gathered when it runs (FSDP2)."}});
const Choices sums = choices_in_order<Summed::bf16>(
    {{"fp32", "FP32", "4 bytes a gradient: autocast under DDP, reduce_dtype=torch.float32 under FSDP."},
     {"bf16", "BF16", "2 bytes a gradient."}});
constexpr std::string_view reducer = "torch/csrc/distributed/c10d/reducer.cpp";
constexpr std::string_view events = "the step on two streams, event by event";
constexpr When with_ddp{"method", "ddp"}, with_fsdp{"method", "fsdp"};
constexpr std::string_view fsdp_alone = "DDP has no units, and one GPU exchanges nothing.";
constexpr std::string_view ddp_alone = "FSDP has no buckets: a unit's gradients are reduced together.";

void describe_links(Fields& f, Inputs& in) {
  f.group("Links");
  shared::network(f, "network", in.network, {.help = "What joins the nodes: one port for each GPU."});
  f.choice("algorithm", in.algorithm, all_reduce_choices(), "All-reduce",
           "How buckets are summed. All-gathers and reduce-scatters are rings.");
  f.integer("gpus_per_node", in.gpus_per_node, "GPUs per node", "Behind one fast switch.",
            {.range = {1, 576, Scale::log}, .typical = {1, 72}});
  f.real("inside_share", in.inside_share, {"Inside, reached", "%"},
         "The share of the chip's link that is reached in one direction; 82 % of an H100's 450 GB/s are 369, as rings "
         "reach.",
         {.range = {1, 100}, .typical = {50, 100}});
  f.real("between_share", in.between_share, {"Between, reached", "%"},
         "The share of the network's port that is reached; 94 % of 50 GB/s are 47.",
         {.range = {1, 100}, .typical = {20, 100}});
  describe_inside_hop(f, in.inside_hop_s, 1e-3);
  describe_between_hop(f, in.between_hop_s, 1e-3);
  f.real("call_s", in.call_s, {"A call", "s"},
         "What a collective takes before its first step, beyond its steps: 6.6 us in NCCL's tuner for LL.",
         {.range = {0, 1e-3}, .typical = {0, 5e-5}});
  f.integer("baseline_gpus", in.baseline_gpus, "Compared with",
            "GPUs whose step the scaling figure is held against, with the same batch on each.",
            {.range = {1, 4096, Scale::log}});
}

void describe_cuts(Fields& f, Inputs& in) {
  f.group("Buckets");
  f.real("bucket_bytes", in.bucket_bytes, {"Bucket", "B"},
         "bucket_cap_mb. A bucket is closed by the tensor that reaches this, so that it may be larger.",
         {
             .range = {65536, 1099511627776.0, Scale::log},
             .typical = {1048576, 8589934592.0},
             .headline = true,
             .binary = true,
             .when = with_ddp,
         });
  f.real("first_bucket_bytes", in.first_bucket_bytes, {"First bucket", "B"},
         "Limit of the first bucket alone, so that the network starts early. 1 MiB in PyTorch; where bucket_cap_mb is "
         "given, PyTorch 2.11 takes that for the first one too.",
         {
             .range = {4, 1099511627776.0, Scale::log},
             .typical = {65536, 1073741824.0},
             .binary = true,
             .when = with_ddp,
         });
  f.toggle("beside_backward", in.beside_backward, "During the backward",
           "A bucket is sent as soon as it is full. Off: all wait for the end of the backward.", {.when = with_ddp});
  f.group("Units");
  f.toggle("reshard_after_forward", in.reshard_after_forward, "Reshard after forward",
           "A unit's weights are freed after its forward and gathered once more for its backward.",
           {.when = with_fsdp});
  f.integer("forward_ahead", in.forward_ahead, "Ahead, forward",
            "Units gathered while an earlier one runs. FSDP2's streams give 2, FSDP1's limit_all_gathers 1.",
            {.range = {0, 16, Scale::step}, .typical = {0, 4}, .when = with_fsdp});
  f.integer("backward_ahead", in.backward_ahead, "Ahead, backward", "The same in the backward. FSDP2 prefetches 1.",
            {.range = {0, 16, Scale::step}, .typical = {0, 4}, .when = with_fsdp});
  f.integer("layers_per_unit", in.layers_per_unit, "Layers a unit",
            "Layers wrapped by one fully_shard. Embedding and output are units of their own.",
            {.range = {1, 128, Scale::log}, .typical = {1, 16}, .when = with_fsdp});
  f.toggle("hybrid", in.hybrid, "Hybrid",
           "Split over some GPUs and replicate over the rest; replicas sum their shards of the gradients.",
           {.when = with_fsdp});
  shared::parallel_shards(f, "shards", in.shards,
                          {.help = "GPUs that hold one copy of the states together.", .when = {"hybrid", "true"}});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The step");
  f.choice("method", in.method, methods, "Method", "What lies on each GPU, and what is exchanged.", {.headline = true});
  shared::model(f, "model", in.model, {.help = "Its own parameter tensors, in the order of their gradients."});
  shared::cluster_chips(f, "gpus", in.gpus, {.label = "GPUs", .help = "All work on the same weights."});
  shared::micro_batch(f, "batch", in.batch,
                      {.label = "Batch per GPU", .help = "Sequences of each GPU and micro-batch."});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of each."});
  f.integer("micro_batches", in.micro_batches, "Micro-batches",
            "Forward and backward so often before the optimizer (gradient accumulation). DDP exchanges during the last "
            "backward alone (no_sync), FSDP in each.",
            {.range = {1, 64, Scale::step}, .typical = {1, 8}});
  shared::chip(f, "chip", in.chip, {.help = "Its BF16 peak, memory and links."});
  f.choice("gradient_format", in.gradient_format, sums, "Gradients",
           "Format in which they are summed. Gathered weights are BF16.");
  f.toggle("layers_again", in.layers_again, "Layers recomputed",
           "Full activation checkpointing: each layer's forward once more before its backward. It stays gathered "
           "meanwhile.");
  describe_cuts(f, in);
  f.group("The GPU");
  f.real("slowdown", in.slowdown, {"Compute slows by", "%"},
         "While a collective takes SMs and bandwidth. Measured on 4 GPUs: 18.9 % on average, 40 % at most (arXiv "
         "2507.03114); 20 of an H100's 132 SMs are 17.9 %.",
         {.range = {0, 200}, .typical = {0, 40}, .headline = true});
  describe_roof_share(f, in.roof_share);
  describe_links(f, in);
}

void describe(Fields& f, CollectiveRow& r) {
  f.text("what", r.what, "Collective", "In the order in which they run.");
  f.integer("tensors", r.tensors, "Tensors", "Gradients in the bucket; 0 with FSDP.");
  f.real("bytes", r.bytes, {"Bytes", "B"}, "The size of the whole buffer.");
  f.real("ready_s", r.ready_s, {"Ready", "s"}, "All that it needs is there.");
  f.real("start_s", r.start_s, {"Starts", "s"}, "The one before it has ended.");
  f.real("end_s", r.end_s, {"Ends", "s"}, "On all GPUs at once.");
  f.real("waits_s", r.waits_s, {"Waits", "s"}, {.formula = "starts - ready"});
}

namespace {

void describe_streams(Fields& f, Outputs& o) {
  f.group("Compute");
  f.real("compute_s", o.step.compute_s, {"Compute alone", "s"},
         "What the compute stream takes with no collective next to it.",
         {.formula = "micro-batches x (forward + backward) + optimizer",
          .source = "every operation under the roofline, at the share of the roof"});
  f.real("forward_s", o.work.forward_s, {"Forward", "s"}, "The forward of a micro-batch, alone.");
  f.real("backward_s", o.work.backward_s, {"Backward", "s"}, "The backward of a micro-batch, alone.");
  f.real("optimizer_s", o.work.optimizer_s, {"Optimizer", "s"}, "AdamW in one pass over what lies on the GPU.");
  f.real("slowed_s", o.step.slowed_s, {"Slowed", "s"}, "What compute takes longer because collectives run next to it.",
         {.source = events});
  f.group("Network");
  f.real("network_s", o.step.network_s, {"Collectives", "s"}, "Sum of their times.");
  f.real("hidden_share", o.hidden_share, {"Hidden", "%"}, "The part of the collectives' time that is hidden.",
         {.formula = "1 - exposed / collectives"});
  f.integer("collectives", o.collectives, "Collectives per step", "All-reduces, gathers, reductions.");
  f.real("sent_bytes", o.sent_bytes, {"Sent by a GPU", "B"}, "In rings, whichever way buckets are summed.",
         {.formula = "2 (N-1)/N of each all-reduce, (N-1)/N of each all-gather and reduce-scatter",
          .source = "Patarasuk, Yuan 2009; doc/PERFORMANCE.md of nccl-tests"});
  f.real("apart_s", o.apart_s, {"Without overlap", "s"}, "The same work, with no collective next to compute.",
         {.formula = "compute alone + collectives"});
  f.real("saved_s", o.saved_s, {"Overlap saves", "s"}, "Below 0 where slowing compute costs more than it hides.",
         {.formula = "without overlap - step"});
  f.group("Where it waits");
  f.real("forward_wait_s", o.forward_wait_s, {"In the forward", "s"}, "For gathered weights.");
  f.real("backward_wait_s", o.backward_wait_s, {"In the backward", "s"},
         "For gathered weights, or the reduction two units before.");
  f.real("tail_wait_s", o.tail_wait_s, {"Before the optimizer", "s"}, "For the last gradients.");
}

void describe_collectives(Fields& f, Outputs& o) {
  f.group("Buckets and units");
  f.real("largest_bytes", o.largest_bytes, {"Largest", "B"}, "Buffer of a collective.", {.source = reducer});
  f.real("last_bytes", o.last_bytes, {"Last", "B"}, "Buffer of the last collective.", {.source = reducer});
  f.real("last_s", o.last_s, {"Time of the last", "s"}, "The least tail there can be.");
  f.real("best_bucket_bytes", o.best_bucket_bytes, {"Best bucket", "B"},
         "The best among sizes from 256 KiB up, by factors of the root of 2, and yours.",
         {.binary = true, .absent = ddp_alone});
  f.real("best_step_s", o.best_step_s, {"Step with it", "s"}, "With the best bucket.",
         {.absent = ddp_alone, .source = events});
  f.real("best_gain_s", o.best_gain_s, {"Best bucket saves", "s"},
         {.absent = ddp_alone, .formula = "step - step with the best bucket"});
  f.real("best_unit_layers", o.best_unit_layers, "Layers of the best unit",
         "Layers a unit with which the step is shortest, among the powers of two and yours.", {.absent = fsdp_alone});
  f.real("best_unit_step_s", o.best_unit_step_s, {"Step with it", "s"}, "One step with units of so many layers.",
         {.absent = fsdp_alone, .source = events});
  f.group("A layer");
  f.real("layer_forward_s", o.layer_forward_s, {"Its forward", "s"}, "The forward of the first unit of layers, alone.");
  f.real("layer_gather_s", o.layer_gather_s, {"Gathering it", "s"},
         {.formula = "(N-1)/N x bytes / bandwidth + (N-1) steps"});
  f.real("layer_reduce_s", o.layer_reduce_s, {"Reducing its gradients", "s"},
         "All-reduce with DDP, reduce-scatter with FSDP.");
  f.real("layer_ratio", o.layer_ratio, "Compute over network",
         "FSDP: its forward over gathering it. DDP: its backward over reducing its gradients. Above 1 it hides.",
         {.absent = "One GPU exchanges nothing."});
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  f.group("One step");
  f.real("step_s", o.step.makespan_s, {"One step", "s"}, "Forward, backward, exchange, optimizer.",
         {.headline = true, .formula = "compute alone + slowed + exposed", .source = events});
  f.real("exposed_s", o.step.exposed_s, {"Exposed", "s"}, "The compute stream waits for a collective.",
         {.headline = true, .formula = "step - compute alone - slowed", .source = events});
  f.real("exposed_share", o.exposed_share, {"Exposed share", "%"}, "The part of the step that is exposed.",
         {.formula = "exposed / step"});
  f.real("tail_s", o.step.tail_s, {"Tail", "s"}, "From the end of the backward to the end of the last collective.",
         {.headline = true, .formula = "end of the last collective - end of the backward"});
  f.real("critical_tokens", o.critical_tokens, {"Critical tokens", "tokens"},
         "Tokens of a GPU's micro-batch from which on compute is as long as what it may hide. Layers alone, "
         "latency aside.",
         {.headline = true,
          .formula = "DDP in a ring: gradient bytes (N-1)/N x FLOP/s / (2 x bandwidth)",
          .source = "4 FLOP per parameter and token in the backward, 2 (N-1)/N of the bytes through a ring"});
  f.real("balance_tokens", o.balance_tokens, {"A layer with latency", "tokens"},
         "Where a layer in the middle is as long as its own collectives, each with its latency, if its time grows with "
         "the tokens.",
         {.formula = "tokens x network of the layer / compute that hides it"});
  f.real("tokens", o.work.tokens, {"Tokens per micro-batch", "tokens"}, "Tokens that one GPU works on.",
         {.formula = "batch x sequence"});
  f.real("tokens_per_s", o.tokens_per_s, "Tokens a second", "What one GPU does.",
         {.formula = "micro-batches x tokens / step"});
  f.real("scaling_percent", o.scaling_percent, {"Scaling efficiency", "%"},
         "What each GPU does in a second, against the count compared with.",
         {.absent = "The states do not fit on the smaller cluster.", .formula = "its step / this step"});
  describe_streams(f, o);
  describe_collectives(f, o);
  f.group("Memory of a GPU");
  f.real("state_bytes", o.work.state_bytes, {"States at rest", "B"},
         "Weights, gradients, moments and, where gradients are BF16, FP32 master weights.",
         {.source = "Rajbhandari et al. 2019 (ZeRO), figure 1"});
  f.real("held_peak_bytes", o.held_peak_bytes, {"Gathered at most", "B"},
         "Weights that are gathered and whole gradients that are not reduced yet; 0 with DDP. The collectives' own "
         "buffers, which FSDP2 copies into and out of, come on top.");
  f.real("memory_bytes", o.memory_bytes, {"States and gathered", "B"}, "Activations come on top.",
         {.formula = "at rest + gathered at most"});
  f.group("Table");
  f.table("collective_rows", o.rows, "Collectives", "The first 1,024.", {.max_items = 1024});
}

void describe(Fields& f, View& v) {
  f.real("time", v.timeline.cursor_s, {"Time cursor", "s"}, "Where the cursor stands on the lanes.",
         {.range = {0, 1e6}});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"distributed/overlap",
       "Overlap",
       "How much of the communication can the backward hide?",
       {.job = true, .published_keys = "method model chip"}},
      [](const Inputs& in, Progress& progress) { return compute(in, progress.facts_alone); }, arrange, draw);
}

}  // namespace chapters::distributed::overlap
