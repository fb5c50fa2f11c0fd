#include "chapters/framework/memory_timeline/lab.h"
#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::framework::memory_timeline {
namespace {

const LayersAgain again;
const Choices whichs = choices_in_order<Which::drawn>(
    {{"none", "no layer", "All activations are kept."},
     {"selective", "scores only", "Scores and softmax of unfused attention; fused attention keeps none."},
     again.every_layer,
     again.pieces,
     again.square_root,
     again.first,
     again.drawn});
const Choices loops = choices_in_order<models::memory::OptimizerLoop::per_tensor>(
    {{"fused", "fused, no copies", "One kernel for many parameters."},
     {"foreach", "foreach", "A list at once: one FP32 number per parameter lives in passing."},
     {"per_tensor", "tensor by tensor", "The same for the largest tensor alone."}});

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("Recompute");
  f.choice("which", in.which, whichs, "Which", "The layers whose forward pass is recomputed.", {.headline = true});
  describe_layers_again(f, "which", in.again, in.piece, in.letters, true);
  describe_loss(f, in.loss, true);
  f.group("The work");
  shared::model(f, "model", in.model, {.help = "Its layers are the steps of the mountain."});
  shared::chip(f, "chip", in.chip,
               {.help = "Its nameplate memory is the line: an 80 GB A100 or H100 reports 79.2 GiB, 85.0 GB, of which "
                        "the CUDA context takes part. Its peaks give the times."});
  shared::micro_batch(f, "batch", in.batch, {.help = "Sequences of one micro-batch."});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of each sequence."});
  f.integer("micro_batches", in.micro_batches, "Micro-batches", "Forward and backward passes before the optimizer.",
            {.range = {1, 4}});
  f.integer("steps", in.steps, "Steps", "One after the other.", {.range = {1, 4}});
  shared::parallel_tensor(f, "tensor_parallel", in.tensor_parallel,
                          {.help = "GPUs that share every layer; communication takes no time here."});
  f.toggle("sequence_parallel", in.sequence_parallel, "Sequence parallel",
           "Norms are split by tokens over the same GPUs.");
  f.toggle("fused_attention", in.fused_attention, "FlashAttention", "Scores are never stored.");
  f.group("States");
  describe_states(f, in.recipe, in.optimizer);
  f.choice("loop", in.loop, loops, "Optimizer's loop", "What it holds in passing.");
  f.group("The program");
  f.toggle("first_step", in.first_step, "From the first step",
           "The moments are allocated when the optimizer first steps.");
  f.toggle("keep_gradients", in.keep_gradients, "Gradients stay",
           "zero_grad(set_to_none=False): from the second step on they are there during the forward pass.");
  f.toggle("keep_outputs", in.keep_outputs, "Outputs are kept",
           "A leak: the logits of every micro-batch are appended to a list.");
  describe_roof_share(f, in.roof_share);
  f.group("A recording");
  f.file("file", in.file, "Recording",
         "A PyTorch memory snapshot as JSON (with device_traces and segments), a memory timeline, or a trace with "
         "[memory] events.",
         {.reads = {FileKind::memory_snapshot, FileKind::memory_timeline, FileKind::memory_recording},
          .accepts = "json, json.gz, gz, pickle, pkl",
          .by_bytes = true});
}

void describe(Fields& f, View& v) {
  f.real("time_s", v.time_s, {"Cursor", "s"}, "Below 0 it stands at the peak.",
         {.range = {-1, 1e6}, .any_number = true});
}

void describe(Fields& f, PhaseRow& r) {
  f.text("name", r.name, "Phase");
  f.integer("step", r.step, "Step", "Counted from 1.");
  f.integer("micro_batch", r.micro_batch, "Micro-batch", "Counted from 1.");
  f.real("begin_s", r.begin_s, {"Begins", "s"}, {.formula = "sum of times before it"});
  f.real("takes_s", r.takes_s, {"Takes", "s"}, {.formula = "sum of its operations"});
  f.real("fullest_bytes", r.fullest_bytes, {"Fullest", "B"}, {.formula = "largest sum in the phase"});
}

void describe(Fields& f, PeakTensor& r) {
  f.text("name", r.name, "Tensor");
  f.text("owner", r.owner, "Owner");
  f.real("each_bytes", r.each_bytes, {"One of them", "B"}, {.formula = "elements x bytes / splits"});
  f.real("count", r.count, "Times", "So many of them stand in memory at the peak.");
  f.real("total_bytes", r.total_bytes, {"Together", "B"}, {.formula = "one of them x times"});
}

