#include "chapters/framework/memory_timeline/lab.h"
#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::framework::memory_timeline {
namespace {

const Choices whichs = choices_in_order<Which::drawn>(
    {{"none", "no layer", "All activations are kept."},
     {"selective", "scores only", "Scores and softmax of unfused attention; fused attention keeps none."},
     {"every_layer", "every layer", "Of each layer its input alone is kept."},
     {"pieces", "pieces of k layers", "Of each piece its first input; its layers run again together."},
     {"square_root", "pieces of \xE2\x88\x9AL layers", "As many layers a piece as there are pieces: Chen et al. 2016."},
     {"first", "the first layers", "A run of layers from the first on, each alone; the others are kept."},
     {"drawn", "drawn by hand", "As the letters say: what pressing the pillars writes."}});
const Choices loops = choices_in_order<models::memory::OptimizerLoop::per_tensor>(
    {{"fused", "fused, no copies", "One kernel for many parameters."},
     {"foreach", "foreach", "A list at once: an FP32 number for each parameter lives in passing."},
     {"per_tensor", "tensor by tensor", "The same for the largest tensor alone."}});

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("Recompute");
  f.choice("which", in.which, whichs,
           {.label = "Which", .help = "The layers whose forward pass runs again.", .headline = true});
  describe_layers_again(f, "which", in.again, in.piece, in.letters, true);
  f.choice("loss", in.loss, loss_choices(),
           {.label = "Loss", .help = "How often the logits exist at once.", .headline = true});
  f.group("The work");
  shared::model(f, "model", in.model, {.help = "Its layers are the steps of the mountain."});
  shared::chip(
      f, "chip", in.chip,
      {.help = "Its nameplate memory is the line: an 80 GB A100 or H100 reports 79.2 GiB, 85.0 GB, of which the CUDA "
               "context takes part. Its peaks give the times."});
  shared::batch(f, "batch", in.batch, {.help = "Sequences of one micro-batch."});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of each."});
  f.integer("micro_batches", in.micro_batches,
            {.label = "Micro-batches", .help = "Forward and backward passes before the optimizer.", .lo = 1, .hi = 4});
  f.integer("steps", in.steps, {.label = "Steps", .help = "One after the other.", .lo = 1, .hi = 4});
  shared::parallel_tensor(
      f, "tensor_parallel", in.tensor_parallel,
      {.help = "GPUs that share every layer, norms by sequence; communication takes no time here."});
  f.toggle("fused_attention", in.fused_attention, {.label = "FlashAttention", .help = "Scores are never stored."});
  f.group("States");
  f.choice("recipe", in.recipe, state_recipe_choices(),
           {.label = "Recipe", .help = "What is kept of every parameter."});
  f.choice("optimizer", in.optimizer, optimizer_choices(), {.label = "Optimizer", .help = "What it remembers."});
  f.choice("loop", in.loop, loops, {.label = "Optimizer's loop", .help = "What it holds in passing."});
  f.group("The program");
  f.toggle("first_step", in.first_step,
           {.label = "From the first step", .help = "The moments are allocated when the optimizer first steps."});
  f.toggle("keep_gradients", in.keep_gradients,
           {.label = "Gradients stay",
            .help = "zero_grad(set_to_none=False): from the second step on they are there during the forward pass."});
  f.toggle("keep_outputs", in.keep_outputs,
           {.label = "Outputs are kept", .help = "A leak: the logits of every micro-batch are appended to a list."});
  describe_roof_share(f, in.roof_share);
  f.group("A recording");
  f.file("file", in.file,
         {.label = "Recording",
          .help =
              "A PyTorch memory snapshot as JSON (with device_traces and segments), a memory timeline, or a trace with "
              "[memory] events."},
         {.by_bytes = true});
}

void describe(Fields& f, View& v) {
  f.real("time_s", v.time_s,
         {.label = "Cursor",
          .unit = "s",
          .help = "Below 0 it stands at the peak.",
          .lo = -1,
          .hi = 1e6,
          .any_number = true});
}

