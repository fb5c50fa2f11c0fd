#include <algorithm>
#include <numeric>

#include "chapters/distributed/moe/lab.h"
#include "chapters/mechanism/catalog.h"

namespace chapters::distributed::moe {
namespace {

using namespace models::parallel;

constexpr const char* stopped = "The training was stopped before its end.";

std::int64_t nodes_of(const Inputs& in) { return (in.ranks + in.ranks_per_node - 1) / in.ranks_per_node; }
/// Whether a token may visit a part of the nodes only.
bool limits_nodes(const Inputs& in) {
  const bool can = in.rule == MoeRule::top_k || in.rule == MoeRule::dealt;
  return can && in.node_limit > 0 && in.node_limit < nodes_of(in);
}

/// What an input does not touch under the rule is left at its default, so that runs are kept across it.
MoeTrainingSetting training_of(const Inputs& in, MoeRule rule, MoeBalance balance) {
  MoeTrainingSetting s;
  s.task = {in.topics, in.skew, in.word_difference, in.seed};
  s.routing = {
      .rule = rule,
      .experts = in.experts,
      .top_k = in.top_k,
      .capacity_factor = in.capacity_factor,
      .groups = 1,
      .group_limit = 0,
      .seed = in.seed,
  };
  if (limits_nodes(in)) {
    s.routing.groups = nodes_of(in);
    s.routing.group_limit = in.node_limit;
  }
  if (rule == MoeRule::top_k) s.balance = balance;
  if (s.balance == MoeBalance::auxiliary) s.alpha = in.alpha;
  if (s.balance == MoeBalance::bias) s.gamma = in.gamma;
  if (rule == MoeRule::top_k || rule == MoeRule::expert_choice) s.z_loss = in.z_loss;
  s.steps = in.steps;
  s.tokens = in.step_tokens;
  return s;
}

double format_bytes_of(MoeFormat format) { return format == MoeFormat::fp8 ? 1 : 2; }

/// What the machine makes of a routing.
struct Priced {
  MoePlacement placement;
  MoeLayerTime layer, even;
  double rank_max = 1, even_nodes = 1;
};

std::vector<double> kept_per_token(const MoeRouted& routed) {
  std::vector<double> load;
  for (const std::int64_t kept : routed.kept)
    load.push_back(static_cast<double>(kept) / static_cast<double>(moe_test_tokens));
  return load;
}

models::Result<Priced> price(const Inputs& in, const MoeChip& chip, const MoeLinks& links, const MoeTrained& run) {
  auto placement =
      place_experts({in.placement, in.ranks, nodes_of(in), in.spare_slots, limits_nodes(in)}, run.trained_load);
  if (!placement) return models::Result<Priced>::fail(placement.error);
  Priced out;
  out.placement = std::move(*placement);
  const std::vector<double> load = kept_per_token(run.routed);
  const std::vector<double> by_rank = rank_loads(out.placement, load);
  out.rank_max = max_over_mean(by_rank);
  MoeLayerShape shape{static_cast<double>(in.hidden),
                      static_cast<double>(in.expert_width),
                      format_bytes_of(in.format),
                      format_bytes_of(in.dispatch_format),
                      in.dispatch_format == MoeFormat::fp8 ? 128.0 : 0.0,
                      2};
  const MoeExchangeSetting exchange{in.exchange, in.ranks, in.ranks_per_node,
                                    static_cast<double>(in.batch) * static_cast<double>(in.sequence), links};
  const double tokens = exchange.tokens_per_rank * static_cast<double>(in.ranks);
  const MoeTraffic traffic = count_traffic(run.routed, moe_test_tokens, out.placement, in.ranks_per_node);
  const auto experts = static_cast<double>(in.experts), top_k = static_cast<double>(in.top_k);
  out.layer = moe_layer_time(shape, chip, exchange, traffic, slot_rows(out.placement, load, tokens), experts, top_k);
  // Evenly: every expert as much as the mean, without copies of any.
  const std::vector<double> flat(load.size(),
                                 std::accumulate(load.begin(), load.end(), 0.0) / static_cast<double>(load.size()));
  const auto plain = place_experts({MoePlacementRule::contiguous, in.ranks, 1, 0, false}, flat);
  const MoeTraffic even = even_traffic(traffic);
  out.even = moe_layer_time(shape, chip, exchange, even, slot_rows(*plain, flat, tokens), experts, top_k);
  out.even_nodes = std::accumulate(even.to_node_once.begin(), even.to_node_once.end(), 0.0);
  return models::Result<Priced>::ok(std::move(out));
}

void count_experts(const Inputs& in, const MoeTrained& run, const MoePlacement& placement, Outputs& out) {
  const auto experts = static_cast<std::size_t>(in.experts);
  std::vector<std::array<double, moe_max_topics>> topics(experts);
  for (const MoeCopy& copy : run.routed.copies)
    if (copy.kept) topics[copy.expert][run.test.topics[copy.token]] += 1;
  std::vector<double> asked(run.routed.asked.begin(), run.routed.asked.end());
  const double mean = std::accumulate(asked.begin(), asked.end(), 0.0) / static_cast<double>(experts);
  for (std::size_t e = 0; e < experts; ++e) {
    ExpertRow row;
    row.expert = static_cast<std::int64_t>(e);
    row.asked = asked[e];
    row.kept = static_cast<double>(run.routed.kept[e]);
    row.dropped = row.asked - row.kept;
    row.main_topic = row.kept > 0 ? 100 * *std::max_element(topics[e].begin(), topics[e].end()) / row.kept : 0;
    for (const std::int32_t r : placement.ranks[e]) row.ranks += (row.ranks.empty() ? "" : ", ") + std::to_string(r);
    out.experts.push_back(std::move(row));
    out.expert_load.push_back(mean > 0 ? asked[e] / mean : 0);
  }
  out.load_max = max_over_mean(asked);
  out.idle_experts = static_cast<double>(std::count(asked.begin(), asked.end(), 0.0));
  out.entropy = load_entropy(asked);
  out.deviation = load_deviation(asked);
}

void judge_loss(const MoeTrained& run, Outputs& out) {
  std::array<double, moe_max_topics> error{}, count{};
  for (std::size_t t = 0; t < run.test.size(); ++t) {
    error[run.test.topics[t]] += run.token_error[t];
    count[run.test.topics[t]] += 1;
  }
  out.loss = 100 * run.test_loss;
  out.hot_topic_loss = count[0] > 0 ? 100 * error[0] / count[0] : 0;
  for (std::size_t i = 0; i < error.size(); ++i)
    if (count[i] > 0) out.worst_topic_loss = std::max(out.worst_topic_loss, 100 * error[i] / count[i]);
}

void keep_times(const Inputs& in, const MoeChip& chip, Outputs& out) {
  const auto& l = out.layer;
  out.slowdown = l.layer_s / out.even.layer_s;
  out.exchange_s = l.dispatch.time_s + l.combine.time_s;
  out.even_exchange_s = out.even.dispatch.time_s + out.even.combine.time_s;
  out.exchange_share = 100 * out.exchange_s / l.layer_s;
  // The backward pass exchanges once more each way.
  const double passes = 2 * static_cast<double>(in.layers);
  out.step_exchange_s = passes * out.exchange_s;
  out.even_step_exchange_s = passes * out.even_exchange_s;
  out.even_dispatch_bytes = out.even.dispatch.sent_bytes;
  const MoeRankTime& slow = l.ranks[static_cast<std::size_t>(l.slowest)];
  if (l.experts_s > 0) out.expert_rate = 100 * slow.flops / l.experts_s / chip.peak_flops_per_s;
  for (std::size_t r = 0; r < l.ranks.size(); ++r)
    out.ranks.push_back({static_cast<std::int64_t>(r), l.ranks[r].rows, l.dispatch.rank_s[r], l.ranks[r].time_s(),
                         l.experts_s > 0 ? 100 * (1 - l.ranks[r].time_s() / l.experts_s) : 0});
}

models::Result<MoeChip> chip_of(const Inputs& in) {
  const auto chip = find_chip(in.chip);
  if (!chip) return models::Result<MoeChip>::fail(chip.error);
  const models::Format format = in.format == MoeFormat::fp8 ? models::Format::fp8 : models::Format::bf16;
  const auto peak = (*chip)->peak_flops_per_s(format);
  if (!peak)
    return models::Result<MoeChip>::fail("The " + (*chip)->short_name + " states no " +
                                         std::string(models::format_label(format)) + " peak: take another format.");
  return models::Result<MoeChip>::ok({*peak, in.matmul_share / 100, (*chip)->memory_bandwidth_bytes_per_s});
}

models::Result<MoeLinks> links_of(const Inputs& in) {
  const auto chip = find_chip(in.chip);
  if (!chip) return models::Result<MoeLinks>::fail(chip.error);
  const auto& link = (*chip)->interconnect;
  const auto network = find_network(in.network);
  if (!network) return models::Result<MoeLinks>::fail(network.error);
  const bool inside = in.ranks_per_node > 1 && in.ranks > 1;
  if (inside && !(link.bytes_per_s_per_direction && *link.bytes_per_s_per_direction > 0))
    return models::Result<MoeLinks>::fail("The " + (*chip)->short_name +
                                          " states no bandwidth of a link to its neighbours: set one rank per node.");
  return models::Result<MoeLinks>::ok({link.bytes_per_s_per_direction.value_or(1e9) * in.inside_share / 100,
                                       (*network)->bytes_per_s_per_direction * in.between_share / 100, in.base_s});
}

}  // namespace

std::string_view balance_name(std::size_t balance) {
  static constexpr std::array<std::string_view, moe_balance_count> names{"not balanced", "auxiliary loss", "bias"};
  return names[balance];
}

namespace {

/// The sentence that says why nothing can be computed; empty where all is well.
std::string problem_of(const Inputs& in, const MoeTrainingSetting& mine) {
  if (const models::Status routing = check_moe_routing(mine.routing); !routing) return routing.error;
  const auto placed =
      place_experts({in.placement, in.ranks, nodes_of(in), in.spare_slots, mine.routing.group_limit > 0},
                    std::vector<double>(static_cast<std::size_t>(in.experts), 1.0));
  return placed ? std::string() : placed.error;
}

/// What becomes of the copies of the tested tokens.
void count_copies(const Inputs& in, const MoeTrained& mine, Outputs& out) {
  const MoeRouted& routed = mine.routed;
  out.copies = static_cast<double>(routed.copies.size());
  out.dropped = 100 * static_cast<double>(routed.dropped) / out.copies;
  out.without = 100 * static_cast<double>(routed.tokens_without) / static_cast<double>(moe_test_tokens);
  out.kept_copies = (out.copies - static_cast<double>(routed.dropped)) / static_cast<double>(moe_test_tokens);
  out.capacity = static_cast<double>(routed.capacity);
  out.router_entropy = mine.router_entropy;
  out.auxiliary = mine.auxiliary;
  if (in.rule == MoeRule::top_k && in.balance == MoeBalance::bias) out.bias_step = mine.bias_step;
  out.tokens_per_rank = static_cast<double>(in.batch) * static_cast<double>(in.sequence);
  out.rank_rows = out.tokens_per_rank * out.kept_copies;
}

/// A training of top-k and what its routing costs on the same machine.
AlphaRow cost_of(const Inputs& in, const MoeChip& chip, const MoeLinks& links, const MoeTrained& trained) {
  Inputs other = in;
  other.rule = MoeRule::top_k;
  if (in.rule != MoeRule::top_k) other.node_limit = 0;
  const auto cost = price(other, chip, links, trained);
  const std::vector<double> asked(trained.routed.asked.begin(), trained.routed.asked.end());
  return {0, 100 * trained.test_loss, max_over_mean(asked), cost ? cost->layer.layer_s : 0};
}

void compare_balances(const Inputs& in, const MoeChip& chip, const MoeLinks& links, const Run& run, Outputs& out) {
  for (std::size_t b = 0; b < run.by_balance.size() && run.by_balance[b]; ++b) {
    const MoeTrained& t = *run.by_balance[b];
    const bool mine = in.rule == MoeRule::top_k && static_cast<std::size_t>(in.balance) == b;
    const AlphaRow row = mine ? AlphaRow{0, out.loss, out.load_max, out.layer.layer_s} : cost_of(in, chip, links, t);
    out.balances.push_back({std::string(balance_name(b)), row.loss, row.max_over_mean,
                            100 * static_cast<double>(t.routed.dropped) / static_cast<double>(t.routed.copies.size()),
                            row.layer_s, mine});
  }
  if (out.balances.size() < moe_balance_count) return;
  const BalanceRow &plain = out.balances[static_cast<std::size_t>(MoeBalance::none)],
                   &bias = out.balances[static_cast<std::size_t>(MoeBalance::bias)];
  out.plain_loss = plain.loss;
  out.plain_layer_s = plain.layer_s;
  out.bias_loss = bias.loss;
  out.bias_layer_s = bias.layer_s;
}

}  // namespace

Computed compute(const Inputs& in, Progress& progress, Trainings& trainings) {
  Computed done;
  Outputs& out = done.facts;
  const auto chip = chip_of(in);
  const auto links = links_of(in);
  const std::string problem = problem_of(in, training_of(in, in.rule, in.balance));
  for (const std::string* error : {&chip.error, &links.error, &problem})
    if (!error->empty()) {
      out.reason = *error;
      return done;
    }
  const auto train = [&](const Inputs& of, MoeRule rule, MoeBalance balance) {
    return trainings.runs.get(training_of(of, rule, balance), [&](const MoeTrainingSetting& s) {
      const auto tokens = trainings.tokens.get({s.task, s.tokens}, [](const Trainings::Drawn& drawn) {
        return std::make_shared<const MoeTrainingTokens>(draw_training_tokens(drawn.task, drawn.step_tokens));
      });
      return train_moe(s, *tokens, &progress.cancelled);
    });
  };
  const auto stop = [&] {
    out = {.reason = stopped};
    return done;
  };
  Run run;
  run.mine = train(in, in.rule, in.balance);
  progress.fraction = 0.25;
  for (std::size_t b = 0; b < run.by_balance.size() && in.rule != MoeRule::dealt; ++b) {
    run.by_balance[b] = train(in, MoeRule::top_k, static_cast<MoeBalance>(b));
    progress.fraction = progress.fraction + 0.25;
  }
  if (progress.cancelled || !run.mine) return stop();
  auto priced = price(in, *chip, *links, *run.mine);
  if (!priced) {
    out.reason = priced.error;
    return done;
  }
  run.placement = std::move(priced->placement);
  out.layer = std::move(priced->layer);
  out.even = std::move(priced->even);
  out.rank_max = priced->rank_max;
  out.even_nodes = priced->even_nodes;
  count_copies(in, *run.mine, out);
  count_experts(in, *run.mine, run.placement, out);
  judge_loss(*run.mine, out);
  keep_times(in, *chip, out);
  compare_balances(in, *chip, *links, run, out);
  if (in.rule == MoeRule::top_k && in.balance == MoeBalance::auxiliary)
    for (const double alpha : {0.01, 0.1, 1.0, 10.0}) {
      Inputs other = in;
      other.alpha = alpha;
      const auto found = train(other, in.rule, in.balance);
      if (!found) return stop();
      out.alphas.push_back(cost_of(in, *chip, *links, *found));
      out.alphas.back().alpha = alpha;
    }
  if (!progress.facts_alone) done.run = std::make_shared<const Run>(std::move(run));
  return done;
}

}  // namespace chapters::distributed::moe
