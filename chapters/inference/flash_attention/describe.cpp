#include "chapters/inference/flash_attention/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::inference::flash_attention {
namespace {

const Choices schedules{
    {"fa1", "FA-1", "A block of threads per head; queries and results come and go with each tile of keys."},
    {"fa2", "FA-2", "A block per tile of queries, which stays while keys pass; four warps split its rows."},
    {"fa3", "FA-3", "The tiles of FA-2; two groups of warps take turns at the tensor cores."}};
static_assert(models::inference::flash_schedule_count == 3);
const Choices passes{{"forward", "Forward", "Two matmuls per tile: scores and result."},
                     {"backward", "Backward", "Five matmuls per tile; the square, which kept its scores, needs four."},
                     {"both", "Both", "A training step's forward and backward pass."}};
static_assert(models::inference::flash_pass_count == 3);
const Choices arithmetics{{"fp64", "FP64", "Tiles and the square differ in the last bits alone."},
                          {"fp32", "FP32", "Every operation in single precision."},
                          {"bf16", "BF16", "As tensor cores do: operands in BF16, sums in FP32."}};
static_assert(models::inference::flash_arithmetic_count == 3);
constexpr std::string_view dao = "Dao et al. 2022, algorithms 1 and 4; Dao 2023, algorithms 1 and 2";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The tile");
  f.integer("block_rows", in.block_rows, "Rows", "Queries of a tile.",
            {.range = {16, 256, Scale::step, 16}, .headline = true});
  f.integer("block_columns", in.block_columns, "Columns", "Keys of a tile.",
            {.range = {16, 256, Scale::step, 16}, .headline = true});
  f.integer("stages", in.stages, "Stages",
            "Tiles that pass and lie in shared memory at once: one is computed with, others arrive.",
            {.range = {1, 4, Scale::step, 1}});
  f.choice("schedule", in.schedule, schedules, "Schedule", "Who walks over what, and how warps share a tile.",
           {.headline = true});
  f.choice("pass", in.pass, passes, "Pass", "Which pass of one layer's attention is counted.");
  f.toggle("causal", in.causal, "Causal", "A query sees no later key: tiles above the diagonal are skipped.");
  f.group("The shape");
  shared::sequence(f, "sequence", in.sequence, {.help = "Queries and keys of each sequence."});
  shared::concurrent_sequences(f, "batch", in.batch, {.help = "Sequences at once."});
  f.integer("heads", in.heads, "Heads", "Query heads of the layer, each with keys and values of its own.",
            {.range = {1, 256, Scale::log}});
  f.integer("head_dim", in.head_dim, "Head size", "Numbers of a query, a key or a value in one head.",
            {.range = {16, 256, Scale::step, 8}});
  f.group("The chip");
  shared::chip(f, "chip", in.chip, {.help = "Its shared memory and registers bound the tile."});
  f.group("The numbers computed");
  f.choice("arithmetic", in.arithmetic, arithmetics, "Arithmetic", "In which the small head is computed.");
  f.integer("seed", in.seed, "Seed", "What the small head's numbers are drawn from.", {.range = {1, 1000}});
}

void describe(Fields& f, ScheduleRow& r) {
  f.text("schedule", r.schedule, "Schedule");
  f.real("hbm_bytes", r.hbm_bytes, {"Main memory", "B"}, "Read and written.");
  f.real("l2_bytes", r.l2_bytes, {"Through L2", "B"}, "Read and written by blocks of threads.");
  f.real("rereads", r.rereads, {"Loaded", "×"}, "How often what passes comes into shared memory.");
  f.real("fetches", r.fetches, {"From memory", "×"}, "How often it comes from main memory.");
  f.real("least_s", r.least_s, {"At best", "s"}, "The longest of its limits.");
  f.real("exchange_bytes", r.exchange_bytes, {"Exchanged", "B"},
         "What warps hand each other through shared memory, per tile.");
  f.real("tensor_busy", r.tensor_busy, {"Tensor cores", "%"}, "Busy share, forward.",
         {.absent = "Nobody states how fast the chip makes exponentials."});
}

