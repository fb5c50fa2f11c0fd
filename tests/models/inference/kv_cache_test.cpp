// Keys and values of every token: bytes as models' config files and papers give them, and what fits beside the weights.
#include "models/inference/kv_cache.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "models/base/counter_random.h"
#include "tests/models/machine/hardware_bundled.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using namespace models;
using namespace models::inference;
using support::near;

namespace {

const Architecture& shape(const char* model) { return models_test::shipped_model(model).architecture; }

Architecture changed(const char* model, const KvDesign& design) {
  const auto a = redesigned(shape(model), design);
  REQUIRE(a);
  return *a;
}

KvFit fitted(const char* model, const KvDesign& design, KvMachine machine, double context, const char* chip) {
  machine.chip = &bundled_chip(chip);
  const auto fit = fit_cache(changed(model, design), design, machine, context);
  REQUIRE(fit);
  return *fit;
}

}  // namespace

// Hugging Face config files; the latent of DeepSeek-V2 and V3 from their papers; OPT-175B as the vLLM paper has it.
TEST_CASE("kv cache: bytes of one more token are exactly those of the models' own shapes") {
  struct Case {
    const char* model;
    double bytes;
  };
  for (const Case& c : {Case{"llama-2-7b", 524288}, Case{"llama-2-13b", 819200}, Case{"llama-3-70b", 327680},
                        Case{"llama-3.1-405b", 516096}, Case{"gpt-3", 4718592}, Case{"falcon-7b", 8192},
                        Case{"qwen3-235b-a22b", 192512}, Case{"deepseek-v3", 70272}, Case{"deepseek-v2", 69120},
                        Case{"llama-3-8b", 131072}}) {
    INFO(c.model);
    CHECK(kv_token_bytes(shape(c.model), {}) == c.bytes);
    CHECK(kv_sequence_bytes(shape(c.model), {}, 1) == c.bytes);
  }
  CHECK(kv_sequence_bytes(shape("llama-2-7b"), {}, 8192) == 4294967296);
  CHECK(kv_sequence_bytes(shape("llama-3-70b"), {}, 131072) == 42949672960);
  CHECK(kv_elements_per_layer(shape("deepseek-v3")) == 576);
}

TEST_CASE("kv cache: sharing heads, a latent and sharing layers divide the bytes as they say") {
  const KvDesign all{.sharing = KvSharing::grouped, .kv_heads = 32}, one{.sharing = KvSharing::grouped, .kv_heads = 1};
  CHECK(kv_token_bytes(changed("llama-3-8b", all), all) == 524288);
  CHECK(kv_token_bytes(changed("llama-3-8b", one), one) == 16384);
  // A latent of 512 and 64 in the shape of Llama 3 70B at 131,072 tokens: 12.1 GB, where its own heads take 42.9.
  const KvDesign latent{.sharing = KvSharing::latent};
  CHECK(near(kv_sequence_bytes(changed("llama-3-70b", latent), latent, 131072), 12.0796e9, 1e-4));
  CHECK(near(kv_token_bytes(shape("llama-3-70b"), {}) / kv_token_bytes(shape("deepseek-v3"), {}), 4.663, 1e-3));
  // DeepSeek-V3 with a key and a value for each of its 128 heads keeps 32,768 numbers a layer and not 576.
  const KvDesign heads{.sharing = KvSharing::grouped, .kv_heads = 128};
  CHECK(kv_elements_per_layer(changed("deepseek-v3", heads)) == 32768);
  // Every second layer uses its neighbour's; of an odd number of layers the last keeps its own.
  CHECK(kv_token_bytes(shape("llama-3-8b"), {.layers_share = 2}) == 65536);
  CHECK(kv_token_bytes(shape("deepseek-v3"), {.layers_share = 2}) == 31 * 576 * 2);
  CHECK(kv_token_bytes(shape("llama-3-8b"), {.bits = 8}) == 65536);
  CHECK_FALSE(redesigned(shape("llama-3-8b"), {.sharing = KvSharing::grouped, .kv_heads = 5}));
}

TEST_CASE("kv cache: a window ends the growth of its layers, and of its layers alone") {
  // Mistral 7B looks back 4,096 tokens in every layer: 131,072 B each.
  CHECK(kv_sequence_bytes(shape("mistral-7b-v0.1"), {}, 32768) == 4096 * 131072.0);
  CHECK(std::isinf(kv_tokens_within(shape("mistral-7b-v0.1"), {}, 1e9)));
  // One layer in six keeps everything, as in Gemma 3: of 32 layers five.
  const KvDesign design{.window = 1024, .global_every = 6};
  const Architecture a = changed("llama-3-8b", design);
  CHECK(kv_sequence_bytes(a, design, 512) == 512 * 131072.0);
  CHECK(kv_sequence_bytes(a, design, 131072) == (5 * 131072.0 + 27 * 1024.0) * 4096);
}

