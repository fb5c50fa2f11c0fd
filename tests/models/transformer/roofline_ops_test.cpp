#include "models/transformer/roofline_ops.h"

#include <catch2/catch_test_macros.hpp>

#include <cmath>

#include "tests/models/machine/hardware_bundled.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using models::Format;
using models::RooflineOp;

using support::near;

namespace {

const models::Architecture& architecture(const char* id) { return models_test::shipped_model(id).architecture; }

}  // namespace

// Mixtral 8x7B: a token uses 2 of 8 experts, so one token reads a quarter of them; 46.7e9 parameters in all, 12.9e9
// active (Mistral AI's figures). Four tokens are expected to touch 8 (1 - 0.75^4) = 5.47 experts.
TEST_CASE("a decode step of a mixture reads the experts its batch touches") {
  const auto& mixtral = architecture("mixtral-8x7b");
  const auto count = models::count_parameters(mixtral);
  const double routed = static_cast<double>(count.layers.routed_experts);
  const double rest = static_cast<double>(count.total) - routed - 32000.0 * 4096;
  const auto one = models::decode_step(mixtral, {.batch = 1}, 2);
  CHECK(near(one.weight_bytes, 2 * (rest + routed / 4), 1e-12));
  CHECK(near(one.weight_bytes, one.flops_per_token, 1e-12));  // two bytes and two flops for each active weight
  const auto four = models::decode_step(mixtral, {.batch = 4}, 2);
  CHECK(near(four.weight_bytes, 2 * (rest + routed * (1 - std::pow(0.75, 4))), 1e-12));
}

// 4 x 4096 x 64 heads x 128 x 80 layers flops a token at 4096 tokens of context; 327,680 B of cache a token.
TEST_CASE("a decode step of Llama 3 70B counts its attention and its cache") {
  const auto step = models::decode_step(architecture("llama-3-70b"), {.batch = 1, .context = 4096}, 2);
  CHECK(step.attention_flops_per_token == 4.0 * 4096 * 64 * 128 * 80);
  CHECK(step.kv_bytes_per_token == 327680);
  CHECK(near(models::decode_intensity_limit(step),
             (step.flops_per_token + step.attention_flops_per_token) / (4096 * 327680.0 + 16384), 1e-12));
}

TEST_CASE("every model has every operation of the roofline, named as it does it") {
  for (const auto& model : models_test::shipped_models()) {
    INFO(model.id);
    const auto works = models::roofline_works(model.architecture, {.batch = 2, .sequence = 512, .context = 512});
    for (const RooflineOp op : models::all_roofline_ops) {
      INFO(models::roofline_op_id(op));
      const auto* work = models::find_work(works, op);
      REQUIRE(work);
      CHECK(work->work.flops > 0);
      CHECK(work->work.bytes > 0);
    }
    // Unfused computes the whole square, FlashAttention skips the half that a causal mask drops, and what a window
    // shorter than the prompt drops as well.
    const double unfused = models::find_work(works, RooflineOp::attention_unfused)->work.flops;
    const double fused = models::find_work(works, RooflineOp::flash_attention)->work.flops;
    const std::int64_t window = model.architecture.sliding_window;
    if (window > 0 && window < 512)
      CHECK(unfused > 3 * fused);
    else
      CHECK(near(unfused, 2 * fused, 1e-9));
  }
  const auto works = models::roofline_works(architecture("gpt2-124m"), {});
  CHECK(models::find_work(works, RooflineOp::norm)->label == "LayerNorm");
  CHECK(models::find_work(works, RooflineOp::gate)->label == "GELU");
}

TEST_CASE("the nearest format holds the values of the one asked for") {
  const auto& v100 = bundled_chip("v100_sxm2");
  CHECK(models::nearest_format(v100, Format::bf16) == Format::fp16);
  CHECK(models::nearest_format(v100, Format::fp4) == Format::fp16);
  CHECK(models::nearest_format(v100, Format::tf32) == Format::fp32);
  CHECK(models::nearest_format(bundled_chip("h100_sxm"), Format::fp4) == Format::fp8);
  CHECK(models::nearest_format(bundled_chip("h100_sxm"), Format::bf16) == Format::bf16);
  CHECK_FALSE(
      models::nearest_format(bundled_chip("tpu_v7x"), Format::int8));  // a float peak does not stand in for integers
  CHECK_FALSE(models::nearest_format(bundled_chip("tpu_v4"), Format::fp64));
}
