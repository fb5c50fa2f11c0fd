#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/gpu/access/expression.h"

/// What one load or store of a warp costs: sectors of global memory, wavefronts of shared memory. Compute capability 6
/// and later. CUDA C++ programming guide and best practices guide, "Device memory accesses", "Shared memory".
namespace models::gpu {

inline constexpr std::int64_t sector_bytes = 32;  ///< Global memory is fetched in these.
inline constexpr std::int64_t line_bytes = 128;   ///< what a tag of the caches stands for: four sectors
inline constexpr std::int64_t inactive_lane = -1;
inline constexpr int shared_banks = 32;
inline constexpr std::int64_t bank_bytes = 4;
inline constexpr std::int64_t address_most = std::int64_t{1} << 48;

/// The byte address of each lane; inactive_lane where it takes no part.
using LaneAddresses = std::array<std::int64_t, warp_lanes>;

/// 1, 2, 4, 8 or 16: what one lane can move with one instruction.
bool width_admissible(std::int64_t width_bytes);
/// Fails where the width is none, or an address is negative (other than inactive_lane), beyond address_most or no
/// multiple of the width: such an instruction faults and has no cost. The sentence names the lane.
Status check_access(const LaneAddresses& addresses, std::int64_t width_bytes);

/// Evaluates the index in the 32 threads of a warp (warp `warp` of block `block`): base + element x index. Lanes beyond
/// the block's last thread are off. Negative indices are refused.
Result<LaneAddresses> lane_addresses(const IndexExpression& index, const BlockShape& shape, std::int64_t block,
                                     std::int64_t warp, std::int64_t element_bytes, std::int64_t base_bytes = 0);
/// "0, 4, 8, -1": 1 to 32 byte addresses between commas, blanks or lines; -1 or `off` is an inactive lane, and so are
/// the lanes that are not given.
Result<LaneAddresses> read_addresses(std::string_view text);

/// A request to global memory.
struct GlobalAccess {
  int sectors = 0, lines = 0;        ///< distinct
  int active = 0;                    ///< lanes
  std::int64_t requested_bytes = 0;  ///< what the active lanes ask for, doubles counted
  std::int64_t useful_bytes = 0;     ///< distinct bytes
  std::int64_t fetched_bytes = 0;    ///< 32 a sector
  double efficiency = 1;             ///< useful over fetched; 1 where nothing is fetched
  /// Numbers (address / 32, address / 128), ascending; the first `sectors` and `lines` count.
  std::array<std::int64_t, warp_lanes> sector_ids{}, line_ids{};
};
/// Order and doubles do not matter; a store that writes a part of a sector costs it too. Fails as check_access.
Result<GlobalAccess> global_access(const LaneAddresses& addresses, std::int64_t width_bytes);
/// Several requests, as the warps of a block make them, each sector fetched once for all: L1 still holds what a warp
/// before has fetched.
struct BlockAccess {
  std::int64_t asked_sectors = 0;  ///< the sum of the requests' own
  std::int64_t sectors = 0;        ///< distinct
  std::int64_t useful_bytes = 0;   ///< distinct bytes

  std::int64_t ideal_sectors() const { return (useful_bytes + sector_bytes - 1) / sector_bytes; }
};
/// The addresses passed check_access. `sector_ids`, where given, gets the distinct ones, ascending.
BlockAccess block_access(std::span<const LaneAddresses> requests, std::int64_t width_bytes,
                         std::vector<std::int64_t>* sector_ids = nullptr);

/// A word of shared memory that a phase reads or writes, once however many lanes want it.
struct SharedWord {
  std::int64_t word = 0;    ///< address / 4
  std::uint32_t lanes = 0;  ///< that want it, a bit each
  std::int8_t bank = 0;     ///< word % 32
  std::int8_t phase = 0;
  std::int8_t wavefront = 0;  ///< in its phase: words of one bank stand behind each other in the order of their lanes
};
/// A request to shared memory. Lanes go in phases: all 32 at once up to 4 bytes, halves of 16 lanes at 8 bytes,
/// quarters of 8 lanes at 16; a phase takes as many wavefronts as the bank with most distinct words, none where all its
/// lanes are off. An upper bound: hardware may merge two phases of 8 or 16 bytes whose lanes want the same words.
struct SharedAccess {
  int wavefronts = 0;  ///< the sum over the phases
  int ideal = 0;       ///< were the words spread evenly over the banks
  int phases = 1;      ///< 1, 2 or 4
  int active = 0;      ///< lanes
  std::array<int, 4> phase_wavefronts{};
  std::array<int, 4> phase_words{};  ///< distinct
  int word_count = 0;
  std::array<SharedWord, 4 * warp_lanes> words{};  ///< by phase, in the order of their lanes

  int excess() const { return wavefronts - ideal; }
};
/// Fails as check_access.
Result<SharedAccess> shared_access(const LaneAddresses& addresses, std::int64_t width_bytes);

}  // namespace models::gpu
