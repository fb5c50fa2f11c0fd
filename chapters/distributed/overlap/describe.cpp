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
const Choices algorithms = choices_in_order<models::AllReduceAlgorithm::fastest>(
    {{"ring", "Ring", "One ring through all ranks, as many at once as a node has ports."},
     {"tree", "Tree", "A chain inside nodes, a double binary tree of nodes; pipelined."},
     {"hierarchical", "Hierarchical", "Reduce-scatter inside nodes, rings between them, all-gather inside."},
     {"fastest", "Fastest", "For each bucket the one of these that takes least."}});
constexpr std::string_view reducer = "torch/csrc/distributed/c10d/reducer.cpp";
constexpr std::string_view events = "the step on two streams, event by event";
constexpr When with_ddp{"method", "ddp"}, with_fsdp{"method", "fsdp"};
constexpr std::string_view ddp_alone = "FSDP has no buckets: a unit's gradients are reduced together.";

void describe_links(Fields& f, Inputs& in) {
  f.group("Links");
  shared::network(f, "network", in.network, {.help = "What joins the nodes: one port for each GPU."});
  f.choice("algorithm", in.algorithm, algorithms,
           {.label = "All-reduce", .help = "How buckets are summed. All-gathers and reduce-scatters are rings."});
  f.integer("gpus_per_node", in.gpus_per_node,
            {.label = "GPUs a node",
             .help = "Behind one fast switch.",
             .lo = 1,
             .hi = 576,
             .scale = Scale::log,
             .typical_lo = 1,
             .typical_hi = 72});
  f.real("inside_share", in.inside_share,
         {.label = "Inside, reached",
          .unit = "%",
          .help = "Of the chip's link in one direction; 82 % of an H100's 450 GB/s are 369, as rings reach.",
          .lo = 1,
          .hi = 100,
          .typical_lo = 50,
          .typical_hi = 100});
  f.real("between_share", in.between_share,
         {.label = "Between, reached",
          .unit = "%",
          .help = "Of the network's port; 94 % of 50 GB/s are 47.",
          .lo = 1,
          .hi = 100,
          .typical_lo = 20,
          .typical_hi = 100});
  const auto hop = [&](std::string_view key, double& slot, std::string_view label, std::string_view help) {
    f.real(key, slot, {.label = label, .unit = "s", .help = help, .lo = 1e-8, .hi = 1e-3, .scale = Scale::log});
  };
  hop("inside_hop_s", in.inside_hop_s, "A step inside",
      "Latency to a neighbour in the node; NCCL's table: 3.4 us for large messages, 0.6 for small.");
  hop("between_hop_s", in.between_hop_s, "A step between",
      "Latency to a neighbour in another node; NCCL's table: 14 us for large messages, 2.7 for small.");
  f.integer("baseline_gpus", in.baseline_gpus,
            {.label = "Compared with",
             .help = "GPUs whose step the scaling figure is held against, with the same batch on each.",
             .lo = 1,
             .hi = 4096,
             .scale = Scale::log});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The step");
  f.choice("method", in.method, methods,
           {.label = "Method", .help = "What lies on each GPU, and what is exchanged.", .headline = true});
  shared::model(f, "model", in.model, {.help = "Its own parameter tensors, in the order of their gradients."});
  shared::cluster_chips(f, "gpus", in.gpus, {.label = "GPUs", .help = "All work on the same weights."});
  shared::batch(f, "batch", in.batch, {.label = "Batch a GPU", .help = "Sequences of each GPU and micro-batch."});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of each."});
  f.integer("micro_batches", in.micro_batches,
            {.label = "Micro-batches",
             .help = "Forward and backward so often before the optimizer (gradient accumulation). DDP exchanges beside "
                     "the last backward alone (no_sync), FSDP in each.",
             .lo = 1,
             .hi = 64,
             .scale = Scale::step,
             .typical_lo = 1,
             .typical_hi = 8});
  shared::chip(f, "chip", in.chip, {.help = "Its BF16 peak, memory and links."});
  f.choice("gradient_format", in.gradient_format, sums,
           {.label = "Gradients", .help = "Format in which they are summed. Gathered weights are BF16."});
  f.toggle("layers_again", in.layers_again,
           {.label = "Layers run again",
            .help = "Full activation checkpointing: each layer's forward again before its backward. It stays gathered "
                    "meanwhile."});
  f.group("Buckets");
  f.real("bucket_bytes", in.bucket_bytes,
         {.label = "Bucket",
          .unit = "B",
          .help = "bucket_cap_mb. A bucket is closed by the tensor that reaches this, so that it may be larger.",
          .lo = 65536,
          .hi = 1099511627776.0,
          .scale = Scale::log,
          .typical_lo = 1048576,
          .typical_hi = 8589934592.0,
          .headline = true,
          .binary = true,
          .when = with_ddp});
  f.real("first_bucket_bytes", in.first_bucket_bytes,
         {.label = "First bucket",
          .unit = "B",
          .help = "Limit of the first bucket alone, so that the network starts early. 1 MiB in PyTorch; where "
                  "bucket_cap_mb is given, PyTorch 2.11 takes that for the first one too.",
          .lo = 4,
          .hi = 1099511627776.0,
          .scale = Scale::log,
          .typical_lo = 65536,
          .typical_hi = 1073741824.0,
          .binary = true,
          .when = with_ddp});
  f.toggle("beside_backward", in.beside_backward,
           {.label = "Beside the backward",
            .help = "A bucket is sent as soon as it is full. Off: all wait for the end of the backward.",
            .when = with_ddp});
  f.group("Units");
  f.toggle("reshard_after_forward", in.reshard_after_forward,
           {.label = "Reshard after forward",
            .help = "A unit's weights are freed behind its forward and gathered once more for its backward.",
            .when = with_fsdp});
  f.integer("forward_ahead", in.forward_ahead,
            {.label = "Ahead, forward",
             .help = "Units gathered while an earlier one runs. FSDP2's streams give 2, FSDP1's limit_all_gathers 1.",
             .lo = 0,
             .hi = 16,
             .scale = Scale::step,
             .typical_lo = 0,
             .typical_hi = 4,
             .when = with_fsdp});
  f.integer("backward_ahead", in.backward_ahead,
            {.label = "Ahead, backward",
             .help = "The same in the backward. FSDP2 prefetches 1.",
             .lo = 0,
             .hi = 16,
             .scale = Scale::step,
             .typical_lo = 0,
             .typical_hi = 4,
             .when = with_fsdp});
  f.integer("layers_per_unit", in.layers_per_unit,
            {.label = "Layers a unit",
             .help = "Layers wrapped by one fully_shard. Embedding and output are units of their own.",
             .lo = 1,
             .hi = 128,
             .scale = Scale::log,
             .typical_lo = 1,
             .typical_hi = 16,
             .when = with_fsdp});
  f.toggle("hybrid", in.hybrid,
           {.label = "Hybrid",
            .help = "Split over some GPUs and replicate over the rest; replicas sum their shards of the gradients.",
            .when = with_fsdp});
  shared::parallel_shards(f, "shards", in.shards,
                          {.help = "GPUs that hold one copy of the states together.", .when = {"hybrid", "true"}});
  f.group("The GPU");
  f.real("slowdown", in.slowdown,
         {.label = "Compute slows by",
          .unit = "%",
          .help = "While a collective takes SMs and bandwidth. Measured on 4 GPUs: 18.9 % on average, 40 % at most "
                  "(arXiv 2507.03114); 20 of an H100's 132 SMs are 17.9 %.",
          .lo = 0,
          .hi = 200,
          .typical_lo = 0,
          .typical_hi = 40,
          .headline = true});
  describe_roof_share(f, in.roof_share);
  describe_links(f, in);
}

