#include "models/parallel/moe/moe_exchange.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <numeric>

#include "models/base/counter_random.h"
#include "models/machine/op_cost.h"
#include "models/parallel/moe/moe_layer_time.h"
#include "models/parallel/planner/planner_traffic.h"
#include "tests/support/base/near.h"

using namespace models::parallel;
using support::near;

namespace {

MoeRouted dealt_routes(std::int64_t experts, std::int64_t k, std::size_t tokens) {
  MoeRouted r;
  route_tokens({.rule = MoeRule::dealt, .experts = experts, .top_k = k, .capacity_factor = 0}, tokens, {}, {}, nullptr,
               r);
  return r;
}
MoeTraffic dealt_traffic(std::int64_t experts, std::int64_t k, std::int64_t ranks) {
  const auto placement = place_experts({.ranks = ranks}, std::vector<double>(static_cast<std::size_t>(experts), 1.0));
  return count_traffic(dealt_routes(experts, k, 2048), 2048, *placement, 8);
}
double fullest_rank(const MoePlacementSetting& s, const std::vector<double>& load) {
  const auto placed = place_experts(s, load);
  REQUIRE(placed);
  for (const auto& slots : placed->experts) CHECK(slots.size() == placed->experts[0].size());
  const std::vector<double> ranks = rank_loads(*placed, load);
  CHECK(near(std::accumulate(ranks.begin(), ranks.end(), 0.0), std::accumulate(load.begin(), load.end(), 0.0)));
  return *std::max_element(ranks.begin(), ranks.end());
}

}  // namespace

TEST_CASE("an even all-to-all sends (N - 1) / N of the copies: 0.94 GB of drill 7 of S1") {
  const MoeExchangeSetting s{.ranks = 8, .tokens_per_rank = 32768, .links = {450e9, 50e9, 0}};
  const MoeExchangeTime t = exchange_time(s, dealt_traffic(8, 2, 8), 8192 * 2);
  CHECK(near(t.sent_bytes, 32768.0 * 2 * 16384 * 7 / 8));
  CHECK(near(t.received_bytes, t.sent_bytes));
  CHECK(near(t.time_s, t.sent_bytes / 450e9));
  CHECK(t.between_bytes == 0);
  CHECK(exchange_time({.ranks = 1}, dealt_traffic(8, 2, 1), 16384).time_s == 0);
}

TEST_CASE("dispatch and combine of DeepEP at 128 tokens a rank, from port and least time alone") {
  struct Row {
    std::int64_t ranks;
    double dispatch_us, combine_us;
  };
  for (const Row& row :
       {Row{16, 118, 195}, Row{32, 155, 273}, Row{64, 173, 314}, Row{128, 192, 369}, Row{256, 194, 360}}) {
    const MoeTraffic traffic = dealt_traffic(256, 8, row.ranks);
    const MoeExchangeSetting s{.ranks = row.ranks, .tokens_per_rank = 128, .links = {337.5e9, 45e9, 25e-6}};
    const MoeLayerShape shape{.dispatch_bytes = 1, .scale_group = 128};
    CHECK(dispatch_row_bytes(shape) == 7168 + 56 * 4);
    CHECK(near(exchange_time(s, traffic, dispatch_row_bytes(shape)).time_s, row.dispatch_us * 1e-6, 0.12));
    CHECK(near(exchange_time(s, traffic, combine_row_bytes(shape)).time_s, row.combine_us * 1e-6, 0.12));
  }
}

TEST_CASE("once a node, a token crosses the network once for each node: 1 - (1 - 1/n)^8 of the tokens visit each") {
  const MoeTraffic t = dealt_traffic(256, 8, 32);
  const double nodes = std::accumulate(t.to_node_once.begin(), t.to_node_once.end(), 0.0);
  CHECK(near(nodes, 4 * (1 - std::pow(0.75, 8)), 0.02));
  CHECK(near(t.copies, 8.0));
  MoeExchangeSetting s{.way = MoeExchange::once_per_node, .ranks = 32, .tokens_per_rank = 8192};
  const MoeExchangeTime once = exchange_time(s, even_traffic(t), 7392);
  s.way = MoeExchange::direct;
  const MoeExchangeTime direct = exchange_time(s, even_traffic(t), 7392);
  CHECK(near(once.between_bytes, 8192 * 7392 * nodes * 3 / 4));
  CHECK(near(direct.between_bytes, 8192 * 7392 * 8.0 * 3 / 4));
  CHECK(once.between_bound);
  CHECK(near(once.logical_bytes_per_s, 45e9 * 4 / 3, 0.03));  // DeepEP V2 prints 61 GB/s
}

TEST_CASE("the rank that is asked for most sets the exchange's time") {
  MoeTraffic t = dealt_traffic(8, 2, 8);
  const MoeExchangeSetting s{.ranks = 8, .links = {450e9, 50e9, 0}};
  const double even_s = exchange_time(s, t, 1000).time_s;
  t.to_rank = {1, 0, 0, 0, 0, 0, 0, 1};
  const MoeExchangeTime skewed = exchange_time(s, t, 1000);
  CHECK(near(skewed.time_s / even_s, 4.0));
  CHECK(near(skewed.rank_s[0], skewed.time_s));
  CHECK(near(exchange_time(s, even_traffic(t), 1000).time_s, even_s));
}

