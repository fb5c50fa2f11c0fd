// What a replica keeps account of besides counts: blocks that answers share and copy, and a tree of named blocks.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "models/serving/fleet/fleet.h"
#include "models/serving/prefix/prefix_cache.h"
#include "tests/support/base/near.h"

using namespace models;

using support::near;

namespace {

/// All times of steps are whole microseconds: 10 ms, 0.1 ms for a new token, 1 us for one that is attended to.
ServingCost store_cost() {
  ServingCost cost;
  cost.fixed_s = 10e-3;
  cost.link_s_per_token = 0.1e-3;
  cost.context_s = 1e-6;
  cost.kv_bytes_per_token = 1e5;
  return cost;
}

struct StoreDice {
  std::mt19937_64 bits;
  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  bool coin() { return between(0, 1) == 1; }
};

struct StoreLoad {
  FleetSetup setup;
  std::vector<ServingRequest> requests;
  std::vector<std::int32_t> answers;  ///< tokens of each
  NamedPrompts named;
};

/// A stream before one to three replicas; with answers, or with prompts of a few families that begin alike.
StoreLoad draw_workload(StoreDice& dice, int round, const ServingCost& cost) {
  StoreLoad out;
  out.requests = make_requests({.requests = dice.between(1, 80),
                                .rate_per_s = static_cast<double>(dice.between(1, 40)),
                                .seed = static_cast<std::uint64_t>(round),
                                .bursty = dice.coin(),
                                .prompt_tokens = static_cast<double>(dice.between(1, 400)),
                                .output_tokens = static_cast<double>(dice.between(1, 60))});
  ServingSetup& replica = out.setup.replica;
  replica = {.policy = dice.coin() ? ServingPolicy::continuous : ServingPolicy::chunked,
             .cost = &cost,
             .servers = dice.between(1, 3),
             .slots = dice.between(1, 10),
             .chunk_tokens = dice.between(16, 400),
             .block_tokens = dice.between(1, 24),
             .preemption = dice.coin() ? Preemption::swap : Preemption::recompute,
             .watermark_blocks = dice.between(0, 3)};
  out.setup.router = static_cast<FleetRouter>(round % fleet_router_count);
  std::int64_t longest = 0;
  for (const auto& r : out.requests) longest = std::max<std::int64_t>(longest, r.prompt_tokens + r.output_tokens);
  replica.blocks = longest / replica.block_tokens + 1 + dice.between(0, 30);
  if (round % 2 == 0) {
    replica.keeping = CacheKeeping::tables;
    replica.answers.count = static_cast<std::int32_t>(dice.between(1, 4));
    replica.answers.replaced = dice.coin() ? 0.2 : 0;
    replica.answers.share = dice.between(0, 3) > 0;
    replica.answers.host_blocks = dice.between(0, 200);
    for (ServingRequest& r : out.requests) {
      const auto longest_answer = r.output_tokens;
      out.answers.push_back(longest_answer);
      for (std::int32_t k = 1; k < replica.answers.count; ++k)
        out.answers.push_back(static_cast<std::int32_t>(dice.between(1, longest_answer)));
    }
    return out;
  }
  if (round % 3 == 0) out.setup.parting = {.prefill_replicas = dice.between(1, 2), .link_bytes_per_s = 1e9};
  out.named.block_tokens = replica.block_tokens * dice.between(1, 4);
  out.named.first = {0};
  const std::int64_t families = dice.between(1, 5);
  for (const ServingRequest& r : out.requests) {
    const std::int64_t family = dice.between(1, families), alike = dice.between(0, 20);
    for (std::int64_t i = 0; i < r.prompt_tokens / out.named.block_tokens; ++i)
      out.named.names.push_back(static_cast<std::int32_t>(i < alike ? family : 1000 + dice.between(0, 1'000'000)));
    out.named.first.push_back(out.named.names.size());
  }
  return out;
}

/// Everybody has one end, every token was written, no block is lost, and what is integrated is what was lived through.
void check_workload(const StoreLoad& drawn, const FleetRun& run) {
  const ServingAnswers& how = drawn.setup.replica.answers;
  REQUIRE_FALSE(run.stopped);
  REQUIRE(run.blocks_left == 0);
  REQUIRE(run.peak_blocks <= drawn.setup.replica.blocks);
  REQUIRE(run.completed + run.refused == static_cast<std::int64_t>(drawn.requests.size()));
  double stayed_s = 0, tokens = 0;
  for (std::size_t i = 0; i < drawn.requests.size(); ++i) {
    if (run.verdict[i] != FleetVerdict::served) continue;
    const ServedRequest& s = run.served[i];
    REQUIRE(drawn.requests[i].arrival_s <= s.start_s);
    REQUIRE(s.start_s < s.first_token_s);
    REQUIRE(s.first_token_s <= s.finish_s);
    stayed_s += s.finish_s - drawn.requests[i].arrival_s;
    for (std::int32_t k = 0; k < how.count; ++k)
      tokens += drawn.answers.empty()
                    ? drawn.requests[i].output_tokens
                    : drawn.answers[i * static_cast<std::size_t>(how.count) + static_cast<std::size_t>(k)];
  }
  REQUIRE(run.tokens == tokens);
  REQUIRE(near(run.in_system_s, stayed_s, 1e-9));  // Little's law, once for all of the run
}

bool same_history(const FleetRun& a, const FleetRun& b) {
  return a.events == b.events && a.kept_tokens == b.kept_tokens && a.answers.copies == b.answers.copies &&
         std::equal(a.served.begin(), a.served.end(), b.served.begin(), [](const auto& x, const auto& y) {
           return x.finish_s == y.finish_s || (std::isnan(x.finish_s) && std::isnan(y.finish_s));
         });
}

/// Prompts one after the other, each long after the one before has ended.
std::vector<ServingRequest> one_by_one(const PromptTrace& trace) {
  std::vector<ServingRequest> out;
  for (std::size_t i = 0; i < trace.requests.size(); ++i)
    out.push_back({100.0 * static_cast<double>(i), 0, static_cast<std::int32_t>(trace.requests[i].tokens), 2});
  return out;
}

}  // namespace

