#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/parallel/context/context_ring.h"
#include "models/parallel/context/context_run.h"
#include "tests/support/base/near.h"

using support::near;
using namespace models;
using namespace models::parallel;

namespace {

constexpr ContextOrder every_order[] = {ContextOrder::contiguous, ContextOrder::zig_zag, ContextOrder::striped};

ContextSetup long_sequence(ContextOrder order, std::int64_t ranks) {
  ContextSetup s;
  s.order = order;
  s.ranks = ranks;
  s.sequence = 1 << 17;
  return s;
}

}  // namespace

TEST_CASE("context order: every token has one rank, every rank as many, and tiles hold the pairs that are counted") {
  for (const ContextOrder order : every_order)
    for (const std::int64_t ranks : {1, 2, 3, 4, 7})
      for (const std::int64_t pieces : {1, 3}) {
        const std::int64_t sequence = 2 * ranks * pieces;
        std::vector<std::int64_t> held(static_cast<std::size_t>(ranks));
        std::vector<double> pairs(static_cast<std::size_t>(ranks * ranks));
        for (std::int64_t q = 0; q < sequence; ++q) {
          const std::int64_t rank = token_rank(order, sequence, ranks, q);
          ++held[static_cast<std::size_t>(rank)];
          for (std::int64_t k = 0; k <= q; ++k)
            ++pairs[static_cast<std::size_t>(rank * ranks + token_rank(order, sequence, ranks, k))];
        }
        INFO(context_order_name(order) << ", " << ranks << " ranks, " << sequence << " tokens");
        double sum = 0;
        for (std::int64_t i = 0; i < ranks; ++i) {
          CHECK(held[static_cast<std::size_t>(i)] == 2 * pieces);
          for (std::int64_t j = 0; j < ranks; ++j) {
            const double counted = pairs[static_cast<std::size_t>(i * ranks + j)];
            CHECK(tile_pairs(order, sequence, ranks, i, j) == counted);
            sum += counted;
          }
        }
        CHECK(sum == static_cast<double>(sequence * (sequence + 1) / 2));
      }
  CHECK(context_problem(ContextOrder::zig_zag, 12, 4).find("8 equal pieces") != std::string::npos);
  CHECK(context_problem(ContextOrder::contiguous, 12, 4).empty());
  CHECK_FALSE(context_problem(ContextOrder::striped, 1024, 512).empty());
  // Keys go to the next rank: whom a rank meets, and where its own keys are.
  CHECK(key_owner(4, 1, 2) == 3);
  CHECK(key_holder(4, 3, 2) == 1);
}

TEST_CASE("context run: every order, mask and count of ranks gives the whole attention, and counts its own pairs") {
  for (const ContextOrder order : every_order)
    for (const bool causal : {true, false})
      for (const std::int64_t ranks : {1, 2, 3, 4, 8}) {
        const std::int64_t sequence = 6 * ranks;
        const auto run = run_context_attention(
            {.order = order, .ranks = ranks, .sequence = sequence, .heads = ranks, .causal = causal, .seed = 3});
        REQUIRE(run);
        CHECK(run->ring_error <= 1e-13);
        CHECK(run->all_to_all_error <= 1e-13);
        if (ranks > 1) CHECK(run->forgotten_error > 0.05);
        for (std::int64_t step = 0; step < ranks; ++step)
          for (std::int64_t rank = 0; rank < ranks; ++rank)
            CHECK(run->pairs[static_cast<std::size_t>(step)][static_cast<std::size_t>(rank)] ==
                  tile_pairs(order, sequence, ranks, rank, key_owner(ranks, rank, step), causal));
        // The last query has met all keys: what it knows is the whole's result; its largest score never falls.
        CHECK(near(run->last_query.back().result, run->whole.at(static_cast<std::size_t>(sequence - 1), 0), 1e-12));
        for (std::size_t i = 1; i < run->last_query.size(); ++i)
          CHECK(run->last_query[i].largest >= run->last_query[i - 1].largest);
      }
  CHECK_FALSE(run_context_attention({.ranks = 4, .sequence = 18}));
  CHECK_FALSE(run_context_attention({.ranks = 4, .heads = 6}));
}

