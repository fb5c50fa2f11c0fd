#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "models/training/utilization.h"
#include "models/transformer/flops.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/models/decoders.h"

using models_test::shipped_model;
using nlohmann::json;

namespace {

/// A decoder of the given sizes; only what multiplies is set.
models::Architecture architecture_of(const json& s) {
  const auto of = [&](const char* key) { return s.value(key, std::int64_t{0}); };
  models::Architecture a = support::decoder(
      {of("hidden"), of("layers"), of("heads"), of("kv_heads"), of("head_dim"), of("ffn"), of("vocab")});
  a.gated = s.value("gated", true);
  a.tied = s.value("tied", false);
  a.learned_positions = of("positions");
  a.moe = {.routed = of("experts"), .shared = of("shared_experts"), .per_token = of("topk"), .ffn = of("moe_ffn")};
  if (s.contains("mla")) {
    const json& m = s["mla"];
    a.latent = {m["q_lora"], m["kv_lora"], m["nope"], m["rope"], m["v"]};
  }
  a.sliding_window = of("window");
  for (std::int64_t l = 0; l < a.layers; ++l)
    a.layer_forms.push_back({.experts = a.moe.routed > 0 && l >= of("dense_layers"),
                             .sliding = a.sliding_window > 0 && l % of("window_every") == 0});
  return a;
}

models::FlopConvention convention_of(const std::string& name) {
  using enum models::CountedAttention;
  using enum models::CountedWeights;
  if (name == "half" || name == "two_matrices") return {};
  if (name == "mtp") return {.extra_layers = 1};
  if (name == "frozen") return {.attention = none, .frozen = true};
  if (name == "full") return {.attention = full};
  if (name == "palm") return {.attention = full, .weights = with_embedding};
  if (name == "hardware") return {.attention = full, .recompute = true};
  if (name == "hardware_layers") return {.attention = none, .weights = inside_layers, .recompute = true};
  if (name == "6n") return {.attention = none, .weights = with_embedding};
  REQUIRE(name == "6n_multiplied");
  return {.attention = none};
}

/// Flops a token as the row's source counts them.
double row_flops(const json& row, const json& shapes) {
  const bool full = row.value("recompute", "none") == "full";
  const std::string name = row["convention"];
  if (name == "rounded") return models::flops_6nd(row["parameters"], 1) * (full ? 4.0 / 3 : 1);
  models::Architecture a = row.contains("model") ? shipped_model(row["model"].get<std::string>()).architecture
                                                 : architecture_of(shapes[row["shape"].get<std::string>()]);
  if (name == "two_matrices") {
    a.gated = false;
    a.sliding_window = 0;
    for (models::LayerForm& form : a.layer_forms) form.sliding = false;
  }
  models::Workload w{.phase = models::Phase::train, .sequence = row["seq"]};
  if (full) w.recompute = models::Recompute::full;
  return models::counted_flops(a, w, convention_of(name)) / row["seq"].get<double>();
}

}  // namespace

TEST_CASE("every published rate and its MFU agree under the convention of their source") {
  const json all = json::parse(support::read_text(support::data_file("utilization_rows.json")));
  std::map<std::string, int> rows;
  std::map<std::string, double> work;  // of the rows of one set, the first
  for (const json& row : all["rows"]) {
    const std::string kind = row["kind"];
    INFO(row.dump());
    ++rows[kind];
    const auto near = [&](double value, double printed) {
      const double error = std::abs(value - printed);
      INFO(value << " against " << printed);
      // One row of Megatron-Bridge 26.02.01 (GPT-OSS on B300) prints TFLOP/s and tokens/s that are 0.9 % apart.
      CHECK(error <= std::max(row.value("off", row["rel"].get<double>()) * printed, row.value("abs", 0.0)));
    };
    if (kind == "ratio") {
      near(100 * row["tflops"].get<double>() / row["peak_tflops"].get<double>(), row["mfu_pct"]);
    } else if (kind == "same_work") {
      const double flops = row["tflops"].get<double>() * row["time_s"].get<double>();
      near(flops, work.try_emplace(row["set"], flops).first->second);
    } else if (kind == "days") {
      // Narayanan et al. 2021: equation 4 (8 T P) for GPT-3, and equation 3 for table 2.
      double flops = models::flops_6nd(row["parameters"].get<double>() * 1e9, row["tokens"]) * 8 / 6;
      if (row.contains("shape")) {
        const json& s = all["shapes"][row["shape"].get<std::string>()];
        const models::GptShape shape{1, row["seq"], s["layers"], s["hidden"], s["vocab"]};
        flops = models::gpt_step_flops_full_recompute(shape) / shape.sequence * row["tokens"].get<double>();
      }
      near(flops / (row["gpus"].get<double>() * row["tflops"].get<double>() * 1e12) / 86400, row["days"]);
    } else {
      REQUIRE(kind == "rate");
      const double tflops = row_flops(row, all["shapes"]) * row["tokens_per_s"].get<double>() * 1e-12;
      if (row.contains("tflops"))
        near(tflops, row["tflops"]);
      else
        near(100 * tflops / row["peak_tflops"].get<double>(), row["mfu_pct"]);
    }
  }
  CHECK(rows == std::map<std::string, int>{{"rate", 448}, {"ratio", 29}, {"days", 8}, {"same_work", 4}});
}

TEST_CASE("PaLM's own MFU, with and without attention, follows from its tokens a second") {
  // Chowdhery et al. 2022, section 4.1: 238.3 thousand tokens a second on 6,144 TPU v4 of 275 TFLOP/s.
  const double per_s = 238.3e3 / (6144 * 275e12);
  CHECK(std::abs(100 * models::palm_flops_per_token(540e9, 118, 48, 256, 2048) * per_s - 46.2) <= 0.1);
  CHECK(std::abs(100 * models::flops_6nd(540e9, 1) * per_s - 45.7) <= 0.1);
}

TEST_CASE("MT-NLG's one run is 40 % by the hardware count and 30 % by PaLM's") {
  // Chowdhery et al. 2022, table 3: 65.43 thousand tokens a second on 2,240 A100; Smith et al. 2022: 126 TFLOP/s.
  const double per_s = 65.43e3 / (2240 * 312e12);
  const double with = models::palm_flops_per_token(530e9, 105, 128, 160, 2048) * per_s;
  CHECK(std::abs(100 * with - 30.2) <= 0.1);
  CHECK(std::abs(100 * models::flops_6nd(530e9, 1) * per_s - 29.7) <= 0.1);
  const models::GptShape shape{1, 2048, 105, 20480, 51200};
  CHECK(std::abs(100 * models::gpt_step_flops_full_recompute(shape) / 2048 * per_s - 40) <= 1.5);
}
