#include "models/training/mixed_precision.h"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "tests/models/machine/hardware_bundled.h"
#include "tests/models/transformer/language_model_files.h"

using Catch::Approx;
using models::Fp8Scaling;
using models::MixedSettings;
using models::NumberFormat;
using models::PrecisionRecipe;
using models::StateKeeping;
using models_test::shipped_model;

namespace {

models::MixedStep step_of(const MixedSettings& s, const char* model = "llama-3-8b", const char* chip = "h100_sxm") {
  auto step = models::mixed_precision_step(shipped_model(model).architecture, bundled_chip(chip), s);
  INFO(step.error);
  REQUIRE(step);
  return *step;
}
const models::MixedOperation& row(const models::MixedStep& step, std::string_view name) {
  const auto at =
      std::find_if(step.operations.begin(), step.operations.end(), [&](const auto& o) { return o.name == name; });
  REQUIRE(at != step.operations.end());
  return *at;
}

}  // namespace

// ZeRO (2 + 2 + 4 + 8), Megatron-LM (2 + 4 + 4 + 8), Ultra-Scale Playbook (2 + 2 + 4 + 4 + 8), FP32 Adam (4 + 4 + 8).
TEST_CASE("bytes of states a parameter are the published 16, 18 and 20") {
  for (const PrecisionRecipe recipe : {PrecisionRecipe::amp_bf16, PrecisionRecipe::amp_fp16}) {
    CHECK(step_of({.recipe = recipe, .keeping = StateKeeping::zero}).bytes_per_parameter == 16);
    CHECK(step_of({.recipe = recipe, .keeping = StateKeeping::megatron}).bytes_per_parameter == 18);
    CHECK(step_of({.recipe = recipe, .keeping = StateKeeping::accumulate}).bytes_per_parameter == 20);
  }
  for (const StateKeeping keeping : {StateKeeping::zero, StateKeeping::autocast}) {
    CHECK(step_of({.recipe = PrecisionRecipe::fp32, .keeping = keeping}).bytes_per_parameter == 16);
    CHECK(step_of({.recipe = PrecisionRecipe::tf32, .keeping = keeping}).bytes_per_parameter == 16);
  }
}

// Llama 3 8B: products of the layers are 32 x 218,103,808 = 6,979,321,856 of 8,030,261,248 parameters.
TEST_CASE(
    "FP8 keeps two copies of the products' weights; MX adds a scale of a byte for 32; FP8 weights alone save the "
    "16-bit ones") {
  const double share = 6979321856.0 / 8030261248.0;
  CHECK(step_of({.recipe = PrecisionRecipe::fp8, .keeping = StateKeeping::zero}).bytes_per_parameter ==
        Approx(16 + 2 * share).epsilon(1e-12));
  CHECK(step_of({.recipe = PrecisionRecipe::fp8, .keeping = StateKeeping::zero, .scaling = Fp8Scaling::mx})
            .bytes_per_parameter == Approx(16 + 2 * 33.0 / 32 * share).epsilon(1e-12));
  CHECK(step_of({.recipe = PrecisionRecipe::fp8, .keeping = StateKeeping::zero, .fp8_primary = true})
            .bytes_per_parameter == Approx(16).epsilon(1e-12));
  CHECK(step_of({.recipe = PrecisionRecipe::amp_bf16, .keeping = StateKeeping::autocast}).bytes_per_parameter ==
        Approx(16 + 2 * share).epsilon(1e-12));
}

TEST_CASE("states are split over chips, activations are not") {
  const MixedSettings one{.sequence = 2048};
  MixedSettings eight = one;
  eight.shards = 8;
  CHECK(step_of(eight).memory.states() == Approx(step_of(one).memory.states() / 8));
  CHECK(step_of(eight).memory.activations == step_of(one).memory.activations);
  CHECK(step_of(one).memory.states() == Approx(18 * 8030261248.0));
}

