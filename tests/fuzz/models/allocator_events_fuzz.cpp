// A typed or opened list of what is asked of a caching allocator: what is accepted allocates no id that is allocated
// already (an id that nobody allocated may be freed, as in a list that was cut), and can be replayed.
#include <vector>

#include "models/memory/allocator_replay.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace models::memory;
  const auto list = parse_allocator_events(fuzz::text_of(data, size));
  if (!fuzz::accepted(list)) return 0;
  fuzz::require(list->events.size() <= max_allocator_events, "more events than a list may have");
  std::vector<bool> lives(static_cast<std::size_t>(list->ids), false);
  for (const AllocatorEvent& e : list->events) {
    if (e.action == AllocatorAction::set) {
      fuzz::require(e.id >= 0 && static_cast<std::size_t>(e.id) < list->settings.size(), "a setting that is not there");
      continue;
    }
    if (e.action != AllocatorAction::allocate && e.action != AllocatorAction::free) continue;
    fuzz::require(e.id >= 0 && e.id < list->ids, "an id out of its range");
    const bool takes = e.action == AllocatorAction::allocate && e.bytes > 0;
    fuzz::require(!takes || !lives[static_cast<std::size_t>(e.id)], "an id that is allocated twice");
    fuzz::require(e.owner < list->owners.size(), "an owner that is not there");
    lives[static_cast<std::size_t>(e.id)] = takes;
  }
  const AllocatorRun run = replay_allocator(*list, {.capacity_bytes = 4 * gib});
  fuzz::require(run.events == list->events.size() && run.peaks.reserved_bytes <= 4 * gib, "a replay that goes wrong");
  return 0;
}
