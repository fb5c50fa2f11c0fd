#include "chapters/framework/fusion/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::framework::fusion {
namespace {

// In the order of models::gpu::ChainKind and of Rest.
const Choices chains{
    {"projection", "Projection to norm", "x W1, bias, GELU, dropout, residual, LayerNorm, W2; both matrices square."},
    {"ffn", "FFN block", "To the inner width and back: bias and GELU between, bias, residual and LayerNorm behind."},
    {"gated", "Gated FFN", "As in Llama: gate and up in one product, SiLU, their product, down, residual, RMSNorm."},
    {"attention", "Attention", "Scores, softmax and values of each head, 128 dimensions, no mask."},
    {"gelu", "GELU written out", "The tanh form as eight operations of Python, each a kernel in eager mode."},
    {"measured", "Seven element-wise", "x c + y, tanh, x sigmoid(x), x c + y: the chain that was timed on an H100."}};
static_assert(models::gpu::chain_kind_count == 6);
const Choices rests{{"alone", "each alone", "Every box outside the lasso is a kernel of its own."},
                    {"compiled", "compiled", "Outside the lasso a compiler fuses what it fuses."}};
static_assert(rest_count == 2);

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The lasso");
  f.choice("chain", in.chain, chains, {.label = "Chain", .help = "The operations, in their order."});
  f.integer("first", in.first,
            {.label = "First box",
             .help = "Where the lasso begins, counted from 1; beyond the chain's end it is its last box.",
             .lo = 1,
             .hi = 8,
             .headline = true});
  f.integer("last", in.last,
            {.label = "Last box",
             .help = "Where the lasso ends; the first box itself: nothing is fused.",
             .lo = 1,
             .hi = 8,
             .headline = true});
  f.choice("rest", in.rest, rests, {.label = "The others", .help = "What becomes of the boxes outside the lasso."});
  f.toggle("epilogues", in.epilogues,
           {.label = "Products take epilogues",
            .help = "A compiler writes products itself and ends them with element-wise work (max-autotune).",
            .when = {"chain", "projection|ffn|gated"}});
  f.integer("break_after", in.break_after,
            {.label = "Graph break behind",
             .help = "Python takes over behind this box, and no kernel crosses it; 0 or beyond the chain: nowhere.",
             .lo = 0,
             .hi = 7});
  f.group("The shape");
  f.integer("tokens", in.tokens,
            {
                .label = "Tokens",
                .unit = "tokens",
                .help = "Rows of every activation; of attention queries and keys.",
                .lo = 1,
                .hi = 131072,
                .scale = Scale::log,
                .typical_lo = 64,
                .typical_hi = 16384,
                .headline = true,
            });
  f.integer("width", in.width,
            {
                .label = "Width",
                .help = "Columns of a row, in FP16.",
                .lo = 64,
                .hi = 32768,
                .scale = Scale::log,
                .typical_lo = 128,
                .typical_hi = 16384,
                .when = {"chain", "projection|ffn|gated|gelu|measured"},
            });
  f.real("inner_ratio", in.inner_ratio,
         {.label = "Inner width",
          .help = "Over the width: 4 in GPT, 3.5 in Llama 3 8B.",
          .lo = 1,
          .hi = 8,
          .when = {"chain", "ffn|gated"}});
  f.integer("heads", in.heads,
            {.label = "Heads",
             .help = "Each with keys and values of its own.",
             .lo = 1,
             .hi = 512,
             .scale = Scale::log,
             .typical_lo = 8,
             .typical_hi = 128,
             .when = {"chain", "attention"}});
  f.integer("layers", in.layers,
            {.label = "Layers", .help = "That the chain stands in, for what is saved in all.", .lo = 1, .hi = 256});
  f.group("The chip");
  shared::chip(f, "chip", in.chip,
               {.help = "NVIDIA, from Volta to Hopper, or a GeForce: registers, shared memory, L2."});
  f.real("roof_share", in.roof_share,
         {.label = "Share of bandwidth", .help = "That kernels reach; assumed.", .lo = 0.3, .hi = 1});
  f.real(
      "matrix_share", in.matrix_share,
      {.label = "Share of the peak",
       .help =
           "That the matrix units reach inside a tile: 794.5 of 989.4 TFLOP/s is the best of our own runs on an H100.",
       .lo = 0.1,
       .hi = 1,
       .when = {"chain", "projection|ffn|gated|attention"}});
  f.real("latency_s", in.latency_s,
         {
             .label = "Latency of memory",
             .unit = "s",
             .help = "Under load, assumed; 0.37 us were measured on an idle H100 PCIe.",
             .lo = 1e-7,
             .hi = 5e-6,
             .scale = Scale::log,
         });
  f.real("start_s", in.start_s,
         {
             .label = "Between kernels",
             .unit = "s",
             .help = "On the device, from the end of one to the start of the next: 1.7 us in a recording of an H100.",
             .lo = 1e-8,
             .hi = 2e-5,
             .scale = Scale::log,
         });
  f.real("host_s", in.host_s,
         {
             .label = "A launch on the CPU",
             .unit = "s",
             .help = "The host runs ahead; it sets the pace where its launches take longer than the kernels. Assumed.",
             .lo = 1e-7,
             .hi = 5e-5,
             .scale = Scale::log,
         });
  f.real("break_s", in.break_s,
         {
             .label = "A break on the CPU",
             .unit = "s",
             .help = "Python and the guards of the next graph. Assumed.",
             .lo = 1e-6,
             .hi = 1e-2,
             .scale = Scale::log,
             .typical_lo = 1e-5,
             .typical_hi = 1e-3,
         });
  f.group("What a kernel may do");
  f.integer("cluster", in.cluster,
            {
                .label = "Blocks that share a row",
                .help = "A cluster holds the row in pieces and adds sums through distributed shared memory: Hopper.",
                .lo = 1,
                .hi = 16,
                .scale = Scale::log,
                .when = {"chain", "projection|ffn|gated|attention"},
            });
  f.toggle(
      "l2_keeps", in.l2_keeps,
      {.label = "L2 keeps what was written",
       .help =
           "A tensor up to half of L2 that the kernel before wrote is read from there; off: every trip is memory."});
  f.toggle("backward", in.backward,
           {.label = "Kept for backward",
            .help = "What the backward pass reads (inputs of GELU and norms) is written, fused or not; off: it is "
                    "computed again, or there is no backward pass.",
            .when = {"chain", "projection|ffn|gated|gelu|measured"}});
}

