#include <array>
#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <sstream>
#include <vector>

#include "models/gpu/gemm_tiling/gemm_study.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"

namespace gpu = models::gpu;
using gpu::GemmUnit;
using support::near;

namespace {

gpu::GemmTile tile_of(std::array<std::int64_t, 3> block, std::int64_t warp_m, std::int64_t warp_n) {
  return {.block_m = block[0], .block_n = block[1], .block_k = block[2], .warp_m = warp_m, .warp_n = warp_n};
}

/// An A100 of 80 GB: 312 TFLOP/s, 2.039 TB/s; L2 5.4 and shared memory 19.2 TB/s as gpu-benches measured.
gpu::GemmRates a100() {
  return {.sm = gpu::sm_limits(80),
          .sms = 108,
          .hbm_bytes_per_s = 2.039e12,
          .l2_bytes_per_s = 5.4e12,
          .shared_bytes_per_s = 19.2e12,
          .register_bytes_per_s = 19.2e12,
          .flops_per_s = 312e12};
}

}  // namespace

// Tiles read in the sources of siboehm's, leimao's, ThunderKittens', fast.cu's and CUTLASS's kernels, and the bytes
// that such tiles move.
TEST_CASE("gemm tiling: the traffic of the rungs of published ladders is exact at every gate") {
  std::ifstream file(support::data_file("gemm_ladder_traffic.csv"));
  std::string line;
  REQUIRE(std::getline(file, line));
  int rungs = 0;
  while (std::getline(file, line)) {
    CAPTURE(line);
    std::vector<std::int64_t> v;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) v.push_back(std::stoll(cell));
    REQUIRE(v.size() == 21);
    const gpu::GemmShape shape{v[0], v[1], v[2], static_cast<double>(v[3]), static_cast<double>(v[4])};
    gpu::GemmTile tile = tile_of({v[5], v[6], v[7]}, std::max<std::int64_t>(1, v[8]), std::max<std::int64_t>(1, v[9]));
    tile.thread_m = std::max<std::int64_t>(1, v[10]);
    tile.thread_n = std::max<std::int64_t>(1, v[11]);
    tile.cluster_m = v[12];
    tile.cluster_n = v[13];
    tile.unit = v[10] > 0 ? GemmUnit::fma : GemmUnit::wgmma;
    const gpu::GemmTraffic t = gpu::gemm_traffic(shape, tile, {});
    CHECK(t.flops == static_cast<double>(v[14]));
    CHECK(t.hbm_bytes == static_cast<double>(v[15]));
    CHECK(t.blocks == v[16]);
    CHECK(t.l2_bytes == static_cast<double>(v[17]));
    CHECK(t.l2_read_bytes == static_cast<double>(v[18] > 0 ? v[18] : v[17]));
    if (v[19] > 0) CHECK(t.shared_read_bytes == static_cast<double>(v[19]));
    if (v[20] > 0) CHECK(t.register_bytes == static_cast<double>(v[20]));
    ++rungs;
  }
  CHECK(rungs == 17);
}

// CUTLASS, include/cutlass/gemm/device/default_gemm_configuration.h and the tests of its default tiles.
TEST_CASE("gemm tiling: ten default tiles of CUTLASS need the shared memory, sums and intensities that they do") {
  struct Row {
    std::array<std::int64_t, 3> block;
    std::int64_t warp_m, warp_n, stages;
    double bytes, shared_bytes, accumulators, l2_intensity, shared_intensity;
  };
  constexpr std::array rows{Row{{128, 128, 8}, 32, 64, 2, 4, 16384, 64, 32, 10.667},
                            Row{{128, 128, 32}, 32, 64, 2, 1, 16384, 64, 128, 42.667},
                            Row{{128, 256, 32}, 64, 64, 2, 2, 49152, 128, 85.333, 32},
                            Row{{128, 256, 32}, 64, 64, 2, 2, 49152, 128, 85.333, 32},
                            Row{{128, 256, 64}, 64, 64, 2, 1, 49152, 128, 170.667, 64},
                            Row{{128, 256, 128}, 64, 64, 2, 0.5, 49152, 128, 341.333, 128},
                            Row{{128, 256, 512}, 64, 64, 2, 0.125, 49152, 128, 1365.333, 512},
                            Row{{128, 256, 64}, 64, 64, 3, 2, 147456, 128, 85.333, 32},
                            Row{{128, 128, 16}, 32, 64, 3, 8, 98304, 64, 16, 5.333},
                            Row{{128, 256, 64}, 64, 64, 3, 1, 73728, 128, 170.667, 64}};
  for (const Row& r : rows) {
    gpu::GemmTile tile = tile_of(r.block, r.warp_m, r.warp_n);
    tile.stages = r.stages;
    const gpu::GemmBudget budget = gpu::gemm_budget(tile, r.bytes, 40, *gpu::sm_limits(80));
    CHECK(budget.shared_bytes == r.shared_bytes);
    CHECK(budget.accumulators == r.accumulators);
    CHECK(budget.threads == 256);
    const gpu::GemmTraffic t = gpu::gemm_traffic({4096, 4096, 4096, r.bytes, r.bytes}, tile, {});
    CHECK(near(t.flops / t.l2_bytes, r.l2_intensity, 1e-3));
    CHECK(near(t.flops / t.shared_read_bytes, r.shared_intensity, 1e-3));
  }
}

