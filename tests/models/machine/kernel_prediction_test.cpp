#include "models/machine/kernel_rules.h"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

using Catch::Approx;
using models::KernelLimit;
using models::predict_kernel;

namespace {

const models::KernelMachine usual;  // a core of two FMA ports at 4 GHz with 40 GB/s; an H100 SXM

double share(const char* ladder, const char* rung) {
  const auto p = predict_kernel(ladder, rung, usual);
  REQUIRE(p);
  return p->bound.share;
}
struct Row {
  const char* rung;
  double expected, measured;
};
KernelLimit limit(const char* ladder, const char* rung) { return predict_kernel(ladder, rung, usual)->bound.limit; }

}  // namespace

// Measured on a Zen 5, one thread: 1, 2, 4, 8, 12 chains of AVX2 multiply-adds reach 16, 33, 69, 130, 135 GFLOP/s of
// 135.
TEST_CASE(
    "chains of multiply-adds: the bound is chains over latency times units, and within 4 % of what was measured") {
  for (const Row& row : {Row{"chains-1", 1.0, 16.0},
                         {"chains-2", 2.0, 33.0},
                         {"chains-4", 4.0, 69.0},
                         {"chains-8", 8.0, 130.0},
                         {"chains-12", 12.0, 135.0}}) {
    INFO(row.rung);
    CHECK(share("cpu-fma", row.rung) == Approx(std::min(1.0, row.expected / 8)));
    CHECK(share("cpu-fma", row.rung) == Approx(row.measured / 135).margin(0.04));
  }
  CHECK(limit("cpu-fma", "chains-2") == KernelLimit::latency);
}

// Measured on a Zen 5, N = 1536, share of the AVX2 peak: naive 0.6, ikj 6, SIMD 37, blocked 40, 6 x 16 tile 80, packed
// 96 %; 63 against 120 GFLOP/s of 135 when the sums spill.
TEST_CASE("matrix product on a core: each bound is above what was measured, and by less than a factor of three") {
  for (const Row& row : {Row{"naive", 1.0 / 64, 0.006},
                         {"ikj", 1.0 / 16, 0.06},
                         {"simd", 0.5, 0.37},
                         {"blocked", 0.5, 0.40},
                         {"tile", 1.0, 0.80},
                         {"spill", 0.5, 0.47},
                         {"packed", 1.0, 0.96}}) {
    INFO(row.rung);
    CHECK(share("cpu-sgemm", row.rung) == Approx(row.expected));
    CHECK(share("cpu-sgemm", row.rung) >= row.measured);
    CHECK(share("cpu-sgemm", row.rung) <= 3 * row.measured);
  }
  CHECK(limit("cpu-sgemm", "naive") == KernelLimit::latency);
  CHECK(limit("cpu-sgemm", "simd") == KernelLimit::loads);
  CHECK(limit("cpu-sgemm", "spill") == KernelLimit::stores);
  CHECK(limit("cpu-sgemm", "tile") == KernelLimit::arithmetic);
}

TEST_CASE("against AVX-512's roof an AVX2 kernel reaches half, against its own all of it") {
  models::KernelMachine wide;
  wide.core.lanes = 16;
  CHECK(predict_kernel("cpu-sgemm", "packed", wide)->bound.share == Approx(0.5));
  CHECK(predict_kernel("cpu-sgemm", "avx512", wide)->bound.share == Approx(1));
}

// Stores that allocate their line: 3 bytes for 2 in a copy, 4 for 3 in the triad. Measured triad on a Zen 5: 39 against
// 53 GB/s = 0.74.
TEST_CASE("streams: ordinary stores read their line first; softmax is bound by its instructions") {
  CHECK(share("cpu-copy", "simd") == Approx(2.0 / 3));
  CHECK(share("cpu-copy", "streaming") == Approx(1));
  CHECK(share("cpu-triad", "simd") == Approx(39.0 / 53).epsilon(0.03));
  // Measured on the same machine, of 39 GB/s: expf 2.0, SIMD 20.8, online 13.7: the order, and online slower than three
  // passes.
  CHECK(share("cpu-softmax", "expf") == Approx(2.0 / 39).epsilon(0.05));
  CHECK(share("cpu-softmax", "online") < share("cpu-softmax", "simd"));
  CHECK(share("cpu-softmax", "online") == Approx(13.7 / 39).epsilon(0.06));
}

TEST_CASE("loads that wait for each other bring one line a latency; eight at once bring eight") {
  CHECK(share("cpu-latency", "huge-pages") == Approx(64 / 100e-9 / 40e9));
  CHECK(share("cpu-latency", "eight-chains") == Approx(8 * share("cpu-latency", "huge-pages")));
  CHECK(share("cpu-latency", "random") < share("cpu-latency", "huge-pages"));
  CHECK(share("cpu-latency", "sequential") == Approx(1));
}

