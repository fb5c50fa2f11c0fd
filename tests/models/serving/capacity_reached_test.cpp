// The share of the roofs that saturated engines reached: fitted here again from published runs, half of which judge.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "models/serving/fleet/capacity.h"
#include "models/serving/fleet/capacity_tables.h"
#include "tests/models/machine/hardware_bundled.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using namespace models;

using support::near;

namespace {

struct Saturated {
  const char *model, *chip;
  double chips;
  Format format;
  double prompt, output, tokens_per_s;  ///< output tokens, all chips
};

// TensorRT-LLM's tables of maximum throughput: docs/source/performance/perf-overview.md v1.0 (NVIDIA/TensorRT-LLM at
// commit 00f3768), docs/source/developer-guide/perf-overview.md (03e27c7; per GPU there), perf-overview.md v0.14.0
// (arthurrasmusson/TensorRT-LLM at e00d4e6, a copy).
const std::vector<Saturated>& saturated_runs() {
  static const std::vector<Saturated> runs{
      {"llama-3-70b", "b200_sxm", 1, Format::fp4, 128, 128, 11147},
      {"llama-3-70b", "gb200_gpu", 1, Format::fp4, 128, 128, 12189},
      {"llama-3-70b", "h200_sxm", 1, Format::fp8, 128, 128, 3803},
      {"llama-3-70b", "h100_sxm", 2, Format::fp8, 128, 128, 6378},
      {"llama-3-70b", "b200_sxm", 1, Format::fp4, 128, 2048, 9922},
      {"llama-3-70b", "gb200_gpu", 1, Format::fp4, 128, 2048, 11309},
      {"llama-3-70b", "h200_sxm", 1, Format::fp8, 128, 2048, 4336},
      {"llama-3-70b", "b200_sxm", 1, Format::fp4, 128, 4096, 6831},
      {"llama-3-70b", "gb200_gpu", 1, Format::fp4, 128, 4096, 7849},
      {"llama-3-70b", "h200_sxm", 1, Format::fp8, 128, 4096, 2872},
      {"llama-3-70b", "gb200_gpu", 1, Format::fp4, 1000, 1000, 7326},
      {"llama-3-70b", "b200_sxm", 1, Format::fp4, 2048, 128, 1339},
      {"llama-3-70b", "gb200_gpu", 1, Format::fp4, 2048, 128, 1450},
      {"llama-3-70b", "h200_sxm", 1, Format::fp8, 2048, 128, 442},
      {"llama-3-70b", "h100_sxm", 2, Format::fp8, 2048, 128, 762},
      {"llama-3-70b", "b200_sxm", 1, Format::fp4, 2048, 2048, 4783},
      {"llama-3-70b", "gb200_gpu", 1, Format::fp4, 2048, 2048, 5646},
      {"llama-3-70b", "h100_sxm", 2, Format::fp8, 2048, 2048, 3082},
      {"llama-3-70b", "b200_sxm", 1, Format::fp4, 5000, 500, 1459},
      {"llama-3-70b", "gb200_gpu", 1, Format::fp4, 5000, 500, 1602},
      {"llama-3-70b", "b200_sxm", 1, Format::fp4, 20000, 2000, 665},
      {"llama-3-70b", "gb200_gpu", 1, Format::fp4, 20000, 2000, 755},
      {"llama-3-70b", "h200_sxm", 1, Format::fp8, 20000, 2000, 283},
      {"llama-3-70b", "h100_sxm", 2, Format::fp8, 20000, 2000, 437},
      {"llama-3.1-405b", "b200_sxm", 4, Format::fp4, 128, 128, 6281},
      {"llama-3.1-405b", "gb200_gpu", 4, Format::fp4, 128, 128, 6740},
      {"llama-3.1-405b", "h200_sxm", 8, Format::fp8, 128, 128, 3814},
      {"llama-3.1-405b", "h100_sxm", 8, Format::fp8, 128, 128, 3627},
      {"llama-3.1-405b", "h200_sxm", 8, Format::fp8, 128, 2048, 5348},
      {"llama-3.1-405b", "gb200_gpu", 4, Format::fp4, 1000, 1000, 5389},
      {"llama-3.1-405b", "h200_sxm", 8, Format::fp8, 1000, 1000, 3330},
      {"llama-3.1-405b", "h100_sxm", 8, Format::fp8, 1000, 1000, 2919},
      {"llama-3.1-405b", "b200_sxm", 4, Format::fp4, 2048, 2048, 4212},
      {"llama-3.1-405b", "h200_sxm", 8, Format::fp8, 2048, 2048, 2948},
      {"llama-3.1-405b", "h100_sxm", 8, Format::fp8, 2048, 2048, 2296},
      {"llama-3.1-405b", "gb200_gpu", 4, Format::fp4, 20000, 2000, 739},
      {"llama-3.1-405b", "h200_sxm", 8, Format::fp8, 20000, 2000, 505},
      {"llama-3.1-405b", "h100_sxm", 8, Format::fp8, 20000, 2000, 345},
      {"llama-3-8b", "h200_sxm", 1, Format::fp8, 128, 128, 27911},
      {"llama-3-8b", "h100_sxm", 1, Format::fp8, 128, 128, 28312},
      {"llama-3-8b", "h100_sxm", 1, Format::fp8, 128, 2048, 22714},
      {"llama-3-8b", "h200_sxm", 1, Format::fp8, 1000, 1000, 17744},
      {"llama-3-8b", "h100_sxm", 1, Format::fp8, 1000, 1000, 15220},
      {"llama-3-8b", "h200_sxm", 1, Format::fp8, 2048, 128, 3538},
      {"llama-3-8b", "h200_sxm", 1, Format::fp8, 2048, 2048, 12194},
      {"llama-3-8b", "h100_sxm", 1, Format::fp8, 2048, 2048, 9305},
      {"llama-3-8b", "h200_sxm", 1, Format::fp8, 20000, 2000, 1804},
      {"llama-3-8b", "h100_sxm", 1, Format::fp8, 20000, 2000, 1351},
      {"llama-3-70b", "gb200_gpu", 1, Format::fp4, 1000, 1000, 7769},
      {"llama-3-70b", "h200_sxm", 2, Format::fp8, 1000, 1000, 5174},
      {"llama-3-70b", "b200_sxm", 1, Format::fp4, 1024, 8192, 3242},
      {"llama-3-70b", "gb200_gpu", 1, Format::fp4, 1024, 8192, 3805},
      {"llama-3-70b", "h200_sxm", 2, Format::fp8, 1024, 8192, 4018},
      {"llama-3-70b", "h200_sxm", 2, Format::fp8, 8192, 1024, 1074},
      {"llama-3-70b", "gb200_gpu", 1, Format::fp4, 32768, 1024, 302},
      {"llama-3-70b", "h200_sxm", 2, Format::fp8, 32768, 1024, 240},
      {"llama-3-70b", "h200_sxm", 1, Format::fp8, 1000, 1000, 2594.2},
      {"llama-3-70b", "h100_sxm", 2, Format::bf16, 1000, 1000, 777},
      {"llama-3-70b", "a100_80_sxm", 2, Format::bf16, 1000, 1000, 468.6},
      {"llama-3-70b", "h200_sxm", 4, Format::fp8, 1000, 1000, 7612.2},
      {"llama-3-70b", "h100_sxm", 4, Format::bf16, 1000, 1000, 3730.2},
      {"llama-3-70b", "a100_80_sxm", 4, Format::bf16, 1000, 1000, 1765.9},
      {"llama-3-70b", "h200_sxm", 8, Format::fp8, 1000, 1000, 13075.5},
      {"llama-3-70b", "a100_80_sxm", 8, Format::bf16, 1000, 1000, 3054.9},
      {"llama-3-70b", "h100_sxm", 1, Format::fp8, 128, 2048, 418.4},
      {"llama-3-70b", "h100_sxm", 2, Format::bf16, 128, 2048, 817.5},
      {"llama-3-70b", "h200_sxm", 4, Format::fp8, 128, 2048, 12772.8},
      {"llama-3-70b", "h100_sxm", 4, Format::bf16, 128, 2048, 5072},
      {"llama-3-70b", "a100_80_sxm", 4, Format::bf16, 128, 2048, 2484.2},
      {"llama-3-70b", "h100_sxm", 8, Format::bf16, 128, 2048, 7554.2},
      {"llama-3-70b", "a100_80_sxm", 8, Format::bf16, 128, 2048, 4463.7},
      {"llama-3-70b", "h100_sxm", 1, Format::fp8, 2048, 128, 241.8},
      {"llama-3-70b", "h200_sxm", 2, Format::fp8, 2048, 128, 699.6},
      {"llama-3-70b", "h100_sxm", 2, Format::fp8, 2048, 128, 691},
      {"llama-3-70b", "h100_sxm", 2, Format::bf16, 2048, 128, 328},
      {"llama-3-70b", "a100_80_sxm", 2, Format::bf16, 2048, 128, 145.1},
      {"llama-3-70b", "h200_sxm", 4, Format::fp8, 2048, 128, 1035.7},
      {"llama-3-70b", "h100_sxm", 4, Format::fp8, 2048, 128, 1008.8},
      {"llama-3-70b", "h100_sxm", 4, Format::bf16, 2048, 128, 670.7},
      {"llama-3-70b", "a100_80_sxm", 4, Format::bf16, 2048, 128, 278.6},
      {"llama-3-70b", "h200_sxm", 8, Format::fp8, 2048, 128, 2055.7},
      {"llama-3-70b", "h100_sxm", 8, Format::fp8, 2048, 128, 1996.3},
      {"llama-3-70b", "h100_sxm", 8, Format::bf16, 2048, 128, 1288.8},
      {"llama-3-70b", "a100_80_sxm", 8, Format::bf16, 2048, 128, 547},
  };
  return runs;
}

/// Costs of one chip, made once for each model, chip and format.
double saturated_model(const Saturated& run, double share) {
  static std::map<std::string, ServingCost> costs;
  const Architecture& a = models_test::shipped_model(run.model).architecture;
  ServingMachine m{.chip = &bundled_chip(run.chip),
                   .chips = run.chips,
                   .format = run.format,
                   .kv = run.format == Format::bf16 ? KvFormat::bf16 : KvFormat::fp8,
                   .roof_share = share,
                   .memory_share = 0.95};
  const std::string key = std::string(run.model) + run.chip + std::string(format_id(run.format));
  if (!costs.contains(key)) costs.emplace(key, *serving_cost_of_one(a, m));
  const auto replica = capacity_replica(costs.at(key), a, m, {.chunk_tokens = 2048, .slots = 4096});
  REQUIRE(replica);
  return saturated_replica(*replica, demand_of_lengths(1, run.prompt, run.output, 0)).rate_per_s * run.output;
}

std::vector<const Saturated*> saturated_runs_of(const ReachedShare& fit) {
  std::vector<const Saturated*> out;
  for (const Saturated& run : saturated_runs())
    if (run.chip == fit.chip && run.format == fit.format) out.push_back(&run);
  return out;
}

}  // namespace

