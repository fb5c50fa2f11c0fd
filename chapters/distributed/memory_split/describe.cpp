#include "chapters/described/training_memory.h"
#include "chapters/distributed/memory_split/lab.h"
#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::distributed::memory_split {
namespace {

constexpr std::string_view zero_paper = "Rajbhandari et al. 2019 (ZeRO), section 5";

const Choices offloads = choices_in_order<models::memory::Offload::parameters>(
    {{"none", "nothing", "All states lie in the GPU's memory."},
     {"optimizer", "optimizer", "Master and moments lie in the host's memory, from ZeRO-2 on the gradients too."},
     {"parameters", "optimizer and weights", "The weights too: each unit comes over PCIe where it is needed."}});

const Choices all_cuts = choices_in_order<Cuts::data_alone>(
    {{"as_set", "as set below", "Tensor, pipeline, context and expert parallelism are in force."},
     {"data_alone", "none: data parallel alone", "The model is whole on every replica but for what ZeRO splits."}});
constexpr When cut{"model_cuts", "as_set"};

void describe_bytes_and_gather(Fields& f, Inputs& in) {
  f.group("Bytes per parameter");
  f.real("weight_bytes", in.weight_bytes, {"Weights", "B"},
         "2 where a master copy is apart, 4 where the FP32 weights themselves are kept, as FSDP2 does.",
         {.range = {0.5, 8}});
  f.real("gradient_bytes", in.gradient_bytes, {"Gradients", "B"}, "2 in the ZeRO paper, 4 in Megatron-LM and FSDP2.",
         {.range = {0, 8}});
  f.real("optimizer_bytes", in.optimizer_bytes, {"Optimizer", "B"},
         "AdamW: 8 of moments, and 4 of FP32 master weights where the weights have fewer.", {.range = {0, 32}});
  f.real("parameters", in.parameters, {"Parameters", "parameters"},
         "In place of the model's own number, for states; evenly over tensor and pipeline. 0 takes the model's.",
         {.range = {0, 1e13}, .typical = {0, 1e12}});
  f.group("The gather");
  f.integer("gather_ahead", in.gather_ahead, "Units ahead",
            "ZeRO-3: units that are gathered before they are needed. FSDP2 takes 1 by itself.", {.range = {0, 8}});
  f.toggle("reshard", in.reshard, "Reshard after forward",
           "ZeRO-3: a unit's weights are given up after its forward pass. Otherwise they stay whole until its backward "
           "pass is done, and are gathered once a micro-batch, not twice.");
  f.toggle("whole_in_pipeline", in.whole_in_pipeline, "Whole in a pipeline",
           "ZeRO-3 with stages: weights are gathered once a step, and gradients summed whole in FP32 until the last "
           "micro-batch, as PyTorch's pipeline stages do over FSDP2.",
           {.when = cut});
  f.real("reduce_bytes", in.reduce_bytes, {"Reduced in", "B"},
         "ZeRO-3: bytes of an element where gradients are reduced; 0 takes those that gradients are kept in.",
         {.range = {0, 4}});
  f.real("bucket_bytes", in.bucket_bytes, {"Bucket", "B"},
         "ZeRO-2 and offloading: gradients leave through two of these. DDP's default is 25 MiB, DeepSpeed's 1 GB.",
         {.range = {0, 8e9}, .typical = {0, 1e9}});
  f.real("fixed_bytes", in.fixed_bytes, {"Fixed buffers", "B"},
         "CUDA context, libraries, NCCL's channels: an assumption, often 0.5 to 2 GB.", {.range = {0, 16e9}});
  f.real("slack", in.slack, {"Allocator slack", "%"},
         "What the allocator reserves beyond what is in use, as a share of it.", {.range = {0, 50}});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The split");
  f.integer("zero_stage", in.zero_stage, "ZeRO stage",
            "0 is plain data parallelism. 1 splits optimizer and master over the replicas, 2 the gradients too, 3 the "
            "weights too, which is what FSDP does.",
            {.range = {0, 3}, .headline = true});
  shared::parallel_data(f, "data_parallel", in.data_parallel,
                        {.help = "Replicas with different data, over which ZeRO splits states."});
  f.choice("model_cuts", in.cuts, all_cuts, "Cuts of the model", "Whether the model itself is cut.");
  shared::parallel_tensor(f, "tensor_parallel", in.tensor_parallel,
                          {.help = "GPUs that share every matrix.", .when = cut});
  shared::parallel_pipeline(
      f, "pipeline_parallel", in.pipeline_parallel,
      {.help = "Stages that the layers are cut into. The first holds activations of the most micro-batches.",
       .when = cut});
  shared::parallel_context(f, "context_parallel", in.context_parallel,
                           {.help = "GPUs that share each sequence; ZeRO splits states over them too.", .when = cut});
  shared::parallel_expert(f, "expert_parallel", in.expert_parallel,
                          {.help = "GPUs that share the experts of a model that has them.", .when = cut});
  f.toggle("sequence_parallel", in.sequence_parallel, "Sequence parallel",
           "What lies between the split matmuls is split by tokens over the tensor-parallel GPUs. Without tensor "
           "parallelism it does nothing.",
           {.when = cut});
  f.integer("virtual_pipeline", in.virtual_pipeline, "Virtual stages",
            "Chunks of layers on each GPU of an interleaved pipeline.", {.range = {1, 64, Scale::log}, .when = cut});
  describe_layout(f, in.details, cut);
  f.choice("offload", in.offload, offloads, "Offloaded", "What lies in the host's memory.");
  f.toggle("host_activations", in.host_activations, "Activations on the host",
           "What layers keep waits in the host's memory; two layers' worth has room on the GPU.");
  f.group("The work");
  shared::model(f, "model", in.model, {.help = "Its parameters and the shapes of its activations."});
  shared::chip(f, "chip", in.chip, {.help = "Its nameplate memory is the rim."});
  shared::micro_batch(f, "batch", in.batch, {.help = "Sequences of one micro-batch on each replica."});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of each sequence."});
  f.integer("micro_batches", in.micro_batches, "Micro-batches",
            "Micro-batches of a step on each replica: a pipeline holds no more of them than there are, and ZeRO-3 "
            "gathers for each "
            "of them.",
            {.range = {1, 65536, Scale::log}, .typical = {1, 256}});
  describe_recompute(f, in.recompute);
  describe_kept(f, in.details);
  describe_adapters(f, in.details.adapters.rank, in.details.adapters.targets, in.details.adapters.frozen);
  describe_loss(f, in.loss);
  f.toggle("eager_gate", in.eager_gate, "Eager SwiGLU",
           "SiLU and product are kernels of their own, as in eager PyTorch, and the SiLU's result is kept too.");
  f.toggle("fused_gradients", in.fused_gradients, "Fused weight gradients",
           "Matmuls add to the gradients themselves, as in Megatron Core; otherwise a 16-bit one passes through.");
  f.toggle("fused_attention", in.fused_attention, "FlashAttention",
           "Scores are never stored. Off: scores and softmax lie in memory.");
  f.toggle("dropout", in.dropout, "Dropout",
           "Masks of a byte, and of unfused attention the dropped scores next to the softmax.");
  describe_bytes_and_gather(f, in);
}

void describe(Fields& f, CutRow& r) {
  f.text("axis", r.axis, "Axis");
  f.real("peak_bytes", r.peak_bytes, {"Peak", "B"}, {.formula = "sum of owners, fullest stage"});
  f.real("saved_bytes", r.saved_bytes, {"Saved", "B"}, {.formula = "before - after"});
  f.toggle("fits", r.fits, "Fits");
}

void describe(Fields& f, StageRow& r) {
  f.integer("stage", r.stage, "Stage", "0-based.", {.range = {0, 1e6}});
  f.real("states_bytes", r.states_bytes, {"States", "B"}, {.source = zero_paper});
  f.real("activations_bytes", r.activations_bytes, {"Activations", "B"},
         {.source = "Narayanan et al. 2021, counted by operation"});
  f.real("whole_bytes", r.whole_bytes, {"Whole units", "B"}, "At its fullest moment.");
  f.real("peak_bytes", r.peak_bytes, {"Peak", "B"}, {.formula = "sum of owners"});
  f.real("layers_held", r.layers_held, "Layers held", "Micro-batches under way counted.");
}

void describe(Fields& f, CalculatorRow& r) {
  f.text("name", r.name, "Calculator");
  f.real("bytes", r.bytes, {"Says", "B"}, "What it says of the same plan, by the formulas of its source.",
         {.absent = "It does not know such a plan."});
  f.text("leaves_out", r.leaves_out, "Leaves out");
}

namespace {

void describe_peak(Fields& f, Outputs& o) {
  f.group("At the peak");
  f.real("peak_activations", o.memory.held[models::memory::MemoryOwner::activations], {"Activations", "B"},
         {.source = "counted operation by operation"});
  f.real("peak_logits", o.memory.held[models::memory::MemoryOwner::logits], {"Logits", "B"},
         "0 where the peak is not at the loss.");
  f.real("peak_work", o.work_bytes, {"Activations and logits", "B"}, {.formula = "activations + logits"});
  f.real("whole_at_work", o.memory.whole.at_work, {"Unit at work", "B"}, "Weights that are whole now.");
  f.real("whole_ahead", o.memory.whole.ahead, {"Gathered ahead", "B"}, "Weights for the next unit.");
  f.real("whole_gradient", o.memory.whole.gradient, {"Its gradient", "B"}, "Before it is reduced to shards.");
  f.real("whole_reducing", o.memory.whole.reducing, {"Being reduced", "B"}, "Gradients in the reduction's input.");
  f.real("largest_unit_bytes", o.largest_unit_bytes, {"Largest unit", "B"},
         "Weights that are gathered at once: a layer, the embedding or the output matrix.",
         {.formula = "parameters of the unit x bytes they are multiplied in"});
  f.real("layer_unit_bytes", o.layer_unit_bytes, {"Largest layer", "B"},
         "Weights of a layer that are gathered at once.",
         {.formula = "parameters of the layer x bytes they are multiplied in"});
  f.real("layers_held", o.memory.layers_held, "Layers held",
         "Whose activations are there, micro-batches under way counted.", {.source = "Narayanan et al. 2021"});
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  f.group("One GPU");
  f.real("peak_bytes", o.peak_bytes, {"Peak per GPU", "B"},
         "What a GPU of the stage that holds most has at its fullest moment.",
         {.headline = true,
          .against = {"of", "chip_bytes"},
          .formula = "states + whole units + activations + logits + temporary + buffers"});
  f.real("free_bytes", o.free_bytes, {"Free under the rim", "B"}, "Negative where it does not fit.",
         {.headline = true, .formula = "memory - peak"});
  f.real("total_bytes", o.total_bytes, {"States per GPU", "B"},
         {.headline = true, .formula = "weights + gradients + optimizer", .source = zero_paper});
  f.real("whole_bytes", o.whole_bytes, {"Whole at the peak", "B"},
         "ZeRO-3: the unit at work, the one gathered ahead, gradients not yet reduced. 0 where nothing is gathered.",
         {.headline = true, .formula = "at work + ahead + gradient + reducing"});
  f.toggle("fits", o.fits, "Fits");
  f.real("chip_bytes", o.chip_bytes, {"Nameplate memory", "B"}, {.source = "the chip's data sheet"});
  f.real("alone_bytes", o.alone_bytes, {"Peak with plain DDP", "B"}, "Every GPU holds the whole model.",
         {.formula = "no axis applied"});
  f.real("saved_times", o.saved_times, {"Smaller than DDP", "×"}, {.formula = "peak with DDP / peak"});
  f.text("fullest_moment", o.fullest_moment, "Fullest");
  f.group("States");
  f.real("weights_bytes", o.memory.states[models::memory::MemoryOwner::weights], {"Weights", "B"},
         {.formula = "parameters x bytes / splits", .source = zero_paper});
  f.real("gradients_bytes", o.memory.states[models::memory::MemoryOwner::gradients], {"Gradients", "B"},
         {.formula = "parameters x bytes / splits", .source = zero_paper});
  f.real("optimizer_bytes", o.optimizer_bytes, {"Optimizer", "B"}, "Master weights and moments.",
         {.formula = "parameters x bytes / splits", .source = zero_paper});
  f.real("states_times", o.states_times, {"States smaller than DDP's", "×"},
         {.absent = "No states are left on the GPU.",
          .formula = "states of the whole model / states per GPU",
          .source = zero_paper});
  f.real("gpu_parameters", o.memory.parameters, {"Parameters of this GPU", "parameters"}, "Before ZeRO splits them.",
         {.formula = "stage's parameters / tensor, experts / expert parallel"});
  f.real("trained", o.memory.trained, {"Trained on this GPU", "parameters"},
         "All of them, or the adapters beside frozen ones.", {.formula = "rank x (inputs + outputs) of each pair"});
  f.real("frozen_bytes", o.memory.frozen_bytes, {"Frozen weights", "B"}, "The part of the weights that is not trained.",
         {.formula = "parameters x bytes that they are frozen in / splits"});
  f.real("host_bytes", o.host_bytes, {"In the host, per GPU", "B"}, "What is offloaded.",
         {.formula = "offloaded states"});
  describe_peak(f, o);
  f.group("The cluster");
  f.integer("gpus", o.gpus, "GPUs", "tensor x pipeline x context x data.", {.range = {0, 4e9}});
  f.real("cluster_bytes", o.cluster_bytes, {"Memory in all", "B"}, {.formula = "GPUs x memory"});
  f.real("traffic", o.traffic, "Traffic of a step",
         "Elements that data parallelism moves over those of this GPU's weights, at many replicas. Gradients are of "
         "what is "
         "trained alone.",
         {.formula = "2 for DDP, ZeRO-1; m + 1 for ZeRO-2; 3m for ZeRO-3",
          .source = "Rajbhandari et al. 2019, section 7"});
  f.real("traffic_bytes", o.traffic_bytes, {"... in bytes", "B"},
         {.formula = "parameters x (gathers x bytes of a weight + reductions x bytes of a gradient)"});
  f.group("Tables");
  f.table("cuts", o.cuts, "Axis by axis");
  f.table("stages", o.stages, "Stages");
  f.table("calculators", o.calculators, "Other calculators");
}

void describe(Fields& f, View& v) {
  f.integer("moment", v.moment, "Moment", "Which moment of the step is shown, forward and back; -1 is the fullest.",
            {.range = {-1, 4096}});
  f.integer("step", v.step, "Axes applied", "Up to this one; -1 is all.", {.range = {-1, 16}});
  f.real("dealt", v.dealt, "Dealt out", "How far the last axis applied has cut, from 0 to 1.", {.range = {0, 1}});
}

LabPtr make() {
  const auto schedules = std::make_shared<models::parallel::KeptSchedules>();
  return make_lab<Inputs, Outputs, Picture, View>(
      {"distributed/memory-split",
       "Memory split",
       "What does each GPU hold when the model is split, and does it fit?",
       {.published_keys = "model"}},
      [schedules](const Inputs& in, Progress& progress) { return compute(in, *schedules, progress.facts_alone); },
      arrange, draw);
}

}  // namespace chapters::distributed::memory_split
