#include "models/serving/paged/paged_kv.h"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "tests/support/base/near.h"

using namespace models;
using support::near;

namespace {

/// A step is 10 ms, a prompt token 0.1 ms and a cached token 1 us.
ServingCost plain_cost() {
  ServingCost cost;
  cost.fixed_s = 10e-3;
  cost.link_s_per_token = 0.1e-3;
  cost.context_s = 1e-6;
  return cost;
}
PagedRequest ask(std::int64_t arrival_us, std::int32_t prompt, std::int32_t output) {
  PagedRequest r{arrival_us, prompt, {}};
  r.output_tokens.fill(output);
  return r;
}

struct PagedLuck {
  std::mt19937_64 bits;
  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(hi - lo + 1));
  }
};

PagedDemand random_demand(PagedLuck& luck) {
  PagedDemand demand;
  demand.answers = static_cast<std::int32_t>(luck.between(1, 4));
  std::int64_t now = 0;
  for (std::int64_t i = luck.between(1, 60); i > 0; --i) {
    now += luck.between(0, 120'000);
    PagedRequest r = ask(now, static_cast<std::int32_t>(luck.between(1, 60)), 1);
    for (auto& length : r.output_tokens) length = static_cast<std::int32_t>(luck.between(1, 50));
    demand.requests.push_back(r);
  }
  return demand;
}
PagedSetup random_setup(PagedLuck& luck, const ServingCost& cost) {
  PagedSetup s{.cost = &cost};
  s.pool_tokens = luck.between(60, 1200);
  s.block_tokens = luck.between(1, 20);
  s.max_running = luck.between(1, 30);
  s.watermark_blocks = luck.between(0, 4);
  s.when_full = luck.between(0, 1) == 0 ? PoolFull::recompute : PoolFull::swap;
  s.share = luck.between(0, 3) > 0;
  s.replaced = luck.between(0, 2) == 0 ? 0.3 : 0;
  s.host_blocks = luck.between(0, 60);
  s.token_bytes = 1e6;
  s.rule = static_cast<ReserveRule>(luck.between(0, 2));
  s.fit = static_cast<SlotFit>(luck.between(0, 1));
  s.reserve_tokens = luck.between(40, 120);
  return s;
}
std::vector<std::int64_t> times_until(std::int64_t end_us, std::int64_t count) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < count; ++i) out.push_back(i * end_us / count);
  return out;
}

/// Every block of a frame is read by answers of one request, at one place of their tables, and none has two writers.
void check_paged_frame(const PoolFrame& frame, const PagedSetup& s, const PagedDemand& demand) {
  std::map<std::int32_t, std::pair<std::int32_t, std::int64_t>> owner;
  std::map<std::int32_t, std::int32_t> readers;
  std::int64_t taken = 0;
  bool alone = true, sized = true, written = true;
  for (const PoolSequence& one : frame.sequences) {
    sized = sized && one.count == (one.tokens + s.block_tokens - 1) / s.block_tokens && one.tokens <= one.final_tokens;
    for (std::int64_t i = 0; i < one.count; ++i) {
      const std::int32_t block = frame.blocks[static_cast<std::size_t>(one.first + i)];
      const auto [at, fresh] = owner.try_emplace(block, one.request, i);
      taken += fresh;
      alone = alone && at->second == std::pair(one.request, i);
      ++readers[block];
    }
  }
  // Who has written a token in this step is the only reader of the block that holds it.
  for (const PoolSequence& one : frame.sequences)
    if (!one.stalled && one.tokens > demand.requests[static_cast<std::size_t>(one.request)].prompt_tokens)
      written = written && readers[frame.blocks[static_cast<std::size_t>(one.first + one.count - 1)]] == 1;
  CHECK(alone);
  CHECK(sized);
  CHECK(written);
  CHECK(taken * s.block_tokens + frame.free_slots == s.pool_tokens / s.block_tokens * s.block_tokens);
  CHECK(near(frame.used + frame.never, static_cast<double>(taken * s.block_tokens), 1e-12));
}

void check_reserved_frame(const PoolFrame& frame, const PagedSetup& s) {
  std::vector<std::pair<std::int64_t, std::int64_t>> runs;
  for (const PoolSequence& one : frame.sequences) {
    CHECK(one.tokens <= one.final_tokens);
    CHECK(one.final_tokens <= one.count);
    runs.emplace_back(one.first, one.first + one.count);
  }
  std::sort(runs.begin(), runs.end());
  for (std::size_t i = 1; i < runs.size(); ++i) CHECK(runs[i - 1].second <= runs[i].first);
  if (!runs.empty()) CHECK(runs.back().second <= s.pool_tokens);
  CHECK(near(frame.used + frame.later + frame.never + frame.stranded + frame.spare, static_cast<double>(s.pool_tokens),
             1e-12));
}

