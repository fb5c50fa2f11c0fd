#include "chapters/distributed/context/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::distributed::context {
namespace {

const Choices orders{
    {"contiguous", "Contiguous", "Rank r holds the r-th piece of the sequence."},
    {"zig_zag", "Zig-zag", "Rank r holds the r-th from the front and the r-th from the back of twice as many pieces."},
    {"striped", "Striped", "Every n-th token."}};
static_assert(models::parallel::context_order_count == 3);
const Choices methods{{"ring", "Ring", "Keys and values go round, one rank further in each step."},
                      {"gather", "Gather", "Keys and values are gathered first; Llama 3 does so."},
                      {"all_to_all", "All-to-all", "Tokens become heads and then tokens (Ulysses)."}};
static_assert(models::parallel::context_method_count == 3);
const Choices passes{{"forward", "Forward", "Two matmuls per pair of query and key."},
                     {"backward", "Backward", "Five matmuls per pair; gradients of keys and values travel as well."}};
static_assert(attention_pass_count == 2);
const Choices links{{"network", "The network", "Ranks sit in different nodes."},
                    {"chip", "The chip's own", "Ranks sit at one switch."}};
static_assert(ring_link_count == 2);
const Choices recomputes{{"none", "None", "Everything is kept."},
                         {"selective", "Selective", "Scores are recomputed."},
                         {"full", "Every layer", "Only the input of each layer is kept."}};

const Choices losses{{"eager", "Eager", "FP32, three times: 12 B a logit."},
                     {"parallel", "In place", "16 bits and an FP32 copy: 6 B a logit."},
                     {"fused", "Fused", "2 B a logit."},
                     {"chunked", "In eight parts", "An eighth of the tokens at a time: 1.5 B a logit."},
                     {"eager_sharded", "Eager, split words", "Four tensors in FP32: 16 B a logit."}};
static_assert(models::memory::loss_kind_count == 5);

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The sequence");
  shared::parallel_context(f, "context_parallel", in.ranks, {.label = "Ranks", .help = "That share each sequence."});
  f.choice("order", in.order, orders, "Order", "Which tokens a rank holds.", {.headline = true});
  f.choice("method", in.method, methods, "Method", "How queries meet the keys of other ranks.", {.headline = true});
  shared::sequence(f, "sequence", in.sequence,
                   {.help = "Tokens of each sequence, over all ranks; padded to a multiple of 2n."});
  shared::micro_batch(f, "batch", in.batch, {.help = "Sequences of one micro-batch."});
  f.toggle("causal", in.causal, "Causal", "A query sees no later key; off: all of them.", {.headline = true});
  f.choice("pass", in.pass, passes, "Pass", "Which pass of one layer's attention is timed.");
  f.group("Model and link");
  shared::model(f, "model", in.model,
                {.help = "Its heads say what travels, its layers what must fit. Layers with a sliding window count as "
                         "full attention."});
  shared::chip(f, "chip", in.chip, {.help = "Every rank's."});
  shared::parallel_tensor(f, "tensor_parallel", in.tensor,
                          {.help = "Ranks that share the heads as well; each has a ring of its own."});
  f.choice("link", in.link, links, "Link", "From a rank to the next one of the ring.");
  shared::network(f, "network", in.network, {.help = "A port for every rank.", .when = {"link", "network"}});
  f.group("Rates reached");
  const auto share = [&](std::string_view key, double& slot, std::string_view label, std::string_view help, When when) {
    f.real(key, slot, {label, "%"}, help, {.range = {1, 100}, .typical = {20, 100}, .when = when});
  };
  share("flops_reached", in.flops_reached, "Share of the peak",
        "Reached by fused attention: 62 % forward and 54 % backward on an H100 at 16,384 tokens; triangles of 2,048 "
        "tokens 42 and 27 %.",
        {});
  share("network_reached", in.network_reached, "Share of the network",
        "The reached part of one direction: 47 of 50 GB/s.", {"link", "network"});
  share("link_reached", in.link_reached, "Share of the chip's link", "The reached part of one direction.",
        {"link", "chip"});
  f.real("message_s", in.message_s, {"A message", "s"}, "Before its first byte arrives.",
         {.range = {0, 1e-3}, .typical = {0, 5e-5}});
  f.group("Memory");
  shared::parallel_data(f, "data_parallel", in.data, {.help = "Replicas over which states are split, with the ranks."});
  shared::parallel_pipeline(f, "pipeline", in.pipeline, {.help = "The memory of the first stage is counted."});
  f.integer("zero_stage", in.zero_stage, "ZeRO stage", "1 splits optimizer states, 2 gradients, 3 weights.",
            {.range = {0, 3}});
  f.choice("recompute", in.recompute, recomputes, "Recompute", "What the backward pass makes anew.");
  f.choice("loss", in.loss, losses, "Loss", "How often the logits of a rank's tokens exist at once.");
  f.group("The numbers computed");
  f.integer("seed", in.seed, "Seed", "What the small attention's numbers are drawn from.", {.range = {1, 1000}});
}

