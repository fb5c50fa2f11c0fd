#include "chapters/kernels/lab/lab.h"

namespace chapters::kernels::lab {
namespace {

const Choices bounds{
    {"memory", "memory-bound", ""}, {"compute", "compute-bound", ""}, {"latency", "latency-bound", ""}};

constexpr std::string_view ports =
    "ports of the core or of the SM: Fog, instruction tables; CUDA C++ best practices guide";
constexpr std::string_view here = "the kernel lab, on the machine that ran it";

void describe_rung(Fields& f, Outputs& o) {
  f.group("The rung");
  f.text("rung_title", o.rung.title, "Rung");
  f.real("share", o.rung.share, {"Measured here", "%"},
         "The share of its roof that it reached; nothing until it is run (and predicted, where you predict first).",
         {
             .headline = true,
             .absent = "Run and predict it.",
             .formula = "rate / roof",
             .source = here,
         });
  f.real("predicted_share", o.rung.predicted_share, {"Model's share", "%"},
         "What the scarcest port or wire allows; a bound, which measurements stay under.",
         {.headline = true,
          .absent = "This version has no model yet.",
          .formula = "min over the ports of supply / demand",
          .source = ports});
  f.real("your_share", o.rung.your_share, {"Your prediction", "%"}, "The share that you expect of the selected rung.",
         {.headline = true, .absent = "Press in its row."});
  f.real("prediction_miss", o.rung.prediction_miss, {"You were off by", "%"},
         "Percentage points between your prediction and the measurement.",
         {.absent = "Predict it in its row, and measure it.", .formula = "yours - measured"});
  f.text("limit", o.rung.limit, "Limited by");
}

void describe_measurement(Fields& f, Outputs& o) {
  f.group("Its measurement");
  f.real("time_s", o.rung.time_s, {"Time", "s"}, "Median of one run.",
         {.absent = "It was not measured here yet.", .source = here});
  f.real("spread", o.rung.spread, {"Spread (IQR)", "%"}, "Interquartile range over the median.",
         {.absent = "It was not measured here yet.", .source = here});
  f.integer("samples", o.rung.samples, "Samples", {.source = here});
  f.real("flops_per_s", o.rung.flops_per_s, {"Arithmetic rate", "FLOP/s"},
         "Counts the algorithm's operations, not what the kernel executes.",
         {.absent = "It was not measured here yet.", .formula = "operations / time", .source = here});
  f.real("bytes_per_s", o.rung.bytes_per_s, {"Memory rate", "B/s"},
         "Bytes that the algorithm has to move, not what the caches moved.",
         {.absent = "It was not measured here yet.", .formula = "bytes / time", .source = here});
  f.real("error", o.rung.error, "Error against float64", "Euclidean norm of the difference over that of the reference.",
         {.absent = "It was not measured here yet.", .formula = "||out - reference|| / ||reference||", .source = here});
  f.real("error_bound", o.rung.error_bound, "Accepted error",
         {.absent = "It was not measured here yet.",
          .formula = "2 eps sqrt(K)",
          .source = "random-walk rounding: Higham, Accuracy and Stability of Numerical Algorithms, 2002"});
}

void describe_model(Fields& f, Outputs& o) {
  f.group("By the model");
  f.real("predicted_s", o.rung.predicted_s, {"Model's time", "s"},
         {.absent = "This version has no model yet.", .formula = "time at the roof / share", .source = ports});
  f.real("floor_s", o.rung.floor_s, {"Time at the roof", "s"},
         "No version of this operation is faster on these ceilings.",
         {.formula = "max(operations / peak, bytes / bandwidth)",
          .source = "Williams, Waterman, Patterson, CACM 52(4), 2009"});
  f.real("next_gain", o.rung.next_gain, {"Next rung, by the model", "\xC3\x97"},
         "How many times as fast the model expects the next rung.",
         {
             .headline = true,
             .absent = "This is the last rung, or one of the two has no model.",
             .formula = "model's time / model's time of the next",
             .source = ports,
         });
  f.real("published_share", o.rung.published_share, {"Share elsewhere", "%"},
         "What others measured for the same version on the chip that the mark in the row names.",
         {.absent = "The table has no measurement of others."});
  f.real("next_measured_gain", o.rung.next_measured_gain, {"Next rung, measured", "\xC3\x97"},
         "How many times as fast it is here.",
         {.absent = "Two rungs have to be measured here.", .formula = "time / time of the next", .source = here});
  f.real("next_published_gain", o.rung.next_published_gain, {"Next rung, elsewhere", "\xC3\x97"},
         "How many times as fast the next rung is where others measured both.",
         {.absent = "Others did not measure both."});
  f.choice("bound", o.rung.bound, bounds, "Regime", "What bounds the selected rung, by the model.",
           {.formula = "intensity against the ridge; latency where chains wait",
            .source = "Williams, Waterman, Patterson, CACM 52(4), 2009"});
}

void describe_best(Fields& f, Outputs& o) {
  f.group("Best of the ladder");
  f.text("best_rung", o.best.title, "Best rung");
  f.real("best_share", o.best.share, {"Its share of the roof", "%"},
         {.absent = "Nothing was measured here yet.", .source = here});
  f.real("best_flops_per_s", o.best.flops_per_s, {"Its arithmetic rate", "FLOP/s"},
         {.absent = "Nothing was measured here yet.", .source = here});
  f.real("best_bytes_per_s", o.best.bytes_per_s, {"Its memory rate", "B/s"},
         {.absent = "Nothing was measured here yet.", .source = here});
  f.real("speedup", o.best.speedup, {"Best over first", "\xC3\x97"}, "Measured.",
         {.absent = "Nothing was measured here yet.", .formula = "time of rung 1 / time of the best", .source = here});
  f.real("predicted_speedup", o.best.predicted_speedup, {"The same by the model", "\xC3\x97"},
         {.absent = "The first version has no model yet.", .formula = "best share / share of rung 1", .source = ports});
}

void describe_operation(Fields& f, Outputs& o) {
  f.group("The operation");
  f.integer("size_now", o.size, "Size", "The operation's size, in the ladder's own unit.");
  f.real("flops", o.flops, {"Operations", "FLOP"},
         {.source = "counting rules of the operation: a multiply-add is two"});
  f.real("bytes", o.bytes, {"Bytes", "B"}, "Each operand once, each result once.");
  f.real("intensity", o.intensity, {"Intensity", "FLOP/B"}, {.formula = "operations / bytes"});
  f.group("Roofs");
  f.real("ridge", o.roof.ridge, {"Ridge", "FLOP/B"}, {.formula = "peak / bandwidth"});
  f.real("attainable_flops_per_s", o.roof.attainable_flops_per_s, {"Attainable", "FLOP/s"},
         {.formula = "min(peak, intensity x bandwidth)", .source = "Williams, Waterman, Patterson, CACM 52(4), 2009"});
  f.real("roof_flops_per_s", o.roof.flops_per_s, {"Arithmetic roof", "FLOP/s"},
         "Measured where ceilings are; else clock × lanes × 2 ports × 2, or the data sheet.");
  f.real("roof_bytes_per_s", o.roof.bytes_per_s, {"Memory roof", "B/s"},
         "Measured where ceilings are; else as set, or the data sheet.");
  f.real("clock_now_hz", o.roof.clock_hz, {"Clock", "Hz"},
         "Measured by a chain of dependent additions where ceilings are.");
  f.toggle("roofs_measured", o.roof.measured, "Ceilings measured");
}

void describe_ladder(Fields& f, Outputs& o) {
  f.group("The ladder");
  f.integer("rungs", o.rungs, "Rungs", "Versions in this ladder.");
  f.integer("measured_rungs", o.measured_rungs, "Rungs measured", "At this size and with these caches.");
  f.integer("failed_rungs", o.failed_rungs, "Rungs that failed", "Not compiled, wrong, crashed, or not possible here.");
  f.integer("checked_rungs", o.checked_rungs, "Rungs right, not timed",
            "Computed on the CPU by a software renderer, whose times say nothing of a GPU.");
  f.integer("changed_lines", o.rung.changed_lines, "Lines changed", "Against the source of the rung before.");
  f.group("What the compiler says");
  f.integer("registers", o.rung.registers, "Registers per thread", "As the compiler reports; GPU kernels only.");
  f.integer("spill_bytes", o.rung.spill_bytes, {"Spilled", "B"},
            "Bytes that did not fit into registers, stored and loaded.");
  f.integer("shared_bytes", o.rung.shared_bytes, {"Shared memory per block", "B"},
            "As the compiler reports; GPU kernels only.");
  f.group("What is kept");
  f.integer("rows", o.rows, "Runs kept", "Runs of all ladders and sizes.");
  f.integer("roof_rows", o.roof_rows, "Ceilings kept", "Ceilings of all devices that were measured.");
  f.integer("prediction_rows", o.prediction_rows, "Predictions kept", "Predictions of the rungs of all ladders.");
  f.text("command", o.command, "On the command line");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_rung(f, o);
  describe_measurement(f, o);
  describe_model(f, o);
  describe_best(f, o);
  describe_operation(f, o);
  describe_ladder(f, o);
}

void describe(Fields& f, View& v) {
  f.text("request", v.requests.work, "What to run", {.max_bytes = 65536});
  f.text("status", v.requests.status, "What is going on");
  f.toggle("running", v.requests.running, "Running");
  f.real("fraction", v.requests.fraction, "Done", {.range = {0, 1}});
  f.toggle("editing", v.editing, "The editor is open");
  f.text("edited_rung", v.edited_rung, "Rung in the editor");
  f.text("edited_source", v.edited_source, "Source in the editor", {.max_bytes = 65536});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"kernels/lab",
       "Kernel lab",
       "How close does each version come to its roof, and why is the next one faster?",
       {.service = "kernels"}},
      compute, arrange, draw);
}

}  // namespace chapters::kernels::lab
