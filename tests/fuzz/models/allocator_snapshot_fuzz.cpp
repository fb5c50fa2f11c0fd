// A recorded state of PyTorch's allocator: what is accepted can be replayed, and the agreement counts no more than
// there is.
#include "models/memory/allocator_snapshot.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace models::memory;
  const auto read = read_allocator_snapshot(fuzz::text_of(data, size));
  if (!fuzz::accepted(read)) return 0;
  fuzz::require(read->list.events.size() <= max_allocator_events, "more events than a list may have");
  for (const AllocatorEvent& e : read->list.events)
    fuzz::require(e.action != AllocatorAction::allocate || e.owner < read->list.owners.size(),
                  "an owner that is not there");
  for (const std::uint32_t owner : read->initial_owners)
    fuzz::require(owner < read->list.owners.size(), "an owner of an old block that is not there");
  fuzz::require(read->allocated_bytes <= read->reserved_bytes, "more allocated than reserved");
  const SnapshotAgreement agreement = replay_snapshot(*read);
  fuzz::require(agreement.address_hits <= agreement.allocations && agreement.equal_blocks <= agreement.blocks,
                "more that agrees than there is");
  return 0;
}
