#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"
#include "chapters/training/checkpointing/lab.h"

namespace chapters::training::checkpointing {
namespace {

const LayersAgain again;
const Choices plans = choices_in_order<Plan::drawn>(
    {{"best", "the best in the budget",
      "The fastest plan whose peak is within the budget; the smallest where none is."},
     {"none", "nothing recomputed", "All activations are kept."},
     again.every_layer,
     again.pieces,
     again.square_root,
     again.first,
     {"selective", "scores only", "Scores and softmax of unfused attention: Korthikanti et al. 2022."},
     again.drawn});
constexpr std::string_view dynamic = "dynamic programming over layers, each recomputed at most once";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The plan");
  f.choice("plan", in.plan, plans, "Plan", "Which layers are recomputed in the backward pass.", {.headline = true});
  describe_layers_again(f, "plan", in.again, in.piece, in.letters, false);
  f.real("budget_bytes", in.budget_bytes, {"Budget (0: the chip's)", "B"},
         "Memory that the step may take; 0 takes the chip's nameplate. The answer says so where it is more than that.",
         {.range = {0, 1e12}, .typical = {0, 2e11}, .headline = true});
  f.integer("dropped", in.dropped, "Dropped by operation",
            "So many of the best results in the table are dropped in kept layers and brought back.",
            {.range = {0, 16}, .headline = true});
  f.group("The work");
  shared::model(f, "model", in.model, {.help = "Its layers are the pillars."});
  shared::chip(f, "chip", in.chip, {.help = "Its nameplate memory is the budget; its peaks give the times."});
  shared::micro_batch(f, "batch", in.batch, {.help = "Sequences of the micro-batch."});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of each."});
  shared::parallel_tensor(f, "tensor_parallel", in.tensor_parallel,
                          {.help = "GPUs that share every layer; communication takes no time here."});
  f.toggle("sequence_parallel", in.sequence_parallel, "Sequence parallel",
           "Norms are split by tokens over the same GPUs.");
  f.toggle("fused_attention", in.fused_attention, "FlashAttention", "Scores are never stored.");
  f.toggle("dropout", in.dropout, "Dropout", "Masks of a byte are kept.");
  f.group("States and loss");
  describe_states(f, in.recipe, in.optimizer);
  describe_loss(f, in.loss);
  describe_roof_share(f, in.roof_share);
}

void describe(Fields& f, PlanRow& r) {
  f.text("name", r.name, "Plan");
  f.real("peak_bytes", r.peak_bytes, {"Peak", "B"}, {.formula = "largest sum over time"});
  f.real("again_share", r.again_share, {"More time", "%"}, {.formula = "time to recompute / step without it"});
  f.real("recomputed", r.recomputed, "Layers recomputed", "Each of them once.");
  f.toggle("fits", r.fits, "In the budget");
  f.real("best_bytes", r.best_bytes, {"Best of the same time", "B"}, {.source = dynamic});
}
void describe(Fields& f, DropRow& r) {
  f.text("operation", r.operation, "Read by");
  f.text("by", r.by, "Brought back by");
  f.real("bytes", r.bytes, {"Bytes per layer", "B"}, "What dropping it frees.");
  f.real("time_s", r.time_s, {"Time per layer", "s"}, "To bring it back.");
  f.real("bytes_per_s", r.bytes_per_s, {"Freed per second", "B/s"}, {.formula = "bytes / time"});
}

void describe(Fields& f, Outputs& o) {
  f.group("The plan");
  f.real("peak_bytes", o.peak_bytes, {"Peak", "B"}, "States among it.",
         {.headline = true, .against = {"of", "budget"}, .formula = "largest sum over forward, loss and backward"});
  f.real("again_share", o.again_share, {"More time", "%"},
         {.headline = true, .formula = "time to recompute / step without it"});
  f.real("recomputed", o.recomputed, "Layers recomputed", "Each of them once.", {.headline = true});
  f.real("layers", o.layers, "Layers", "The layers of the model, a pillar each.", {.source = "the model's config"});
  f.real("free_bytes", o.free_bytes, {"Under the budget", "B"}, "Negative: over it.",
         {.headline = true, .formula = "budget - peak"});
  f.toggle("fits", o.fits, "In the budget");
  f.real("budget", o.budget, {"Budget", "B"}, "The chip's memory unless another is set.");
  f.real("chip_bytes", o.chip_bytes, {"Nameplate memory", "B"}, {.source = "the chip's data sheet"});
  f.real("stored_bytes", o.cost.stored_bytes, {"Kept at the loss", "B"},
         "By all layers, when the backward pass begins.", {.formula = "sum of what layers keep"});
  f.real("again_s", o.again_s, {"Time to recompute", "s"}, {.formula = "sum of forward times"});
  f.real("step_s", o.step_s, {"Forward and backward", "s"}, "With what is recomputed, without the optimizer.",
         {.source = "roofline of every operation"});
  f.real("saved_bytes", o.saved_bytes, {"Saved", "B"}, {.formula = "peak with all kept - peak"});
  f.real("saved_per_s", o.saved_per_s, {"Saved per second", "B/s"}, {.formula = "saved / time to recompute"});
  f.group("Against others");
  f.real("excess_bytes", o.excess_bytes, {"Over the frontier", "B"}, "What the best plan that is no slower would save.",
         {.source = dynamic});
  f.real("best_same_bytes", o.best_same_bytes, {"Best of the same time", "B"},
         "The smallest peak of any plan that is no slower.", {.source = dynamic});
  f.real("kept_peak_bytes", o.kept_peak_bytes, {"Nothing recomputed", "B"}, "The peak with all kept.");
  f.real("every_layer_bytes", o.every_layer_bytes, {"Every layer", "B"}, "The peak with inputs alone kept.");
  f.real("every_layer_share", o.every_layer_share, {"... more time", "%"},
         "A third of the flops; of the time what the forward pass is.", {.formula = "forward of all layers / step"});
  f.real("square_root_bytes", o.square_root_bytes, {"Pieces of \xE2\x88\x9AL", "B"}, {.source = "Chen et al. 2016"});
  f.real("best_piece", o.best_piece, "Best piece", "Layers in each of equal pieces with the smallest peak.");
  f.real("smallest_bytes", o.smallest_bytes, {"Smallest peak of all", "B"}, {.source = dynamic});
  f.real("smallest_share", o.smallest_share, {"... more time", "%"}, {.source = dynamic});
  f.real("best_recomputed", o.best_recomputed, "Best in the budget: layers",
         {.absent = "No plan is within the budget.", .source = dynamic});
  f.real("best_share", o.best_share, {"... more time", "%"},
         {.absent = "No plan is within the budget.", .source = dynamic});
  f.group("A layer");
  f.real("layer_bytes", o.layer_bytes, {"All its activations", "B"}, "Operation by operation.");
  f.real("checkpoint_bytes", o.checkpoint_bytes, {"Its input", "B"}, {.formula = "tokens x hidden x bytes"});
  f.real("layer_over_checkpoint", o.layer_over_checkpoint, "One over the other",
         "Chen's chain has 1 here, and only there pieces of \xE2\x88\x9AL are best.",
         {.formula = "activations / input"});
  f.group("Tables");
  f.table("plans", o.plans, "Plans that people use");
  f.table("drops", o.drops, "By operation");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"training/checkpointing",
       "Checkpointing",
       "Which layers should keep their activations, and what does the memory of the others cost in time?",
       {.published_keys = "model"}},
      compute, arrange, draw);
}

}  // namespace chapters::training::checkpointing