// CUTLASS's profiler prints 180,355,072 bytes and 231,956,545,536 FLOPs, 2 m n of which are the epilogue's.
TEST_CASE("gemm tiling: the profiler's sample of CUTLASS moves the bytes that it prints") {
  const gpu::GemmShape shape{3456, 4096, 8192, 2, 4};
  const gpu::GemmTraffic t = gpu::gemm_traffic(shape, tile_of({256, 128, 32}, 64, 64), {});
  CHECK(t.hbm_bytes == 180355072);
  CHECK(t.flops + 2.0 * 3456 * 4096 == 231956545536);
  // 3,456 rows are thirteen and a half tiles: fourteen are computed and loaded.
  CHECK(t.blocks == 14 * 32);
  CHECK(near(gpu::gemm_padding(shape, tile_of({256, 128, 32}, 64, 64), 80), 14.0 * 256 / 3456, 1e-12));
}

TEST_CASE("gemm tiling: 147,456 bytes of three stages fit an SM of capability 8.0 and not one of 8.6") {
  gpu::GemmTile tile = tile_of({128, 256, 64}, 64, 64);
  const gpu::GemmBudget large = gpu::gemm_budget(tile, 2, 64, *gpu::sm_limits(80));
  CHECK(large.fit == gpu::GemmFit::fits);
  CHECK(large.occupancy.blocks == 1);
  CHECK(large.max_stages == 3);
  const gpu::GemmBudget small = gpu::gemm_budget(tile, 2, 64, *gpu::sm_limits(86));
  CHECK(small.fit == gpu::GemmFit::shared_memory);
  CHECK(small.max_stages == 2);
  // One warp for 128 x 64 would be 256 sums a thread, and thirty-three warps a block too many.
  CHECK(gpu::gemm_budget(tile_of({128, 128, 32}, 128, 64), 2, 64, *gpu::sm_limits(80)).fit == gpu::GemmFit::registers);
  CHECK(gpu::gemm_budget(tile_of({256, 256, 8}, 32, 32), 2, 64, *gpu::sm_limits(80)).fit == gpu::GemmFit::threads);
  // Hopper: two groups that multiply and one that loads; 128 x 256 is 128 sums a thread.
  gpu::GemmTile hopper = tile_of({128, 256, 64}, 64, 256);
  hopper.unit = GemmUnit::wgmma;
  const gpu::GemmBudget grouped = gpu::gemm_budget(hopper, 2, 64, *gpu::sm_limits(90));
  CHECK(grouped.threads == 384);
  CHECK(grouped.accumulators == 128);
  CHECK(grouped.max_stages == 4);  // 232,448 / (49,152 + 16)
  // Blackwell keeps sums in tensor memory: 512 columns of 128 lanes.
  hopper.block_m = 256;
  CHECK(gpu::gemm_budget(hopper, 2, 64, *gpu::sm_limits(100)).accumulators == 0);
  hopper.block_n = hopper.warp_n = 512;
  hopper.block_k = 16;
  CHECK(gpu::gemm_budget(hopper, 2, 64, *gpu::sm_limits(100)).fit == gpu::GemmFit::tensor_memory);
}

TEST_CASE("gemm tiling: on an A100 tiles of 128 wait for Tensor Cores, and tiles of 64 for L2 with HBM idle") {
  const gpu::GemmShape shape;
  gpu::GemmTile tile;
  const auto large = gpu::study_gemm(shape, tile, {}, a100(), {});
  REQUIRE(large);
  CHECK(large->slowest == gpu::GemmGate::arithmetic);
  CHECK(near(large->gate_s, 137438953472.0 / 312e12, 1e-12));
  CHECK(near(large->at(gpu::GemmGate::l2).time_s, 2147483648.0 / 5.4e12, 1e-12));
  CHECK(near(large->at(gpu::GemmGate::shared).intensity, 64.0 / 3, 1e-12));
  // 1,024 tiles for 108 SMs: some get ten.
  CHECK(large->slots == 108);
  CHECK(large->tiling.waves == 10);
  CHECK(near(large->time_s, large->gate_s * 10 * 108 / 1024, 1e-12));
  tile.block_m = tile.block_n = 64;
  const auto small = gpu::study_gemm(shape, tile, {}, a100(), {});
  REQUIRE(small);
  CHECK(small->slowest == gpu::GemmGate::l2);
  CHECK(near(small->gate_s, 795.4e-6, 1e-3));
  CHECK(small->gate_s / small->at(gpu::GemmGate::hbm).time_s > 9);
  CHECK(small->at(gpu::GemmGate::shared).time_s == large->at(gpu::GemmGate::shared).time_s);
}