namespace {

constexpr std::string_view no_rate = "Nobody states how fast the chip makes exponentials.";

void describe_work(Fields& f, Outputs& o) {
  f.group("Bytes");
  f.real("tiled_bytes", o.tiles.hbm_bytes, {"Main memory, tiles", "B"}, "Read and written in one layer and pass.",
         {.headline = true,
          .against = {"the square", "square_bytes"},
          .formula = "Q + K V fetches + O + 4 B per row",
          .source = dao});
  f.real("square_bytes", o.square.hbm_bytes, {"Main memory, square", "B"},
         "S and P are written once and read once each, forward; P is kept for the backward pass.",
         {.formula = "4 S^2 heads 2 B + Q + K + V + O, forward"});
  f.real("bytes_ratio", o.bytes_ratio, {"Fewer bytes", "×"}, {.formula = "square_bytes / tiled_bytes"});
  f.real("l2_bytes", o.tiles.l2_bytes, {"Through L2, tiles", "B"},
         "What blocks of threads read and write, from main memory or not.");
  f.real("rereads", o.walk.rereads, {"Loaded", "×"},
         "How often keys and values come into shared memory; backward and in FA-1, queries.",
         {.formula = "S / rows, without a mask"});
  f.real("fetches", o.walk.fetches, {"From main memory", "×"}, "How often the average head's come from main memory.",
         {.formula = "1 + (waves that touch a head - 1) (1 - part that L2 holds)"});
  f.real("kept_bytes", o.walk.kept_bytes, {"L2 must hold", "B"}, "What the heads of a wave need.", {.binary = true});
  f.real("kept_share", o.kept_share, {"L2 holds", "%"}, "The part of that which comes from main memory once.",
         {.formula = "L2 / L2 must hold"});
  f.real("square_state_bytes", o.square.state_bytes, {"Kept by the square", "B"},
         "Between the passes, beyond Q, K, V and O: the probabilities.", {.formula = "S^2 heads 2 B"});
  f.real("tiled_state_bytes", o.tiles.state_bytes, {"Kept by tiles", "B"},
         "Between the passes, beyond Q, K, V and O: a log-sum-exp per row.", {.formula = "S heads 4 B", .source = dao});
  f.real("scores_intensity", o.scores_intensity, {"Intensity of the scores", "FLOP/B"},
         "Q times K alone, with its scores written.", {.formula = "2 S^2 d / (2 S d + S^2) 2 B"});
  f.real("ridge", o.ridge, {"Ridge of the chip", "FLOP/B"}, {.formula = "peak / bandwidth"});
  f.group("Arithmetic");
  f.real("tiled_flops", o.tiled_flops, {"Arithmetic, tiles", "FLOP"}, "Matmuls, softmax and rescaling.",
         {.headline = true,
          .against = {"the square", "square_flops"},
          .formula = "matmuls + 5 a score + (d + 4) a row and tile"});
  f.real("square_flops", o.square_flops, {"Arithmetic, square", "FLOP"}, "All of it, masked or not.",
         {.formula = "4 S^2 d heads + 6 a score, forward"});
  f.real("flops_more", o.flops_more, {"More arithmetic", "%"}, {.formula = "tiled_flops / square_flops - 1"});
  f.real("tiled_matmul_flops", o.tiles.matmul_flops, {"Matmuls, tiles", "FLOP"},
         "Forward two per tile, backward five.");
  f.real("square_matmul_flops", o.square.matmul_flops, {"Matmuls, square", "FLOP"}, "Forward two, backward four.");
  f.real("tiled_other_flops", o.tiles.other_flops, {"Other, tiles", "FLOP"}, "Softmax, its gradient, rescaling.");
  f.real("square_other_flops", o.square.other_flops, {"Other, square", "FLOP"}, "Softmax and its gradient.");
  f.real("exponentials", o.tiles.exponentials, "Exponentials", "One a score, and one a row and tile.");
}

void describe_times(Fields& f, Outputs& o) {
  f.group("Time at best");
  f.real("tiled_time_s", o.tiled_time_s, {"At best, tiles", "s"}, "Everything overlaps: the longest limit alone.",
         {.headline = true,
          .against = {"the square", "square_time_s"},
          .formula = "max(matmuls, exponentials, memory, L2)"});
  f.real("square_time_s", o.square_time_s, {"At best, square", "s"}, "One kernel after the other, each at its limit.",
         {.formula = "sum over kernels of max(matmuls, memory)"});
  f.real("speedup", o.speedup, {"Sooner", "×"}, {.formula = "square_time_s / tiled_time_s"});
  f.text("limit", o.limit, "Limit of the tiles", "Which takes longest.");
  f.real("matmul_s", o.times.matmul_s, {"Matmuls alone", "s"}, {.formula = "FLOP / peak in 16 bits"});
  f.real("exponential_s", o.times.exponential_s, {"Exponentials alone", "s"},
         {.absent = no_rate,
          .formula = "exponentials / (16 a clock and multiprocessor)",
          .source = "CUDA C++ programming guide, arithmetic throughput"});
  f.real("memory_s", o.times.hbm_s, {"Main memory alone", "s"}, {.formula = "tiled_bytes / bandwidth"});
  f.real("l2_s", o.times.l2_s, {"L2 alone", "s"},
         {.absent = "Nobody measured the chip's L2.", .formula = "l2_bytes / measured rate of L2"});
  f.real("in_turn_s", o.in_turn_s, {"In turn, tiles", "s"}, "Matmuls and exponentials wait for each other.",
         {.absent = no_rate, .formula = "max(matmuls + exponentials, memory, L2)"});
  f.real("exponential_share", o.exponential_share, {"Exponentials over matmuls", "%"},
         {.absent = no_rate, .source = "Shah et al. 2024: half, with heads of 128 on an H100"});
  f.real("rate", o.rate, {"Rate at best", "FLOP/s"}, "As papers count: half under a mask, backward 2.5 times forward.",
         {.formula = "4 S^2 d heads / tiled_time_s, forward"});
  f.real("measured_rate", o.measured_rate, {"Fastest measured", "FLOP/s"},
         "What the best published run on this chip reached with this pass and mask, whatever its shape.",
         {.absent = "No run of this chip, pass and mask stands under Measured.",
          .formula = "FLOPs as papers count them / time"});
  f.text("measured_run", o.measured_run, "Which run", "Name of the fastest one; empty where there is none.");
  f.real("l2_rate", o.l2_rate, {"L2 must deliver", "B/s"}, {.formula = "l2_bytes / tiled_time_s"});
  f.group("On the chip");
  f.real("shared_bytes", o.shared_bytes, {"Shared memory of a block", "B"}, "What stays, and stages of what passes.",
         {.binary = true, .formula = "2 B d (rows + 2 stages columns), forward"});
  f.real("shared_limit_bytes", o.shared_limit_bytes, {"A block may have", "B"}, "Shared memory.",
         {.binary = true, .source = "CUDA C++ programming guide, compute capabilities; the vendor's"});
  f.real("register_bytes", o.register_bytes, {"Registers of its sums", "B"},
         "Scores and result in FP32, forward. Addresses and counters come on top.",
         {.binary = true, .formula = "4 B rows (d + columns), forward"});
  f.real("register_limit_bytes", o.register_limit_bytes, {"A multiprocessor has", "B"}, "Registers.",
         {.binary = true, .source = "the vendor's"});
  f.real("exchange_bytes", o.exchange_bytes, {"Exchanged by warps, a tile", "B"},
         "What the warps of a block hand each other through shared memory; nothing where each has rows of its own.",
         {.source = dao});
  f.integer("blocks", o.blocks, "Blocks at once", "On one multiprocessor, by shared memory and registers.");
  f.real("tensor_busy", o.tensor_busy, {"Tensor cores busy", "%"},
         "Forward, with matmuls, exponentials and what warps exchange as the only work.",
         {.absent = no_rate, .source = "simulated, a unit at a time"});
  f.group("The walk");
  f.real("tiles", o.walk.tiles, "Tiles of a head", "Those that are computed.");
  f.real("skipped_tiles", o.walk.skipped_tiles, "Skipped tiles", "Every key comes later than every query.");
  f.real("pairs", o.walk.pairs, "Scores of a head", "In computed tiles, masked ones among them.");
  f.real("waves", o.walk.waves, "Waves", "Rounds of blocks over the chip.");
}

void describe_check(Fields& f, Outputs& o) {
  f.group("Really computed");
  f.real("max_error", o.max_error, "Error of the tiles",
         "The small head against the same in float64; backward, the worst of three gradients.",
         {.headline = true,
          .against = {"the square", "square_error"},
          .formula = "largest |tiles - float64| / largest |float64|",
          .source = "computed here"});
  f.real("square_error", o.square_error, "Error of the square",
         "The same head as a square; 0 in FP64, where it is what the tiles are held to.");
  f.real("unscaled_error", o.unscaled_error, {"Off without rescaling", "%"},
         "If old parts were not multiplied when the maximum grows.");
  f.real("new_maxima", o.new_maxima, {"Rescaled", "%"}, "Rows and tiles after the first in which the maximum grew.");
  f.group("Schedules");
  f.table("schedules", o.schedules, "The same tile in three schedules");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_work(f, o);
  describe_times(f, o);
  describe_check(f, o);
}

void describe(Fields& f, View& v) {
  f.real("time", v.playback.time_s, "Walked",
         "The share of the walk that is done; 0: at a tile in which many rows are rescaled.", {.range = {0, 1}});
  f.toggle("playing", v.playback.playing, "Playing", "The walk goes on by itself.");
}

LabPtr make() {
  const auto numbers = std::make_shared<Numbers>();
  return make_lab<Inputs, Outputs, Picture, View>(
      {"inference/flash-attention",
       "FlashAttention",
       "How can attention that computes more be done sooner?",
       {.published_keys = "chip pass schedule"}},
      [numbers](const Inputs& in, Progress& progress) { return compute(in, progress, *numbers); }, arrange, draw);
}

}  // namespace chapters::inference::flash_attention
