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
  f.integer("n", in.n, "Columns N", "Columns of B and C: output features. Drag the marker in the plot, too.",
            {.range = {1, longest, Scale::log}, .typical = {256, 16384}, .headline = true});
  f.integer("m", in.m, "Rows M", "Rows of A and C: tokens in a batch.",
            {.range = {1, longest, Scale::log}, .typical = {1, 16384}});
  f.integer("k", in.k, "Depth K", "Columns of A, rows of B: input features.",
            {.range = {1, longest, Scale::log}, .typical = {256, 16384}});
  shared::format(f, "format", in.format, {.help = "Format of A, B and C. Partial sums are FP32."});
  shared::chip(f, "chip", in.chip, {.help = "Its peak, its bandwidth and its number of SMs (compute units)."});
  f.group("Tiles");
  f.integer("tile_n", in.tile_n, "Tile columns", "Columns of C that one thread block makes.",
            {.range = {8, 256, Scale::step, 8}, .headline = true});
  f.integer("tile_m", in.tile_m, "Tile rows", "Rows of C that one thread block makes.",
            {.range = {16, 256, Scale::step, 16}});
  f.integer("tile_k", in.tile_k, "Tile depth",
            "Depth of one multiply step; the last step of a tile may reach beyond K.",
            {.range = {16, 256, Scale::step, 16}});
  f.integer("tiles_per_unit", in.tiles_per_unit, "Blocks an SM holds",
            "Thread blocks resident on one SM at once; they share its rate.", {.range = {1, 8, Scale::step}});
  f.integer("units_taken", in.units_taken, "SMs taken away",
            "By a communication kernel or another stream; peak and slots shrink with them.",
            {.range = {0, 64, Scale::step}});
  f.group("Schedule");
  f.choice("schedule", in.schedule, schedules, "Schedule", "How the work is dealt to the SMs.", {.headline = true});
  f.integer("splits", in.splits, "Splits of K", "Thread blocks that share one tile.",
            {.range = {1, 64, Scale::log}, .when = {"schedule", "split_k"}});
  f.group("Alignment");
  f.choice("alignment_rule", in.alignment_rule, rules, "16-byte alignment",
           "What happens when a row of A, B or C is no multiple of 16 bytes.");
  f.real("misaligned_rate", in.misaligned_rate, {"Rate at 2-byte rows", "%"},
         "Share of the Tensor Core rate left to odd sizes. An H100 left 10 to 14 % of what aligned sizes reached in "
         "our own run, with cuBLAS of CUDA 13.0 and odd rows of C alone; on another chip or library it is an "
         "assumption: measure yours with the snippet under Code.",
         {.range = {5, 100}, .when = {"alignment_rule", "now"}});
  f.real("partly_aligned_rate", in.partly_aligned_rate, {"Rate at 4- and 8-byte rows", "%"},
         "The same for even sizes that are no multiple of 16 bytes: 36 % in the same run on an H100.",
         {.range = {5, 100}, .when = {"alignment_rule", "now"}});
  f.integer("pad_bytes", in.pad_bytes, {"Pad rows to", "B"},
            "The next N whose rows are a multiple of this. 16 is what loads want; 128 is a cache line, 64 elements in "
            "16 bits.",
            {.range = {16, 128, Scale::step, 16}});
  f.group("Chip and plot");
  f.real("l2_bytes_per_clock", in.l2_bytes_per_clock, {"L2 to one SM", "B"},
         "Bytes that one SM can pull in a clock. With few tiles this, not main memory, is the limit. gpu-benches "
         "measures 35 to 41.",
         {.range = {1, 128, Scale::log}});
  f.integer("sweep_to", in.sweep_to, "Plot N up to", "Where the saw-tooth ends, and the search for the best N.",
            {.range = {512, longest, Scale::log}, .typical = {2048, 65536}});
}

void describe(Fields& f, ScheduleRow& r) {
  f.text("name", r.name, "Schedule");
  f.integer("splits", r.scheduled.split, "Splits");
  f.integer("blocks", r.scheduled.result.work_units, "Thread blocks");
  f.real("occupancy", r.occupancy, {"Slots busy", "%"});
  f.real("compute_s", r.scheduled.result.compute_s, {"Arithmetic", "s"});
  f.real("memory_s", r.scheduled.result.memory_s, {"Operands", "s"});
  f.real("reduction_s", r.scheduled.result.reduction_s, {"Partial sums", "s"});
  f.real("time_s", r.scheduled.result.time_s, {"Time", "s"});
  f.real("speedup", r.speedup, {"Against data parallel", "\xC3\x97"});
}

