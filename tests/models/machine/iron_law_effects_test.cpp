#include "models/machine/iron_law_effects.h"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <vector>
#include "tests/models/machine/iron_law_example.h"
#include "tests/support/base/near.h"

using models::Combine;
using models::IronLaw;
using models::IronPart;
using models::IronTerm;
using models::Technique;

using support::near;

namespace {}  // namespace

TEST_CASE("a technique alone: its factors, the time after it, and the part that it shortens") {
  const auto effect = models::effect_of(iron_law_example, technique("weights_8bit"));
  REQUIRE(effect);
  CHECK(effect->after.memory_s == 7.5);  // half of the half that is weights
  CHECK(near(effect->speedup, 42.0 / 39.5));
  CHECK(effect->part == IronPart::memory);
  CHECK(effect->factor == std::array<double, 6>{0.75, 1, 1, 1, 1, 1});
  CHECK(models::effect_of(iron_law_example, technique("padding"))->part == IronPart::compute);
  CHECK(models::effect_of(iron_law_example, technique("cuda_graphs"))->part == IronPart::latency);
}

TEST_CASE("efficiency that reaches 1 gives less than the technique's factor") {
  IronLaw law = iron_law_example;
  law.efficiency = 0.8;  // padding asks for 1.2
  CHECK(near(models::effect_of(law, technique("padding"))->factor[4], 1.25));
}

TEST_CASE("in order, each technique acts on what is left, and the gains multiply to the whole") {
  const std::vector<const Technique*> chosen{&technique("weights_8bit"), &technique("cuda_graphs"),
                                             &technique("overlap")};
  const auto steps = models::effects_in_order(iron_law_example, chosen);
  REQUIRE(steps);
  REQUIRE(steps->size() == 3);
  CHECK((*steps)[1].before.time_s == (*steps)[0].after.time_s);
  CHECK((*steps)[2].law == models::apply_all(iron_law_example, chosen));
  CHECK(near((*steps)[0].speedup * (*steps)[1].speedup * (*steps)[2].speedup, 42 / (30 + 2 * 0.9 / 3.3)));
  CHECK((*steps)[2].part == IronPart::memory);  // hidden under the arithmetic
}

TEST_CASE("Amdahl: no technique beats the time that its part does not hold") {
  const auto bounds = models::speedup_bounds(iron_law_example);
  REQUIRE(bounds);
  CHECK(near((*bounds)[0], 42.0 / 32));
  CHECK(near((*bounds)[1], 42.0 / 12));
  CHECK(near((*bounds)[2], 42.0 / 40));
  IronLaw overlapped = iron_law_example;
  overlapped.combine = Combine::overlapped;
  const auto hidden = models::speedup_bounds(overlapped);
  CHECK((*hidden)[0] == 1);              // loads are hidden already
  CHECK(near((*hidden)[1], 32.0 / 12));  // then the loads show
  IronLaw only_loads{100, 10, 0, 20, 1, 0, Combine::added};
  CHECK(std::isinf((*models::speedup_bounds(only_loads))[0]));
}

TEST_CASE("overlap hides the shorter of loads and arithmetic, never the latency") {
  IronLaw law = iron_law_example;
  law.combine = Combine::overlapped;
  const auto time = models::iron_time(law);
  REQUIRE(time);
  CHECK(models::exposed_s(law, *time, IronPart::memory) == 0);
  CHECK(models::exposed_s(law, *time, IronPart::compute) == 30);
  CHECK(models::exposed_s(law, *time, IronPart::latency) == 2);
  CHECK(models::exposed_s(iron_law_example, *models::iron_time(iron_law_example), IronPart::memory) == 10);
}

TEST_CASE("a factor helps when it shortens its part") {
  CHECK(models::helps(IronTerm::bytes, 0.5));
  CHECK_FALSE(models::helps(IronTerm::operations, 1.5));
  CHECK(models::helps(IronTerm::rate, 2));
  CHECK_FALSE(models::helps(IronTerm::efficiency, 0.9));
}

TEST_CASE("a saving that is counted twice is named") {
  using List = std::vector<const Technique*>;
  CHECK(
      models::counted_twice(List{&technique("weights_8bit"), &technique("cuda_graphs")}, models::Format::bf16).empty());
  CHECK(models::counted_twice(List{&technique("weights_8bit"), &technique("weights_4bit")}, models::Format::bf16) ==
        "8-bit weights and 4-bit weights, groups of 128 both shrink the same 16-bit numbers: keep one of them.");
  CHECK(models::counted_twice(List{&technique("tensor_cores")}, models::Format::bf16) ==
        "Tensor Cores in BF16 counts from the FP32 lanes, but the rate is already that of BF16: choose FP32, or leave "
        "it off.");
  CHECK(models::counted_twice(List{&technique("tensor_cores")}, models::Format::fp32).empty());
  CHECK(models::counted_twice(List{&technique("fp8_math")}, models::Format::fp8) ==
        "FP8 matrix units counts from a 16-bit rate, but the format is FP8: choose BF16 or FP16, or leave it off.");
}
