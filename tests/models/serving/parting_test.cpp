// A long prompt among users in three worlds: cases added up by hand, the engine's fleet, and laws that hold for any.
#include "models/serving/fleet/parting.h"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <random>

#include "models/serving/fleet/fleet.h"
#include "tests/support/base/near.h"

using namespace models;

using support::near;

namespace {

/// A step is 10 ms and 0.1 ms for each new token; a token of cache is 100 kB.
ServingCost parting_cost() {
  ServingCost cost;
  cost.fixed_s = 10e-3;
  cost.link_s_per_token = 0.1e-3;
  cost.kv_bytes_per_token = 1e5;
  return cost;
}

/// Two users on two replicas, whose steps take 10.1 ms in the calm; a prompt of 1,000 tokens lands 5 ms before the
/// tenth ends.
PartingSetup two_users(const ServingCost& cost) {
  return {
      .cost = &cost,
      .replicas = 2,
      .prefill_replicas = 1,
      .decoders = 2,
      .context = 100,
      .prompt_tokens = 1000,
      .answer_tokens = 11,
      .chunk_tokens = 201,
      .lead_s = 0.096,
      .counted_s = 1.01,
      .link_bytes_per_s = 1e9,
      .link_latency_s = 0,
  };
}

struct Played {
  PartingHistory history;
  PartingFigures figures;
};
Played played(const PartingSetup& setup, PartingWorld world, const PartingLimits& limits = {}) {
  const PartingHistory calm = play_parting(calm_of(setup), PartingWorld::stalled),
                       alone = play_parting(alone_of(setup), PartingWorld::stalled);
  Played out{play_parting(setup, world), {}};
  out.figures = count_parting(setup, out.history, calm, alone, limits);
  return out;
}

}  // namespace

TEST_CASE("parting: a prompt that goes first silences the users of its replica for its whole step") {
  const ServingCost cost = parting_cost();
  const Played stalled = played(two_users(cost), PartingWorld::stalled);
  const PartingPrompt& prompt = stalled.history.prompts.front();
  CHECK(near(prompt.start_s, 0.005, 1e-12));
  CHECK(near(prompt.ttft_s(), 0.005 + 0.110, 1e-12));  // 10 ms and 1,000 tokens
  // The step of the prompt, then one of two sequences.
  CHECK(near(stalled.figures.longest_gap_s, 0.110 + 0.0102, 1e-12));
  // The calm: 100 steps each. Here: the one under way, ten of 10.2 ms with the newcomer, who then has his eleven
  // tokens, and 78 in the 793 ms that are left; the other user loses nothing.
  CHECK(stalled.figures.tokens == 100 + 1 + 10 + 78);
  CHECK(stalled.figures.tokens_lost == 11);
  CHECK(stalled.figures.payers == 1);
  CHECK(stalled.figures.most_lost == 11);
  CHECK(near(stalled.figures.gap_s, 2 * 1.01 / 189, 1e-12));
  CHECK(stalled.figures.newcomers_lost == 0);
  CHECK(near(stalled.figures.idle_share, 0, 1e-9));
}

TEST_CASE("parting: in chunks every step of the prompt carries a token of each user") {
  const ServingCost cost = parting_cost();
  const Played chunked = played(two_users(cost), PartingWorld::chunked);
  // One token of the user and 200 of the prompt: five steps of 30.1 ms.
  CHECK(near(chunked.figures.ttft_s, 0.005 + 5 * 0.0301, 1e-9));
  CHECK(near(chunked.figures.longest_gap_s, 0.0301, 1e-9));
  // The step under way, five tokens in 150.5 ms, ten in 102 ms, and 74 in the 752.5 ms that are left.
  CHECK(chunked.figures.tokens == 100 + 1 + 5 + 10 + 74);
  CHECK(chunked.figures.tokens_lost == 10);
  CHECK(chunked.figures.payers == 1);
}

