// Guards on shapes as PyTorch documents them: which lengths recompile, what a limit leaves, what buckets pad.
#include "models/inference/guard_cache.h"

#include <catch2/catch_test_macros.hpp>
#include <vector>

using namespace models::inference;

namespace {

GuardRun guarded(const std::vector<std::uint32_t>& lengths, ShapePolicy policy, std::int64_t max_graphs = 8,
                 std::int64_t bucket = 128) {
  return run_guards(lengths, {.policy = policy, .bucket = bucket, .longest = 2048, .max_graphs = max_graphs});
}

}  // namespace

// docs.pytorch.org, "Dealing with Recompilations" and "Dynamic Shapes": dynamic=None is exact at first and dynamic from
// the second length on; sizes 0 and 1 are always specialized.
TEST_CASE("guards: the second length makes one graph for any length, and a length of one keeps its own") {
  const GuardRun run = guarded({300, 300, 512, 700, 300, 1, 900, 1}, ShapePolicy::automatic);
  REQUIRE(run.graphs.size() == 3);
  CHECK(run.graphs[0].length == 300);
  CHECK(run.graphs[1].dynamic());
  CHECK(run.graphs[1].first_call == 2);
  CHECK(run.graphs[2].length == 1);
  // The exact graph stays there, but the dynamic one was hit last and takes 300 too.
  CHECK(run.calls[4].graph == 1);
  CHECK(run.calls[4].walked == 1);
  CHECK(run.calls[6].walked == 2);
  CHECK(run.eager_calls == 0);
  CHECK(guarded({300, 512, 700}, ShapePolicy::dynamic).graphs.size() == 1);
  CHECK(guarded({1, 1, 7}, ShapePolicy::dynamic).graphs.size() == 2);
}

// torch._dynamo.config.recompile_limit is 8.
TEST_CASE("guards: after the limit a new length runs eager, and the graphs that are there still hit") {
  std::vector<std::uint32_t> lengths;
  for (std::uint32_t i = 0; i < 12; ++i) lengths.push_back(100 + i);
  lengths.push_back(100);
  const GuardRun run = guarded(lengths, ShapePolicy::exact);
  CHECK(run.graphs.size() == 8);
  CHECK(run.eager_calls == 4);
  CHECK(run.calls[11].graph == -1);
  CHECK(run.calls[11].walked == 8);
  CHECK(run.calls[12].graph == 0);
  CHECK(run.calls[12].walked == 8);  // seven younger ones stand before it
  CHECK(run.distinct_lengths == 12);
  CHECK(guarded(lengths, ShapePolicy::exact, 0).graphs.size() == 12);
}

// jax.jit and TensorRT find an executable by its shapes and walk over none.
TEST_CASE("guards: graphs that are looked up are the same ones, and one look is enough") {
  std::vector<std::uint32_t> lengths;
  for (std::uint32_t i = 0; i < 60; ++i) lengths.push_back(100 + i * i % 23);
  for (const ShapePolicy policy : {ShapePolicy::exact, ShapePolicy::multiples, ShapePolicy::dynamic}) {
    GuardRules rules{.policy = policy, .bucket = 8, .max_graphs = 0};
    const GuardRun walked = run_guards(lengths, rules);
    rules.hashed = true;
    const GuardRun found = run_guards(lengths, rules);
    CHECK(found.graphs.size() == walked.graphs.size());
    CHECK(found.walked == 59);  // the first call finds an empty cache
    for (std::size_t i = 0; i < lengths.size(); ++i) CHECK(found.calls[i].graph == walked.calls[i].graph);
  }
}

TEST_CASE("guards: buckets are few graphs and much padding, and what runs eager is not padded") {
  const std::vector<std::uint32_t> lengths{1, 128, 129, 300, 600, 1025};
  const GuardRun powers = guarded(lengths, ShapePolicy::powers);
  CHECK(powers.graphs.size() == 5);  // 128, 256, 512, 1,024 and 2,048
  CHECK(powers.ran_tokens == 128 + 128 + 256 + 512 + 1024 + 2048);
  const GuardRun multiples = guarded(lengths, ShapePolicy::multiples);
  CHECK(multiples.ran_tokens == 128 + 128 + 256 + 384 + 640 + 1152);
  CHECK(multiples.tokens == 1 + 128 + 129 + 300 + 600 + 1025);
  CHECK(guarded(lengths, ShapePolicy::longest).ran_tokens == 6 * 2048);
  CHECK(guarded(lengths, ShapePolicy::longest).graphs.size() == 1);
  const GuardRun any = guarded(lengths, ShapePolicy::any_padded);
  CHECK(any.graphs.size() == 1);
  CHECK(any.ran_tokens == multiples.ran_tokens);
  const GuardRun limited = guarded(lengths, ShapePolicy::powers, 2);
  CHECK(limited.eager_calls == 3);
  CHECK(limited.ran_tokens == 128 + 128 + 256 + 300 + 600 + 1025);
}

TEST_CASE("guards: Triton compiles one, multiples of 16 and the rest apart") {
  const GuardRun run = guarded({32, 64, 33, 35, 1, 48}, ShapePolicy::divisible, 0);
  REQUIRE(run.graphs.size() == 3);
  CHECK(run.graphs[0].calls == 3);
  CHECK(run.graphs[1].calls == 2);
}
