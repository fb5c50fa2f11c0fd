#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
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
/// The capabilities that sm_limits knows, ascending.
std::span<const SmLimits> known_sm_limits();
/// 90 of "9.0" or "9", as the documents of CUDA and reports of profilers write a capability, blanks around it or not;
/// nothing of any other text. And back.
std::optional<int> read_capability(std::string_view text);
std::string capability_text(int capability);
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
  std::int64_t max_warps = 0, block_warps = 0;    ///< that an SM holds; that a block has
  std::int64_t warp_registers = 0;                ///< what one warp gets, as allocated
  /// Warps for which the registers suffice. A quarter of them belongs to each sub-partition, and what is left of a
  /// quarter is no use to a warp that needs more.
  std::int64_t register_warps = 0;
  std::int64_t shared_capacity_bytes = 0;   ///< what shared memory is set to, of which L1 has the rest
  std::int64_t block_shared_max_bytes = 0;  ///< the most that a block gets, the system's part included

  /// Blocks that this resource alone allows; -1: any number.
  std::int64_t by(OccupancyLimit resource) const;
};
/// The rule of cuda_occupancy.h (CUDA 13.0). Registers come in units of 256 for a warp, and each of the four
/// sub-partitions has a quarter of them; shared memory comes in units, and the carve-out is raised until a block fits.
/// Infeasible: no threads or more than 1,024, negative sizes.
Result<SmOccupancy> occupancy(const SmLimits& sm, const BlockNeeds& block);

/// What small changes of a block give. A value of -1 says that there is no such number.
struct OccupancyMargins {
  SmOccupancy register_less, register_more;  ///< with one register a thread less or more
  SmOccupancy byte_less;                     ///< with one byte of shared memory less
  SmOccupancy warp_less;                     ///< with one warp a block less
  std::int64_t registers_free_to = -1;       ///< the most that hold as many blocks as now
  std::int64_t registers_for_more = -1;      ///< the most that hold more blocks than now
  std::int64_t shared_for_more_bytes = -1;   ///< likewise bytes of a block, static and dynamic
};
/// Found by asking `occupancy` again. Infeasible where it is.
Result<OccupancyMargins> occupancy_margins(const SmLimits& sm, const BlockNeeds& block);
/// The same block with this much shared memory in all: dynamic memory gives way first.
BlockNeeds with_shared_bytes(BlockNeeds block, std::int64_t bytes);

}  // namespace models::gpu
