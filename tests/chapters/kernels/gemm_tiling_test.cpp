#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/kernels/gemm_tiling/lab.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace lab = chapters::kernels::gemm_tiling;

// An A100 of 80 GB: 312 TFLOP/s in BF16, 2.039 TB/s, L2 5.4 and shared memory 19.2 TB/s as measured.
TEST_CASE("gemm tiling: the first picture is 128 x 128 on an A100, where the Tensor Cores are just the slowest") {
  const LabPtr a = open_lab("kernels/gemm-tiling");
  compute(*a);
  CHECK(out(*a, "flops") == 137438953472);
  CHECK(out(*a, "hbm_bytes") == 100663296);
  CHECK(out(*a, "l2_bytes") == 2147483648);
  CHECK(out(*a, "shared_read_bytes") == 6442450944);
  CHECK(out(*a, "shared_bytes") == 49152);
  CHECK(out(*a, "l2_intensity") == 64);
  CHECK(out(*a, "blocks") == 1024);
  CHECK(choice_of(*a, "slowest_gate") == "tensor");
  CHECK(near(out(*a, "gate_s"), 440.5e-6, 1e-3));
  CHECK(near(out(*a, "l2_s"), 397.7e-6, 1e-3));
  CHECK(near(out(*a, "other_gate_s"), 795.4e-6, 1e-3));
  CHECK(choice_of(*a, "other_slowest") == "l2");
  CHECK(rows(*a, "gates") == 4);
  set(*a, "block_m", 64, "block_n", 64);
  compute(*a);
  CHECK(choice_of(*a, "slowest_gate") == "l2");
  CHECK(out(*a, "hbm_busy") < 6.5);
}

TEST_CASE("gemm tiling: the contract's inputs are enough for FP32 ladders, and say what lands in registers") {
  const LabPtr a = open_lab("kernels/gemm-tiling", R"({"m": 4096, "n": 4096, "k": 4096, "block_m": 64, "block_n": 64,
    "block_k": 8, "warp_m": 64, "warp_n": 64, "thread_m": 8, "thread_n": 1, "stages": 1, "element_bytes": 4,
    "chip": "rtx3090", "unit": "fma"})");
  compute(*a);
  CHECK(out(*a, "l2_bytes") == 8589934592);
  CHECK(out(*a, "register_bytes") == 309237645312);
  CHECK(choice_of(*a, "slowest_gate") == "registers");
}

TEST_CASE("gemm tiling: a kernel's name says the tile, and what is none is refused") {
  const LabPtr a = open_lab("kernels/gemm-tiling");
  set(*a, "kernel", "cutlass_tensorop_s16816gemm_f16_256x128_32x3_nn_align8", "m", 3456, "k", 8192);
  compute(*a);
  CHECK(out(*a, "hbm_bytes") == 180355072);
  CHECK(out(*a, "shared_bytes") == 73728);
  CHECK(out(*a, "blocks") == 448);
  CHECK(text_of(*a, "named").starts_with("256 × 128 × 32, 3 stages"));
  set(*a, "kernel", "my_gemm_kernel");
  CHECK(reason_of(*a).find("is no name of a CUTLASS kernel") != std::string::npos);
  set(*a, "kernel",
      "cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_void_bf16_128x128x64_2x1x1_0_tnn_align8_warpspecialized");
  CHECK(reason_of(*a).find("is for compute capability 9.0") != std::string::npos);
  choose(*a, "chip", "h100_sxm");
  compute(*a);
  CHECK(out(*a, "shared_bytes") == 7 * 32768);  // as many stages as fit
  CHECK(out(*a, "l2_read_bytes") < out(*a, "l2_bytes"));
}

TEST_CASE("gemm tiling: what does not fit says so and keeps its bytes, and what a chip has not is refused") {
  const LabPtr a = open_preset("kernels/gemm-tiling", "A stage too many");
  compute(*a);
  CHECK(choice_of(*a, "fit") == "shared_memory");
  CHECK(out(*a, "blocks_per_sm") == 0);
  CHECK(out(*a, "max_stages") == 3);
  CHECK(std::string(a->answer()).starts_with("This block cannot run: it needs `192 KiB`"));
  CHECK(out(*a, "l2_bytes") > 0);
  CHECK(std::isnan(out(*a, "time_s")));
  CHECK(std::isnan(out(*a, "arithmetic_s")));
  CHECK(choice_of(*a, "slowest_gate") == "none");
  set(*a, "stages", 3);
  compute(*a);
  CHECK(choice_of(*a, "fit") == "yes");
  choose(*a, "unit", "wgmma");
  CHECK(reason_of(*a).find("take no operands from shared memory") != std::string::npos);
  choose(*a, "unit", "mma");
  choose(*a, "chip", "mi300x");
  CHECK(reason_of(*a).find("choose a V100") != std::string::npos);
  const LabPtr split = open_lab("kernels/gemm-tiling", R"({"schedule": "split_k", "splits": 8, "k": 64})");
  CHECK(reason_of(*split).find("too few for 8 splits") != std::string::npos);
}