// Measured on a Zen 5, one thread: int8 GEMV 4.01 times as fast as FP32 beyond the last cache.
TEST_CASE("a product that uses each weight once is as fast as its bytes: int8 four times FP32") {
  CHECK(share("cpu-gemv", "maddubs") / share("cpu-gemv", "fp32") == Approx(4.01).epsilon(0.02));
  CHECK(limit("cpu-gemv", "fp32") == KernelLimit::memory);
  CHECK(share("cpu-gemv", "vnni") == Approx(1));
  // Two loads a cycle for eight bytes of weights and as many floats of x: 32 GB/s at 4 GHz, of the memory's 40.
  CHECK(share("cpu-gemv", "dequant") == Approx(32.0 / 40));
  CHECK(limit("cpu-gemv", "dequant") == KernelLimit::issue);
}

// Sums on a Zen 5: 13 ns an addition where they share a line, 5 ns where they do not; each below what the rule allows,
// an addition through memory in 8 cycles (2 ns at 4 GHz) for a core that has the line.
TEST_CASE("sums in one line are at most as fast as one core, however many threads there are") {
  const double one_line = share("cpu-sum", "one-line"), padded = share("cpu-sum", "padded");
  CHECK(padded == Approx(8 * one_line));  // eight threads
  CHECK(one_line == Approx(share("cpu-sum", "one-thread") / 2));
  CHECK(4 / (one_line * usual.core.dram_bytes_per_s) == Approx(2e-9));
  CHECK(share("cpu-sum", "local") == Approx(std::min(1.0, 2 * padded)));
  CHECK(share("cpu-sum", "local-simd") == Approx(1));
}

// Measured on a Zen 5 from 16 KiB to 256 MiB: 1.2 ns in its first cache, 3.5 in the second, 13 in the last, 97 and 164
// in memory; none beats the rule.
TEST_CASE("a load that waits for the one before takes at least the latency of the cache that has it") {
  const auto wait_s = [](const char* rung) {
    models::KernelMachine core;
    core.core.dram_bytes_per_s = 256e9;  // of the first cache: two loads of 32 bytes a cycle
    return 64 / (predict_kernel("cpu-latency-sets", rung, core)->bound.share * 256e9);
  };
  CHECK(wait_s("4k") == Approx(4 / 4e9));
  CHECK(wait_s("16k") <= 1.2e-9);
  CHECK(wait_s("256k") == Approx(12 / 4e9));
  CHECK(wait_s("256k") <= 3.5e-9);
  CHECK(wait_s("16m") <= 13e-9);
  CHECK(wait_s("256m") == Approx(100e-9));
}

TEST_CASE("threads have their multiply-add units for themselves and share the memory") {
  CHECK(share("cpu-sgemm-threads", "1") == Approx(1.0 / 8));
  CHECK(share("cpu-sgemm-threads", "4") == Approx(0.5));
  CHECK(share("cpu-sgemm-threads", "all") == Approx(1));
  CHECK(limit("cpu-sgemm-threads", "2") == KernelLimit::threads);
  models::KernelMachine socket;
  socket.core.thread_bytes_per_s = 20e9;
  socket.core.dram_bytes_per_s = 100e9;
  CHECK(predict_kernel("cpu-triad-threads", "2", socket)->bound.share == Approx(0.4));
  CHECK(predict_kernel("cpu-triad-threads", "8", socket)->bound.limit == KernelLimit::memory);
  CHECK_FALSE(predict_kernel("cpu-triad-threads", "no such", socket));
}

// Transposes measured as shares of a copy: naive 32, tile 57, padded 90 % (sjang1594).
TEST_CASE("transpose: sectors, then one bank for a column, then the memory") {
  CHECK(share("cuda-transpose", "naive") == Approx(0.32).epsilon(0.2));
  CHECK(limit("cuda-transpose", "naive") == KernelLimit::sectors);
  CHECK(share("cuda-transpose", "tile") == Approx(0.57).epsilon(0.08));
  CHECK(limit("cuda-transpose", "tile") == KernelLimit::shared_memory);
  CHECK(share("cuda-transpose", "padded") == Approx(1));
  CHECK(share("cuda-transpose", "swizzled") == share("cuda-transpose", "padded"));
}

TEST_CASE("matrix product on a GPU: shares follow the wavefronts a multiply-add needs, in the published order") {
  CHECK(share("cuda-sgemm", "uncoalesced") == Approx(0.25 / 33));
  CHECK(share("cuda-sgemm", "coalesced") == Approx(0.125));
  double before = 0;
  for (const char* rung : {"uncoalesced", "coalesced", "shared", "register", "vector", "warp"}) {
    INFO(rung);
    const auto p = predict_kernel("cuda-sgemm", rung, usual);
    CHECK(p->bound.share > before);
    CHECK(p->published_peak_share > 0);
    CHECK(p->published_peak_share <= p->bound.share);  // a bound: an H100 did not pass it
    before = p->bound.share;
  }
  CHECK(before == Approx(1));
}

