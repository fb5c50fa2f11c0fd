#pragma once
#include <array>
#include <cstdint>

#include "models/base/result.h"
#include "models/gpu/gemm_tiling/gemm_tile.h"
#include "models/gpu/occupancy.h"
#include "models/machine/hardware.h"
#include "models/machine/tiling.h"

/// The gates that a tiled matmul's bytes pass, how long each takes on a chip, and what a block needs of an SM.
namespace models::gpu {

/// From the memory to the arithmetic. `registers` counts for the FMA pipes alone.
enum class GemmGate : std::uint8_t { hbm, l2, shared, registers, arithmetic };
inline constexpr std::size_t gemm_gate_count = 5;

/// What a chip lets through at each gate.
struct GemmRates {
  const SmLimits* sm = nullptr;
  std::int64_t sms = 0;
  double sm_clocks_per_s = 0;  ///< cycles a second of all SMs together
  double hbm_bytes_per_s = 0;
  double l2_bytes_per_s = 0;  ///< measured where the catalog has it, else `l2_bytes_per_clock` an SM
  double shared_bytes_per_s = 0;
  double register_bytes_per_s = 0;  ///< what shared memory delivers to lanes: 4 bytes each for 32 lanes a clock
  double flops_per_s = 0;           ///< what the instruction reaches of `peak_flops_per_s`
  double peak_flops_per_s = 0;
  double instruction_share = 1;      ///< flops_per_s / peak_flops_per_s
  bool instruction_assumed = false;  ///< the share was measured on no such chip
  Format format =
      Format::bf16;  ///< in which it multiplies: the narrowest that is stated and not narrower than elements
  bool l2_measured = false, shared_measured = false;
  double l2_assumed = 0;  ///< bytes a clock and SM that were assumed; 0: measured
};
/// Shared memory has 32 banks of 4 bytes (CUDA C++ programming guide, "Shared memory"), measured at 126 of 128 bytes a
/// clock on an A100 (gpu-benches, gpu-cache). An SM pulled 35 bytes a clock from L2 on an A100 and an H100 PCIe
/// (gpu-benches, gpu-l2-cache); for chips without a measurement of their own that is an assumption. On Blackwell's data
/// center chips it is too low: published kernels pull 39 and more there (ThunderKittens, educational_b200, 731 TFLOP/s
/// with tiles of 128), and twice 32-byte sectors a clock are assumed.
inline constexpr double shared_bytes_per_clock = 128, l2_bytes_per_clock = 35, l2_bytes_per_clock_blackwell = 64;

/// What mma.sync reaches of a peak that is wgmma's: 63 to 65 % on an H100 (published kernels; Luo et al., "Benchmarking
/// and Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking", 2024, 62.9 % on average). The upper end is
/// taken, since times here are bounds.
inline constexpr double mma_share_hopper = 0.65;
/// On data-center Blackwell nobody has published it: as many multiply-adds a clock and SM as on Hopper are assumed, of
/// twice the peak (8,192 against 4,096 16-bit FLOPs a clock and SM). A published mma.sync kernel reached 409 TFLOP/s
/// on a B200, 18 % (gau-nernst/learn-cuda, 02e matmul).
inline constexpr double mma_share_blackwell = mma_share_hopper / 2;
/// The share of the chip's peak that an instruction of the unit can reach, 0 to 1: 1 but for mma.sync where the peak is
/// that of another instruction. FP64 has no other.
double instruction_share(GemmUnit unit, double element_bytes, int capability);

/// `mma_share` above 0 takes the place of instruction_share where the unit is mma.
/// Infeasible: no NVIDIA SM whose limits are known, no clock, count of SMs or bandwidth, no peak for such elements on
/// this unit, several chips in one, wgmma where there is none.
Result<GemmRates> gemm_rates(const Chip& chip, GemmUnit unit, double element_bytes, double mma_share = 0);

/// What keeps a block from running at all.
enum class GemmFit : std::uint8_t { fits, shared_memory, registers, threads, tensor_memory };

/// What one block asks of an SM.
struct GemmBudget {
  double stage_bytes = 0;   ///< (block_m + block_n) block_k element_bytes
  double shared_bytes = 0;  ///< stages of them
  double shared_limit_bytes = 0;
  std::int64_t threads = 0;
  double accumulators = 0;     ///< sums that a thread holds; 0 where they lie in tensor memory
  std::int64_t registers = 0;  ///< a thread that multiplies: sums and `other_registers`
  std::int64_t max_stages = 0;
  GemmFit fit = GemmFit::fits;
  SmOccupancy occupancy;  ///< empty where the block does not fit
};
/// `other_registers` are fragments, addresses and counters. wgmma adds a group of four warps that load, of 40 registers
/// each (CUTLASS, warp-specialized kernels), and 16 bytes of barriers a stage. On tcgen05 sums lie in tensor memory,
/// 512 columns of 128 lanes.
GemmBudget gemm_budget(const GemmTile& tile, double element_bytes, std::int64_t other_registers, const SmLimits& sm);

struct GemmGateTime {
  double bytes = 0;      ///< NaN for arithmetic
  double rate = 0;       ///< bytes/s, FLOP/s for arithmetic
  double intensity = 0;  ///< flops over bytes; NaN for arithmetic
  double time_s = 0;     ///< 0: nothing passes this gate
};

struct GemmOptions {
  Schedule schedule = Schedule::data_parallel;
  std::int64_t splits = 1;
  std::int64_t other_registers = 64;
};

struct GemmStudy {
  GemmTraffic traffic;
  GemmBudget budget;
  /// Tiles, waves and partial sums. Blocks that share an SM share its rate, so a wave is one tile an SM: the busiest
  /// SM's tiles are the time, however many it holds at once.
  TilingResult tiling;
  std::int64_t slots = 0;     ///< tiles of a wave: one an SM
  double padding = 1;         ///< multiply-adds done over those wanted
  double hbm_wave_bytes = 0;  ///< see gemm_wave_bytes
  std::array<GemmGateTime, gemm_gate_count> gates;
  GemmGate slowest = GemmGate::hbm;
  double gate_s = 0;  ///< at the slowest gate
  double pass_s = 0;  ///< the epilogue's own pass over main memory
  /// max(hbm, the slowest gate of the SMs / wave efficiency) + partial sums + the epilogue's pass
  double time_s = 0;

  const GemmGateTime& at(GemmGate gate) const { return gates[static_cast<std::size_t>(gate)]; }
};
/// A block that does not fit is studied as if an SM held one. Infeasible: what tile_matmul refuses.
Result<GemmStudy> study_gemm(const GemmShape& shape, const GemmTile& tile, const GemmEpilogue& epilogue,
                             const GemmRates& rates, const GemmOptions& options);

}  // namespace models::gpu