TEST_CASE("context ring: zig-zag wins (2n - 1) / n over contiguous where transfers hide") {
  for (const std::int64_t ranks : {2, 4, 8, 32}) {
    const auto plain = run_context_ring(long_sequence(ContextOrder::contiguous, ranks));
    const auto folded = run_context_ring(long_sequence(ContextOrder::zig_zag, ranks));
    const auto striped = run_context_ring(long_sequence(ContextOrder::striped, ranks));
    REQUIRE(plain);
    REQUIRE(folded);
    REQUIRE(striped);
    const auto n = static_cast<double>(ranks);
    CHECK(near(plain->compute_s / folded->compute_s, (2 * n - 1) / n, 1e-3));
    CHECK(near(striped->compute_s, folded->compute_s, 1e-3));
    CHECK(near(ring_slowdown(ContextOrder::contiguous, ranks, true), (2 * n - 1) / n));
    CHECK(plain->pairs == folded->pairs);
    CHECK(near(folded->busy_share, 1, 1e-3));
    CHECK(near(folded->sent_bytes, (n - 1) * 2 * (131072 / n) * 128 * 2));
    // The step's time is never below either of its parts, and a rank never computes longer than the step.
    for (const ContextStep& step : plain->steps) {
      CHECK(step.time_s() >= step.compute_s);
      CHECK(step.time_s() >= step.transfer_s);
      CHECK(step.mean_pairs <= step.slowest_pairs);
    }
  }
}

TEST_CASE("context ring: a tile of as many tokens as are said takes as long as its keys") {
  for (const ContextOrder order : every_order)
    for (const bool backward : {false, true}) {
      ContextSetup s = long_sequence(order, 4);
      s.backward = backward;
      s.sequence = 4 * 2 * std::llround(hiding_tokens(s) / 2);
      const auto ring = run_context_ring(s);
      REQUIRE(ring);
      const ContextStep& step = ring->steps[1];
      CHECK(near(step.compute_s, step.transfer_s, 2e-3));
    }
  ContextSetup shared = long_sequence(ContextOrder::zig_zag, 4), own = shared;
  own.kv_heads = own.heads;
  own.message_s = shared.message_s = 0;
  CHECK(near(hiding_tokens(own), 8 * hiding_tokens(shared)));
}

TEST_CASE("context methods: heads limit the all-to-all, and keys that are few are sent to several") {
  ContextSetup s = long_sequence(ContextOrder::zig_zag, 4);
  s.heads = 64;
  s.kv_heads = 8;
  const ContextCost all = context_cost(ContextMethod::all_to_all, s);
  CHECK(near(all.sent_bytes, 0.75 * 32768 * 128 * 2 * (2 * 64 + 2 * 8)));
  s.kv_heads = 1;
  CHECK(near(context_cost(ContextMethod::all_to_all, s).sent_bytes, 0.75 * 32768 * 128 * 2 * (2 * 64 + 2 * 4)));
  s.kv_heads = 3;
  CHECK(context_cost(ContextMethod::all_to_all, s).why_not.find("3 key heads") != std::string::npos);
  s.kv_heads = 8;
  s.ranks = 128;
  CHECK(context_cost(ContextMethod::all_to_all, s).why_not.find("64 query heads") != std::string::npos);
  s.ranks = 4;
  const ContextCost ring = context_cost(ContextMethod::ring, s), gather = context_cost(ContextMethod::gather, s);
  CHECK(ring.exposed_s == 0);
  CHECK(gather.exposed_s > 0);
  CHECK(near(gather.sent_bytes, ring.sent_bytes));
  CHECK(near(gather.held_bytes, 2 * ring.held_bytes));
  CHECK(ring.time_s < gather.time_s);
  // Backward the gradients of keys and values go home behind the last step.
  s.backward = true;
  const auto back = run_context_ring(s);
  REQUIRE(back);
  CHECK(near(back->sent_bytes, 3.5 * s.block_bytes()));
  CHECK(near(back->exposed_s, s.message_s + s.block_bytes() / 2 / s.link_bytes_per_s, 1e-9));
  // Gathered, the keys come once and the parts of their gradients go once: nothing is passed on to go home.
  const ContextCost again = context_cost(ContextMethod::gather, s);
  CHECK(near(again.sent_bytes, 3 * s.block_bytes()));
  CHECK(near(again.exposed_s, again.sent_bytes / s.link_bytes_per_s + 6 * s.message_s, 1e-9));
  CHECK(near(again.before_s, again.exposed_s / 2, 1e-9));
  // All-to-all: backward one gradient comes before the products, three go behind them.
  s.kv_heads = s.heads;
  const ContextCost heads = context_cost(ContextMethod::all_to_all, s);
  CHECK(near(heads.before_s - s.message_s, (heads.exposed_s - 2 * s.message_s) / 4, 1e-9));
  s.backward = false;
  const ContextCost ahead = context_cost(ContextMethod::all_to_all, s);
  CHECK(near(ahead.before_s - s.message_s, 3 * (ahead.exposed_s - 2 * s.message_s) / 4, 1e-9));
}
