#include "chapters/kernels/gemm_tiling/lab.h"

#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::kernels::gemm_tiling {
namespace {

using models::gpu::GemmFit, models::gpu::GemmGate, models::gpu::GemmUnit;

const Choices units = choices_in_order<GemmUnit::wgmma>(
    {{"fma", "FMA pipes, thread tiles", "Each thread holds a tile of sums; no Tensor Cores."},
     {"mma", "Tensor Cores, from registers", "mma.sync: a warp loads fragments into registers first."},
     {"wgmma", "Tensor Cores, from shared memory",
      "wgmma of Hopper and tcgen05 of Blackwell read A and B from shared memory."}});
const Choices schedules = choices_in_order<models::Schedule::stream_k>(
    {{"data_parallel", "Data parallel", "A block makes one tile from first to last."},
     {"split_k", "Split-K", "Several blocks share a tile's depth; their partial sums are added."},
     {"stream_k", "Stream-K", "Every place gets the same number of steps, wherever tiles begin and end."}});
const Choices gates = choices_in_order<Gate::none>({{"hbm", "DRAM", ""},
                                                    {"l2", "L2", ""},
                                                    {"shared", "shared memory", ""},
                                                    {"registers", "registers", ""},
                                                    {"tensor", "Tensor Cores", ""},
                                                    {"fma", "FMA pipes", ""},
                                                    {"none", "none: it cannot run", ""}});
const Choices fit_choices = choices_in_order<GemmFit::tensor_memory>({{"yes", "it fits", ""},
                                                                      {"shared_memory", "too much shared memory", ""},
                                                                      {"registers", "too many registers", ""},
                                                                      {"threads", "too many threads", ""},
                                                                      {"tensor_memory", "too much tensor memory", ""}});

constexpr std::string_view formulas = "tiles read once by each block that needs them";
constexpr std::string_view no_fit = "The block does not fit an SM: it takes no time.";
constexpr std::string_view no_other_fit = "Such a block does not fit an SM.";
constexpr double largest = 65536;
/// What a kernel's name says is asked for only while there is none.
constexpr When by_hand{"kernel", ""};

void describe_tiles(Fields& f, Inputs& in) {
  f.group("The tiles");
  f.integer("block_m", in.block_m, "Block rows", "Rows of C that one thread block makes. Drag the block's corner, too.",
            {.range = {8, 512, Scale::step, 8}, .typical = {32, 256}, .headline = true, .when = by_hand});
  f.integer("block_n", in.block_n, "Block columns", "Columns of C that one thread block makes.",
            {.range = {8, 512, Scale::step, 8}, .typical = {32, 256}, .headline = true, .when = by_hand});
  f.integer("block_k", in.block_k, "Block depth", "Columns of A and rows of B that a stage holds.",
            {.range = {8, 256, Scale::step, 8}, .typical = {8, 128}, .when = by_hand});
  f.integer("warp_m", in.warp_m, "Warp rows",
            "Rows that one warp makes, at most the block's; for Tensor Cores fed from shared memory those of four "
            "warps.",
            {.range = {1, 256, Scale::step}, .typical = {8, 128}, .when = by_hand});
  f.integer("warp_n", in.warp_n, "Warp columns", "Columns that one warp makes, at most the block's.",
            {.range = {1, 256, Scale::step}, .typical = {8, 128}, .when = by_hand});
  f.integer("stages", in.stages, "Stages", "Buffers of A and B in shared memory: one is read while the others fill.",
            {.range = {1, 12, Scale::step}, .typical = {1, 6}, .when = by_hand});
}

void describe_product(Fields& f, Inputs& in) {
  f.group("The matmul");
  const auto size = [&](std::string_view key, std::int64_t& slot, std::string_view label, std::string_view help) {
    f.integer(key, slot, label, help, {.range = {1, largest, Scale::log}, .typical = {64, 16384}});
  };
  size("m", in.m, "Rows M", "Rows of A and C: tokens in a batch.");
  size("n", in.n, "Columns N", "Columns of B and C: output features.");
  size("k", in.k, "Depth K", "Columns of A, rows of B: input features.");
  f.real(
      "element_bytes", in.element_bytes, {"Element of A, B", "B"},
      "4 is FP32, TF32 on Tensor Cores; 2 is BF16 or FP16; 1 is FP8 or INT8. What a chip cannot multiply is widened. "
      "Waits while a kernel name is set.",
      {.range = {0.125, 8, Scale::log}, .typical = {0.5, 4}, .when = by_hand});
  f.real("output_bytes", in.output_bytes, {"Element of C", "B"}, "0: as A and B.",
         {.range = {0, 8, Scale::step, 1}, .when = by_hand});
  shared::chip(f, "chip", in.chip, {.help = "Its rates at every gate and what an SM holds: an NVIDIA GPU."});
  f.text("kernel", in.kernel, "Kernel name",
         "The name of a CUTLASS kernel, as a profiler prints it: cutlass_tensorop_h16816gemm_128x256_32x3_tn_align8. "
         "Its tiles then count, and those set here are hidden. Empty: they are set here.");
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  describe_tiles(f, in);
  describe_product(f, in);
  f.group("The instruction");
  f.choice("unit", in.unit, units, "Who multiplies", "Which unit multiplies, and where it reads from.",
           {.when = by_hand});
  f.integer("thread_m", in.thread_m, "Thread rows", "Rows of sums that a thread loads for at once.",
            {.range = {1, 32, Scale::step}, .typical = {1, 16}, .when = {"unit", "fma"}});
  f.integer("thread_n", in.thread_n, "Thread columns", "Columns of sums that a thread loads for at once.",
            {.range = {1, 32, Scale::step}, .typical = {1, 16}, .when = {"unit", "fma"}});
  f.integer("cluster_m", in.cluster_m, "Cluster rows",
            "Blocks of a column that share their tile of B: it is read from L2 once for all.",
            {.range = {1, 8, Scale::step}, .when = {"unit", "wgmma"}});
  f.integer("cluster_n", in.cluster_n, "Cluster columns",
            "Blocks of a row that share their tile of A: it is read from L2 once for all.",
            {.range = {1, 8, Scale::step}, .when = {"unit", "wgmma"}});
  f.integer("other_registers", in.other_registers, "Other registers",
            "Registers of a thread besides its sums: fragments, addresses, counters. An assumption; the compiler says.",
            {.range = {16, 192, Scale::step}});
  f.group("Schedule");
  f.choice("schedule", in.schedule, schedules, "Schedule", "How the work is dealt to the SMs.");
  f.integer("splits", in.splits, "Splits of K", "Blocks that share one tile.",
            {.range = {1, 64, Scale::log}, .when = {"schedule", "split_k"}});
  f.group("Epilogue");
  f.toggle("reads_c", in.reads_c, "Adds the old C", "Beta is not 0: C is read and added before the result is written.");
  f.toggle("bias", in.bias, "Bias", "A vector of N is added to every row.");
  f.toggle("activation", in.activation, "Activation", "A function of each sum, such as GELU.");
  f.toggle("fused", in.fused, "In the same kernel",
           "Off: what is added is a kernel of its own, which reads and writes the whole result.");
  f.group("Next to it, and rates");
  f.integer("other_block", in.other_block, "Other block",
            "Edge of a square block that is drawn as a ghost in the race.",
            {.range = {16, 512, Scale::step, 16}, .typical = {16, 256}});
  f.real("l2_rate", in.l2_rate, {"Rate of L2", "B/s"},
         "0: what was measured on the chip, or 35 B a clock for each SM (64 on a B200): an assumption.",
         {.range = {0, 1e14}, .typical = {0, 3e13}});
  f.real(
      "mma_share", in.mma_share, {"mma.sync, of the peak", "%"},
      "What mma.sync can reach of the chip's peak. 0: 65 on an H100, as measured, since the peak is wgmma's; 32.5 on "
      "a B200, an assumption; 100 where mma.sync has the peak.",
      {.range = {0, 100}});
}

void describe(Fields& f, GateRow& r) {
  constexpr std::string_view none = "Nothing is counted in bytes here.";
  f.text("name", r.name, "Gate");
  f.text("tile", r.tile, "Decided by");
  f.real("bytes", r.bytes, {"Bytes", "B"}, {.absent = none});
  f.real("intensity", r.intensity, {"Intensity", "FLOP/B"}, {.absent = none});
  f.real("rate", r.rate, {"Rate", "B/s"}, {.absent = none});
  f.real("time_s", r.time_s, {"Time", "s"}, {.absent = no_fit});
  f.real("other_s", r.other_s, {"Time, other block", "s"}, {.absent = no_other_fit});
}

namespace {

void describe_bytes(Fields& f, Outputs& o) {
  models::gpu::GemmTraffic& t = o.study.traffic;
  f.group("What passes each gate");
  f.real("flops", t.flops, {"Operations", "FLOP"}, {.formula = "2 M N K"});
  f.real("hbm_bytes", t.hbm_bytes, {"DRAM traffic", "B"}, "Each matrix once, and what a fused epilogue reads.",
         {.formula = "(M K + K N) b + M N c"});
  f.real("l2_bytes", t.l2_bytes, {"Into shared memory", "B"}, "Tiles over an edge count whole.",
         {.headline = true, .formula = "blocks x (block rows + block columns) x K x b", .source = formulas});
  f.real("l2_read_bytes", t.l2_read_bytes, {"Read from L2", "B"},
         "Less than what arrives where a cluster shares tiles.",
         {.formula = "blocks x (rows / cluster columns + columns / cluster rows) x K x b"});
  f.real("shared_read_bytes", t.shared_read_bytes, {"Read from shared memory", "B"},
         "Different bytes that each warp reads; what its lanes read together counts once.",
         {.formula = "M N K b (1 / warp rows + 1 / warp columns)"});
  f.real("register_bytes", o.register_bytes, {"Landing in registers", "B"},
         {.absent = "Tensor Cores take fragments, and no thread has a tile of its own.",
          .formula = "M N K b (1 / thread rows + 1 / thread columns)"});
  f.real("hbm_intensity", o.study.gates[0].intensity, {"Intensity at DRAM", "FLOP/B"},
         {.formula = "flops / DRAM traffic"});
  f.real("l2_intensity", o.l2_intensity, {"Intensity of the block", "FLOP/B"},
         {.formula = "flops / bytes into shared memory; 2 rows x columns / ((rows + columns) b) of a block"});
  f.real("shared_intensity", o.study.gates[2].intensity, {"Intensity at shared memory", "FLOP/B"},
         {.formula = "2 rows x columns / ((rows + columns) b) of a warp"});
  f.real("register_intensity", o.register_intensity, {"Intensity at registers", "FLOP/B"},
         {.absent = "Tensor Cores take fragments, and no thread has a tile of its own.",
          .formula = "2 rows x columns / ((rows + columns) b) of a thread"});
  f.real("hbm_wave_bytes", o.study.hbm_wave_bytes, {"DRAM traffic, L2 forgets", "B"},
         "If L2 kept nothing from wave to wave: between this and the least lies what is really read.",
         {.formula = "over waves: (rows of A + columns of B that its blocks touch) x K x b"});
  f.real("pass_bytes", t.pass_bytes, {"Epilogue's own pass", "B"},
         "A kernel of its own reads and writes the result: 0 where it is fused.");
  f.real("reduction_bytes", o.study.tiling.reduction_bytes, {"Partial sums moved", "B"},
         "FP32, written and read once.");
}

void describe_times(Fields& f, Outputs& o) {
  f.group("How long");
  f.real("hbm_s", o.study.gates[0].time_s, {"DRAM", "s"}, {.absent = no_fit, .formula = "DRAM traffic / bandwidth"});
  f.real("l2_s", o.study.gates[1].time_s, {"L2", "s"}, {.absent = no_fit, .formula = "read from L2 / its rate"});
  f.real("shared_s", o.study.gates[2].time_s, {"Shared memory", "s"},
         {.absent = no_fit, .formula = "read from shared memory / its rate / useful share of the tiles"});
  f.real("registers_s", o.registers_s, {"Registers", "s"},
         "At 4 bytes per lane and clock; wide loads that lanes share can beat it.",
         {.absent = "Tensor Cores take fragments, and no thread has a tile of its own; or the block does not fit.",
          .formula = "landing in registers / 128 B a clock and SM / useful share"});
  f.real("arithmetic_s", o.study.gates[4].time_s, {"Arithmetic", "s"},
         {.absent = no_fit, .formula = "flops / peak / instruction's share / useful share"});
  f.real("gate_s", o.study.gate_s, {"Slowest gate's time", "s"}, "All gates work at once: the longest is the time.",
         {.absent = no_fit, .formula = "max of the gates"});
  f.real("wave_efficiency", o.wave_efficiency, {"Wave efficiency", "%"}, "Busy part of the SMs over all waves.",
         {.formula = "tiles x steps / (SMs x steps of the busiest SM)"});
  f.real("whole_tiles", o.whole_tiles, {"Useful share of the tiles", "%"},
         "The rest lies over an edge of the matrix, of a block or of an instruction.");
  f.real("pass_s", o.study.pass_s, {"Epilogue's own pass", "s"},
         {.absent = no_fit, .formula = "its bytes / bandwidth"});
  f.real("bound_flops_per_s", o.bound_flops_per_s, {"Rate, at most", "FLOP/s"},
         {.absent = no_fit, .formula = "2 M N K / time"});
  f.real("peak_share", o.peak_share, {"Share of the peak", "%"}, {.absent = no_fit, .formula = "rate / peak"});
  f.group("Rates");
  f.real("hbm_rate", o.rates.hbm_bytes_per_s, {"Rate of DRAM", "B/s"}, {.source = "the chip's data sheet"});
  f.real("l2_bytes_per_s", o.rates.l2_bytes_per_s, {"Rate of L2, used", "B/s"},
         {.source = "gpu-benches, gpu-l2-cache"});
  f.real("shared_bytes_per_s", o.rates.shared_bytes_per_s, {"Rate of shared memory", "B/s"},
         {.source = "32 banks of 4 B; gpu-benches, gpu-cache"});
  f.real("peak_flops_per_s", o.rates.peak_flops_per_s, {"Peak", "FLOP/s"}, {.source = "the chip's data sheet"});
  f.real("instruction_share", o.instruction_share, {"Instruction, of the peak", "%"},
         "What the instruction can reach. 100 but for mma.sync on chips whose peak is that of wgmma or tcgen05.",
         {.source = "63 to 65 % on H100s; half of that on data-center Blackwell is an assumption"});
  f.text("rates_from", o.rates_from, "Rates are");
}

void describe_budget(Fields& f, Outputs& o) {
  models::gpu::GemmBudget& b = o.study.budget;
  f.group("Budget of a block");
  f.choice("fit", o.study.budget.fit, fit_choices, "Fits an SM");
  f.real("shared_bytes", b.shared_bytes, {"Shared memory", "B"},
         {.binary = true, .formula = "stages x (rows + columns) x depth x b"});
  f.real("shared_limit_bytes", b.shared_limit_bytes, {"It may have", "B"},
         {.binary = true, .source = "CUDA C++ programming guide, compute capabilities"});
  f.real("stage_bytes", b.stage_bytes, {"A stage", "B"}, {.binary = true, .formula = "(rows + columns) x depth x b"});
  f.integer("max_stages", b.max_stages, "Stages that fit", "As far as shared memory goes.");
  f.integer("threads", b.threads, "Threads", "With the warps that only load, where there are such.");
  f.real("accumulators", o.accumulators, "Sums a thread holds", "",
         {.absent = "Sums lie in tensor memory.", .formula = "warp rows x warp columns / threads of the warp"});
  f.integer("registers", b.registers, "Registers per thread", {.formula = "sums + other registers"});
  f.integer("blocks_per_sm", b.occupancy.blocks, "Blocks an SM holds", "0: it cannot run.");
  f.integer("blocks", o.study.tiling.work_units, "Blocks",
            {.formula = "ceil(M / block rows) x ceil(N / block columns)"});
  f.integer("waves", o.study.tiling.waves, "Waves", "Tiles of the busiest SM: blocks that share one share its rate.",
            {.formula = "ceil(blocks / SMs)"});
  f.integer("sms", o.rates.sms, "SMs", "What the chip has.");
  f.text("named", o.named, "The name says", "Warp tiles are those of CUTLASS's library for such a block.");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  f.group("The slowest gate");
  f.real("time_s", o.study.time_s, {"Time, at least", "s"}, "With waves, partial sums and the epilogue's own pass.",
         {.headline = true,
          .absent = no_fit,
          .formula = "max(DRAM, slowest gate of the SMs / wave efficiency) + partial sums + epilogue's pass"});
  f.choice("slowest_gate", o.slowest, gates, "Slowest gate", "All gates work at once; this one is last.",
           {.headline = true});
  f.real("hbm_busy", o.hbm_busy, {"DRAM busy", "%"}, "Part of the time above, as a profiler prints it.",
         {.headline = true, .absent = no_fit, .formula = "(DRAM + epilogue's own pass) / time"});
  describe_bytes(f, o);
  describe_times(f, o);
  describe_budget(f, o);
  f.group("The other block");
  f.real("other_gate_s", o.other.gate_s, {"Its slowest gate's time", "s"}, "With square blocks, all else as set.",
         {.absent = no_other_fit});
  f.choice("other_slowest", o.other_slowest, gates, "Its slowest gate");
  f.real("other_l2_bytes", o.other.traffic.l2_bytes, {"Its bytes into shared memory", "B"},
         "With square blocks, all else as set.");
  f.real("other_hbm_busy", o.other_hbm_busy, {"DRAM busy with it", "%"}, "Part of the time that it takes.",
         {.absent = no_other_fit});
  f.table("gates", o.gates, "Gates", "Each gate with the block set and with the other one.");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"kernels/gemm-tiling",
                                                   "GEMM tiling",
                                                   "Which step takes longest, and which tile shortens it?",
                                                   {.published_keys = "chip unit"}},
                                                  compute, arrange, draw);
}

}  // namespace chapters::kernels::gemm_tiling
