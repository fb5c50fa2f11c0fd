// A fleet against its own laws, against replicas that run alone, and against cases added up by hand.
#include "models/serving/fleet/fleet.h"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "models/serving/engine/serving_summary.h"
#include "models/serving/fleet/fleet_scaler.h"
#include "tests/support/base/near.h"

using namespace models;

using support::near;

namespace {

/// A step is 10 ms and 1 us a cached token that is attended to, a prompt token 0.1 ms; a token of cache is 100 kB.
ServingCost fleet_cost() {
  ServingCost cost;
  cost.fixed_s = 10e-3;
  cost.link_s_per_token = 0.1e-3;
  cost.context_s = 1e-6;
  cost.kv_bytes_per_token = 1e5;
  return cost;
}
ServingRequest asks(double arrival_s, std::int32_t prompt, std::int32_t output) {
  return {arrival_s, 1, prompt, output};
}

struct Dice {
  std::mt19937_64 bits;
  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  bool coin() { return between(0, 1) == 1; }
};

bool same(const FleetRun& a, const FleetRun& b) {
  const auto times = [](const ServedRequest& x, const ServedRequest& y) {
    const auto alike = [](double p, double q) { return p == q || (std::isnan(p) && std::isnan(q)); };
    return alike(x.start_s, y.start_s) && alike(x.first_token_s, y.first_token_s) && alike(x.finish_s, y.finish_s);
  };
  return std::equal(a.served.begin(), a.served.end(), b.served.begin(), times) && a.replica == b.replica &&
         a.verdict == b.verdict && a.history == b.history && a.ticks == b.ticks && a.events == b.events;
}

struct Drawn {
  FleetSetup setup;
  std::vector<ServingRequest> requests;
  std::vector<PromptPrefix> prefixes;
};

/// Any fleet before any stream, with blocks for the longest request and few more.
Drawn draw(Dice& dice, int round, const ServingCost& cost) {
  Drawn out;
  out.requests = make_requests({
      .requests = dice.between(1, 150),
      .rate_per_s = static_cast<double>(dice.between(1, 60)),
      .seed = static_cast<std::uint64_t>(round),
      .bursty = dice.coin(),
      .prompt_tokens = static_cast<double>(dice.between(1, 600)),
      .output_tokens = static_cast<double>(dice.between(1, 200)),
  });
  ServingSetup& replica = out.setup.replica;
  replica = {.policy = dice.coin() ? ServingPolicy::continuous : ServingPolicy::chunked,
             .cost = &cost,
             .servers = dice.between(1, 4),
             .slots = dice.between(1, 12),
             .chunk_tokens = dice.between(16, 600),
             .block_tokens = dice.between(1, 32),
             .preemption = dice.coin() ? Preemption::swap : Preemption::recompute,
             .watermark_blocks = dice.between(0, 3)};
  std::int64_t longest = 0;
  for (const auto& r : out.requests) longest = std::max<std::int64_t>(longest, r.prompt_tokens + r.output_tokens);
  replica.blocks = (longest + replica.block_tokens - 1) / replica.block_tokens + dice.between(0, 40);
  if (dice.coin()) replica.drop_after_s = static_cast<double>(dice.between(1, 40)) / 10;
  out.setup.router = static_cast<FleetRouter>(round % fleet_router_count);
  out.setup.scaling = {.signal = static_cast<ScaleSignal>(dice.between(0, 3)),
                       .target = static_cast<double>(dice.between(1, 8)) / 8,
                       .interval_s = 0.5,
                       .cold_start_s = static_cast<double>(dice.between(0, 4)),
                       .hold_s = static_cast<double>(dice.between(0, 6))};
  if (round % 3 == 0)
    out.setup.parting = {.prefill_replicas = dice.between(1, 3),
                         .link_bytes_per_s = static_cast<double>(dice.between(1, 50)) * 1e8};
  if (dice.coin()) out.setup.longest_queue = dice.between(1, 20);
  out.setup.sample_s = 0.25;
  if (dice.coin())
    for (std::size_t i = 0; i < out.requests.size(); ++i)
      out.prefixes.push_back({static_cast<std::int32_t>(dice.between(-1, 12)), out.requests[i].prompt_tokens / 2});
  return out;
}

/// Each request has one end, in the order of time; no block is lost; what is integrated is what was lived through.
void check_laws(const Drawn& drawn, const FleetRun& run) {
  const auto& requests = drawn.requests;
  REQUIRE_FALSE(run.stopped);
  REQUIRE(run.blocks_left == 0);
  REQUIRE(run.peak_blocks <= drawn.setup.replica.blocks);
  REQUIRE(run.completed + run.refused + run.queue_refused + run.dropped == static_cast<std::int64_t>(requests.size()));
  std::array<std::int64_t, 4> ends{};
  double stayed_s = 0, tokens = 0, gaps = 0, answering_s = 0;
  std::int64_t sent = 0;
  std::vector<double> last_start(16, 0);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const ServedRequest& s = run.served[i];
    ++ends[static_cast<std::size_t>(run.verdict[i])];
    const bool served = run.verdict[i] == FleetVerdict::served;
    REQUIRE(served == (s.finish_s >= 0));
    REQUIRE((served || std::isnan(s.finish_s)));
    if (!served) continue;
    REQUIRE(requests[i].arrival_s <= s.start_s);
    REQUIRE(s.start_s < s.first_token_s);
    REQUIRE(s.first_token_s <= s.last_token_s);
    if (drawn.setup.replica.drop_after_s < 1e9)
      REQUIRE(s.start_s - requests[i].arrival_s <= drawn.setup.replica.drop_after_s + 1e-6);
    stayed_s += s.finish_s - requests[i].arrival_s;
    tokens += requests[i].output_tokens;
    gaps += requests[i].output_tokens - 1;
    answering_s += s.last_token_s - s.first_token_s;
    sent += requests[i].output_tokens > 1;
    if (drawn.setup.parting.prefill_replicas > 0) continue;
    REQUIRE(run.replica[i] >= 0);
    if (run.replica[i] >= static_cast<std::int16_t>(last_start.size()))
      last_start.resize(static_cast<std::size_t>(run.replica[i]) + 1);
    double& before_s = last_start[static_cast<std::size_t>(run.replica[i])];  // first come, first served
    REQUIRE(before_s <= s.start_s);
    before_s = s.start_s;
  }
  REQUIRE(ends == std::array{run.completed, run.refused, run.queue_refused, run.dropped});
  REQUIRE(run.tokens == tokens);
  REQUIRE(static_cast<double>(run.gaps.count()) == gaps);
  REQUIRE((near(run.gaps.sum_s(), answering_s, 1e-9) || answering_s <= 1e-9));
  REQUIRE((run.dropped > 0 ? run.in_system_s >= stayed_s * (1 - 1e-9) : near(run.in_system_s, stayed_s, 1e-9)));
  REQUIRE(run.transfers == (drawn.setup.parting.prefill_replicas > 0 ? sent : 0));
  REQUIRE(run.paid_replica_s >= run.busy_s * (1 - 1e-9));
}

}  // namespace