TEST_CASE("store: with shared answers and with a tree each request has one end, no block leaks and nobody starves") {
  const ServingCost cost = store_cost();
  StoreDice dice{std::mt19937_64(25)};
  std::int64_t preempted = 0, copies = 0, swapped = 0, transfers = 0;
  double kept = 0;
  for (int round = 0; round < 200; ++round) {
    INFO("round " << round);
    StoreLoad drawn = draw_workload(dice, round, cost);
    drawn.setup.replica.answers.tokens = drawn.answers;
    if (!drawn.named.first.empty()) drawn.setup.replica.named = &drawn.named;
    const FleetRun run = simulate_fleet(drawn.requests, drawn.setup);
    check_workload(drawn, run);
    if (round % 10 < 2) REQUIRE(same_history(run, simulate_fleet(drawn.requests, drawn.setup)));
    preempted += run.preemptions;
    copies += run.answers.copies;
    swapped += run.answers.swapped_out_blocks;
    transfers += run.transfers;
    kept += run.kept_tokens;
  }
  // The workloads reach what they are to test.
  CHECK(preempted > 100);
  CHECK(copies > 1000);
  CHECK(swapped > 100);
  CHECK(transfers > 200);
  CHECK(kept > 10'000);
}

TEST_CASE("store: with one answer and room for all, following each block gives what counting gives") {
  const ServingCost cost = store_cost();
  const auto requests = make_requests({.requests = 200, .rate_per_s = 8, .prompt_tokens = 200, .output_tokens = 60});
  // A chunk that takes every prompt whole, which is what a step with tables does.
  ServingSetup setup{.policy = ServingPolicy::chunked, .cost = &cost, .slots = 256, .chunk_tokens = 1 << 20};
  const ServingRun counted = simulate_serving(requests, setup);
  setup.keeping = CacheKeeping::tables;
  setup.blocks = 20'000;
  const ServingRun followed = simulate_serving(requests, setup);
  CHECK(std::equal(counted.served.begin(), counted.served.end(), followed.served.begin(), [](auto& a, auto& b) {
    return a.start_s == b.start_s && a.first_token_s == b.first_token_s && a.finish_s == b.finish_s;
  }));
  CHECK(counted.tokens == followed.tokens);
  CHECK(counted.gaps.count() == followed.gaps.count());
}

// Four answers of 33 tokens to a prompt of 40: two whole blocks of the prompt once; of each answer the block in which
// the prompt ends, copied by all but the last who writes to it, and three more for 72 tokens in all.
TEST_CASE("store: answers share the blocks of their prompt on any replica, and copy the one in which they part") {
  const ServingCost cost = store_cost();
  const std::vector<ServingRequest> one{{0, 0, 40, 33}};
  ServingSetup setup{.cost = &cost, .slots = 4, .blocks = 64, .keeping = CacheKeeping::tables};
  setup.answers.count = 4;
  const ServingRun shared = simulate_serving(one, setup);
  CHECK(shared.answers.copies == 3);
  CHECK(shared.peak_blocks == 2 + 4 * 3);
  CHECK(shared.tokens == 132);
  setup.answers.share = false;
  const ServingRun apart = simulate_serving(one, setup);
  CHECK(apart.answers.copies == 0);
  CHECK(apart.peak_blocks == 4 * 5);
  CHECK(apart.blocks_left == 0);
  // The prompt is computed once, or four times: 40 or 160 tokens of 0.1 ms, and their reading.
  CHECK(near(apart.served[0].first_token_s - shared.served[0].first_token_s, 120 * 0.1e-3 + 3 * 40e-6, 1e-9));
}

TEST_CASE("store: one prompt at a time, an endless tree finds what the prefix cache's own count finds") {
  const ServingCost cost = store_cost();
  for (const bool chat : {false, true}) {
    const PromptTrace trace = make_prompts({.chat = chat, .groups = 4, .each = 4});
    const PrefixTree tree = prefix_tree(trace, PrefixRule::full_blocks);
    const auto order = order_of_time(trace);
    std::vector<std::int64_t> times;
    for (const std::int32_t i : order) times.push_back(trace.requests[static_cast<std::size_t>(i)].time_ms);
    const PrefixPass pass = pass_prefix_cache(tree, order, times);
    const auto counted = count_prefix_hits(tree, pass, {.eviction = PrefixEviction::none});
    const NamedPrompts named = named_prompts(trace);
    const auto requests = one_by_one(trace);
    ServingSetup setup{.policy = ServingPolicy::chunked, .cost = &cost, .named = &named};
    const ServingRun run = simulate_serving(requests, setup);
    CHECK(run.kept_tokens == static_cast<double>(counted.hit_tokens));
    CHECK(counted.hit_tokens > 10'000);
    // With room for the longest prompt and little more, some of it is gone when it is asked for.
    std::int64_t longest = 0;
    for (const auto& r : requests) longest = std::max<std::int64_t>(longest, r.prompt_tokens + 2);
    setup.blocks = longest / setup.block_tokens + 64;
    const ServingRun tight = simulate_serving(requests, setup);
    CHECK(tight.kept_tokens < run.kept_tokens);
    CHECK(tight.refused == 0);
    CHECK(tight.blocks_left == 0);
    // Two replicas in turn find less than a router that knows their trees.
    FleetSetup fleet{.replica = {.policy = ServingPolicy::chunked, .cost = &cost, .servers = 2, .named = &named}};
    const double in_turn = simulate_fleet(requests, fleet).kept_tokens;
    fleet.router = FleetRouter::prefix_aware;
    CHECK(simulate_fleet(requests, fleet).kept_tokens > in_turn);
  }
}

TEST_CASE("store: the tree gives up leaves first, the least recently used, and nothing that somebody reads") {
  serving::PrefixTreeStore tree(4);
  const std::array<std::int32_t, 3> first{1, 2, 3}, second{1, 2, 9}, third{7, 8, 9};
  serving::PrefixTreeStore::Path a, b, c;
  CHECK(tree.add(a, first) == 0);
  CHECK(tree.add(b, second) == 2);  // 1 and 2 were there
  CHECK(tree.add(c, third) == 0);
  CHECK(tree.nodes() == 7);
  CHECK(tree.blocks() == 0);
  CHECK(tree.evict(1) == 0);
  tree.unpin(a.node);  // the node of 3 alone: the others are read by the second
  CHECK(tree.blocks() == 4);
  tree.unpin(c.node);
  tree.unpin(b.node);
  CHECK(tree.blocks() == 28);
  CHECK(tree.unread_blocks(b.node) == 12);
  CHECK(tree.evict(5) == 8);  // the leaf of the first, then that of the third
  CHECK(tree.find(first).nodes == 2);
  CHECK(tree.find(third).nodes == 2);
  CHECK(tree.find(second).nodes == 3);
  CHECK(tree.evict(100) == 20);
  CHECK(tree.nodes() == 0);
}
