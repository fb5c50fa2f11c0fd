#include "models/transformer/step_time.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "tests/models/transformer/language_model_files.h"

using Catch::Approx;
using models::Format;
using models::Phase;
using models::Workload;
using models_test::shipped_model;

namespace {

constexpr models::Machine h100{989.4e12, 3.35e12, 0};  // NVIDIA H100 SXM data sheet

}  // namespace

TEST_CASE("products run in the activations' format unless the weights are wider") {
  CHECK(models::product_format(Format::fp4, Format::bf16) == Format::bf16);  // weight-only quantization
  CHECK(models::product_format(Format::fp8, Format::fp8) == Format::fp8);
  CHECK(models::product_format(Format::fp32, Format::bf16) == Format::fp32);
  CHECK(models::product_format(Format::bf16, Format::fp16) == Format::fp16);
}

TEST_CASE("a step is the sum of its operations, each behind its own wall") {
  Workload w;
  w.sequence = 4096;
  const auto step = models::time_step(shipped_model("llama-3-8b").architecture, w, h100);
  REQUIRE(step);
  double share = 0;
  for (const auto& timed : step->operations) share += timed.share;
  CHECK(share == Approx(1));
  CHECK(step->memory_s + step->compute_s == Approx(step->time_s));
  CHECK(step->launch_s == 0);
  CHECK(step->model_product_flops == step->totals.product_flops);
  // 8.03 G parameters less the input embedding, two flops each, logits of one position: 28.6 TFLOP in 28.9 ms of
  // arithmetic at peak.
  CHECK(step->compute_s == Approx(step->totals.product_flops / h100.peak_flops_per_s).epsilon(0.01));
}

TEST_CASE("launches are a floor: with 10 us each, a small model's decode step is its kernels") {
  Workload w;
  w.phase = Phase::decode;
  w.context = 16;
  models::Machine eager = h100;
  eager.launch_s = 1e-5;
  const auto step = models::time_step(shipped_model("gpt2-124m").architecture, w, eager);
  REQUIRE(step);
  CHECK(step->time_s >= step->kernels * 1e-5);
  CHECK(step->launch_s > 0.8 * step->time_s);
  w.phase = Phase::train;
  w.sequence = 16;
  const auto train = models::time_step(shipped_model("gpt2-124m").architecture, w, eager);
  REQUIRE(train);
  for (const auto& timed : train->operations) {
    if (timed.operation.name == "up projection") CHECK(timed.kernels == 3);  // forward, input gradient, weight gradient
    if (timed.operation.name == "fused attention") CHECK(timed.kernels == 2);
  }
}

// MFU counts the model's arithmetic. At 131,072 tokens the scores, made again in the backward pass, are a good part of
// what the hardware multiplies: HFU is above MFU without any recomputation that the user asked for.
TEST_CASE("at long contexts the hardware multiplies more than the model asks for, and takes the time for it") {
  Workload w;
  w.phase = Phase::train;
  w.sequence = 131072;
  const auto& a = shipped_model("llama-3-8b").architecture;
  const auto step = models::time_step(a, w, h100);
  REQUIRE(step);
  const double score_product = 32 * 32 * (131072.0 * 131072 / 2) * 2 * 128;  // one, all heads and layers
  CHECK(step->totals.product_flops == Approx(step->model_product_flops));
  CHECK(step->totals.hardware_product_flops - step->model_product_flops == Approx(score_product));
  CHECK(step->totals.hardware_product_flops > 1.1 * step->model_product_flops);
  for (const auto& timed : step->operations)
    if (timed.operation.name == "fused attention")
      CHECK(32 * timed.placement.compute_s >= 7 * score_product / h100.peak_flops_per_s);
}

TEST_CASE("recomputation counts for the hardware, not for the model") {
  Workload w;
  w.phase = Phase::train;
  const auto& a = shipped_model("llama-3-8b").architecture;
  const auto plain = models::time_step(a, w, h100);
  w.recompute = models::Recompute::full;
  const auto again = models::time_step(a, w, h100);
  REQUIRE(plain);
  REQUIRE(again);
  CHECK(again->model_product_flops == plain->totals.product_flops);
  CHECK(again->totals.product_flops > 1.3 * plain->totals.product_flops);
}

TEST_CASE("a chip holds all weights, and the cache of every sequence except in training") {
  const auto& a = shipped_model("llama-3-70b").architecture;
  Workload w;
  w.phase = Phase::decode;
  w.batch = 32;
  w.context = 8192;
  const auto decode = models::resident_bytes(a, w);
  CHECK(decode.weights == 2 * 70553706496.0);
  CHECK(decode.cache == 32 * 8192 * 327680.0);  // 86 GB, as the errata confirm
  w.phase = Phase::train;
  CHECK(models::resident_bytes(a, w).cache == 0);
}

TEST_CASE("what cannot be timed is refused in a sentence") {
  Workload w;
  w.batch = 0;
  const auto& a = shipped_model("llama-3-8b").architecture;
  CHECK(models::time_step(a, w, h100).error.find("batch is 0") != std::string::npos);
  CHECK_FALSE(models::time_step(a, Workload{}, {0, 1, 0}).error.empty());
}
