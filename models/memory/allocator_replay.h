#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/memory/allocator.h"

/// A list of events put through the caching allocator.
namespace models::memory {

/// The first request that fails, and what lay free then, after everything that could be given back was.
struct AllocatorFailure {
  std::size_t event = 0;                       ///< place in the list, from 0
  std::uint64_t bytes = 0, segment_bytes = 0;  ///< asked for; and what cudaMalloc would have to give
  std::uint64_t free_bytes = 0, largest_free_bytes = 0, holes = 0;  ///< reserved and free: in all, the largest, count
  std::uint64_t device_free_bytes = 0;                              ///< allowed and not reserved
  std::uint64_t emptiable_bytes = 0;                                ///< what empty_cache would still give back
};

struct AllocatorRun {
  AllocatorFigures figures;  ///< at the end of the list, or behind the first failure where that ends it
  AllocatorPeaks peaks;
  std::uint64_t largest_free_bytes = 0, snapshot_segments = 0, emptiable_bytes = 0, holes = 0;
  std::vector<std::size_t> oom_at;  ///< events that failed, from 0
  std::optional<AllocatorFailure> failure;
  std::size_t events = 0;  ///< that were done
};

struct AllocatorReplayOptions {
  bool stop_at_failure = false;
  std::span<const InitialSegment> initial{};
  std::span<const std::uint64_t> placement{};
  AllocatorWatcher* watcher = nullptr;
  std::vector<std::uint64_t>* addresses = nullptr;   ///< Takes the address of each allocation that succeeded, in order.
  std::vector<AllocatorFigures>* figures = nullptr;  ///< behind each event
};

/// Replays the list from an allocator with nothing in it, or from `initial`.
AllocatorRun replay_allocator(const AllocatorList& list, const AllocatorConfig& config,
                              const AllocatorReplayOptions& options = {});

/// Does one event; false where it is an allocation that fails.
bool do_event(CachingAllocator& allocator, const AllocatorList& list, const AllocatorEvent& event);

}  // namespace models::memory
