#include "chapters/described/compute_capability.h"
#include "chapters/kernels/occupancy/lab.h"

namespace chapters::kernels::occupancy {
namespace {

const Choices sources{{"hand", "Set by hand", "Registers, shared memory and barriers are those set below."},
                      {"ptxas", "Compiler output", "They are read from the text below."}};
const Choices widths{{"one", "1 word", "LDS.32: a load for each value."},
                     {"two", "2 words", "LDS.64: a load for two neighbours."},
                     {"four", "4 words", "LDS.128: a load for four neighbours."}};
const Choices operands{{"shared", "Shared memory", "Each step reads a row and a column of values."},
                       {"registers", "Registers", "Nothing is loaded: a chain of multiply-adds a sum."},
                       {"tensor", "Tensor Cores multiply",
                        "The kernel multiplies on Tensor Cores. What fits is computed, what feeds FMA pipes is not."}};
const Choices limits{{"warps", "Warp slots", ""},
                     {"registers", "Registers", ""},
                     {"shared_memory", "Shared memory", ""},
                     {"blocks", "Block slots", ""},
                     {"barriers", "Barriers", ""}};
const Choices rate_limits{{"full", "Nothing: the pipes are full", ""},
                          {"shared_memory", "Shared memory", ""},
                          {"issue_slots", "Issue slots", ""},
                          {"fma_latency", "Latency of the multiply-add", ""},
                          {"load_latency", "Latency of the loads", ""},
                          {"spill", "Spilled registers", ""},
                          {"no_block", "No block fits", ""},
                          {"tensor", "Not computed: Tensor Cores", ""}};
static_assert(models::gpu::occupancy_limit_count == 5 && rate_limit_count == 8 && models::gpu::feed_limit_count == 5 &&
                  operands_count == 3,
              "the choices above stand in the order of the enumerators");

constexpr std::string_view header = "cuda_occupancy.h of CUDA 13.0";
constexpr std::string_view guide = "CUDA C++ programming guide, Compute capabilities";
constexpr std::string_view little = "Little's law";
constexpr std::string_view on_tensor = "The kernel multiplies on Tensor Cores: GEMM tiling computes what feeds them.";
constexpr When fma_pipes{"operands", "shared|registers"};

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The kernel");
  f.choice("source", in.source, sources, "From", "Where the needs of the kernel come from.");
  f.text("ptxas", in.ptxas, "Compiler output",
         "What nvcc --ptxas-options=-v prints, of one kernel or many. The button over the picture pastes it. Empty: an "
         "example of five kernels.",
         {.mode = {"source", "ptxas"}, .max_bytes = 60'000});
  f.integer("ptxas_kernel", in.ptxas_kernel, "Kernel of the text",
            "In the order of the text; a number beyond its last means the last.",
            {.range = {1, 512, Scale::log}, .typical = {1, 16}, .when = {"source", "ptxas"}});
  f.integer("registers_per_thread", in.registers_per_thread, "Registers per thread",
            "Registers come in units of 256 for a warp, 8 for a thread: 33 cost as much as 40.",
            {.range = {1, 255}, .headline = true, .when = {"source", "hand"}});
  f.integer("block_threads", in.block_threads, "Threads per block", "Every 32 are a warp; a part of one counts whole.",
            {.range = {1, 1024}, .headline = true});
  f.integer("static_shared_bytes", in.static_shared_bytes, {"Static shared memory", "B"},
            "What the kernel declares with __shared__, a block.",
            {.range = {0, 49152}, .binary = true, .when = {"source", "hand"}});
  f.integer("dynamic_shared_bytes", in.dynamic_shared_bytes, {"Dynamic shared memory", "B"},
            "What the launch asks for besides, per block.", {.range = {0, 233472}, .binary = true});
  f.toggle("opt_in", in.opt_in, "Allow more than 48 KiB",
           "The program sets cudaFuncAttributeMaxDynamicSharedMemorySize; without it a block has 48 KiB at most.");
  f.integer("barriers", in.barriers, "Barriers per block", "Named barriers, with the one of __syncthreads.",
            {.range = {1, 16}, .when = {"source", "hand"}});
  f.group("The SM");
  describe_capability(f, in.compute_capability, "What the SM has of everything.");
  f.integer("carveout_percent", in.carveout_percent, {"Carve-out", "%"},
            "Preferred share of shared memory, of which L1 gets the rest; -1 leaves it to the driver, which takes the "
            "most. It is raised until a block fits.",
            {.range = {-1, 100}});
  f.group("The thread's tile");
  f.integer("tile_rows", in.tile_rows, "Sums down", "Rows of sums that a thread keeps in registers.",
            {.range = {1, 16}, .headline = true, .when = fma_pipes});
  f.integer("tile_columns", in.tile_columns, "Sums across", "Columns of sums that a thread keeps in registers.",
            {.range = {1, 16}, .when = fma_pipes});
  f.choice("operands", in.operands, operands, "Values come from", "Where a step finds what it multiplies.");
  f.choice("load_width", in.load_width, widths, "A load brings",
           "Words of shared memory that one instruction brings to a thread.", {.when = {"operands", "shared"}});
  f.toggle("prefetch", in.prefetch, "Loads a step ahead",
           "The next values are on their way during the multiply-adds. They need registers too.",
           {.when = {"operands", "shared"}});
  f.real("fma_latency_cycles", in.fma_latency_cycles, "Cycles of a multiply-add",
         "Until the same sum can be added to again. Microbenchmarks find 4 from Volta to Blackwell.",
         {.range = {2, 12}, .when = fma_pipes});
  f.real("load_latency_cycles", in.load_latency_cycles, "Cycles of a load",
         "From shared memory, unloaded. Microbenchmarks find 19 to 33; 33 on an H800.",
         {.range = {10, 200}, .when = {"operands", "shared"}});
}

namespace {

void describe_fit(Fields& f, Outputs& o) {
  f.group("What fits");
  f.integer("blocks_per_sm", o.blocks, "Blocks on an SM", "0: the kernel cannot be launched.",
            {.headline = true, .formula = "the least of the five below", .source = header});
  f.integer("warps_per_sm", o.warps, "Warps on an SM", {.formula = "blocks * warps_{block}"});
  f.real("occupancy", o.occupancy, {"Occupancy", "%"}, "Theoretical: blocks that are there, whatever they do.",
         {.headline = true, .formula = "warps / max_{warps}", .source = header});
  f.choice("limiter", o.limiter, limits, "Stopped by", "The wall that is hit first.", {.source = header});
  f.integer("walls", o.walls, "Walls at this number", "Resources that stop the blocks at the same number.");
  f.integer("by_registers", o.by_registers, "Blocks by registers",
            {.formula = "warps_{registers} / warps_{block}", .source = header});
  f.real("by_shared", o.by_shared, "Blocks by shared memory",
         {.absent = "A block takes none.", .formula = "capacity / allocated", .source = header});
  f.integer("by_warps", o.by_warps, "Blocks by warp slots", {.formula = "max_{warps} / warps_{block}"});
  f.integer("by_blocks", o.by_blocks, "Block slots", {.source = guide});
  f.real("by_barriers", o.by_barriers, "Blocks by barriers",
         {.absent = "This SM has no limit on them.", .formula = "barriers_{SM} / barriers_{block}", .source = header});
  f.group("What a block takes");
  f.integer("block_warps", o.block_warps, "Warps per block", {.formula = "threads / 32, rounded up"});
  f.integer("max_warps", o.max_warps, "Warp slots of an SM", {.source = guide});
  f.integer("block_registers", o.block_registers, "Registers per block", "As they are allocated.",
            {.formula = "warps_{block} * registers_{warp}", .source = header});
  f.integer("warp_registers", o.warp_registers, "Registers per warp",
            {.formula = "32 * registers, to a multiple of 256", .source = header});
  f.integer("register_warps", o.register_warps, "Warps that registers allow",
            "Each quarter of the SM has 16,384 registers and keeps whole warps.",
            {.formula = "4 * floor(16384 / registers_{warp})", .source = header});
  f.real("registers_taken", o.registers_taken, {"Registers taken", "%"}, {.formula = "blocks * allocated / 65536"});
  f.real("block_shared_bytes", o.block_shared_bytes, {"Shared memory per block", "B"},
         "As it is allocated, with what the system takes of each block.",
         {.binary = true, .formula = "static + dynamic + reserved, to a multiple of the unit", .source = header});
  f.real("shared_capacity_bytes", o.shared_capacity_bytes, {"Shared memory of the SM", "B"}, "At this carve-out.",
         {.binary = true, .source = guide});
  f.real("block_shared_max_bytes", o.block_shared_max_bytes, {"The most of a block", "B"},
         "With what the system takes.", {.binary = true, .source = guide});
  f.real("shared_taken", o.shared_taken, {"Shared memory taken", "%"},
         {.absent = "At this carve-out L1 has all of it.", .formula = "blocks * allocated / capacity"});
}

void describe_margins(Fields& f, Outputs& o) {
  f.group("One less");
  f.integer("register_less_blocks", o.register_less_blocks, "Blocks, one register less", {.source = header});
  f.integer("register_more_blocks", o.register_more_blocks, "Blocks, one register more", {.source = header});
  f.real("registers_free_to", o.registers_free_to, "Registers free up to", "With them as many blocks fit as now.",
         {.absent = "No block fits."});
  f.real("registers_for_more", o.registers_for_more, "Registers for one more",
         "The most a thread may have where more blocks shall fit.", {.absent = "Fewer registers bring no block."});
  f.integer("byte_less_blocks", o.byte_less_blocks, "Blocks, one byte less", {.source = header});
  f.real("shared_for_more_bytes", o.shared_for_more_bytes, {"Shared memory for one more", "B"},
         "The most a block may ask for where more shall fit.",
         {.binary = true, .absent = "Less shared memory brings no block."});
  f.real("warp_less_occupancy", o.warp_less_occupancy, {"Occupancy, one warp less", "%"}, "In each block.",
         {.source = header});
}

void describe_rate(Fields& f, Outputs& o) {
  constexpr std::string_view spilled = "The kernel spills, no block fits, or Tensor Cores multiply.";
  f.group("Feeding the pipes");
  f.real("rate", o.rate, {"Multiply-adds", "%"}, "The least of the four below: the most that the kernel can reach.",
         {.headline = true, .absent = spilled, .formula = "min(feed, issue, latencies)"});
  f.choice("rate_limit", o.rate_limit, rate_limits, "Held back by");
  f.real("feed", o.feed, {"Fed by shared memory", "%"}, "Share of the FMA pipes for which it has values.",
         {.headline = true, .absent = on_tensor, .formula = "words * (FMA / value) / lanes", .source = guide});
  f.real("issue", o.issue, {"Issue slots", "%"}, "One instruction per clock and scheduler, loads among them.",
         {.absent = on_tensor,
          .formula = "FMA * clocks / (FMA + loads)",
          .source = "four schedulers per SM, one instruction per clock each"});
  f.real("fma_latency", o.fma_latency, {"Latency of the multiply-add", "%"},
         "How far warps and independent sums cover it.",
         {.absent = on_tensor, .formula = "warps * sums / (latency * rate)", .source = little});
  f.real("load_latency", o.load_latency, {"Latency of the loads", "%"}, "How far other warps compute meanwhile.",
         {.absent = on_tensor, .formula = "warps * computing / (latency + loads + computing)", .source = little});
  f.real("adds_per_value", o.adds_per_value, "Multiply-adds per value", "For each value read from shared memory.",
         {.absent = "Nothing is read: values stay in registers, or Tensor Cores multiply.",
          .formula = "rows * columns / (rows + columns)"});
  f.real("loads", o.loads, "Loads a step", "Instructions of a thread.",
         {.absent = on_tensor, .formula = "rows / words + columns / words, each rounded up"});
  f.real("in_flight_needed", o.in_flight_needed, "In flight, needed", "Multiply-adds of warps, a scheduler.",
         {.absent = on_tensor, .formula = "latency * rate", .source = little});
  f.real("in_flight", o.in_flight, "In flight, there", "Independent multiply-adds of warps, a scheduler.",
         {.absent = on_tensor, .formula = "warps * sums / 4"});
  f.real("warps_needed", o.warps_needed, "Warps that cover the latencies",
         "On an SM, at this tile; more than an SM holds where it cannot be done.",
         {.absent = on_tensor, .source = little});
  f.real("tile_registers", o.tile_registers, "Registers of the tile alone",
         "Its sums and the values of a step; addresses come on top.",
         {.absent = on_tensor, .formula = "rows * columns + rows + columns"});
  f.real("small_feed", o.small_feed, {"Fed with one sum per thread", "%"}, {.formula = "words * 0.5 / lanes"});
  f.real("small_occupancy", o.small_occupancy, {"Occupancy with one sum", "%"},
         "The same kernel with one sum per thread, as compiled by CUDA 13.0, in blocks of 256 threads.");
  f.text("tiles_compiled_for", o.tiles_compiled_for, "Tiles compiled for",
         "For what the tiles of the crossing were compiled: CUDA 13.0 compiles nothing older than sm_75.");
  f.group("What the compiler printed");
  f.text("kernel_name", o.kernel_name, "Kernel", "Empty where the values are set by hand, or it has no name.");
  f.text("compiled_for", o.compiled_for, "Compiled for");
  f.integer("registers", o.registers, "Registers in use here", "Those of the text, or as set.");
  f.integer("static_bytes", o.static_bytes, {"Static shared memory in use here", "B"}, "That of the text, or as set.",
            {.binary = true});
  f.integer("barriers_used", o.barriers_used, "Barriers in use here", "Those of the text, or as set.");
  f.integer("spill_bytes", o.spill_bytes, {"Spilled", "B"}, "Stores and loads of a thread to local memory.");
  f.integer("kernels_read", o.kernels_read, "Kernels in the text", "0 where the values are set by hand.");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_fit(f, o);
  describe_margins(f, o);
  describe_rate(f, o);
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"kernels/occupancy",
       "Occupancy",
       "What limits how many warps live on an SM, and do more of them help?",
       {.published_keys = "compute_capability tile_rows tile_columns"}},
      compute, arrange, draw);
}

}  // namespace chapters::kernels::occupancy
