#include "models/transformer/layer_ops.h"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>

#include "tests/models/transformer/language_model_files.h"

using Catch::Approx;
using models::LayerOperation;
using models::Phase;
using models::Workload;
using models_test::shipped_model;

namespace {

const LayerOperation& named(const std::vector<LayerOperation>& operations, const std::string& name,
                            const std::string& layer = "") {
  const auto it = std::find_if(operations.begin(), operations.end(), [&](const LayerOperation& op) {
    return op.name == name && (layer.empty() || op.layer == layer);
  });
  INFO(name);
  REQUIRE(it != operations.end());
  return *it;
}

bool has(const std::vector<LayerOperation>& operations, const std::string& name) {
  return std::any_of(operations.begin(), operations.end(), [&](const LayerOperation& op) { return op.name == name; });
}

Workload decode(std::int64_t batch, std::int64_t context) {
  Workload w;
  w.phase = Phase::decode;
  w.batch = batch;
  w.context = context;
  return w;
}

}  // namespace

TEST_CASE("in every phase and fused or not: names are unique, figures finite, parameters sum to the model's") {
  for (const auto& model : models_test::shipped_models()) {
    const std::int64_t total = models::count_parameters(model.architecture).total;
    for (int choice = 0; choice < 3 * 2 * 3; ++choice) {
      Workload w;
      w.phase = static_cast<Phase>(choice % 3);
      w.fused_attention = w.fused_elementwise = (choice / 3) % 2 == 0;
      w.latent = static_cast<models::LatentPath>(choice / 6);
      const auto operations = models::model_operations(model.architecture, w);
      INFO(model.id << ", choice " << choice);
      std::set<std::pair<std::string, std::string>> names;
      bool unique = true, finite = true;
      for (const auto& op : operations) {
        unique = unique && names.insert({op.layer, op.name}).second;
        finite = finite && std::isfinite(op.cost().flops) && op.cost().flops >= 0 && op.forward.bytes() > 0;
        finite = finite && (w.phase == Phase::train) == (op.backward.bytes() > 0);
      }
      CHECK(unique);
      CHECK(finite);
      CHECK(models::total_operations(operations, w).parameters == total);
    }
  }
}

TEST_CASE("cache of one token: Llama 7B 524,288 bytes, Llama 3 70B 327,680, DeepSeek-V3 70,272") {
  const auto bytes = [](const char* id) { return models::kv_bytes_per_token(shipped_model(id).architecture, 2); };
  CHECK(bytes("llama-2-7b") == 524288);  // errata: constants to fix once
  CHECK(bytes("llama-3-70b") == 327680);
  CHECK(bytes("deepseek-v3") == 70272);
  CHECK(bytes("llama-3-8b") * 8192 == Approx(1.07e9).epsilon(0.01));
  const auto& mistral = shipped_model("mistral-7b-v0.1").architecture;
  CHECK(models::kv_cache_bytes(mistral, 32768, 2) == models::kv_cache_bytes(mistral, 4096, 2));
  CHECK(models::kv_cache_bytes(shipped_model("gemma-2-9b").architecture, 8192, 2) ==
        Approx(0.75 * 8192 * bytes("gemma-2-9b")));
}

TEST_CASE("a decode step reads the weights and the cache once") {
  const auto& a = shipped_model("llama-3-70b").architecture;
  const auto count = models::count_parameters(a);
  const auto step = [&](std::int64_t batch, std::int64_t context) {
    const auto w = decode(batch, context);
    return models::total_operations(models::model_operations(a, w), w);
  };
  const double weights = 2 * static_cast<double>(count.active_without_input_embedding);
  const double cache = 256.0 * 4096 * models::kv_bytes_per_token(a, 2);
  // Activations are the rest: little beside weights and cache.
  CHECK(step(1, 1).bytes == Approx(weights).epsilon(2e-3));
  CHECK(step(1, 1).intensity() == Approx(1).epsilon(0.01));
  CHECK(step(256, 4096).bytes == Approx(weights + cache).epsilon(0.04));
  CHECK(step(256, 4096).bytes > weights + cache);
  // Errata row 168: 2PB over weights and cache reads is 74 flop per byte at batch 256, 4096 tokens, still memory-bound
  // on an H100 (295).
  CHECK(2 * 70e9 * 256 / (140e9 + cache) == Approx(74).epsilon(0.01));
  CHECK(step(256, 4096).intensity() > 70);
  CHECK(step(256, 4096).intensity() < 90);
}

