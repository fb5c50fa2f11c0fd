#include "models/machine/roofline.h"
#include "models/machine/op_cost.h"
#include "models/transformer/roofline_decode.h"
#include "tests/models/machine/hardware_bundled.h"
#include "tests/support/base/near.h"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <limits>

using models::Format;
using models::Regime;

using support::near;

namespace {

models::Machine machine(const char* id, Format format, double launch_s = 0) {
  return *models::machine_of(bundled_chip(id), format, launch_s);
}
/// A dense model with no KV reads counted: `parameters` weights of `weight_bytes_each`, activations of 2 bytes.
models::DecodeStep dense_decode(double parameters, double weight_bytes_each, double model_width) {
  return {.flops_per_token = 2 * parameters,
          .weight_bytes = parameters * weight_bytes_each,
          .activation_bytes_per_token = 2 * model_width};
}
double ridge(const char* id, Format format) { return models::ridge_flops_per_byte(machine(id, format)); }

}  // namespace

// The ridge tables of the three study texts, to their rounding. Where they use other bandwidths than today's data the
// machine is written out.
TEST_CASE("ridge tables") {
  CHECK(std::round(ridge("v100_sxm2", Format::fp16)) == 139);
  CHECK(std::round(models::ridge_flops_per_byte({312e12, 2.0e12, 0})) == 156);
  CHECK(std::round(ridge("a100_80_sxm", Format::bf16)) == 153);
  CHECK(std::round(ridge("h100_sxm", Format::bf16)) == 295);  // 291 comes of rounding to 990 / 3.4 first
  CHECK(std::round(models::ridge_flops_per_byte({990e12, 3.4e12, 0})) == 291);
  CHECK(std::round(ridge("h100_sxm", Format::fp8)) == 591);
  CHECK(std::round(ridge("h200_sxm", Format::bf16)) == 206);
  CHECK(std::round(ridge("mi300x", Format::bf16)) == 247);
  CHECK(std::round(ridge("mi300x", Format::fp8)) == 493);
  // B200 as announced at 8.0 TB/s, then as shipped at 7.7.
  const double announced = bundled_chip("b200_sxm").announced.at("memory_bandwidth_bytes_per_s");
  CHECK(std::round(2250e12 / announced) == 281);
  CHECK(std::floor(4500e12 / announced) == 562);  // 562.5
  CHECK(std::round(9000e12 / announced) == 1125);
  CHECK(std::round(ridge("b200_sxm", Format::bf16)) == 292);
  // Not every generation raises the ridge.
  CHECK(ridge("h200_sxm", Format::bf16) < ridge("h100_sxm", Format::bf16));
}

TEST_CASE("a machine needs a format that the chip states") {
  const auto none = models::machine_of(bundled_chip("h100_sxm"), Format::fp4);
  CHECK(none.error ==
        "H100 SXM states no dense FP4 peak; choose one of fp64, fp64_matrix, fp32, tf32, fp16, bf16, fp8, int8.");
}

// 2 n^3 / (3 n^2 x 2 B) = n / 3.
TEST_CASE("a square BF16 matmul of 4096 has 1365.3 FLOP/B and is compute-bound on an H100") {
  for (const double n : {1.0, 100.0, 4096.0, 12288.0})
    CHECK(near(models::gemm(n, n, n, 2, 2, 2).intensity(), n / 3, 1e-12));
  const double flops = 2 * std::pow(4096.0, 3), bytes = 3 * 4096.0 * 4096 * 2;
  CHECK(near(flops, 137.4e9, 1e-3));
  CHECK(near(bytes, 100.7e6, 1e-3));
  const auto gemm = models::place(machine("h100_sxm", Format::bf16), {flops, bytes});
  REQUIRE(gemm);
  CHECK(std::abs(gemm->intensity - 1365.3) <= 0.05);
  CHECK(gemm->regime == Regime::compute);
  CHECK(gemm->attainable_flops_per_s == 989.4e12);
  CHECK(near(gemm->time_s, 137.438953472e9 / 989.4e12, 1e-12));
}

