// A request's two phases: bounds against those worked out elsewhere beside published runs, and what an engine reaches.
#include "models/inference/phases.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/models/machine/hardware_bundled.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using namespace models;
using namespace models::inference;
using support::near;

namespace {

const Architecture& phases_shape(const char* model) { return models_test::shipped_model(model).architecture; }

PhaseSetup on(const char* chip, std::int64_t chips, Format format, double weight_bytes) {
  const auto machine = machine_of(bundled_chip(chip), format);
  REQUIRE(machine);
  return {.machine = *machine, .chips = chips, .weight_bytes_each = weight_bytes};
}

double tokens_per_s(const char* model, PhaseSetup s, std::int64_t context) {
  s.context = context;
  return 1 / phase_bound(decode_step_work(phases_shape(model), s), s).time_s;
}

/// One length of llama.cpp's table on one GPU: tokens a second over `written` tokens from an empty cache.
struct Seen {
  const char *chip, *model;
  double weights_read;
  std::int64_t written;
  double measured, bound;
};
// XiongjieDai/GPU-Benchmarks-on-LLM-Inference at aa72e0e, May 2024; weights of 15.0 GB are F16, the others Q4_K_M.
constexpr Seen seen[] = {
    {"rtx4090", "llama-3-8b", 4.596e9, 512, 130.58, 217.7},
    {"rtx4090", "llama-3-8b", 4.596e9, 1024, 127.74, 216.2},
    {"rtx4090", "llama-3-8b", 4.596e9, 4096, 119.44, 207.2},
    {"rtx4090", "llama-3-8b", 4.596e9, 8192, 110.66, 196.4},
    {"rtx4090", "llama-3-8b", 1.501e10, 512, 54.84, 67},
    {"rtx4090", "llama-3-8b", 1.501e10, 1024, 54.34, 66.85},
    {"rtx4090", "llama-3-8b", 1.501e10, 4096, 52.63, 65.97},
    {"rtx4090", "llama-3-8b", 1.501e10, 8192, 50.88, 64.83},
    {"l40s", "llama-3-8b", 4.596e9, 512, 115.55, 186.6},
    {"l40s", "llama-3-8b", 4.596e9, 1024, 113.6, 185.3},
    {"l40s", "llama-3-8b", 4.596e9, 4096, 105.5, 177.6},
    {"l40s", "llama-3-8b", 4.596e9, 8192, 97.98, 168.3},
    {"l40s", "llama-3-8b", 1.501e10, 512, 43.69, 57.42},
    {"l40s", "llama-3-8b", 1.501e10, 1024, 43.42, 57.3},
    {"l40s", "llama-3-8b", 1.501e10, 4096, 42.22, 56.54},
    {"l40s", "llama-3-8b", 1.501e10, 8192, 41.05, 55.57},
    {"a100_80_sxm", "llama-3-8b", 4.596e9, 512, 135.04, 440.4},
    {"a100_80_sxm", "llama-3-8b", 4.596e9, 1024, 133.38, 437.3},
    {"a100_80_sxm", "llama-3-8b", 4.596e9, 4096, 125.09, 419.2},
    {"a100_80_sxm", "llama-3-8b", 4.596e9, 8192, 115.92, 397.2},
    {"a100_80_sxm", "llama-3-8b", 1.501e10, 512, 53.49, 135.5},
    {"a100_80_sxm", "llama-3-8b", 1.501e10, 1024, 53.18, 135.2},
    {"a100_80_sxm", "llama-3-8b", 1.501e10, 4096, 52.03, 133.4},
    {"a100_80_sxm", "llama-3-8b", 1.501e10, 8192, 50.52, 131.1},
    {"a100_80_sxm", "llama-3-70b", 4.188e10, 512, 24.61, 48.59},
    {"a100_80_sxm", "llama-3-70b", 4.188e10, 1024, 24.33, 48.5},
    {"a100_80_sxm", "llama-3-70b", 4.188e10, 4096, 22.91, 47.92},
    {"a100_80_sxm", "llama-3-70b", 4.188e10, 8192, 21.32, 47.18},
    {"h100_pcie", "llama-3-8b", 4.596e9, 512, 145.55, 432},
    {"h100_pcie", "llama-3-8b", 4.596e9, 1024, 144.49, 428.9},
    {"h100_pcie", "llama-3-8b", 4.596e9, 4096, 136.06, 411.1},
    {"h100_pcie", "llama-3-8b", 4.596e9, 8192, 126.83, 389.6},
    {"h100_pcie", "llama-3-8b", 1.501e10, 512, 68.03, 132.9},
    {"h100_pcie", "llama-3-8b", 1.501e10, 1024, 67.79, 132.6},
    {"h100_pcie", "llama-3-8b", 1.501e10, 4096, 65.97, 130.9},
    {"h100_pcie", "llama-3-8b", 1.501e10, 8192, 63.55, 128.6},
    {"h100_pcie", "llama-3-70b", 4.188e10, 512, 25.03, 47.66},
    {"h100_pcie", "llama-3-70b", 4.188e10, 1024, 25.01, 47.57},
    {"h100_pcie", "llama-3-70b", 4.188e10, 4096, 23.82, 47.01},
    {"h100_pcie", "llama-3-70b", 4.188e10, 8192, 22.39, 46.28},
};

/// The setup of a run whose weights, all that are read, take the bytes of its file.
PhaseSetup setup_of(const Seen& row) {
  PhaseSetup s = on(row.chip, 1, Format::fp16, 1);
  s.weight_bytes_each = row.weights_read / decode_step_work(phases_shape(row.model), s).weight_bytes;
  s.context = row.written / 2;
  return s;
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size()))) - 1];
}

}  // namespace