// Korthikanti et al. 2022, equation 1 and figure 2: 34 s b h without attention's scores, of which two masks of dropout
// are 2 s b h. Row sums of fused attention are 4 bytes a head.
TEST_CASE("a GPT layer keeps 32 h bytes a token in 16 bits, and Llama 3 8B its 34 h") {
  const auto gpt = shipped_model("gpt-3").architecture;
  const auto e = models::saved_per_token(gpt, models::layer_form(gpt, 0));
  CHECK(2 * (e.stream + e.operands + e.values) == 32 * 12288);
  CHECK(e.row_sums == 96);
  // 2 x 4096 stream, 2 x 4096 + 14336 operands, 4096 + 2048 + 4096 + 2 x 14336 values: 69,632 elements.
  const auto llama = shipped_model("llama-3-8b").architecture;
  const auto l = models::saved_per_token(llama, models::layer_form(llama, 0));
  CHECK(l.stream == 8192);
  CHECK(l.operands == 22528);
  CHECK(l.values == 38912);
  CHECK(step_of({.recipe = PrecisionRecipe::amp_bf16}).activation_bytes_per_token == 32 * (2 * 69632 + 4 * 32));
  CHECK(step_of({.recipe = PrecisionRecipe::fp32}).activation_bytes_per_token == 32 * (4 * 69632 + 4 * 32));
  // 8-bit operands: one byte less for 22,528, one more for attention's output, which is kept in both.
  CHECK(step_of({.recipe = PrecisionRecipe::fp8}).activation_bytes_per_token ==
        32 * (2 * 69632 - 22528 + 4096 + 4 * 32));
  // Autocast's residual stream is FP32.
  CHECK(step_of({.recipe = PrecisionRecipe::amp_bf16, .keeping = StateKeeping::autocast}).activation_bytes_per_token ==
        32 * (2 * 69632 + 2 * 8192 + 4 * 32));
}

TEST_CASE("full recomputation keeps each layer's input and one layer") {
  const auto s = step_of({.recipe = PrecisionRecipe::amp_bf16, .sequence = 1000, .recompute = models::Recompute::full});
  CHECK(s.memory.activations == 1000.0 * (32 * 4096 * 2 + 2 * 69632 + 4 * 32));
  CHECK(s.memory.logits == 1000.0 * 128256 * 6);
  CHECK(s.product_flops > 1.3 * step_of({.recipe = PrecisionRecipe::amp_bf16, .sequence = 1000}).product_flops);
}

TEST_CASE(
    "formats by operation: products short, norms, loss, router and optimizer FP32, the last product of FP8 in BF16") {
  const auto bf16 = step_of({.recipe = PrecisionRecipe::amp_bf16});
  CHECK(row(bf16, "query projection").forward == NumberFormat::bf16);
  CHECK(row(bf16, "residual and attention norm").forward == NumberFormat::fp32);
  CHECK(row(bf16, "residual and attention norm").result == NumberFormat::bf16);
  CHECK(row(bf16, "loss").forward == NumberFormat::fp32);
  CHECK(row(bf16, "AdamW update").forward == NumberFormat::fp32);
  const auto fp8 = step_of({.recipe = PrecisionRecipe::fp8});
  CHECK(row(fp8, "down projection").forward == NumberFormat::e4m3);
  CHECK(row(fp8, "down projection").backward == NumberFormat::e5m2);
  CHECK(row(fp8, "fused attention").forward == NumberFormat::bf16);
  CHECK(row(fp8, "logits").forward == NumberFormat::bf16);
  CHECK(row(step_of({.recipe = PrecisionRecipe::fp8, .scaling = Fp8Scaling::mx}), "down projection").backward ==
        NumberFormat::e4m3);
  CHECK(row(step_of({.recipe = PrecisionRecipe::fp8}, "deepseek-v3"), "router").forward == NumberFormat::fp32);
  CHECK(row(step_of({.recipe = PrecisionRecipe::tf32}), "logits").forward == NumberFormat::tf32);
}

TEST_CASE("recipes do the same products: the step's flops are those of the operation list") {
  for (const char* model : {"llama-3-8b", "deepseek-v3", "mixtral-8x7b", "gpt-3"}) {
    INFO(model);
    const auto a = shipped_model(model).architecture;
    const models::Workload w{.phase = models::Phase::train, .batch = 1, .sequence = 4096};
    const double expected = models::total_operations(models::model_operations(a, w), w).hardware_product_flops;
    for (const PrecisionRecipe recipe : models::all_recipes)
      CHECK(step_of({.recipe = recipe}, model).product_flops == Approx(expected).epsilon(1e-12));
  }
}