TEST_CASE("prefill computes logits of the last position alone unless told, training of all") {
  const auto& a = shipped_model("llama-3-8b").architecture;
  Workload w;
  w.batch = 3;
  w.sequence = 1000;
  CHECK(named(models::model_operations(a, w), "logits").shape.m == 3);
  w.logits_for_all = true;
  CHECK(named(models::model_operations(a, w), "logits").shape.m == 3000);
  w.logits_for_all = false;
  w.phase = Phase::train;
  CHECK(named(models::model_operations(a, w), "logits").shape.m == 3000);
  CHECK(has(models::model_operations(a, w), "loss"));
}

TEST_CASE("grouped-query projections have their own shapes") {
  const auto& a = shipped_model("llama-3-70b").architecture;
  Workload w;
  w.sequence = 100;
  const auto operations = models::model_operations(a, w);
  CHECK(named(operations, "query projection").shape == models::ProductShape{1, 100, 8192, 8192});
  CHECK(named(operations, "key projection").shape == models::ProductShape{1, 100, 1024, 8192});
  CHECK(named(operations, "down projection").shape == models::ProductShape{1, 100, 8192, 28672});
  CHECK(named(operations, "query projection").count == 80);
}

TEST_CASE("latent attention: absorbed decode reads 576 numbers a token, expanded makes every head's keys again") {
  const auto& a = shipped_model("deepseek-v3").architecture;
  auto w = decode(1, 4096);
  const auto absorbed = models::model_operations(a, w);
  const double query_and_output = 128.0 * (576 + 512) * 2;
  CHECK(named(absorbed, "fused attention").forward.bytes() == Approx(4096 * 576 * 2 + query_and_output));
  CHECK(named(absorbed, "query absorb").parameters + named(absorbed, "value up").parameters ==
        512LL * 128 * (128 + 128));
  w.latent = models::LatentPath::expanded;
  const auto expanded = models::model_operations(a, w);
  CHECK(named(expanded, "key and value up").shape.m == 4096);
  CHECK(models::total_operations(expanded, w).flops > 20 * models::total_operations(absorbed, w).flops);
  // In prefill it is the other way round: the expanded path is the cheaper one, and the one chosen.
  Workload prefill;
  CHECK(has(models::model_operations(a, prefill), "key and value up"));
  const double chosen = models::total_operations(models::model_operations(a, prefill), prefill).flops;
  prefill.latent = models::LatentPath::absorbed;
  CHECK(models::total_operations(models::model_operations(a, prefill), prefill).flops > chosen);
}

TEST_CASE("a mixture reads the experts that its tokens touch and computes for those they chose") {
  const auto& a = shipped_model("mixtral-8x7b").architecture;
  const auto one = models::model_operations(a, decode(1, 100));
  const double matrix = 4096.0 * 14336;
  CHECK(named(one, "expert up projection").forward.flops == Approx(2 * 2 * matrix));
  CHECK(named(one, "expert up projection").forward.read_bytes == Approx(2 * 2 * matrix + 2 * 4096 * 2));
  CHECK(named(one, "expert up projection").parameters == 8LL * 4096 * 14336);
  const auto many = models::model_operations(a, decode(64, 100));
  CHECK(named(many, "expert up projection").forward.read_bytes == Approx(8 * 2 * matrix).epsilon(0.01));
  const auto shared = models::model_operations(shipped_model("deepseek-v3").architecture, decode(1, 100));
  CHECK(named(shared, "shared up projection").shape == models::ProductShape{1, 1, 2048, 7168});
  CHECK(named(shared, "up projection", "dense layer").shape.n == 18432);
}

TEST_CASE("fusing attention skips the masked half, fusing the rest keeps the flops; both cut the bytes") {
  const auto& a = shipped_model("llama-3-8b").architecture;
  Workload w;
  w.sequence = 8192;
  const auto fused = models::total_operations(models::model_operations(a, w), w);
  w.fused_attention = false;
  const auto half = models::total_operations(models::model_operations(a, w), w);
  w.fused_elementwise = false;
  const auto unfused = models::total_operations(models::model_operations(a, w), w);
  // A masked pair costs 2 x 128 flops in each of two products and 5 in the softmax.
  const double masked_pairs = 32 * 32 * 8192.0 * 8192 / 2;
  CHECK(half.flops - fused.flops == Approx(masked_pairs * (4 * 128 + 5)));
  CHECK(half.product_flops == Approx(fused.product_flops).epsilon(1e-12));
  CHECK(unfused.flops == Approx(half.flops).epsilon(1e-12));
  // The score squares: four trips of 32 heads x 8192^2 x 2 bytes in each of 32 layers.
  CHECK(half.bytes - fused.bytes == Approx(32 * 4 * 32 * 8192.0 * 8192 * 2));
  CHECK(unfused.bytes > half.bytes);
}