void describe(Fields& f, TileRow& r) {
  f.integer("step", r.step, "Step", "From 0, with each rank's own keys.");
  f.integer("rank", r.rank, "Rank", "Whose queries.");
  f.integer("keys_of", r.keys_of, "Keys of", "The rank that they began at.");
  f.real("pairs", r.pairs, "Pairs", "Pairs of a query and a key that it may see, in one head.");
  f.real("compute_s", r.compute_s, {"Computes", "s"}, {.formula = "pairs x flops per pair / rate"});
  f.real("waits_s", r.waits_s, {"Waits", "s"}, {.formula = "the step - computes"});
}
void describe(Fields& f, MethodRow& r) {
  const std::string_view absent = "The heads do not allow it.";
  const auto value = [&](std::string_view key, double& slot, std::string_view label, std::string_view unit,
                         std::string_view help) {
    f.real(key, slot, {label, unit}, help, {.absent = absent});
  };
  f.text("method", r.method, "Method", "How queries meet keys.");
  value("time_s", r.cost.time_s, "Attention", "s", "What one layer takes in one pass.");
  value("exposed_s", r.cost.exposed_s, "Exposed", "s", "Transfers that no compute covers.");
  value("sent_bytes", r.cost.sent_bytes, "Sent", "B", "By each rank, of one layer and pass.");
  value("held_bytes", r.cost.held_bytes, "Keys held", "B", "Keys and values on a rank at once.");
  f.text("why_not", r.why_not, "Why not", "Empty where it can be done.", {.max_bytes = 512});
}
void describe(Fields& f, SoftmaxRow& r) {
  f.integer("step", r.step, "Step", "A step of the small ring.");
  f.text("keys_of", r.keys_of, "Keys of", "The rank that they began at.");
  f.real("largest", r.largest, "Largest score", "So far: m.");
  f.real("sum", r.sum, "Sum", {.formula = "l = sum of exp(score - m)"});
  f.real("result", r.result, "Result", "So far, its first number: that of the whole in the end.");
}