// 989.4 TFLOP/s in BF16: 137 GFLOP take 139 microseconds at the peak and 214 at 65 % of it.
TEST_CASE("gemm tiling: on an H100 mma.sync takes longer than wgmma, and the gates, the answer and the rates say so") {
  const LabPtr a = open_preset("kernels/gemm-tiling", "H100, mma.sync");
  compute(*a);
  CHECK(choice_of(*a, "slowest_gate") == "tensor");
  CHECK(out(*a, "instruction_share") == 65);
  CHECK(near(out(*a, "arithmetic_s"), out(*a, "flops") / (0.65 * out(*a, "peak_flops_per_s")), 1e-12));
  CHECK(out(*a, "peak_share") < 65.1);
  CHECK(text_of(*a, "rates_from").find("mma.sync at 65 % of the peak, measured on H100s") != std::string::npos);
  CHECK(std::string(a->answer()).starts_with("The Tensor Cores are the slowest gate"));
  set(*a, "mma_share", 40);
  compute(*a);
  CHECK(near(out(*a, "arithmetic_s"), out(*a, "flops") / (0.4 * out(*a, "peak_flops_per_s")), 1e-12));
  set(*a, "mma_share", 0);
  choose(*a, "chip", "b200_sxm");
  compute(*a);
  CHECK(out(*a, "instruction_share") == 32.5);
  CHECK(text_of(*a, "rates_from").find("32.5 % of the peak, assumed") != std::string::npos);
  choose(*a, "chip", "h100_sxm");
  set(*a, "kernel", "cutlass_80_tensorop_s16816gemm_f16_256x128_32x3_nn_align8");
  compute(*a);
  CHECK(out(*a, "instruction_share") == 65);
}

TEST_CASE("gemm tiling: what a kernel's name says is not asked for while there is one") {
  const LabPtr a = open_lab("kernels/gemm-tiling");
  const auto counts = [&](const char* key) { return chapters::holds(a->inputs().find(key)->spec.when, a->inputs()); };
  for (const char* key : {"block_m", "block_n", "block_k", "warp_m", "warp_n", "stages", "unit", "element_bytes"})
    CHECK(counts(key));
  set(*a, "kernel", "cutlass_80_simt_sgemm_256x128_8x4_nn_align1");
  for (const char* key : {"block_m", "block_n", "block_k", "warp_m", "warp_n", "stages", "unit", "element_bytes"})
    CHECK_FALSE(counts(key));
  CHECK(counts("m"));
  CHECK(counts("mma_share"));
}

TEST_CASE("gemm tiling: an epilogue of its own reads and writes the result once more") {
  const LabPtr a = open_preset("kernels/gemm-tiling", "Epilogue apart");
  compute(*a);
  const double result = 4096.0 * 4096 * 2;
  CHECK(out(*a, "pass_bytes") == 3 * result + 4096 * 2);
  const double apart_s = out(*a, "time_s");
  set(*a, "fused", 1);
  compute(*a);
  CHECK(out(*a, "hbm_bytes") == 4 * result + 4096 * 2);
  CHECK(near(apart_s - out(*a, "time_s"), (3 * result + 4096 * 2) / 2.039e12, 1e-6));
}

TEST_CASE("gemm tiling: the lanes of an instruction's sums are those of the PTX manual") {
  lab::Cut cut;
  CHECK(lab::lane_of(cut, 0, 0) == 0);
  CHECK(lab::lane_of(cut, 2, 2) == 9);
  CHECK(lab::lane_of(cut, 10, 3) == 9);
  CHECK(lab::lane_of(cut, 15, 7) == 31);
}

TEST_CASE("gemm tiling: each picture of the zoom lies beside the last, and shows a part of it") {
  lab::HeroLayout l;
  for (const widgets::Rect area : {widgets::Rect{{0, 0}, {1200, 700}}, widgets::Rect{{10, 10}, {570, 340}}})
    for (const std::int64_t m : {1, 4096, 60000}) {
      lab::Cut cut;
      cut.shape.m = m;
      lab::layout_hero(cut, area, {}, l);
      for (std::size_t i = 0; i < l.zoom.size(); ++i) {
        const lab::ZoomPicture& z = l.zoom[i];
        CHECK(z.square.width() > 0);
        CHECK(z.square.max.x <= area.max.x + 1);
        CHECK(z.square.max.y < l.race.min.y);
        CHECK(z.child.min.x >= z.square.min.x);
        if (i > 0) CHECK(z.a.min.x > l.zoom[i - 1].square.max.x);
      }
      CHECK(l.race.max.y <= area.max.y);
    }
}