TEST_CASE("a sliding window bounds attention in its layers alone") {
  const auto& a = shipped_model("gemma-2-9b").architecture;
  const auto operations = models::model_operations(a, decode(1, 16384));
  const auto& slid = named(operations, "fused attention", "dense layer, sliding window");
  const auto& full = named(operations, "fused attention", "dense layer");
  CHECK(full.forward.flops == Approx(4 * slid.forward.flops));
  CHECK(slid.count + full.count == 42);
}

TEST_CASE("a chunk with a cached prefix attends to it; chunks sum to the whole") {
  const auto& a = shipped_model("llama-3-8b").architecture;
  const auto attention_flops = [&](std::int64_t prefix, std::int64_t sequence) {
    Workload w;
    w.prefix = prefix;
    w.sequence = sequence;
    return named(models::model_operations(a, w), "fused attention").product_flops;
  };
  CHECK(attention_flops(0, 512) + attention_flops(512, 512) + attention_flops(1024, 1024) ==
        Approx(attention_flops(0, 2048)));
}

TEST_CASE("full recomputation repeats the layers' forward and nothing outside them") {
  const auto& a = shipped_model("llama-3-8b").architecture;
  Workload w;
  w.phase = Phase::train;
  w.recompute = models::Recompute::full;
  for (const auto& op : models::model_operations(a, w)) {
    INFO(op.name);
    CHECK(op.forward_passes == (op.layer == "embedding" || op.layer == "output" ? 1 : 2));
  }
  w.phase = Phase::prefill;
  CHECK(named(models::model_operations(a, w), "query projection").forward_passes == 1);
}

// Dao et al. 2022, appendix B: forward S = Q K^T, O = P V; backward S again, dV = P^T dO, dP = dO V^T, dQ = dS K,
// dK = dS^T Q. Each is 2 pairs d flops a head where queries, keys and values have one width.
TEST_CASE("the backward pass of fused attention multiplies five times where the forward multiplies twice") {
  const auto& a = shipped_model("llama-3-8b").architecture;
  Workload w;
  w.phase = Phase::train;
  w.sequence = 8192;
  const auto op = named(models::model_operations(a, w), "fused attention");
  const double one_product = 2 * (8192.0 * 8192 / 2) * 128 * 32;
  CHECK(op.product_flops == Approx(2 * one_product));
  CHECK(op.backward_product_flops == Approx(4 * one_product));  // what the model asks for
  CHECK(op.backward_extra_product_flops == Approx(one_product));
  CHECK(op.hardware_product_flops() == Approx(7 * one_product));
  CHECK(op.backward.flops >= 5 * one_product);
  w.phase = Phase::prefill;
  CHECK(named(models::model_operations(a, w), "fused attention").hardware_product_flops() == Approx(2 * one_product));
  // Latent attention has wider queries than values: scores 192 wide, values 128.
  w.phase = Phase::train;
  const auto latent = named(models::model_operations(shipped_model("deepseek-v3").architecture, w), "fused attention");
  CHECK(latent.backward_extra_product_flops == Approx(latent.product_flops * 192 / (192 + 128)));
}

TEST_CASE("unfused attention computes the whole square and masks it; the model's flops stay half of it") {
  const auto& a = shipped_model("llama-2-7b").architecture;
  Workload w;
  w.batch = 4;
  w.sequence = 2048;
  w.fused_attention = false;
  const double square = 4 * 32 * 2048.0 * 2048;
  const auto operations = models::model_operations(a, w);
  const auto& scores = named(operations, "scores");
  CHECK(scores.forward.flops == Approx(2 * square * 128));
  CHECK(scores.product_flops == Approx(square * 128));
  CHECK(scores.forward.intensity() == Approx(113.8).margin(0.05));  // errata row 15
  CHECK(named(operations, "softmax").forward.flops == Approx(5 * square));
  CHECK(named(operations, "values").forward.flops == Approx(2 * square * 128));
  const auto totals = models::total_operations(operations, w);
  CHECK(totals.hardware_product_flops - totals.product_flops == Approx(32 * 2 * square * 128));
  w.attention = models::AttentionFlops::full;
  const auto full = models::total_operations(models::model_operations(a, w), w);
  CHECK(full.flops == totals.flops);
  CHECK(full.product_flops == Approx(totals.hardware_product_flops).epsilon(1e-12));
}

TEST_CASE("a workload out of range is named") {
  Workload w;
  CHECK(models::workload_problem(w).empty());
  w.batch = 0;
  CHECK(models::workload_problem(w) == "batch is 0; from 1 to 1000000000 is allowed.");
  w = decode(1, 4);
  w.decode_tokens = 5;
  CHECK(models::workload_problem(w) ==
        "context is 4, shorter than the 5 new tokens of the step; at least as many are expected.");
  w = {};
  w.kv_bytes = std::nan("");
  CHECK(models::workload_problem(w) == "kv_bytes is out of range; above 0 and up to 8 bytes an element is allowed.");
}
