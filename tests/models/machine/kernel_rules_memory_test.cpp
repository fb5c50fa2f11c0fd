#include "models/machine/kernel_rules_memory.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

using Catch::Approx;
using models::KernelLimit;

namespace {

models::KernelPrediction memory_rule(std::string_view ladder, std::string_view rung) {
  const auto found = models::predict_kernel(ladder, rung, {});
  REQUIRE(found);
  return *found;
}

}  // namespace

// The oracle: fused LayerNorm and GELU, two passes in the place of four, is 2.0 times as fast.
TEST_CASE("kernels that memory bounds: the share is passes that are needed over passes that are made") {
  CHECK(memory_rule("cuda-softmax", "three").bound.share == Approx(0.4));
  CHECK(memory_rule("cuda-softmax", "three").bound.limit == KernelLimit::memory);
  CHECK(memory_rule("cuda-softmax", "three").moved == 2.5);
  CHECK(memory_rule("cuda-layernorm-gelu", "passes").bound.share == Approx(1.0 / 3));
  CHECK(memory_rule("cuda-layernorm-gelu", "fused").bound.share /
            memory_rule("cuda-layernorm-gelu", "unfused").bound.share ==
        Approx(2));
  CHECK(memory_rule("cuda-fp8-quantize", "two_pass").bound.share == Approx(0.6));
  CHECK(memory_rule("cuda-gemv", "int4").bound.share == Approx(1));
  // Four query heads a block instead of one: a quarter of the sectors at the L2.
  CHECK(memory_rule("cuda-paged-decode", "paged").bound.limit == KernelLimit::sectors);
  CHECK(memory_rule("cuda-paged-decode", "gqa").bound.share == Approx(1));
  const models::PortLoads ports = memory_rule("cuda-softmax", "three").ports;
  CHECK(ports.all()[0].demand == Approx(2.5 * ports.all()[0].supply));
  CHECK_FALSE(models::predict_kernel("cuda-histogram", "global", {}));
}
