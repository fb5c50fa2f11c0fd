#include "chapters/roofline/tiling_waves/lab.h"

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::roofline::tiling_waves {
namespace {

const Choices schedules = {
    {"data_parallel", "Data parallel", "A thread block makes one tile from first to last."},
    {"split_k", "Split-K", "Several blocks share a tile's depth; their partial sums are added in a second pass."},
    {"stream_k", "Stream-K", "Every SM gets the same number of multiply steps, wherever tiles begin and end."}};
const Choices rules = {
    {"then", "Required (before cuBLAS 11)", "Rows that are no multiple of 16 bytes do not use Tensor Cores at all."},
    {"now", "Preferred (since cuBLAS 11)", "Any row uses Tensor Cores, at a lower rate below 16 bytes."}};
static_assert(static_cast<int>(models::Schedule::stream_k) == 2 &&
                  static_cast<int>(models::AlignmentRule::preferred) == 1,
              "the choices above stand in the order of the enumerators");

constexpr std::string_view guide = "NVIDIA, Matrix Multiplication Background User's Guide, DU-09799-001";
constexpr std::string_view stream_k_source = "Osama et al., Stream-K, PPoPP 2023";
constexpr double longest = 262144;

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The matmul");
  f.integer("n", in.n,
            {.label = "Columns N",
             .help = "Of B and C: output features. Drag the marker in the plot, too.",
             .lo = 1,
             .hi = longest,
             .scale = Scale::log,
             .typical_lo = 256,
             .typical_hi = 16384,
             .headline = true});
  f.integer("m", in.m,
            {.label = "Rows M",
             .help = "Of A and C: tokens in a batch.",
             .lo = 1,
             .hi = longest,
             .scale = Scale::log,
             .typical_lo = 1,
             .typical_hi = 16384});
  f.integer("k", in.k,
            {.label = "Depth K",
             .help = "Columns of A, rows of B: input features.",
             .lo = 1,
             .hi = longest,
             .scale = Scale::log,
             .typical_lo = 256,
             .typical_hi = 16384});
  shared::format(f, "format", in.format, {.help = "Of A, B and C. Partial sums are FP32."});
  shared::chip(f, "chip", in.chip, {.help = "Its peak, its bandwidth and its number of SMs (compute units)."});
  f.group("Tiles");
  f.integer("tile_n", in.tile_n,
            {.label = "Tile columns",
             .help = "Columns of C that one thread block makes.",
             .lo = 8,
             .hi = 256,
             .scale = Scale::step,
             .step = 8,
             .headline = true});
  f.integer("tile_m", in.tile_m,
            {.label = "Tile rows",
             .help = "Rows of C that one thread block makes.",
             .lo = 16,
             .hi = 256,
             .scale = Scale::step,
             .step = 16});
  f.integer("tile_k", in.tile_k,
            {.label = "Tile depth",
             .help = "Depth of one multiply step; the last step of a tile may reach beyond K.",
             .lo = 16,
             .hi = 256,
             .scale = Scale::step,
             .step = 16});
  f.integer("tiles_per_unit", in.tiles_per_unit,
            {.label = "Blocks an SM holds",
             .help = "Thread blocks resident on one SM at once; they share its rate.",
             .lo = 1,
             .hi = 8,
             .scale = Scale::step});
  f.integer("units_taken", in.units_taken,
            {.label = "SMs taken away",
             .help = "By a communication kernel or another stream; peak and slots shrink with them.",
             .lo = 0,
             .hi = 64,
             .scale = Scale::step});
  f.group("Schedule");
  f.choice("schedule", in.schedule, schedules,
           {.label = "Schedule", .help = "How the work is dealt to the SMs.", .headline = true});
  f.integer("splits", in.splits,
            {.label = "Splits of K",
             .help = "Thread blocks that share one tile.",
             .lo = 1,
             .hi = 64,
             .scale = Scale::log,
             .when = {"schedule", "split_k"}});
  f.group("Alignment");
  f.choice("alignment_rule", in.alignment_rule, rules,
           {.label = "16-byte alignment", .help = "What happens when a row of A, B or C is no multiple of 16 bytes."});
  f.real(
      "misaligned_rate", in.misaligned_rate,
      {.label = "Rate at 2-byte rows",
       .unit = "%",
       .help = "Share of the Tensor Core rate left to odd sizes. An H100 left 10 to 14 % of what aligned sizes reached "
               "in our own run, with cuBLAS of CUDA 13.0 and odd rows of C alone; on another chip or library it is "
               "an assumption: measure yours with the snippet under Code.",
       .lo = 5,
       .hi = 100,
       .when = {"alignment_rule", "now"}});
  f.real("partly_aligned_rate", in.partly_aligned_rate,
         {.label = "Rate at 4- and 8-byte rows",
          .unit = "%",
          .help = "The same for even sizes that are no multiple of 16 bytes: 36 % in the same run on an H100.",
          .lo = 5,
          .hi = 100,
          .when = {"alignment_rule", "now"}});
  f.integer("pad_bytes", in.pad_bytes,
            {.label = "Pad rows to",
             .unit = "B",
             .help = "The next N whose rows are a multiple of this. 16 is what loads want; 128 is a cache line, 64 "
                     "elements in 16 bits.",
             .lo = 16,
             .hi = 128,
             .scale = Scale::step,
             .step = 16});
  f.group("Chip and plot");
  f.real("l2_bytes_per_clock", in.l2_bytes_per_clock,
         {.label = "L2 to one SM",
          .unit = "B",
          .help = "Bytes that one SM can pull in a clock. With few tiles this, not main memory, is the limit. "
                  "gpu-benches measures 35 to 41.",
          .lo = 1,
          .hi = 128,
          .scale = Scale::log});
  f.integer("sweep_to", in.sweep_to,
            {.label = "Plot N up to",
             .help = "Where the saw-tooth ends, and the search for the best N.",
             .lo = 512,
             .hi = longest,
             .scale = Scale::log,
             .typical_lo = 2048,
             .typical_hi = 65536});
}

void describe(Fields& f, ScheduleRow& r) {
  f.text("name", r.name, {.label = "Schedule"});
  f.integer("splits", r.scheduled.split, {.label = "Splits"});
  f.integer("blocks", r.scheduled.result.work_units, {.label = "Thread blocks"});
  f.real("occupancy", r.occupancy, {.label = "Slots busy", .unit = "%"});
  f.real("compute_s", r.scheduled.result.compute_s, {.label = "Arithmetic", .unit = "s"});
  f.real("memory_s", r.scheduled.result.memory_s, {.label = "Operands", .unit = "s"});
  f.real("reduction_s", r.scheduled.result.reduction_s, {.label = "Partial sums", .unit = "s"});
  f.real("time_s", r.scheduled.result.time_s, {.label = "Time", .unit = "s"});
  f.real("speedup", r.speedup, {.label = "Against data parallel"});
}

void describe(Fields& f, CornerRow& r) {
  f.integer("n", r.n, {.label = "N"});
  f.integer("waves", r.waves, {.label = "Waves"});
  f.real("aligned", r.aligned, {.label = "Aligned", .unit = "%"});
  f.real("misaligned", r.misaligned, {.label = "Odd N, Tensor Cores", .unit = "%"});
  f.real("without_tensor_cores", r.without_tensor_cores, {.label = "Odd N, no Tensor Cores", .unit = "%"});
}

void describe(Fields& f, Outputs& o) {
  f.group("Share of the peak");
  f.real("efficiency", o.efficiency,
         {.label = "Share of the peak", .unit = "%", .headline = true, .formula = "2 M N K / (peak x time)"});
  f.real("effective_flops_per_s", o.result.effective_flops_per_s,
         {.label = "Effective rate",
          .unit = "FLOP/s",
          .help = "Useful operations only: what edge tiles compute beyond C is not counted.",
          .formula = "2 M N K / time"});
  f.real("peak_flops_per_s", o.setting.peak_flops_per_s,
         {.label = "Peak of the free SMs", .unit = "FLOP/s", .formula = "dense peak x free SMs / SMs"});
  f.group("Tiles");
  f.real("tile_efficiency", o.tile_efficiency,
         {.label = "Tile efficiency",
          .unit = "%",
          .help = "Useful part of what the tiles compute.",
          .headline = true,
          .formula = "M N / (tiles x tile rows x tile columns)",
          .source = guide});
  f.real("depth_efficiency", o.depth_efficiency,
         {.label = "Depth efficiency", .unit = "%", .formula = "K / (ceil(K / tile depth) x tile depth)"});
  f.integer("tiles", o.result.tiles,
            {.label = "Tiles", .formula = "ceil(M / tile rows) x ceil(N / tile columns)", .source = guide});
  f.integer("tiles_m", o.result.tiles_m, {.label = "Tiles down", .formula = "ceil(M / tile rows)"});
  f.integer("tiles_n", o.result.tiles_n, {.label = "Tiles across", .formula = "ceil(N / tile columns)"});
  f.group("Waves");
  f.real("wave_efficiency", o.wave_efficiency,
         {.label = "Wave efficiency",
          .unit = "%",
          .help = "Busy part of the slots over all waves.",
          .headline = true,
          .formula = "tiles x steps / (slots x steps of the busiest slot)",
          .source = guide});
  f.integer("waves", o.result.waves, {.label = "Waves", .formula = "ceil(blocks / slots)", .source = guide});
  f.integer("slots", o.slots,
            {.label = "Slots",
             .help = "Thread blocks that run at once: a full wave.",
             .formula = "free SMs x blocks an SM holds"});
  f.integer("blocks", o.result.work_units,
            {.label = "Thread blocks", .help = "Tiles, tiles x splits, or for stream-K one for each slot with work."});
  f.integer("last_wave_blocks", o.last_wave_blocks,
            {.label = "Blocks in the last wave", .formula = "blocks - (waves - 1) x slots"});
  f.integer("free_to_n", o.free_range.last_n,
            {.label = "Same waves up to N",
             .help = "Columns up to here cost no more arithmetic time: the last wave has room for their tiles.",
             .formula = "floor(floor(waves x slots / splits) / tiles down) x tile columns"});
  f.integer("one_wave_less_n", o.free_range.below_n,
            {.label = "One wave less at N",
             .help = "The largest N that needs a wave less; 0 when there is none.",
             .formula = "the same with waves - 1"});
  f.group("Alignment");
  f.real("alignment_efficiency", o.alignment_efficiency,
         {.label = "Alignment efficiency",
          .unit = "%",
          .help = "Part of the Tensor Core rate that the alignment leaves.",
          .headline = true,
          .formula = "100 % from 16 bytes on"});
  f.integer("alignment_bytes", o.result.alignment_bytes,
            {.label = "Alignment",
             .unit = "B",
             .help = "The largest power of two, at most 128, that divides rows of N and of K elements; under the "
                     "old rule of M, too.",
             .formula = "of N and K in bytes"});
  f.group("Time");
  f.real("time_s", o.result.time_s,
         {.label = "Time", .unit = "s", .formula = "max(arithmetic, operands) + partial sums"});
  f.real("compute_s", o.result.compute_s,
         {.label = "Arithmetic", .unit = "s", .formula = "waves x one tile's flops / the rate of one slot"});
  f.real("memory_s", o.result.memory_s,
         {.label = "Operands",
          .unit = "s",
          .help = "Each matrix moved once, at the memory's rate or at what the busy SMs can pull, if that is less.",
          .formula = "(M K + K N + M N) x bytes / bandwidth"});
  f.real("reduction_s", o.result.reduction_s,
         {.label = "Partial sums", .unit = "s", .formula = "partial sum bytes / bandwidth", .source = stream_k_source});
  f.real("reduction_bytes", o.result.reduction_bytes,
         {.label = "Partial sums moved", .unit = "B", .help = "FP32, written once and read once."});
  f.real("ideal_s", o.ideal_s, {.label = "Time at the peak", .unit = "s", .formula = "2 M N K / peak"});
  f.real("lost_s", o.lost_s, {.label = "Time lost", .unit = "s", .formula = "time - time at the peak"});
  f.group("Padding");
  f.real("padding_speedup", o.padding.speedup,
         {.label = "Padding speeds up", .help = "Under the alignment rule set.", .formula = "time / time padded"});
  f.integer("padded_n", o.padding.padded_n,
            {.label = "Padded N", .formula = "next N whose row is a multiple of the padding"});
  f.real("padded_time_s", o.padding.after.time_s,
         {.label = "Time, padded", .unit = "s", .help = "Under the alignment rule set."});
  f.real("padding_cost", o.padding_cost,
         {.label = "Padding adds",
          .unit = "%",
          .help = "To B and C, in memory and in operations.",
          .formula = "(padded N - N) / N"});
  f.real("padding_speedup_now", o.padding_preferred.speedup,
         {.label = "... since cuBLAS 11",
          .help = "At the rate set for 2-byte alignment, or its default of 13 % while the old rule is chosen.",
          .formula = "time / time padded"});
  f.real("padding_speedup_then", o.padding_required.speedup,
         {.label = "... before cuBLAS 11",
          .help = "Unaligned work falls to the vector units at the stated FP32 rate. 1 where the chip states none.",
          .formula = "time / time padded"});
  f.group("Schedules");
  f.real("best_schedule_speedup", o.best_schedule_speedup,
         {.label = "Best schedule gains", .formula = "time data parallel / least time of the three"});
  f.integer("best_splits", o.split_k.split,
            {.label = "Best split of K", .help = "Of 1 to 64; 1 when splitting gains nothing."});
  f.real("split_k_time_s", o.split_k.result.time_s,
         {.label = "Time, best split-K", .unit = "s", .formula = "max(arithmetic, operands) + partial sums"});
  f.real("stream_k_time_s", o.stream_k.result.time_s,
         {.label = "Time, stream-K", .unit = "s", .source = stream_k_source});
  f.table("schedules", o.schedules, {.label = "Schedules", .help = "The same matmul dealt out in different ways."});
  f.group("Saw-tooth");
  f.real("best_share", o.best_share,
         {.label = "Share at the best N", .unit = "%", .formula = "2 M N K / (peak x time), aligned"});
  f.integer("best_n", o.best_n,
            {.label = "Best N in the plot",
             .help = "The corner of the saw-tooth with the highest share, the smallest of equals."});
  f.table("corners", o.corners,
          {.label = "Saw-tooth", .help = "Share of the peak at the corners of the plot.", .max_items = 8192});
}

void describe(Fields& f, View& v) {
  f.real("time", v.time,
         {.label = "Time cursor",
          .help = "Share of the matmul's time that has passed: tiles of later waves are pale.",
          .lo = 0,
          .hi = 1});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {.id = "roofline/tiling-waves",
       .title = "Tiles and waves",
       .question = "One column more makes this matmul much slower: is it tiles, waves or alignment?"},
      compute, arrange, draw);
}

}  // namespace chapters::roofline::tiling_waves