/// Everybody is served or refused, in order, with all tokens, and nothing stays taken.
void check_served(const PagedRun& run, const PagedDemand& demand) {
  CHECK_FALSE(run.stopped);
  CHECK(run.blocks_left == 0);
  CHECK(run.completed + run.refused == static_cast<std::int64_t>(demand.requests.size()));
  std::int64_t last_start = 0, tokens = 0;
  for (std::size_t i = 0; i < run.served.size(); ++i) {
    const PagedServed& one = run.served[i];
    if (one.refused) continue;
    CHECK(one.start_us >= demand.requests[i].arrival_us);
    CHECK(one.start_us >= last_start);  // first come, first served
    CHECK(one.finish_us > one.start_us);
    last_start = one.start_us;
    for (std::int32_t k = 0; k < demand.answers; ++k)
      tokens += demand.requests[i].output_tokens[static_cast<std::size_t>(k)];
  }
  CHECK(run.tokens == tokens);
}

bool same(const PagedRun& a, const PagedRun& b) {
  if (a.end_us != b.end_us || a.steps != b.steps || a.copies != b.copies || a.preemptions != b.preemptions)
    return false;
  for (std::size_t i = 0; i < a.served.size(); ++i)
    if (a.served[i].finish_us != b.served[i].finish_us || a.served[i].start_us != b.served[i].start_us) return false;
  return a.frames.size() == b.frames.size() &&
         std::equal(a.frames.begin(), a.frames.end(), b.frames.begin(),
                    [](const PoolFrame& x, const PoolFrame& y) { return x.blocks == y.blocks; });
}

}  // namespace