TEST_CASE("no kernel of memory on an H100 was faster than its bound") {
  for (const auto& [ladder, rungs] : std::map<std::string, std::vector<std::string>>{
           {"cuda-copy", {"scalar", "float4", "in_flight", "grid_stride"}},
           {"cuda-transpose", {"naive", "tile", "padded", "swizzled", "vector"}},
           {"cuda-reduction", {"interleaved", "sequential", "first_add", "shuffle", "grid_stride"}}})
    for (const std::string& rung : rungs) {
      INFO(ladder << " " << rung);
      const auto p = predict_kernel(ladder, rung, usual);
      CHECK(p->published_share > 0.1);
      CHECK(p->published_share <= p->bound.share);
    }
}

TEST_CASE("a sum on a GPU: Little's law over the life of a block, each rung at least as fast as the one before") {
  double before = 0;
  for (const char* rung : {"interleaved", "sequential", "first_add", "shuffle", "grid_stride"}) {
    INFO(rung);
    CHECK(share("cuda-reduction", rung) > before);
    before = share("cuda-reduction", rung);
  }
  CHECK(before == Approx(1));
  CHECK(limit("cuda-reduction", "interleaved") == KernelLimit::latency);
}

TEST_CASE(
    "through OpenGL the distance of neighbours decides the sectors, and what is counted is what CUDA's versions ask") {
  CHECK(share("gl-gather", "apart_32") == share("gl-gather", "apart_8"));
  CHECK(share("gl-gather", "apart_2") > share("gl-gather", "apart_8"));
  CHECK(share("gl-gather", "apart_1") == share("gl-copy", "scalar"));
  CHECK(limit("gl-gather", "apart_32") == KernelLimit::sectors);
  for (const char* rung : {"naive", "tile", "padded"})
    CHECK(share("gl-transpose", rung) == share("cuda-transpose", rung));
  CHECK(share("gl-sgemm", "naive") == share("cuda-sgemm", "coalesced"));
  CHECK(share("gl-sgemm", "register") == Approx(0.5));
  CHECK(share("gl-fma", "separate") == 0.5);
  CHECK(share("gl-fma", "vectors") == 1);
}

// An H100 starts a product of 16 x 8 x 16 in a cycle of one multiprocessor, an A100 one in two. Published: 6 % of the
// peak for WMMA on an H100.
TEST_CASE("tensor cores: what a fragment takes of shared memory is the share that is reached") {
  CHECK(share("cuda-bf16-gemm", "wmma") == Approx(1.0 / 16));
  CHECK(share("cuda-bf16-gemm", "mma") == Approx(1 / 12.5));
  CHECK(share("cuda-bf16-gemm", "ldmatrix") == share("cuda-bf16-gemm", "mma"));
  CHECK(share("cuda-bf16-gemm", "swizzle") == Approx(0.5));
  CHECK(limit("cuda-bf16-gemm", "swizzle") == KernelLimit::shared_memory);
  CHECK(share("cuda-bf16-gemm", "wgmma") == Approx(1 / 1.125));
  CHECK(share("cuda-attention", "mma") == Approx(1 / 16.5));
  CHECK(share("cuda-attention", "pipeline") == Approx(0.4));
  CHECK(share("cuda-attention", "naive") == Approx(0.25 / 8.75));
  models::KernelMachine a100;
  a100.gpu.tensor_flops_per_cycle = 2048;
  CHECK(predict_kernel("cuda-bf16-gemm", "pipeline", a100)->bound.share == Approx(1));
  CHECK(predict_kernel("cuda-bf16-gemm", "mma", a100)->bound.share == Approx(2 / 12.5));
  models::KernelMachine without;
  without.gpu.tensor_flops_per_cycle = 0;
  CHECK_FALSE(predict_kernel("cuda-bf16-gemm", "mma", without));
  CHECK(predict_kernel("cuda-attention", "online", without));
}

TEST_CASE("a kernel without a rule has no prediction, and no machine gives a share outside 0 to 1") {
  CHECK_FALSE(predict_kernel("cpu-sgemm", "no such rung", usual));
  CHECK_FALSE(predict_kernel("", "", usual));
  models::KernelMachine odd;
  odd.core.dram_bytes_per_s = 1e30;
  odd.core.clock_hz = 1;
  odd.gpu.dram_bytes_per_s = 1e30;
  for (const auto& [ladder, rung] : {std::pair<const char*, const char*>{"cpu-copy", "scalar"},
                                     {"cpu-latency", "random"},
                                     {"cuda-copy", "scalar"},
                                     {"cuda-reduction", "shuffle"}}) {
    const double s = predict_kernel(ladder, rung, odd)->bound.share;
    CHECK((s > 0 && s <= 1));
  }
}
