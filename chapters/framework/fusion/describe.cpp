#include "chapters/framework/fusion/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::framework::fusion {
namespace {

// In the order of models::gpu::ChainKind and of Rest.
const Choices chains{
    {"projection", "Projection to norm", "x W1, bias, GELU, dropout, residual, LayerNorm, W2; both matrices square."},
    {"ffn", "FFN block",
     "To the inner width and back: bias and GELU between, bias, residual and LayerNorm after them."},
    {"gated", "Gated FFN",
     "As in Llama: gate and up in one matmul, SiLU, their product element by element, down, residual, RMSNorm."},
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
  f.choice("chain", in.chain, chains, "Chain", "The operations, in their order.");
  f.integer("first", in.first, "First box",
            "Where the lasso begins, counted from 1; beyond the chain's end it is its last box.",
            {.range = {1, 8}, .headline = true});
  f.integer("last", in.last, "Last box", "Where the lasso ends; the first box itself: nothing is fused.",
            {.range = {1, 8}, .headline = true});
  f.choice("rest", in.rest, rests, "The others", "What becomes of the boxes outside the lasso.");
  f.toggle("epilogues", in.epilogues, "Matmuls take epilogues",
           "A compiler writes matmuls itself and ends them with element-wise work (max-autotune).",
           {.when = {"chain", "projection|ffn|gated"}});
  f.integer("break_after", in.break_after, "Graph break after",
            "Python takes over after this box, and no kernel crosses it; 0 or beyond the chain: nowhere.",
            {.range = {0, 7}});
  f.group("The shape");
  f.integer("tokens", in.tokens, {"Tokens", "tokens"}, "Rows of every activation; of attention queries and keys.",
            {.range = {1, 131072, Scale::log}, .typical = {64, 16384}, .headline = true});
  f.integer("width", in.width, "Width", "Columns of a row, in FP16.",
            {.range = {64, 32768, Scale::log},
             .typical = {128, 16384},
             .when = {"chain", "projection|ffn|gated|gelu|measured"}});
  f.real("inner_ratio", in.inner_ratio, "Inner width", "Over the width: 4 in GPT, 3.5 in Llama 3 8B.",
         {.range = {1, 8}, .when = {"chain", "ffn|gated"}});
  f.integer("heads", in.heads, "Heads", "Each with keys and values of its own.",
            {.range = {1, 512, Scale::log}, .typical = {8, 128}, .when = {"chain", "attention"}});
  f.integer("layers", in.layers, "Layers", "That the chain stands in, for what is saved in all.", {.range = {1, 256}});
  f.group("The chip");
  shared::chip(f, "chip", in.chip,
               {.help = "NVIDIA, from Volta to Hopper, or a GeForce: registers, shared memory, L2."});
  f.real("roof_share", in.roof_share, "Share of bandwidth", "That kernels reach; assumed.", {.range = {0.3, 1}});
  f.real("matrix_share", in.matrix_share, "Share of the peak",
         "That the matrix units reach inside a tile: 794.5 of 989.4 TFLOP/s is the best of our own runs on an H100.",
         {.range = {0.1, 1}, .when = {"chain", "projection|ffn|gated|attention"}});
  f.real("latency_s", in.latency_s, {"Latency of memory", "s"},
         "Under load, assumed; 0.37 µs were measured on an idle H100 PCIe.", {.range = {1e-7, 5e-6, Scale::log}});
  f.real("start_s", in.start_s, {"Between kernels", "s"},
         "On the device, from the end of one to the start of the next: 1.7 µs in a recording of an H100.",
         {.range = {1e-8, 2e-5, Scale::log}});
  f.real("host_s", in.host_s, {"A launch on the CPU", "s"},
         "The host runs ahead; it sets the pace where its launches take longer than the kernels. Assumed.",
         {.range = {1e-7, 5e-5, Scale::log}});
  f.real("break_s", in.break_s, {"A break on the CPU", "s"}, "Python and the guards of the next graph. Assumed.",
         {.range = {1e-6, 1e-2, Scale::log}, .typical = {1e-5, 1e-3}});
  f.group("What a kernel may do");
  f.integer("cluster", in.cluster, "Blocks that share a row",
            "A cluster holds the row in pieces and adds sums through distributed shared memory: Hopper.",
            {.range = {1, 16, Scale::log}, .when = {"chain", "projection|ffn|gated|attention"}});
  f.toggle("l2_keeps", in.l2_keeps, "L2 keeps what was written",
           "A tensor up to half of L2 that the kernel before wrote is read from there; off: every trip is memory.");
  f.toggle("backward", in.backward, "Kept for backward",
           "What the backward pass reads (inputs of GELU and norms) is written, fused or not; off: it is "
           "recomputed, or there is no backward pass.",
           {.when = {"chain", "projection|ffn|gated|gelu|measured"}});
}

void describe(Fields& f, BoxRow& r) {
  f.text("name", r.name, "Box");
  f.integer("kernel", r.kernel, "Kernel", "Its place in the plan, from 1.");
  f.real("bytes", r.bytes, {"Traffic alone", "B"}, "As a kernel of its own.");
  f.real("time_s", r.time_s, {"Time alone", "s"}, "As a kernel of its own.");
  f.integer("registers", r.registers, "Registers alone", "Per thread.");
  f.text("waits", r.waits, "Waits for, alone");
}
void describe(Fields& f, KernelRow& r) {
  f.text("name", r.name, "Kernel");
  f.text("kind", r.kind, "Kind");
  f.text("tile", r.tile, "Tile", "Rows × columns of its result that a block makes.");
  f.integer("registers", r.registers, "Registers", "Per thread.");
  f.integer("spilled", r.spilled, "Spilled", "Values per thread beyond 255 registers.");
  f.real("shared_bytes", r.shared_bytes, {"Shared memory", "B"}, "Per block.", {.binary = true});
  f.integer("resident", r.resident, "Blocks per SM", "By the rule of cuda_occupancy.h.");
  f.text("limit", r.limit, "Limited by");
  f.real("occupancy", r.occupancy, {"Occupancy", "%"}, {.formula = "resident warps / most warps"});
  f.real("bytes", r.bytes, {"Traffic", "B"}, "Bytes that cross main memory.");
  f.real("l2_bytes", r.l2_bytes, {"From L2", "B"}, "Weights loaded again, rows, spills.");
  f.real("weight_reads", r.weight_reads, "Weights loaded", "Times, from L2; 0: it has no matmul.");
  f.real("repeats", r.repeats, "Work repeated", "Times the work before a matmul is done.");
  f.real("time_s", r.time_s, {"Time", "s"}, {.formula = "max(bytes, L2, arithmetic, two latencies)"});
  f.text("waits", r.waits, "Waits for");
  f.real("in_one_s", r.in_one_s, {"With its gap", "s"}, {.formula = "time + between kernels"});
  f.real("apart_s", r.apart_s, {"Its boxes apart", "s"}, "As kernels of their own, each with its gap.",
         {.formula = "sum of (time alone + between kernels)"});
}
void describe(Fields& f, RunRow& r) {
  f.integer("first", r.first, "From box");
  f.integer("last", r.last, "To box");
  f.real("time_s", r.time_s, {"The chain", "s"}, "With this run as one kernel.", {.absent = "No SM takes it."});
  f.real("bytes", r.bytes, {"Traffic", "B"}, "With this run as one kernel.", {.absent = "No SM takes it."});
}
void describe(Fields& f, StageRow& r) {
  f.text("stage", r.stage, "Stage");
  f.text("makes", r.makes, "What it makes");
  f.integer("count", r.count, "How many");
  f.real("bytes", r.bytes, {"Bytes", "B"}, "Traffic of the kernels; of memory planning what is alive at once.",
         {.absent = "The stage moves nothing."});
  f.real("time_s", r.time_s, {"The chain", "s"}, "On the device.", {.absent = "Kernels come later."});
}

namespace {

/// The chain with other kernels: none fused, other runs, a compiler's.
void describe_other_plans(Fields& f, Outputs& o) {
  f.group("None fused");
  f.real("unfused_s", o.unfused_s, {"The chain", "s"}, "Each box is a kernel of its own.");
  f.real("unfused_bytes", o.unfused_bytes, {"Traffic", "B"}, "Each box is a kernel of its own.");
  f.integer("unfused_kernels", o.unfused_kernels, "Kernels", "Each box is a kernel of its own.");
  f.integer("unfused_trips", o.unfused_trips, "Trips", "Each box is a kernel of its own.");
  f.real("unfused_launches_s", o.unfused_launches_s, {"On the CPU", "s"}, "Each box is a kernel of its own.",
         {.formula = "kernels x time per launch + graph breaks x time per break"});
  f.real("unfused_device_s", o.unfused_device_s, {"On the device", "s"}, "Each box is a kernel of its own.",
         {.formula = "kernels and the gaps between them"});
  f.group("Other runs");
  f.integer("best_first", o.best_first, "Best run begins", "Box, from 1.");
  f.integer("best_last", o.best_last, "Best run ends", "Box, from 1.");
  f.real("best_s", o.best_s, {"With the best run", "s"}, "The chain.");
  f.real("next_s", o.next_s, {"With one box more", "s"}, "The chain, the lasso one longer at its end.",
         {.absent = "There is no box behind it, or no SM takes it."});
  f.real("best_next_s", o.best_next_s, {"Best run and one more", "s"}, "The chain.",
         {.absent = "There is no box behind it, or no SM takes it."});
  f.group("A compiler");
  f.real("compiled_s", o.compiled_s, {"Compiled", "s"}, "The chain as torch.compile cuts it.");
  f.real("compiled_bytes", o.compiled_bytes, {"Traffic", "B"}, "What the compiled chain comes to.");
  f.integer("compiled_kernels", o.compiled_kernels, "Kernels", "What the compiled chain comes to.");
  f.integer("graphs", o.graphs, "Graphs", {.formula = "graph breaks + 1"});
  f.real("buffers_bytes", o.buffers.sum_bytes, {"Buffers", "B"}, "Between its kernels, each in a place of its own.");
  f.real("buffers_peak_bytes", o.buffers.peak_bytes, {"Alive at once", "B"},
         "The most of those buffers at one time, when a place is used again once its last reader is done.");
  f.real("eager_buffers_bytes", o.alone_buffers.sum_bytes, {"Buffers, none fused", "B"}, "Each in a place of its own.");
  f.real("launches_s", o.launches_s, {"On the CPU", "s"},
         {.formula = "kernels x time per launch + graph breaks x time per break"});
  f.real("device_s", o.device_s, {"On the device", "s"}, {.formula = "kernels and the gaps between them"});
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  f.group("The chain");
  f.real("time_s", o.time_s, {"The chain", "s"},
         {.headline = true,
          .against = {"unfused", "unfused_s"},
          .formula = "max(sum of kernels + gaps, launches on the CPU)"});
  f.real("bytes", o.bytes, {"Traffic", "B"}, "That kernels read from main memory and write to it.",
         {.headline = true,
          .against = {"unfused", "unfused_bytes"},
          .formula = "sum of tensors that cross a kernel's edge"});
  f.integer("kernels", o.kernels, "Kernels", "Launches of the chain.", {.headline = true});
  f.integer("trips", o.trips, "Trips", "Activations read or written, each time once.");
  f.real("saved_bytes", o.saved_bytes, {"Saved traffic", "B"}, {.formula = "none fused - this"});
  f.real("saved_s", o.saved_s, {"Saved time", "s"}, "Below 0: slower than none fused.",
         {.formula = "none fused - this"});
  f.real("bytes_s", o.bytes_s, {"Its bytes alone", "s"}, {.formula = "traffic / bandwidth reached"});
  f.real("speedup", o.speedup, {"Faster", "×"}, {.formula = "none fused / this"});
  f.real("traffic_ratio", o.traffic_ratio, "Less traffic", {.formula = "none fused / this"});
  f.real("layers_bytes", o.layers_bytes, {"Saved in all layers", "B"}, {.formula = "saved traffic x layers"});
  f.real("intermediate_bytes", o.intermediate_bytes, {"Largest tensor between", "B"}, "Two boxes.");
  f.real("never_bytes", o.never_bytes, {"Never written", "B"}, "Tensors between boxes of one kernel, each once.");
  f.group("The lasso's kernel");
  f.integer("registers", o.lasso.registers, "Registers", "A thread; at most 255.", {.headline = true});
  f.integer("spilled", o.lasso.spilled, "Spilled", "Values per thread that have no register.",
            {.formula = "needed - 255"});
  f.real("shared_bytes", o.shared_bytes, {"Shared memory", "B"}, "A block.", {.binary = true});
  f.real("occupancy", o.occupancy, {"Occupancy", "%"},
         {.formula = "resident warps / most warps", .source = "cuda_occupancy.h, CUDA 13.0"});
  f.integer("resident", o.lasso.occupancy.blocks, "Blocks per SM", "Resident at once.",
            {.source = "cuda_occupancy.h, CUDA 13.0"});
  f.text("limit", o.limit, "Limited by");
  f.integer("tile_rows", o.lasso.tile_rows, "Rows of a tile", "Those of the result that one block makes.");
  f.integer("tile_columns", o.lasso.tile_columns, "Columns of a tile", "Those of the result that one block makes.");
  f.real("weight_reads", o.lasso.weight_reads, "Weights loaded", "Times from L2; 0: it has no product.");
  f.real("repeats", o.lasso.repeats, "Work repeated", "Times the work before a product is done.");
  f.real("l2_bytes", o.lasso.l2_bytes, {"From L2", "B"}, "Weights loaded again, rows, spills.");
  f.real("lasso_s", o.lasso.time_s, {"Its time", "s"}, {.formula = "max(bytes, L2, arithmetic, two latencies)"});
  f.text("waits", o.waits, "Waits for");
  describe_other_plans(f, o);
  f.group("Tables");
  f.table("boxes", o.boxes, "Boxes");
  f.table("kernel_rows", o.kernel_rows, "Kernels");
  f.table("runs", o.runs, "Runs");
  f.table("stages", o.stages, "Stages");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"framework/fusion",
                                                   "Fusion",
                                                   "Which boxes should be one kernel, and when is one more too many?",
                                                   {.published_keys = "chain chip tokens first last"}},
                                                  compute, arrange, draw);
}

}  // namespace chapters::framework::fusion
