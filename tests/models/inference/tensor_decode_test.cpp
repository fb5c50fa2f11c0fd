// Decode on several chips: what each reads, what they say, and what engines were seen to take.
#include "models/inference/tensor_decode.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tests/models/machine/hardware_bundled.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using namespace models;
using namespace models::inference;
using support::near;

namespace {

const Architecture& tensor_shape(const char* model) { return models_test::shipped_model(model).architecture; }

DecodeGroup group_of(const char* chip, Format format, double weight_bytes, double kv_bytes) {
  const auto machine = machine_of(bundled_chip(chip), format);
  REQUIRE(machine);
  return {.chip = &bundled_chip(chip),
          .machine = *machine,
          .links = {.inside_bytes_per_s = 0.8 * *bundled_chip(chip).interconnect.bytes_per_s_per_direction,
                    .base_s = 6.6e-6},
          .weight_bytes_each = weight_bytes,
          .kv_bytes_each = kv_bytes};
}

/// A run under load: users at once, prompt and half of the answer, time a token and the least that reading takes, ms.
struct Loaded {
  const char *chip, *format, *model;
  std::int64_t chips, users, context;
  double measured_ms, bound_ms;
};
// ai-dynamo/aiconfigurator's recorded runs of TensorRT-LLM, as the oracles of this project list them, in order.
constexpr Loaded loaded_runs[] = {
    {"h200_sxm", "fp8", "llama-3-70b", 1, 4, 1536, 20.11, 14.67},
    {"h200_sxm", "fp8", "llama-3-70b", 1, 32, 1536, 25.8, 15.99},
    {"h200_sxm", "fp8", "llama-3-70b", 1, 128, 1536, 44.92, 20.52},
    {"h200_sxm", "fp8", "llama-3-70b", 2, 8, 1536, 12.42, 7.429},
    {"h200_sxm", "fp8", "llama-3-70b", 2, 16, 1536, 13.39, 7.617},
    {"h200_sxm", "fp8", "llama-3-70b", 2, 64, 1536, 18.99, 8.75},
    {"h200_sxm", "fp8", "llama-3-70b", 2, 128, 1536, 27.01, 10.26},
    {"h200_sxm", "fp8", "llama-3-70b", 4, 4, 1536, 7.982, 3.667},
    {"h200_sxm", "fp8", "llama-3-70b", 4, 16, 1536, 8.932, 3.809},
    {"h200_sxm", "fp8", "llama-3-70b", 4, 32, 1536, 10.63, 3.997},
    {"h200_sxm", "fp8", "llama-3-70b", 4, 64, 1536, 13.66, 4.375},
    {"h200_sxm", "fp8", "llama-3-70b", 4, 128, 1536, 19.28, 5.13},
    {"h200_sxm", "fp8", "llama-3-70b", 8, 4, 1536, 6.259, 1.834},
    {"h200_sxm", "fp8", "llama-3-70b", 8, 64, 1536, 13.51, 2.187},
    {"h200_sxm", "fp8", "llama-3-70b", 8, 128, 1536, 21.64, 2.565},
    {"b200_sxm", "fp4", "llama-3-70b", 1, 4, 1536, 12.06, 5.195},
    {"b200_sxm", "fp4", "llama-3-70b", 1, 16, 1536, 13.11, 5.548},
    {"b200_sxm", "fp4", "llama-3-70b", 1, 32, 1536, 14.36, 6.019},
    {"b200_sxm", "fp4", "llama-3-70b", 1, 64, 1536, 16.92, 6.96},
    {"b200_sxm", "fp4", "llama-3-70b", 1, 128, 1536, 21.88, 8.842},
    {"b200_sxm", "fp4", "llama-3-70b", 2, 4, 1536, 8.941, 2.597},
    {"b200_sxm", "fp4", "llama-3-70b", 2, 16, 1536, 9.377, 2.774},
    {"b200_sxm", "fp4", "llama-3-70b", 2, 32, 1536, 10.15, 3.009},
    {"b200_sxm", "fp4", "llama-3-70b", 2, 64, 1536, 11.99, 3.48},
    {"b200_sxm", "fp4", "llama-3-70b", 2, 128, 1536, 15.19, 4.421},
    {"b200_sxm", "fp4", "llama-3-70b", 4, 4, 1536, 6.63, 1.299},
    {"b200_sxm", "fp4", "llama-3-70b", 4, 16, 1536, 7.189, 1.387},
    {"b200_sxm", "fp4", "llama-3-70b", 4, 32, 1536, 8.033, 1.505},
    {"b200_sxm", "fp4", "llama-3-70b", 4, 64, 1536, 9.293, 1.74},
    {"b200_sxm", "fp4", "llama-3-70b", 4, 128, 1536, 12.27, 2.211},
    {"b200_sxm", "fp4", "llama-3-70b", 8, 4, 1536, 5.868, 0.6494},
    {"b200_sxm", "fp4", "llama-3-70b", 8, 8, 1536, 6.097, 0.6641},
    {"b200_sxm", "fp4", "llama-3-70b", 8, 16, 1536, 6.777, 0.6935},
    {"b200_sxm", "fp4", "llama-3-70b", 8, 32, 1536, 7.694, 0.7523},
    {"b200_sxm", "fp4", "llama-3-70b", 8, 64, 1536, 10.16, 0.87},
    {"b200_sxm", "fp4", "llama-3-70b", 8, 128, 1536, 13.66, 1.105},
    {"h100_sxm", "bf16", "llama-3-8b", 1, 8, 1280, 7.417, 4.881},
    {"h100_sxm", "bf16", "llama-3-8b", 1, 16, 1280, 8.354, 5.282},
    {"h100_sxm", "bf16", "llama-3-8b", 1, 32, 1280, 9.877, 6.083},
    {"h100_sxm", "bf16", "llama-3-8b", 1, 64, 1280, 13.1, 7.686},
    {"h100_sxm", "bf16", "llama-3-8b", 2, 8, 1280, 4.827, 2.441},
    {"h100_sxm", "bf16", "llama-3-8b", 2, 16, 1280, 5.582, 2.641},
    {"h100_sxm", "bf16", "llama-3-8b", 2, 32, 1280, 6.648, 3.042},
    {"h100_sxm", "bf16", "llama-3-8b", 2, 64, 1280, 8.604, 3.843},
    {"h100_sxm", "bf16", "llama-3-8b", 2, 128, 1280, 11.75, 5.445},
    {"h100_sxm", "bf16", "llama-3-8b", 4, 8, 1280, 3.294, 1.22},
    {"h100_sxm", "bf16", "llama-3-8b", 4, 16, 1280, 4.039, 1.32},
    {"h100_sxm", "bf16", "llama-3-8b", 4, 32, 1280, 5.131, 1.521},
    {"h100_sxm", "bf16", "llama-3-8b", 4, 128, 1280, 10, 2.723},
    {"h100_sxm", "bf16", "llama-3-8b", 8, 8, 1280, 2.731, 0.6102},
    {"h100_sxm", "bf16", "llama-3-8b", 8, 16, 1280, 3.315, 0.6602},
    {"h100_sxm", "bf16", "llama-3-8b", 8, 32, 1280, 4.38, 0.7604},
    {"h100_sxm", "bf16", "llama-3-8b", 8, 64, 1280, 6.626, 0.9607},
    {"h100_sxm", "bf16", "llama-3-8b", 8, 128, 1280, 10.16, 1.361},
};

double weight_bytes(const Loaded& row) {
  const std::string format = row.format;
  return format == "fp4" ? 0.5625 : format == "fp8" ? 1 : 2;
}

Format format_of(const Loaded& row) { return *format_from_id(row.format); }

}  // namespace