TEST_CASE("the size at which a matmul reaches the ridge does not grow as formats shrink") {
  CHECK(std::round(models::square_gemm_side_at(ridge("h100_sxm", Format::bf16), 2)) == 886);
  CHECK(std::round(models::square_gemm_side_at(ridge("h100_sxm", Format::fp8), 1)) == 886);
  CHECK(std::round(models::square_gemm_side_at(2250e12 / 8e12, 2)) == 844);
  CHECK(std::round(models::square_gemm_side_at(9000e12 / 8e12, 0.5)) == 844);
}

// Five operations an element, read and written in two bytes.
TEST_CASE("GELU over 4096 x 4096 has 1.25 FLOP/B and is memory-bound") {
  const double elements = 4096.0 * 4096;
  const auto gelu = models::place(machine("h100_sxm", Format::bf16), {5 * elements, 4 * elements});
  REQUIRE(gelu);
  CHECK(gelu->intensity == 1.25);
  CHECK(gelu->regime == Regime::memory);
  CHECK(near(gelu->attainable_flops_per_s, 1.25 * 3.35e12, 1e-12));
  CHECK(near(gelu->time_s, 4 * elements / 3.35e12, 1e-12));
}

TEST_CASE("LayerNorm at 4N operations and 12N bytes reaches 0.2 % of an A100 with 2.0 TB/s") {
  const auto norm = models::place({312e12, 2e12, 0}, {4.0 * 4096, 12.0 * 4096});
  REQUIRE(norm);
  CHECK(std::abs(norm->attainable_flops_per_s / 1e12 - 0.67) <= 0.005);
  CHECK(std::abs(norm->attainable_flops_per_s / 312e12 - 0.002) <= 0.0002);
}

TEST_CASE("the ridge itself counts as compute-bound, a hair below as memory-bound") {
  const models::Machine unit{100, 10, 0};
  CHECK(models::place(unit, {10, 1})->regime == Regime::compute);
  CHECK(models::place(unit, {9.999, 1})->regime == Regime::memory);
  CHECK(models::attainable_flops_per_s(unit, 10) == 100);
  CHECK(models::attainable_flops_per_s(unit, 2) == 20);
}

TEST_CASE("launches are a third regime once they exceed both other terms") {
  const models::Machine unit{100, 10, 0.5};
  const auto small = models::place(unit, {4, 4});  // 0.04 s compute, 0.4 s memory, 0.5 s launch
  CHECK(small->regime == Regime::launch);
  CHECK(near(small->time_s, 0.9, 1e-12));
  CHECK(near(small->achieved_flops_per_s, 4 / 0.9, 1e-12));
  CHECK(near(models::place(unit, {4, 4}, models::LaunchCost::hidden)->time_s, 0.5, 1e-12));
  CHECK(models::place(unit, {4, 6})->regime == Regime::memory);
  // fifty launches of 10 us beside 2 ms of arithmetic: a fifth of the time, not yet the regime
  const auto layer = models::place({1e12, 1e12, 10e-6}, {2e9, 1e9, 50});
  CHECK(near(layer->launch_s / layer->time_s, 0.2, 1e-12));
  CHECK(layer->regime == Regime::compute);
}

TEST_CASE("work without a place on the plot is refused in words") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const models::Machine unit{100, 10, 0};
  CHECK(models::place(unit, {1, 0}).error ==
        "Bytes must be above 0: work that moves nothing has no arithmetic intensity.");
  CHECK(models::place(unit, {nan, 1}).error == "FLOP must be 0 or more.");
  CHECK_FALSE(models::place(unit, {1, inf}));
  CHECK_FALSE(models::place({0, 10, 0}, {1, 1}));
  CHECK_FALSE(models::place({100, nan, 0}, {1, 1}));
  CHECK_FALSE(models::place({100, 10, -1}, {1, 1}));
  CHECK_FALSE(models::place(unit, {1e300, 1e-300}));
  CHECK(models::place(unit, {0, 1})->regime == Regime::memory);
}