TEST_CASE("kv cache: the longest sequence is the last that still fits, for any design") {
  std::uint64_t draws = 0;
  for (int i = 0; i < 300; ++i) {
    const auto pick = [&](double lo, double hi) { return lo + (hi - lo) * unit_draw(7, draws++); };
    const KvDesign design{.sharing = pick(0, 1) < 0.5 ? KvSharing::grouped : KvSharing::latent,
                          .kv_heads = std::int64_t{1} << static_cast<int>(pick(0, 6)),
                          .window = pick(0, 1) < 0.5 ? 0 : static_cast<std::int64_t>(pick(16, 8192)),
                          .global_every = static_cast<std::int64_t>(pick(1, 8)),
                          .layers_share = static_cast<std::int64_t>(pick(1, 4)),
                          .bits = pick(2, 16)};
    const Architecture a = changed("llama-3-8b", design);
    const double bytes = std::exp(pick(12, 26)), longest = kv_tokens_within(a, design, bytes);
    if (std::isinf(longest)) continue;
    CHECK(kv_sequence_bytes(a, design, longest) <= bytes * (1 + 1e-12));
    CHECK(kv_sequence_bytes(a, design, longest + 1) > bytes * (1 - 1e-12));
  }
}

TEST_CASE("kv cache: users that fit, what they read in a step, and what is left") {
  // 80 GB less 16.06 GB of weights over 4.295 GB a sequence of 32,768 tokens: 14 and a rest of 3.81 GB. A step reads
  // 15.01 GB of weights (the input embedding is looked up) and 60.1 GB of caches at 3.35 TB/s.
  const KvFit fit = fitted("llama-3-8b", {}, {.memory_share = 1}, 32768, "h100_sxm");
  CHECK(fit.sequences == 14);
  CHECK(near(fit.weights_bytes, 16.0605e9, 1e-4));
  CHECK(near(fit.left_bytes, 3.810e9, 1e-3));
  CHECK(near(fit.step_s, (15.0098e9 + 14 * 4.294967e9) / 3.35e12, 1e-3));
  CHECK(near(fit.tokens_per_s, 14 / fit.step_s, 1e-12));
  CHECK(fit.longest_tokens == std::floor((80e9 - fit.weights_bytes) / 131072));
  // Multi-head attention widens the projections of keys and values too: 32 x 2 x 4096 x 3072 weights of two bytes.
  const KvDesign heads{.sharing = KvSharing::grouped, .kv_heads = 32};
  const KvFit many = fitted("llama-3-8b", heads, {.memory_share = 1}, 32768, "h100_sxm");
  CHECK(many.weights_bytes - fit.weights_bytes == 32 * 2 * 4096.0 * 3072 * 2);
  CHECK(many.sequences == 3);
  // 70B does not fit on one chip: no sequence, and room below 0.
  const KvFit none = fitted("llama-3-70b", {}, {}, 4096, "h100_sxm");
  CHECK(none.room_bytes < 0);
  CHECK(none.sequences == 0);
  CHECK(none.longest_tokens == 0);
}

// 4 key and value heads over 8 chips: two chips hold the same head, 12.62 GB for a sequence of 6.31.
TEST_CASE(
    "kv cache: where chips outnumber key and value heads they hold copies, and of a latent every chip the whole") {
  const KvMachine eight{.chips = 8, .weight_bits = 8, .product = Format::fp8};
  const KvFit qwen = fitted("qwen3-235b-a22b", {}, eight, 32768, "h200_sxm");
  CHECK(qwen.copies == 2);
  CHECK(near(qwen.sequence_bytes, 6.308e9, 1e-3));
  CHECK(near(qwen.held_bytes, 12.62e9, 1e-3));
  const KvFit latent = fitted("deepseek-v3", {}, eight, 32768, "h200_sxm");
  CHECK(latent.copies == 8);
  KvMachine whole = eight;
  whole.placement = KvPlacement::by_sequence;
  const KvFit apart = fitted("deepseek-v3", {}, whole, 32768, "h200_sxm");
  CHECK(apart.copies == 1);
  CHECK(apart.weights_bytes > latent.weights_bytes);
  CHECK(apart.sequences > 4 * latent.sequences);  // seven copies less, for attention weights that are held eight times
  CHECK(std::fmod(apart.sequences, 8) == 0);
}

TEST_CASE("kv cache: a parked sequence comes back over the link, or is computed again at the peak") {
  KvMachine machine{.host_bytes = 512e9, .link_bytes_per_s = 63e9};
  const KvFit fit = fitted("llama-3-8b", {}, machine, 32768, "h100_sxm");
  CHECK(fit.host_sequences == 119);
  CHECK(near(fit.fetch_s, 4.294967e9 / 63e9, 1e-6));
  // 2 x 7.0 G matrix weights x 32,768 and attention's 2 x 2 x 32,768^2 / 2 x 4,096 x 32 FLOP, over 989.4 TFLOP/s.
  CHECK(near(fit.recompute_s, (2 * 6.9793e9 * 32768 + 2 * 32768.0 * 32768 * 4096 * 32) / 989.4e12, 5e-3));
  machine.link_bytes_per_s = 0;
  CHECK(std::isnan(fitted("llama-3-8b", {}, machine, 32768, "h100_sxm").fetch_s));
}
