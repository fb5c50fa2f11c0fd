#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "models/base/result.h"

/// How many blocks of a kernel an NVIDIA SM holds at once.
namespace models::gpu {

/// What one SM of a compute capability has. CUDA C++ programming guide, "Compute capabilities"; allocation units as in
/// cuda_occupancy.h of CUDA 13.0.
struct SmLimits {
  int capability = 0;  ///< 90 is sm_90
  std::int64_t threads = 2048, blocks = 32;
  std::int64_t shared_bytes = 0;        ///< at the largest carve-out
  std::int64_t block_shared_bytes = 0;  ///< The most that one block can have when it opts in.
  std::int64_t reserved_bytes = 0;      ///< Shared memory that the system takes of each block.
  std::int64_t shared_unit_bytes = 128;
  std::int64_t barriers = 0;           ///< 0: no limit
  std::span<const int> carveouts_kib;  ///< what shared memory can be set to, ascending

  static constexpr std::int64_t registers = 65536;  ///< One SM has so many, and one block gets at most as many.
  static constexpr std::int64_t thread_registers = 255;
};
/// Null where the capability is not known (7.0 to 12.1 are).
const SmLimits* sm_limits(int capability);
/// The capability in a text like "Hopper sm_90"; nothing where there is none.
std::optional<int> capability_in(std::string_view architecture);

/// What a block of the kernel asks for.
struct BlockNeeds {
  std::int64_t threads = 256;
  std::int64_t registers = 32;  ///< a thread
  std::int64_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  /// What cudaFuncAttributeMaxDynamicSharedMemorySize was set to; 0: a block may have 48 KiB.
  std::int64_t max_dynamic_shared_bytes = 0;
  int carveout_percent = -1;  ///< preferred share of shared memory; -1: the driver's choice, the most
  std::int64_t barriers = 1;
};

enum class OccupancyLimit : std::uint8_t { warps, registers, shared_memory, blocks, barriers };
inline constexpr int occupancy_limit_count = 5;

struct SmOccupancy {
  std::int64_t blocks = 0;  ///< resident on one SM; 0: the kernel cannot be launched
  std::int64_t warps = 0;
  double share = 0;  ///< Resident warps over those that an SM holds, 0 to 1.
  std::int64_t by_registers = 0, by_warps = 0, by_blocks = 0;
  std::int64_t by_shared = -1, by_barriers = -1;  ///< -1: no limit
  std::int64_t block_registers = 0;               ///< as allocated
  std::int64_t block_shared_bytes = 0;            ///< as allocated, the system's part included
  OccupancyLimit limit = OccupancyLimit::warps;   ///< the scarcest
};
/// The rule of cuda_occupancy.h (CUDA 13.0). Registers come in units of 256 for a warp, and each of the four
/// sub-partitions has a quarter of them; shared memory comes in units, and the carve-out is raised until a block fits.
/// Infeasible: no threads or more than 1,024, negative sizes.
Result<SmOccupancy> occupancy(const SmLimits& sm, const BlockNeeds& block);

}  // namespace models::gpu
