#include "chapters/described/step_choices.h"
#include "chapters/distributed/tensor_parallel/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::distributed::tensor_parallel {
namespace {

const Choices cuts{{"column_row", "Column, then row", "Each rank's columns of A meet its own rows of B."},
                   {"column_column", "Column, then column", "Every rank needs all columns of f(XA) for its part of B."},
                   {"row_column", "Row, then column", "XA lies as a sum in pieces, and f needs the sum."},
                   {"row_row", "Row, then row", "The sum is scattered before f, each rank goes on with its columns."}};
static_assert(models::parallel::tensor_cut_count == 4);
const Choices blocks{{"attention", "Attention", "A: queries, keys, values. f: attention, head by head. B: output."},
                     {"feed_forward", "Feed-forward", "A: up, and gate where there is one. f: activation. B: down."}};
static_assert(models::parallel::tensor_block_count == 2);
const Choices overlaps{{"none", "None", "Every collective is waited for."},
                       {"weight_gradient", "Weight gradients",
                        "In the backward pass the sum of the input's gradient runs at the same time as the matmul for "
                        "the weights' gradient."},
                       {"ring", "Matmuls cut along the ring", "A block of rows is multiplied while the next travels."}};
static_assert(models::parallel::tensor_overlap_count == 3);

void describe_rates(Fields& f, Inputs& in) {
  const auto share = [&](std::string_view key, double& slot, std::string_view label, std::string_view help) {
    f.real(key, slot, {label, "%"}, help, {.range = {1, 100}, .typical = {40, 100}});
  };
  f.group("Rates reached");
  share("flops_reached", in.flops_reached, "Share of the peak",
        "Reached in full tiles. cuBLAS reached 62 to 77 % on an H100 in BF16, at a width of 4,096.");
  share("memory_reached", in.memory_reached, "Share of memory bandwidth",
        "The reached part of the chip's memory bandwidth.");
  share("link_reached", in.link_reached, "Share of the chip's link",
        "The reached part of one direction. Rings reach about 80 %: 235 of 300 GB/s on A100, 365 of 450 on H100.");
  share("network_reached", in.network_reached, "Share of the network",
        "The reached part of one direction of a rank's port: 47 of 50 GB/s.");
  f.real("call_s", in.call_s, {"A call", "s"},
         "What a collective takes before its first step: 6.6 us in NCCL's tuner for LL.",
         {.range = {0, 1e-3}, .typical = {0, 5e-5}});
  describe_inside_hop(f, in.inside_hop_s, 1e-3);
  describe_between_hop(f, in.between_hop_s, 1e-3);
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The cut");
  shared::model(f, "model", in.model, {.help = "Whose layers are cut: those of the kind that most layers are."});
  shared::chip(f, "chip", in.chip, {.help = "Every rank's."});
  f.choice("block", in.block, blocks, "Block", "Whose two matmuls are shown.");
  f.choice("cut", in.cut, cuts, "Cut", "How the first matrix is cut, then the second; in both blocks.",
           {.headline = true});
  shared::parallel_tensor(f, "tensor_parallel", in.ranks, {.label = "Ranks", .help = "That share every layer."});
  f.toggle("sequence_parallel", in.sequence_parallel, "Sequence parallel",
           "Norms and residuals are cut by tokens; a gather and a scatter take an all-reduce's place.",
           {.headline = true, .when = {"cut", "column_row"}});
  f.choice("overlap", in.overlap, overlaps, "Overlap", "What runs during the collectives.", {.headline = true});
  f.group("The tokens");
  shared::phase(f, "phase", in.phase, {.help = "Training has a backward pass; decode writes a token per sequence."});
  shared::micro_batch(f, "batch", in.batch, {.help = "Sequences of one micro-batch."});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of each.", .when = {"phase", "train|prefill"}});
  shared::context(f, "context", in.context, {.help = "Tokens attended to.", .when = {"phase", "decode"}});
  f.toggle("fused_attention", in.fused_attention, "Fused kernels",
           "Attention in one pass, element-wise operations fused; off: one kernel each, scores in memory.");
  f.toggle("dropout", in.dropout, "Dropout",
           "Masks of a byte are written, read again and kept. Fused attention makes its own anew.",
           {.when = {"phase", "train"}});
  f.group("The links");
  f.integer("ranks_per_node", in.ranks_per_node, "Ranks per node",
            "Behind one fast switch: 8 of an HGX box, 72 of an NVL72. 1: every collective leaves the node.",
            {.range = {1, 72, Scale::log}});
  shared::network(f, "network", in.network, {.help = "Between nodes; a port for every rank."});
  describe_rates(f, in);
  f.group("The numbers computed");
  f.integer("seed", in.seed, "Seed", "What the small block's numbers are drawn from.", {.range = {1, 1000}});
}

void describe(Fields& f, CutRow& r) {
  f.text("cut", r.cut, "Cut", "First matrix, then second.");
  f.text("between", r.between, "Between", "What runs between the two matmuls, forward.");
  f.text("behind", r.behind, "After", "What runs after the second, forward.");
  f.real("forward_bytes", r.forward_bytes, {"Sent forward", "B"}, "By each rank.");
  f.real("backward_bytes", r.backward_bytes, {"Sent backward", "B"}, "By each rank.");
  f.real("forward_s", r.forward_s, {"Takes forward", "s"}, "Its collectives alone.");
}
void describe(Fields& f, RankOperationRow& r) {
  f.text("operation", r.operation, "Operation", "An operation of one layer, in order.");
  f.text("part", r.part, "Cut", "How it lies on the ranks.");
  f.text("whole", r.whole, "Whole", "Rows x depth, depth x columns.");
  f.text("shape", r.shape, "On a rank", "The same on each.");
  f.real("forward_s", r.forward_s, {"Forward", "s"}, "On a rank.");
  f.real("backward_s", r.backward_s, {"Backward", "s"}, "On a rank.");
}
void describe(Fields& f, CollectiveRow& r) {
  f.text("block", r.block, "Block", "Attention or feed-forward.");
  f.text("collective", r.collective, "Collective", "Over all ranks of the layer.");
  f.text("pass", r.pass, "Pass", "Once more: the input, for the weights' gradient.");
  f.text("where", r.where, "Where", "Seen from the block's two matmuls.");
  f.real("sent_bytes", r.sent_bytes, {"Sent", "B"}, {.formula = "bus factor x bytes of the array"});
  f.real("time_s", r.time_s, {"Takes", "s"}, "Latency and transfer.");
  f.real("exposed_s", r.exposed_s, {"Exposed", "s"}, "Not hidden next to a matmul.");
}

namespace {

constexpr std::string_view no_train = "Activations are kept for a backward pass, and only training has one.";
constexpr std::string_view one_rank = "One rank sends nothing.";

void describe_layer(Fields& f, Outputs& o) {
  f.group("A layer");
  f.real("layer_s", o.layer_s, {"A layer", "s"},
         {.headline = true, .formula = "matmuls + other operations + exposed collectives"});
  f.real("exposed_share", o.exposed_share, {"Exposed", "%"},
         {.headline = true, .formula = "exposed collectives / a layer"});
  f.real("sent_bytes", o.forward.sent_bytes, {"A layer sends, forward", "B"},
         {.headline = true,
          .formula = "2 (t - 1) / t of the buffer for an all-reduce, half of it for a gather or scatter",
          .source = "Patarasuk, Yuan 2009"});
  f.real("speedup", o.speedup, {"Faster than one rank", "×"},
         {.headline = true, .formula = "a layer on one rank / a layer on t"});
  f.real("efficiency", o.efficiency, {"Efficiency", "%"}, {.formula = "faster / t"});
  f.group("Passes");
  f.real("forward_products_s", o.forward.products_s, {"Matmuls, forward", "s"}, "On a rank.");
  f.real("forward_other_s", o.forward.other_s, {"Other, forward", "s"}, "Norms, activations, attention, residuals.");
  f.real("forward_exposed_s", o.forward.exposed_s, {"Exposed, forward", "s"},
         "Collectives that nothing hides, and what cutting costs.");
  f.real("forward_s", o.forward_s, {"Forward", "s"},
         {.formula = "matmuls + other + exposed", .source = "roofline and tiling"});
  f.real("backward_s", o.backward_s, {"Backward", "s"}, {.formula = "matmuls + other + exposed"});
  f.real("forward_own_s", o.forward_own_s, {"Forward, without collectives", "s"}, {.formula = "matmuls + other"});
  f.real("backward_own_s", o.backward_own_s, {"Backward, without collectives", "s"}, "0 without a backward pass.");
  f.real("backward_exposed_s", o.backward.exposed_s, {"Exposed, backward", "s"}, "0 without a backward pass.");
  f.group("Collectives");
  f.integer("forward_collectives", o.forward.collectives, "Forward",
            "How many collectives a layer's forward pass runs.");
  f.integer("backward_collectives", o.backward.collectives, "Backward",
            "How many collectives a layer's backward pass runs.");
  f.real("backward_sent_bytes", o.backward.sent_bytes, {"Sent backward", "B"}, "By each rank, of a layer.");
  f.real("block_bytes", o.block_bytes, {"Sent by the block, forward", "B"}, "By each rank, in the shown block.");
  f.real("columns_rows_bytes", o.columns_rows_bytes, {"By columns, then rows", "B"},
         "What the shown block would send by each rank with that cut.");
  f.real("buffer_bytes", o.buffer_bytes, {"Summed after a block", "B"}, {.formula = "tokens x hidden x 2 B"});
  f.real("one_collective_s", o.one_collective_s, {"One of them", "s"},
         {.formula = "call + steps x latency + bytes / link"});
  f.real("across_share", o.across_share, {"Exposed across nodes", "%"}, "If every rank sat in a node of its own.",
         {.absent = one_rank});
  f.integer("largest", o.largest, "Ranks it can stand",
            "The most that leave at most 20 % of a layer exposed, up to 72.");
}

void describe_memory_and_totals(Fields& f, Outputs& o) {
  f.group("Memory of a rank");
  f.real("activation_bytes", o.activation_bytes, {"Activations of a layer", "B"},
         {.absent = no_train,
          .formula = "what every operation keeps for the backward pass",
          .source = "Korthikanti et al. 2022 for a GPT layer"});
  f.real("activation_whole_bytes", o.activation_whole_bytes, {"On a single rank", "B"},
         "The same layer's activations, not cut.", {.absent = no_train});
  f.real("weight_bytes", o.weight_bytes, {"Weights of all layers", "B"}, "Without embeddings.");
  f.real("kv_copies", o.kv_copies, "Copies of a key head",
         {.formula = "t / key heads where there are fewer than ranks"});
  f.real("kv_bytes_per_token", o.kv_bytes_per_token, {"Cache of a token", "B"},
         "Keys and values of all layers, on a rank.");
  f.group("All layers");
  f.real("model_s", o.model_s, {"All layers", "s"}, "Without embedding, logits and loss.");
  f.real("model_exposed_s", o.model_exposed_s, {"All layers, exposed", "s"},
         {.formula = "layers x exposed collectives"});
  f.integer("model_collectives", o.model_collectives, "Collectives",
            "How many one micro-batch or one step of decode takes, over all layers and passes.");
  f.group("Computed from pieces");
  f.real("sum_error", o.sum_error, "Off by",
         {.formula = "largest |pieces - whole| / largest |whole|", .source = "computed here"});
  f.real("gradient_error", o.gradient_error, "Gradient off by",
         "How far the gradient of the block's input is off when the pieces give it, in double precision.");
  f.real("without_between", o.without_between, {"Off without the one between", "%"},
         "If every rank went on with what it has after the first matmul.",
         {.absent = "This cut has no collective between the matmuls."});
  f.group("Cut along the ring");
  const std::string_view ring_absent = "A ring needs two ranks, and tokens that divide over them.";
  f.real("ring_whole_s", o.ring_whole_s, {"Gather, then matmuls", "s"},
         "The shown block's gather and first matmuls, one after the other.", {.absent = ring_absent});
  f.real("ring_s", o.ring_s, {"Block by block", "s"}, "Run step by step.", {.absent = ring_absent});
  f.real(
      "ring_closed_form_s", o.ring_closed_form_s, {"Closed form", "s"},
      {.absent = ring_absent, .formula = "block + (t - 1) max(block, transfer)", .source = "Wang et al., ASPLOS 2023"});
  f.group("Tables");
  f.table("cuts", o.cuts, "Cuts of the block");
  f.table("operations", o.operations, "Operations", {.max_items = 64});
  f.table("collectives", o.collectives, "Collectives", {.max_items = 32});
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_layer(f, o);
  describe_memory_and_totals(f, o);
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"distributed/tensor-parallel",
       "Tensor parallel",
       "Which cut of a layer has to send what?",
       {.published_keys = "model chip tensor_parallel sequence_parallel phase"}},
      [](const Inputs& in, Progress& progress) { return compute(in, progress); }, arrange, draw);
}

}  // namespace chapters::distributed::tensor_parallel
