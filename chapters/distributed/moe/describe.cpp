#include "chapters/distributed/moe/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::distributed::moe {
namespace {

const Choices rule_choices = {
    {"top_k", "Top-k", "Each token goes to the k experts that the gate scores highest."},
    {"expert_choice", "Expert choice", "Each expert takes the tokens that score highest with it (Zhou et al. 2022)."},
    {"hash", "Hash", "A fixed table from words to experts; nothing is learned (Roller et al. 2021)."},
    {"dealt", "Dealt evenly", "Experts are dealt like cards, as benchmarks of communication do; no gate."},
};
static_assert(models::parallel::moe_rule_count == 4);
const Choices balance_choices = {
    {"none", "Not balanced", "The gate follows the task alone."},
    {"auxiliary", "Auxiliary loss", "alpha E sum of f P is added to the loss (GShard, Switch)."},
    {"bias", "Bias", "A bias for the choice alone, moved by a fixed step after each batch (DeepSeek-V3)."},
};
static_assert(models::parallel::moe_balance_count == 3);
const Choices placement_choices = {
    {"contiguous", "In order", "Rank 0 holds the first experts, rank 1 the next."},
    {"round_robin", "Round robin", "Expert e lies on rank e mod ranks."},
    {"by_load", "By load", "Packed by the load of the training's last tenth: heaviest first, then swaps."},
    {"replicated", "With copies", "As by load, with copies of the heaviest experts in spare slots."},
};
static_assert(models::parallel::moe_placement_rule_count == 4);
const Choices exchange_choices = {
    {"direct", "Each copy by itself", "As an all-to-all, or DeepEP's low-latency kernels."},
    {"once_per_node", "Once a node", "A token crosses the network once for each node, then spreads inside it."},
};
static_assert(models::parallel::moe_exchange_count == 2);
const Choices expert_formats = {{"bf16", "BF16", ""}, {"fp8", "FP8", ""}};
const Choices dispatch_formats = {
    {"bf16", "BF16", "Two bytes per element."},
    {"fp8", "FP8", "One byte per element and a 4-byte scale for 128 of them; combine stays BF16."},
};

void describe_routing(Fields& f, Inputs& in) {
  f.group("Routing");
  f.choice("rule", in.rule, rule_choices, "Routing", "Who chooses whom.", {.headline = true});
  f.choice("balance", in.balance, balance_choices, "Balancing", "What evens the load of the experts.",
           {.headline = true, .when = {"rule", "top_k"}});
  f.integer("experts", in.experts, "Experts",
            "Routed experts of the layer; the small layer that is trained has as many.",
            {.range = {2, 256, Scale::log}, .typical = {4, 64}});
  f.integer("top_k", in.top_k, "Experts per token", "k: experts that work on each token.", {.range = {1, 8}});
  f.real("capacity_factor", in.capacity_factor, "Capacity factor",
         "An expert takes at most this many times its even share; what is beyond is dropped. 0: no limit.",
         {.range = {0, 4}, .typical = {0, 2}, .headline = true});
  f.real("alpha", in.alpha, "Weight of the loss", "alpha of the auxiliary loss.",
         {.range = {1e-4, 30, Scale::log}, .typical = {1e-3, 10}, .when = {"balance", "auxiliary"}});
  f.real("gamma", in.gamma, "Step of the bias", "How far a bias moves after each batch, up or down.",
         {.range = {1e-4, 0.3, Scale::log}, .when = {"balance", "bias"}});
  f.real("z_loss", in.z_loss, "z-loss",
         "Weight of the squared log-sum-exp of the gate's logits, which keeps them small (ST-MoE).",
         {.range = {0, 0.1}, .when = {"rule", "top_k|expert_choice"}});
  f.integer("node_limit", in.node_limit, "Nodes per token",
            "A token may go to experts on at most so many nodes (DeepSeek-V3: 4). 0: any.",
            {.range = {0, 16}, .typical = {0, 4}, .when = {"rule", "top_k|dealt"}});
}

void describe_tokens(Fields& f, Inputs& in) {
  f.group("Tokens and training");
  f.real("skew", in.skew, "Skew of the topics",
         "Topic i of the texts is as frequent as 1 / i to this power; 0: all alike.",
         {.range = {0, 3}, .typical = {0, 2}});
  f.integer("topics", in.topics, "Topics", "Each has a map of its own to learn.", {.range = {1, 6}});
  f.real("word_difference", in.word_difference, "Words differ",
         "Weight of a word's own map next to its topic's: there is more to learn with more experts.",
         {.range = {0, 2}});
  f.integer("steps", in.steps, "Steps", "Updates of gate and experts, by Adam.",
            {.range = {20, 200}, .typical = {50, 200}, .costly = true});
  f.integer("step_tokens", in.step_tokens, "Tokens per step",
            "Tokens in a step of the small training; 2,048 others test it.", {.range = {64, 384, Scale::log}});
  f.integer("seed", in.seed, "Seed", "Draws tokens, maps and first weights.", {.range = {0, 1'000'000}});
}

void describe_ranks(Fields& f, Inputs& in) {
  f.group("Ranks");
  shared::parallel_expert(f, "ranks", in.ranks, {.help = "Ranks that share the layer's experts."});
  f.integer("ranks_per_node", in.ranks_per_node, "Ranks per node", "Ranks that fast links join.", {.range = {1, 72}});
  f.choice("placement", in.placement, placement_choices, "Placement",
           "Which rank holds which experts. Every rank holds as many.");
  f.integer("spare_slots", in.spare_slots, "Spare slots per rank", "For copies of the experts with most load.",
            {.range = {1, 4}, .when = {"placement", "replicated"}});
  f.choice("exchange", in.exchange, exchange_choices, "Exchange", "How copies of tokens travel to experts, and back.");
  shared::micro_batch(f, "batch", in.batch, {.help = "Sequences on each rank."});
  shared::sequence(f, "sequence", in.sequence, {.help = "Tokens of each; 1 in decode."});
}

void share_of_rate(Fields& f, std::string_view key, double& slot, std::string_view label, std::string_view help) {
  f.real(key, slot, {label, "%"}, help, {.range = {10, 100}, .typical = {50, 100}});
}

void describe_machine(Fields& f, Inputs& in) {
  f.group("Machine and layer");
  shared::chip(f, "chip", in.chip, {.help = "Every rank is one; its link joins the ranks of a node."});
  shared::network(f, "network", in.network, {.help = "Between nodes, one port per rank."});
  const auto width = [&](std::string_view key, std::int64_t& slot, std::string_view label, std::string_view help) {
    f.integer(key, slot, label, help, {.range = {64, 65536, Scale::log}, .typical = {1024, 16384}});
  };
  width("hidden", in.hidden, "Hidden width", "Values of a token that travels. DeepSeek-V3: 7,168.");
  width("expert_width", in.expert_width, "Width of an expert", "Inner width of gate, up and down. DeepSeek-V3: 2,048.");
  shared::format(f, "format", in.format, expert_formats, {.help = "The format of the experts' matmuls."});
  f.choice("dispatch_format", in.dispatch_format, dispatch_formats, "Dispatch in",
           "The format of tokens on their way to experts.");
  f.integer("layers", in.layers, "Expert layers", "How many the model has, for the time of one training step.",
            {.range = {1, 200}});
  share_of_rate(f, "inside_share", in.inside_share, "Reached inside a node",
                "A share of the link's line rate. 75 % is what all-to-all reached on A100 and GB300.");
  share_of_rate(f, "between_share", in.between_share, "Reached between nodes",
                "A share of the port's line rate. 90 % is what DeepEP V2 reached on two nodes.");
  share_of_rate(f, "matmul_share", in.matmul_share, "Reached in matmuls",
                "A share of the chip's peak, by full tiles. Assumed.");
  f.real("base_s", in.base_s, {"Least time", "s"},
         "What one exchange takes, however small. 25 \xC2\xB5s is the floor of small collectives over InfiniBand.",
         {.range = {0, 1e-3}, .typical = {0, 1e-4}});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  describe_routing(f, in);
  describe_tokens(f, in);
  describe_ranks(f, in);
  describe_machine(f, in);
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"distributed/moe",
       "Mixture of experts",
       "What does an uneven load of the experts cost, and what does evening it out cost?",
       {.job = true, .published_keys = "rule exchange ranks"}},
      [trainings = std::make_shared<Trainings>()](const Inputs& in, Progress& progress) {
        return compute(in, progress, *trainings);
      },
      arrange, draw);
}

}  // namespace chapters::distributed::moe