TEST_CASE("gemm tiling: an epilogue reads C and bias once, and a pass of its own reads and writes the sums again") {
  const double result = 4096.0 * 4096 * 2, operands = 2 * result;
  const auto traffic = [](const gpu::GemmEpilogue& e) { return gpu::gemm_traffic({}, {}, e); };
  CHECK(traffic({}).hbm_bytes == operands + result);
  CHECK(traffic({.reads_c = true}).hbm_bytes == operands + 2 * result);
  CHECK(traffic({.bias = true, .activation = true}).hbm_bytes == operands + result + 4096 * 2);
  const gpu::GemmTraffic apart = traffic({.reads_c = true, .activation = true, .fused = false});
  CHECK(apart.hbm_bytes == operands + result);
  CHECK(apart.pass_bytes == 3 * result);
  CHECK(traffic({.fused = false}).pass_bytes == 0);
}

// Each block counted on its own: which rows and columns it reads, and how often.
TEST_CASE("gemm tiling: bytes into shared memory, waves and padding are what walking over the blocks counts") {
  for (const std::int64_t m : {1, 100, 257}) {
    const gpu::GemmShape shape{m, 300, 70, 2, 2};
    const gpu::GemmTile tile = tile_of({64, 32, 32}, 48, 16);
    double loaded = 0, columns = 0, rows = 0, done = 0;
    const std::int64_t down = (m + 63) / 64, across = 10, slots = 7;
    for (std::int64_t block = 0; block < down * across; ++block) {
      loaded += (64 + 32) * 70 * 2;
      // Two warps of 48 rows over 64, two of 16 columns over 32; three steps of 32 elements.
      done += 96.0 * 32 * 96;
      const std::int64_t wave = block / slots * slots;
      columns += block == wave || block % down == 0;
      rows += block - wave < down;
    }
    CHECK(gpu::gemm_traffic(shape, tile, {}).l2_bytes == loaded);
    const double result = static_cast<double>(m) * 300 * 2;
    CHECK(near(gpu::gemm_wave_bytes(shape, tile, slots), (rows * 64 + columns * 32) * 70 * 2 + result, 1e-12));
    CHECK(near(gpu::gemm_padding(shape, tile, 80), done / (static_cast<double>(m) * 300 * 70), 1e-12));
  }
}

// wgmma of 64 x 64 reads 4 KiB in the 32 clocks that it takes, all that shared memory has; from 128 columns on it is
// less. Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture" (2024): the peak needs N of 64.
TEST_CASE("gemm tiling: wgmma reaches the peak from 64 columns on, where shared memory is just fast enough") {
  gpu::GemmRates h100{.sm = gpu::sm_limits(90),
                      .sms = 132,
                      .hbm_bytes_per_s = 3.35e12,
                      .l2_bytes_per_s = 1e15,
                      .shared_bytes_per_s = 128 * 132 * 1e9,
                      .register_bytes_per_s = 1,
                      .flops_per_s = 2 * 4096.0 / 2 * 132 * 1e9};
  gpu::GemmTile tile{.block_m = 128, .block_n = 64, .block_k = 64, .warp_m = 64, .warp_n = 64, .unit = GemmUnit::wgmma};
  CHECK(near(gpu::study_gemm({8192, 8192, 8192, 2, 2}, tile, {}, h100, {})->at(gpu::GemmGate::shared).time_s,
             gpu::study_gemm({8192, 8192, 8192, 2, 2}, tile, {}, h100, {})->at(gpu::GemmGate::arithmetic).time_s,
             1e-12));
  tile.warp_n = 32;
  CHECK(gpu::study_gemm({8192, 8192, 8192, 2, 2}, tile, {}, h100, {})->slowest == gpu::GemmGate::shared);
  tile.warp_n = tile.block_n = 128;
  CHECK(gpu::study_gemm({8192, 8192, 8192, 2, 2}, tile, {}, h100, {})->slowest == gpu::GemmGate::arithmetic);
}

