#include "models/machine/tiling.h"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <limits>
#include "tests/models/machine/tiled.h"
#include "tests/support/base/near.h"

using models::AlignmentRule;
using models::Schedule;
using models::TilingInputs;

using support::near;

namespace {

TilingInputs shape(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t tile_m, std::int64_t tile_n) {
  TilingInputs in{.m = m, .n = n, .k = k, .tile_m = tile_m, .tile_n = tile_n};
  in.misaligned_rate = 1;  // leaves alignment out of quantization cases
  return in;
}

}  // namespace

// 256 x 256 in tiles of 128 x 128 is 2 x 2 tiles; one more column makes it 2 x 3.
TEST_CASE("one column beyond a tile costs half as many tiles again") {
  const auto even = tiled(shape(256, 256, 4096, 128, 128));
  CHECK(even.tiles == 4);
  CHECK(even.tile_efficiency == 1);
  const auto odd = tiled(shape(256, 257, 4096, 128, 128));
  CHECK(odd.tiles_m == 2);
  CHECK(odd.tiles_n == 3);
  CHECK(odd.tiles == 6);
  CHECK(near(odd.tile_efficiency, 256.0 * 257 / (6 * 128 * 128)));
}

// 9 x 12 tiles of 256 x 128 are one full wave of the A100's 108 SMs; 9 x 13 are 117 tiles, so nine tiles get a wave of
// their own.
TEST_CASE("one column beyond a wave doubles the time") {
  const auto full = tiled(shape(2304, 1536, 4096, 256, 128));
  CHECK(full.tiles == 108);
  CHECK(full.waves == 1);
  CHECK(full.total_efficiency == 1);
  CHECK(near(full.compute_s, 2.0 * 2304 * 1536 * 4096 / 312e12));
  CHECK(near(full.effective_flops_per_s, 312e12));
  const auto over = tiled(shape(2304, 1537, 4096, 256, 128));
  CHECK(over.tiles == 117);
  CHECK(over.waves == 2);
  CHECK(near(over.wave_efficiency, 117.0 / 216));
  CHECK(near(over.compute_s, 2 * full.compute_s));
}

TEST_CASE("two blocks on an SM make waves twice as large and blocks half as fast") {
  TilingInputs in = shape(2304, 1536, 4096, 256, 128);
  in.tiles_per_sm = 2;
  const auto half_empty = tiled(in);
  CHECK(half_empty.waves == 1);
  CHECK(half_empty.wave_efficiency == 0.5);
  CHECK(near(half_empty.compute_s, 2 * tiled(shape(2304, 1536, 4096, 256, 128)).compute_s));
  in.n = 3072;  // 216 tiles
  CHECK(tiled(in).total_efficiency == 1);
}

TEST_CASE("efficiency is the product of its parts and gives the rate") {
  TilingInputs in = shape(1000, 3000, 1000, 128, 256);
  in.misaligned_rate = 0.5;
  const auto r = tiled(in);
  CHECK(r.tiles == 8 * 12);
  CHECK(near(r.depth_efficiency, 1000.0 / 1024));  // 16 steps of 64
  CHECK(near(r.wave_efficiency, 96.0 / 108));
  CHECK(r.alignment_bytes == 16);  // 1000 x 2 B = 125 x 16
  CHECK(near(r.total_efficiency, r.tile_efficiency * r.depth_efficiency * r.wave_efficiency * r.alignment_efficiency));
  CHECK(near(2.0 * 1000 * 3000 * 1000 / (312e12 * r.compute_s), r.total_efficiency));
}

TEST_CASE("along N the efficiency is a saw-tooth: highest at a full wave, lowest one column later") {
  TilingInputs in = shape(2304, 1, 4096, 256, 128);
  in.partly_aligned_rate = 1;
  std::int64_t best_n = 0, worst_n = 0;
  double best = 0, worst = 2;
  for (in.n = 1400; in.n <= 1700; ++in.n) {
    const double efficiency = tiled(in).total_efficiency;
    if (efficiency > best) {
      best = efficiency;
      best_n = in.n;
    }
    if (efficiency < worst) {
      worst = efficiency;
      worst_n = in.n;
    }
  }
  CHECK(best_n == 1536);
  CHECK(best == 1);
  CHECK(worst_n == 1537);
  CHECK(near(worst, 2304.0 * 1537 / (216 * 256 * 128)));
}