TEST_CASE("paged KV: one request, added up by hand in both pools") {
  const ServingCost cost = plain_cost();
  const PagedDemand one{{ask(1'000'000, 20, 3)}, 1};
  const std::vector<std::int64_t> at{0, 1'000'000, 1'012'500, 1'030'000};
  PagedSetup s{.cost = &cost, .pool_tokens = 64, .reserve_tokens = 40, .block_tokens = 16};
  s.frame_times_us = at;
  const PagedRun paged = simulate_paged(one, s), reserved = simulate_reserved(one, s);
  // The prompt: 10 ms, 20 x 0.1 ms and 20 us for reading its cache. Two steps with 21 and 22 cached tokens behind it.
  const std::int64_t end = 1'000'000 + 12'020 + 10'121 + 10'122;
  CHECK(paged.end_us == end);
  CHECK(reserved.end_us == end);
  CHECK(paged.tokens == 3);
  REQUIRE(paged.frames.size() == 4);
  CHECK(paged.frames[0].sequences.empty());
  CHECK(paged.frames[1].used == 20);
  CHECK(paged.frames[1].never == 12);
  CHECK(paged.frames[2].used == 21);
  CHECK(paged.frames[3].used == 22);
  CHECK(paged.frames[3].spare == 32);
  REQUIRE(reserved.frames.size() == 4);
  CHECK(reserved.frames[2].used == 21);
  CHECK(reserved.frames[2].later == 1);
  CHECK(reserved.frames[2].never == 18);
  CHECK(reserved.frames[2].spare == 24);
  CHECK(near(paged.whole.used, 12'020.0 * 20 + 10'121.0 * 21 + 10'122.0 * 22, 1e-12));
  CHECK(near(paged.whole.us, static_cast<double>(end), 1e-12));
}

TEST_CASE("paged KV: without preemption the pool stands still for ever, and a watermark alone only delays it") {
  const ServingCost cost = plain_cost();
  PagedDemand demand;
  for (int i = 0; i < 12; ++i) demand.requests.push_back(ask(i, 16, 60));
  PagedSetup s{.cost = &cost, .pool_tokens = 256, .block_tokens = 16, .when_full = PoolFull::wait};
  const PagedRun stuck = simulate_paged(demand, s);
  // Sixteen blocks, all twelve prompts get one each, four get a second one, and then nobody can go on.
  CHECK(stuck.stuck_us > 0);
  CHECK(stuck.stuck_requests == 12);
  CHECK(stuck.completed == 0);
  s.watermark_blocks = 6;
  const PagedRun later = simulate_paged(demand, s);
  CHECK(later.stuck_us > stuck.stuck_us);
  for (const PoolFull way : {PoolFull::recompute, PoolFull::swap}) {
    s.when_full = way;
    for (const std::int64_t kept : {std::int64_t{0}, std::int64_t{6}}) {
      s.watermark_blocks = kept;
      const PagedRun run = simulate_paged(demand, s);
      CHECK(run.stuck_us < 0);
      CHECK(run.completed == 12);
      CHECK(run.preemptions > 0);
    }
  }
  // With room for what each needs at the end nobody waits for a block: reserving is what paging gives up.
  s.when_full = PoolFull::wait;
  s.watermark_blocks = 0;
  s.max_running = 3;
  CHECK(simulate_paged(demand, s).completed == 12);
}

TEST_CASE("paged KV: swap moves blocks over the link, recompute computes tokens again") {
  const ServingCost cost = plain_cost();
  PagedDemand demand;
  for (int i = 0; i < 6; ++i) demand.requests.push_back(ask(i, 30, 40));
  PagedSetup s{.cost = &cost, .pool_tokens = 128, .block_tokens = 16, .when_full = PoolFull::recompute};
  s.token_bytes = 1e6;
  s.link_bytes_per_s = 1e9;
  const PagedRun again = simulate_paged(demand, s);
  CHECK(again.recomputed_tokens > 0);
  CHECK(again.swapped_out_blocks == 0);
  s.when_full = PoolFull::swap;
  const PagedRun moved = simulate_paged(demand, s);
  CHECK(moved.recomputed_tokens == 0);
  CHECK(moved.swapped_out_blocks > 0);
  // A block is 16 ms of link each way, its tokens 1.6 ms of computing: recompute ends sooner.
  CHECK(moved.end_us > again.end_us);
  s.link_bytes_per_s = 1e12;
  CHECK(simulate_paged(demand, s).end_us < moved.end_us);
  // Without room in the host there is nothing to swap to.
  s.host_blocks = 0;
  const PagedRun full = simulate_paged(demand, s);
  CHECK(full.swapped_out_blocks == 0);
  CHECK(full.host_full == full.preemptions);
  CHECK(full.end_us == again.end_us);
}

TEST_CASE("paged KV: whoever could never fit is refused, and who jumps the line goes first") {
  const ServingCost cost = plain_cost();
  PagedDemand demand{{ask(0, 100, 100), ask(1, 200, 57), ask(2, 200, 58), ask(3, 10, 10), ask(4, 11, 10)}, 1};
  PagedSetup s{.cost = &cost, .pool_tokens = 256, .reserve_tokens = 256, .block_tokens = 16};
  s.max_running = 1;
  const PagedRun paged = simulate_paged(demand, s), reserved = simulate_reserved(demand, s);
  CHECK(paged.refused == 1);
  CHECK(paged.served[2].refused);
  CHECK(reserved.refused == 1);
  CHECK(reserved.served[2].refused);
  s.urgent = 4;
  const PagedRun jumped = simulate_paged(demand, s);
  CHECK(jumped.served[4].start_us < jumped.served[1].start_us);
  CHECK(jumped.served[3].start_us > jumped.served[1].start_us);
}

TEST_CASE("paged KV: over random workloads nothing leaks, nobody starves and histories are equal") {
  const ServingCost cost = plain_cost();
  std::int64_t preemptions = 0, copies = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    PagedLuck luck{std::mt19937_64(seed)};
    const PagedDemand demand = random_demand(luck);
    PagedSetup s = random_setup(luck, cost);
    const PagedRun first = simulate_paged(demand, s);
    check_served(first, demand);
    const auto times = times_until(first.end_us, 30);
    s.frame_times_us = times;
    const PagedRun run = simulate_paged(demand, s);
    for (const PoolFrame& frame : run.frames) check_paged_frame(frame, s, demand);
    CHECK(same(run, simulate_paged(demand, s)));
    CHECK(run.end_us == first.end_us);
    const PagedRun reserved = simulate_reserved(demand, s);
    check_served(reserved, demand);
    for (const PoolFrame& frame : reserved.frames) check_reserved_frame(frame, s);
    preemptions += run.preemptions;
    copies += run.copies;
  }
  CHECK(preemptions > 100);
  CHECK(copies > 100);
}

TEST_CASE("paged KV: the sums over time are those of the frames") {
  const ServingCost cost = plain_cost();
  PagedLuck luck{std::mt19937_64(5)};
  const PagedDemand demand = random_demand(luck);
  PagedSetup s = random_setup(luck, cost);
  const std::int64_t end = simulate_paged(demand, s).end_us;
  const auto times = times_until(end, 20'000);
  s.frame_times_us = times;
  s.measure_from_us = end / 4;
  s.measure_until_us = end / 2;
  const PagedRun run = simulate_paged(demand, s);
  double used = 0, waiting = 0, n = 0;
  for (const PoolFrame& frame : run.frames)
    if (frame.time_us >= end / 4 && frame.time_us < end / 2) {
      used += frame.used;
      waiting += static_cast<double>(frame.waiting);
      ++n;
    }
  CHECK(near(run.measured.used / run.measured.us, used / n, 5e-3));
  CHECK(near(run.measured.waiting / run.measured.us, waiting / n, 5e-3));
  CHECK(near(run.measured.us, static_cast<double>(end / 2 - end / 4), 1e-12));
}
