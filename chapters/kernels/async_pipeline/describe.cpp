#include "chapters/described/compute_capability.h"
#include "chapters/kernels/async_pipeline/lab.h"
#include "chapters/mechanism/choices_in_order.h"

namespace chapters::kernels::async_pipeline {
namespace {

const Choices kinds = choices_in_order<PipelineKind::warp_specialized>(
    {{"sync", "One after the other", "Copy, wait, compute, and only then the next copy: one buffer."},
     {"multistage", "Multistage (cp.async)",
      "Every warp copies ahead and computes, in one instruction stream: one buffer fewer is filled ahead."},
     {"warp_specialized", "Warp-specialized",
      "A producer warp copies, consumer warps compute; barriers say full and empty (TMA and mbarrier)."}});
const Choices compared = choices_in_order<Compare::blocks>(
    {{"stages", "One buffer fewer, one more", "The same loop with one buffer fewer, with yours and with one more."},
     {"kinds", "The three ways", "One after the other, multistage and warp-specialized, with your buffers."},
     {"blocks", "Blocks of the SM", "One block alone, and two of those that share the SM's load and tensor pipes."}});
const Choices sources_of_times = choices_in_order<Times::tile>(
    {{"set", "Set here", "Copy and compute in cycles, as you set them."},
     {"tile", "From the tile",
      "Copy: bytes of a stage over what L2 gives. Compute: 2 m n k over what the tensor cores do."}});
const Choices bounds =
    choices_in_order<PipelineBound::latency>({{"compute", "computing", "The tensor cores never wait."},
                                              {"load", "copying", "The load channel never waits: no buffer helps."},
                                              {"issue", "issuing", "The producer issues copies without a pause."},
                                              {"latency", "latency", "Too few copies are under way."}});
const Choices latencies = [] {
  Choices out{{"set", "Set here", "The latency as you set it."}};
  for (const auto& m : models::gpu::measured_latencies())
    out.push_back({std::string(m.id), std::string(m.label), std::string(m.note)});
  return out;
}();

constexpr std::string_view rules = "the simulation's rules, under Concept";

void describe_times(Fields& f, Inputs& in) {
  f.group("Times of a tile");
  f.choice("latency_of", in.latency_of, latencies, "Latency",
           "From the first byte asked for until it comes, in cycles as measured. A TMA copy takes 105 more.");
  f.integer("latency", in.latency, "Latency, cycles",
            "From a copy's turn on the channel until its first byte is there.",
            {.range = {0, 20000}, .typical = {0, 1500}, .when = {"latency_of", "set"}});
  f.choice("times", in.times, sources_of_times, "Copy and compute", "Where both times of a tile come from.");
  f.integer("load_time", in.load_time, "Copy, cycles", "How long a tile's bytes take on the load channel.",
            {.range = {1, 10000, Scale::log}, .typical = {16, 2000}, .when = {"times", "set"}});
  f.integer("compute_time", in.compute_time, "Compute, cycles", "How long the tensor cores work on a tile.",
            {.range = {1, 10000, Scale::log}, .typical = {16, 2000}, .when = {"times", "set"}});
  f.integer("flops_per_clock", in.flops_per_clock, "FLOPs of an SM per cycle",
            "16-bit formats, dense: 1,024 on compute capability 8.6 and 8.9, 2,048 on 8.0, 4,096 on 9.0, 8,192 on "
            "10.0. FP8 doubles it where there is FP8.",
            {.range = {64, 32768, Scale::log}, .when = {"times", "tile"}});
  f.real("l2_bytes_per_clock", in.l2_bytes_per_clock, {"L2 to one SM per cycle", "B"},
         "gpu-benches measures 35 to 41 on A100 and H100.", {.range = {1, 128, Scale::log}, .when = {"times", "tile"}});
  f.integer("sync_overhead", in.sync_overhead, "Synchronize, cycles",
            "What the consumer pays before each tile: a barrier, a wait that has come true.",
            {.range = {0, 2000}, .typical = {0, 100}});
  f.integer("barrier_release", in.barrier_release, "Release, cycles",
            "From the end of a tile's computation until the producer sees the buffer empty.",
            {.range = {0, 2000}, .typical = {0, 200}, .when = {"kind", "warp_specialized"}});
  f.integer("issue_time", in.issue_time, "Issue, cycles",
            "What issuing a copy costs the stream that does it: the same warps in a multistage loop, the producer "
            "otherwise.",
            {.range = {0, 2000}, .typical = {0, 100}, .when = {"kind", "multistage|warp_specialized"}});
  f.integer("jitter", in.jitter, "Jitter, cycles", "Latencies lie evenly within so many cycles of the mean.",
            {.range = {0, 5000}, .typical = {0, 600}});
  f.integer("seed", in.seed, "Seed", "Another number gives other latencies; it counts where there is jitter.",
            {.range = {1, 9999}});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The ring");
  f.integer("stages", in.stages, "Buffers",
            "Stages of the ring in shared memory. Drag the columns under the rings, too. A loop that does one after "
            "the other has one.",
            {.range = {1, static_cast<double>(most_buffers), Scale::step}, .headline = true});
  f.choice("kind", in.kind, kinds, "Producer", "Who copies, and when.", {.headline = true});
  f.choice("compare", in.compare, compared, "Rings shown", "What stands around yours.", {.headline = true});
  describe_times(f, in);
  f.group("The tile");
  f.integer("block_m", in.block_m, "Rows", "Rows of A that a stage holds.", {.range = {16, 256, Scale::log}});
  f.integer("block_n", in.block_n, "Columns", "Columns of B that a stage holds.", {.range = {16, 256, Scale::log}});
  f.integer("block_k", in.block_k, "Depth", "What a stage holds of the depth of both.",
            {.range = {8, 128, Scale::log}});
  f.integer("element_bytes", in.element_bytes, {"Element", "B"}, "2: BF16 and FP16. 1: FP8. 4: FP32 and TF32.",
            {.range = {1, 4, Scale::step}});
  f.integer("tiles", in.tiles, "Tiles", "Steps of the main loop: the depth of the matmul over the depth of a stage.",
            {.range = {1, 512, Scale::log}, .typical = {1, 64}, .costly = true});
  f.group("The SM");
  describe_capability(f, in.compute_capability, "How much shared memory an SM has, and one block of it.");
  f.integer("block_threads", in.block_threads, "Threads of a block", "Producer and consumer warps together.",
            {.range = {32, 512, Scale::step, 32}});
  f.integer("registers_per_thread", in.registers_per_thread, "Registers of a thread",
            "As the compiler reports them. An SM has 65,536.", {.range = {16, 255}});
  f.integer("epilogue_bytes", in.epilogue_bytes, {"Epilogue's buffer", "B"},
            "Shared memory that the epilogue needs next to the ring; 0 where it takes over the ring's.",
            {.range = {0, 65536}, .binary = true});
  f.group("Epilogue");
  f.integer("epilogue_time", in.epilogue_time, "Epilogue, cycles",
            "After the last tile of an output: scaling, converting, storing. The tensor cores idle.",
            {.range = {0, 100000}, .typical = {0, 8000}});
  f.integer("output_tiles", in.output_tiles, "Output tiles", "How many a persistent block works through.",
            {.range = {1, 64, Scale::log}});
}

void describe(Fields& f, StairRow& r) {
  f.integer("buffers", r.buffers, "Buffers");
  f.real("cycles", r.cycles, "Cycles per tile");
  f.real("sm_cycles", r.sm_cycles, "Cycles of the SM",
         {.absent = "Shown where the rings are blocks of the SM and such a block fits."});
  f.real("shared_bytes", r.shared_bytes, {"A block's ring", "B"}, {.binary = true});
  f.integer("blocks", r.blocks, "Blocks an SM holds");
}

namespace {

void describe_rate(Fields& f, Outputs& o) {
  f.group("The long run");
  f.real("period", o.period, "Cycles per tile, one block",
         "As if it were alone on the SM. With jitter the mean over 240 tiles.",
         {.headline = true,
          .against = {"whole SM", "sm_period"},
          .formula = "max(full rate, (latency + copy + ...) / copies that can be under way)",
          .source = rules});
  f.real("full_period", o.full_period, "At the full rate",
         "Computing with its overheads, copying or issuing: what takes longest. More buffers cannot pass it.",
         {.formula = "max(compute + overheads, copy, issue)"});
  f.real("steady_busy_percent", o.steady_busy_percent, {"Tensor cores, one block", "%"},
         "Busy in the long run, as if the block were alone on the SM.",
         {.headline = true, .against = {"whole SM", "sm_busy_percent"}, .formula = "compute / cycles per tile"});
  f.integer("stages_for_full_rate", o.stages_for_full_rate, "Buffers for the full rate",
            "For one after the other: what a multistage loop of these times needs.",
            {.formula = "round up: latency + copy + ... over the full rate; one more for multistage", .source = rules});
  f.real("stages_exact", o.stages_exact, "... not rounded", {.formula = "(latency + copy + ...) / full rate"});
  f.choice("bound", o.bound, bounds, "Bound by");
  f.real("next_wins", o.next_wins, "One more buffer wins", "Cycles per tile that one buffer more saves one block.",
         {.headline = true});
  f.real("then_wins", o.then_wins, "... and the one after it", "Cycles per tile.");
  f.real("more_period", o.more_period, "Cycles per tile with one more", "In the long run, of one block.");
  f.real("fewer_period", o.fewer_period, "Cycles per tile with one fewer", "In the long run, of one block.",
         {.absent = "There is no ring with fewer buffers."});
  f.real("last_won", o.last_won, {"The last buffer gains", "\xC3\x97"},
         {.absent = "There is no ring with fewer buffers.", .formula = "with one fewer / cycles per tile"});
  f.real("sync_period", o.sync_period, "One after the other", "Cycles per tile with nothing overlapped.",
         {.formula = "latency + copy + synchronize + compute"});
  f.real("speedup", o.speedup, {"Against that", "\xC3\x97"}, {.formula = "one after the other / cycles per tile"});
  f.real("other_period", o.other_period, "The other producer",
         "Cycles per tile with the same buffers: warp-specialized where yours is multistage, multistage otherwise.");
}

void describe_price(Fields& f, Outputs& o) {
  f.group("The price");
  f.real("shared_bytes", o.shared_bytes, {"Shared memory", "B"}, "The ring with its barriers, and the epilogue's.",
         {.headline = true,
          .against = {"of", "capacity_bytes"},
          .binary = true,
          .formula = "buffers * (stage + 16 B) + epilogue"});
  f.real("stage_bytes", o.stage_bytes, {"A stage", "B"},
         {.binary = true, .formula = "(rows + columns) * depth * element"});
  f.real("capacity_bytes", o.capacity_bytes, {"A block gets", "B"}, "With the largest carve-out, opted in.",
         {.binary = true});
  f.integer("buffers", o.buffers, "Buffers in the ring", "1 for one after the other.");
  f.integer("max_buffers", o.max_buffers, "Buffers that fit",
            {.formula = "floor((a block gets - epilogue) / (stage + 16 B))"});
  f.integer("spare_buffers", o.spare_buffers, "Buffers beyond the full rate", "They only wait full.");
  f.real("spare_bytes", o.spare_bytes, {"... and their bytes", "B"},
         {.binary = true, .formula = "buffers beyond * stage"});
  f.integer("tiles_in_flight", o.tiles_in_flight, "Copies under way, at most",
            "Issued and not there yet, in this run.");
  f.real("in_flight_bytes", o.in_flight_bytes, {"... and their bytes", "B"},
         {.binary = true, .formula = "copies * stage"});
  f.integer("blocks", o.blocks, "Blocks an SM holds",
            "By shared memory, registers and threads, at the largest carve-out.",
            {.source = "cuda_occupancy.h, CUDA 13.0"});
  f.real("blocks_leave_at", o.blocks_leave_at, "Fewer blocks from", "The number of buffers from which on fewer fit.",
         {.absent = "Not up to 64 buffers."});
  f.integer("blocks_after", o.blocks_after, "... how many then",
            "Blocks that the SM holds from that number of buffers on.");
  f.real("sm_period", o.sm_period, "Cycles per tile of the SM",
         "All blocks that fit, at most eight, share the load channel and the tensor cores.",
         {.source = "simulated to the cycle: first come, first served"});
  f.real("sm_busy_percent", o.sm_busy_percent, {"Tensor cores, the SM", "%"}, "Busy with all blocks that fit.",
         {.formula = "compute / cycles per tile of the SM"});
  f.real("pipe_period", o.pipe_period, "... at best", "No number of blocks passes the SM's pipes.",
         {.formula = "max(compute, copy)"});
  f.real("sharing_gain", o.sharing_gain, {"... against one block", "\xC3\x97"},
         {.formula = "cycles per tile of one block / of the SM"});
  f.real("sm_fewer_period", o.sm_fewer_period, "... with one buffer fewer", "With the blocks that fit then.",
         {.absent = "There is no ring with fewer buffers."});
  f.real("sm_last_won", o.sm_last_won, {"The last buffer gains the SM", "\xC3\x97"},
         "Below 1 where it pushes a block off the SM that was needed.",
         {.absent = "There is no ring with fewer buffers.",
          .formula = "with one buffer fewer / cycles per tile of the SM"});
  f.integer("blocks_before", o.blocks_before, "Blocks with one buffer fewer", "0: there is no such ring.");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_rate(f, o);
  describe_price(f, o);
  f.group("This run");
  f.integer("total", o.total, "Cycles in all", "Until the last tile is computed.", {.source = rules});
  f.integer("stall_cycles", o.stall_cycles, "Cycles without computing", {.formula = "all - tiles * compute"});
  f.integer("first_compute_start", o.first_compute_start, "First tile starts", "The cycle in which computing begins.");
  f.real("busy_percent", o.busy_percent, {"Tensor cores, this run", "%"},
         "Busy with one block over the whole run, filling included.", {.formula = "tiles * compute / all"});
  f.integer("latency_used", o.latency_used, "Latency", "Cycles, as set or measured.");
  f.integer("load_cycles", o.load_cycles, "Copy of a tile", "Cycles.", {.formula = "as set, or stage bytes / L2 rate"});
  f.integer("compute_cycles", o.compute_cycles, "Computing a tile", "Cycles.",
            {.formula = "as set, or 2 m n k / FLOPs per cycle"});
  f.group("Epilogues");
  f.integer("mainloop_cycles", o.mainloop_cycles, "Main loop of an output tile", "Cycles.",
            {.formula = "tiles * cycles per tile"});
  f.integer("cooperative_total", o.cooperative_total, "Cooperative, in all",
            "All consumers work on one output tile, then on its epilogue.",
            {.formula = "output tiles * (main loop + epilogue)"});
  f.integer("ping_pong_total", o.ping_pong_total, "Ping-pong, in all",
            "Two groups take output tiles in turn; one has the tensor cores while the other does its epilogue.");
  f.real("ping_pong_cycles", o.ping_pong_cycles, "... per output tile", "In the long run.",
         {.formula = "max(main loop, (main loop + epilogue) / 2)"});
  f.real("ping_pong_gain", o.ping_pong_gain, {"Ping-pong gains", "\xC3\x97"}, {.formula = "cooperative / ping-pong"});
  f.table("stairs", o.stairs, "By number of buffers", "The same loop with other numbers of buffers.");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"kernels/async-pipeline",
       "Async pipeline",
       "How many buffers keep the tensor cores busy, and what does one more win?",
       {.published_keys = "kind latency_of"}},
      compute, arrange, draw);
}

}  // namespace chapters::kernels::async_pipeline