void describe(Fields& f, Outputs& o) {
  f.group("The peak");
  f.real("peak_bytes", o.peak_bytes, {"Peak", "B"},
         {.headline = true, .against = {"of", "chip_bytes"}, .formula = "largest sum over time"});
  f.real("free_bytes", o.free_bytes, {"Free at the peak", "B"},
         "Negative: over the nameplate. The device itself reports some percent more, and driver and context take some "
         "of it.",
         {.headline = true, .formula = "memory - peak"});
  f.real("step_s", o.step_s, {"Step", "s"}, "All operations one after the other.",
         {.headline = true, .source = "roofline of every operation at the share of the roof"});
  f.real("loss_spike_bytes", o.loss_spike_bytes, {"Loss spike", "B"}, "The most that the loss holds for the logits.",
         {.headline = true, .formula = "tokens x vocabulary x bytes of the loss"});
  f.toggle("fits", o.fits, "Under the nameplate");
  f.text("peak_phase", o.peak_phase, "In the phase");
  f.text("peak_operation", o.peak_operation, "While runs");
  f.real("peak_s", o.peak_s, {"At", "s"}, {.formula = "sum of times before it"});
  f.real("peak_lasts_s", o.peak_lasts_s, {"For", "s"}, "So long runs the operation at the peak.",
         {.formula = "time of the operation after it - its own"});
  f.real("chip_bytes", o.chip_bytes, {"Nameplate memory", "B"}, {.source = "the chip's data sheet"});
  f.group("Along the step");
  f.real("end_of_forward_bytes", o.end_of_forward_bytes, {"End of forward", "B"},
         "After the last layer, before the loss.");
  f.real("loss_peak_bytes", o.loss_peak_bytes, {"Fullest in the loss", "B"}, "All owners together.");
  f.real("loss_s", o.loss_s, {"The loss takes", "s"}, "The loss of the first micro-batch.",
         {.formula = "sum of its operations"});
  f.real("rest_bytes", o.rest_bytes, {"End of step", "B"}, "After the last optimizer step.");
  f.table("phases", o.phases, "Phases", {.max_items = 256});
  f.group("Recomputed");
  f.real("layers_again", o.layers_again, "Layers recomputed", "Each of them once.");
  f.real("again_s", o.again_s, {"Time for it", "s"}, {.formula = "sum of their forward times"});
  f.real("again_share", o.again_share, {"More time", "%"}, {.formula = "time for it / step without it"});
  f.real("before_peak_bytes", o.before_peak_bytes, {"Peak with all kept", "B"}, "The dashed line.");
  f.real("saved_bytes", o.saved_bytes, {"Saved at the peak", "B"}, {.formula = "peak with all kept - peak"});
  f.real("layers_needed", o.layers_needed, "First layers that would do",
         "So many of the first layers must be recomputed for the peak to be under the nameplate.",
         {.absent = "Not even all of them are enough."});
  f.group("Step after step");
  f.text("trend", o.trend_name, "The steps are", "Sawtooth: each ends where it began. Plateau: the first ends higher.");
  f.real("growth_bytes", o.trend.growth_bytes, {"A step ends higher by", "B"},
         "The first of a plateau, each later one of a leak.", {.formula = "held at its end - held at its beginning"});
  f.text("growth_owner", o.trend_owner, "What grows");
  f.real("first_over", o.trend.first_over, "First step over the line",
         "The step at which a leak is over the line, were it to go on; 0 where there is none.",
         {.formula = "steps + (memory - last peak) / growth"});
  f.real("micro_growth_bytes", o.micro_growth_bytes, {"Last micro-batch over the first", "B"},
         "0 where a step has one.", {.formula = "its peak - the first one's"});
  f.real("scores_bytes", o.scores_bytes, {"Scores at the peak", "B"},
         "0 where attention is fused, or its scores are dropped.", {.formula = "peak - peak with the scores dropped"});
  f.group("Owners at the peak");
  describe(f, o.held);
  f.table("tensors", o.tensors, "Largest tensors at the peak", {.max_items = 512});
  f.group("The recording");
  f.text("recorded_kind", o.recording.kind, "Form");
  f.real("recorded_peak_bytes", o.recording.peak_bytes, {"Recorded peak", "B"},
         {.absent = "No file is chosen.", .source = "the file"});
  f.real("residual", o.recording.residual, {"The model's peak over it", "%"},
         {.absent = "No file is chosen.", .formula = "(peak - recorded) / recorded"});
  f.real("recorded_first_bytes", o.recording.first_bytes, {"Held when it began", "B"}, {.source = "the file"});
  f.real("recorded_span_s", o.recording.span_s, {"Recorded for", "s"}, {.source = "the file"});
  f.real("recorded_events", o.recording.events, "Events", {.source = "the file"});
  f.text("recorded_note", o.recording.note, "Note");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"framework/memory-timeline",
       "Memory timeline",
       "When in the step is memory fullest, and which layers must be recomputed to stay under the line?",
       {.job = true, .published_keys = "model which"}},
      compute, arrange, draw);
}

}  // namespace chapters::framework::memory_timeline
