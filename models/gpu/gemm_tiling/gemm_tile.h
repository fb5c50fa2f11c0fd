#pragma once
#include <cstdint>

/// A matmul cut into block, warp and thread tiles, and what each cut makes pass between the levels of a GPU's memory.
/// The hierarchy is that of CUTLASS ("Efficient GEMM in CUDA", media/docs/cpp/efficient_gemm.md).
namespace models::gpu {

/// Who multiplies, and where it takes its operands from.
enum class GemmUnit : std::uint8_t {
  fma,    ///< the FMA pipes: each thread holds a tile of sums and reads its operands from shared memory
  mma,    ///< Tensor Cores fed from registers (mma.sync): a warp loads fragments first
  wgmma,  ///< Tensor Cores fed from shared memory (wgmma of Hopper, tcgen05 of Blackwell): no fragments of A and B
};
inline constexpr int gemm_unit_count = 3;

/// C[m,n] = A[m,k] B[k,n].
struct GemmShape {
  std::int64_t m = 4096, n = 4096, k = 4096;
  double element_bytes = 2;  ///< an element of A and B
  double output_bytes = 2;   ///< an element of C and D
};

struct GemmTile {
  std::int64_t block_m = 128, block_n = 128, block_k = 32;
  std::int64_t warp_m = 64, warp_n = 32;    ///< for wgmma what a group of four warps makes
  std::int64_t thread_m = 8, thread_n = 8;  ///< for fma alone
  std::int64_t stages = 3;                  ///< buffers of A and B in shared memory
  std::int64_t cluster_m = 1, cluster_n = 1;
  GemmUnit unit = GemmUnit::mma;
};

/// What is done to the sums before they are written.
struct GemmEpilogue {
  bool reads_c = false;  ///< beta is not 0
  bool bias = false;     ///< a vector of n, added to each row
  bool activation = false;
  bool fused = true;  ///< false: by an element-wise kernel of its own afterwards
  bool any() const { return reads_c || bias || activation; }
};

/// Bytes at every gate. Intensities are flops over them.
struct GemmTraffic {
  std::int64_t blocks = 0;  ///< tiles of C: ceil(m / block_m) ceil(n / block_n)
  double flops = 0;         ///< 2 m n k
  double hbm_bytes = 0;     ///< each matrix once, and what a fused epilogue reads
  double pass_bytes = 0;    ///< what an epilogue that is not fused reads and writes
  /// Into shared memory: blocks (block_m + block_n) k element_bytes. Tiles over an edge count whole.
  double l2_bytes = 0;
  double l2_read_bytes = 0;      ///< Out of L2: less where a cluster's blocks share a tile by multicast.
  double shared_read_bytes = 0;  ///< m n k (1 / warp_m + 1 / warp_n) element_bytes: different bytes that a warp reads
  double register_bytes = 0;     ///< fma: m n k (1 / thread_m + 1 / thread_n) element_bytes land in lanes; else 0
};
/// Sizes must be at least 1.
GemmTraffic gemm_traffic(const GemmShape& shape, const GemmTile& tile, const GemmEpilogue& epilogue);

/// Rows, columns and depth of one instruction of the unit: 16 x 8 for mma.sync, 64 x 8 for wgmma, 128 x 8 for tcgen05
/// (`capability` of 100 to 119), each 32 bytes deep (PTX ISA, "Matrix shape"); 1 x 1 x 1 for fma. The columns of wgmma
/// and tcgen05 are the least step; one instruction takes up to 256.
struct GemmInstruction {
  std::int64_t m = 1, n = 1, k = 1;
};
GemmInstruction gemm_instruction(GemmUnit unit, double element_bytes, int capability);

/// Warps of a block that multiply, or groups of four warps for wgmma; warp tiles over the block's edge count whole.
std::int64_t gemm_warps(const GemmTile& tile);

/// Multiply-adds done over those wanted, 1 or more: tiles, warp tiles, instructions and steps over an edge are computed
/// whole.
double gemm_padding(const GemmShape& shape, const GemmTile& tile, int capability);

/// Bytes from main memory where L2 holds what the `slots` blocks of one wave share and nothing from wave to wave;
/// blocks are dealt down the columns of C. The most that hbm_bytes can be with such an order.
double gemm_wave_bytes(const GemmShape& shape, const GemmTile& tile, std::int64_t slots);

}  // namespace models::gpu