TEST_CASE("tensor decode: reading is divided, and its bound is that of published runs under load") {
  for (const Loaded& row : loaded_runs) {
    DecodeGroup g = group_of(row.chip, format_of(row), weight_bytes(row), format_of(row) == Format::bf16 ? 2 : 1);
    g.batch = row.users;
    // Lengths of the dated runs, those of 70B, vary between 0.8 and 1 of nominal.
    const double share = std::string(row.model) == "llama-3-70b" ? 0.9 : 1;
    g.context = std::llround(share * static_cast<double>(row.context));
    const DecodeSlab slab = decode_slab(tensor_shape(row.model), g, row.chips);
    INFO(row.chip << " x " << row.chips << ", " << row.users << " users: " << 1e3 * slab.read_s());
    CHECK(near(1e3 * slab.read_s(), row.bound_ms, 0.02));
    CHECK(1e3 * slab.step_s < row.measured_ms);
  }
}

TEST_CASE("tensor decode: four constants say what an engine takes under load, for runs that did not set them") {
  std::vector<double> dense_70b;
  for (const LoadedFit& fit : loaded_fits()) {
    std::vector<double> errors;
    int place = 0;
    for (const Loaded& row : loaded_runs) {
      if (fit.chip != row.chip || fit.format != row.format || fit.model != row.model) continue;
      if (place++ % 2 == 0) continue;
      const double expected =
          fit.seconds(1e-3 * row.bound_ms, static_cast<double>(row.users), static_cast<double>(row.chips));
      errors.push_back(std::abs(1e3 * expected / row.measured_ms - 1));
      if (fit.model == "llama-3-70b") dense_70b.push_back(errors.back());
    }
    CHECK(place == fit.runs);
    std::sort(errors.begin(), errors.end());
    const double median = (errors[(errors.size() - 1) / 2] + errors[errors.size() / 2]) / 2;
    INFO(fit.chip << ": median " << median << ", worst " << errors.back());
    CHECK(std::abs(median - fit.median_error) < 0.002);
    CHECK(std::abs(errors.back() - fit.worst_error) < 0.002);
  }
  std::sort(dense_70b.begin(), dense_70b.end());
  CHECK(dense_70b[dense_70b.size() / 2] <= 0.10);
  CHECK_FALSE(find_loaded_fit("h100_sxm", "fp8", "llama-3-70b"));
}

