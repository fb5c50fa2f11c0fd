#include "chapters/kernels/lab/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::kernels::lab {
namespace {

const Choices devices{{"cpu", "this CPU, one thread", "Always there."},
                      {"cuda", "an NVIDIA GPU", "Timed where there is one; read, edited and compiled where NVRTC is."},
                      {"opengl", "any GPU, OpenGL", "Timed on a GPU of any maker; edited and checked without one."}};
static_assert(std::size(::kernels::device_ids) == 3);
const Choices sizes{{"smallest", "a sixteenth", "A sixteenth of the usual size."},
                    {"small", "a quarter", "A quarter of the usual size."},
                    {"usual", "usual", "What the ladder was written for."},
                    {"large", "large", "Half way to the most."},
                    {"largest", "largest", "The most that the ladder takes: slow rungs need minutes."}};
const Choices simds{{"avx2", "AVX2, 8 floats", "256 bits."}, {"avx512", "AVX-512, 16 floats", "512 bits."}};

/// "3 versions: one float each, vec4, grid stride."
std::string versions_of(const ::kernels::Ladder& ladder) {
  std::string text = std::to_string(ladder.rungs.size()) + " versions";
  for (std::size_t i = 0; i < ladder.rungs.size(); ++i) (text += i == 0 ? ": " : ", ") += ladder.rungs[i].title;
  return text + ".";
}

Choices ladders_of(::kernels::Device device) {
  Choices out;
  for (const auto& ladder : ::kernels::all_ladders())
    if (ladder.device == device)
      out.push_back({std::string(ladder.id), std::string(ladder.title), versions_of(ladder)});
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
const Choices& opengl_ladders() {
  static const Choices all = ladders_of(::kernels::Device::opengl);
  return all;
}

constexpr double max_value = 1e30;

}  // namespace

void describe(Fields& f, PredictionRow& r) {
  f.text("ladder", r.ladder, "Ladder");
  f.text("rung", r.rung, "Rung");
  f.real("share", r.share, {"Share", "%"}, "The share of the rung's roof.", {.range = {0, 100}});
}

void describe(Fields& f, RunRow& r) {
  f.text("ladder", r.ladder, "Ladder");
  f.text("rung", r.rung, "Rung");
  f.integer("size", r.size, "Size", {.range = {0, 1e15}});
  f.toggle("cold", r.cold, "Cold");
  f.toggle("edited", r.edited, "Edited");
  f.real("time_s", r.time_s, {"Time", "s"}, {.range = {0, 1e6}});
  f.real("spread_s", r.spread_s, {"Spread", "s"}, {.range = {0, 1e6}});
  f.integer("samples", r.samples, "Samples", {.range = {0, 1e12}});
  f.real("flops", r.flops, {"Operations", "FLOP"}, {.range = {0, max_value}});
  f.real("bytes", r.bytes, {"Bytes", "B"}, {.range = {0, max_value}});
  f.real("error", r.error, "Error", {.range = {0, max_value}});
  f.real("error_bound", r.error_bound, "Accepted error", {.range = {0, max_value}});
  f.toggle("compiled", r.compiled, "Compiled");
  f.toggle("checked", r.checked, "Right, not timed");
  f.text("failure", r.failure, "Failure");
  f.text("arch", r.arch, "Compiled for");
  f.text("diagnostics", r.diagnostics, "Compiler says");
  f.integer("registers", r.registers, "Registers", {.range = {0, 1e6}});
  f.integer("spill_store_bytes", r.spill_store_bytes, {"Spill stores", "B"}, {.range = {0, 1e12}});
  f.integer("spill_load_bytes", r.spill_load_bytes, {"Spill loads", "B"}, {.range = {0, 1e12}});
  f.integer("shared_bytes", r.shared_bytes, {"Shared memory", "B"}, {.range = {0, 1e12}});
  f.integer("block_threads", r.block_threads, "Threads per block", {.range = {0, 1e6}});
}

void describe(Fields& f, RoofRow& r) {
  f.text("device", r.device, "Device");
  f.text("device_name", r.device_name, "Device's name");
  f.text("id", r.id, "Roof");
  f.text("title", r.title, "Title");
  f.text("unit", r.unit, "Unit");
  f.real("value", r.value, "Value", {.range = {0, max_value}});
}

void describe(Fields& f, Inputs& in) {
  f.group("What runs");
  f.choice("device", in.device, devices, "Device", "Which ladders: those of the processor or those of a GPU.",
           {.headline = true});
  f.choice("cpu_ladder", in.cpu_ladder, cpu_ladders(), "Ladder",
           "One operation in several versions, each mostly faster than the one before.",
           {.headline = true, .when = {"device", "cpu"}});
  f.choice("cuda_ladder", in.cuda_ladder, cuda_ladders(), "Ladder",
           "One operation in several versions, each mostly faster than the one before.",
           {.headline = true, .when = {"device", "cuda"}});
  f.choice("opengl_ladder", in.opengl_ladder, opengl_ladders(), "Ladder",
           "One operation in several versions, each mostly faster than the one before.",
           {.headline = true, .when = {"device", "opengl"}});
  f.integer("rung", in.rung, "Rung",
            "The version that the figures and the source are of, from 1; beyond the last means the last.",
            {.range = {1, 12, Scale::step}, .typical = {1, 8}, .headline = true});
  f.choice("size", in.size, sizes, "Size", "How large the operation is; the figure is under the outputs.");
  f.group("How it is measured");
  f.toggle("cold", in.cold, "Cold caches",
           "Operands are out of the caches when a timed run begins; off: they stay there.");
  f.integer("seed", in.seed, "Seed",
            "Draws the operands: random numbers, never zeros, which some chips multiply faster.", {.range = {1, 1e6}});
  f.real("seconds_per_rung", in.seconds_per_rung, {"Time for each rung", "s"},
         "Runs are repeated until the median is known to 1 % or this time is over.", {.range = {0.05, 5, Scale::log}});
  f.group("What you expect");
  f.toggle("predict_first", in.predict_first, "Predict first",
           "A measured bar shows once you have said how long it will be: press or drag in its row.");
  f.table("predictions", in.predictions, "Your predictions",
          "Share of the roof that you expect of a rung: press or drag in its row.", {.max_items = 300});
  f.group("Roofs until they are measured");
  shared::chip(
      f, "chip", in.chip,
      {.help = "Its data sheet gives the roofs until some are measured on a GPU.", .when = {"device", "cuda|opengl"}});
  f.choice("simd", in.simd, simds, "Vectors of the core", "Sets the width of the roof, until it is measured.",
           {.when = {"device", "cpu"}});
  f.real("clock_hz", in.clock_hz, {"Clock of the core", "Hz"}, "Assumed until the ceilings are measured.",
         {.range = {1e9, 6.5e9}, .when = {"device", "cpu"}});
  f.real("dram_bytes_per_s", in.dram_bytes_per_s, {"Memory of one thread", "B/s"},
         "What one core draws from main memory; assumed until the ceilings are measured.",
         {.range = {2e9, 400e9, Scale::log}, .when = {"device", "cpu"}});
  f.group("Measured here");
  f.table("runs", in.runs, "Measured runs", "What was run, and what came out.",
          {.max_items = 200, .origin = Origin::measured});
  f.table("roofs", in.roofs, "Measured ceilings", "What the devices of this machine reached.",
          {.max_items = 64, .origin = Origin::measured});
}

}  // namespace chapters::kernels::lab
