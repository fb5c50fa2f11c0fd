#include "models/transformer/transformer.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

using models::count_parameters;
using models_test::shipped_model;
using nlohmann::json;

namespace {

models::Architecture architecture_of(const json& entry) {
  if (entry.contains("model")) return shipped_model(entry["model"].get<std::string>()).architecture;
  const auto parsed = models::parse_config(entry["config"].dump(), entry["id"].get<std::string>());
  INFO(parsed.error);
  REQUIRE(parsed);
  return *parsed;
}

}  // namespace

TEST_CASE("parameter counts equal the published ones") {
  const json entries = json::parse(support::read_text(support::data_file("params_published.json")));
  int totals = 0, active = 0;
  for (const json& entry : entries) {
    INFO(entry["id"] << ", source: " << entry["source"]);
    const auto count = count_parameters(architecture_of(entry));
    if (entry.contains("abs")) {
      CHECK(std::abs(static_cast<double>(count.total) - entry["total_params"].get<double>()) <=
            entry["abs"].get<double>());
      ++totals;
    } else if (entry.contains("total_params")) {
      CHECK(count.total == entry["total_params"].get<std::int64_t>());
      ++totals;
    }
    if (entry.contains("active_params")) {
      CHECK(count.active == entry["active_params"].get<std::int64_t>());
      ++active;
    }
  }
  CHECK(totals == 25);
  CHECK(active == 3);
}

TEST_CASE("DeepSeek-V3: its prediction layer and the checkpoint's split by format are reproduced") {
  const auto& a = shipped_model("deepseek-v3").architecture;
  const auto count = count_parameters(a);
  const auto layer = models::layer_parameters(a, models::layer_form(a, a.layers - 1));
  // Figures: README_WEIGHTS and the checkpoint's element counts by format (tests/data/params_published.json).
  CHECK(layer.attention + a.latent.q_lora_rank + a.latent.kv_lora_rank == 187'107'328);
  CHECK(count.mtp_layer_body == 11'507'286'016);
  CHECK(count.mtp == 11'610'068'224);
  const auto linears = [](const models::LayerParameters& p) {
    return p.attention + p.dense_ffn + p.routed_experts + p.shared_experts;
  };
  CHECK(linears(count.layers) + linears(layer) == 680'571'043'840);
  // The rest in 16 bits; the prediction layer stores embedding and head again. Biases of the router are in 32 bits.
  const std::int64_t repeated = count.embedding + count.head;
  const std::int64_t in_16_bits =
      count.total + count.mtp + repeated - 680'571'043'840 - count.layers.router_bias - layer.router_bias;
  CHECK(in_16_bits == 3'918'786'560);
  CHECK(count.layers.router_bias + layer.router_bias == 59 * 256);
  // 37.55e9 active with both embedding matrices, 36.63e9 without the input one (training oracle, pitfalls).
  CHECK(count.active - count.layers.router_bias == 37'552'282'624);
  CHECK(count.active - count.active_without_input_embedding == 129'280LL * 7168);
}

TEST_CASE("active parameters without the input embedding: Mixtral 8x7B is 12.75e9") {
  CHECK(count_parameters(shipped_model("mixtral-8x7b").architecture).active_without_input_embedding == 12'748'853'248);
  // A tied matrix still makes the logits.
  const auto gemma = count_parameters(shipped_model("gemma-2-2b").architecture);
  CHECK(gemma.active_without_input_embedding == gemma.total);
}

TEST_CASE("a Llama 3 8B layer is 13 hidden^2 of matrices: 2.5 attention and 10.5 feed-forward") {
  const auto& a = shipped_model("llama-3-8b").architecture;  // errata row 151
  const auto layer = models::layer_parameters(a, models::layer_form(a, 0));
  const std::int64_t square = a.hidden * a.hidden;
  CHECK(2 * layer.attention == 5 * square);
  CHECK(2 * layer.dense_ffn == 21 * square);
}

TEST_CASE("the parts of a count make its total and the double estimate agrees") {
  for (const auto& model : models_test::shipped_models()) {
    INFO(model.id);
    const auto c = count_parameters(model.architecture);
    CHECK(c.embedding + c.positions + c.layers.total() + c.outer_norms + c.head == c.total);
    CHECK(c.active <= c.total);
    CHECK(std::abs(models::approximate_parameters(model.architecture) / static_cast<double>(c.total) - 1) <= 1e-4);
  }
}

TEST_CASE("layers of different forms are grouped and counted") {
  const auto kinds = [](const char* id) { return models::layer_kinds(shipped_model(id).architecture); };
  const auto deepseek = kinds("deepseek-v3");  // first three layers dense
  REQUIRE(deepseek.size() == 2);
  CHECK(deepseek[0].name == "dense layer");
  CHECK(deepseek[0].count == 3);
  CHECK(deepseek[1].name == "expert layer");
  CHECK(deepseek[1].count == 58);
  const auto gemma = kinds("gemma-2-9b");  // every second layer slides, the first one does
  REQUIRE(gemma.size() == 2);
  CHECK(gemma[0].name == "dense layer, sliding window");
  CHECK(gemma[0].count == 21);
  CHECK(gemma[1].count == 21);
  const auto gemma3 = kinds("gemma-3-1b");  // five slide, the sixth does not: 26 layers have 4 full ones
  REQUIRE(gemma3.size() == 2);
  CHECK(gemma3[1].count == 4);
  const auto smol = kinds("smollm3-3b");  // every fourth layer without rotation
  REQUIRE(smol.size() == 2);
  CHECK(smol[1].name == "dense layer, no position");
  CHECK(smol[1].count == 9);
  CHECK(kinds("llama-3-8b").size() == 1);
  CHECK(kinds("qwen2.5-7b").front().form.sliding == false);  // use_sliding_window is false there
}