TEST_CASE("gemm tiling: few tiles leave SMs idle, and splitting the depth brings them in") {
  const gpu::GemmShape shape{128, 4096, 4096, 2, 2};
  const gpu::GemmTile tile;
  const auto plain = gpu::study_gemm(shape, tile, {}, a100(), {});
  const auto split = gpu::study_gemm(shape, tile, {}, a100(), {.schedule = models::Schedule::split_k, .splits = 4});
  const auto stream = gpu::study_gemm(shape, tile, {}, a100(), {.schedule = models::Schedule::stream_k});
  REQUIRE((plain && split && stream));
  CHECK(near(plain->tiling.wave_efficiency, 32.0 / 108, 1e-12));
  CHECK(split->tiling.work_units == 128);
  CHECK(split->tiling.reduction_bytes == 2.0 * 4 * 128 * 4096 * 4);
  CHECK(split->time_s < plain->time_s);
  CHECK(stream->time_s < plain->time_s);
  CHECK(plain->traffic.l2_bytes == split->traffic.l2_bytes);
}

TEST_CASE("gemm tiling: chips without an NVIDIA SM, a clock or the unit are refused with what to choose") {
  models::Chip chip{.name = "Some chip",
                    .architecture = "Ampere sm_80",
                    .memory_bandwidth_bytes_per_s = 1e12,
                    .compute_units = 10,
                    .boost_clock_hz = 1e9};
  chip.dense_peak_flops_per_s[static_cast<std::size_t>(models::Format::fp16)] = 1e14;
  const auto rates = gpu::gemm_rates(chip, GemmUnit::mma, 2);
  REQUIRE(rates);
  CHECK(rates->format == models::Format::fp16);
  CHECK(rates->l2_bytes_per_s == 35 * 10 * 1e9);
  CHECK(rates->shared_bytes_per_s == 128 * 10 * 1e9);
  CHECK_FALSE(rates->l2_measured);
  CHECK(gpu::gemm_rates(chip, GemmUnit::mma, 1)->format == models::Format::fp16);  // widened
  CHECK(gpu::gemm_rates(chip, GemmUnit::mma, 4).error.find("states no peak of Tensor Cores") != std::string::npos);
  CHECK(gpu::gemm_rates(chip, GemmUnit::fma, 4).error.find("its FMA pipes") != std::string::npos);
  CHECK(gpu::gemm_rates(chip, GemmUnit::wgmma, 2).error.find("choose fragments in registers") != std::string::npos);
  chip.boost_clock_hz = {};
  CHECK(gpu::gemm_rates(chip, GemmUnit::mma, 2).error.find("no clock") != std::string::npos);
  chip.architecture = "CDNA 3";
  CHECK(gpu::gemm_rates(chip, GemmUnit::mma, 2).error.find("choose a V100") != std::string::npos);
}

// 63 to 65 % on H100s (published kernels; Luo et al. 2024, 62.9 % on average); half of it on a B200 is an assumption.
TEST_CASE("gemm tiling: mma.sync is priced at what it reaches of a peak that is wgmma's, and FP64 at all of it") {
  CHECK(gpu::instruction_share(GemmUnit::mma, 2, 90) == 0.65);
  CHECK(gpu::instruction_share(GemmUnit::mma, 2, 100) == 0.325);
  CHECK(gpu::instruction_share(GemmUnit::mma, 8, 90) == 1);
  for (const int capability : {70, 80, 89, 120}) CHECK(gpu::instruction_share(GemmUnit::mma, 2, capability) == 1);
  CHECK(gpu::instruction_share(GemmUnit::wgmma, 2, 90) == 1);
  models::Chip chip{.name = "Some chip",
                    .architecture = "Hopper sm_90",
                    .memory_bandwidth_bytes_per_s = 3e12,
                    .compute_units = 132,
                    .boost_clock_hz = 1e9};
  chip.dense_peak_flops_per_s[static_cast<std::size_t>(models::Format::bf16)] = 1e15;
  CHECK(near(gpu::gemm_rates(chip, GemmUnit::mma, 2)->flops_per_s, 6.5e14, 1e-12));
  CHECK(gpu::gemm_rates(chip, GemmUnit::mma, 2)->peak_flops_per_s == 1e15);
  CHECK(gpu::gemm_rates(chip, GemmUnit::wgmma, 2)->flops_per_s == 1e15);
  CHECK(near(gpu::gemm_rates(chip, GemmUnit::mma, 2, 0.4)->flops_per_s, 4e14, 1e-12));
  CHECK(gpu::gemm_rates(chip, GemmUnit::wgmma, 2, 0.4)->flops_per_s == 1e15);
  CHECK_FALSE(gpu::gemm_rates(chip, GemmUnit::mma, 2)->instruction_assumed);
  chip.architecture = "Blackwell sm_100";
  CHECK(gpu::gemm_rates(chip, GemmUnit::mma, 2)->instruction_assumed);
}