// Bounds of published first tokens, in milliseconds: 2 FLOP a weight and token, or the weights once. Attention's own
// arithmetic is left out there, and stands beside it here.
TEST_CASE("phases: the bound of prefill is that of published first tokens, and no run beats it") {
  struct Case {
    const char *model, *chip;
    std::int64_t chips, prompt;
    Format format;
    double bytes, bound_ms, measured_ms;
  };
  for (const Case& c : {Case{"llama-2-7b", "h100_sxm", 1, 128, Format::fp8, 1, 1.972, 7},
                        Case{"llama-2-7b", "h100_sxm", 1, 2048, Format::fp8, 1, 13.68, 36},
                        Case{"llama-2-70b", "h100_sxm", 4, 128, Format::fp8, 1, 5.128, 26},
                        Case{"llama-2-7b", "l40s", 1, 128, Format::fp8, 1, 7.647, 14},
                        Case{"llama-2-7b", "l40s", 1, 2048, Format::fp8, 1, 36.92, 73},
                        Case{"llama-2-7b", "a100_80_sxm", 1, 128, Format::fp16, 2, 6.481, 16},
                        Case{"llama-2-70b", "a100_80_sxm", 4, 128, Format::fp16, 2, 16.85, 47},
                        Case{"llama-2-7b", "gaudi2", 1, 2048, Format::fp8, 1, 31.29, 56.31},
                        Case{"llama-2-70b", "gaudi2", 8, 128, Format::fp8, 1, 3.506, 26.93},
                        Case{"llama-3-8b", "gaudi2", 1, 128, Format::fp8, 1, 3.063, 8.17}}) {
    PhaseSetup s = on(c.chip, c.chips, c.format, c.bytes);
    s.prompt = c.prompt;
    s.kv_bytes_each = c.bytes;
    const PhaseBound b = phase_bound(prefill_work(phases_shape(c.model), s), s);
    INFO(c.model << " on " << c.chips << " x " << c.chip << ", " << c.prompt << ": " << 1e3 * b.time_s);
    CHECK(near(1e3 * b.time_s, c.bound_ms, 0.02));
    CHECK(1e3 * (b.time_s + b.attention_s) < c.measured_ms);
  }
}

// gpt-fast's README: one sequence of 5 and 200 tokens on A100s; bounds by hand from bytes and bandwidth.
TEST_CASE("phases: the bound of decode is weights and cache over the bandwidth, and no run beats it") {
  struct Case {
    const char* model;
    std::int64_t chips;
    double bytes, bound, measured;
  };
  for (const Case& c : {Case{"llama-2-7b", 1, 2, 153.7, 104.9}, Case{"llama-2-7b", 1, 1, 306.2, 155.58},
                        Case{"llama-2-7b", 1, 0.625, 487.6, 196.8}, Case{"llama-2-70b", 1, 0.625, 47.44, 25.25},
                        Case{"llama-3-8b", 1, 2, 135.7, 93.89}, Case{"llama-2-7b", 8, 2, 1230, 328.43},
                        Case{"llama-3-8b", 4, 2, 542.9, 217.21}, Case{"llama-3-70b", 8, 2, 117.3, 58.78},
                        Case{"llama-3.1-405b", 8, 1, 40.4, 15.6}, Case{"mixtral-8x7b", 2, 2, 159.9, 96.67},
                        Case{"mixtral-8x7b", 8, 2, 639.4, 227.82}}) {
    const double bound = tokens_per_s(c.model, on("a100_80_sxm", c.chips, Format::bf16, c.bytes), 105);
    INFO(c.model << " on " << c.chips << ", " << c.bytes << " bytes: " << bound);
    CHECK(near(bound, c.bound, 0.02));
    CHECK(bound > c.measured);
  }
  for (const Seen& row : seen) {
    const PhaseSetup s = setup_of(row);
    const double bound = tokens_per_s(row.model, s, s.context);
    INFO(row.chip << ' ' << row.model << ' ' << row.written << ": " << bound);
    CHECK(near(bound, row.bound, 0.02));
    CHECK(bound > row.measured);
  }
}

