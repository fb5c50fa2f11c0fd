// Bounds worked out elsewhere for published runs of 8B to 405B, against ours: all within 2 %, and no run beyond them.
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <vector>

#include "models/serving/engine/serving_bound.h"
#include "tests/models/machine/hardware_bundled.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using namespace models;

namespace {

/// What was measured: output tokens a second of a full server, seconds of a whole batch, milliseconds of a step.
enum class Runs : std::uint8_t { saturated, fixed, step };

struct BoundRow {
  double sequences, bound, measured;
};
struct BoundGroup {
  Runs runs;
  const char *model, *chip;
  double chips;
  Format format;
  double prompt, output;
  std::vector<BoundRow> rows;
};

// Saturated: TensorRT-LLM v1.0 and later, its tables of throughput, NVFP4. Fixed batches: vLLM on MI300X (ROCm's pages)
// and on H100 and MI300X (dstack). Steps: TensorRT-LLM and vLLM on B200 in NVFP4 (ai-dynamo/aiconfigurator), whose
// lengths are nine tenths of nominal.
std::vector<BoundGroup> bound_groups() {
  return {
      {Runs::saturated, "llama-3-70b", "b200_sxm", 1, Format::fp4, 128, 128, {{4174, 32370, 11147}}},
      {Runs::saturated, "llama-3-70b", "gb200_gpu", 1, Format::fp4, 128, 128, {{4356, 35970, 12189}}},
      {Runs::saturated, "llama-3-70b", "b200_sxm", 1, Format::fp4, 128, 2048, {{695.7, 31440, 9922}}},
      {Runs::saturated, "llama-3-70b", "gb200_gpu", 1, Format::fp4, 128, 2048, {{725.9, 32980, 11309}}},
      {Runs::saturated, "llama-3-70b", "b200_sxm", 1, Format::fp4, 128, 4096, {{368.3, 16640, 6831}}},
      {Runs::saturated, "llama-3-70b", "gb200_gpu", 1, Format::fp4, 128, 4096, {{384.3, 17460, 7849}}},
      {Runs::saturated,
       "llama-3-70b",
       "gb200_gpu",
       1,
       Format::fp4,
       1000,
       1000,
       {{557.5, 25330, 7326}, {557.5, 25330, 7769}}},
      {Runs::saturated, "llama-3-70b", "b200_sxm", 1, Format::fp4, 2048, 128, {{379.5, 3809, 1339}}},
      {Runs::saturated, "llama-3-70b", "gb200_gpu", 1, Format::fp4, 2048, 128, {{396, 4232, 1450}}},
      {Runs::saturated, "llama-3-70b", "b200_sxm", 1, Format::fp4, 2048, 2048, {{260.9, 11790, 4783}}},
      {Runs::saturated, "llama-3-70b", "gb200_gpu", 1, Format::fp4, 2048, 2048, {{272.2, 12370, 5646}}},
      {Runs::saturated, "llama-3-70b", "b200_sxm", 1, Format::fp4, 5000, 500, {{152.7, 5886, 1459}}},
      {Runs::saturated, "llama-3-70b", "gb200_gpu", 1, Format::fp4, 5000, 500, {{159.3, 6540, 1602}}},
      {Runs::saturated, "llama-3-70b", "b200_sxm", 1, Format::fp4, 20000, 2000, {{38.17, 1725, 665}}},
      {Runs::saturated, "llama-3-70b", "gb200_gpu", 1, Format::fp4, 20000, 2000, {{39.82, 1809, 755}}},
      {Runs::saturated, "llama-3.1-405b", "b200_sxm", 4, Format::fp4, 128, 128, {{9198, 22290, 6281}}},
      {Runs::saturated, "llama-3.1-405b", "gb200_gpu", 4, Format::fp4, 128, 128, {{9658, 24770, 6740}}},
      {Runs::saturated, "llama-3.1-405b", "gb200_gpu", 4, Format::fp4, 1000, 1000, {{1236, 24770, 5389}}},
      {Runs::saturated, "llama-3.1-405b", "b200_sxm", 4, Format::fp4, 2048, 2048, {{574.9, 22290, 4212}}},
      {Runs::saturated, "llama-3.1-405b", "gb200_gpu", 4, Format::fp4, 20000, 2000, {{88.3, 4005, 739}}},
      {Runs::saturated, "llama-3-70b", "b200_sxm", 1, Format::fp4, 1024, 8192, {{156.5, 7073, 3242}}},
      {Runs::saturated, "llama-3-70b", "gb200_gpu", 1, Format::fp4, 1024, 8192, {{163.3, 7420, 3805}}},
      {Runs::saturated, "llama-3-70b", "gb200_gpu", 1, Format::fp4, 32768, 1024, {{25.13, 1141, 302}}},
      {Runs::fixed,
       "llama-3-70b",
       "mi300x",
       8,
       Format::fp8,
       128,
       2048,
       {{1, 3.367, 17.236}, {2, 3.377, 18.057}, {4, 3.397, 18.45}, {8, 3.437, 19.677}, {128, 4.633, 46.484}}},
      {Runs::fixed,
       "llama-3-70b",
       "mi300x",
       8,
       Format::fp8,
       2048,
       2048,
       {{2, 3.433, 18.055},
        {4, 3.509, 18.858},
        {8, 3.66, 20.161},
        {16, 3.964, 22.347},
        {32, 4.571, 25.966},
        {64, 5.784, 35.324},
        {128, 8.211, 52.394}}},
      {Runs::fixed,
       "llama-3.1-405b",
       "mi300x",
       8,
       Format::fp8,
       128,
       2048,
       {{2, 19.54, 49.268},
        {128, 21.97, 117.027},
        {8, 19.66, 287.8},
        {16, 19.81, 291},
        {32, 20.12, 293.7},
        {256, 24.44, 438.2},
        {8, 19.66, 68.7},
        {32, 20.12, 81.62},
        {256, 24.44, 227.3}}},
      {Runs::fixed,
       "llama-3.1-405b",
       "mi300x",
       8,
       Format::fp8,
       2048,
       2048,
       {{1, 19.62, 48.362},
        {2, 19.74, 49.121},
        {4, 19.97, 52.347},
        {8, 20.44, 54.471},
        {32, 23.26, 70.538},
        {64, 27.01, 91.452},
        {128, 34.52, 125.471},
        {8, 20.44, 292.9},
        {16, 21.38, 299.7},
        {32, 23.26, 313.2},
        {64, 27.01, 353.7},
        {128, 34.52, 430.9},
        {256, 49.54, 615},
        {4, 19.97, 68.38},
        {8, 20.44, 70.54},
        {16, 21.38, 78.7},
        {32, 23.26, 96.36},
        {256, 49.54, 334.5}}},
      {Runs::fixed,
       "llama-3.1-405b",
       "h100_sxm",
       8,
       Format::fp8,
       2048,
       2048,
       {{16, 33.49, 83.86}, {32, 36.14, 143.9}, {64, 41.42, 262.5}, {128, 51.98, 474.3}}},
      {Runs::fixed,
       "llama-3.1-405b",
       "h100_sxm",
       8,
       Format::fp8,
       128,
       2048,
       {{4, 30.97, 71.27}, {8, 31.09, 75.06}, {16, 31.32, 75.82}, {128, 34.6, 214.7}, {256, 38.34, 399.6}}},
      {Runs::fixed,
       "llama-3.1-405b",
       "mi300x",
       4,
       Format::fp8,
       128,
       2048,
       {{4, 39.16, 94.17}, {16, 39.62, 101.5}, {32, 40.24, 113.7}, {64, 41.47, 136.9}, {128, 43.94, 195.5}}},
      {Runs::fixed,
       "llama-3.1-405b",
       "mi300x",
       4,
       Format::fp8,
       2048,
       2048,
       {{4, 39.94, 97.16},
        {16, 42.76, 114.7},
        {32, 46.51, 138.4},
        {64, 54.02, 185.6},
        {128, 69.04, 442.6},
        {256, 99.08, 790.1}}},
      {Runs::step,
       "llama-3-70b",
       "b200_sxm",
       1,
       Format::fp4,
       1024,
       1024,
       {{4, 5.195, 12.06}, {16, 5.548, 13.11}, {32, 6.019, 14.36}, {64, 6.96, 16.92}, {128, 8.842, 21.88}}},
      {Runs::step,
       "llama-3-70b",
       "b200_sxm",
       2,
       Format::fp4,
       1024,
       1024,
       {{4, 2.597, 8.941}, {16, 2.774, 9.377}, {32, 3.009, 10.15}, {64, 3.48, 11.99}, {128, 4.421, 15.19}}},
      {Runs::step,
       "llama-3-70b",
       "b200_sxm",
       4,
       Format::fp4,
       1024,
       1024,
       {{4, 1.299, 6.63}, {16, 1.387, 7.189}, {32, 1.505, 8.033}, {64, 1.74, 9.293}, {128, 2.211, 12.27}}},
      {Runs::step,
       "llama-3-70b",
       "b200_sxm",
       8,
       Format::fp4,
       1024,
       1024,
       {{4, 0.6494, 5.868},
        {8, 0.6641, 6.097},
        {16, 0.6935, 6.777},
        {32, 0.7523, 7.694},
        {64, 0.87, 10.16},
        {128, 1.105, 13.66}}},
      {Runs::step, "llama-3-70b", "b200_sxm", 1, Format::fp4, 8192, 1024, {{16, 7.744, 21.77}, {64, 15.75, 50.34}}},
      {Runs::step, "llama-3-70b", "b200_sxm", 4, Format::fp4, 8192, 1024, {{4, 1.436, 8.093}, {16, 1.936, 11.04}}},
  };
}

}  // namespace