TEST_CASE("parting: with a pool of its own the prompt silences nobody, and all users share fewer replicas") {
  const ServingCost cost = parting_cost();
  const PartingSetup setup = two_users(cost);
  const Played parted = played(setup, PartingWorld::parted);
  const PartingPrompt& prompt = parted.history.prompts.front();
  CHECK(near(parted.figures.ttft_s, 0.110, 1e-12));
  // Both users on one replica: 10.2 ms, and 10.3 ms with the newcomer.
  CHECK(near(parted.figures.longest_gap_s, 0.0103, 1e-9));
  CHECK(parted.figures.payers == 2);
  // 1,000 tokens of 100 kB at 1 GB/s, from the step after which it is admitted.
  CHECK(near(prompt.sent_until_s - prompt.sent_from_s, 0.1, 1e-12));
  CHECK(prompt.sent_from_s >= prompt.first_token_s);
  CHECK(prompt.sent_from_s <= prompt.first_token_s + 0.0102);
  CHECK(prompt.token_s[1] >= prompt.sent_until_s);
  CHECK(near(parted.history.transfer_bytes, 1e8, 1e-12));
  // The replica that reads works for 110 ms of 1,010.
  CHECK(near(parted.figures.idle_share, 0.5 * (1 - 0.110 / 1.01), 1e-6));
  // Without any prompt the pool costs the same but for the newcomer's steps.
  const Played kept = played(calm_of(setup), PartingWorld::parted);
  CHECK(kept.figures.tokens == 2 * 99);
  CHECK(kept.figures.tokens_lost == 2);
  CHECK(kept.figures.ttft_s == 0);
}

TEST_CASE("parting: tokens in time keep both limits") {
  const ServingCost cost = parting_cost();
  const PartingSetup setup = two_users(cost);
  // 11 ms: all tokens but the one after the silence; 100 ms for the first token: the prompt is late as a whole.
  const Played late = played(setup, PartingWorld::stalled, {.gap_s = 0.011, .ttft_s = 0.1});
  CHECK(near(late.figures.in_time_per_s * 1.01, static_cast<double>(late.figures.tokens - 1), 1e-9));
  const Played in_time = played(setup, PartingWorld::stalled, {.gap_s = 0.011, .ttft_s = 0.2});
  CHECK(near(in_time.figures.in_time_per_s * 1.01, static_cast<double>(late.figures.tokens - 1 + 11), 1e-9));
}

TEST_CASE("parting: prompts without users are served as the fleet serves them") {
  const ServingCost cost = parting_cost();
  for (const std::int64_t readers : {0, 1, 2}) {
    PartingSetup setup = two_users(cost);
    setup.decoders = 0;
    setup.replicas = 4;
    setup.prefill_replicas = readers;
    setup.lead_s = 0.5;
    setup.lands_s = {0, 0.5, 1, 1.5, 2};
    setup.counted_s = 3;
    std::vector<ServingRequest> requests;
    for (const double lands_s : setup.lands_s) requests.push_back({0.5 + lands_s, 0, 1000, 11});
    FleetSetup fleet{
        .replica = {.policy = ServingPolicy::continuous,
                    .cost = &cost,
                    .servers = 4 - readers,
                    .slots = 6,
                    .token_ticks = 1000},
        .parting = {.prefill_replicas = readers, .link_bytes_per_s = 1e9, .link_latency_s = 0},
    };
    const FleetRun run = simulate_fleet(requests, fleet);
    const PartingHistory history = play_parting(setup, readers > 0 ? PartingWorld::parted : PartingWorld::stalled);
    REQUIRE(history.prompts.size() == requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      std::vector<double> token_s;
      for (const TokenTick& tick : run.ticks)
        if (tick.request == static_cast<std::int32_t>(i)) token_s.push_back(static_cast<double>(tick.time_us) / 1e6);
      INFO(readers << " read, prompt " << i);
      CHECK(near(history.prompts[i].first_token_s + 0.5, run.served[i].first_token_s, 1e-9));
      REQUIRE(history.prompts[i].token_s.size() == token_s.size());
      for (std::size_t k = 0; k < token_s.size(); ++k)
        CHECK(near(history.prompts[i].token_s[k] + 0.5, token_s[k], 1e-9));
    }
    CHECK(near(history.transfer_bytes, run.transfer_bytes, 1e-12));
  }
}