// gpt-fast prints the bandwidth that it reached; over its tokens a second that is what a chip reads. Every chip reads
// the whole output matrix there. Llama 3, BF16 and INT8, 205 tokens of cache.
TEST_CASE("tensor decode: where every chip reads the whole output matrix it reads what gpt-fast says") {
  struct Case {
    const char* model;
    std::int64_t chips;
    double bytes, read;
  };
  for (const Case& c : {Case{"llama-3-8b", 4, 2, 4.541e9}, Case{"llama-3-70b", 2, 2, 70.54e9},
                        Case{"llama-3-70b", 4, 2, 36.33e9}, Case{"llama-3-70b", 8, 2, 19.22e9},
                        Case{"llama-3-70b", 8, 1, 9.613e9}, Case{"llama-3.1-405b", 8, 1, 52.30e9}}) {
    DecodeGroup g = group_of("a100_80_sxm", Format::bf16, c.bytes, 2);
    g.context = 205;
    g.whole_head = true;
    const DecodeSlab slab = decode_slab(tensor_shape(c.model), g, c.chips);
    INFO(c.model << " on " << c.chips << ": " << slab.weights_bytes + slab.cache_bytes);
    CHECK(near(slab.weights_bytes + slab.cache_bytes, c.read, 0.002));
  }
}

TEST_CASE("tensor decode: talk is two all-reduces a layer, and does not shrink with the chips") {
  DecodeGroup g = group_of("h100_sxm", Format::bf16, 2, 2);
  g.batch = 8;
  const Architecture& a = tensor_shape("llama-3-70b");
  const DecodeSlab one = decode_slab(a, g, 1), four = decode_slab(a, g, 4), eight = decode_slab(a, g, 8);
  CHECK(one.talk_s() == 0);
  CHECK(near(four.weights_s, one.weights_s / 4, 1e-12));
  const AllReduceTime call =
      all_reduce_time(AllReduceAlgorithm::fastest, {.ranks = 8, .ranks_per_node = 8}, g.links, 8 * 8192 * 2.0);
  CHECK(near(eight.talk_s(), 160 * call.total_s(), 1e-12));
  CHECK(eight.talk_s() > four.talk_s());
  CHECK(eight.latency_s > eight.wire_s);  // 131 kB: latency, not bytes
  CHECK_FALSE(one.fits);
  CHECK(four.fits);
}

TEST_CASE(
    "tensor decode: cuts, copies beyond the key and value heads, and a pipeline that is no faster for one token") {
  CHECK(decode_cuts(tensor_shape("llama-3-70b"), 64) == std::vector<std::int64_t>{1, 2, 4, 8, 16, 32, 64});
  CHECK(decode_cuts(tensor_shape("qwen2.5-7b"), 64) == std::vector<std::int64_t>{1, 2, 4});  // 28 query heads
  CHECK(decode_cut_problem(tensor_shape("qwen2.5-7b"), 8) == "28 query heads cannot be dealt evenly to 8 chips.");
  DecodeGroup g = group_of("h100_sxm", Format::bf16, 2, 2);
  CHECK(decode_slab(tensor_shape("llama-3-70b"), g, 16).copies == 2);
  CHECK(near(decode_slab(tensor_shape("llama-3-70b"), g, 16).cache_bytes,
             decode_slab(tensor_shape("llama-3-70b"), g, 8).cache_bytes, 1e-12));
  const DecodeSlab one = decode_slab(tensor_shape("llama-3-70b"), g, 1);
  CHECK(decode_pipeline_s(tensor_shape("llama-3-70b"), g, 4) > one.step_s);
  CHECK(decode_pipeline_s(tensor_shape("llama-3-70b"), g, 4) < 1.01 * one.step_s);
}