TEST_CASE("serving: every bound of published runs of 8B to 405B is met within 2 %, and no run beats it") {
  int rows = 0;
  for (const BoundGroup& g : bound_groups()) {
    const Architecture& a = models_test::shipped_model(g.model).architecture;
    const ServingMachine machine{
        .chip = &bundled_chip(g.chip), .chips = g.chips, .format = g.format, .kv = KvFormat::fp8};
    const double dated = g.runs == Runs::step ? 0.9 : 1;
    for (const BoundRow& row : g.rows) {
      ++rows;
      const auto b =
          serving_bound(a, machine, row.sequences, dated * g.prompt, dated * g.output, g.runs == Runs::fixed);
      REQUIRE(b);
      INFO(g.model << " on " << g.chips << " x " << g.chip << ", " << g.prompt << " in, " << row.sequences);
      const double ours = g.runs == Runs::saturated ? b->tokens_per_s
                          : g.runs == Runs::step    ? 1e3 * b->tpot_s
                                                    : row.sequences * g.output / b->tokens_per_s;
      INFO(ours << " against " << row.bound << ", measured " << row.measured);
      CHECK(support::near(ours, row.bound, 0.02));
      CHECK((g.runs == Runs::saturated ? ours > row.measured : ours < row.measured));
    }
  }
  CHECK(rows == 108);
}