void describe(Fields& f, Outputs& o) {
  f.group("A layer's attention");
  f.real("attention_s", o.attention_s, {"Attention", "s"}, "What one layer takes in one pass, by the chosen method.",
         {.headline = true,
          .against = {"other order", "beside_s"},
          .formula = "ring: sum over steps of max(slowest tile, transfer)"});
  f.real("busy_share", o.busy_percent, {"Busy", "%"},
         {.headline = true, .formula = "work of all ranks / (ranks x attention)"});
  f.real("speedup", o.speedup, {"Faster than contiguous", "×"},
         {.headline = true,
          .formula = "the contiguous ring's time / attention",
          .source = "lock-step, computed tile by tile"});
  f.real("closed_form", o.slowdown_closed_form, {"By closed form", "×"},
         "An even order over contiguous, of a causal ring whose transfers hide.", {.formula = "(2n - 1) / n"});
  f.real("exposed_s", o.exposed_s, {"Exposed", "s"}, "Transfers that no compute covers.");
  f.real("beside_s", o.beside_s, {"The other order", "s"},
         "A ring in contiguous order, or zig-zag where that is chosen.");
  f.real("ring_s", o.ring_s, {"As a ring", "s"}, "A ring in the chosen order, whatever the method.");
  f.group("A step");
  f.real("largest_pairs", o.largest_pairs, "Largest tile", "Pairs of the slowest rank, in one head.");
  f.real("fair_pairs", o.fair_pairs, "An even tile", {.formula = "all pairs / n^2"});
  f.real("tile_compute_s", o.tile_compute_s, {"Computes", "s"},
         {.formula = "pairs x 4 heads x width / rate", .source = "two matmuls per pair"});
  f.real("transfer_s", o.transfer_s, {"Transfer", "s"},
         {.formula = "message + 2 x tokens x key heads x width x 2 B / link"});
  f.integer("padded_sequence", o.sequence, {"Sequence, padded", "tokens"},
            "To a multiple of 2n, so that every rank has as many.");
  f.real("rank_tokens", o.rank_tokens, {"Tokens per rank", "tokens"}, {.formula = "sequence / n"});
  f.real("hiding_tokens", o.hiding_tokens, {"Transfers hide from", "tokens"},
         "For a ring, which sends while it computes; a gather and an all-to-all are waited for.",
         {.headline = true,
          .formula = "c where the tile's flops / rate = message + bytes of c tokens / link",
          .source = "Liu et al. 2023, section 3"});
  f.group("Traffic");
  f.real("sent_bytes", o.sent_bytes, {"Sent by a rank", "B"}, "What a rank sends in one layer and pass.");
  f.table("methods", o.methods, "Methods");
  f.group("Memory and reach");
  f.real("memory_bytes", o.memory_bytes, {"Memory of a rank", "B"},
         "Training at this sequence: states, activations and loss.", {.absent = "The plan cannot be split so."});
  f.real("one_rank_memory_bytes", o.one_rank_memory_bytes, {"Without context parallel", "B"},
         "The same replicas, a sequence on each.", {.absent = "The plan cannot be split so."});
  f.real("chip_bytes", o.chip_bytes, {"The chip has", "B"}, "Its nameplate.");
  f.integer("reach", o.reach, {"Longest sequence", "tokens"}, "That fits; 0: none does. Up to 2^26.");
  f.integer("one_rank_reach", o.one_rank_reach, {"Without context parallel", "tokens"},
            "The longest sequence on one rank.");
  f.group("Really computed");
  f.real("ring_error", o.ring_error, "Ring off by",
         {.formula = "largest |ring - whole| / largest |whole|", .source = "computed here"});
  f.real("all_to_all_error", o.all_to_all_error, "All-to-all off by", "The same by dealt heads.");
  f.real("averaged_error", o.averaged_error, {"Off if averaged", "%"},
         "If blocks' results were averaged, not weighed by their sums.");
  f.group("Tables");
  f.table("tiles", o.tiles, "Tiles", {.max_items = 4096});
  f.table("softmax", o.softmax, "One query's softmax", {.max_items = 64});
}

void describe(Fields& f, View& v) {
  f.real("time", v.playback.time_s, "Step shown", "A step of the ring as drawn, from 0; a fraction is on the way.",
         {.range = {0, 6}});
  f.toggle("playing", v.playback.playing, "Playing", "The keys move on by themselves.");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"distributed/context",
       "Context",
       "Who computes which part of the triangle, and who waits?",
       {.published_keys = "model chip context_parallel sequence order method"}},
      [](const Inputs& in, Progress& progress) { return compute(in, progress); }, arrange, draw);
}

}  // namespace chapters::distributed::context