TEST_CASE("fleet: under 600 random settings each request has one end, no block leaks and nothing is lost") {
  const ServingCost cost = fleet_cost();
  Dice dice{std::mt19937_64(5)};
  std::int64_t preempted = 0, dropped = 0, refused = 0, transfers = 0, grown = 0;
  double kept = 0;
  for (int round = 0; round < 600; ++round) {
    INFO("round " << round);
    Drawn drawn = draw(dice, round, cost);
    drawn.setup.replica.prefixes = drawn.prefixes;
    const FleetRun run = simulate_fleet(drawn.requests, drawn.setup);
    check_laws(drawn, run);
    if (round % 20 == 0) REQUIRE(same(run, simulate_fleet(drawn.requests, drawn.setup)));
    preempted += run.preemptions;
    dropped += run.dropped;
    refused += run.queue_refused;
    transfers += run.transfers;
    kept += run.kept_tokens;
    grown += run.most_replicas > drawn.setup.replica.servers + drawn.setup.parting.prefill_replicas;
  }
  // The settings reach what they are to test.
  CHECK(preempted > 100);
  CHECK(dropped > 100);
  CHECK(refused > 100);
  CHECK(transfers > 1000);
  CHECK(kept > 10000);
  CHECK(grown > 50);
}

TEST_CASE("fleet: with requests in turn it is the engine of one server, replica by replica, to the last bit") {
  const ServingCost cost = fleet_cost();
  const auto requests = make_requests({.requests = 600, .rate_per_s = 20, .prompt_tokens = 300, .output_tokens = 80});
  for (const ServingPolicy policy : {ServingPolicy::continuous, ServingPolicy::chunked}) {
    const ServingSetup replica{.policy = policy, .cost = &cost, .servers = 3, .slots = 6, .blocks = 400};
    const ServingRun alone = simulate_serving(requests, replica);
    const FleetRun fleet = simulate_fleet(requests, {.replica = replica});
    REQUIRE(alone.refused == 0);
    CHECK(std::equal(alone.served.begin(), alone.served.end(), fleet.served.begin(), [](const auto& a, const auto& b) {
      return a.start_s == b.start_s && a.first_token_s == b.first_token_s && a.finish_s == b.finish_s;
    }));
    CHECK(near(alone.busy_s, fleet.busy_s, 1e-9));
    CHECK(near(alone.in_system_s, fleet.in_system_s, 1e-9));
    CHECK(alone.events == fleet.events);
  }
}

