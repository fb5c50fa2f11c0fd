#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "models/base/result.h"
#include "models/gpu/gemm_tiling/gemm_tile.h"

namespace models::gpu {

/// What the name of a CUTLASS kernel says of its tile.
struct CutlassKernel {
  std::string name;          ///< without what stands around it
  int capability = 0;        ///< 80 of "cutlass_80_..."; 0: the name says none
  double element_bytes = 2;  ///< an element of A and B
  double output_bytes = 2;   ///< an element of D
  GemmTile tile;             ///< the warp tile is what CUTLASS's library takes for such a block
  std::int64_t instruction_m = 0, instruction_n = 0, instruction_k = 0;  ///< 0: the name says none
  bool automatic_stages = false;                                         ///< as many stages as fit; `tile.stages` is 1
  bool stream_k = false, activation = false;
};

/// Reads names of CUTLASS 2.x (cutlass_tensorop_h16816gemm_128x256_32x3_tn_align8, with or without a compute
/// capability) and 3.x (cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_void_f16_128x128x64_2x1x1_0_tnn_align8_...),
/// alone or within what a profiler prints around them. Refused, each with what is wrong: other names, sparse, complex
/// and block-scaled operands, convolutions, tiles that two SMs share, sizes out of range.
/// Names: CUTLASS, python/cutlass_library/gemm_operation.py.
Result<CutlassKernel> parse_cutlass_name(std::string_view text);

}  // namespace models::gpu
