#include "chapters/roofline/roofline/lab.h"

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::roofline::roofline {
namespace {

const Choices operations = {
    {"custom", "your own", "Any work: say its FLOP and its bytes, or drag its dot."},
    {"gemm", "GEMM m × n × k", "One matmul, each matrix crossing memory once."},
    {"decode", "decode step, whole model", "One token for each sequence of the batch: all weights, and the cache."},
    {"prefill", "prefill, whole model", "The prompt of each sequence in one pass."},
    {"attention_unfused", "attention, unfused",
     "Scores, softmax and values as three kernels: the whole score square is computed, and goes to memory and back."},
    {"flash_attention", "FlashAttention",
     "The same attention in one tiled kernel: tiles that the mask drops are skipped, and only Q, K, V and the result "
     "touch memory."},
    {"attention_scores", "attention scores, unfused", "Q K^T with its whole square computed and written out."},
    {"softmax", "softmax over scores", "Reads and writes the score square."},
    {"decode_attention", "attention of one decode step", "Each new query against the whole cache, one layer."},
    {"query_projection", "query projection", "One layer's matmul over all tokens of the prompt."},
    {"up_projection", "feed-forward up projection", "The widest matmul of a layer."},
    {"norm", "norm", "One layer's RMSNorm or LayerNorm over the prompt."},
    {"gate", "activation and gate (SwiGLU)", "The element-wise step between the feed-forward matmuls."},
    {"residual", "residual add", "x + f(x): one operation for three memory accesses."},
    {"decode_gate", "activation and gate in decode",
     "The same step for one token: so little work that the launch is what takes time."},
};

const Choices layers = {
    {"operations", "operations", "Dots for the operations of the model."},
    {"walk", "decode walk", "Decode at batch 1, 4, 16, 64, 256."},
    {"fusion", "fusion", "An arrow from unfused attention to FlashAttention."},
    {"quantization", "quantization", "An arrow from decode to decode with narrower weights."},
    {"shared", "shared memory", "Ceiling of the on-chip shared memories together."},
    {"l2", "L2", "Ceiling of the L2 cache."},
    {"link", "link", "Ceiling of the chip-to-chip link, per direction."},
    {"pcie", "PCIe", "Ceiling of the host link, per direction."},
    {"measured", "measured", "What people measured on this chip: kernels, and the best rates of matmuls and streams."},
};

const Choices weight_widths = {{"8", "8 bits", "Half of BF16; one scale per row."},
                               {"6", "6 bits", "6.125 with scales."},
                               {"4", "4 bits", "INT4: 4.125 bits with a 16-bit scale for each group of 128."},
                               {"2", "2 bits", "2.125 with scales."}};
const Choices launch_costs = {{"added", "added", "Every launch is waited for: time = max(compute, memory) + launches."},
                              {"hidden", "hidden", "The CPU runs ahead: time = max(compute, memory, launches)."}};
const Choices regimes = {{"memory", "memory-bound", "Bytes take longest."},
                         {"compute", "compute-bound", "Arithmetic takes longest."},
                         {"launch", "launch-bound", "Starting kernels takes longest."}};
static_assert(static_cast<int>(models::Regime::launch) == 2 && static_cast<int>(models::LaunchCost::hidden) == 1,
              "the choices above stand in the order of the enumerators");

constexpr const char* roofline_source = "Williams, Waterman, Patterson 2009";

}  // namespace

void describe(Fields& f, RoofRow& r) {
  f.text("chip", r.chip, "chip");
  f.text("format", r.format, "format", "The nearest format that the chip states a peak for.");
  f.real("peak_flops_per_s", r.machine.peak_flops_per_s, {"peak", "FLOP/s"});
  f.real("bandwidth_bytes_per_s", r.machine.bandwidth_bytes_per_s, {"bandwidth", "B/s"});
  f.real("ridge", r.ridge, {"ridge", "FLOP/B"});
  f.real("attainable_flops_per_s", r.placement.attainable_flops_per_s, {"attainable", "FLOP/s"});
  f.real("time_s", r.placement.time_s, {"time", "s"});
}
void describe(Fields& f, CeilingRow& r) {
  f.text("name", r.ceiling.label, "ceiling");
  f.text("basis", r.basis, "known how");
  f.real("per_s", r.ceiling.per_s, "rate", "Bytes or operations per second.");
  f.real("ridge", r.ridge, {"meets the roof at", "FLOP/B"});
  f.text("source", r.source, "source");
}
void describe(Fields& f, OperationRow& r) {
  f.text("name", r.named.label, "operation");
  f.real("flops", r.named.work.flops, {"work", "FLOP"});
  f.real("bytes", r.named.work.bytes, {"traffic", "B"});
  f.real("intensity", r.placement.intensity, {"intensity", "FLOP/B"});
  f.real("achieved_flops_per_s", r.placement.achieved_flops_per_s, {"rate", "FLOP/s"});
  f.real("time_s", r.placement.time_s, {"time", "s"});
  f.text("regime", r.regime, "regime");
  f.real("compute_s", r.placement.compute_s, {"arithmetic", "s"}, "What its arithmetic takes at the peak.");
  f.real("memory_s", r.placement.memory_s, {"memory", "s"}, "What its bytes take at the bandwidth.");
}
void describe(Fields& f, WalkRow& r) {
  f.real("batch", r.batch, "batch");
  f.real("intensity", r.placement.intensity, {"intensity", "FLOP/B"});
  f.real("achieved_flops_per_s", r.placement.achieved_flops_per_s, {"rate", "FLOP/s"});
  f.real("tokens_per_s", r.tokens_per_s, "tokens per second");
  f.text("regime", r.regime, "regime");
}
void describe(Fields& f, MeasuredRow& r) {
  f.text("name", r.name, "measured");
  f.real("intensity", r.intensity, {"intensity", "FLOP/B"});
  f.real("flops_per_s", r.flops_per_s, {"rate", "FLOP/s"});
  f.real("share_of_roof_percent", r.share_of_roof_percent, {"of the roof", "%"});
}

void describe(Fields& f, Inputs& in) {
  f.group("The operation");
  f.choice("operation", in.operation, operations, "Operation", "The large dot. Drag it and it becomes your own.",
           {.headline = true});
  f.real("flops", in.flops, {"Work", "FLOP"}, "Floating-point operations; a multiply-add is two.",
         {
             .range = {1, 1e21, Scale::log},
             .typical = {1e6, 1e16},
             .headline = true,
             .when = {"operation", "custom"},
         });
  f.real("bytes", in.bytes, {"Traffic", "B"}, "Bytes read from and written to main memory.",
         {
             .range = {1, 1e18, Scale::log},
             .typical = {1e4, 1e13},
             .headline = true,
             .when = {"operation", "custom"},
         });
  f.integer("kernels", in.kernels, "Kernels", "Launches that the work is split into.",
            {.range = {1, 100000, Scale::log}, .typical = {1, 2000}, .when = {"operation", "custom"}});
  const auto side = [&](const char* key, std::int64_t& slot, const char* label, const char* help) {
    f.integer(key, slot, label, help,
              {.range = {1, 1048576, Scale::log}, .typical = {16, 65536}, .when = {"operation", "gemm"}});
  };
  side("m", in.m, "m", "Rows of A and C.");
  side("n", in.n, "n", "Columns of B and C.");
  side("k", in.k, "k", "Columns of A, rows of B: the summed dimension.");
  f.group("The chip");
  shared::chip(f, "chip", in.chip,
               {.help = "The chip whose roof is the thick one, and on which the times are computed."});
  shared::format(f, "format", in.format,
                 {.help = "The dense peak counts in this format, and operands of the operations take its bytes."});
  f.choices("chips", in.chips, catalog().chip_choices, "Beside it",
            "Thin roofs of other chips. One without the format shows its nearest and says so.",
            {.refused = &catalog().refused_chips, .max_items = 12});
  f.group("The model");
  shared::model(f, "model", in.model, {.help = "Whose operations the dots are."});
  shared::concurrent_sequences(f, "batch", in.batch, {.help = "Sequences that are worked on together."});
  shared::sequence(f, "sequence", in.sequence, {.label = "Prompt", .help = "New tokens of each sequence in prefill."});
  shared::context(f, "context", in.context, {.help = "Tokens in each sequence's cache when it decodes."});
  f.toggle("kv_reads", in.kv_reads, "Count KV reads", "Off: decode reads weights alone, as most napkin sums have it.");
  f.choice("weight_bits", in.weight_bits, weight_widths, "Quantized weights",
           "Width of the matrices inside the layers at the head of the quantization arrow. Norms and output matrix "
           "stay in the format above, as published checkpoints leave them, and so does arithmetic.");
  f.group("Launches");
  f.real("launch_s", in.launch_s, {"Launch", "s"},
         "What one kernel costs to start: 2 to 10 us is usual, 0 leaves the classical roofline.",
         {.range = {0, 1e-4}, .typical = {0, 2e-5}});
  f.choice("launch_cost", in.launch_cost, launch_costs, "Launches are",
           "Waited for one by one, or hidden under the work of the kernel before.");
  f.group("What is drawn");
  f.choices("show", in.show, layers, "Show", "What is drawn over the roof.");
  f.file("measured", in.measured, "Measured points",
         "A CSV with the columns name, flops, bytes, time_s: each row becomes a diamond.",
         {.reads = {FileKind::kernel_measurements}, .accepts = "csv"});
}

namespace {

void describe_decode(Fields& f, Outputs& o) {
  f.group("Decode");
  f.real("decode_intensity", o.decode.intensity, {"Decode intensity", "FLOP/B"},
         "Intensity of a step at this batch and context.", {.formula = "B F / (weights + B context kv)"});
  f.real("decode_limit", o.decode_limit, {"Decode never passes", "FLOP/B"},
         "What a sequence computes over what it reads for itself.", {.formula = "F / (context kv)"});
  f.real("decode_time_s", o.decode.time_s, {"Decode step", "s"},
         "A step of the whole model at this batch and context, launches as set above.",
         {.formula = "max(flops / peak, (weights + B context kv) / bandwidth, launches)"});
  f.real("decode_tokens_per_s", o.decode_tokens_per_s, "Decode tokens/s",
         "Tokens of all sequences of the batch together.", {.formula = "B / step time"});
  f.real("critical_batch", o.critical_batch, "Decode reaches the ridge at",
         "Sequences in the batch from which on arithmetic, not memory, sets the pace of decode.",
         {.absent = "The cache holds decode below the ridge.",
          .formula = "ridge x weights / (F - ridge x bytes per sequence)"});
  f.text("decode_verdict", o.decode_verdict, "Decode and the ridge");
  f.table("walk", o.walk, "Decode walk");
  f.group("Fewer bytes");
  f.real("fusion_speedup", o.fusion.speedup, {"Fusing attention gains", "\xC3\x97"},
         "Times as fast as the three kernels.", {.absent = "The model has no attention over a square of scores."});
  f.real("fusion_bytes_ratio", o.fusion.bytes_ratio, {"Fusing cuts bytes by", "\xC3\x97"},
         "Traffic of the three kernels over that of the fused one.",
         {.absent = "The model has no attention over a square of scores."});
  f.real("quantized_speedup", o.quantized_speedup, {"Quantizing gains", "\xC3\x97"},
         "Times as fast as the step with all weights in the format. Narrow are the matrices inside the layers, "
         "with a 16-bit scale for each 128 below 8 bits; output matrix and cache stay.");
  f.real(
      "quantized_time_s", o.quantized.time_s, {"Quantized decode step", "s"},
      "The same step with narrower weights, scales counted; output matrix, cache and arithmetic stay in the format.");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  f.group("The operation");
  f.choice("regime", o.placement.regime, regimes, "Regime", "The largest of the three terms.");
  f.real("intensity", o.placement.intensity, {"Arithmetic intensity", "FLOP/B"},
         {.headline = true, .formula = "I = flops / bytes", .source = roofline_source});
  f.real("attainable_flops_per_s", o.placement.attainable_flops_per_s, {"Attainable", "FLOP/s"},
         "The roof above this intensity.",
         {.headline = true, .formula = "min(peak, I x bandwidth)", .source = roofline_source});
  f.real("achieved_flops_per_s", o.placement.achieved_flops_per_s, {"Achieved", "FLOP/s"},
         "Below the attainable rate by what launches cost.", {.headline = true, .formula = "flops / time"});
  f.real("time_s", o.placement.time_s, {"Time", "s"},
         {.headline = true,
          .formula = "max(compute, memory, launches), or max(compute, memory) + launches",
          .source = "launches after S4 section 2"});
  f.real("share_of_peak_percent", o.share_of_peak_percent, {"Share of peak", "%"}, {.formula = "100 achieved / peak"});
  f.toggle("near_ridge", o.near_ridge, "Almost at the ridge",
           "Memory stops it, and more FLOP per byte would make it less than a twentieth faster.");
  f.group("Times");
  f.real("compute_s", o.placement.compute_s, {"Compute time", "s"}, {.formula = "flops / peak"});
  f.real("memory_s", o.placement.memory_s, {"Memory time", "s"}, {.formula = "bytes / bandwidth"});
  f.real("launches_s", o.placement.launch_s, {"Launch time", "s"}, {.formula = "kernels x launch"});
  f.group("Work and traffic");
  f.real("flops_total", o.work.flops, {"Work", "FLOP"}, {.formula = "each multiply-add is two"});
  f.real("bytes_total", o.work.bytes, {"Traffic", "B"},
         "Each operand read once, each result written once: a lower bound.");
  f.real("kernels_total", o.work.kernels, "Kernels", "Launches; one for each operation of a model.");
  f.group("The chip");
  f.real("ridge", o.ridge, {"Ridge point", "FLOP/B"}, "From here on arithmetic, not memory, sets the pace.",
         {.formula = "peak / bandwidth", .source = roofline_source});
  f.real("square_side", o.square_side, "Square GEMM at ridge",
         "The smallest n for which an n^3 matmul is compute-bound.",
         {.formula = "n = 1.5 x ridge x bytes per element"});
  f.real("depth_at_ridge", o.depth_at_ridge, "Depth K at ridge",
         "The smallest K for which a matmul of M × K and K × N is compute-bound, with the M and N that are set.",
         {.absent = "M and N are so small that no K makes it compute-bound.",
          .formula = "K = r b M N / (2 M N - r b (M + N))"});
  f.real("peak_flops_per_s", o.machine.peak_flops_per_s, {"Peak", "FLOP/s"}, "Dense, in the chosen format.");
  f.real("bandwidth_bytes_per_s", o.machine.bandwidth_bytes_per_s, {"Memory bandwidth", "B/s"}, "As specified.");
  f.text("next_format", o.next_format, "Next faster format",
         "The format with the next higher ceiling on this chip; empty where there is none.");
  f.real("next_peak_flops_per_s", o.next_peak_flops_per_s, {"Its peak", "FLOP/s"}, "Dense, in the next faster format.",
         {.absent = "The chip has no faster format."});
  f.real("measured_peak_flops_per_s", o.measured_peak_flops_per_s, {"Measured of the peak", "FLOP/s"},
         "The most that a published matmul reached in this format.",
         {.absent = "Nobody published it for this chip and format, or measurements are not shown."});
  f.table("roofs", o.roofs, "Roofs");
  f.table("ceilings", o.ceilings, "Ceilings");
  describe_decode(f, o);
  f.group("Kernels");
  f.table("operations", o.operations, "Operations");
  f.table("measured_points", o.measured_points, "Measured points", {.max_items = 10000});
}

void describe(Fields& f, View& v) {
  f.toggle("zoomed", v.plot.zoomed, "Zoomed");
  const auto edge = [&](const char* key, double& slot, const char* label) {
    f.real(key, slot, label, {.range = {0, 1e300}});  // as far as a plot zooms
  };
  edge("x_lo", v.plot.x_lo, "Left");
  edge("x_hi", v.plot.x_hi, "Right");
  edge("y_lo", v.plot.y_lo, "Bottom");
  edge("y_hi", v.plot.y_hi, "Top");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"roofline/roofline", "Roofline", "Which ceiling stops this operation, and what would move it?"}, compute,
      arrange, draw);
}

}  // namespace chapters::roofline::roofline
