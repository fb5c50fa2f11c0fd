#pragma once
#include <cstdint>
#include <span>
#include <vector>

/// Wavefronts of one request of a warp to shared memory, and in which of them each lane is served: shared_access of
/// models/gpu/access, lane by lane.
namespace models::gpu {

struct BankCost {
  int wavefronts = 0;
  int ideal = 0;               ///< were the words spread evenly over the banks
  std::vector<int> wavefront;  ///< the one of each lane's first word, from 0 over all phases
};
/// One address in bytes a lane, at most 32, each a multiple of the width: 2, 4, 8 or 16 bytes a lane. All lanes go at
/// once up to 4 bytes, 16 at a time at 8, 8 at a time at 16. Nothing where one is no multiple of it.
BankCost bank_cost(std::span<const std::int64_t> addresses, int width_bytes);

}  // namespace models::gpu