// Runs of 512 and 4,096 tokens set the pair of each chip, those of 1,024 and 8,192 judge it.
TEST_CASE("phases: one start and one efficiency a chip say what an engine takes, for runs that did not set them") {
  std::vector<double> all;
  std::map<std::string, std::vector<double>> by_chip;
  std::map<std::string, int> runs;
  for (const Seen& row : seen) {
    const DecodeFit* fit = find_decode_fit(row.chip);
    REQUIRE(fit);
    ++runs[row.chip];
    if (row.written == 512 || row.written == 4096) continue;
    const PhaseSetup s = setup_of(row);
    const double expected = expected_step_s(*fit, decode_step_work(phases_shape(row.model), s), s.machine);
    const double error = std::abs(expected * row.measured - 1);
    CHECK(expected > phase_bound(decode_step_work(phases_shape(row.model), s), s).time_s);
    all.push_back(error);
    by_chip[row.chip].push_back(error);
  }
  CHECK(quantile(all, 0.5) <= 0.06);
  CHECK(quantile(all, 0.9) <= 0.12);
  for (const DecodeFit& fit : decode_fits()) {
    const std::vector<double>& errors = by_chip[std::string(fit.chip)];
    CHECK(runs[std::string(fit.chip)] == fit.runs);
    const std::size_t half = errors.size() / 2;
    std::vector<double> sorted = errors;
    std::sort(sorted.begin(), sorted.end());
    CHECK(std::abs((sorted[half - 1] + sorted[half]) / 2 - fit.median_error) < 0.001);
    CHECK(std::abs(sorted.back() - fit.worst_error) < 0.001);
  }
  CHECK_FALSE(find_decode_fit("h100_sxm"));
}

TEST_CASE("phases: work is the chip's no business, and time is work over the roof that it meets") {
  PhaseSetup s = on("h100_pcie", 1, Format::bf16, 2);
  const PhaseWork prefill = prefill_work(phases_shape("llama-3-8b"), s),
                  step = decode_step_work(phases_shape("llama-3-8b"), s);
  // 7.505 G weights that are read, 2 FLOP each and token; attention 4 x 8192^2 / 2 x 4096 x 32 layers.
  CHECK(near(prefill.matmul_flops, 2 * 7.505e9 * 8192, 1e-3));
  CHECK(near(prefill.attention_flops, 2 * 8192.0 * 8192 * 4096 * 32, 2e-3));
  CHECK(near(step.weight_bytes, 15.01e9, 1e-3));
  CHECK(near(step.cache_bytes, 8256 * 131072.0, 1e-12));
  const PhaseBound slow = phase_bound(step, s);
  CHECK_FALSE(slow.computes());
  CHECK(phase_bound(prefill, s).computes());
  s.machine.bandwidth_bytes_per_s *= 2;
  CHECK(near(phase_bound(step, s).time_s, slow.time_s / 2, 1e-12));
  s.machine.bandwidth_bytes_per_s /= 2;
  s.machine.peak_flops_per_s *= 2;
  CHECK(phase_bound(step, s).time_s == slow.time_s);
  // More requests read the weights once, and each its own cache.
  s.batch = 48;
  CHECK(
      near(decode_step_work(phases_shape("llama-3-8b"), s).bytes(), step.weight_bytes + 48 * step.cache_bytes, 1e-12));
}

// 990 TFLOP/s over 3.35 TB/s: 295 FLOP a byte, at 2 bytes and 2 FLOP a weight 295 requests; FP8 doubles both.
TEST_CASE("phases: the critical batch is the ridge where caches are small, whatever the format, and may not exist") {
  for (const auto& [format, bytes] : {std::pair{Format::bf16, 2.0}, std::pair{Format::fp8, 1.0}}) {
    PhaseSetup s = on("h100_sxm", 1, format, bytes);
    s.context = 1;
    const auto batch = phase_critical_batch(phases_shape("llama-3-8b"), s);
    REQUIRE(batch);
    CHECK(near(*batch, 295, 0.02));
  }
  PhaseSetup s = on("h100_sxm", 1, Format::bf16, 2);
  s.context = 8192;
  CHECK_FALSE(phase_critical_batch(phases_shape("llama-3-8b"), s));
}