TEST_CASE("ceilings run from shared memory out to PCIe, with measured ones beside") {
  const auto ceilings = models::bandwidth_ceilings(bundled_chip("a100_80_sxm"));
  double last = 1e30;
  for (const auto& ceiling : ceilings) {
    INFO(ceiling.label);
    CHECK(ceiling.per_s <= last);
    if (ceiling.basis != models::Basis::measured) last = ceiling.per_s;
  }
  CHECK(ceilings.front().label == "Shared memory");
  CHECK(ceilings.back().label == "PCIe 4 x16");
  const auto compute = models::compute_ceilings(bundled_chip("h100_sxm"));
  CHECK(compute.size() == 10);  // eight formats, and measured matmuls in BF16 and FP8
  for (const auto& ceiling : compute)
    if (ceiling.basis == models::Basis::measured && ceiling.format == Format::bf16) CHECK(ceiling.per_s == 794.5e12);
}

// 70B in BF16 over 8 GPUs: 8.75e9 parameters each.
TEST_CASE("decode at batch 1 reads every weight for one token: 1 FLOP/B, 5.2 ms, 191.4 tokens/s") {
  const models::DecodeStep step = dense_decode(8.75e9, 2, 0);
  CHECK(models::decode_intensity(step, 1) == 1);
  const auto one = models::place(machine("h100_sxm", Format::bf16), models::decode_work(step, 1));
  REQUIRE(one);
  CHECK(std::abs(one->time_s - 5.22e-3) <= 0.005e-3);
  CHECK(std::abs(1 / one->time_s - 191.4) <= 0.05);
  CHECK(std::abs(one->achieved_flops_per_s / 989.4e12 - 0.003) <= 0.0005);
}

TEST_CASE("the critical batch of an H100 is 295 in BF16 and in FP8, a quarter with 4-bit weights") {
  const double p = 70e9;
  CHECK(std::abs(*models::critical_batch(dense_decode(p, 2, 8192), ridge("h100_sxm", Format::bf16)) - 295) <= 1);
  CHECK(std::abs(*models::critical_batch(dense_decode(p, 1, 8192), ridge("h100_sxm", Format::fp8)) - 295) <= 1);
  CHECK(std::abs(*models::critical_batch(dense_decode(p, 0.5, 8192), ridge("h100_sxm", Format::bf16)) - 74) <= 1);
  CHECK(std::abs(models::decode_intensity(dense_decode(p, 2, 8192), 256) - 256) <= 0.1);
}

// Llama-3-70B keeps 327,680 B of KV cache a token (80 layers, 8 KV heads of 128, two bytes).
TEST_CASE("KV reads keep a batch of 256 at 4096 tokens of context at 74 FLOP/B, not 256") {
  models::DecodeStep step = dense_decode(70e9, 2, 8192);
  step.kv_bytes_per_token = 327680;
  step.context_tokens = 4096;
  CHECK(std::abs(models::decode_intensity(step, 256) - 74) <= 0.5);
  const auto never = models::critical_batch(step, ridge("h100_sxm", Format::bf16));
  CHECK(never.error == "No batch reaches the ridge: the bytes of each sequence hold the intensity below it.");
  CHECK(std::round(models::decode_intensity_limit(step)) == 104);
  step.context_tokens = 512;
  const auto some = models::critical_batch(step, ridge("h100_sxm", Format::bf16));
  REQUIRE(some);
  CHECK(near(models::decode_intensity(step, *some), ridge("h100_sxm", Format::bf16), 1e-9));
  step.count_kv_reads = false;
  CHECK(std::abs(models::decode_intensity(step, 256) - 256) <= 0.1);
}