TEST_CASE("parting: whatever lands, all worlds own the same replicas and nobody writes more than in the calm") {
  std::mt19937_64 dice(20261129);
  const auto between = [&](std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(dice() % static_cast<std::uint64_t>(hi - lo + 1));
  };
  ServingCost cost = parting_cost();
  cost.context_s = 1e-7;
  cost.pair_s = 1e-9;
  for (int round = 0; round < 60; ++round) {
    PartingSetup setup = two_users(cost);
    setup.replicas = between(2, 6);
    setup.prefill_replicas = between(1, setup.replicas - 1);
    setup.decoders = between(1, 24);
    setup.context = between(1, 5000);
    setup.prompt_tokens = between(1, 6000);
    setup.answer_tokens = between(1, 80);
    setup.chunk_tokens = between(16, 2000);
    setup.lands_s = parting_landings(between(1, 5), setup.counted_s, between(0, 1) == 1, 7);
    INFO("round " << round);
    for (const PartingWorld world : {PartingWorld::stalled, PartingWorld::chunked, PartingWorld::parted}) {
      const Played run = played(setup, world);
      CHECK_FALSE(run.history.stopped);
      CHECK_FALSE(run.history.out_of_room);
      CHECK(run.figures.tokens_lost >= 0);
      CHECK(run.figures.payers <= setup.decoders);
      CHECK(run.figures.tokens_lost <= run.figures.most_lost * setup.decoders);
      CHECK(run.figures.idle_share >= 0);
      CHECK(run.figures.idle_share < 1);
      std::int64_t seated = 0;
      for (const PartingReplica& r : run.history.replicas) {
        seated += r.decoders;
        CHECK(std::is_sorted(r.token_s.begin(), r.token_s.end()));
        if (r.decoders > 0) CHECK(r.token_s.back() >= setup.counted_s);
      }
      CHECK(seated == setup.decoders);
      const double alone_s = cost.step_s(static_cast<double>(setup.prompt_tokens), 1, 0) +
                             cost.chunk_attention_s(static_cast<double>(setup.prompt_tokens), 0);
      for (const PartingPrompt& p : run.history.prompts) {
        CHECK(p.start_s >= p.lands_s - 1e-6);
        CHECK(p.ttft_s() >= alone_s - 1e-6);
        CHECK(p.token_s.size() <= static_cast<std::size_t>(setup.answer_tokens));
      }
    }
  }
}

TEST_CASE("parting: prompts land evenly or as a Poisson stream with so many in the span, the first at once") {
  CHECK(parting_landings(4, 2, false, 1) == std::vector<double>{0, 0.5, 1, 1.5});
  const auto random = parting_landings(8, 2, true, 3);
  CHECK(random.front() == 0);
  CHECK(std::is_sorted(random.begin(), random.end()));
  CHECK(random.back() < 2);
  CHECK(random == parting_landings(8, 2, true, 3));
  CHECK(random != parting_landings(8, 2, true, 4));
}

TEST_CASE("parting: chunks and pool are even at one interval, and on either side of it the other is dearer") {
  ServingCost cost = parting_cost();
  cost.context_s = 1e-6;
  PartingSetup setup = two_users(cost);
  setup.decoders = 16;
  PartingStream stream{.prompts = 3, .interval_s = 0.5};
  const auto even = even_interval_s(setup, stream, 60);
  REQUIRE(even);
  CHECK_FALSE(even_interval_s(setup, {.prompts = 3, .interval_s = *even / 2}, 0.9 * *even));
  const auto lost = [&](double interval_s, PartingWorld world) {
    stream.interval_s = interval_s;
    return played(with_stream(setup, stream), world).figures.tokens_lost;
  };
  CHECK(lost(0.7 * *even, PartingWorld::chunked) > lost(0.7 * *even, PartingWorld::parted));
  CHECK(lost(1.4 * *even, PartingWorld::chunked) < lost(1.4 * *even, PartingWorld::parted));
}

TEST_CASE("parting: caches that do not fit are said, and a run is stopped") {
  const ServingCost cost = parting_cost();
  PartingSetup setup = two_users(cost);
  setup.blocks = 20;  // 320 tokens, of which the users take 14 blocks and the prompt would take 63
  CHECK(parting_tokens_needed(setup, PartingWorld::stalled) > setup.blocks * setup.block_tokens);
  CHECK(play_parting(setup, PartingWorld::stalled).out_of_room);
  setup = two_users(cost);
  std::atomic<bool> cancelled{true};
  setup.cancelled = &cancelled;
  CHECK(play_parting(setup, PartingWorld::chunked).stopped);
}