TEST_CASE("alignment is that of the worst row") {
  CHECK(models::alignment_of(4096, 4096, 4096, 2) == 128);
  CHECK(models::alignment_of(4096, 4097, 4096, 2) == 2);
  CHECK(models::alignment_of(4096, 4100, 4096, 2) == 8);
  CHECK(models::alignment_of(4096, 4104, 4096, 2) == 16);
  CHECK(models::alignment_of(4096, 4104, 4096, 1) == 8);  // INT8 needs multiples of 16
  CHECK(models::alignment_of(64, 64, 64, 0.5) == 32);
  CHECK(models::alignment_of(1, 64, 64, 0.5) == 1);
  CHECK(models::padded_size(4097, 2) == 4104);
  CHECK(models::padded_size(4096, 2) == 4096);
  CHECK(models::padded_size(4097, 1) == 4112);
  CHECK(models::padded_size(50257, 2, 128) == 50304);  // GPT-2's vocabulary
}

// V100: 125 TFLOP/s on Tensor Cores, 31.4 in FP16 without them; 80 SMs, 0.9 TB/s.
TEST_CASE("4097 to 4104: four times faster where alignment was required, less where it is only preferred") {
  TilingInputs in;
  in.n = 4097;
  in.sm_count = 80;
  in.peak_flops_per_s = 125e12;
  in.vector_flops_per_s = 31.4e12;
  in.bandwidth_bytes_per_s = 0.9e12;
  in.misaligned_rate = 0.67;  // assumed: of a V100 no run is known
  const auto required = models::padding_story(in, AlignmentRule::required);
  REQUIRE(required);
  CHECK(required->padded_n == 4104);
  CHECK(required->before.tiles == required->after.tiles);  // both 32 x 33: padding adds no tile
  CHECK(near(required->speedup, 125 / 31.4));
  const auto preferred = models::padding_story(in, AlignmentRule::preferred);
  REQUIRE(preferred);
  CHECK(near(preferred->speedup, 1 / in.misaligned_rate));
  CHECK(preferred->before.time_s < required->before.time_s);
  CHECK(preferred->after.time_s == required->after.time_s);
  in.misaligned_rate = 1;
  CHECK(models::padding_story(in, AlignmentRule::preferred)->speedup == 1);
}

// One token: A is one row of k elements, whose length m does not change. cuBLAS before 11 wanted m in multiples of 8,
// too.
TEST_CASE("the number of rows aligns nothing, except under the old rule") {
  TilingInputs in;
  in.m = 1;
  CHECK(tiled(in).alignment_bytes == 128);
  in.alignment_rule = AlignmentRule::required;
  CHECK(tiled(in).alignment_bytes == 2);
  CHECK(near(tiled(in).alignment_efficiency, 19.5 / 312));
}

// cuBLAS of CUDA 13.0 on an H100, BF16, M = K = 4096 (assets/measured/h100-gemm.json): at N = 4096 it reached 780
// TFLOP/s, at 4092 and 4094 both 282, at odd N from 80 to 106. So 8 and 4 bytes leave the same share.
TEST_CASE("below 16 bytes the library falls back twice: at 8 and 4 bytes, and at 2") {
  TilingInputs in;
  CHECK(near(models::alignment_efficiency(in, 8), 282.0 / 780, 0.01));
  CHECK(near(models::alignment_efficiency(in, 4), 282.0 / 780, 0.01));
  CHECK(near(models::alignment_efficiency(in, 2), 106.0 / 780, 0.05));
  in.misaligned_rate = 0.4;
  in.partly_aligned_rate = 0.7;
  CHECK(models::alignment_efficiency(in, 128) == 1);
  CHECK(models::alignment_efficiency(in, 16) == 1);
  CHECK(models::alignment_efficiency(in, 8) == 0.7);
  CHECK(models::alignment_efficiency(in, 4) == 0.7);
  CHECK(near(models::alignment_efficiency(in, 2), 0.4));
  CHECK(near(models::alignment_efficiency(in, 1), 0.4));
}

