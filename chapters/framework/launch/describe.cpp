#include "chapters/described/step_choices.h"
#include "chapters/framework/launch/lab.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::framework::launch {

const Choices syncs = {
    {"none", "Never", "The host runs ahead from step to step."},
    {"step", "Each step", "It reads the token, or the loss, before it goes on."},
    {"layer", "Each layer", "A tensor is printed or asked for in every layer."},
};
static_assert(models::launch_sync_count == 3);

void describe(Fields& f, Inputs& in) {
  f.group("The launch");
  f.choice("mode", in.mode, launch_mode_choices(), "Mode", "How kernels get to the device.", {.headline = true});
  f.choice("beside", in.beside, launch_mode_choices(), "Compared with", "The mode of the lower lanes.");
  describe_launch_host(f, in.launching);
  f.choice("sync", in.sync, syncs, "Host waits", "Where it waits for the device, as .item() does.", {.headline = true});
  f.choice("beside_sync", in.beside_sync, syncs, "Waits, compared",
           "Where the host waits in the mode of the lower lanes.");
  f.integer("queue_depth", in.queue_depth, "Queue", "Launches that may wait; CUDA has room for about a thousand.",
            {.range = {8, 4096, Scale::log}});
  describe_graph_launches(f, in.launching);
  f.real("reached", in.reached, "Share of the roof",
         "Share of the chip's peak and bandwidth that kernels reach: GEMVs 80 to 90 %. Assumed.", {.range = {0.3, 1}});
  f.group("The step");
  shared::model(f, "model", in.model, {.help = "Its layers give the kernels."});
  shared::chip(f, "chip", in.chip, {.help = "Peak and bandwidth give each kernel's time."});
  describe_launched_phase(f, in.phase, "One new token per sequence, or a whole prompt.");
  shared::concurrent_sequences(f, "batch", in.batch, {.help = "Sequences worked on together."});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of each prompt.", .when = {"phase", "prefill"}});
  shared::context(f, "context", in.context, {.help = "Tokens in each sequence's cache.", .when = {"phase", "decode"}});
}

void describe(Fields& f, OperationRow& r) {
  f.text("name", r.name, "Operation");
  f.integer("kernels", r.kernels, "Kernels", "So many make one operation.");
  f.integer("count", r.count, "Times", "So often it runs in a step.");
  f.real("kernel_s", r.kernel_s, {"Per kernel", "s"}, "On the device.");
  f.real("launches_s", r.launches_s, {"To launch", "s"}, "0 in a graph.",
         {.formula = "kernels x times x time per launch"});
  f.real("kernels_s", r.kernels_s, {"To run", "s"}, {.formula = "kernels x times x time per kernel"});
}
void describe(Fields& f, RecordedRow& r) {
  f.text("name", r.name, "Recording");
  f.real("call_s", r.call_s, {"Per call", "s"}, "Median time inside a launching call.");
  f.real("interval_s", r.interval_s, {"Launch to launch", "s"}, "Median on one thread.");
  f.real("latency_s", r.latency_s, {"On its way", "s"}, "Median, to a drained stream.");
  f.real("between_s", r.between_s, {"Between kernels", "s"}, "Median, of kernels that waited.");
  f.integer("lead", r.lead, "Ahead at most", "Launches that had not begun.");
}

void describe(Fields& f, Outputs& o) {
  f.group("One step");
  f.real("step_s", o.now.step_s, {"One step", "s"}, "From the end of a step on the device to the next.",
         {.headline = true, .against = {"the other takes", "beside_step_s"}, .formula = "kernels + gaps"});
  f.real("idle", o.now.idle, {"GPU idle", "%"},
         {.headline = true, .formula = "(waiting for launches + between kernels) / step"});
  f.integer("launches", o.now.launches, "Launches", "What the host launches in a step.", {.headline = true});
  f.real("free_batch", o.free_batch, "Covered from batch",
         "From this batch on kernels take at least as long as their launches, which hide behind them.",
         {.headline = true, .absent = "No batch up to 65,536 is enough."});
  f.real("host_s", o.now.host_s, {"Host launches", "s"}, {.formula = "launches x time per launch"});
  f.real("kernels_s", o.kernels_s, {"Kernels", "s"}, "Back to back.",
         {.formula = "sum of max(flops / (reached x peak), bytes / (reached x bandwidth), smallest)"});
  f.real("launch_used_s", o.launch_s, {"Time per launch", "s"}, "As chosen, or as recorded.");
  f.text("host_times", o.host_times, "The host's times");
  f.real("sync_step_s", o.sync_step_s, {"Waiting each step", "s"},
         "What it adds to a step whose host never waits, in this mode.",
         {.formula = "step, waiting once - step, never waiting"});
  f.real("sync_layer_s", o.sync_layer_s, {"Waiting each layer", "s"},
         "What it adds; inside a graph nobody can wait for a layer.",
         {.formula = "step, waiting in each layer - step, never waiting"});
  f.toggle("host_bound", o.host_bound, "The host sets the pace");
  f.real("kernels_a_layer", o.kernels_a_layer, "Kernels per layer", {.formula = "kernels in layers / layers"});
  f.integer("most_queued", o.now.most_queued, "Longest queue", "Kernels launched and not begun.");
  f.real("tokens_per_s", o.tokens_per_s, {"Tokens per second", "tokens/s"}, {.formula = "new tokens / step"});
  f.group("Compared with");
  f.real("beside_step_s", o.beside.step_s, {"One step", "s"}, "In the other mode.");
  f.real("beside_idle", o.beside.idle, {"GPU idle", "%"}, "In the other mode.");
  f.integer("beside_launches", o.beside.launches, "Launches", "In the other mode.");
  f.real("speedup", o.speedup, {"Faster", "×"}, {.formula = "one step / one step in the other mode"});
  f.real("twice", o.twice, {"A GPU twice as fast", "×"},
         "How many times as fast a step would be with every kernel half as long.");
  f.group("Tables");
  f.table("operations", o.operations, "Operations");
  f.table("recorded", o.recorded, "Recorded");
}

void describe(Fields& f, View& v) {
  f.real("time", v.timeline.cursor_s, {"Time cursor", "s"}, "Where the cursor stands on the conveyors.",
         {.range = {0, 1e6}});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"framework/launch",
       "Launch",
       "Who sets the pace of a step, the one who launches or the one who computes?",
       {.published_keys = "model chip mode host phase"}},
      compute, arrange, draw);
}

}  // namespace chapters::framework::launch
