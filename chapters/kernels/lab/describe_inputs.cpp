#include "chapters/kernels/lab/lab.h"
#include "chapters/mechanism/shared_choices.h"

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

constexpr double max_value = 1e30;

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
             .hi = max_value,
         });
  f.real("bytes", r.bytes,
         {
             .label = "Bytes",
             .unit = "B",
             .lo = 0,
             .hi = max_value,
         });
  f.real("error", r.error, {.label = "Error", .lo = 0, .hi = max_value});
  f.real("error_bound", r.error_bound, {.label = "Accepted error", .lo = 0, .hi = max_value});
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
  f.real("value", r.value, {.label = "Value", .lo = 0, .hi = max_value});
}

void describe(Fields& f, Inputs& in) {
  f.group("What runs");
  f.choice("device", in.device, devices,
           {.label = "Device", .help = "Which ladders: those of the processor or those of a GPU."});
  f.choice("cpu_ladder", in.cpu_ladder, cpu_ladders(),
           {
               .label = "Ladder",
               .help = "One operation in several versions, each mostly faster than the one before.",
               .headline = true,
               .when = {"device", "cpu"},
           });
  f.choice("cuda_ladder", in.cuda_ladder, cuda_ladders(),
           {
               .label = "Ladder",
               .help = "One operation in several versions, each mostly faster than the one before.",
               .headline = true,
               .when = {"device", "cuda"},
           });
  f.integer("rung", in.rung,
            {
                .label = "Rung",
                .help = "The version that the figures and the source are of, from 1; beyond the last means the last.",
                .lo = 1,
                .hi = 12,
                .scale = Scale::step,
                .typical_lo = 1,
                .typical_hi = 8,
                .headline = true,
            });
  f.choice("size", in.size, sizes,
           {.label = "Size", .help = "How large the operation is; the figure is under the outputs."});
  f.group("How it is measured");
  f.toggle("cold", in.cold,
           {.label = "Cold caches",
            .help = "Operands are out of the caches when a timed run begins; off: they stay there."});
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
  f.group("What you expect");
  f.toggle("predict_first", in.predict_first,
           {.label = "Predict first",
            .help = "A measured bar shows once you have said how long it will be: press or drag in its row."});
  f.table("predictions", in.predictions,
          {.label = "Your predictions",
           .help = "Share of the roof that you expect of a rung: press or drag in its row.",
           .max_items = 120});
  f.group("Roofs until they are measured");
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
  f.group("Measured here");
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

}  // namespace chapters::kernels::lab
