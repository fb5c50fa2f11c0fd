#pragma once
#include "models/base/result.h"

#include <cstdint>
#include <vector>

/// How a matmul is cut into tiles and waves, and what the cut wastes.
/// Tile and wave quantization and alignment: NVIDIA, "Matrix Multiplication Background User's Guide" (DU-09799-001,
/// 2023). Stream-K: Osama, Merrill, Cecka, Garland, Owens, "Stream-K: work-centric parallel decomposition for dense
/// matrix-matrix multiplication on the GPU", PPoPP 2023.
namespace models {

/// What happens to sizes whose rows are no multiple of 16 bytes.
enum class AlignmentRule : std::uint8_t {
  required,   ///< cuBLAS before 11 and cuDNN before 7.6.3: Tensor Cores are not used at all, the vector units do the
              ///< work
  preferred,  ///< since then: Tensor Cores are used, at a lower rate
};

/// How tiles are dealt to the SMs.
enum class Schedule : std::uint8_t {
  data_parallel,  ///< one tile for each thread block, in waves
  split_k,        ///< each tile's depth cut into `split` blocks whose partial sums are added in a second pass
  stream_k,  ///< every SM gets an equal share of all multiply steps; blocks that share a tile exchange partial sums
};

struct TilingInputs {
  std::int64_t m = 4096, n = 4096, k = 4096;  ///< C[m,n] = A[m,k] B[k,n]
  std::int64_t tile_m = 128, tile_n = 128, tile_k = 64;
  std::int64_t sm_count = 108;
  std::int64_t tiles_per_sm = 1;  ///< resident thread blocks: a wave is sm_count x tiles_per_sm tiles
  Schedule schedule = Schedule::data_parallel;
  std::int64_t split = 1;    ///< Parts that split_k cuts k into.
  double element_bytes = 2;  ///< Elements of A, B and C; partial sums are 4 bytes.
  double peak_flops_per_s = 312e12;
  double vector_flops_per_s = 19.5e12;  ///< what is left when Tensor Cores are not used
  double bandwidth_bytes_per_s = 2.039e12;
  /// What one SM can pull from L2; 0 leaves it out. About 35 B a clock in gpu-benches on A100 and H100 PCIe. With few
  /// tiles it is the limit.
  double sm_bandwidth_bytes_per_s = 0;
  AlignmentRule alignment_rule = AlignmentRule::preferred;
  /// Share of the Tensor Core rate when rows are aligned to 2 bytes, and to 4 or 8. Measured on an H100, cuBLAS of CUDA
  /// 13.0 in BF16, where only the rows of C were odd: 0.10 to 0.14 and 0.34 to 0.36 (assets/measured/h100-gemm.json).
  /// Other chips and libraries leave other shares: an assumption there.
  double misaligned_rate = 0.13, partly_aligned_rate = 0.36;
  bool operator==(const TilingInputs&) const = default;
};

struct TilingResult {
  std::int64_t tiles_m = 0, tiles_n = 0, tiles = 0;  ///< ceil(m / tile_m), ceil(n / tile_n), their product
  std::int64_t work_units = 0;  ///< thread blocks: tiles, tiles x split, or one for each slot of stream-K
  std::int64_t waves = 0;
  double tile_efficiency = 0;       ///< useful share of the computed output: m n / (tiles tile_m tile_n)
  double depth_efficiency = 0;      ///< useful share of the multiply steps along k
  double wave_efficiency = 0;       ///< busy share of the slots over all waves
  double alignment_efficiency = 0;  ///< share of the Tensor Core rate that the alignment leaves
  double total_efficiency = 0;      ///< their product: 2mnk / (peak x compute_s)
  /// Largest power of two, at most 128, that divides rows of n and k elements: those of A, B and C in row-major order.
  /// `required` looks at m as well, as cuBLAS did before 11.
  std::int64_t alignment_bytes = 0;
  double compute_s = 0, memory_s = 0, reduction_s = 0;
  double time_s = 0;                 ///< max(compute, memory) + reduction
  double effective_flops_per_s = 0;  ///< 2mnk / time_s
  double reduction_bytes = 0;        ///< partial sums written and read again
};

/// Infeasible: a size or count below 1, products beyond 2^53, a rate that is not above 0, a split deeper than k has
/// steps.
Result<TilingResult> tile_matmul(const TilingInputs& inputs);

/// Largest power of two, at most 128, that divides m, n and k elements of `element_bytes` (0.5 for 4-bit formats).
std::int64_t alignment_of(std::int64_t m, std::int64_t n, std::int64_t k, double element_bytes);
/// The same of the sizes that count under a rule.
std::int64_t alignment_under(const TilingInputs& inputs, AlignmentRule rule);
/// Share of the Tensor Core rate at an alignment: 1 from 16 bytes on. Below that `required` leaves vector / peak,
/// `preferred` leaves `partly_aligned_rate` at 8 and 4 bytes and `misaligned_rate` below: the library falls back to
/// kernels with narrower loads, and what they reach is measured, not derived.
double alignment_efficiency(const TilingInputs& inputs, std::int64_t alignment_bytes);
/// The next size whose rows are a multiple of `bytes`: 4097 in two bytes to 16 bytes is 4104.
std::int64_t padded_size(std::int64_t size, double element_bytes, std::int64_t bytes = 16);

struct PaddingStory {
  std::int64_t padded_n = 0;
  TilingResult before, after;
  double speedup = 0;  ///< time before / time after: the same useful work, the padding thrown away
};
/// The matmul at n and at n padded to a multiple of `bytes`, under one alignment rule.
Result<PaddingStory> padding_story(TilingInputs inputs, AlignmentRule rule, std::int64_t bytes = 16);

}  // namespace models
