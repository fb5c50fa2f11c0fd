#include "chapters/framework/launch/lab.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::framework::launch {

const Choices modes = {
    {"eager", "Eager", "A kernel for each operation that Python asks for."},
    {"compiled", "Compiled", "Element-wise operations fused into one kernel each."},
    {"graph", "Graph", "The eager kernels, captured once (a CUDA or HIP graph) and launched all at once."},
    {"compiled_graph", "Compiled, in a graph", "Fused kernels, launched all at once."},
};
static_assert(models::launch_mode_count == 4);
const Choices syncs = {
    {"none", "Never", "The host runs ahead from step to step."},
    {"step", "Each step", "It reads the token, or the loss, before it goes on."},
    {"layer", "Each layer", "A tensor is printed or asked for in every layer."},
};
static_assert(models::launch_sync_count == 3);

namespace {

const Choices hosts = {
    {"h100_qwen", "Recorded: H100, Qwen", "A launch each 16.7 us; with the profiler and Python's stacks on."},
    {"h100_timesformer", "Recorded: H100, TimeSformer", "A launch each 41 us, with the profiler on."},
    {"a100", "Recorded: A100", "A launch each 30 us, with the profiler on."},
    {"v100", "Recorded: V100, ResNet", "A launch each 39 us, with the profiler on."},
    {"own", "My own", "Your own time from launch to launch."},
};
static_assert(host_count == 5);

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The launch");
  f.choice("mode", in.mode, modes, {.label = "Mode", .help = "How kernels get to the device.", .headline = true});
  f.choice("beside", in.beside, modes, {.label = "Beside it", .help = "The mode below, for comparison."});
  f.choice("host", in.host, hosts, {.label = "Host", .help = "Whose times of launching are used."});
  f.real("launch_s", in.launch_s,
         {
             .label = "A launch",
             .unit = "s",
             .help = "From one launch of the host to its next, Python and dispatch included.",
             .lo = 1e-6,
             .hi = 2e-4,
             .scale = Scale::log,
             .when = {"host", "own"},
         });
  f.real("latency_s", in.latency_s,
         {
             .label = "On its way",
             .unit = "s",
             .help = "From the end of a launch to its kernel on an idle device.",
             .lo = 1e-7,
             .hi = 5e-5,
             .scale = Scale::log,
             .when = {"host", "own"},
         });
  f.real("between_s", in.between_s,
         {
             .label = "Between kernels",
             .unit = "s",
             .help = "On the device, when both were there.",
             .lo = 1e-7,
             .hi = 2e-5,
             .scale = Scale::log,
             .when = {"host", "own"},
         });
  f.choice("sync", in.sync, syncs,
           {.label = "Host waits", .help = "Where it waits for the device, as .item() does.", .headline = true});
  f.choice("beside_sync", in.beside_sync, syncs,
           {.label = "Waits, beside it", .help = "Where the host waits in the mode below."});
  f.integer("queue_depth", in.queue_depth,
            {
                .label = "Queue",
                .help = "Launches that may wait; CUDA has room for about a thousand.",
                .lo = 8,
                .hi = 4096,
                .scale = Scale::log,
            });
  f.real("graph_launch_s", in.graph_launch_s,
         {
             .label = "A graph",
             .unit = "s",
             .help = "Of the host, for all kernels of a step. Assumed.",
             .lo = 1e-6,
             .hi = 1e-3,
             .scale = Scale::log,
         });
  f.real("graph_between_s", in.graph_between_s,
         {
             .label = "Between, in a graph",
             .unit = "s",
             .help = "Two kernels of a graph. Assumed; recorded graphs on an MI300 have a median of 0.",
             .lo = 1e-8,
             .hi = 2e-5,
             .scale = Scale::log,
         });
  f.real("least_kernel_s", in.least_kernel_s,
         {
             .label = "Smallest kernel",
             .unit = "s",
             .help = "However little it does: 1.6 us are the shortest hundredth of the H100 recording.",
             .lo = 1e-7,
             .hi = 2e-5,
             .scale = Scale::log,
         });
  f.real("reached", in.reached,
         {
             .label = "Reached",
             .help = "Share of the chip's peak and bandwidth that kernels reach: GEMVs 80 to 90 %. Assumed.",
             .lo = 0.3,
             .hi = 1,
         });
  f.group("The step");
  shared::model(f, "model", in.model, {.help = "Its layers give the kernels."});
  shared::chip(f, "chip", in.chip, {.help = "Peak and bandwidth give each kernel's time."});
  shared::phase(f, "phase", in.phase, {.help = "One new token a sequence, or a whole prompt."});
  shared::batch(f, "batch", in.batch, {.help = "Sequences worked on together."});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of each prompt.", .when = {"phase", "prefill"}});
  shared::context(f, "context", in.context, {.help = "Tokens in each sequence's cache.", .when = {"phase", "decode"}});
}