TEST_CASE("placement: by load is never worse than in order, and equals the best of all placements on small cases") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    std::vector<double> load(6);
    for (std::size_t e = 0; e < 6; ++e) load[e] = std::pow(models::unit_draw(seed, e), 3);
    double best = 1e9;  // three ranks of two: the partner of expert 0, then that of the next free one
    for (std::size_t a = 1; a < 6; ++a) {
      std::vector<std::size_t> rest;
      for (std::size_t e = 1; e < 6; ++e)
        if (e != a) rest.push_back(e);
      for (std::size_t b = 1; b < 4; ++b) {
        double other = 0;
        for (std::size_t i = 1; i < 4; ++i)
          if (i != b) other += load[rest[i]];
        best = std::min(best, std::max({load[0] + load[a], load[rest[0]] + load[rest[b]], other}));
      }
    }
    const double in_order = fullest_rank({.ranks = 3}, load);
    const double by_load = fullest_rank({.rule = MoePlacementRule::by_load, .ranks = 3}, load);
    CHECK(by_load <= in_order + 1e-12);
    CHECK(near(by_load, best, 1e-9));
  }
}

TEST_CASE("copies cut a hot expert; slots stay equal, copies lie on different ranks, and nodes keep their experts") {
  const std::vector<double> load{8, 1, 1, 1, 1, 1, 1, 2};
  CHECK(fullest_rank({.rule = MoePlacementRule::by_load, .ranks = 4}, load) == 9);
  const MoePlacementSetting copies{.rule = MoePlacementRule::replicated, .ranks = 4};
  CHECK(fullest_rank(copies, load) < 5);
  const auto placed = place_experts(copies, load);
  REQUIRE(placed);
  CHECK(placed->ranks[0].size() == 4);
  CHECK(std::adjacent_find(placed->ranks[0].begin(), placed->ranks[0].end()) == placed->ranks[0].end());
  const auto kept =
      place_experts({.rule = MoePlacementRule::by_load, .ranks = 4, .nodes = 2, .within_nodes = true}, load);
  REQUIRE(kept);
  for (std::size_t e = 0; e < 8; ++e) CHECK(kept->ranks[e][0] / 2 == static_cast<std::int32_t>(e / 4));
  CHECK(place_experts({.ranks = 3}, load).error ==
        "8 experts do not lie evenly on 3 ranks: take a divisor of the experts.");
}

TEST_CASE("an expert's rows are filled up to tiles, and few rows are bound by the weights' bytes") {
  const MoeLayerShape shape{.hidden = 1024, .ffn = 512};
  const MoeChip chip{.peak_flops_per_s = 1e15, .matmul_share = 0.5, .memory_bytes_per_s = 1e12};
  MoeTraffic traffic = dealt_traffic(8, 2, 8);
  const auto time = [&](double rows) {
    return moe_layer_time(shape, chip, {.ranks = 8}, traffic, {{rows, 0}, {rows / 2, rows / 4}}, 8, 2);
  };
  const MoeLayerTime many = time(100'000);
  const double flops = 2 * 3 * 1024.0 * 512 * 100'000;
  CHECK(near(many.ranks[0].flops, flops));
  CHECK(near(many.ranks[0].compute_s, flops * (std::ceil(100'000 / 128.0) * 128 / 100'000) / 5e14));
  CHECK(many.slowest == 0);
  CHECK(near(many.layer_s, many.local_s + many.dispatch.time_s + many.experts_s + many.combine.time_s));
  const MoeLayerTime few = time(4);
  CHECK(few.ranks[0].padded_rows == 128);
  CHECK(few.ranks[1].padded_rows == 256);
  CHECK(few.ranks[0].memory_s > few.ranks[0].compute_s);
  CHECK(few.ranks[0].bytes ==
        models::gemm(4, 1024, 1024, 2, 2, 2).bytes() + models::gemm(4, 1024, 512, 2, 2, 2).bytes());
  CHECK(few.slowest == 1);  // two experts' weights
}

TEST_CASE(
    "experts dealt under a node limit lie on so many nodes, are all as busy, and reach what the planner expects") {
  constexpr std::size_t tokens = 8192;
  MoeRouted r;
  route_tokens(
      {.rule = MoeRule::dealt, .experts = 256, .top_k = 8, .capacity_factor = 0, .groups = 8, .group_limit = 4}, tokens,
      {}, {}, nullptr, r);
  std::vector<std::vector<std::uint16_t>> chosen(tokens);
  for (const MoeCopy& copy : r.copies) chosen[copy.token].push_back(copy.expert);
  for (std::vector<std::uint16_t>& experts : chosen) {
    std::sort(experts.begin(), experts.end());
    CHECK(std::unique(experts.begin(), experts.end()) == experts.end());
    for (std::uint16_t& e : experts) e /= 32;
    CHECK(std::unique(experts.begin(), experts.end()) - experts.begin() <= 4);
  }
  const std::vector<double> load(r.asked.begin(), r.asked.end());
  CHECK(max_over_mean(load) < 1.1);
  const auto placement = place_experts({MoePlacementRule::contiguous, 64, 8, 1, true}, std::vector<double>(256, 1.0));
  REQUIRE(placement);
  const MoeTraffic t = count_traffic(r, tokens, *placement, 8);
  const models::MixtureOfExperts moe{.routed = 256, .per_token = 8, .groups = 8, .groups_per_token = 4};
  const ExpertSpread spread = expert_spread(moe, 64, 8);
  const double nodes = std::accumulate(t.to_node_once.begin(), t.to_node_once.end(), 0.0);
  CHECK(near(nodes * 7 / 8, spread.other_nodes, 0.01));
  const double ranks = std::accumulate(t.to_rank_once.begin(), t.to_rank_once.end(), 0.0);
  CHECK(near(ranks * 7 / 8, spread.near_ranks, 0.01));
}