TEST_CASE(
    "capacity: the share of the roofs is that of every second published run, and the others are as near as said") {
  for (const ReachedShare& fit : reached_shares()) {
    INFO(fit.chip << " in " << format_id(fit.format));
    const auto runs = saturated_runs_of(fit);
    CHECK(static_cast<int>(runs.size()) == fit.runs);
    double best = 1e9, best_share = 0;
    for (int percent = 40; percent <= 75; ++percent) {
      double error = 0;
      for (std::size_t i = 0; i < runs.size(); i += 2)
        error += std::abs(std::log(runs[i]->tokens_per_s / saturated_model(*runs[i], percent / 100.0)));
      if (error >= best) continue;
      best = error;
      best_share = percent / 100.0;
    }
    CHECK(std::abs(best_share - fit.share) < 0.0101);
    std::vector<double> errors;
    for (std::size_t i = 1; i < runs.size(); i += 2)
      errors.push_back(std::abs(runs[i]->tokens_per_s / saturated_model(*runs[i], fit.share) - 1));
    std::sort(errors.begin(), errors.end());
    CHECK(std::abs(errors[errors.size() / 2] - fit.median_error) < 0.01);
    CHECK(std::abs(errors.back() - fit.worst_error) < 0.02);
  }
}

TEST_CASE("capacity: two chips for a 70B model in FP8 give nearly three times what one gives, as was published") {
  // TensorRT-LLM v0.14, 2,048 in and 128 out on H100: 241.8, 691.0, 1,008.8 and 1,996.3 tokens a second.
  const double one = saturated_model({"llama-3-70b", "h100_sxm", 1, Format::fp8, 2048, 128, 0}, 0.63),
               two = saturated_model({"llama-3-70b", "h100_sxm", 2, Format::fp8, 2048, 128, 0}, 0.63),
               four = saturated_model({"llama-3-70b", "h100_sxm", 4, Format::fp8, 2048, 128, 0}, 0.63);
  CHECK(two / one > 2.5);
  CHECK(two / one < 3.5);
  CHECK(near(two / one, 690.9961 / 241.7561, 0.15));
  CHECK(four / two < 2);  // each further chip then gives less
}

TEST_CASE("capacity: dated prices agree with the hardware catalog where it has the same list") {
  for (const ChipPrice& price : chip_prices()) {
    INFO(price.chip);
    const Chip& chip = bundled_chip(std::string(price.chip));
    CHECK(price.on_demand > 0);
    CHECK(!price.date.empty());
    CHECK(!price.source.empty());
    CHECK((price.high == 0 || (price.low < price.high && !price.band_source.empty())));
    if (chip.price.on_demand_usd_per_hour) CHECK(near(price.on_demand, *chip.price.on_demand_usd_per_hour, 0.005));
  }
  CHECK(near(find_chip_price("b200_sxm")->on_demand, *bundled_chip("b200_sxm").price.launch_on_demand_usd_per_hour,
             0.001));
  CHECK(find_chip_price("l4") == nullptr);
}