void describe(Fields& f, Outputs& o) {
  f.group("The peak");
  f.real("peak_bytes", o.peak_bytes,
         {.label = "Peak", .unit = "B", .headline = true, .formula = "largest sum over time"});
  f.real(
      "free_bytes", o.free_bytes,
      {.label = "Free at the peak",
       .unit = "B",
       .help = "Negative: over the nameplate. The device itself reports some percent more, and driver and context take "
               "some of it.",
       .headline = true,
       .formula = "memory - peak"});
  f.real("step_s", o.step_s,
         {.label = "Step",
          .unit = "s",
          .help = "All operations one after the other.",
          .headline = true,
          .source = "roofline of every operation at the share of the roof"});
  f.real("loss_spike_bytes", o.loss_spike_bytes,
         {.label = "Loss spike",
          .unit = "B",
          .help = "Most that the loss holds for the logits.",
          .headline = true,
          .formula = "tokens x vocabulary x bytes of the loss"});
  f.toggle("fits", o.fits, {.label = "Under the nameplate"});
  f.text("peak_phase", o.peak_phase, {.label = "In the phase"});
  f.text("peak_operation", o.peak_operation, {.label = "While runs"});
  f.real("peak_s", o.peak_s, {.label = "At", .unit = "s", .formula = "sum of times before it"});
  f.real("chip_bytes", o.chip_bytes, {.label = "Nameplate memory", .unit = "B", .source = "the chip's data sheet"});
  f.group("Along the step");
  f.real("end_of_forward_bytes", o.end_of_forward_bytes,
         {.label = "End of forward", .unit = "B", .help = "Behind the last layer, before the loss."});
  f.real("loss_peak_bytes", o.loss_peak_bytes,
         {.label = "Fullest in the loss", .unit = "B", .help = "All owners together."});
  f.real("rest_bytes", o.rest_bytes, {.label = "End of step", .unit = "B", .help = "Behind the last optimizer."});
  f.group("Running again");
  f.real("layers_again", o.layers_again, {.label = "Layers that run again", .help = "Each of them once."});
  f.real("again_s", o.again_s, {.label = "Time for it", .unit = "s", .formula = "sum of their forward times"});
  f.real("again_share", o.again_share, {.label = "More time", .unit = "%", .formula = "time for it / step without it"});
  f.real("before_peak_bytes", o.before_peak_bytes, {.label = "Peak with all kept", .unit = "B", .help = "The ghost."});
  f.real("saved_bytes", o.saved_bytes,
         {.label = "Saved at the peak", .unit = "B", .formula = "peak with all kept - peak"});
  f.real("layers_needed", o.layers_needed,
         {.label = "First layers that would do",
          .help = "So many of the first layers must run again for the peak to be under the nameplate.",
          .may_be_missing = true,
          .absent = "Not even all of them are enough."});
  f.group("Step after step");
  f.text("trend", o.trend_name,
         {.label = "The steps are", .help = "Sawtooth: each ends where it began. Plateau: the first ends higher."});
  f.real("growth_bytes", o.trend.growth_bytes,
         {.label = "A step ends higher by",
          .unit = "B",
          .help = "The first of a plateau, each later one of a leak.",
          .formula = "held at its end - held at its beginning"});
  f.text("growth_owner", o.trend_owner, {.label = "What grows"});
  f.real("first_over", o.trend.first_over,
         {.label = "First step over the line",
          .help = "Of a leak, were it to go on; 0 where there is none.",
          .formula = "steps + (memory - last peak) / growth"});
  f.real("micro_growth_bytes", o.micro_growth_bytes,
         {.label = "Last micro-batch over the first",
          .unit = "B",
          .help = "0 where a step has one.",
          .formula = "its peak - the first one's"});
  f.real("scores_bytes", o.scores_bytes,
         {.label = "Scores at the peak",
          .unit = "B",
          .help = "0 where attention is fused, or its scores are dropped.",
          .formula = "peak - peak with the scores dropped"});
  f.group("Owners at the peak");
  describe(f, o.held);
  f.group("The recording");
  f.text("recorded_kind", o.recording.kind, {.label = "Form"});
  f.real("recorded_peak_bytes", o.recording.peak_bytes,
         {.label = "Recorded peak",
          .unit = "B",
          .may_be_missing = true,
          .absent = "No file is chosen.",
          .source = "the file"});
  f.real("residual", o.recording.residual,
         {.label = "The model's peak over it",
          .unit = "%",
          .may_be_missing = true,
          .absent = "No file is chosen.",
          .formula = "(peak - recorded) / recorded"});
  f.real("recorded_first_bytes", o.recording.first_bytes,
         {.label = "Held when it began", .unit = "B", .source = "the file"});
  f.real("recorded_span_s", o.recording.span_s, {.label = "Recorded for", .unit = "s", .source = "the file"});
  f.real("recorded_events", o.recording.events, {.label = "Events", .source = "the file"});
  f.text("recorded_note", o.recording.note, {.label = "Note"});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {.id = "framework/memory-timeline",
       .title = "Memory timeline",
       .question = "When in the step is memory fullest, and which layers must run again to stay under the line?",
       .job = true},
      compute, arrange, draw);
}

}  // namespace chapters::framework::memory_timeline
