#include "chapters/kernels/lab/lab.h"

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/shared_choices.h"

/// Ladders of kernels that run on this machine: predict a rung, run it, see how far under its ceiling it is and why the
/// next one is faster.
namespace chapters::kernels::lab {
namespace {

const Choices devices{{"cpu", "this CPU, one thread", "Always there."},
                      {"cuda", "an NVIDIA GPU", "Timed where there is one; read, edited and compiled where NVRTC is."}};
const Choices sizes{{"smallest", "a sixteenth", "Of the usual size."},
                    {"small", "a quarter", "Of the usual size."},
                    {"usual", "usual", "What the ladder was written for."},
                    {"large", "large", "Half way to the most."},
                    {"largest", "largest", "The most that the ladder takes: slow rungs need minutes."}};
const Choices simds{{"avx2", "AVX2, 8 floats", "256 bits."}, {"avx512", "AVX-512, 16 floats", "512 bits."}};
const Choices bounds{
    {"memory", "memory-bound", ""}, {"compute", "compute-bound", ""}, {"latency", "latency-bound", ""}};

Choices ladders_of(::kernels::Device device) {
  Choices out;
  for (const auto& ladder : ::kernels::all_ladders())
    if (ladder.device == device) out.push_back({std::string(ladder.id), std::string(ladder.title), {}});
  if (out.empty()) out.push_back({"none", "none in this program", {}});
  return out;
}
const Choices& cpu_ladders() {
  static const Choices all = ladders_of(::kernels::Device::cpu);
  return all;
}
const Choices& cuda_ladders() {
  static const Choices all = ladders_of(::kernels::Device::cuda);
  return all;
}

constexpr double most = 1e30;
constexpr std::string_view ports =
    "ports of the core or of the SM: Fog, instruction tables; CUDA C++ best practices guide";
constexpr std::string_view here = "the kernel lab, on the machine that ran it";

}  // namespace

void describe(Fields& f, PredictionRow& r) {
  f.text("ladder", r.ladder, {.label = "Ladder"});
  f.text("rung", r.rung, {.label = "Rung"});
  f.real("share", r.share,
         {
             .label = "Share",
             .unit = "%",
             .help = "Of the rung's roof.",
             .lo = 0,
             .hi = 100,
         });
}

void describe(Fields& f, RunRow& r) {
  f.text("ladder", r.ladder, {.label = "Ladder"});
  f.text("rung", r.rung, {.label = "Rung"});
  f.integer("size", r.size, {.label = "Size", .lo = 0, .hi = 1e15});
  f.toggle("cold", r.cold, {.label = "Cold"});
  f.toggle("edited", r.edited, {.label = "Edited"});
  f.real("time_s", r.time_s,
         {
             .label = "Time",
             .unit = "s",
             .lo = 0,
             .hi = 1e6,
         });
  f.real("spread_s", r.spread_s,
         {
             .label = "Spread",
             .unit = "s",
             .lo = 0,
             .hi = 1e6,
         });
  f.integer("samples", r.samples, {.label = "Samples", .lo = 0, .hi = 1e12});
  f.real("flops", r.flops,
         {
             .label = "Operations",
             .unit = "FLOP",
             .lo = 0,
             .hi = most,
         });
  f.real("bytes", r.bytes,
         {
             .label = "Bytes",
             .unit = "B",
             .lo = 0,
             .hi = most,
         });
  f.real("error", r.error, {.label = "Error", .lo = 0, .hi = most});
  f.real("error_bound", r.error_bound, {.label = "Accepted error", .lo = 0, .hi = most});
  f.toggle("compiled", r.compiled, {.label = "Compiled"});
  f.text("failure", r.failure, {.label = "Failure"});
  f.text("arch", r.arch, {.label = "Compiled for"});
  f.text("diagnostics", r.diagnostics, {.label = "Compiler says"});
  f.integer("registers", r.registers, {.label = "Registers", .lo = 0, .hi = 1e6});
  f.integer("spill_store_bytes", r.spill_store_bytes,
            {
                .label = "Spill stores",
                .unit = "B",
                .lo = 0,
                .hi = 1e12,
            });
  f.integer("spill_load_bytes", r.spill_load_bytes,
            {
                .label = "Spill loads",
                .unit = "B",
                .lo = 0,
                .hi = 1e12,
            });
  f.integer("shared_bytes", r.shared_bytes,
            {
                .label = "Shared memory",
                .unit = "B",
                .lo = 0,
                .hi = 1e12,
            });
  f.integer("block_threads", r.block_threads, {.label = "Threads a block", .lo = 0, .hi = 1e6});
}

void describe(Fields& f, RoofRow& r) {
  f.text("device", r.device, {.label = "Device"});
  f.text("device_name", r.device_name, {.label = "Device's name"});
  f.text("id", r.id, {.label = "Roof"});
  f.text("title", r.title, {.label = "Title"});
  f.text("unit", r.unit, {.label = "Unit"});
  f.real("value", r.value, {.label = "Value", .lo = 0, .hi = most});
}

void describe(Fields& f, Inputs& in) {
  f.choice("device", in.device, devices,
           {.label = "Device", .help = "Which ladders: those of the processor or those of a GPU."});
  f.choice("cpu_ladder", in.cpu_ladder, cpu_ladders(),
           {
               .label = "Ladder",
               .help = "One operation in several versions, each mostly faster than the one before.",
               .when = {"device", "cpu"},
           });
  f.choice("cuda_ladder", in.cuda_ladder, cuda_ladders(),
           {
               .label = "Ladder",
               .help = "One operation in several versions, each mostly faster than the one before.",
               .when = {"device", "cuda"},
           });
  f.integer("rung", in.rung,
            {
                .label = "Rung",
                .help = "The version that the figures and the source are of, from 1; beyond the last means the last.",
                .lo = 1,
                .hi = 12,
                .scale = Scale::step,
            });
  f.choice("size", in.size, sizes,
           {.label = "Size", .help = "How large the operation is; the figure is under the outputs."});
  f.toggle("cold", in.cold,
           {.label = "Cold caches",
            .help = "Operands are out of the caches when a timed run begins; off: they stay there."});
  f.toggle("predict_first", in.predict_first,
           {.label = "Predict first",
            .help = "A measured bar shows once you have said how long it will be: press or drag in its row."});
  f.table("predictions", in.predictions,
          {.label = "Your predictions",
           .help = "Share of the roof that you expect of a rung: press or drag in its row.",
           .max_items = 120});
  shared::chip(
      f, "chip", in.chip,
      {.help = "Its data sheet gives the roofs until some are measured on a GPU.", .when = {"device", "cuda"}});
  f.choice("simd", in.simd, simds,
           {
               .label = "Vectors of the core",
               .help = "Sets the width of the roof, until it is measured.",
               .when = {"device", "cpu"},
           });
  f.real("clock_hz", in.clock_hz,
         {
             .label = "Clock of the core",
             .unit = "Hz",
             .help = "Assumed until the ceilings are measured.",
             .lo = 1e9,
             .hi = 6.5e9,
             .when = {"device", "cpu"},
         });
  f.real("dram_bytes_per_s", in.dram_bytes_per_s,
         {
             .label = "Memory of one thread",
             .unit = "B/s",
             .help = "What one core draws from main memory; assumed until the ceilings are measured.",
             .lo = 2e9,
             .hi = 400e9,
             .scale = Scale::log,
             .when = {"device", "cpu"},
         });
  f.integer("seed", in.seed,
            {
                .label = "Seed",
                .help = "Of the operands: random numbers, never zeros, which some chips multiply faster.",
                .lo = 1,
                .hi = 1e6,
            });
  f.real("seconds_per_rung", in.seconds_per_rung,
         {
             .label = "Time for each rung",
             .unit = "s",
             .help = "Runs are repeated until the median is known to 1 % or this time is over.",
             .lo = 0.05,
             .hi = 5,
             .scale = Scale::log,
         });
  f.table("runs", in.runs,
          {
              .label = "Measured runs",
              .help = "What was run, and what came out.",
              .max_items = 200,
              .origin = Origin::measured,
          });
  f.table("roofs", in.roofs,
          {
              .label = "Measured ceilings",
              .help = "Of the devices of this machine.",
              .max_items = 64,
              .origin = Origin::measured,
          });
}

void describe(Fields& f, Outputs& o) {
  f.text("rung_title", o.rung_title, {.label = "Rung"});
  f.real("share", o.share,
         {
             .label = "Measured share",
             .unit = "%",
             .help = "Of its roof; nothing until it is run (and predicted, where you predict first).",
             .may_be_missing = true,
             .formula = "rate / roof",
             .source = here,
         });
  f.real("predicted_share", o.predicted_share,
         {
             .label = "Model's share",
             .unit = "%",
             .help = "What the scarcest port or wire allows; a bound, which measurements stay under.",
             .formula = "min over the ports of supply / demand",
             .source = ports,
         });
  f.real("your_share", o.your_share,
         {
             .label = "Your prediction",
             .unit = "%",
             .help = "Of the selected rung.",
             .may_be_missing = true,
         });
  f.real("prediction_miss", o.prediction_miss,
         {
             .label = "You were off by",
             .unit = "%",
             .help = "Percentage points between your prediction and the measurement.",
             .may_be_missing = true,
             .formula = "yours - measured",
         });
  f.text("limit", o.limit, {.label = "Limited by"});
  f.real("time_s", o.time_s,
         {
             .label = "Time",
             .unit = "s",
             .help = "Median of one run.",
             .may_be_missing = true,
             .source = here,
         });
  f.real("spread", o.spread,
         {
             .label = "Spread (IQR)",
             .unit = "%",
             .help = "Interquartile range over the median.",
             .may_be_missing = true,
             .source = here,
         });
  f.integer("samples", o.samples, {.label = "Samples", .source = here});
  f.real("flops_per_s", o.flops_per_s,
         {
             .label = "Arithmetic rate",
             .unit = "FLOP/s",
             .help = "Of the algorithm, not of what the kernel executes.",
             .may_be_missing = true,
             .formula = "operations / time",
             .source = here,
         });
  f.real("bytes_per_s", o.bytes_per_s,
         {
             .label = "Memory rate",
             .unit = "B/s",
             .help = "Bytes that the algorithm has to move, not what the caches moved.",
             .may_be_missing = true,
             .formula = "bytes / time",
             .source = here,
         });
  f.real("error", o.error,
         {
             .label = "Error against float64",
             .help = "Euclidean norm of the difference over that of the reference.",
             .may_be_missing = true,
             .formula = "||out - reference|| / ||reference||",
             .source = here,
         });
  f.real("error_bound", o.error_bound,
         {
             .label = "Accepted error",
             .may_be_missing = true,
             .formula = "2 eps sqrt(K)",
             .source = "random-walk rounding: Higham, Accuracy and Stability of Numerical Algorithms, 2002",
         });
  f.real("predicted_s", o.predicted_s,
         {
             .label = "Model's time",
             .unit = "s",
             .formula = "time at the roof / share",
             .source = ports,
         });
  f.real("floor_s", o.floor_s,
         {
             .label = "Time at the roof",
             .unit = "s",
             .help = "No version of this operation is faster on these ceilings.",
             .formula = "max(operations / peak, bytes / bandwidth)",
             .source = "Williams, Waterman, Patterson, CACM 52(4), 2009",
         });
  f.real("next_gain", o.next_gain,
         {
             .label = "Next rung, by the model",
             .unit = "",
             .help = "How many times faster the model expects the next rung; 1 at the last.",
             .formula = "share of the next / share",
             .source = ports,
         });
  f.real("published_share", o.published_share,
         {
             .label = "Published share",
             .unit = "%",
             .help = "What others measured for the same version on the chip that the mark in the row names.",
             .may_be_missing = true,
         });
  f.choice("bound", o.bound, bounds,
           {
               .label = "Regime",
               .help = "Of the selected rung, by the model.",
               .formula = "intensity against the ridge; latency where chains wait",
               .source = "Williams, Waterman, Patterson, CACM 52(4), 2009",
           });
  f.text("best_rung", o.best_rung, {.label = "Best rung"});
  f.real("best_share", o.best_share,
         {
             .label = "Its share of the roof",
             .unit = "%",
             .may_be_missing = true,
             .source = here,
         });
  f.real("best_flops_per_s", o.best_flops_per_s,
         {
             .label = "Its arithmetic rate",
             .unit = "FLOP/s",
             .may_be_missing = true,
             .source = here,
         });
  f.real("best_bytes_per_s", o.best_bytes_per_s,
         {
             .label = "Its memory rate",
             .unit = "B/s",
             .may_be_missing = true,
             .source = here,
         });
  f.real("speedup", o.speedup,
         {
             .label = "Best over first",
             .help = "Measured.",
             .may_be_missing = true,
             .formula = "time of rung 1 / time of the best",
             .source = here,
         });
  f.real("predicted_speedup", o.predicted_speedup,
         {.label = "The same by the model", .formula = "best share / share of rung 1", .source = ports});
  f.integer("size_now", o.size, {.label = "Size", .help = "Of the operation, in the ladder's own unit."});
  f.real("flops", o.flops,
         {.label = "Operations", .unit = "FLOP", .source = "counting rules of the operation: a multiply-add is two"});
  f.real("bytes", o.bytes, {.label = "Bytes", .unit = "B", .help = "Each operand once, each result once."});
  f.real("intensity", o.intensity, {.label = "Intensity", .unit = "FLOP/B", .formula = "operations / bytes"});
  f.real("ridge", o.ridge, {.label = "Ridge", .unit = "FLOP/B", .formula = "peak / bandwidth"});
  f.real("attainable_flops_per_s", o.attainable_flops_per_s,
         {
             .label = "Attainable",
             .unit = "FLOP/s",
             .formula = "min(peak, intensity x bandwidth)",
             .source = "Williams, Waterman, Patterson, CACM 52(4), 2009",
         });
  f.real("roof_flops_per_s", o.roof_flops_per_s,
         {.label = "Arithmetic roof",
          .unit = "FLOP/s",
          .help = "Measured where ceilings are; else clock x lanes x 2 ports x 2, or the data sheet."});
  f.real(
      "roof_bytes_per_s", o.roof_bytes_per_s,
      {.label = "Memory roof", .unit = "B/s", .help = "Measured where ceilings are; else as set, or the data sheet."});
  f.real("clock_now_hz", o.clock_hz,
         {.label = "Clock", .unit = "Hz", .help = "Measured by a chain of dependent additions where ceilings are."});
  f.toggle("roofs_measured", o.roofs_measured, {.label = "Ceilings measured"});
  f.integer("rungs", o.rungs, {.label = "Rungs", .help = "Versions in this ladder."});
  f.integer("measured_rungs", o.measured_rungs,
            {.label = "Rungs measured", .help = "At this size and with these caches."});
  f.integer("failed_rungs", o.failed_rungs,
            {.label = "Rungs that failed", .help = "Not compiled, wrong, crashed, or not possible here."});
  f.integer("changed_lines", o.changed_lines,
            {.label = "Lines changed", .help = "Against the source of the rung before."});
  f.integer("registers", o.registers,
            {.label = "Registers a thread", .help = "As the compiler reports; GPU kernels only."});
  f.integer("spill_bytes", o.spill_bytes,
            {.label = "Spilled", .unit = "B", .help = "Bytes that did not fit into registers, stored and loaded."});
  f.integer("shared_bytes", o.shared_bytes,
            {.label = "Shared memory a block", .unit = "B", .help = "As the compiler reports; GPU kernels only."});
  f.integer("rows", o.rows, {.label = "Runs kept", .help = "Of all ladders and sizes."});
  f.integer("roof_rows", o.roof_rows, {.label = "Ceilings kept", .help = "Of all devices that were measured."});
  f.integer("prediction_rows", o.prediction_rows,
            {.label = "Predictions kept", .help = "Of the rungs of all ladders."});
  f.text("command", o.command, {.label = "On the command line"});
}

void describe(Fields& f, View& v) {
  f.text("request", v.requests.work, {.label = "What to run", .max_bytes = 65536});
  f.text("status", v.requests.status, {.label = "What is going on"});
  f.toggle("running", v.requests.running, {.label = "Running"});
  f.real("fraction", v.requests.fraction, {.label = "Done", .lo = 0, .hi = 1});
  f.toggle("editing", v.editing, {.label = "The editor is open"});
  f.text("edited_rung", v.edited_rung, {.label = "Rung in the editor"});
  f.text("edited_source", v.edited_source, {.label = "Source in the editor", .max_bytes = 65536});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, View>(
      {
          .id = "kernels/lab",
          .title = "Kernel lab",
          .question = "How close does each version come to its roof, and why is the next one faster?",
          .service = "kernels",
      },
      compute, draw);
}

}  // namespace chapters::kernels::lab
