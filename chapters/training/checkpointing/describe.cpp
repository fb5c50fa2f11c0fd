#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"
#include "chapters/training/checkpointing/lab.h"

namespace chapters::training::checkpointing {
namespace {

const Choices plans = choices_in_order<Plan::drawn>(
    {{"best", "the best in the budget",
      "The fastest plan whose peak is within the budget; the smallest where none is."},
     {"none", "nothing again", "All activations are kept."},
     {"every_layer", "every layer", "Of each layer its input alone is kept."},
     {"pieces", "pieces of k layers", "Of each piece its first input; its layers run again together."},
     {"square_root", "pieces of \xE2\x88\x9AL layers", "As many layers a piece as there are pieces: Chen et al. 2016."},
     {"first", "the first layers", "A run of layers from the first on, each alone."},
     {"selective", "scores only", "Scores and softmax of unfused attention: Korthikanti et al. 2022."},
     {"drawn", "drawn by hand", "As the letters say: what pressing the pillars writes."}});
constexpr std::string_view dynamic = "dynamic programming over layers, each run again at most once";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The plan");
  f.choice("plan", in.plan, plans,
           {.label = "Plan", .help = "Which layers run again in the backward pass.", .headline = true});
  describe_layers_again(f, "plan", in.again, in.piece, in.letters, false);
  f.real(
      "budget_bytes", in.budget_bytes,
      {.label = "Budget, 0 the chip's",
       .unit = "B",
       .help =
           "Memory that the step may take; 0 is the chip's nameplate. The answer says so where it is more than that.",
       .lo = 0,
       .hi = 1e12,
       .typical_lo = 0,
       .typical_hi = 2e11,
       .headline = true});
  f.integer("dropped", in.dropped,
            {.label = "Dropped by operation",
             .help = "So many of the best results in the table are dropped in kept layers and brought back.",
             .lo = 0,
             .hi = 16,
             .headline = true});
  f.group("The work");
  shared::model(f, "model", in.model, {.help = "Its layers are the pillars."});
  shared::chip(f, "chip", in.chip, {.help = "Its nameplate memory is the budget; its peaks give the times."});
  shared::batch(f, "batch", in.batch, {.help = "Sequences of the micro-batch."});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of each."});
  shared::parallel_tensor(f, "tensor_parallel", in.tensor_parallel,
                          {.help = "GPUs that share every layer; communication takes no time here."});
  f.toggle("sequence_parallel", in.sequence_parallel,
           {.label = "Sequence parallel", .help = "Norms are split by tokens over the same GPUs."});
  f.toggle("fused_attention", in.fused_attention, {.label = "FlashAttention", .help = "Scores are never stored."});
  f.toggle("dropout", in.dropout, {.label = "Dropout", .help = "Masks of a byte are kept."});
  f.group("States and loss");
  f.choice("recipe", in.recipe, state_recipe_choices(),
           {.label = "Recipe", .help = "What is kept of every parameter."});
  f.choice("optimizer", in.optimizer, optimizer_choices(), {.label = "Optimizer", .help = "What it remembers."});
  f.choice("loss", in.loss, loss_choices(), {.label = "Loss", .help = "How often the logits exist at once."});
  describe_roof_share(f, in.roof_share);
}

void describe(Fields& f, PlanRow& r) {
  f.text("name", r.name, {.label = "Plan"});
  f.real("peak_bytes", r.peak_bytes, {.label = "Peak", .unit = "B", .formula = "largest sum over time"});
  f.real("again_share", r.again_share, {.label = "More time", .unit = "%", .formula = "time again / step without it"});
  f.real("recomputed", r.recomputed, {.label = "Layers again", .help = "Each of them once."});
  f.toggle("fits", r.fits, {.label = "In the budget"});
  f.real("best_bytes", r.best_bytes, {.label = "Best of the same time", .unit = "B", .source = dynamic});
}
void describe(Fields& f, DropRow& r) {
  f.text("operation", r.operation, {.label = "Read by"});
  f.text("by", r.by, {.label = "Brought back by"});
  f.real("bytes", r.bytes, {.label = "Bytes of a layer", .unit = "B", .help = "What dropping it frees."});
  f.real("time_s", r.time_s, {.label = "Time of a layer", .unit = "s", .help = "To bring it back."});
  f.real("bytes_per_s", r.bytes_per_s, {.label = "Freed for a second", .unit = "B/s", .formula = "bytes / time"});
}

void describe(Fields& f, Outputs& o) {
  f.group("The plan");
  f.real("peak_bytes", o.peak_bytes,
         {.label = "Peak",
          .unit = "B",
          .help = "States among it.",
          .headline = true,
          .formula = "largest sum over forward, loss and backward"});
  f.real("again_share", o.again_share,
         {.label = "More time", .unit = "%", .headline = true, .formula = "time again / step without it"});
  f.real("recomputed", o.recomputed, {.label = "Layers again", .help = "Each of them once.", .headline = true});
  f.real("free_bytes", o.free_bytes,
         {.label = "Under the budget",
          .unit = "B",
          .help = "Negative: over it.",
          .headline = true,
          .formula = "budget - peak"});
  f.toggle("fits", o.fits, {.label = "In the budget"});
  f.real("budget", o.budget, {.label = "Budget", .unit = "B", .help = "The chip's memory unless another is set."});
  f.real("chip_bytes", o.chip_bytes, {.label = "Nameplate memory", .unit = "B", .source = "the chip's data sheet"});
  f.real("stored_bytes", o.cost.stored_bytes,
         {.label = "Kept at the loss",
          .unit = "B",
          .help = "By all layers, when the backward pass begins.",
          .formula = "sum of what layers keep"});
  f.real("again_s", o.again_s, {.label = "Time again", .unit = "s", .formula = "sum of forward times"});
  f.real("step_s", o.step_s,
         {.label = "Forward and backward",
          .unit = "s",
          .help = "Running again in; the optimizer is not.",
          .source = "roofline of every operation"});
  f.real("saved_bytes", o.saved_bytes, {.label = "Saved", .unit = "B", .formula = "peak with all kept - peak"});
  f.real("saved_per_s", o.saved_per_s, {.label = "Saved for a second", .unit = "B/s", .formula = "saved / time again"});
  f.group("Against others");
  f.real("excess_bytes", o.excess_bytes,
         {.label = "Over the frontier",
          .unit = "B",
          .help = "What the best plan that is no slower would save.",
          .source = dynamic});
  f.real("kept_peak_bytes", o.kept_peak_bytes,
         {.label = "Nothing again", .unit = "B", .help = "The peak with all kept."});
  f.real("every_layer_bytes", o.every_layer_bytes,
         {.label = "Every layer", .unit = "B", .help = "The peak with inputs alone kept."});
  f.real("every_layer_share", o.every_layer_share,
         {.label = "... more time",
          .unit = "%",
          .help = "A third of the flops; of the time what the forward pass is.",
          .formula = "forward of all layers / step"});
  f.real("square_root_bytes", o.square_root_bytes,
         {.label = "Pieces of \xE2\x88\x9AL", .unit = "B", .source = "Chen et al. 2016"});
  f.real("best_piece", o.best_piece,
         {.label = "Best piece", .help = "Layers in each of equal pieces with the smallest peak."});
  f.real("smallest_bytes", o.smallest_bytes, {.label = "Smallest peak of all", .unit = "B", .source = dynamic});
  f.real("smallest_share", o.smallest_share, {.label = "... more time", .unit = "%", .source = dynamic});
  f.real("best_recomputed", o.best_recomputed,
         {.label = "Best in the budget: layers again",
          .may_be_missing = true,
          .absent = "No plan is within the budget.",
          .source = dynamic});
  f.real("best_share", o.best_share,
         {.label = "... more time",
          .unit = "%",
          .may_be_missing = true,
          .absent = "No plan is within the budget.",
          .source = dynamic});
  f.group("A layer");
  f.real("layer_bytes", o.layer_bytes,
         {.label = "All its activations", .unit = "B", .help = "Operation by operation."});
  f.real("checkpoint_bytes", o.checkpoint_bytes,
         {.label = "Its input", .unit = "B", .formula = "tokens x hidden x bytes"});
  f.real("layer_over_checkpoint", o.layer_over_checkpoint,
         {.label = "One over the other",
          .help = "Chen's chain has 1 here, and only there pieces of \xE2\x88\x9AL are best.",
          .formula = "activations / input"});
  f.group("Tables");
  f.table("plans", o.plans, {.label = "Plans that people use"});
  f.table("drops", o.drops, {.label = "By operation"});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {.id = "training/checkpointing",
       .title = "Checkpointing",
       .question = "Which layers should keep their activations, and what does the memory of the others cost in time?"},
      compute, arrange, draw);
}

}  // namespace chapters::training::checkpointing
