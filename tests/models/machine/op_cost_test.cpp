#include "models/machine/op_cost.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

using Catch::Approx;

namespace {

/// Self-attention of whole sequences, full square counted.
models::AttentionShape square(double batch, double heads, double length, double width) {
  return {batch, heads, heads, length, length, width, width, models::attended_pairs(length, 0, 0, false), false};
}

}  // namespace

TEST_CASE("a square 4096 product in 2-byte numbers: 137.4 GFLOP, 100.7 MB, 1365.3 flop per byte") {
  const auto cost = models::gemm(4096, 4096, 4096, 2, 2, 2);  // study document 004, section 1
  CHECK(cost.flops == Approx(137.4e9).epsilon(1e-3));
  CHECK(cost.bytes() == Approx(100.7e6).epsilon(1e-3));
  CHECK(cost.intensity() == Approx(4096.0 / 3));
}

TEST_CASE("an FP8 product with M = N = 4096 crosses the H100 ridge at K = 346, with 16-bit output at 691") {
  constexpr double ridge = 1979e12 / 3.35e12;  // errata row 74
  CHECK(models::gemm(4096, 4096, 345, 1, 1, 1).intensity() < ridge);
  CHECK(models::gemm(4096, 4096, 346, 1, 1, 1).intensity() >= ridge);
  CHECK(models::gemm(4096, 4096, 690, 1, 1, 2).intensity() < ridge);
  CHECK(models::gemm(4096, 4096, 691, 1, 1, 2).intensity() >= ridge);
}

TEST_CASE("GELU is 1.25 flop per byte, LayerNorm 7 flops an element in 4 bytes, a batch-1 projection about 1") {
  CHECK(models::gelu(4096.0 * 4096, 2).intensity() == Approx(1.25));  // 004 section 1, printed as 1.2
  const auto norm = models::layer_norm(8192, 4096, 2, 2);             // errata row 24: BF16 moves 4N bytes
  CHECK(norm.flops == Approx(7 * 8192.0 * 4096));
  CHECK(norm.bytes() == Approx(4 * 8192.0 * 4096).epsilon(1e-3));
  CHECK(models::gemm(1, 4096, 4096, 2, 2, 2).intensity() == Approx(1).epsilon(1e-3));
}

TEST_CASE("unfused scores of 32 heads are 113.8 flop per byte, below the A100's 156, whatever a mask drops") {
  const auto cost = models::attention_scores(square(4, 32, 2048, 128), 2, 2);  // errata row 15
  CHECK(cost.flops == Approx(137.4e9).epsilon(1e-3));
  CHECK(cost.bytes() == Approx(1.208e9).epsilon(1e-3));
  CHECK(cost.intensity() == Approx(113.8).margin(0.05));
  auto causal = square(4, 32, 2048, 128);
  causal.pairs = models::attended_pairs(2048, 0, 0, true);
  CHECK(models::attention_scores(causal, 2, 2) == cost);
  CHECK(models::attention_values(causal, 2, 2).flops == cost.flops);
  CHECK(models::attention_softmax(causal, 2).flops == 5 * 4 * 32 * 2048.0 * 2048);
  CHECK(models::attention_product_flops(causal) == cost.flops);  // fused: two products of half the square
}

TEST_CASE("attention over 8192 tokens and 64 heads: 34.9 GB unfused, 0.54 GB fused, 65 times less") {
  const auto shape = square(1, 64, 8192, 128);  // errata row 160: as traffic
  const auto unfused = models::attention_scores(shape, 2, 2) + models::attention_softmax(shape, 2) +
                       models::attention_values(shape, 2, 2);
  const auto fused = models::fused_attention(shape, 2, 2);
  CHECK(unfused.bytes() / 64 == Approx(545.3e6).epsilon(1e-3));
  CHECK(unfused.bytes() == Approx(34.9e9).epsilon(1e-3));
  CHECK(fused.bytes() == Approx(536.9e6).epsilon(1e-3));
  CHECK(unfused.bytes() / fused.bytes() == Approx(65).epsilon(1e-3));
  CHECK(unfused.flops == Approx(fused.flops));
}

TEST_CASE("decode attention is 1 flop per byte, times the queries that share a key head") {
  models::AttentionShape shape{1, 32, 32, 1, 1e6, 128, 128, 1e6, false};  // errata row 134
  CHECK(models::attention_product_flops(shape) / models::fused_attention(shape, 2, 2).bytes() ==
        Approx(1).epsilon(1e-4));
  shape.heads = 64;
  shape.kv_heads = 8;
  CHECK(models::attention_product_flops(shape) / models::fused_attention(shape, 2, 2).bytes() ==
        Approx(8).epsilon(1e-3));
}

TEST_CASE("a shared latent is read once for keys and values") {
  const models::AttentionShape latent{1, 128, 1, 1, 4096, 576, 512, 4096, true};
  const double queries_and_output = 128 * (576 + 512) * 2;
  CHECK(models::fused_attention(latent, 2, 2).bytes() == Approx(4096 * 576 * 2 + queries_and_output));
}

TEST_CASE("counted pairs: half a square when causal, a band under a window, all of what is cached") {
  CHECK(models::attended_pairs(8, 0, 0, false) == 64);
  CHECK(models::attended_pairs(8, 0, 0, true) == 32);
  CHECK(models::attended_pairs(4, 100, 0, true) == 408);
  CHECK(models::attended_pairs(8, 0, 4, true) == 8 + 16);  // a triangle to 4, then 4 queries of 4
  CHECK(models::attended_pairs(8, 100, 4, true) == 32);
  CHECK(models::attended_pairs(8, 0, 4, false) == 32);
  CHECK(models::attended_pairs(8, 0, 100, true) == 32);  // a window longer than the sequence changes nothing
}

TEST_CASE("experts touched: k for one token, all for many, and what uniform choice expects between") {
  CHECK(models::expected_distinct_experts(8, 2, 1) == Approx(2));
  CHECK(models::expected_distinct_experts(8, 2, 2) == Approx(8 * (1 - 0.75 * 0.75)));
  CHECK(models::expected_distinct_experts(256, 8, 1e6) == Approx(256));
  CHECK(models::expected_distinct_experts(4, 4, 1) == 4);
  CHECK(models::expected_distinct_experts(0, 0, 10) == 0);
}

TEST_CASE("a grouped product reads every matrix once") {
  // 100 rows over 3 experts: the rows once, three matrices.
  CHECK(models::grouped_gemm(100, 32, 64, 3, 2, 2, 2).read_bytes == 100 * 64 * 2 + 3 * 64 * 32 * 2);
}

TEST_CASE("fusing the gate product with its activation saves one write and one read") {
  constexpr double n = 1e6;
  const auto apart = models::silu(n, 2) + models::multiply(n, 2);
  const auto fused = models::swiglu_gate(n, 2);
  CHECK(apart.flops == fused.flops);
  CHECK(apart.bytes() - fused.bytes() == 2 * n * 2);
  CHECK(models::triad(n, 8).bytes() == 24 * n);
  CHECK(models::copy(n, 8).intensity() == 0);
  CHECK(models::OpCost{}.intensity() == 0);
}
