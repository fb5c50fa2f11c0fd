#include "chapters/distributed/moe/lab.h"

namespace chapters::distributed::moe {
namespace {

constexpr std::string_view training_source = "this small layer, trained here on generated tokens";
constexpr std::string_view switch_source = "Fedus, Zoph, Shazeer 2021";

void describe_load(Fields& f, Outputs& o) {
  f.group("Load of the experts");
  f.real("load_max", o.load_max, {"Fullest expert", "×"},
         "Copies that the fullest expert is asked to take, over the mean of all; before capacity.",
         {.headline = true, .formula = "max load / mean load"});
  f.real("dropped", o.dropped, {"Dropped", "%"}, "The share of all copies of tokens whose expert is full.",
         {.headline = true, .formula = "copies beyond capacity / all copies", .source = switch_source});
  f.real("capacity", o.capacity, "Capacity of an expert",
         "How many copies of 2,048 tested tokens it takes; 0 where there is no limit.",
         {.formula = "ceil(factor x tokens x k / experts)", .source = switch_source});
  f.real("without", o.without, {"Tokens without an expert", "%"}, {.formula = "all copies dropped"});
  f.real("copies", o.copies, "Copies", "Copies of the 2,048 tested tokens that experts are asked to take.");
  f.real("kept_copies", o.kept_copies, "Copies per token", {.formula = "kept copies / tokens"});
  f.real("idle_experts", o.idle_experts, "Experts without a token", "Experts that no tested token chose.");
  f.real("entropy", o.entropy, "Entropy of the load", {.formula = "-sum(s ln s) / ln(E)"});
  f.real("deviation", o.deviation, "Standard deviation over mean", {.formula = "sigma / mean of the loads"});
  f.real("rank_max", o.rank_max, {"Fullest rank", "×"}, {.formula = "max kept / mean kept, by rank"});
  f.reals("expert_load", o.expert_load, "Load by expert", "Copies asked for, over the mean.", {.max_items = 256});
}

void describe_learning(Fields& f, Outputs& o) {
  f.group("What it learned");
  f.real("loss", o.loss, {"Test loss", "%"},
         "On 2,048 tokens that it was not trained on. 100 % is what giving nothing would score with all words alike.",
         {.headline = true, .formula = "mean square error / mean square of the targets", .source = training_source});
  f.real("hot_topic_loss", o.hot_topic_loss, {"Loss, most frequent topic", "%"}, {.source = training_source});
  f.real("worst_topic_loss", o.worst_topic_loss, {"Loss, worst topic", "%"}, {.source = training_source});
  f.real("router_entropy", o.router_entropy, "Entropy of the gate", "1: a token's probabilities are all alike.",
         {.formula = "mean of -sum(p ln p) / ln(E)"});
  f.real("auxiliary", o.auxiliary, "E sum f P",
         "1 where load or probabilities are even; the auxiliary loss is alpha times it.",
         {.absent = "There is no gate.", .formula = "E sum(f P)", .source = switch_source});
  f.real(
      "bias_step", o.bias_step, "Last step of the bias", "The largest move of a bias after the last batch.",
      {.absent = "There is no bias.", .formula = "gamma sign(mean load - load)", .source = "DeepSeek-V3 report, 2024"});
}

/// Top-k on the same tokens and machine, not balanced and with a bias.
void describe_others(Fields& f, Outputs& o) {
  const Details compared{.absent = "Experts that are dealt out evenly are compared with no gate.",
                         .source = training_source};
  f.group("Other balancings");
  f.real("plain_loss", o.plain_loss, {"Test loss, not balanced", "%"}, "Top-k with nothing that balances it.",
         compared);
  f.real("plain_layer_s", o.plain_layer_s, {"Layer, not balanced", "s"}, "On the same machine.", compared);
  f.real("bias_loss", o.bias_loss, {"Test loss, with a bias", "%"}, "Top-k, balanced by a bias.", compared);
  f.real("bias_layer_s", o.bias_layer_s, {"Layer, with a bias", "s"}, "On the same machine.", compared);
}

void describe_time(Fields& f, Outputs& o) {
  f.group("Time of one layer, forward");
  f.real("layer_s", o.layer.layer_s, {"One expert layer", "s"}, "Forward; nothing overlapped.",
         {.headline = true, .formula = "local + dispatch + slowest experts + combine"});
  f.real("even_layer_s", o.even.layer_s, {"With an even load", "s"},
         "The same kept copies, spread evenly over all experts; longer than yours where they fill tiles of 128 rows "
         "worse.");
  f.real("slowdown", o.slowdown, {"Over the even one", "×"}, {.formula = "layer / even layer"});
  f.real("dispatch_s", o.layer.dispatch.time_s, {"Dispatch", "s"},
         {.formula = "least time + max over ranks(bytes / bandwidth)"});
  f.real("combine_s", o.layer.combine.time_s, {"Combine", "s"}, "The same way back, in BF16.");
  f.real("experts_s", o.layer.experts_s, {"Experts", "s"},
         "Time of the slowest rank: rows filled up to tiles of 128, or the weights' bytes, whichever is longer.",
         {.formula = "max over ranks(max(FLOPs / rate, bytes / bandwidth))"});
  f.real("mean_experts_s", o.layer.mean_experts_s, {"Experts, mean rank", "s"}, {.formula = "mean over ranks"});
  f.real("local_s", o.layer.local_s, {"Gate and permutation", "s"}, {.formula = "bytes / memory bandwidth"});
  f.real("expert_rate", o.expert_rate, {"Experts' share of peak", "%"},
         "Useful FLOPs of the slowest rank over its time.", {.formula = "FLOPs / time / peak"});
  f.real("exchange_s", o.exchange_s, {"Both exchanges", "s"}, {.formula = "dispatch + combine"});
  f.real("even_exchange_s", o.even_exchange_s, {"Both, even load", "s"}, {.formula = "dispatch + combine"});
  f.real("exchange_share", o.exchange_share, {"Dispatch and combine", "%"},
         {.formula = "(dispatch + combine) / layer"});
}

void describe_bytes(Fields& f, Outputs& o) {
  f.group("Bytes");
  f.real("tokens_per_rank", o.tokens_per_rank, {"Tokens per rank", "tokens"}, {.formula = "batch x sequence"});
  f.real("rank_rows", o.rank_rows, "Rows a rank works on", "The mean: what all ranks send to its experts.",
         {.formula = "tokens per rank x kept copies per token"});
  f.real("dispatch_bytes", o.layer.dispatch.sent_bytes, {"Dispatch sends", "B"}, "A rank to others, the mean of all.",
         {.formula = "copies to other ranks x bytes of a token"});
  f.real("combine_bytes", o.layer.combine.sent_bytes, {"Combine sends", "B"}, "The same way back.");
  f.real("even_dispatch_bytes", o.even_dispatch_bytes, {"Dispatch, even load", "B"},
         {.formula = "(N - 1) / N x tokens x copies x bytes of a token"});
  f.real("between_bytes", o.layer.dispatch.between_bytes, {"Dispatch between nodes", "B"},
         "The part of what dispatch sends that goes through the network.");
  f.real("received_bytes", o.layer.dispatch.received_bytes, {"Fullest rank receives", "B"},
         "In dispatch, from others.");
  f.real("even_nodes", o.even_nodes, "Nodes per token", "That it goes to, its own counted; the mean.");
  f.real("dispatch_logical", o.layer.dispatch.logical_bytes_per_s, {"Logical bandwidth, dispatch", "B/s"},
         "What a rank hands over, copies that stay on it or its node counted, over the time.",
         {.formula = "bytes handed over / time", .source = "the convention of DeepEP"});
  f.real("combine_logical", o.layer.combine.logical_bytes_per_s, {"Logical bandwidth, combine", "B/s"},
         {.formula = "bytes handed over / time"});
  f.group("One training step");
  f.real("step_exchange_s", o.step_exchange_s, {"All exchanges", "s"},
         "Dispatch and combine, forward and backward, not overlapped.",
         {.formula = "2 x layers x (dispatch + combine)"});
  f.real("even_step_exchange_s", o.even_step_exchange_s, {"With an even load", "s"},
         {.formula = "2 x layers x (dispatch + combine)"});
}

}  // namespace

void describe(Fields& f, ExpertRow& r) {
  f.integer("expert", r.expert, "Expert", "From 0.");
  f.text("ranks", r.ranks, "Rank", "That holds it; several where there are copies of it.");
  f.real("asked", r.asked, "Asked for", "Copies of 2,048 tested tokens.");
  f.real("kept", r.kept, "Kept", "Up to its capacity.");
  f.real("dropped", r.dropped, "Dropped", "Beyond it.");
  f.real("main_topic", r.main_topic, {"Main topic", "%"},
         "The most frequent topic's share of the tokens that it keeps.");
}
void describe(Fields& f, RankRow& r) {
  f.integer("rank", r.rank, "Rank", "From 0.");
  f.real("rows", r.rows, "Rows", "Copies that its experts work on in one layer.");
  f.real("dispatch_s", r.dispatch_s, {"Busiest link", "s"}, "In dispatch, without the least time.");
  f.real("experts_s", r.experts_s, {"Experts", "s"}, "Their matmuls.");
  f.real("idle", r.idle, {"Waits", "%"}, {.formula = "1 - its experts / the slowest rank's"});
}
void describe(Fields& f, BalanceRow& r) {
  f.text("name", r.name, "Balancing", "How top-k is balanced; all rows are trained on the same tokens.");
  f.real("loss", r.loss, {"Test loss", "%"}, "As above.");
  f.real("max_over_mean", r.max_over_mean, "Fullest expert", {.formula = "max load / mean load"});
  f.real("dropped", r.dropped, {"Dropped", "%"}, "The share of all copies whose expert is full.");
  f.real("layer_s", r.layer_s, {"One layer", "s"}, "On the same machine.");
  f.toggle("mine", r.mine, "Yours", "It is what the figures above speak of.");
}

void describe(Fields& f, AlphaRow& r) {
  f.real("alpha", r.alpha, "Weight", "alpha of the auxiliary loss.");
  f.real("loss", r.loss, {"Test loss", "%"}, "As above.");
  f.real("max_over_mean", r.max_over_mean, "Fullest expert", {.formula = "max load / mean load"});
  f.real("layer_s", r.layer_s, {"One layer", "s"}, "On the same machine.");
}

void describe(Fields& f, Outputs& o) {
  describe_load(f, o);
  describe_learning(f, o);
  describe_time(f, o);
  describe_bytes(f, o);
  describe_others(f, o);
  f.group("Tables");
  f.table("by_expert", o.experts, "Experts", {.max_items = 256});
  f.table("by_rank", o.ranks, "Ranks", {.max_items = 1024});
  f.table("weights", o.alphas, "Auxiliary loss by weight", {.max_items = 8});
  f.table("balancings", o.balances, "Ways of balancing", {.max_items = 3});
}

void describe(Fields& f, View& v) {
  f.real("time", v.playback.time_s, {"Rain", "s"}, "How far it has come; at the end all lies still.",
         {.range = {0, 1e9}});
  f.toggle("playing", v.playback.playing, "Playing", "Tokens fall by the clock.");
}

}  // namespace chapters::distributed::moe
