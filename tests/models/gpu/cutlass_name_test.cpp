#include "models/gpu/gemm_tiling/cutlass_name.h"

#include <array>
#include <catch2/catch_test_macros.hpp>

namespace gpu = models::gpu;
using gpu::GemmUnit;

namespace {

struct Row {
  std::string_view name;
  std::array<std::int64_t, 3> block;
  std::int64_t stages;
  double element_bytes, output_bytes;
  std::array<std::int64_t, 2> warp;
  GemmUnit unit;
  int capability;
};

// Names that profilers and CUTLASS's own documents print.
constexpr std::array rows{
    Row{"cutlass_80_simt_sgemm_256x128_8x4_nn_align1", {256, 128, 8}, 4, 4, 4, {64, 64}, GemmUnit::fma, 80},
    Row{"cutlass_tensorop_s16816gemm_f16_256x128_32x3_nn_align8", {256, 128, 32}, 3, 2, 4, {64, 64}, GemmUnit::mma, 0},
    Row{"cutlass_tensorop_h16816gemm_128x256_32x3_tn_align8", {128, 256, 32}, 3, 2, 2, {64, 64}, GemmUnit::mma, 0},
    Row{"cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_nn_align8",
        {256, 128, 32},
        3,
        2,
        2,
        {64, 64},
        GemmUnit::mma,
        80},
    Row{"cutlass_80_tensorop_s1688gemm_128x256_16x3_nn_align4", {128, 256, 16}, 3, 4, 4, {64, 64}, GemmUnit::mma, 80},
    Row{"void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_bf16_64x64_64x6_tn_align8>(T1::Params)",
        {64, 64, 64},
        6,
        2,
        4,
        {32, 32},
        GemmUnit::mma,
        80},
    Row{"cutlass_tensorop_d884gemm_128x128_16x3_nn_align1", {128, 128, 16}, 3, 8, 8, {64, 64}, GemmUnit::mma, 0},
    Row{"cutlass_tensorop_tf32_s1688gemm_tf32_256x128_16x3_tt_align4",
        {256, 128, 16},
        3,
        4,
        4,
        {64, 64},
        GemmUnit::mma,
        0},
    Row{"cutlass_simt_sgemm_128x128_8x2_nn_align1", {128, 128, 8}, 2, 4, 4, {32, 64}, GemmUnit::fma, 0},
    Row{"cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_void_bf16_128x128x64_1x1x1_0_tnn_align8_warpspecialized_"
        "pingpong_epi_tma",
        {128, 128, 64},
        1,
        2,
        2,
        {64, 128},
        GemmUnit::wgmma,
        90},
    Row{"cutlass3x_sm90_tensorop_s64x256x16gemm_f16_f16_f32_void_f16_128x256x64_2x1x1_0_tnn_align8_warpspecialized_"
        "cooperative_epi_tma",
        {128, 256, 64},
        1,
        2,
        2,
        {64, 256},
        GemmUnit::wgmma,
        90},
    Row{"cutlass3x_sm90_tensorop_gemm_e4m3_e4m3_f32_bf16_bf16_64x128x128_2x1x1_4_tnt_align16_stream_k_warpspecialized",
        {64, 128, 128},
        4,
        1,
        2,
        {64, 128},
        GemmUnit::wgmma,
        90},
    Row{"cutlass3x_sm100_tensorop_s128x128x32gemm_f8_f8_f32_bf16_bf16_128x128x128_0x0x1_0_tnt_align16_1sm_epi_tma",
        {128, 128, 128},
        1,
        1,
        2,
        {128, 128},
        GemmUnit::wgmma,
        100}};

}  // namespace

TEST_CASE("cutlass names: tile, stages, operands and unit are those that the name says") {
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const auto k = gpu::parse_cutlass_name(row.name);
    CAPTURE(k.error);
    REQUIRE(k);
    CHECK(std::array{k->tile.block_m, k->tile.block_n, k->tile.block_k} == row.block);
    CHECK(k->tile.stages == row.stages);
    CHECK(k->element_bytes == row.element_bytes);
    CHECK(k->output_bytes == row.output_bytes);
    CHECK(std::array{k->tile.warp_m, k->tile.warp_n} == row.warp);
    CHECK(k->tile.unit == row.unit);
    CHECK(k->capability == row.capability);
  }
  const auto fused = gpu::parse_cutlass_name(rows[3].name);
  CHECK(fused->activation);
  CHECK(fused->instruction_k == 16);
  const auto multicast = gpu::parse_cutlass_name(rows[10].name);
  CHECK(multicast->tile.cluster_m == 2);
  CHECK(multicast->automatic_stages);
  CHECK(gpu::parse_cutlass_name(rows[11].name)->stream_k);
}

TEST_CASE("cutlass names: what is no such name, or is not counted here, is refused with where and what to do") {
  const auto why = [](std::string_view name) { return gpu::parse_cutlass_name(name).error; };
  const auto says = [&](std::string_view name, std::string_view words) {
    CAPTURE(name, why(name));
    CHECK(why(name).find(words) != std::string::npos);
  };
  says("", "is no name of a CUTLASS kernel");
  says("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_nn", "is no name of a CUTLASS kernel");
  says("cutlass_80_tensorop_s16816gemm_f16", "ends where a tile");
  says("cutlass_80_tensorop_s16816gemm_f16_128x", "where a tile such as \"128x256\" should stand");
  says("cutlass_80_tensorop_s16816gemm_f16_128x128_32", "where depth and stages");
  says("cutlass_80_tensorop_s16816fprop_optimized_f16_128x128_32x3", "an operation such as");
  says("cutlass_80_tensorop_s12345gemm_f16_128x128_32x3_nn", "instruction \"12345\"");
  says("cutlass_80_tensorop_z884gemm_32x16_16x3_tt_align1", "complex numbers");
  says("cutlass_80_sptensorop_s16832gemm_f16_128x128_64x3_nn", "sparse");
  says("cutlass_80_dp4a_igemm", "\"tensorop\" or \"simt\"");
  says("cutlass_80_tensorop_s16816gemm_f16_4096x128_32x3_nn", "edges are from 8 to 1,024");
  says("cutlass_80_tensorop_s16816gemm_f16_99999999999999999999x128_32x3_nn", "a tile such as");
  says("cutlass3x_sm100_tensorop_gemm_bf16_bf16_f32_void_bf16_256x256x64_2x2x1_0_ttn_align8_2sm", "two SMs");
  says("cutlass3x_sm100_tensorop_gemm_64x128f32xe4m3_1x128f32xe4m3_f32_f16_f16_64x128x128_1x1x1_0_nnn", "block-scaled");
  says("cutlass3x_sm90_tensorop_gemm_bf16_bf16_f32_void", "the type of A, B, sums, C and D");
  says("cutlass_" + std::string(500, 'x'), "longer than any");
  // Every beginning of a name is read or refused, never anything else.
  for (const Row& row : rows)
    for (std::size_t n = 0; n < row.name.size(); ++n) {
      const auto part = gpu::parse_cutlass_name(row.name.substr(0, n));
      CHECK((part || part.error.ends_with('.')));
    }
}