// Prompt: 10 ms + 1,000 x 0.1 ms and its cache read once, 1 ms: 111 ms. Then 100 MB over 1 GB/s and 10 us, and two
// steps of 10.1 ms with 1,001 and 1,002 tokens of cache.
TEST_CASE("fleet: one request through two pools, added up by hand") {
  const ServingCost cost = fleet_cost();
  const std::vector<ServingRequest> one{asks(1, 1000, 3)};
  FleetSetup setup{.replica = {.cost = &cost},
                   .parting = {.prefill_replicas = 1, .link_bytes_per_s = 1e9, .link_latency_s = 10e-6}};
  const FleetRun run = simulate_fleet(one, setup);
  CHECK(near(run.served[0].first_token_s, 1.111, 1e-12));
  CHECK(near(run.served[0].finish_s, 1.111 + 0.10001 + 2 * 10.1e-3 + 2003e-6, 1e-12));
  CHECK(run.transfers == 1);
  CHECK(run.transfer_bytes == 1e8);
  CHECK(near(run.transfer_s, 0.10001, 1e-12));
  CHECK(run.transfer_wait_s == 0);
  CHECK(near(run.paid_replica_s, 2 * run.end_s, 1e-12));
}

// Two prompts end at once, and their caches follow each other on the receiver's wire.
TEST_CASE("fleet: a wire carries one cache at a time, and who writes never stalls for a prompt") {
  const ServingCost cost = fleet_cost();
  const std::vector<ServingRequest> two{asks(0, 1000, 40), asks(0, 1000, 40)};
  FleetSetup setup{.replica = {.cost = &cost, .token_ticks = 1000},
                   .parting = {.prefill_replicas = 2, .link_bytes_per_s = 1e9, .link_latency_s = 0}};
  const FleetRun run = simulate_fleet(two, setup);
  CHECK(near(run.transfer_s, 0.2, 1e-12));
  CHECK(near(run.transfer_wait_s, 0.1, 1e-2));  // the second is admitted at a step's end
  CHECK(run.ticks.size() == 80);
  // A step of two with 1,000 tokens each is 10.2 ms + 2 ms; nothing else stands between two tokens on the second pool.
  std::vector<std::int64_t> last(2, -1);
  std::int64_t longest = 0;
  std::vector<int> seen(2, 0);
  for (const TokenTick& t : run.ticks) {
    const auto r = static_cast<std::size_t>(t.request);
    if (++seen[r] > 2) longest = std::max(longest, t.time_us - last[r]);
    last[r] = t.time_us;
  }
  CHECK(longest < 12'300);
  // In one pool the second one's prompt would have held up the first: both prompts in one step, 212 ms.
  const FleetRun whole = simulate_fleet(two, {.replica = {.cost = &cost}});
  CHECK(near(whole.served[0].first_token_s, 0.212, 1e-12));
}

TEST_CASE("fleet: a session goes on from its cache where that is, and reads all of it elsewhere") {
  const ServingCost cost = fleet_cost();
  // Turns of 160, 320 and 480 tokens; each begins with the one before and its answer of 16.
  const std::vector<ServingRequest> turns{asks(0, 160, 16), asks(1, 320, 16), asks(2, 480, 16)};
  const std::vector<PromptPrefix> prefixes{{7, 0}, {7, 176}, {7, 336}};
  FleetSetup setup{.replica = {.cost = &cost, .prefixes = prefixes}};
  const FleetRun one = simulate_fleet(turns, setup);
  // 175 of the first turn's 176 tokens are stored (the last was never put through): ten whole blocks of 16.
  CHECK(one.kept_tokens == 160 + 320);
  CHECK(near(one.served[1].first_token_s, 1 + 10e-3 + 160 * 0.1e-3 + 320e-6, 1e-9));
  setup.replica.servers = 2;
  const FleetRun in_turn = simulate_fleet(turns, setup);
  CHECK(in_turn.kept_tokens == 160);  // the third turn finds the first one's cache
  setup.router = FleetRouter::prefix_aware;
  const FleetRun aware = simulate_fleet(turns, setup);
  CHECK(aware.kept_tokens == 480);
  CHECK(aware.replica == std::vector<std::int16_t>{0, 0, 0});
  CHECK(aware.blocks_left == 0);
  // Room for one turn alone: another session pushes the cache out, its last blocks first.
  const std::vector<ServingRequest> mixed{asks(0, 160, 16), asks(1, 160, 16), asks(2, 320, 16)};
  const std::vector<PromptPrefix> others{{7, 0}, {8, 0}, {7, 176}};
  setup = {.replica = {.cost = &cost, .blocks = 21, .prefixes = others}};
  const FleetRun tight = simulate_fleet(mixed, setup);
  // 21 blocks: the second takes 11 of which 11 are free; the third, with 21 to take, still finds all ten.
  CHECK(tight.kept_tokens == 160);
  setup.replica.blocks = 22;
  CHECK(simulate_fleet(mixed, setup).kept_tokens == 160);
  setup.replica.blocks = 21;
  const std::vector<ServingRequest> wide{asks(0, 160, 16), asks(1, 240, 16), asks(2, 304, 16)};
  setup.replica.prefixes = others;
  // The second takes 16 of 21 blocks: five of the ten that are kept go.
  CHECK(simulate_fleet(wide, setup).kept_tokens == 80);
}

TEST_CASE("fleet: routers see what they say they see") {
  const ServingCost cost = fleet_cost();
  // A long answer on replica 0; then one by one.
  const std::vector<ServingRequest> four{asks(0, 100, 1000), asks(0.1, 10, 2), asks(1, 10, 1000), asks(2, 10, 2)};
  FleetSetup setup{.replica = {.cost = &cost, .servers = 2}};
  CHECK(simulate_fleet(four, setup).replica == std::vector<std::int16_t>{0, 1, 0, 1});
  setup.router = FleetRouter::least_requests;
  CHECK(simulate_fleet(four, setup).replica == std::vector<std::int16_t>{0, 1, 1, 0});
  setup.router = FleetRouter::least_blocks;  // the first one's cache has grown by then
  CHECK(simulate_fleet(four, setup).replica == std::vector<std::int16_t>{0, 1, 1, 1});
  // Two choices: with two replicas both are looked at.
  setup.router = FleetRouter::two_choices;
  const auto two = simulate_fleet(four, setup).replica;
  CHECK(two[1] != two[0]);
  CHECK(two[2] != two[0]);
}

TEST_CASE("fleet: the autoscaler's rule") {
  FleetScaler scaler;
  const FleetScaling rule{.signal = ScaleSignal::queue, .target = 4, .least = 1, .most = 8, .hold_s = 300};
  const auto look = [&](double now_s, std::int64_t replicas, std::int64_t serving, std::int64_t waiting) {
    return scaler.wanted(rule, {.now_us = static_cast<std::int64_t>(now_s * 1e6),
                                .replicas = replicas,
                                .serving = serving,
                                .waiting = waiting});
  };
  CHECK(look(15, 1, 1, 9) == 3);     // 1 x 9 / 4, rounded up
  CHECK(look(30, 3, 1, 9) == 3);     // two are on their way
  CHECK(look(45, 3, 3, 13) == 3);    // 13 / 3 is within a tenth of 4
  CHECK(look(60, 3, 3, 1000) == 8);  // no more than allowed
  CHECK(look(75, 8, 8, 0) == 8);     // fewer were never wanted for long
  CHECK(look(361, 8, 8, 0) == 1);    // the last wish for eight is 301 s old
  FleetScaler busy;
  const FleetScaling half{.signal = ScaleSignal::busy, .target = 0.5, .most = 8, .hold_s = 0};
  CHECK(busy.wanted(half, {.now_us = 10'000'000, .replicas = 2, .serving = 2, .busy_s = 20}) == 4);
  CHECK(busy.wanted(half, {.now_us = 20'000'000, .replicas = 4, .serving = 4, .busy_s = 25}) == 1);
  FleetScaler slots;
  const FleetScaling full{.signal = ScaleSignal::slots, .target = 0.8, .most = 9, .hold_s = 0};
  CHECK(slots.wanted(full, {.now_us = 1, .replicas = 2, .serving = 2, .running = 32, .slots = 16}) == 3);
}

TEST_CASE("fleet: a replica that is started late serves late, and one that leaves finishes what it has") {
  const ServingCost cost = fleet_cost();
  // Fifty requests of one second each at once, four at a time; then one each ten seconds.
  std::vector<ServingRequest> requests(50, asks(0, 10, 100));
  for (int i = 1; i < 30; ++i) requests.push_back(asks(10 * i, 10, 100));
  FleetSetup setup{.replica = {.cost = &cost, .slots = 4}, .router = FleetRouter::least_requests, .sample_s = 0.5};
  setup.scaling = {
      .signal = ScaleSignal::queue, .target = 4, .most = 6, .interval_s = 1, .cold_start_s = 5, .hold_s = 20};
  const FleetRun run = simulate_fleet(requests, setup);
  CHECK(run.completed == 79);
  CHECK(run.most_replicas == 6);
  const auto at = [&](double time_s) {
    return *std::find_if(run.history.begin(), run.history.end(),
                         [&](const FleetPoint& p) { return p.time_s >= time_s; });
  };
  CHECK(at(0.5).serving == 1);
  CHECK(at(1.5).starting == 5);
  CHECK(at(5.5).serving == 1);
  CHECK(at(6.5).serving == 6);
  CHECK(at(200).serving == 1);
  // The requests that came at once were all given to the only replica there was: a router cannot move them again.
  for (std::size_t i = 0; i < 50; ++i) REQUIRE(run.replica[i] == 0);
  CHECK(run.paid_replica_s < 6 * run.end_s);
  CHECK(run.paid_replica_s > run.end_s + 5 * 20);
}

TEST_CASE("fleet: shedding keeps the waits of those who are served") {
  const ServingCost cost = fleet_cost();
  const auto requests = make_requests({.requests = 2000, .rate_per_s = 30, .prompt_tokens = 200, .output_tokens = 60});
  FleetSetup setup{.replica = {.cost = &cost, .slots = 8}};
  const auto longest_wait = [&](const FleetRun& run) {
    double wait_s = 0;
    for (std::size_t i = 0; i < requests.size(); ++i)
      if (run.served[i].finish_s >= 0) wait_s = std::max(wait_s, run.served[i].start_s - requests[i].arrival_s);
    return wait_s;
  };
  const FleetRun open = simulate_fleet(requests, setup);
  CHECK(longest_wait(open) > 20);
  setup.longest_queue = 10;
  const FleetRun limited = simulate_fleet(requests, setup);
  CHECK(limited.queue_refused > 500);
  CHECK(longest_wait(limited) < 3);
  setup.longest_queue = 0;
  setup.replica.drop_after_s = 1;
  const FleetRun dropped = simulate_fleet(requests, setup);
  CHECK(dropped.dropped > 500);
  CHECK(longest_wait(dropped) <= 1);
  // Good requests a second: who is turned away costs nothing; who is served too late costs as much as one in time.
  const auto good = [&](const FleetRun& run) {
    return summarize_serving(requests, run, setup.replica, 2, 0.1).goodput_per_s;
  };
  CHECK(good(limited) > 2 * good(open));
  CHECK(good(dropped) > 2 * good(open));
}
