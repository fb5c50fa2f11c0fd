#include "models/machine/gemm_depth.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

TEST_CASE("an H100 is compute-bound on a BF16 product of 4,096 by 4,096 from K = 346 on") {
  // 989.4 TFLOP/s over 3.35 TB/s: 295.34 x 2 B x 4096^2 / (2 x 4096^2 - 295.34 x 2 B x 8192) = 345.1.
  const double k = models::gemm_depth_at(989.4e12 / 3.35e12, 4096, 4096, 2);
  CHECK(std::ceil(k) == 346);
  const double flops = 2.0 * 4096 * 4096 * k, bytes = 2.0 * (2 * 4096 * k + 4096.0 * 4096);
  CHECK(std::abs(flops / bytes - 989.4e12 / 3.35e12) <= 1e-9 * flops / bytes);
  CHECK(std::isnan(models::gemm_depth_at(295, 512, 512, 2)));  // never: its intensity stays below 256 FLOP/B
}
