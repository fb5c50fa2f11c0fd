#include "chapters/described/training_memory.h"
#include "chapters/framework/training_memory/lab.h"
#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::framework::training_memory {
namespace {

using models::memory::ActivationCount;

const Choices changes = choices_in_order<Change::none>(
    {{"best", "what helps, or the plain step",
      "The first of the list that fits where the plan does not; where it does, the plain step before any measure."},
     {"eight_bit", "8-bit moments", "AdamW with 8-bit moments."},
     {"no_master", "no master", "The optimizer updates the 16-bit weights."},
     {"eight_bit_no_master", "8-bit moments, no master", "Both of these: 6.03 bytes per parameter."},
     {"adafactor", "Adafactor", "Rows and columns in place of the second moment, and no first."},
     {"recompute", "recompute every layer", "Only the inputs of layers are kept."},
     {"fused_loss", "fused loss", "The gradient of the logits takes their place."},
     {"half_sequence", "half the sequence", "Half the tokens of each sequence."},
     {"shard", "ZeRO-3 over 8 GPUs", "Weights, gradients and optimizer are split over eight GPUs."},
     {"tensor", "tensor and sequence over 8",
      "Tensor parallelism over eight GPUs together with sequence parallelism: norms and dropout are split too."},
     {"plain", "plain mixed AdamW", "The step before any measure: 16 bytes per parameter, one GPU, an eager loss."},
     {"none", "none", "The plan alone."}});
const Choices counts = choices_in_order<ActivationCount::operations>(
    {{"formula", "Korthikanti's formula",
      "A dense GPT's layer with unfused attention: sbh (34 + 5as/h) with dropout, sbh (32 + 2as/h) without."},
     {"operations", "operation by operation",
      "What each operation of this architecture keeps for its backward pass."}});
const Choices splits = choices_in_order<Split::one_gpu>(
    {{"as_set", "as set below", "The cuts over chips are in force."},
     {"one_gpu", "one GPU alone", "Nothing is cut: what the whole model would take."}});
constexpr std::string_view korthikanti = "Korthikanti et al. 2022, table 2";
constexpr std::string_view zero_paper = "Rajbhandari et al. 2019 (ZeRO), section 3.1; Megatron-LM";

}  // namespace

std::string_view change_name(Change change) { return changes[static_cast<std::size_t>(change)].label; }