void describe(Fields& f, OperationRow& r) {
  f.text("name", r.name, {.label = "Operation"});
  f.integer("kernels", r.kernels, {.label = "Kernels", .help = "Of one."});
  f.integer("count", r.count, {.label = "Times", .help = "In a step."});
  f.real("kernel_s", r.kernel_s, {.label = "A kernel", .unit = "s", .help = "On the device."});
  f.real("launches_s", r.launches_s,
         {.label = "To launch", .unit = "s", .help = "0 in a graph.", .formula = "kernels x times x a launch"});
  f.real("kernels_s", r.kernels_s, {.label = "To run", .unit = "s", .formula = "kernels x times x a kernel"});
}
void describe(Fields& f, RecordedRow& r) {
  f.text("name", r.name, {.label = "Recording"});
  f.real("call_s", r.call_s, {.label = "A call", .unit = "s", .help = "Median time inside a launching call."});
  f.real("interval_s", r.interval_s, {.label = "Launch to launch", .unit = "s", .help = "Median on one thread."});
  f.real("latency_s", r.latency_s, {.label = "On its way", .unit = "s", .help = "Median, to a drained stream."});
  f.real("between_s", r.between_s,
         {.label = "Between kernels", .unit = "s", .help = "Median, of kernels that waited."});
  f.integer("lead", r.lead, {.label = "Ahead at most", .help = "Launches that had not begun."});
}

void describe(Fields& f, Outputs& o) {
  f.group("One step");
  f.real("step_s", o.now.step_s,
         {.label = "One step",
          .unit = "s",
          .help = "From the end of a step on the device to the next.",
          .headline = true,
          .formula = "kernels + gaps"});
  f.real("idle", o.now.idle,
         {.label = "GPU idle",
          .unit = "%",
          .headline = true,
          .formula = "(waiting for launches + between kernels) / step"});
  f.integer("launches", o.now.run.launches, {.label = "Launches", .help = "Of the host, a step.", .headline = true});
  f.real("free_batch", o.free_batch,
         {.label = "Free from batch",
          .help = "From this batch on kernels take at least as long as their launches.",
          .headline = true,
          .may_be_missing = true,
          .absent = "No batch up to 65,536 is enough."});
  f.real("host_s", o.now.host_s, {.label = "Host launches", .unit = "s", .formula = "launches x a launch"});
  f.real("kernels_s", o.kernels_s,
         {.label = "Kernels",
          .unit = "s",
          .help = "Back to back.",
          .formula = "sum of max(flops / (reached x peak), bytes / (reached x bandwidth), smallest)"});
  f.real("launch_used_s", o.launch_s, {.label = "A launch", .unit = "s", .help = "As chosen, or as recorded."});
  f.text("host_times", o.host_times, {.label = "The host's times"});
  f.real("sync_step_s", o.sync_step_s,
         {.label = "Waiting each step",
          .unit = "s",
          .help = "What it adds to a step whose host never waits, in this mode.",
          .formula = "step, waiting once - step, never waiting"});
  f.real("sync_layer_s", o.sync_layer_s,
         {.label = "Waiting each layer",
          .unit = "s",
          .help = "What it adds; inside a graph nobody can wait for a layer.",
          .formula = "step, waiting in each layer - step, never waiting"});
  f.toggle("host_bound", o.host_bound, {.label = "The host sets the pace"});
  f.real("kernels_a_layer", o.kernels_a_layer, {.label = "Kernels a layer", .formula = "kernels in layers / layers"});
  f.integer("most_queued", o.now.run.most_queued,
            {.label = "Longest queue", .help = "Kernels launched and not begun."});
  f.real("tokens_per_s", o.tokens_per_s,
         {.label = "Tokens a second", .unit = "tokens/s", .formula = "new tokens / step"});
  f.group("Beside it");
  f.real("beside_step_s", o.beside.step_s, {.label = "One step", .unit = "s", .help = "In the other mode."});
  f.real("beside_idle", o.beside.idle, {.label = "GPU idle", .unit = "%", .help = "In the other mode."});
  f.integer("beside_launches", o.beside.run.launches, {.label = "Launches", .help = "In the other mode."});
  f.real("speedup", o.speedup, {.label = "Faster", .formula = "one step / one step in the other mode"});
  f.real("twice", o.twice,
         {.label = "A GPU twice as fast", .help = "Times as fast a step, were each kernel half as long."});
  f.group("Tables");
  f.table("operations", o.operations, {.label = "Operations"});
  f.table("recorded", o.recorded, {.label = "Recorded"});
}

void describe(Fields& f, View& v) {
  f.real(
      "time", v.timeline.cursor_s,
      {.label = "Time cursor", .unit = "s", .help = "Where the cursor stands on the conveyors.", .lo = 0, .hi = 1e6});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {.id = "framework/launch",
       .title = "Launch",
       .question = "Who sets the pace of a step, the one who launches or the one who computes?"},
      compute, arrange, draw);
}

}  // namespace chapters::framework::launch