void describe(Fields& f, BoxRow& r) {
  f.text("name", r.name, {.label = "Box"});
  f.integer("kernel", r.kernel, {.label = "Kernel", .help = "Of the plan, from 1."});
  f.real("bytes", r.bytes, {.label = "Traffic alone", .unit = "B", .help = "As a kernel of its own."});
  f.real("time_s", r.time_s, {.label = "Time alone", .unit = "s", .help = "As a kernel of its own."});
  f.integer("registers", r.registers, {.label = "Registers alone", .help = "A thread."});
  f.text("waits", r.waits, {.label = "Waits for, alone"});
}
void describe(Fields& f, KernelRow& r) {
  f.text("name", r.name, {.label = "Kernel"});
  f.text("kind", r.kind, {.label = "Kind"});
  f.text("tile", r.tile, {.label = "Tile", .help = "Rows x columns of its result that a block makes."});
  f.integer("registers", r.registers, {.label = "Registers", .help = "A thread."});
  f.integer("spilled", r.spilled, {.label = "Spilled", .help = "Values a thread beyond 255 registers."});
  f.real("shared_bytes", r.shared_bytes, {.label = "Shared memory", .unit = "B", .help = "A block.", .binary = true});
  f.integer("resident", r.resident, {.label = "Blocks an SM", .help = "By the rule of cuda_occupancy.h."});
  f.text("limit", r.limit, {.label = "Limited by"});
  f.real("occupancy", r.occupancy, {.label = "Occupancy", .unit = "%", .formula = "resident warps / most warps"});
  f.real("bytes", r.bytes, {.label = "Traffic", .unit = "B", .help = "Of main memory."});
  f.real("l2_bytes", r.l2_bytes, {.label = "From L2", .unit = "B", .help = "Weights loaded again, rows, spills."});
  f.real("weight_reads", r.weight_reads, {.label = "Weights loaded", .help = "Times, from L2; 0: it has no product."});
  f.real("repeats", r.repeats, {.label = "Work repeated", .help = "Times the work before a product is done."});
  f.real("time_s", r.time_s, {.label = "Time", .unit = "s", .formula = "max(bytes, L2, arithmetic, two latencies)"});
  f.text("waits", r.waits, {.label = "Waits for"});
}
void describe(Fields& f, RunRow& r) {
  f.integer("first", r.first, {.label = "From box"});
  f.integer("last", r.last, {.label = "To box"});
  f.real("time_s", r.time_s,
         {.label = "The chain",
          .unit = "s",
          .help = "With this run as one kernel.",
          .may_be_missing = true,
          .absent = "No SM takes it."});
  f.real("bytes", r.bytes,
         {.label = "Traffic",
          .unit = "B",
          .help = "With this run as one kernel.",
          .may_be_missing = true,
          .absent = "No SM takes it."});
}
void describe(Fields& f, StageRow& r) {
  f.text("stage", r.stage, {.label = "Stage"});
  f.text("makes", r.makes, {.label = "What it makes"});
  f.integer("count", r.count, {.label = "How many"});
  f.real("bytes", r.bytes,
         {.label = "Bytes",
          .unit = "B",
          .help = "Traffic of the kernels; of memory planning what is alive at once.",
          .may_be_missing = true,
          .absent = "The stage moves nothing."});
  f.real("time_s", r.time_s,
         {.label = "The chain",
          .unit = "s",
          .help = "On the device.",
          .may_be_missing = true,
          .absent = "Kernels come later."});
}