void describe(Fields& f, CornerRow& r) {
  f.integer("n", r.n, "N");
  f.integer("waves", r.waves, "Waves");
  f.real("aligned", r.aligned, {"Aligned", "%"});
  f.real("misaligned", r.misaligned, {"Odd N, Tensor Cores", "%"});
  f.real("without_tensor_cores", r.without_tensor_cores, {"Odd N, no Tensor Cores", "%"});
}

namespace {

void describe_waves(Fields& f, Outputs& o) {
  f.group("Tiles");
  f.real("tile_efficiency", o.tile_efficiency, {"Tile efficiency", "%"}, "Useful part of what the tiles compute.",
         {.headline = true, .formula = "M N / (tiles x tile rows x tile columns)", .source = guide});
  f.real("depth_efficiency", o.depth_efficiency, {"Depth efficiency", "%"},
         {.formula = "K / (ceil(K / tile depth) x tile depth)"});
  f.integer("tiles", o.result.tiles, "Tiles",
            {.formula = "ceil(M / tile rows) x ceil(N / tile columns)", .source = guide});
  f.integer("tiles_m", o.result.tiles_m, "Tiles down", {.formula = "ceil(M / tile rows)"});
  f.integer("tiles_n", o.result.tiles_n, "Tiles across", {.formula = "ceil(N / tile columns)"});
  f.group("Waves");
  f.real("wave_efficiency", o.wave_efficiency, {"Wave efficiency", "%"}, "Busy part of the slots over all waves.",
         {.headline = true, .formula = "tiles x steps / (slots x steps of the busiest slot)", .source = guide});
  f.integer("waves", o.result.waves, "Waves", {.formula = "ceil(blocks / slots)", .source = guide});
  f.integer("slots", o.slots, "Slots", "Thread blocks that run at once: a full wave.",
            {.formula = "free SMs x blocks an SM holds"});
  f.integer("blocks", o.result.work_units, "Thread blocks",
            "Tiles, tiles × splits, or for stream-K one for each slot with work.");
  f.integer("last_wave_blocks", o.last_wave_blocks, "Blocks in the last wave",
            {.formula = "blocks - (waves - 1) x slots"});
  f.integer("free_to_n", o.free_range.last_n, "Same waves up to N",
            "Columns up to here cost no more arithmetic time: the last wave has room for their tiles.",
            {.formula = "floor(floor(waves x slots / splits) / tiles down) x tile columns"});
  f.integer("one_wave_less_n", o.free_range.below_n, "One wave less at N",
            "The largest N that needs a wave less; 0 when there is none.", {.formula = "the same with waves - 1"});
}

/// What padding and other schedules would change.
void describe_changes(Fields& f, Outputs& o) {
  f.group("Padding");
  f.real("padding_speedup", o.padding.speedup, {"Padding speeds up", "\xC3\x97"}, "Under the alignment rule set.",
         {.formula = "time / time padded"});
  f.integer("padded_n", o.padding.padded_n, "Padded N", {.formula = "next N whose row is a multiple of the padding"});
  f.real("padded_time_s", o.padding.after.time_s, {"Time, padded", "s"}, "Under the alignment rule set.");
  f.real("padding_cost", o.padding_cost, {"Padding adds", "%"}, "To B and C, in memory and in operations.",
         {.formula = "(padded N - N) / N"});
  f.real("padding_speedup_now", o.padding_preferred.speedup, {"... since cuBLAS 11", "\xC3\x97"},
         "At the rate set for 2-byte alignment, or its default of 13 % while the old rule is chosen.",
         {.formula = "time / time padded"});
  f.real("padding_speedup_then", o.padding_required.speedup, {"... before cuBLAS 11", "\xC3\x97"},
         "Unaligned work falls to the vector units at the stated FP32 rate. 1 where the chip states none.",
         {.formula = "time / time padded"});
  f.group("Schedules");
  f.real("best_schedule_speedup", o.best_schedule_speedup, {"Best schedule gains", "\xC3\x97"},
         {.formula = "time data parallel / least time of the three"});
  f.integer("best_splits", o.split_k.split, "Best split of K",
            "The fastest of 1 to 64 splits; 1 when splitting gains nothing.");
  f.real("split_k_time_s", o.split_k.result.time_s, {"Time, best split-K", "s"},
         {.formula = "max(arithmetic, operands) + partial sums"});
  f.real("stream_k_time_s", o.stream_k.result.time_s, {"Time, stream-K", "s"}, {.source = stream_k_source});
  f.table("schedules", o.schedules, "Schedules", "The same matmul dealt out in different ways.");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  f.group("Share of the peak");
  f.real("efficiency", o.efficiency, {"Share of the peak", "%"},
         {.headline = true, .formula = "2 M N K / (peak x time)"});
  f.real("effective_flops_per_s", o.result.effective_flops_per_s, {"Effective rate", "FLOP/s"},
         "Useful operations only: what edge tiles compute beyond C is not counted.", {.formula = "2 M N K / time"});
  f.real("peak_flops_per_s", o.setting.peak_flops_per_s, {"Peak of the free SMs", "FLOP/s"},
         {.formula = "dense peak x free SMs / SMs"});
  f.real("measured_share", o.measured_share, {"Measured, of the peak", "%"},
         "What cuBLAS reached for these sizes on this chip; it chooses its own tile and schedule.",
         {.absent = "Nobody published these sizes on this chip."});
  f.real("measured_s", o.measured_s, {"Measured time", "s"},
         {.absent = "Nobody published these sizes on this chip.", .formula = "time at the peak / measured share"});
  f.real("measured_padded_s", o.measured_padded_s, {"Measured time, padded", "s"},
         {.absent = "Nobody published the padded size on this chip.", .formula = "time at the peak / measured share"});
  describe_waves(f, o);
  f.group("Alignment");
  f.real("alignment_efficiency", o.alignment_efficiency, {"Alignment efficiency", "%"},
         "Part of the Tensor Core rate that the alignment leaves.",
         {.headline = true, .formula = "100 % from 16 bytes on"});
  f.integer(
      "alignment_bytes", o.result.alignment_bytes, {"Alignment", "B"},
      "The largest power of two, at most 128, that divides rows of N and of K elements; under the old rule of M, too.",
      {.formula = "of N and K in bytes"});
  f.group("Operands and sums");
  f.real("operand_efficiency", o.operand_efficiency, {"Operand efficiency", "%"},
         "What is left of the rate where arithmetic waits for operands.",
         {.formula = "arithmetic / max(arithmetic, operands)"});
  f.real("reduction_efficiency", o.reduction_efficiency, {"Partial-sum efficiency", "%"},
         "What is left of the rate where partial sums are added.", {.formula = "1 - partial sums / time"});
  f.group("Time");
  f.real("time_s", o.result.time_s, {"Time", "s"}, {.formula = "max(arithmetic, operands) + partial sums"});
  f.real("compute_s", o.result.compute_s, {"Arithmetic", "s"},
         {.formula = "waves x one tile's flops / the rate of one slot"});
  f.real("memory_s", o.result.memory_s, {"Operands", "s"},
         "Each matrix moved once, at the memory's rate or at what the busy SMs can pull, if that is less.",
         {.formula = "(M K + K N + M N) x bytes / bandwidth"});
  f.real("reduction_s", o.result.reduction_s, {"Partial sums", "s"},
         {.formula = "partial sum bytes / bandwidth", .source = stream_k_source});
  f.real("reduction_bytes", o.result.reduction_bytes, {"Partial sums moved", "B"}, "FP32, written once and read once.");
  f.real("ideal_s", o.ideal_s, {"Time at the peak", "s"}, {.formula = "2 M N K / peak"});
  f.real("lost_s", o.lost_s, {"Time lost", "s"}, {.formula = "time - time at the peak"});
  describe_changes(f, o);
  f.group("Saw-tooth");
  f.real("best_share", o.best_share, {"Share at the best N", "%"}, {.formula = "2 M N K / (peak x time), aligned"});
  f.integer("best_n", o.best_n, "Best N in the plot",
            "The corner of the saw-tooth with the highest share, the smallest of equals.");
  f.table("corners", o.corners, "Saw-tooth", "Share of the peak at the corners of the plot.", {.max_items = 8192});
}

void describe(Fields& f, View& v) {
  f.real("time", v.time, "Time cursor", "Share of the matmul's time that has passed: tiles of later waves are pale.",
         {.range = {0, 1}});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"roofline/tiling-waves", "Tiles and waves",
       "One column more makes this matmul much slower: is it tiles, waves or alignment?"},
      compute, arrange, draw);
}

}  // namespace chapters::roofline::tiling_waves