namespace {

/// How the step is cut over chips.
void describe_cuts(Fields& f, Inputs& in) {
  f.group("Cut over chips");
  f.choice("split", in.split, splits, "Cuts", "Whether the model is cut over chips at all.");
  constexpr When cut{"split", "as_set"};
  shared::parallel_tensor(f, "tensor_parallel", in.tensor_parallel,
                          {.help = "GPUs that share every layer.", .when = cut});
  f.toggle("sequence_parallel", in.sequence_parallel, "Sequence parallel",
           "Norms and dropout between the split products are split by tokens over the same GPUs.", {.when = cut});
  shared::parallel_data(f, "data_parallel", in.data_parallel,
                        {.help = "Replicas, over which ZeRO splits states.", .when = cut});
  f.integer("zero_stage", in.zero_stage, "ZeRO stage",
            "1 splits optimizer and master over the replicas, 2 the gradients too, 3 the weights too.",
            {.range = {0, 3}, .when = cut});
  shared::parallel_pipeline(
      f, "pipeline", in.pipeline,
      {.help = "Stages that the layers are cut into; what does not divide is rounded up, and the last have fewer.",
       .when = cut});
  f.integer("stage", in.stage, "Which stage",
            "Whose GPU the vessel is: the first holds most micro-batches, the last the logits.",
            {.range = {1, 1024, Scale::log}, .when = cut});
  f.integer("virtual_pipeline", in.virtual_pipeline, "Virtual stages",
            "Chunks of layers on each GPU of an interleaved pipeline, all of one size.",
            {.range = {1, 64, Scale::log}, .when = cut});
  f.integer(
      "micro_batches", in.micro_batches, "Micro-batches",
      "So many make a step: a pipeline holds no more of them than there are. From the second on the gradients of those "
      "before are there.",
      {.range = {1, 65536, Scale::log}});
  describe_layout(f, in.details, cut);
  shared::parallel_context(f, "context_parallel", in.context_parallel,
                           {.help = "GPUs that share each sequence, two pieces each.", .when = cut});
  shared::parallel_expert(f, "expert_parallel", in.expert_parallel,
                          {.help = "GPUs that share the experts of a model that has them.", .when = cut});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The recipe");
  f.choice("recipe", in.recipe, state_recipe_choices(), "Recipe", "What is kept of every parameter between steps.",
           {.headline = true});
  f.choice("optimizer", in.optimizer, optimizer_choices(), "Optimizer", "What it remembers of every parameter.",
           {.headline = true});
  describe_recompute(f, in.recompute);
  describe_kept(f, in.details);
  describe_adapters(f, in.details.adapters.rank, in.details.adapters.targets, in.details.adapters.frozen);
  f.choice("change", in.change, changes, "Second vessel",
           "What stands next to your plan: the same plan after one change.");
  f.group("The work");
  shared::model(f, "model", in.model, {.help = "Its parameters, and the shapes of its activations."});
  shared::chip(f, "chip", in.chip,
               {.help = "Its nameplate memory is the vessel's rim, in the maker's GB: an 80 GB A100 or H100 reports "
                        "79.2 GiB, 85.0 GB, of which the CUDA context takes part."});
  shared::micro_batch(f, "batch", in.batch, {.help = "Sequences of one micro-batch on this GPU."});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of each sequence."});
  describe_loss(f, in.loss);
  describe_cuts(f, in);
  f.group("How it is counted");
  f.choice("count", in.count, counts, "Activations", "What counts them; the other count is shown too.");
  f.toggle("fused_attention", in.fused_attention, "FlashAttention",
           "Operation by operation: scores are never stored. The formula knows it as keeping all but them.");
  f.toggle("dropout", in.dropout, "Dropout",
           "Masks of a byte, and of unfused attention the dropped scores next to the softmax. The formula's GPT trains "
           "with it, today's language models without.");
  f.toggle("fused_gradients", in.fused_gradients, "Fused weight gradients",
           "Products add to the gradients themselves; otherwise a 16-bit one passes through.");
  f.toggle("stand_ins", in.stand_ins, "Gradient stand-ins",
           "Transformer Engine keeps one 16-bit array per weight shape in place of gradients that it fused.");
  f.real("fixed_bytes", in.fixed_bytes, {"Fixed buffers", "B"},
         "CUDA context, libraries and their workspaces: an assumption, often 0.5 to 2 GB.", {.range = {0, 16e9}});
  f.real("slack", in.slack, {"Allocator slack", "%"},
         "What the allocator reserves beyond what is in use, as a share of it.", {.range = {0, 50}});
  f.group("The model's size");
  f.real("parameters", in.parameters, {"Parameters", "parameters"},
         "In place of the model's own number, for states; 0 takes the model's.",
         {.range = {0, 1e13}, .typical = {0, 1e11}});
  f.integer("layers", in.layers, "Layers", "In place of the model's own number; 0 takes the model's.",
            {.range = {0, 512}, .typical = {0, 128}});
}

void describe(Fields& f, ChangeRow& r) {
  f.text("name", r.name, "Change");
  f.toggle("possible", r.possible, "Possible");
  f.toggle("fits", r.fits, "Under the nameplate");
  f.real("total_bytes", r.total_bytes, {"Held", "B"}, {.formula = "sum of owners"});
  f.real("saved_bytes", r.saved_bytes, {"Saved", "B"}, {.formula = "before - after"});
  f.text("why_not", r.why_not, "Why not");
}

void describe(Fields& f, SavedTensorRow& r) {
  f.text("operation", r.operation, "Operation");
  f.text("keeps", r.keeps, "Keeps");
  f.real("bytes", r.bytes, {"Bytes", "B"}, {.formula = "elements x bytes / splits"});
  f.real("dropped_bytes", r.dropped_bytes, {"Dropped by selective recomputation", "B"}, {.source = korthikanti});
  f.real("per_sbh", r.per_sbh, "Over sbh", {.formula = "bytes / (tokens x hidden)"});
}

void describe(Fields& f, LayerParts& r) {
  f.text("name", r.name, "Counted by");
  f.real("attention", r.attention, "Attention", "Its bytes for each token and hidden unit, but for the scores.",
         {.source = korthikanti});
  f.real("feed_forward", r.feed_forward, "Feed-forward", "Its bytes for each token and hidden unit.",
         {.source = korthikanti});
  f.real("norms", r.norms, "Norms", "Their bytes for each token and hidden unit.", {.source = korthikanti});
  f.real("scores", r.scores, "Scores", "What selective recomputation drops.", {.source = korthikanti});
}

namespace {

/// Activations, and what stands along the step.
void describe_activations(Fields& f, Outputs& o) {
  f.group("Activations");
  f.real("formula_bytes", o.memory.formula_bytes, {"By the formula", "B"},
         "With dropout; without it 32 + 2as/h in place of the bracket.",
         {.formula = "L s b h (34 + 5as/h)", .source = korthikanti});
  f.real("operations_bytes", o.memory.operations_bytes, {"Operation by operation", "B"},
         "For this architecture, from the list that times it.");
  f.real("counts_ratio", o.counts_ratio, "Operations over formula", {.formula = "operations / formula"});
  f.real("layer_sbh", o.layer_sbh, "A layer over sbh", "34 by the formula with dropout and all but the scores kept.",
         {.formula = "bytes / (tokens x hidden)"});
  f.real("scores_bytes", o.scores_bytes, {"Scores of a layer", "B"}, "What keeping all adds.", {.source = korthikanti});
  f.real("stage_layers", o.stage_layers, "Layers on this stage", "All chunks of it.");
  f.real("layers_held", o.memory.layers_held, "Layers held at once", "Micro-batches of a pipeline counted.",
         {.source = "Narayanan et al. 2021"});
  f.real("layer_none_bytes", o.memory.layer_none_bytes, {"A layer, all kept", "B"}, {.source = korthikanti});
  f.real("layer_selective_bytes", o.memory.layer_selective_bytes, {"... without the scores", "B"},
         {.source = korthikanti});
  f.real("layer_full_bytes", o.memory.layer_full_bytes, {"... its input alone", "B"}, {.source = korthikanti});
  f.group("Along the step");
  f.real("logits_spike_bytes", o.memory.logits_spike_bytes, {"Loss at its fullest", "B"},
         {.formula = "tokens x vocabulary x bytes of the loss / tensor"});
  f.real("backward_spike_bytes", o.memory.backward_spike_bytes, {"A layer's backward pass", "B"},
         "What it holds beyond what is kept.");
  f.real("bytes_per_token", o.bytes_per_token, {"A token", "B"}, {.formula = "what is no state or buffer / tokens"});
  f.real("largest_sequence", o.largest_sequence, {"Longest sequence that fits", "tokens"},
         "0 where not even the shortest does; found to 0.2 %.");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  f.group("The vessel");
  f.real("total_bytes", o.total_bytes, {"Held at the peak", "B"},
         "Sum of the owners at the fullest moment. Gradients are in it from the second micro-batch on, or where they "
         "lie in a buffer of their own.",
         {.headline = true,
          .against = {"of", "chip_bytes"},
          .formula = "states + activations + logits + temporary + buffers"});
  f.real("free_bytes", o.free_bytes, {"Free under the rim", "B"},
         "Negative where the plan is over the chip's nameplate; the device reports some percent more than that, "
         "and driver and context take some of it.",
         {.headline = true, .formula = "memory - held"});
  f.real("bytes_per_parameter", o.memory.bytes_per_parameter, {"Per parameter", "B"},
         "Weights, gradients, master and moments of one parameter that is trained, before they are split.",
         {.headline = true, .source = zero_paper});
  f.real("weights_share", o.weights_share, {"Weights' share", "%"}, {.headline = true, .formula = "weights / held"});
  f.toggle("fits", o.fits, "Under the nameplate");
  f.real("one_micro_batch_bytes", o.one_micro_batch_bytes, {"With one micro-batch", "B"},
         "Peak of a step without accumulation, where gradients come as activations go: what the memory timeline draws.",
         {.absent = "This order of the passes needs more than one.",
          .formula = "largest of loss, each layer's backward pass and its end"});
  f.real("chip_bytes", o.chip_bytes, {"Nameplate memory", "B"}, {.source = "the chip's data sheet"});
  f.real("chip_share", o.chip_share, {"Share of the chip", "%"}, {.formula = "held / memory"});
  f.group("Owners");
  describe(f, o.memory.held);
  f.group("States");
  f.real("states_bytes", o.states_bytes, {"States", "B"},
         "Weights, gradients, master and moments. All but the gradients stay between steps; those too where they lie "
         "in a buffer.",
         {.formula = "parameters x bytes per parameter / splits"});
  f.real("states_share", o.states_share, {"States over held", "%"}, {.formula = "states / held"});
  f.real("kept_bytes", o.kept_bytes, {"Optimizer and master", "B"}, "What the optimizer keeps beyond the weights.",
         {.formula = "optimizer + master"});
  f.real("gpu_parameters", o.memory.parameters, {"Parameters on this GPU", "parameters"},
         {.formula = "stage's parameters / tensor, experts / expert parallel"});
  f.real("trained", o.memory.trained, {"Trained on this GPU", "parameters"},
         "All of them, or the adapters beside frozen ones.", {.formula = "rank x (inputs + outputs) of each pair"});
  f.real("frozen_bytes", o.memory.frozen_bytes, {"Frozen weights", "B"}, "The part of the weights that is not trained.",
         {.formula = "parameters x bytes that they are frozen in / splits"});
  f.real("left_per_parameter", o.left_per_parameter, {"Left per parameter", "B"},
         "What the chip has left for the states of each trained parameter once everything else is in; negative where "
         "nothing is.",
         {.formula = "(memory - everything else) / trained parameters"});
  describe_activations(f, o);
  f.group("One change");
  f.text("best_change", o.best_change, "First that fits");
  f.real("best_total_bytes", o.best_total_bytes, {"Then held", "B"},
         {.absent = "It fits, or no single change makes it.", .formula = "sum of owners"});
  f.table("changes", o.changes, "Every change alone");
  f.table("saved", o.saved, "What a layer keeps");
  f.table("layer_parts", o.layer_parts, "A layer by part, over sbh");
}

LabPtr make() {
  const auto schedules = std::make_shared<Schedules>();
  return make_lab<Inputs, Outputs, Picture, View>(
      {"framework/training-memory",
       "Training memory",
       "Where do the bytes of a training step live, and what would make them fit?",
       {.published_keys = "model"}},
      [schedules](const Inputs& in) { return compute(in, *schedules); },
      [schedules](const Inputs& in, const Outputs& out) { return arrange(in, out, *schedules); }, draw);
}

}  // namespace chapters::framework::training_memory