// A product of 8,192 x 4,096 by 4,096 x 14,336 is far beyond every ridge: its time is flops over the peak of its
// format.
TEST_CASE("a large product takes its flops over the peak, forward and twice backward") {
  const MixedSettings s{.recipe = PrecisionRecipe::fp8, .sequence = 8192};
  const double flops = 3 * 2.0 * 8192 * 4096 * 14336;
  CHECK(row(step_of(s), "gate projection").time_s == Approx(flops / 1978.9e12));
  CHECK(row(step_of({.recipe = PrecisionRecipe::amp_bf16, .sequence = 8192}), "gate projection").time_s ==
        Approx(flops / 989.4e12));
  CHECK(row(step_of({.recipe = PrecisionRecipe::tf32, .sequence = 8192}), "gate projection").time_s ==
        Approx(flops / 494.7e12));
}

TEST_CASE("the optimizer moves 28 or 30 bytes a parameter, current scaling one more pass, FP16 looks for inf") {
  const double n = 8030261248.0, bandwidth = 3.35e12;
  CHECK(row(step_of({.recipe = PrecisionRecipe::fp32}), "AdamW update").time_s == Approx(28 * n / bandwidth));
  CHECK(row(step_of({.recipe = PrecisionRecipe::amp_bf16, .keeping = StateKeeping::zero}), "AdamW update").time_s ==
        Approx(28 * n / bandwidth));
  CHECK(row(step_of({.recipe = PrecisionRecipe::amp_bf16}), "AdamW update").time_s == Approx(30 * n / bandwidth));
  CHECK(row(step_of({.recipe = PrecisionRecipe::amp_fp16}), "unscale, look for inf").time_s ==
        Approx(8 * n / bandwidth));
  const auto cast = [](Fp8Scaling scaling) {
    return row(step_of({.recipe = PrecisionRecipe::fp8, .scaling = scaling}), "scale and quantize").bytes;
  };
  CHECK(cast(Fp8Scaling::current) ==
        Approx(1.5 * cast(Fp8Scaling::delayed)));  // 2 + 2 read and 2 written, against 2 and 2
  CHECK(cast(Fp8Scaling::mx) ==
        Approx((4 + 1.0 / 16) / 4 * cast(Fp8Scaling::delayed)));  // a scale byte for 32 in each copy
}

TEST_CASE("shares add up, and FP8 leaves attention and the last product out of 8 bits") {
  const auto s = step_of({.recipe = PrecisionRecipe::fp8, .sequence = 8192});
  double share = 0, parts = 0;
  for (const auto& op : s.operations) share += op.share;
  for (const double p : s.part_s) parts += p;
  CHECK(share == Approx(1));
  CHECK(parts == Approx(s.time_s));
  const double in_layers = 6.0 * 6979321856.0 * 8192;
  CHECK(s.recipe_flops_share == Approx(in_layers / s.product_flops));
  CHECK(step_of({.recipe = PrecisionRecipe::amp_bf16}).recipe_flops_share == Approx(1));
}

TEST_CASE("a recipe that the chip has no unit for is a sentence") {
  const auto& llama = shipped_model("llama-3-8b").architecture;
  CHECK(models::mixed_precision_step(llama, bundled_chip("v100_sxm2"), {.recipe = PrecisionRecipe::amp_bf16})
            .error.find("states no BF16 peak") != std::string::npos);
  CHECK(models::mixed_precision_step(llama, bundled_chip("a100_80_sxm"), {.recipe = PrecisionRecipe::fp8})
            .error.find("states no FP8 peak") != std::string::npos);
  MixedSettings s;
  s.shards = 0;
  CHECK(models::mixed_precision_step(llama, bundled_chip("h100_sxm"), s).error ==
        "States are split over 1 to 10,000,000 chips.");
  s = {};
  s.batch = 0;
  CHECK(models::mixed_precision_step(llama, bundled_chip("h100_sxm"), s).error.find("batch is 0") == 0);
}