void describe(Fields& f, CollectiveRow& r) {
  f.text("what", r.what, {.label = "Collective", .help = "In the order in which they run."});
  f.integer("tensors", r.tensors, {.label = "Tensors", .help = "Gradients in the bucket; 0 with FSDP."});
  f.real("bytes", r.bytes, {.label = "Bytes", .unit = "B", .help = "Of the whole buffer."});
  f.real("ready_s", r.ready_s, {.label = "Ready", .unit = "s", .help = "All that it needs is there."});
  f.real("start_s", r.start_s, {.label = "Starts", .unit = "s", .help = "The one before it has ended."});
  f.real("end_s", r.end_s, {.label = "Ends", .unit = "s", .help = "On all GPUs at once."});
  f.real("waits_s", r.waits_s, {.label = "Waits", .unit = "s", .formula = "starts - ready"});
}

void describe(Fields& f, Outputs& o) {
  f.group("One step");
  f.real("step_s", o.run.makespan_s,
         {.label = "One step",
          .unit = "s",
          .help = "Forward, backward, exchange, optimizer.",
          .headline = true,
          .formula = "compute alone + slowed + exposed",
          .source = events});
  f.real("exposed_s", o.run.exposed_s,
         {.label = "Exposed",
          .unit = "s",
          .help = "The compute stream waits for a collective.",
          .headline = true,
          .formula = "step - compute alone - slowed",
          .source = events});
  f.real("exposed_share", o.exposed_share,
         {.label = "Exposed share", .unit = "%", .help = "Of the step.", .formula = "exposed / step"});
  f.real("tail_s", o.run.tail_s,
         {.label = "Tail",
          .unit = "s",
          .help = "From the end of the backward to the end of the last collective.",
          .headline = true,
          .formula = "end of the last collective - end of the backward"});
  f.real("critical_tokens", o.critical_tokens,
         {.label = "Critical tokens",
          .unit = "tokens",
          .help = "Of a GPU and micro-batch: from here on compute is as long as what it may hide. Layers alone, "
                  "latency aside.",
          .headline = true,
          .formula = "DDP in a ring: gradient bytes (N-1)/N x FLOP/s / (2 x bandwidth)",
          .source = "4 FLOP a parameter and token in the backward, 2 (N-1)/N of the bytes through a ring"});
  f.real("balance_tokens", o.balance_tokens,
         {.label = "A layer with latency",
          .unit = "tokens",
          .help = "Where a layer in the middle is as long as its own collectives, each with its latency, if its time "
                  "grows with the tokens.",
          .formula = "tokens x network of the layer / compute that hides it"});
  f.real("tokens", o.work.tokens,
         {.label = "Tokens a micro-batch", .unit = "tokens", .help = "Of one GPU.", .formula = "batch x sequence"});
  f.real("tokens_per_s", o.tokens_per_s,
         {.label = "Tokens a second", .help = "Of one GPU.", .formula = "micro-batches x tokens / step"});
  f.real("scaling_percent", o.scaling_percent,
         {.label = "Of the smaller cluster",
          .unit = "%",
          .help = "What each GPU does in a second, against the count compared with.",
          .may_be_missing = true,
          .absent = "The states do not fit on the smaller cluster.",
          .formula = "its step / this step"});
  f.group("Compute");
  f.real("compute_s", o.run.compute_s,
         {.label = "Compute alone",
          .unit = "s",
          .help = "With no collective beside it.",
          .formula = "micro-batches x (forward + backward) + optimizer",
          .source = "every operation under the roofline, at the share of the roof"});
  f.real("forward_s", o.work.forward_s, {.label = "Forward", .unit = "s", .help = "Of a micro-batch, alone."});
  f.real("backward_s", o.work.backward_s, {.label = "Backward", .unit = "s", .help = "Of a micro-batch, alone."});
  f.real("optimizer_s", o.work.optimizer_s,
         {.label = "Optimizer", .unit = "s", .help = "AdamW in one pass over what lies on the GPU."});
  f.real("slowed_s", o.run.slowed_s,
         {.label = "Slowed", .unit = "s", .help = "Longer because collectives run beside it.", .source = events});
  f.group("Network");
  f.real("network_s", o.run.network_s, {.label = "Collectives", .unit = "s", .help = "Sum of their times."});
  f.real("hidden_share", o.hidden_share,
         {.label = "Hidden", .unit = "%", .help = "Of the collectives' time.", .formula = "1 - exposed / collectives"});
  f.integer("collectives", o.collectives, {.label = "Collectives a step", .help = "All-reduces, gathers, reductions."});
  f.real("sent_bytes", o.plan.sent_bytes,
         {.label = "Sent by a GPU",
          .unit = "B",
          .help = "In rings, whichever way buckets are summed.",
          .formula = "2 (N-1)/N of each all-reduce, (N-1)/N of each all-gather and reduce-scatter",
          .source = "Patarasuk, Yuan 2009; doc/PERFORMANCE.md of nccl-tests"});
  f.real("apart_s", o.apart_s,
         {.label = "Without overlap",
          .unit = "s",
          .help = "The same collectives, none beside compute.",
          .formula = "compute alone + collectives"});
  f.real("saved_s", o.saved_s,
         {.label = "Overlap saves",
          .unit = "s",
          .help = "Below 0 where slowing compute costs more than it hides.",
          .formula = "without overlap - step"});
  f.group("Where it waits");
  f.real("forward_wait_s", o.forward_wait_s, {.label = "In the forward", .unit = "s", .help = "For gathered weights."});
  f.real("backward_wait_s", o.backward_wait_s,
         {.label = "In the backward", .unit = "s", .help = "For gathered weights, or the reduction two units before."});
  f.real("tail_wait_s", o.tail_wait_s,
         {.label = "Before the optimizer", .unit = "s", .help = "For the last gradients."});
  f.group("Buckets and units");
  f.real("largest_bytes", o.largest_bytes,
         {.label = "Largest", .unit = "B", .help = "Buffer of a collective.", .source = reducer});
  f.real("last_bytes", o.last_bytes,
         {.label = "Last", .unit = "B", .help = "Buffer of the last collective.", .source = reducer});
  f.real("last_s", o.last_s, {.label = "Time of the last", .unit = "s", .help = "The least tail there can be."});
  f.real("best_bucket_bytes", o.best_bucket_bytes,
         {.label = "Best bucket",
          .unit = "B",
          .help = "Of the sizes from 256 KiB up, by factors of the root of 2, and yours.",
          .binary = true,
          .may_be_missing = true,
          .absent = ddp_alone});
  f.real("best_step_s", o.best_step_s,
         {.label = "Step with it",
          .unit = "s",
          .help = "With the best bucket.",
          .may_be_missing = true,
          .absent = ddp_alone,
          .source = events});
  f.group("A layer");
  f.real("layer_forward_s", o.layer_forward_s,
         {.label = "Its forward", .unit = "s", .help = "Of the first unit of layers, alone."});
  f.real("layer_gather_s", o.layer_gather_s,
         {.label = "Gathering it", .unit = "s", .formula = "(N-1)/N x bytes / bandwidth + (N-1) steps"});
  f.real("layer_reduce_s", o.layer_reduce_s,
         {.label = "Reducing its gradients", .unit = "s", .help = "All-reduce with DDP, reduce-scatter with FSDP."});
  f.real(
      "layer_ratio", o.layer_ratio,
      {.label = "Compute over network",
       .help = "FSDP: its forward over gathering it. DDP: its backward over reducing its gradients. Above 1 it hides.",
       .may_be_missing = true,
       .absent = "One GPU exchanges nothing."});
  f.group("Memory of a GPU");
  f.real("state_bytes", o.work.state_bytes,
         {.label = "States at rest",
          .unit = "B",
          .help = "Weights, gradients, moments and, where gradients are BF16, FP32 master weights.",
          .source = "Rajbhandari et al. 2019 (ZeRO), figure 1"});
  f.real("held_peak_bytes", o.held_peak_bytes,
         {.label = "Gathered at most",
          .unit = "B",
          .help = "Weights that are gathered and whole gradients that are not reduced yet; 0 with DDP. The "
                  "collectives' own buffers, which FSDP2 copies into and out of, come on top."});
  f.real("memory_bytes", o.memory_bytes,
         {.label = "States and gathered",
          .unit = "B",
          .help = "Activations come on top.",
          .formula = "at rest + gathered at most"});
  f.group("Table");
  f.table("collective_rows", o.rows, {.label = "Collectives", .help = "The first 1,024.", .max_items = 1024});
}

void describe(Fields& f, View& v) {
  f.real("time", v.timeline.cursor_s,
         {.label = "Time cursor", .unit = "s", .help = "Where the cursor stands on the lanes.", .lo = 0, .hi = 1e6});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({.id = "distributed/overlap",
                                                   .title = "Overlap",
                                                   .question = "How much of the communication can the backward hide?"},
                                                  compute, arrange, draw);
}

}  // namespace chapters::distributed::overlap
