#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/memory/allocator_replay.h"

/// A recording of PyTorch's caching allocator: torch.cuda.memory._snapshot() as JSON.
namespace models::memory {

struct AllocatorSnapshot {
  AllocatorList list;      ///< the recorded history; owners are the innermost Python frames that took most
  AllocatorConfig config;  ///< The file's `allocator_settings` where it has them; capacity without a limit.
  std::vector<InitialSegment> initial;            ///< before the first entry, reconstructed backwards from the end
  std::vector<std::uint32_t> initial_owners;      ///< by id of the initial blocks: place in list.owners
  std::vector<std::uint64_t> placement;           ///< where cudaMalloc put the segments of the history
  std::vector<std::uint64_t> recorded_addresses;  ///< The address of each allocation of `list`, in order.
  std::vector<SegmentView> end;                   ///< the segments of the file, by address
  std::uint64_t reserved_bytes = 0, allocated_bytes = 0, active_bytes = 0;  ///< Sums over the file's segments.
  std::size_t recorded_ooms = 0;
  bool is_list = false;     ///< a list of events alone, without a recorded state
  bool expandable = false;  ///< expandable segments or private pools: addresses are not judged
};

/// Reads the dictionary: `segments` and, where there is one, the history of the device that has the longest. Fails with
/// one sentence: a pickle, no JSON, no snapshot, or a history that does not fit its segments.
Result<AllocatorSnapshot> read_allocator_snapshot(std::string_view text);

/// The same list replayed by the rules, beside what was recorded.
struct SnapshotAgreement {
  std::uint64_t allocations = 0, address_hits = 0;  ///< those that got the recorded address
  std::uint64_t blocks = 0, equal_blocks = 0;  ///< Blocks at the file's end; those with equal address, size and state.
  std::uint64_t recorded_reserved_bytes = 0, replayed_reserved_bytes = 0;
};
SnapshotAgreement replay_snapshot(const AllocatorSnapshot& snapshot);

}  // namespace models::memory
