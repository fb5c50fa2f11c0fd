#include "models/training/speedup_stack.h"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <numeric>

#include "tests/support/base/near.h"

using namespace models;
using support::near;

namespace {

const StackTimes thirds{1, 0, 1, 0, 1};
StackTechnique twice(StackPart part, double factor = 2) {
  StackTechnique t;
  t.factor[static_cast<std::size_t>(part)] = factor;
  return t;
}

}  // namespace

TEST_CASE("speed-up stack: three thirds, each twice as fast, are 2 and not 8") {
  const std::array techniques{twice(StackPart::forward), twice(StackPart::optimizer), twice(StackPart::data)};
  const auto stack = stack_speedups(thirds, techniques, false);
  REQUIRE(stack);
  CHECK(stack->disjoint);
  CHECK(near(stack->speedup, 2));
  CHECK(near(stack->own_product, 8));
  CHECK(near(stack->alone_product, 1.2 * 1.2 * 1.2));  // gains of the whole step, and they too do not multiply
  CHECK(near(stack->stages[1].gain, 1.2));
  CHECK(near(stack->stages[2].gain, 1.25));
  CHECK(near(stack->stages[3].gain, 4.0 / 3));
  for (std::size_t i = 1; i < 4; ++i) CHECK(near(stack->stages[i].saved_s, 0.5));
}

TEST_CASE("speed-up stack: order changes each gain and never the total") {
  std::array techniques{twice(StackPart::forward, 3), twice(StackPart::backward, 1.5), twice(StackPart::data, 4),
                        twice(StackPart::forward, 2)};
  const StackTimes parts{0.17, 0.2125, 0.085, 0.0425, 0.34};
  std::array<int, 4> order{0, 1, 2, 3};
  for (const bool beside : {false, true}) {
    const double total = stack_speedups(parts, techniques, beside)->speedup;
    double least = 1e9, most = 0;
    do {
      std::array<StackTechnique, 4> sorted;
      for (std::size_t i = 0; i < 4; ++i) sorted[i] = techniques[static_cast<std::size_t>(order[i])];
      const auto stack = stack_speedups(parts, sorted, beside);
      CHECK(near(stack->speedup, total, 1e-12));
      double product = 1;
      for (const StackStage& stage : stack->stages) product *= stage.gain;
      CHECK(near(product, total, 1e-12));  // gains measured one after the other do multiply
      const auto at = static_cast<std::size_t>(std::find(order.begin(), order.end(), 2) - order.begin());
      least = std::min(least, stack->stages[at + 1].gain);
      most = std::max(most, stack->stages[at + 1].gain);
    } while (std::next_permutation(order.begin(), order.end()));
    CHECK(most > 1.05 * least);
    CHECK_FALSE(stack_speedups(parts, techniques, beside)->disjoint);
  }
}

// The study document's stack: 850 ms, then x1.4, x1.7, x1.15 and x1.12 of the whole step.
TEST_CASE("speed-up stack: 850 ms become 277 only where each part gives that much") {
  const StackTimes parts{0.17, 0.2125, 0.085, 0.0425, 0.34};
  StackTechnique products, compiled;
  products.factor = {1.7, 1.7, 1, 1, 1};
  compiled.factor = {1.15, 1.15, 1, 1, 1};
  const std::array as_factors{twice(StackPart::data, 1.4), products, compiled, twice(StackPart::optimizer, 1.12)};
  const auto stack = stack_speedups(parts, as_factors, false);
  CHECK(near(stack->own_product, 3.0654, 1e-4));
  CHECK(near(stack->stages.back().step_s, 0.34 / 1.4 + 0.3825 / 1.955 + 0.085 / 1.12 + 0.0425));
  CHECK(near(stack->speedup, 1.526, 1e-3));
  products.factor = {2.887, 2.887, 1, 1, 1};
  compiled.factor = {1.542, 1.542, 1, 1, 1};
  const std::array as_parts{twice(StackPart::data, 3.5), products, compiled, twice(StackPart::optimizer, 1.643)};
  const auto whole = stack_speedups(parts, as_parts, false);
  CHECK(near(whole->stages.back().step_s, 0.2773, 2e-3));
  for (const auto& [stage, gain] : {std::pair{1, 1.4}, {2, 1.7}, {3, 1.15}, {4, 1.12}})
    CHECK(near(whole->stages[static_cast<std::size_t>(stage)].gain, gain, 2e-3));
}

// gpt-fast, README at 0f925b5: Llama-2-7B on an A100 of 2,039 GB/s; a token reads 13.32, 6.87 and 4.38 GB.
TEST_CASE("speed-up stack: a quantized decode step is as much faster as its bytes are a part of it") {
  const double step = 1 / 104.9, read = 1397.31 / 104.9 / 2039;
  const StackTimes parts{read, 0, 0, step - read, 0};
  for (const auto& [tokens_per_s, gb_per_s] : {std::pair{155.58, 1069.20}, {196.80, 862.69}}) {
    const std::array<StackTechnique, 1> quantized{
        twice(StackPart::forward, (1397.31 / 104.9) / (gb_per_s / tokens_per_s))};
    CHECK(near(stack_speedups(parts, quantized, false)->stages[1].step_s, 1 / tokens_per_s, 0.02));
  }
}

TEST_CASE("speed-up stack: a loader beside the device comes out when the device gets faster") {
  StackTechnique device;
  device.factor = {4, 4, 4, 4, 1};
  const std::array techniques{device};
  const auto stack = stack_speedups({0.2, 0.2, 0.1, 0, 0.4}, techniques, true);
  CHECK(near(stack->stages[0].step_s, 0.5));
  CHECK(stack->stages[0].part_s.back() == 0);
  CHECK(near(stack->stages[1].step_s, 0.4));
  CHECK(near(stack->stages[1].part_s.back(), 0.275));
  CHECK_FALSE(stack->disjoint);
  CHECK_FALSE(stack_speedups({0, 0, 0, 0, 0}, techniques, false));
  CHECK_FALSE(stack_speedups({-1, 1, 0, 0, 0}, techniques, false));
  CHECK_FALSE(stack_speedups({1, std::nan(""), 0, 0, 0}, techniques, false));
}

TEST_CASE("speed-up stack: what bounds it does not depend on how large a factor is, 1 among them") {
  StackTechnique technique = twice(StackPart::forward);
  technique.acts[static_cast<std::size_t>(StackPart::forward)] = true;
  for (const double factor : {1.0, 1.0001, 64.0}) {
    technique.factor[static_cast<std::size_t>(StackPart::forward)] = factor;
    const auto stack = stack_speedups(thirds, std::array{technique}, false);
    REQUIRE(stack);
    CHECK(near(stack->ceiling, 1.5));
    CHECK(near(stack->own_product, factor));
  }
}