// One token through a 4096 x 4096 layer on an H100 SXM: 32 tiles of 16 x 128 for 132 SMs, each of which pulls 35 B a
// clock (64.05 GB/s).
TEST_CASE("small M: split-K and stream-K put all SMs to work on the weights") {
  TilingInputs in = shape(1, 4096, 4096, 16, 128);
  in.sm_count = 132;
  in.peak_flops_per_s = 989.4e12;
  in.bandwidth_bytes_per_s = 3.35e12;
  in.sm_bandwidth_bytes_per_s = 35 * 1.83e9;
  const double bytes = (4096.0 + 4096.0 * 4096 + 4096) * 2;
  const auto plain = tiled(in);
  CHECK(plain.tiles == 32);
  CHECK(near(plain.memory_s, bytes / (32 * 35 * 1.83e9)));
  CHECK(plain.time_s == plain.memory_s);

  in.schedule = Schedule::split_k;
  in.split = 4;
  const auto split = tiled(in);
  CHECK(split.work_units == 128);
  CHECK(split.reduction_bytes == 2 * 4 * 4096 * 4);
  CHECK(near(split.time_s, bytes / 3.35e12 + 131072 / 3.35e12));
  CHECK(plain.time_s / split.time_s > 1.6);

  in.schedule = Schedule::stream_k;
  const auto stream = tiled(in);
  // 32 tiles of 64 steps over 132 slots: 16 steps each, 128 shares, 127 borders of which every fourth is a tile edge.
  CHECK(stream.work_units == 128);
  CHECK(stream.reduction_bytes == 2 * (127 - 31) * 16 * 128 * 4);
  CHECK(stream.time_s < plain.time_s);
}

// The nine tiles of the second wave, spread: 117 tiles of 64 steps over 108 slots are 70 steps each in place of 128.
TEST_CASE("stream-K has no second wave to wait for") {
  TilingInputs in = shape(2304, 1537, 4096, 256, 128);
  const auto waves = tiled(in);
  in.schedule = Schedule::stream_k;
  const auto stream = tiled(in);
  CHECK(stream.waves == 1);
  CHECK(near(stream.compute_s / waves.compute_s, 70.0 / 128));
  CHECK(near(stream.wave_efficiency, 117.0 * 64 / (108 * 70)));
  CHECK(stream.time_s < waves.time_s);
  // A full wave has nothing to mend: the shares end at tile edges and no partial sums move.
  in.n = 1536;
  CHECK(tiled(in).reduction_bytes == 0);
  CHECK(tiled(in).total_efficiency == 1);
}

TEST_CASE("split-K that already fills the SMs only adds traffic") {
  TilingInputs in = shape(2304, 1536, 4096, 256, 128);
  const double before = tiled(in).time_s;
  in.schedule = Schedule::split_k;
  in.split = 2;
  const auto split = tiled(in);
  CHECK(split.waves == 2);
  CHECK(split.wave_efficiency == 1);
  CHECK(near(split.time_s, before + 2 * 2 * 2304 * 1536 * 4 / 2.039e12));
}

TEST_CASE("shapes that cannot be tiled are refused in words") {
  TilingInputs in;
  in.tile_n = 0;
  CHECK(models::tile_matmul(in).error == "tile_n is 0, but must be from 1 to 1,000,000,000.");
  in = {};
  in.schedule = Schedule::split_k;
  in.split = 65;
  CHECK(models::tile_matmul(in).error == "split is 65, but k has only 64 steps of tile_k to share.");
  in = {};
  in.m = in.n = in.k = 1000000000;
  in.tile_m = in.tile_n = in.tile_k = 1;
  CHECK(models::tile_matmul(in).error ==
        "The matmul has more tile steps than can be counted; make it smaller or its tiles larger.");
  in = {};
  in.misaligned_rate = std::numeric_limits<double>::quiet_NaN();
  CHECK(models::tile_matmul(in).error == "misaligned_rate must be above 0 and at most 1.");
  in.misaligned_rate = 1;
  in.partly_aligned_rate = 0;
  CHECK(models::tile_matmul(in).error == "partly_aligned_rate must be above 0 and at most 1.");
  in = {};
  in.sm_count = in.tiles_per_sm = 1000000000;
  CHECK(models::tile_matmul(in).error == "sm_count times tiles_per_sm must be at most 1e12.");
}
