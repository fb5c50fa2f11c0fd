#include "models/memory/allocator_replay.h"

#include <algorithm>

namespace models::memory {
namespace {

AllocatorFailure failure_of(const CachingAllocator& allocator, const AllocatorEvent& event, std::size_t at) {
  const AllocatorConfig& c = allocator.config();
  const std::uint64_t rounded = round_request(event.bytes, c), reserved = allocator.figures().reserved_bytes(),
                      allowed = c.fraction < 1
                                    ? static_cast<std::uint64_t>(c.fraction * static_cast<double>(c.capacity_bytes))
                                    : c.capacity_bytes;
  return {
      .event = at,
      .bytes = event.bytes,
      .segment_bytes = rounded <= mib       ? 2 * mib
                       : rounded < 10 * mib ? 20 * mib
                                            : (rounded + 2 * mib - 1) / (2 * mib) * (2 * mib),
      .free_bytes = allocator.figures().free_bytes(),
      .largest_free_bytes = allocator.largest_free_bytes(),
      .holes = allocator.free_blocks(),
      .device_free_bytes = allowed - std::min(reserved, allowed),
      .emptiable_bytes = allocator.emptiable_bytes(),
  };
}

}  // namespace

bool do_event(CachingAllocator& allocator, const AllocatorList& list, const AllocatorEvent& event) {
  switch (event.action) {
    case AllocatorAction::allocate:
      return allocator.allocate(event.id, event.bytes, event.stream);
    case AllocatorAction::free:
      allocator.free(event.id);
      break;
    case AllocatorAction::record_stream:
      allocator.record_stream(event.id, event.stream);
      break;
    case AllocatorAction::stream_done:
      allocator.stream_done(event.stream);
      break;
    case AllocatorAction::empty_cache:
      allocator.empty_cache();
      break;
    case AllocatorAction::set:
      allocator.set(list.settings[static_cast<std::size_t>(event.id)]);
      break;
  }
  return true;
}

AllocatorRun replay_allocator(const AllocatorList& list, const AllocatorConfig& config,
                              const AllocatorReplayOptions& options) {
  CachingAllocator allocator(config, list.ids, options.initial, options.placement);
  allocator.watch(options.watcher);
  AllocatorRun run;
  for (std::size_t i = 0; i < list.events.size(); ++i) {
    const AllocatorEvent& event = list.events[i];
    const bool done = do_event(allocator, list, event);
    ++run.events;
    if (options.watcher) options.watcher->event_done(allocator.figures());
    if (options.figures) options.figures->push_back(allocator.figures());
    if (!done) {
      run.oom_at.push_back(i);
      if (!run.failure) run.failure = failure_of(allocator, event, i);
      if (options.stop_at_failure) break;
    } else if (options.addresses && event.action == AllocatorAction::allocate && event.bytes > 0) {
      options.addresses->push_back(allocator.address_of(event.id));
    }
  }
  run.figures = allocator.figures();
  run.peaks = allocator.peaks();
  run.largest_free_bytes = allocator.largest_free_bytes();
  run.snapshot_segments = allocator.snapshot_segments();
  run.emptiable_bytes = allocator.emptiable_bytes();
  run.holes = allocator.free_blocks();
  return run;
}

}  // namespace models::memory