void describe(Fields& f, Outputs& o) {
  f.group("The chain");
  f.real("time_s", o.time_s,
         {.label = "The chain",
          .unit = "s",
          .headline = true,
          .formula = "max(sum of kernels + gaps, launches on the CPU)"});
  f.real("bytes", o.bytes,
         {.label = "Traffic",
          .unit = "B",
          .help = "That kernels read from main memory and write to it.",
          .headline = true,
          .formula = "sum of tensors that cross a kernel's edge"});
  f.integer("kernels", o.kernels, {.label = "Kernels", .help = "Launches of the chain.", .headline = true});
  f.integer("trips", o.trips, {.label = "Trips", .help = "Activations read or written, each time once."});
  f.real("saved_bytes", o.saved_bytes, {.label = "Saved traffic", .unit = "B", .formula = "none fused - this"});
  f.real(
      "saved_s", o.saved_s,
      {.label = "Saved time", .unit = "s", .help = "Below 0: slower than none fused.", .formula = "none fused - this"});
  f.real("bytes_s", o.bytes_s, {.label = "Its bytes alone", .unit = "s", .formula = "traffic / bandwidth reached"});
  f.real("speedup", o.speedup, {.label = "Faster", .formula = "none fused / this"});
  f.real("traffic_ratio", o.traffic_ratio, {.label = "Less traffic", .formula = "none fused / this"});
  f.real("layers_bytes", o.layers_bytes,
         {.label = "Saved in all layers", .unit = "B", .formula = "saved traffic x layers"});
  f.real("intermediate_bytes", o.intermediate_bytes,
         {.label = "Largest tensor between", .unit = "B", .help = "Two boxes."});
  f.real("never_bytes", o.never_bytes,
         {.label = "Never written", .unit = "B", .help = "Tensors between boxes of one kernel, each once."});
  f.group("The lasso's kernel");
  f.integer("registers", o.lasso.registers, {.label = "Registers", .help = "A thread; at most 255.", .headline = true});
  f.integer("spilled", o.lasso.spilled,
            {.label = "Spilled", .help = "Values a thread that have no register.", .formula = "needed - 255"});
  f.real("shared_bytes", o.shared_bytes, {.label = "Shared memory", .unit = "B", .help = "A block.", .binary = true});
  f.real("occupancy", o.occupancy,
         {.label = "Occupancy",
          .unit = "%",
          .formula = "resident warps / most warps",
          .source = "cuda_occupancy.h, CUDA 13.0"});
  f.integer("resident", o.lasso.occupancy.blocks,
            {.label = "Blocks an SM", .help = "Resident at once.", .source = "cuda_occupancy.h, CUDA 13.0"});
  f.text("limit", o.limit, {.label = "Limited by"});
  f.integer("tile_rows", o.lasso.tile_rows, {.label = "Rows of a tile", .help = "Of the result, in one block."});
  f.integer("tile_columns", o.lasso.tile_columns,
            {.label = "Columns of a tile", .help = "Of the result, in one block."});
  f.real("weight_reads", o.lasso.weight_reads,
         {.label = "Weights loaded", .help = "Times from L2; 0: it has no product."});
  f.real("repeats", o.lasso.repeats, {.label = "Work repeated", .help = "Times the work before a product is done."});
  f.real("l2_bytes", o.lasso.l2_bytes,
         {.label = "From L2", .unit = "B", .help = "Weights loaded again, rows, spills."});
  f.real("lasso_s", o.lasso.time_s,
         {.label = "Its time", .unit = "s", .formula = "max(bytes, L2, arithmetic, two latencies)"});
  f.text("waits", o.waits, {.label = "Waits for"});
  f.group("None fused");
  f.real("unfused_s", o.unfused_s, {.label = "The chain", .unit = "s", .help = "Each box a kernel."});
  f.real("unfused_bytes", o.unfused_bytes, {.label = "Traffic", .unit = "B", .help = "Each box a kernel."});
  f.integer("unfused_kernels", o.unfused_kernels, {.label = "Kernels", .help = "Each box a kernel."});
  f.integer("unfused_trips", o.unfused_trips, {.label = "Trips", .help = "Each box a kernel."});
  f.group("Other runs");
  f.integer("best_first", o.best_first, {.label = "Best run begins", .help = "Box, from 1."});
  f.integer("best_last", o.best_last, {.label = "Best run ends", .help = "Box, from 1."});
  f.real("best_s", o.best_s, {.label = "With the best run", .unit = "s", .help = "The chain."});
  f.real("next_s", o.next_s,
         {.label = "With one box more",
          .unit = "s",
          .help = "The chain, the lasso one longer at its end.",
          .may_be_missing = true,
          .absent = "There is no box behind it, or no SM takes it."});
  f.real("best_next_s", o.best_next_s,
         {.label = "Best run and one more",
          .unit = "s",
          .help = "The chain.",
          .may_be_missing = true,
          .absent = "There is no box behind it, or no SM takes it."});
  f.group("A compiler");
  f.real("compiled_s", o.compiled_s, {.label = "Compiled", .unit = "s", .help = "The chain as torch.compile cuts it."});
  f.real("compiled_bytes", o.compiled_bytes, {.label = "Traffic", .unit = "B", .help = "Of the compiled chain."});
  f.integer("compiled_kernels", o.compiled_kernels, {.label = "Kernels", .help = "Of the compiled chain."});
  f.integer("graphs", o.graphs, {.label = "Graphs", .formula = "graph breaks + 1"});
  f.real("buffers_bytes", o.buffers.sum_bytes,
         {.label = "Buffers", .unit = "B", .help = "Between its kernels, each in a place of its own."});
  f.real("buffers_peak_bytes", o.buffers.peak_bytes,
         {.label = "Alive at once",
          .unit = "B",
          .help = "Of those buffers, when a place is used again once its last reader is done."});
  f.real("eager_buffers_bytes", o.alone_buffers.sum_bytes,
         {.label = "Buffers, none fused", .unit = "B", .help = "Each in a place of its own."});
  f.real("launches_s", o.plan.host_s,
         {.label = "On the CPU", .unit = "s", .formula = "kernels x a launch + graph breaks x a break"});
  f.real("device_s", o.plan.device_s,
         {.label = "On the device", .unit = "s", .formula = "kernels and the gaps between them"});
  f.group("Tables");
  f.table("boxes", o.boxes, {.label = "Boxes"});
  f.table("kernel_rows", o.kernel_rows, {.label = "Kernels"});
  f.table("runs", o.runs, {.label = "Runs"});
  f.table("stages", o.stages, {.label = "Stages"});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {.id = "framework/fusion",
       .title = "Fusion",
       .question = "Which boxes should be one kernel, and when is one more too many?"},
      compute, arrange, draw);
}

}  // namespace chapters::framework::fusion
